# Reports every number of the call in several forms: formats must agree digit for digit.
package report

amount := input.request.parameters.amount

escalate contains msg if {
	is_number(amount)
	input.request.action == "execute"
	msg := sprintf("%v|%d|%5d|%-6d|%+d|%x|%o|%b|%c", [
		amount, amount, amount, amount, amount, amount, amount, amount, amount,
	])
}

escalate contains msg if {
	is_number(amount)
	input.request.action == "write"
	msg := sprintf("%v|%f|%.2f|%8.3f|%-9.1f|%e|%g|%G|%s|%q", [
		amount, amount, amount, amount, amount, amount, amount, amount, amount, amount,
	])
}

deny contains sprintf("risk %v of %v: %.3f %6.2f%%", [score, 100, score, score]) if {
	score := input.agent.risk_score
	score > 90
}
