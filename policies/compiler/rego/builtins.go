package rego

import (
	"sort"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// builtinScan resolves a set of modules as OPA does and looks at every mention of a built-in:
// called, replaced by `with`, or given as the value of a `with`. Resolution comes first, so that
// a rule or an import of the same name is not mistaken for the built-in.
type builtinScan struct {
	renames map[string]string
	// rename says whether the resolved modules get the WebAssembly's names.
	rename bool
	uses   map[string][]BuiltinUse
	used   map[string]bool
	// renamed marks the terms already done: a head's parts are reached twice.
	renamed map[*ast.Term]bool
	errors  ast.Errors
}

// resolve returns copies of the modules with absolute references, our own built-ins renamed when
// scan.rename is set. What the capabilities lack is collected in scan.errors.
func (scan *builtinScan) resolve(modules map[string]*ast.Module) (map[string]*ast.Module, ast.Errors) {
	compiler := ast.NewCompiler().WithOnlyStagesUpTo(ast.StageResolveRefs)
	compiler.Compile(modules)
	if compiler.Failed() {
		return nil, compiler.Errors
	}
	scan.uses = map[string][]BuiltinUse{}
	scan.used = map[string]bool{}
	scan.renamed = map[*ast.Term]bool{}
	for _, path := range sortedKeys(compiler.Modules) {
		scan.module(path, compiler.Modules[path])
	}
	return compiler.Modules, scan.errors
}

func (scan *builtinScan) module(path string, module *ast.Module) {
	var visitor *ast.GenericVisitor
	visitor = ast.NewGenericVisitor(func(node any) bool {
		switch node := node.(type) {
		case *ast.Head:
			visitor.Walk(node.Reference) // OPA's visitor leaves it out
		case *ast.Expr:
			if terms, isCall := node.Terms.([]*ast.Term); isCall && len(terms) > 0 {
				scan.mention(path, terms[0], node.Location, calledHere)
			}
			for _, with := range node.With {
				scan.mention(path, with.Target, with.Location, replaced)
				if !isInput(with.Target) { // else a value is a value, even if named like a built-in
					scan.mention(path, with.Value, with.Location, replaced)
				}
			}
		case ast.Call:
			if len(node) > 0 {
				scan.mention(path, node[0], nil, calledHere)
			}
		}
		return false
	})
	visitor.Walk(module)
}

// mentioned says how a built-in is named: called, or as target or value of a `with`.
type mentioned int

const (
	calledHere mentioned = iota
	replaced
)

// mention looks at a term that may name a built-in, and renames it in place.
func (scan *builtinScan) mention(path string, term *ast.Term, at *ast.Location, how mentioned) {
	ref, isRef := term.Value.(ast.Ref)
	if name, isVar := term.Value.(ast.Var); isVar && how == replaced && scan.isOwn(name) {
		// A name without dots stays a variable: `with sprintf as ...`.
		ref, isRef = ast.Ref{ast.NewTerm(name).SetLocation(term.Location)}, true
	}
	if !isRef || len(ref) == 0 || scan.renamed[term] {
		return
	}
	head, isVar := ref[0].Value.(ast.Var)
	if !isVar || head == "data" || head == "input" {
		return
	}
	name := ref.String()
	location := term.Location
	if location == nil {
		location = at
	}
	to, own := scan.renames[name]
	_, isNative := nativeNames[name]
	switch {
	case own:
		if scan.rename {
			term.Value = builtinRef(to, ref)
			scan.renamed[term] = true
		}
	case isNative && !(how == replaced && erasedNames[name] != nil):
	case ast.BuiltinMap[name] != nil:
		scan.errors = append(scan.errors, ast.NewError("governance_builtin_refused", location,
			"built-in %s is not available to policies", name))
		return
	default:
		if strings.HasPrefix(name, "governance.") {
			scan.errors = append(scan.errors, ast.NewError(ast.TypeErr, location,
				"undefined function %s", name))
		}
		return
	}
	if location != nil && !isOperator(name) {
		scan.uses[path] = append(scan.uses[path], BuiltinUse{name, location.Row, location.Col})
	}
	scan.used[name] = true
}

func isInput(target *ast.Term) bool {
	ref, isRef := target.Value.(ast.Ref)
	return isRef && len(ref) > 0 && ref[0].Value.Compare(ast.Var("input")) == 0
}

func (scan *builtinScan) isOwn(name ast.Var) bool {
	_, own := scan.renames[string(name)]
	return own
}

// builtinRef spells a dotted name as the reference that OPA's parser makes of it.
func builtinRef(name string, like ast.Ref) ast.Ref {
	parts := strings.Split(name, ".")
	ref := ast.Ref{ast.VarTerm(parts[0]).SetLocation(like[0].Location)}
	for _, part := range parts[1:] {
		ref = append(ref, ast.StringTerm(part).SetLocation(like[len(like)-1].Location))
	}
	return ref
}

// isOperator tells the built-ins that an author writes as a sign, which nobody wants listed.
func isOperator(name string) bool {
	builtin := ast.BuiltinMap[name]
	return builtin != nil && (builtin.Infix != "" || strings.HasPrefix(name, "internal."))
}

// wasmBuiltins names what the WebAssembly asks of its host, sorted.
func (scan *builtinScan) wasmBuiltins() []string {
	list := []string{}
	for from, to := range scan.renames {
		if scan.used[from] {
			list = append(list, to)
		}
	}
	sort.Strings(list)
	return list
}

// authorNames gives errors the names that authors wrote instead of the WebAssembly's.
func (scan *builtinScan) authorNames(errs ast.Errors) ast.Errors {
	for _, err := range errs {
		for from, to := range scan.renames {
			err.Message = strings.ReplaceAll(err.Message, to, from)
		}
	}
	return errs
}

func sortedKeys[V any](of map[string]V) []string {
	keys := make([]string, 0, len(of))
	for key := range of {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
