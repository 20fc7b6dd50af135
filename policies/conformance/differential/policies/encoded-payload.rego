# Payloads in hexadecimal are looked into.
package payload

text := hex.decode(input.request.parameters.payload)

deny contains sprintf("a hidden command: %q", [text]) if contains(lower(text), "rm ")

escalate contains sprintf("binary content %x", [text]) if regex.match(`[^ -~]`, text)

deny contains sprintf("not hexadecimal, should be %s", [hex.encode(input.request.parameters.payload)]) if {
	is_string(input.request.parameters.payload)
	not text
	input.request.action != "read"
}
