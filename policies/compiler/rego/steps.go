package rego

import (
	"sort"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

const (
	maxSteps         = 500
	maxConditionText = 300
)

// RuleStep is what became of one rule of a policy: it holds, or a condition of it does not.
type RuleStep struct {
	PolicyID string `json:"policy_id"`
	Rule     string `json:"rule"`
	Row      int    `json:"row"`
	Holds    bool   `json:"holds"`
	// Condition is the furthest one that was reached and did not hold; empty where the rule holds.
	Condition    string `json:"condition,omitempty"`
	ConditionRow int    `json:"condition_row,omitempty"`
}

type ruleKey struct {
	file string
	row  int
	name string
}

type ruleState struct {
	holds  bool
	failed *ast.Expr
}

// stepTracer keeps of each rule whether it held and where it failed, whatever else happened.
type stepTracer struct {
	rules   map[ruleKey]*ruleState
	queries map[uint64]ruleKey
}

func newStepTracer() *stepTracer {
	return &stepTracer{rules: map[ruleKey]*ruleState{}, queries: map[uint64]ruleKey{}}
}

func (t *stepTracer) Enabled() bool { return true }

func (t *stepTracer) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

func (t *stepTracer) TraceEvent(event topdown.Event) {
	switch event.Op {
	case topdown.EnterOp:
		if rule, ok := event.Node.(*ast.Rule); ok {
			t.enter(event.QueryID, rule)
		}
	case topdown.ExitOp:
		if _, ok := event.Node.(*ast.Rule); ok {
			if state := t.rules[t.queries[event.QueryID]]; state != nil {
				state.holds = true
			}
		}
	case topdown.FailOp:
		expr, ok := event.Node.(*ast.Expr)
		state := t.rules[t.queries[event.QueryID]]
		// A rule that looks for a value fails for many: the furthest condition says most.
		if ok && state != nil && (state.failed == nil || expr.Index >= state.failed.Index) {
			state.failed = expr
		}
	}
}

func (t *stepTracer) enter(query uint64, rule *ast.Rule) {
	if rule.Location == nil || !strings.HasPrefix(rule.Location.File, "policies/") {
		return
	}
	key := ruleKey{rule.Location.File, rule.Location.Row, rule.Head.Ref().String()}
	if t.rules[key] == nil {
		if len(t.rules) >= maxSteps {
			return
		}
		t.rules[key] = &ruleState{}
	}
	t.queries[query] = key
}

// steps lists the rules by policy and row, in their authors' words.
func (t *stepTracer) steps(set *policySet) []RuleStep {
	byPath := map[string]*namespaced{}
	for _, policy := range set.policies {
		byPath[policy.path] = policy
	}
	steps := []RuleStep{}
	for key, state := range t.rules {
		policy := byPath[key.file]
		if policy == nil {
			continue
		}
		step := RuleStep{
			PolicyID: policy.source.ID,
			Rule:     policy.authorText(key.name),
			Row:      key.row,
			Holds:    state.holds,
		}
		if !state.holds && state.failed != nil && state.failed.Location != nil {
			text := strings.Join(strings.Fields(string(state.failed.Location.Text)), " ")
			step.Condition = clip(policy.authorText(text), maxConditionText)
			step.ConditionRow = state.failed.Location.Row
		}
		steps = append(steps, step)
	}
	sort.Slice(steps, func(i, j int) bool {
		a, b := steps[i], steps[j]
		if a.PolicyID != b.PolicyID {
			return a.PolicyID < b.PolicyID
		}
		if a.Row != b.Row {
			return a.Row < b.Row
		}
		return a.Rule < b.Rule
	})
	return steps
}
