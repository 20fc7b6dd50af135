# Written for an older OPA, with the clock as a list.
package legacy.hours

deny[msg] {
	[hour, _, _] := time.clock(time.parse_rfc3339_ns(input.context.time))
	hour < 2
	input.request.action == "execute"
	msg := sprintf("maintenance at %d o'clock", [hour])
}
