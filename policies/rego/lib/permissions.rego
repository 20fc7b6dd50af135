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

wildcard_matches(pattern, pattern)

wildcard_matches(pattern, text) if {
	contains(pattern, "*")
	glob.match(literal_but_stars(pattern), null, text)
}

# literal_but_stars takes the meaning from every other sign that a glob gives one.
literal_but_stars(pattern) := strings.replace_n(
	{
		"\\": "\\\\",
		"?": "\\?",
		"[": "\\[",
		"]": "\\]",
		"{": "\\{",
		"}": "\\}",
		"!": "\\!",
		",": "\\,",
		"-": "\\-",
	},
	pattern,
)
