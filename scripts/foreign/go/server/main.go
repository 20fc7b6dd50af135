// An MCP server of the Go SDK: server stdio|PORT.
package main

import (
	"context"
	"log"
	"net/http"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type greeting struct {
	Name string `json:"name"`
}

type wipe struct {
	Path string `json:"path"`
}

func text(said string) (*mcp.CallToolResult, any, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: said}}}, nil, nil
}

func newServer() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "foreign", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "get_greeting", Description: "Says hello."},
		func(_ context.Context, _ *mcp.CallToolRequest, in greeting) (*mcp.CallToolResult, any, error) {
			return text("Hello " + in.Name)
		})
	mcp.AddTool(server, &mcp.Tool{Name: "wipe_disk", Description: "Would delete everything."},
		func(_ context.Context, _ *mcp.CallToolRequest, in wipe) (*mcp.CallToolResult, any, error) {
			return text("wiped " + in.Path)
		})
	return server
}

func main() {
	if os.Args[1] == "stdio" {
		log.Fatal(newServer().Run(context.Background(), &mcp.StdioTransport{}))
	}
	server := newServer()
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	http.Handle("/mcp", handler)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
