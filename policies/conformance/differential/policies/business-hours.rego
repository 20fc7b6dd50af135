# Writes and deletions only in working hours of the agent's region.
package hours

zones := {"eu": "Europe/Berlin", "us": "America/New_York", "in": "Asia/Kolkata"}

now := time.parse_rfc3339_ns(input.context.time)

zone := object.get(zones, input.context.region, "UTC")

deny contains sprintf("%s of %s at %02d:%02d (%s, %s)", [
	input.request.action,
	input.request.tool_name,
	clock[0],
	clock[1],
	zone,
	day,
]) if {
	input.request.action in {"write", "delete"}
	clock := time.clock([now, zone])
	day := time.weekday([now, zone])
	day in {"Saturday", "Sunday"}
}

escalate contains sprintf("%s after hours: %d:%d:%d", array.concat([input.request.action], clock)) if {
	input.request.action in {"write", "delete"}
	clock := time.clock([now, zone])
	not clock[0] in numbers.range(7, 19)
}
