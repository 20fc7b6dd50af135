# METADATA
# title: Permissions of agents
# description: |
#   A permission is `resource:action`. The resource is an MCP server, `server/tool`, or a tool;
#   the action is read, write, delete or execute. In both, `*` stands for any characters.
package governance.lib

# allowed(agent, request) holds when one of the agent's permissions covers the request.
allowed(agent, request) if {
	some permission in agent.permissions
	permission_covers(permission, request)
}

# The action follows the last colon, so that a resource may contain one.
permission_covers(permission, request) if {
	parts := split(permission, ":")
	last := count(parts) - 1
	last > 0
	wildcard_matches(parts[last], request.action)
	some name in resource_names(request)
	wildcard_matches(concat(":", array.slice(parts, 0, last)), name)
}

# resource_names lists what a permission may call the target of a request.
resource_names(request) := {
	request.mcp_server,
	concat("/", [request.mcp_server, request.tool_name]),
	request.tool_name,
}

# wildcard_matches takes the cheap cases first: most permissions have one star or none.
wildcard_matches(pattern, text) if {
	pattern == "*"
} else if {
	pattern == text
} else if {
	[prefix, suffix] = split(pattern, "*")
	startswith(text, prefix)
	endswith(text, suffix)
	count(prefix) + count(suffix) <= count(text)
} else if {
	count(split(pattern, "*")) > 2
	regex.match(concat("", [`(?s)^\Q`, concat(`\E.*\Q`, split(without_quote_end(pattern), "*")), `\E$`]), text)
}

# without_quote_end writes the sign that would end a quotation as two literals outside of one.
without_quote_end(pattern) := replace(pattern, `\E`, `\E\\E\Q`)
