package rego

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func ask(t *testing.T, request Request) Response {
	t.Helper()
	raw, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	var response Response
	if err := json.Unmarshal(Handle(raw), &response); err != nil {
		t.Fatal(err)
	}
	return response
}

func TestNestingIsCountedOutsideStringsAndComments(t *testing.T) {
	brackets := strings.Repeat("[", 20)
	for _, source := range []string{
		"# " + brackets,
		"x := \"" + brackets + "\"",
		"x := \"\\\"" + brackets + "\"",
		"x := `" + brackets + "\n" + brackets + "`",
		strings.Repeat("[]", 20),
	} {
		if _, _, deep := nestedDeeperThan(source, 10); deep {
			t.Errorf("refused: %s", source)
		}
	}
	row, col, deep := nestedDeeperThan("package a\nx := "+brackets, 10)
	if !deep || row != 2 || col != 16 {
		t.Errorf("row %d, col %d, deep %v", row, col, deep)
	}
}

func TestPlacesAreTheAuthorsOwn(t *testing.T) {
	limits := Limits{}.withDefaults()
	source := Source{ID: "id-1", Rego: "package a.b\n\nx := data.a.b.y + data.a.b.z\ny := 1\nz := 1\n"}
	moved, errs := namespace(source, false, nil, limits)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	edited := strings.Split(moved.text, "\n")
	want := `x := data.policies["id-1"].a.b.y + data.policies["id-1"].a.b.z`
	if edited[2] != want {
		t.Fatalf("%s", edited[2])
	}
	author := strings.Split(source.Rego, "\n")[2]
	for _, mark := range []string{"x :=", "data.a", ".a.b.y", "+", ".a.b.z"} {
		there := strings.Index(want, mark) + 1
		here := strings.Index(author, mark) + 1
		if mark == "data.a" {
			there = strings.Index(want, "data.policies") + 1
		}
		if got := moved.authorCol(3, there); got != here {
			t.Errorf("%q: column %d of the edited text is %d of the author's, not %d", mark, there, got, here)
		}
	}
}

func TestUnusableRequestsAreAnswered(t *testing.T) {
	for _, raw := range []string{"", "{", `{"op":"nonsense"}`, `{"op":"check"}`} {
		var response Response
		if err := json.Unmarshal(Handle([]byte(raw)), &response); err != nil || response.Error == "" {
			t.Errorf("%q: %v, %q", raw, err, response.Error)
		}
	}
}

func TestTheSameSetGivesTheSameBytes(t *testing.T) {
	request := Request{Op: "compile", Renames: map[string]string{
		"sprintf": "governance.sprintf", "hex.encode": "governance.hex.encode",
	}}
	for _, id := range []string{"a", "b", "c"} {
		request.Policies = append(request.Policies, Source{ID: id, Name: id, Rego: `package same
deny contains sprintf("%s %d", [hex.encode(input.x), count(input.y)]) if input.x
allow if { some k, v in input.z; k == v }
`})
	}
	first := ask(t, request)
	if len(first.Diagnostics) > 0 || len(first.Wasm) == 0 {
		t.Fatal(first.Error, first.Diagnostics)
	}
	for range 5 {
		if again := ask(t, request); string(again.Wasm) != string(first.Wasm) {
			t.Fatal("another policy.wasm came out")
		}
	}
}

func TestOwnBuiltinsCanBeReplacedByWith(t *testing.T) {
	renames := map[string]string{"sprintf": "governance.sprintf", "time.now_ns": "governance.time.now_ns"}
	for _, body := range []string{
		`n with sprintf as "x"`,
		`n with sprintf as concat`,
		`n with sprintf as f`,
		`n with concat as sprintf`,
		`n with time.now_ns as 1`,
	} {
		source := "package t\nf(a, b) := a\nn if sprintf(concat(\"\", []), [time.now_ns()]) == \"x\"\nm if { " + body + " }\n"
		response := ask(t, Request{
			Op:          "compile_raw",
			Renames:     renames,
			Modules:     []RawModule{{Path: "t.rego", Rego: source}},
			Entrypoints: []string{"t/m"},
		})
		if response.Error != "" || len(response.Diagnostics) > 0 {
			t.Errorf("%s: %s %v", body, response.Error, response.Diagnostics)
		}
	}
}

func TestExplainNamesTheConditionThatFailed(t *testing.T) {
	response := ask(t, Request{
		Op: "explain",
		Policies: []Source{{ID: "p1", Name: "One", Rego: `package one

deny contains "held" if {
	input.request.action == "write"
}

deny contains "not held" if {
	input.request.action == "write"
	contains(lower(input.request.tool_name),
		"wipe")
}

escalate if helper(input.agent.risk_tier)

helper(tier) if tier == "high"
`}},
		Input: json.RawMessage(`{"request": {"action": "write", "tool_name": "save"}, "agent": {"risk_tier": "low"}}`),
	})
	if response.Error != "" || len(response.Diagnostics) > 0 {
		t.Fatal(response.Error, response.Diagnostics)
	}
	expected := []RuleStep{
		{PolicyID: "p1", Rule: "deny", Row: 3, Holds: true},
		{PolicyID: "p1", Rule: "deny", Row: 7,
			Condition: `contains(lower(input.request.tool_name), "wipe")`, ConditionRow: 9},
		{PolicyID: "p1", Rule: "escalate", Row: 13,
			Condition: `helper(input.agent.risk_tier)`, ConditionRow: 13},
		{PolicyID: "p1", Rule: "helper", Row: 15, Condition: `tier == "high"`, ConditionRow: 15},
	}
	if !reflect.DeepEqual(response.Steps, expected) {
		t.Fatalf("%+v", response.Steps)
	}
}
