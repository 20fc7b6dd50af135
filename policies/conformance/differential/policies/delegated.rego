# A delegation covers tools by name; unverified requesters cannot delegate.
package delegated

allow if {
	input.requester.verified
	some tool in input.delegation.tools
	glob.match(tool, [], input.request.tool_name)
}

deny contains sprintf("unverified requester %v", [input.requester.id]) if {
	input.delegation
	not input.requester.verified
}
