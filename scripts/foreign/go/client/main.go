// Calls every gateway path it is given, and prints one JSON line per check.
//
// client go-sdk|mcp-go basic|oauth, with GATEWAY, CLIENT_ID, CLIENT_SECRET and PATHS (JSON: path to
// the prefix of its tools' names) in the environment.
package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	mark3 "github.com/mark3labs/mcp-go/mcp"
	"github.com/modelcontextprotocol/go-sdk/auth/extauth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

var clientID, clientSecret = os.Getenv("CLIENT_ID"), os.Getenv("CLIENT_SECRET")

// session has the operations that both libraries support on one gateway path.
type session interface {
	list(ctx context.Context) ([]string, error)
	call(ctx context.Context, tool string, arguments map[string]any) (string, error)
	close()
}

func basic() string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(clientID+":"+clientSecret))
}

type withBasic struct{}

func (withBasic) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("Authorization", basic())
	return http.DefaultTransport.RoundTrip(request)
}

type sdkSession struct{ *mcp.ClientSession }

func openSDK(ctx context.Context, url string, isBasic bool) (session, error) {
	way := &mcp.StreamableClientTransport{Endpoint: url}
	if isBasic {
		way.HTTPClient = &http.Client{Transport: withBasic{}}
	} else {
		handler, err := extauth.NewClientCredentialsHandler(&extauth.ClientCredentialsHandlerConfig{
			Credentials: &oauthex.ClientCredentials{
				ClientID:         clientID,
				ClientSecretAuth: &oauthex.ClientSecretAuth{ClientSecret: clientSecret},
				Issuer:           os.Getenv("GATEWAY"),
			},
		})
		if err != nil {
			return nil, err
		}
		way.OAuthHandler = handler
	}
	one := mcp.NewClient(&mcp.Implementation{Name: "foreign", Version: "1"}, nil)
	opened, err := one.Connect(ctx, way, nil)
	if err != nil {
		return nil, err
	}
	return sdkSession{opened}, nil
}

func (s sdkSession) list(ctx context.Context) ([]string, error) {
	listed, err := s.ListTools(ctx, nil)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
	}
	return names, nil
}

func (s sdkSession) call(ctx context.Context, tool string, arguments map[string]any) (string, error) {
	answer, err := s.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return "", err
	}
	return answer.Content[0].(*mcp.TextContent).Text, nil
}

func (s sdkSession) close() { _ = s.Close() }

type mark3Session struct{ *client.Client }

func openMark3(ctx context.Context, url string) (session, error) {
	one, err := client.NewStreamableHttpClient(url,
		transport.WithHTTPHeaders(map[string]string{"Authorization": basic()}))
	if err != nil {
		return nil, err
	}
	if err := one.Start(ctx); err != nil {
		return nil, err
	}
	request := mark3.InitializeRequest{}
	request.Params.ProtocolVersion = mark3.LATEST_PROTOCOL_VERSION
	request.Params.ClientInfo = mark3.Implementation{Name: "foreign", Version: "1"}
	if _, err := one.Initialize(ctx, request); err != nil {
		return nil, err
	}
	return mark3Session{one}, nil
}

func (s mark3Session) list(ctx context.Context) ([]string, error) {
	listed, err := s.ListTools(ctx, mark3.ListToolsRequest{})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
	}
	return names, nil
}

func (s mark3Session) call(ctx context.Context, tool string, arguments map[string]any) (string, error) {
	request := mark3.CallToolRequest{}
	request.Params.Name = tool
	request.Params.Arguments = arguments
	answer, err := s.CallTool(ctx, request)
	if err != nil {
		return "", err
	}
	return answer.Content[0].(mark3.TextContent).Text, nil
}

func (s mark3Session) close() { _ = s.Close() }

func report(path, check string, ok bool, said any) {
	line, _ := json.Marshal(map[string]any{
		"path": path, "check": check, "ok": ok, "said": fmt.Sprint(said),
	})
	fmt.Println(string(line))
}

func check(path, prefix string) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	url := os.Getenv("GATEWAY") + path
	var opened session
	var err error
	if os.Args[1] == "mcp-go" {
		opened, err = openMark3(ctx, url)
	} else {
		opened, err = openSDK(ctx, url, os.Args[2] == "basic")
	}
	if err != nil {
		report(path, "connect", false, err)
		return
	}
	defer opened.close()
	names, err := opened.list(ctx)
	report(path, "list", err == nil && slices.Contains(names, prefix+"get_greeting"), fmt.Sprint(names, err))
	said, err := opened.call(ctx, prefix+"get_greeting", map[string]any{"name": "Ada"})
	report(path, "call", err == nil && said == "Hello Ada", fmt.Sprint(said, err))
	_, err = opened.call(ctx, prefix+"wipe_disk", map[string]any{"path": "/"})
	report(path, "denied", err != nil && strings.Contains(err.Error(), "Denied by policy"), err)
}

func main() {
	paths := map[string]string{}
	if err := json.Unmarshal([]byte(os.Getenv("PATHS")), &paths); err != nil {
		panic(err)
	}
	for path, prefix := range paths {
		check(path, prefix)
	}
}
