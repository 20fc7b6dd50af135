# METADATA
# title: Destructive calls
# description: What a high-risk agent would delete, a person decides.
package baseline.destructive_calls

escalate contains reason if {
	input.agent.risk_tier == "high"
	input.request.action == "delete"
	reason := concat(" ", ["a high-risk agent asks for the destructive call", input.request.tool_name])
}
