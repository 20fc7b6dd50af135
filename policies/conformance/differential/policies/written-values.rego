# What arguments hold as text: networks, JSON, base64 and numbers.
package written

host := input.request.parameters.host

text := input.request.parameters.text

deny contains "an address of the inner network" if net.cidr_contains("10.0.0.0/8", host)

deny contains "a network that touches the inner one" if net.cidr_intersects("10.0.0.0/8", host)

escalate contains "a list or an object" if {
	json.is_valid(text)
	count(json.unmarshal(text)) > 0
}

escalate contains "base64" if {
	base64.is_valid(text)
	contains(base64.decode(text), "e")
}

escalate contains "base64url" if contains(base64url.decode(text), "sec")

deny contains sprintf("%s is much", [format_int(round(number), 16)]) if {
	regex.match(`^[0-9.]+$`, text)
	number := to_number(text)
	number > 100
}
