package rego

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/bundle"
	"github.com/open-policy-agent/opa/v1/compile"
	"github.com/open-policy-agent/opa/v1/format"
)

// policySet is everything that is compiled together, each module at its path in the bundle.
type policySet struct {
	policies []*namespaced
	modules  map[string]*ast.Module
	sources  []Module
}

// assemble puts policies into their namespaces beside the library and the aggregator.
func assemble(request *Request) (*policySet, []Diagnostic) {
	set := &policySet{modules: map[string]*ast.Module{}}
	diagnostics := []Diagnostic{}
	seen := map[string]bool{}
	for _, source := range request.Policies {
		policy, errs := namespace(source, false, nil, request.Limits)
		if seen[source.ID] {
			errs = append(errs, ast.NewError("governance_policy_id", start(""), "the id %s is used twice", source.ID))
		}
		seen[source.ID] = true
		if len(errs) > 0 {
			diagnostics = append(diagnostics, describe(source.ID, errs)...)
			continue
		}
		set.add(policy)
	}
	text, errs := aggregator(set.policies)
	diagnostics = append(diagnostics, set.diagnose(errs)...)
	if len(diagnostics) > 0 {
		return set, diagnostics
	}
	for _, module := range append([]RawModule{{Path: aggregatorPath, Rego: text}}, request.Library...) {
		if errs := set.addRaw(module); errs != nil {
			diagnostics = append(diagnostics, describe("", errs)...)
		}
	}
	sort.Slice(set.sources, func(i, j int) bool { return set.sources[i].Path < set.sources[j].Path })
	return set, diagnostics
}

func (set *policySet) add(policy *namespaced) {
	set.policies = append(set.policies, policy)
	set.modules[policy.path] = policy.module
	set.sources = append(set.sources, Module{policy.path, policy.text, policy.version})
}

func (set *policySet) addRaw(module RawModule) ast.Errors {
	var parsed *ast.Module
	var errs ast.Errors
	version := 1
	if module.Version != nil {
		version = *module.Version
		parsed, errs = parseAs(module.Path, module.Rego, version)
	} else {
		parsed, errs = parseAs(module.Path, module.Rego, 1)
		if errs != nil {
			if asV0, errV0 := parseAs(module.Path, module.Rego, 0); errV0 == nil {
				parsed, errs, version = asV0, nil, 0
			}
		}
	}
	if errs != nil {
		return errs
	}
	set.modules[module.Path] = parsed
	set.sources = append(set.sources, Module{module.Path, module.Rego, version})
	return nil
}

// diagnose turns OPA's errors into places in the authors' own sources.
func (set *policySet) diagnose(errs ast.Errors) []Diagnostic {
	diagnostics := []Diagnostic{}
	for _, err := range errs {
		var policy *namespaced
		for _, candidate := range set.policies {
			if err.Location != nil && err.Location.File == candidate.path {
				policy = candidate
			}
		}
		if policy == nil {
			diagnostics = append(diagnostics, describe("", ast.Errors{err})...)
			continue
		}
		for _, one := range describe(policy.source.ID, policy.toAuthor(ast.Errors{err})) {
			one.Message = policy.authorText(one.Message)
			diagnostics = append(diagnostics, one)
		}
	}
	return unique(diagnostics)
}

func describe(policyID string, errs ast.Errors) []Diagnostic {
	diagnostics := []Diagnostic{}
	for _, err := range errs {
		one := Diagnostic{Code: err.Code, Message: err.Message, Row: 1, Col: 1, PolicyID: policyID}
		if err.Location != nil {
			one.Row, one.Col = max(err.Location.Row, 1), max(err.Location.Col, 1)
			if policyID == "" && err.Location.File != "" {
				one.Message = err.Location.File + ": " + one.Message
			}
		}
		diagnostics = append(diagnostics, one)
	}
	return diagnostics
}

func unique(diagnostics []Diagnostic) []Diagnostic {
	seen := map[Diagnostic]bool{}
	kept := diagnostics[:0]
	for _, one := range diagnostics {
		if !seen[one] {
			seen[one] = true
			kept = append(kept, one)
		}
	}
	return kept
}

