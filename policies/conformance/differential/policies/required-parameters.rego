# Tools with a contract for their parameters.
package contract

needed := {
	"deploy": {"environment": "staging", "flags": ["check"]},
	"transfer": {"currency": "EUR", "approval": {"level": 2}},
}

deny contains sprintf("%v lacks %v", [input.request.tool_name, needed[input.request.tool_name]]) if {
	wanted := needed[input.request.tool_name]
	not object.subset(input.request.parameters, wanted)
	input.request.action == "execute"
}

escalate contains "roles beyond the usual" if {
	not object.subset({"reader", "writer", "operator"}, {role | some role in input.agent.roles})
}

allow if {
	object.subset(input.agent.permissions, {"tools:execute"})
	object.subset(input.request.parameters, object.get(needed, input.request.tool_name, {"none": 1}))
}
