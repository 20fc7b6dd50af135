# Roles in a row count as a chain of command.
package chain

allow if object.subset(input.agent.roles, ["operator", "admin"])

deny contains sprintf("%v cannot follow %v", [input.agent.roles, {"reader", "writer"}]) if {
	object.subset(input.agent.roles, ["admin", "reader"])
}
