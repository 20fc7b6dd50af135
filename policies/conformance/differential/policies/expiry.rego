# A parameter named expires_at must be a time at most 90 days ahead.
package expiry

expires := input.request.parameters.expires_at

deny contains sprintf("expires_at is no time: %q", [expires]) if {
	is_string(expires)
	not time.parse_rfc3339_ns(expires)
}

escalate contains sprintf("expires_at %s is more than 90 days ahead", [expires]) if {
	limit := time.add_date(time.parse_rfc3339_ns(input.context.time), 0, 0, 90)
	time.parse_rfc3339_ns(expires) > limit
}
