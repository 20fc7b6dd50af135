# METADATA
# title: Critical risk
# description: An agent of critical risk may only read.
package baseline.critical_risk

deny contains "an agent of critical risk may only read" if {
	input.agent.risk_tier == "critical"
	not input.request.action == "read"
}
