# What the tenant's settings say about the server.
package servers

deny contains sprintf("%q is not a server of ours", [input.request.mcp_server]) if {
	not data.settings.mcp_servers[input.request.mcp_server]
}

escalate contains sprintf("%s speaks %s", [server.server_id, server.transport]) if {
	server := data.settings.mcp_servers[input.request.mcp_server]
	server.transport == "stdio"
	input.request.action in {"delete", "execute"}
}
