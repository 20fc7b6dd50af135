# What a permission of the agent covers.
package permissions

allow if {
	some permission in input.agent.permissions
	[resource, action] := split(permission, ":")
	action in {"*", input.request.action}
	resource in {"*", input.request.mcp_server, input.request.tool_name}
}

deny contains sprintf("critical agents only read, not %s", [upper(input.request.action)]) if {
	input.agent.risk_tier == "critical"
	input.request.action != "read"
}
