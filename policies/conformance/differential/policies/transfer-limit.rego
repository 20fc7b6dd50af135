# Money needs a person above a limit that depends on the owner's tier.
package transfer

limits := {"low": 10000, "medium": 1000, "high": 100, "critical": 0}

limit := limits[input.agent.risk_tier]

escalate contains sprintf("%s of %.2f over the limit of %d", [
	input.request.tool_name,
	input.request.parameters.amount,
	limit,
]) if {
	input.request.tool_name == "transfer"
	input.request.parameters.amount > limit
}

deny contains sprintf("%[2]s: %[1]v", [input.request.parameters.amount, input.request.tool_name]) if {
	input.request.tool_name == "transfer"
	input.request.parameters.amount > limit * 10
}
