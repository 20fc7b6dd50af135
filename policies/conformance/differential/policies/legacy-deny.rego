# Written for an older OPA.
package legacy

deny[msg] {
	input.request.tool_name == "legacy_admin"
	msg = sprintf("%v is not in use any more (%v)", [input.request.tool_name, count(input.agent.roles)])
}

escalate[msg] {
	role := input.agent.roles[_]
	role == "intern"
	input.request.action != "read"
	msg := sprintf("an %s wants to %s", [role, input.request.action])
}

default allow = false

allow {
	input.agent.permissions[_] == "*:*"
}
