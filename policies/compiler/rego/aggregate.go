package rego

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// aggregatorPath is where the generated aggregator stands in the bundle.
const aggregatorPath = "governance/decision.rego"

// Entrypoint is the one question asked of a compiled set of policies.
const Entrypoint = "governance/decision"

// form is how a policy defines one of its decision rules.
type form int

const (
	absent form = iota
	// partialSet is `deny contains reason` and v0's `deny[reason]`.
	partialSet
	// complete is `allow := true`, `deny if ...` and the like.
	complete
)

var decisionRules = []string{"deny", "escalate", "allow"}

// forms says which decision rules a policy defines and how. A shape that the aggregator cannot
// read is refused: a deny that is silently ignored would be a permission.
func (n *namespaced) forms() (map[string]form, ast.Errors) {
	found := map[string]form{}
	var errs ast.Errors
	for _, rule := range n.module.Rules {
		name, one := formOf(rule)
		if !isDecisionRule(name) {
			continue
		}
		if one == absent {
			errs = append(errs, ast.NewError("governance_decision_rule", rule.Location,
				"%s must be a set (`%s contains reason if { ... }`) or one value (`%s if { ... }`)",
				name, name, name))
			continue
		}
		found[name] = one
	}
	return found, n.toAuthor(errs)
}

func isDecisionRule(name string) bool {
	for _, one := range decisionRules {
		if one == name {
			return true
		}
	}
	return false
}

func formOf(rule *ast.Rule) (string, form) {
	ref := rule.Head.Ref()
	name := strings.Trim(ref[0].Value.String(), `"`)
	switch {
	case len(rule.Head.Args) > 0:
		return name, absent
	case len(ref) == 1 && rule.Head.RuleKind() == ast.MultiValue:
		return name, partialSet
	case len(ref) == 1 && rule.Head.Key == nil:
		return name, complete
	}
	return name, absent
}

// The fixed part of the aggregator. Deny and escalate fail closed: whatever a rule holds that is
// not false and not an empty collection counts. Allow counts only as true or as a set's member.
const aggregatorHead = `# Generated: unites the active policies. Any deny denies; else any escalate escalates; else any
# allow allows; else the call is denied. The reasons are those of all rules, in this order: an
# exception may have to decide as if one policy had not spoken.
package governance

decision := {"decision": "deny", "reasons": _all_reasons} if {
	count(_denials) > 0
} else := {"decision": "escalate", "reasons": _all_reasons} if {
	count(_escalations) > 0
} else := {"decision": "allow", "reasons": _reasons("allow", _permits)} if {
	count(_permits) > 0
} else := {
	"decision": "deny",
	"reasons": [{
		"policy_id": "",
		"policy": "default",
		"rule": "deny",
		"message": "no policy allows this call",
	}],
}

_all_reasons := array.concat(
	_reasons("deny", _denials),
	array.concat(_reasons("escalate", _escalations), _reasons("allow", _permits)),
)

# Tuples, because the WebAssembly compares objects slowly: as a set of objects the reasons of 300
# policies that agree took ten times as long, and more than a decision's fuel.
_reasons(rule, tuples) := [reason |
	some [id, name, message] in sort(tuples)
	reason := {"policy_id": id, "policy": name, "rule": rule, "message": message}
]

_text(rule, value) := value if {
	is_string(value)
	value != ""
} else := text if {
	not value in {"", true}
	leaves := [[path, leaf] | walk(value, [path, leaf]); _is_scalar(leaf)]
	text := concat(", ", [_leaf_text(path, leaf) | some [path, leaf] in sort(leaves)])
	text != ""
} else := concat(" ", ["the rule", rule, "holds"])

# Not as JSON: the WebAssembly writes objects and sets in another order than OPA.
_leaf_text(path, leaf) := _scalar_text(leaf) if {
	path == []
} else := concat("=", [concat(".", [_scalar_text(part) | some part in path]), _scalar_text(leaf)])

_scalar_text(value) := value if {
	is_string(value)
} else := json.marshal(value) if {
	_is_scalar(value)
} else := "*"

_is_scalar(value) if not _is_collection(value)

_is_collection(value) if is_set(value)

_is_collection(value) if is_array(value)

_is_collection(value) if is_object(value)

_objecting_values(value) := {member | some member in value} if {
	_is_collection(value)
} else := {value | value != false}

_permitting_values(value) := {true | value == true}
`

// aggregator writes the module that unites the policies' decisions. Its reasons are ordered by
// rule, policy and message.
func aggregator(policies []*namespaced) (string, ast.Errors) {
	var text strings.Builder
	var errs ast.Errors
	text.WriteString(aggregatorHead)
	filled := map[string]bool{}
	for _, policy := range policies {
		forms, formErrs := policy.forms()
		errs = append(errs, formErrs...)
		for _, rule := range decisionRules {
			if forms[rule] != absent {
				filled[rule] = true
				text.WriteString(contribution(policy, rule, forms[rule]))
			}
		}
	}
	for _, rule := range decisionRules {
		if !filled[rule] {
			fmt.Fprintf(&text, "\n%s := set()\n", united[rule])
		}
	}
	return text.String(), errs
}

// contribution writes one policy's part of one of the three sets of reasons.
func contribution(policy *namespaced, rule string, one form) string {
	reference := `data.policies["` + policy.source.ID + `"]`
	for _, part := range policy.author {
		reference += "[" + quote(part) + "]"
	}
	reference += "." + rule
	members := "some value in " + reference
	if one == complete {
		members = fmt.Sprintf("some value in _%s_values(%s)", kind(rule), reference)
	}
	return fmt.Sprintf(`
%s contains [%s, %s, _text(%s, value)] if {
	%s
}
`, united[rule], quote(policy.source.ID), quote(policy.source.Name), quote(rule), members)
}

var united = map[string]string{"deny": "_denials", "escalate": "_escalations", "allow": "_permits"}

func kind(rule string) string {
	if rule == "allow" {
		return "permitting"
	}
	return "objecting"
}

// quote writes a Rego string. A NUL would end the string in the WebAssembly, so control
// characters become spaces.
func quote(text string) string {
	clean := strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(clean) // a string always encodes
	return strings.TrimSuffix(out.String(), "\n")
}
