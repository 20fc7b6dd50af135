# Shows whole values in a reason.
package values

deny contains sprintf("parameters %v", [input.request.parameters]) if {
	input.request.tool_name == "debug"
	input.request.action == "delete"
}

escalate contains sprintf("%v %s %q %v %v", [
	input.agent.roles,
	input.request.parameters,
	input.request.resource,
	{role | some role in input.agent.roles},
	null,
]) if {
	input.request.tool_name == "debug"
	input.request.action in {"write", "execute"}
}

allow if {
	input.request.tool_name == "debug"
	input.request.action == "read"
	count(sprintf("%s", [input.request.parameters])) < 200
}
