# No deletions in the last days of a quarter, nor on the first days of a year.
package freeze

now := time.parse_rfc3339_ns(input.context.time)

deny contains sprintf("quarter closes: %04d-%02d-%02d", date) if {
	input.request.action == "delete"
	date := time.date(now)
	date[1] % 3 == 0
	next := time.date(time.add_date(now, 0, 0, 4))
	next[1] != date[1]
}

deny contains msg if {
	input.request.action == "delete"
	date := time.date([now, "America/New_York"])
	date[1] == 1
	date[2] <= 2
	msg := sprintf("new year's freeze of %v: day %v", [date[0], date[2]])
}

escalate contains sprintf("a month before: %v", [time.date(time.add_date(now, -1, 11, 30))]) if {
	input.request.action == "execute"
	time.date(now)[2] > 28
}
