package rego

import (
	"sort"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// A policy is compiled below policies["<id>"], in front of the package its author gave it: two
// policies may share a package name, and neither can redefine or read the other. The namespace is
// put in by editing the author's text at the places where OPA's parser saw the package and the
// references (so that comments, layout and rows stay), and the result is parsed again and held
// against the rule: what namespaced cannot prove to be the policy's own is refused.

// insertion is a piece of text put in front of what stands at an offset.
type insertion struct {
	offset, row, col int
	text             string
}

// namespaced is one policy (or test) in its namespace.
type namespaced struct {
	source  Source
	path    string
	version int
	// author is the package as written, without data: ["authz", "files"].
	author  []string
	module  *ast.Module
	text    string
	inserts []insertion
}

// readable are the documents that every policy may read beside its own package.
var readable = [][]string{{"governance", "lib"}, {"settings"}}

// readableByTests adds the united decision, which a test may want to ask.
var readableByTests = append([][]string{{"governance", "decision"}}, readable...)

func modulePath(id string, test bool) string {
	if test {
		return "policies/" + id + "/policy_test.rego"
	}
	return "policies/" + id + "/policy.rego"
}

// namespace parses a policy and moves it into its namespace. owners are the packages (without
// data) that count as its own; nil: the module's own package alone.
func namespace(source Source, test bool, owners [][]string, limits Limits) (*namespaced, ast.Errors) {
	path := modulePath(source.ID, test)
	if err := checkID(source.ID); err != nil {
		return nil, ast.Errors{ast.NewError("governance_policy_id", start(path), "%s", err.Error())}
	}
	module, version, errs := parseEither(path, source.Rego, limits)
	if len(errs) > 0 {
		return nil, errs
	}
	result := &namespaced{source: source, path: path, version: version, author: packagePath(module)}
	if errs := result.refusePackage(module); len(errs) > 0 {
		return nil, errs
	}
	access := accessRule{own: append([][]string{result.author}, owners...), readable: readable}
	if test {
		access.readable = readableByTests
	}
	if errs := result.edit(module, access); len(errs) > 0 {
		return nil, errs
	}
	module, parseErrs := parseAs(path, result.text, version)
	if parseErrs != nil {
		return nil, result.toAuthor(parseErrs)
	}
	result.module = module
	return result, result.prove(access)
}

func packagePath(module *ast.Module) []string {
	parts := []string{}
	for _, term := range module.Package.Path[1:] {
		if part, ok := term.Value.(ast.String); ok {
			parts = append(parts, string(part))
		}
	}
	return parts
}

// maxPackageParts keeps OPA's trees of packages flat; their cost grows with the square.
const maxPackageParts = 32

// refusePackage keeps authors away from names whose references would be ambiguous.
func (n *namespaced) refusePackage(module *ast.Module) ast.Errors {
	if len(n.author) > maxPackageParts {
		return ast.Errors{ast.NewError("governance_package_too_deep", module.Package.Location,
			"the package has %d parts, more than the %d allowed", len(n.author), maxPackageParts)}
	}
	for _, taken := range readable {
		if comparable(taken, n.author) && len(n.author) >= len(taken) {
			return ast.Errors{ast.NewError("governance_package_reserved", module.Package.Location,
				"the package %s is reserved", strings.Join(n.author, "."))}
		}
	}
	return nil
}

func comparable(a, b []string) bool {
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// accessRule says what a reference below data may name.
type accessRule struct {
	own      [][]string
	readable [][]string
}

type access int

const (
	foreign access = iota
	own
	shared
)

// judge looks at a reference without its first term. Constant terms must agree with a permitted
// path; a variable ends the comparison only where everything it could name is permitted.
func (rule accessRule) judge(path []*ast.Term) access {
	for _, prefix := range rule.readable {
		if covers(prefix, path, false) {
			return shared
		}
	}
	for _, prefix := range rule.own {
		// Parents of the own package hold nothing else once they are in the namespace.
		if covers(prefix, path, true) {
			return own
		}
	}
	return foreign
}

func covers(prefix []string, path []*ast.Term, parents bool) bool {
	if len(path) == 0 || (len(path) < len(prefix) && !parents) {
		return false
	}
	for i := 0; i < len(prefix) && i < len(path); i++ {
		part, constant := path[i].Value.(ast.String)
		if !constant || string(part) != prefix[i] {
			return false
		}
	}
	return true
}

// edit writes n.text: the author's text with the namespace in the package and in own references.
func (n *namespaced) edit(module *ast.Module, rule accessRule) ast.Errors {
	prefix := `policies["` + n.source.ID + `"]`
	var errs ast.Errors
	insert := func(at *ast.Location, skip string, text string) {
		if at == nil || at.Offset < 0 || at.Offset > len(n.source.Rego) ||
			!strings.HasPrefix(n.source.Rego[at.Offset:], skip) {
			if at == nil {
				at = start(n.path)
			}
			errs = append(errs, ast.NewError("governance_unplaced_reference", at,
				"this reference to data cannot be moved into the policy's namespace; write it plainly"))
			return
		}
		n.inserts = append(n.inserts,
			insertion{at.Offset + len(skip), at.Row, at.Col + len(skip), text})
	}
	insert(module.Package.Path[1].Location, "", prefix+".")
	visitData(module, func(ref ast.Ref, at *ast.Location) {
		switch rule.judge(ref[1:]) {
		case own:
			insert(ref[0].Location, "data", "."+prefix)
		case foreign:
			errs = append(errs, n.foreignReference(ref, at))
		}
	})
	if len(errs) > 0 {
		return errs
	}
	n.text = n.apply()
	return nil
}

func (n *namespaced) foreignReference(ref ast.Ref, at *ast.Location) *ast.Error {
	if at == nil {
		at = start(n.path)
	}
	return ast.NewError("governance_foreign_reference", at,
		"%s cannot be read here: a policy reads its own package (data.%s), data.governance.lib and data.settings",
		ref.String(), strings.Join(n.author, "."))
}

// apply sorts the insertions (one a place) and writes the text.
func (n *namespaced) apply() string {
	sort.SliceStable(n.inserts, func(i, j int) bool { return n.inserts[i].offset < n.inserts[j].offset })
	unique := n.inserts[:0]
	for i, one := range n.inserts {
		if i == 0 || one.offset != n.inserts[i-1].offset {
			unique = append(unique, one)
		}
	}
	n.inserts = unique
	var text strings.Builder
	done := 0
	for _, one := range n.inserts {
		text.WriteString(n.source.Rego[done:one.offset])
		text.WriteString(one.text)
		done = one.offset
	}
	text.WriteString(n.source.Rego[done:])
	return text.String()
}

// prove holds the edited module against the rule, whatever the edit did.
func (n *namespaced) prove(rule accessRule) ast.Errors {
	var errs ast.Errors
	home := append([]string{"policies", n.source.ID}, n.author...)
	if got := packagePath(n.module); strings.Join(got, "\x00") != strings.Join(home, "\x00") {
		errs = append(errs, ast.NewError("governance_namespace", n.module.Package.Location,
			"the package could not be moved into the policy's namespace"))
	}
	proven := accessRule{own: [][]string{{"policies", n.source.ID}}, readable: rule.readable}
	visitData(n.module, func(ref ast.Ref, at *ast.Location) {
		if len(ref) < 4 || proven.judge(ref[1:]) != own {
			if proven.judge(ref[1:]) != shared {
				errs = append(errs, n.foreignReference(ref, at))
			}
		}
	})
	return n.toAuthor(errs)
}

// visitData calls back for every mention of the data document, with the reference it heads.
func visitData(module *ast.Module, found func(ast.Ref, *ast.Location)) {
	var visitor *ast.GenericVisitor
	visitor = ast.NewGenericVisitor(func(node any) bool {
		switch node := node.(type) {
		case *ast.Package:
			return true
		case *ast.Head:
			visitor.Walk(node.Reference) // OPA's visitor leaves it out
		case *ast.Term:
			if variable, isVar := node.Value.(ast.Var); isVar && variable == "data" {
				found(ast.Ref{node}, node.Location)
			}
		case ast.Ref:
			if len(node) == 0 || node[0].Value.Compare(ast.Var("data")) != 0 {
				return false
			}
			found(node, node[0].Location)
			for _, term := range node[1:] {
				visitor.Walk(term)
			}
			return true
		}
		return false
	})
	visitor.Walk(module)
}

// toAuthor moves errors from the edited text to the author's places.
func (n *namespaced) toAuthor(errs ast.Errors) ast.Errors {
	moved := make(ast.Errors, 0, len(errs))
	for _, err := range errs {
		if err.Location != nil && err.Location.File == n.path {
			at := *err.Location
			at.Col = n.authorCol(at.Row, at.Col)
			copied := *err
			copied.Location = &at
			err = &copied
		}
		moved = append(moved, err)
	}
	return moved
}

// authorCol takes a place of the edited text and returns its column in the author's.
func (n *namespaced) authorCol(row, col int) int {
	shift := 0
	for _, one := range n.inserts {
		if one.row != row || one.col+shift >= col {
			continue
		}
		if one.col+shift+len(one.text) > col {
			return one.col
		}
		shift += len(one.text)
	}
	return col - shift
}

// authorText takes the namespace out of a message, so that it speaks of what the author wrote.
// OPA spells it with a dot where the id allows.
func (n *namespaced) authorText(message string) string {
	for _, prefix := range []string{`policies["` + n.source.ID + `"].`, "policies." + n.source.ID + "."} {
		message = strings.ReplaceAll(message, prefix, "")
	}
	return strings.ReplaceAll(message, n.path+":", "line ")
}
