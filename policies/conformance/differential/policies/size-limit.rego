# Uploads by their size as people write it.
package sizes

size := units.parse_bytes(input.request.parameters.size)

deny contains sprintf("%v is %d bytes, more than 1 GiB", [input.request.parameters.size, size]) if {
	size > units.parse_bytes("1GiB")
}

escalate contains sprintf("an upload of %.1f MB", [size / 1000000]) if {
	size > units.parse_bytes("10MB")
	size <= units.parse_bytes("1GiB")
}

deny contains sprintf("a size of nothing: %v", [input.request.parameters.size]) if {
	input.request.parameters.size
	not size
}

allow if size < 1024
