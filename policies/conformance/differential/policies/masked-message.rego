# The reason shows the resource with numbers and addresses masked.
package masked

secretive(text) := regex.replace(
	regex.replace(text, `[a-z0-9._-]+@([a-z0-9.-]+)`, "***@$1"),
	`(\d{2})\d+(\d{2})`,
	"$1…${2}",
)

deny contains sprintf("%s may not see %s", [input.agent.name, secretive(input.request.resource)]) if {
	regex.match(`\d{6,}|@`, input.request.resource)
	input.agent.risk_tier in {"high", "critical"}
}

escalate contains secretive(input.request.resource) if {
	regex.match(`@`, input.request.resource)
	input.agent.risk_tier == "medium"
}