// toWasm compiles modules for entrypoints with our own built-ins renamed.
func toWasm(modules map[string]*ast.Module, entrypoints []string, scan *builtinScan) ([]byte, ast.Errors) {
	resolved, errs := scan.resolve(modules)
	if len(errs) > 0 {
		return nil, errs
	}
	input := &bundle.Bundle{Data: map[string]any{}}
	input.Manifest.Init()
	input.SetRegoVersion(ast.RegoV1)
	for _, path := range sortedKeys(resolved) {
		// Raw is only a stand-in: OPA formats every source at the end, and nobody reads these.
		input.Modules = append(input.Modules, bundle.ModuleFile{
			URL: path, Path: path, Parsed: resolved[path], Raw: []byte("package unused\n"),
		})
	}
	compiler := compile.New().
		WithTarget(compile.TargetWasm).
		WithBundle(input).
		WithRegoVersion(ast.RegoV1).
		WithPruneUnused(true).
		WithEntrypoints(entrypoints...).
		WithCapabilities(capabilities(scan.renames, true))
	if err := compiler.Build(context.Background()); err != nil {
		return nil, scan.authorNames(asErrors("", err))
	}
	built := compiler.Bundle().WasmModules
	if len(built) != 1 {
		return nil, ast.Errors{ast.NewError(ast.CompileErr, nil, "%s",
			fmt.Sprintf("%d WebAssembly modules were built", len(built)))}
	}
	return built[0].Raw, nil
}

func compilePolicies(request *Request) *Response {
	set, diagnostics := assemble(request)
	if len(diagnostics) > 0 {
		return &Response{Diagnostics: diagnostics}
	}
	scan := &builtinScan{renames: request.Renames, rename: true}
	wasm, errs := toWasm(set.modules, []string{Entrypoint}, scan)
	if len(errs) > 0 {
		return &Response{Diagnostics: set.diagnose(errs)}
	}
	return &Response{
		Diagnostics: []Diagnostic{},
		Wasm:        wasm,
		Entrypoints: []string{Entrypoint},
		Builtins:    scan.wasmBuiltins(),
		Modules:     set.sources,
	}
}

func compileRaw(request *Request) *Response {
	set := &policySet{modules: map[string]*ast.Module{}}
	for _, module := range request.Modules {
		if errs := set.addRaw(module); errs != nil {
			return &Response{Diagnostics: describe("", errs)}
		}
	}
	scan := &builtinScan{renames: request.Renames, rename: true}
	wasm, errs := toWasm(set.modules, request.Entrypoints, scan)
	if len(errs) > 0 {
		return &Response{Diagnostics: describe("", errs)}
	}
	return &Response{
		Diagnostics: []Diagnostic{},
		Wasm:        wasm,
		Entrypoints: request.Entrypoints,
		Builtins:    scan.wasmBuiltins(),
		Modules:     set.sources,
	}
}

// check compiles one policy alone, as far as the WebAssembly.
func check(request *Request) *Response {
	response := &Response{Diagnostics: []Diagnostic{}, Builtins: []string{}, BuiltinUses: []BuiltinUse{}}
	if len(request.Policies) != 1 {
		return &Response{Error: "check takes one policy"}
	}
	source := request.Policies[0]
	module, version, errs := parseEither(modulePath(source.ID, false), source.Rego, request.Limits)
	if module == nil {
		response.Diagnostics = describe(source.ID, errs)
		return response
	}
	response.Version = &version
	name := strings.TrimPrefix(module.Package.Path.String(), "data.")
	response.Package = &name
	if formatted, err := formatSource(source.Rego, version); err == nil {
		response.Formatted = &formatted
	}
	set, diagnostics := assemble(request)
	response.Diagnostics = diagnostics
	scan := &builtinScan{renames: request.Renames, rename: true}
	if len(diagnostics) == 0 {
		_, errs := toWasm(set.modules, []string{Entrypoint}, scan)
		response.Diagnostics = set.diagnose(errs)
	}
	if len(set.policies) == 1 {
		response.uses(set.policies[0], scan)
	}
	return response
}

func (response *Response) uses(policy *namespaced, scan *builtinScan) {
	seen := map[string]bool{}
	for _, use := range scan.uses[policy.path] {
		use.Col = policy.authorCol(use.Row, use.Col)
		response.BuiltinUses = append(response.BuiltinUses, use)
		if !seen[use.Name] {
			seen[use.Name] = true
			response.Builtins = append(response.Builtins, use.Name)
		}
	}
	sort.Strings(response.Builtins)
}

// formatSource writes a source as `opa fmt` does, in the version it was read as.
func formatSource(source string, version int) (string, error) {
	regoVersion := ast.RegoV1
	if version == 0 {
		regoVersion = ast.RegoV0
	}
	out, err := format.SourceWithOpts("policy.rego", []byte(source), format.Opts{
		RegoVersion:   regoVersion,
		ParserOptions: &ast.ParserOptions{RegoVersion: regoVersion},
	})
	return string(out), err
}
