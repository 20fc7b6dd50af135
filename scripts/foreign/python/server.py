"""An MCP server of FastMCP or of the Python SDK: server.py fastmcp|sdk stdio|PORT."""

import sys

kind, where = sys.argv[1:3]

if kind == "fastmcp":
    from fastmcp import FastMCP

    server = FastMCP("foreign")
    http = {"transport": "http"}
else:
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("foreign")
    http = {"transport": "streamable-http"}


@server.tool()
def get_greeting(name: str) -> str:
    """Says hello."""
    return f"Hello {name}"


@server.tool()
def wipe_disk(path: str) -> str:
    """Would delete everything."""
    return f"wiped {path}"


if where == "stdio":
    server.run("stdio")
else:
    server.run(**http, host="127.0.0.1", port=int(where))
