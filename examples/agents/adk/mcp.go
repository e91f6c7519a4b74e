package adk

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/mcptoolset"
)

// MCPTools returns the tools of an MCP server in memory.
func MCPTools(ctx context.Context, adapter *mcpadapter.Adapter) (tool.Toolset, error) {
	server := mcp.NewServer(&mcp.Implementation{Name: "shelf", Version: "1.0.0"}, nil)
	if err := gosdk.Register(server, adapter); err != nil {
		return nil, err
	}
	client, transport := mcp.NewInMemoryTransports()
	if _, err := server.Connect(ctx, transport, nil); err != nil {
		return nil, err
	}
	return mcptoolset.New(mcptoolset.Config{Transport: client})
}
