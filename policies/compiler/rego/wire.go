// Package rego compiles, checks, tests and explains policies with OPA's own packages.
package rego

import (
	"encoding/json"
	"fmt"
)

// Request is what the host asks; Op chooses which of the fields count.
type Request struct {
	// Op is one of check, compile, test, explain, compile_raw.
	Op       string   `json:"op"`
	Policies []Source `json:"policies"`
	Tests    []Source `json:"tests"`
	// Library holds the product's own modules, compiled as they are.
	Library []RawModule `json:"library"`
	// Renames maps a built-in as authors write it to the name the WebAssembly asks the host for.
	Renames map[string]string `json:"renames"`
	Input   json.RawMessage   `json:"input"`
	Data    json.RawMessage   `json:"data"`
	// Modules and Entrypoints are compile_raw's: no namespaces, no aggregator.
	Modules     []RawModule `json:"modules"`
	Entrypoints []string    `json:"entrypoints"`
	Limits      Limits      `json:"limits"`
}

// Source is one policy as its author wrote it.
type Source struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Rego string `json:"rego"`
}

// RawModule is one module at a path of its own. Version 0 or 1; absent: 1, then 0.
type RawModule struct {
	Path    string `json:"path"`
	Rego    string `json:"rego"`
	Version *int   `json:"rego_version"`
}

// Limits bound what one request may cost; zero means the default.
type Limits struct {
	SourceBytes int `json:"source_bytes"`
	Rules       int `json:"rules"`
	Nesting     int `json:"nesting"`
	TraceLines  int `json:"trace_lines"`
}

// Diagnostic is one thing wrong at one place of one policy; rows and columns count from 1.
type Diagnostic struct {
	Code     string `json:"code"`
	Message  string `json:"message"`
	Row      int    `json:"row"`
	Col      int    `json:"col"`
	PolicyID string `json:"policy_id,omitempty"`
}

// BuiltinUse is one call, or one other mention, of a built-in in a policy.
type BuiltinUse struct {
	Name string `json:"name"`
	Row  int    `json:"row"`
	Col  int    `json:"col"`
}

// Module is one source of the bundle.
type Module struct {
	Path    string `json:"path"`
	Rego    string `json:"rego"`
	Version int    `json:"rego_version"`
}

// TestResult is the outcome of one test rule.
type TestResult struct {
	Name     string  `json:"name"`
	PolicyID string  `json:"policy_id"`
	Outcome  string  `json:"outcome"`
	Message  *string `json:"message"`
	Row      int     `json:"row"`
}

// Response answers a request. Error is set when the request itself was unusable.
type Response struct {
	Error       string       `json:"error,omitempty"`
	Diagnostics []Diagnostic `json:"diagnostics"`

	Formatted   *string      `json:"formatted"`
	Package     *string      `json:"package"`
	Version     *int         `json:"rego_version"`
	Builtins    []string     `json:"builtins"`
	BuiltinUses []BuiltinUse `json:"builtin_uses"`

	Wasm        []byte   `json:"wasm,omitempty"`
	Entrypoints []string `json:"entrypoints"`
	Modules     []Module `json:"modules"`

	Tests   []TestResult    `json:"tests"`
	Verdict json.RawMessage `json:"verdict,omitempty"`
	Trace   []string        `json:"trace"`
	Steps   []RuleStep      `json:"steps"`
}

// Handle answers one request. A panic becomes an error answer: the host throws the instance away.
func Handle(raw []byte) (answer []byte) {
	defer func() {
		if caught := recover(); caught != nil {
			answer, _ = json.Marshal(Response{Error: fmt.Sprintf("panic: %v", caught)})
		}
	}()
	var request Request
	if err := json.Unmarshal(raw, &request); err != nil {
		answer, _ = json.Marshal(Response{Error: "request: " + err.Error()})
		return answer
	}
	answer, err := json.Marshal(dispatch(&request))
	if err != nil {
		answer, _ = json.Marshal(Response{Error: "response: " + err.Error()})
	}
	return answer
}

func dispatch(request *Request) *Response {
	request.Limits = request.Limits.withDefaults()
	switch request.Op {
	case "check":
		return check(request)
	case "compile":
		return compilePolicies(request)
	case "compile_raw":
		return compileRaw(request)
	case "test":
		return runTests(request)
	case "explain":
		return explain(request)
	}
	return &Response{Error: "unknown op " + request.Op}
}

func (l Limits) withDefaults() Limits {
	if l.SourceBytes <= 0 {
		l.SourceBytes = 128 * 1024
	}
	if l.Rules <= 0 {
		l.Rules = 2000
	}
	if l.Nesting <= 0 {
		l.Nesting = 100
	}
	if l.TraceLines <= 0 {
		l.TraceLines = 2000
	}
	return l
}
