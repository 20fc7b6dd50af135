# Names of agents follow a pattern; the reason says what it should be.
package naming

tidy := regex.replace(lower(input.agent.name), `[^a-z0-9]+`, "-")

escalate contains sprintf("%s should be called %s", [input.agent.name, tidy]) if {
	tidy != input.agent.name
	input.request.action != "read"
	input.agent.risk_tier != "low"
}

allow if {
	tidy == input.agent.name
	input.request.action in {"read", "write", "execute"}
}
