package rego

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/util"
)

const maxTraceLine = 500

// boundedTracer keeps the first events of an evaluation that tell an author something: not how
// terms were unified or taken up again, and of the aggregator only what it entered and left.
type boundedTracer struct {
	events []*topdown.Event
	limit  int
	cut    bool
}

// Enabled stays true to notice that something was cut off.
func (t *boundedTracer) Enabled() bool { return !t.cut }

func (t *boundedTracer) Config() topdown.TraceConfig {
	return topdown.TraceConfig{PlugLocalVars: true}
}

func (t *boundedTracer) TraceEvent(event topdown.Event) {
	switch event.Op {
	case topdown.UnifyOp, topdown.IndexOp, topdown.RedoOp:
		return
	case topdown.EvalOp:
		if event.Location == nil || event.Location.File == aggregatorPath {
			return
		}
	}
	if len(t.events) >= t.limit {
		t.cut = true
		return
	}
	t.events = append(t.events, &event)
}

// explain asks for one decision with OPA's interpreter and tells how it came about.
func explain(request *Request) *Response {
	set, diagnostics := assemble(request)
	if len(diagnostics) > 0 {
		return &Response{Diagnostics: diagnostics}
	}
	scan := &builtinScan{renames: request.Renames}
	if _, errs := scan.resolve(set.modules); len(errs) > 0 {
		return &Response{Diagnostics: set.diagnose(errs)}
	}
	compiler := interpreterCompiler(request)
	if compiler.Compile(set.modules); compiler.Failed() {
		return &Response{Diagnostics: set.diagnose(compiler.Errors)}
	}
	input, data, err := request.documents()
	if err != nil {
		return &Response{Error: err.Error()}
	}
	tracer := &boundedTracer{limit: request.Limits.TraceLines}
	results, steps, err := evaluate(compiler, input, data, tracer)
	response := &Response{Diagnostics: []Diagnostic{}, Trace: tracer.lines(), Steps: steps.steps(set)}
	switch {
	case err != nil:
		response.Diagnostics = set.diagnose(asErrors("", err))
	case len(results) != 1 || len(results[0].Expressions) != 1:
		response.Diagnostics = []Diagnostic{{Code: "governance_undefined",
			Message: "the policies gave no decision", Row: 1, Col: 1}}
	default:
		response.Verdict, err = json.Marshal(results[0].Expressions[0].Value)
		if err != nil {
			return &Response{Error: err.Error()}
		}
	}
	return response
}

// evaluate asks for the decision, and then for all that could have made another one: the decision
// itself looks no further than the first deny. Every rule is tried (no index, no early exit), so that
// each can be told with the condition that it failed for.
func evaluate(
	compiler *ast.Compiler, input ast.Value, data map[string]any, tracer *boundedTracer,
) (rego.ResultSet, *stepTracer, error) {
	store := inmem.NewFromObject(data)
	ask := func(query string, options ...rego.EvalOption) (rego.ResultSet, error) {
		prepared, err := rego.New(rego.Query(query), rego.Compiler(compiler), rego.Store(store)).
			PrepareForEval(context.Background())
		if err != nil {
			return nil, err
		}
		return prepared.Eval(context.Background(), append(options, rego.EvalParsedInput(input))...)
	}
	steps := newStepTracer()
	results, err := ask("data."+strings.ReplaceAll(Entrypoint, "/", "."), rego.EvalQueryTracer(tracer))
	if err != nil {
		return nil, steps, err
	}
	// An error here would have been the decision's, or concerns what the decision did not ask for.
	_, _ = ask("data.governance._denials; data.governance._escalations; data.governance._permits",
		rego.EvalQueryTracer(steps), rego.EvalRuleIndexing(false), rego.EvalEarlyExit(false))
	return results, steps, nil
}

// documents reads input and data with the precision of their numbers kept.
func (request *Request) documents() (ast.Value, map[string]any, error) {
	var input any
	if len(request.Input) > 0 {
		if err := util.UnmarshalJSON(request.Input, &input); err != nil {
			return nil, nil, fmt.Errorf("input: %w", err)
		}
	}
	value, err := ast.InterfaceToValue(input)
	if err != nil {
		return nil, nil, fmt.Errorf("input: %w", err)
	}
	data := map[string]any{}
	if len(request.Data) > 0 && string(request.Data) != "null" {
		if err := util.UnmarshalJSON(request.Data, &data); err != nil {
			return nil, nil, fmt.Errorf("data: %w", err)
		}
	}
	return value, data, nil
}

func (t *boundedTracer) lines() []string {
	var text bytes.Buffer
	topdown.PrettyTraceWithOpts(&text, t.events, topdown.PrettyTraceOptions{
		Locations: true, ExprVariables: true,
	})
	lines := []string{}
	for _, line := range strings.Split(strings.TrimRight(text.String(), "\n"), "\n") {
		if line != "" {
			lines = append(lines, clip(line, maxTraceLine))
		}
	}
	if t.cut {
		lines = append(lines, fmt.Sprintf("… cut off after %d events", t.limit))
	}
	return lines
}
