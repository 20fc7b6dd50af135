# More may happen on the first working day of a month.
package quota

start := time.parse_rfc3339_ns("2024-01-01T00:00:00Z")

now := time.parse_rfc3339_ns(input.context.time)

week := floor((now - start) / 604800000000000)

allow if {
	input.request.action == "read"
	time.weekday(now) == "Monday"
}

escalate contains sprintf("week %d since 2024, %v", [week, time.weekday([now, "Asia/Tokyo"])]) if {
	input.request.action == "delete"
	week % 2 == 1
}
