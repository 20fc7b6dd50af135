package rego

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

var safeID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// parseEither reads a source as v1 and, when that fails, as v0. When both fail, the errors of the
// version that got further are the ones that help its author.
func parseEither(path, source string, limits Limits) (*ast.Module, int, ast.Errors) {
	if refusal := refuseBySize(path, source, limits); refusal != nil {
		return nil, 0, ast.Errors{refusal}
	}
	module, errV1 := parseAs(path, source, 1)
	if errV1 == nil {
		return module, 1, refuseByRules(path, module, limits)
	}
	module, errV0 := parseAs(path, source, 0)
	if errV0 == nil {
		return module, 0, refuseByRules(path, module, limits)
	}
	if firstRow(errV0) > firstRow(errV1) {
		return nil, 0, errV0
	}
	return nil, 0, errV1
}

func parseAs(path, source string, version int) (*ast.Module, ast.Errors) {
	options := ast.ParserOptions{RegoVersion: ast.RegoV1}
	if version == 0 {
		options.RegoVersion = ast.RegoV0
	}
	module, err := ast.ParseModuleWithOpts(path, source, options)
	if err != nil {
		return nil, asErrors(path, err)
	}
	if module == nil {
		return nil, ast.Errors{ast.NewError(ast.ParseErr, start(path), "empty module")}
	}
	return module, nil
}

func start(path string) *ast.Location {
	return ast.NewLocation(nil, path, 1, 1)
}

// asErrors gives any error of OPA's packages a code and, at worst, the first place of a file.
func asErrors(path string, err error) ast.Errors {
	var list ast.Errors
	if errors.As(err, &list) {
		return list
	}
	var one *ast.Error
	if errors.As(err, &one) {
		return ast.Errors{one}
	}
	var atRuntime *topdown.Error
	if errors.As(err, &atRuntime) {
		return ast.Errors{ast.NewError(atRuntime.Code, atRuntime.Location, "%s", atRuntime.Message)}
	}
	return ast.Errors{ast.NewError(ast.CompileErr, start(path), "%s", err.Error())}
}

func firstRow(errs ast.Errors) int {
	row := 0
	for _, err := range errs {
		if err.Location != nil && (row == 0 || err.Location.Row < row) {
			row = err.Location.Row
		}
	}
	return row
}

func refuseBySize(path, source string, limits Limits) *ast.Error {
	if len(source) > limits.SourceBytes {
		return ast.NewError("governance_source_too_large", start(path),
			"the source has %d bytes, more than the %d allowed", len(source), limits.SourceBytes)
	}
	if row, col, deep := nestedDeeperThan(source, limits.Nesting); deep {
		return ast.NewError("governance_nesting_too_deep", ast.NewLocation(nil, path, row, col),
			"brackets are nested deeper than %d", limits.Nesting)
	}
	return nil
}

// refuseByRules counts rules and their else branches.
func refuseByRules(path string, module *ast.Module, limits Limits) ast.Errors {
	count := 0
	for _, rule := range module.Rules {
		for branch := rule; branch != nil; branch = branch.Else {
			if count++; count <= limits.Rules {
				continue
			}
			at := branch.Location
			if at == nil {
				at = start(path)
			}
			return ast.Errors{ast.NewError("governance_too_many_rules", at,
				"the policy has more than %d rules", limits.Rules)}
		}
	}
	return nil
}

// nestedDeeperThan counts brackets outside strings and comments. It runs before OPA's parser,
// whose recursion would otherwise exhaust the host's stack. It errs towards counting less (an
// unfinished string hides the rest), which the host's stack guard then catches.
func nestedDeeperThan(source string, limit int) (row, col int, deep bool) {
	depth, row, lineStart := 0, 1, 0
	for i := 0; i < len(source); i++ {
		switch source[i] {
		case '\n':
			row, lineStart = row+1, i+1
		case '#':
			for i+1 < len(source) && source[i+1] != '\n' {
				i++
			}
		case '"':
			for i++; i < len(source) && source[i] != '"' && source[i] != '\n'; i++ {
				if source[i] == '\\' {
					i++
				}
			}
			if i < len(source) && source[i] == '\n' {
				row, lineStart = row+1, i+1
			}
		case '`':
			for i++; i < len(source) && source[i] != '`'; i++ {
				if source[i] == '\n' {
					row, lineStart = row+1, i+1
				}
			}
		case '(', '[', '{':
			if depth++; depth > limit {
				return row, i - lineStart + 1, true
			}
		case ')', ']', '}':
			if depth > 0 {
				depth--
			}
		}
	}
	return 0, 0, false
}

func checkID(id string) error {
	if !safeID.MatchString(id) {
		return fmt.Errorf("the id %q is not one of letters, digits, - and _ (64 at most)", id)
	}
	return nil
}
