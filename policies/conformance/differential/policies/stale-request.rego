# A request whose time is far from now is refused; the clock is OPA's.
package stale

day := ((24 * 60) * 60) * 1000000000

deny contains "the request is from the future" if {
	time.parse_rfc3339_ns(input.context.time) > time.now_ns() + (36500 * day)
}

deny contains "the request is older than the product" if {
	time.parse_rfc3339_ns(input.context.time) < time.now_ns() - (36500 * day)
}

allow if {
	input.request.action == "read"
	time.now_ns() > 1700000000000000000
	time.parse_rfc3339_ns(input.context.time) > time.parse_rfc3339_ns("1999-12-31T23:59:59.999Z")
}
