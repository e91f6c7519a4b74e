package clients

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk/skillsclient"
)

// skillhost is the client for the scenarios sep-2640-client-* of the conformance suite. It lists the
// skills of a server through a catalog. Except in the scenario sep-2640-client-no-prefetch, it then
// loads each skill and reads all files of the skill.
//
//	MCP_CONFORMANCE_SCENARIO=NAME MCP_CONFORMANCE_PROTOCOL_VERSION=REVISION skillhost URL
func skillhost() {
	if len(os.Args) != 2 {
		log.Fatal("usage: skillhost URL")
	}
	load := os.Getenv("MCP_CONFORMANCE_SCENARIO") != "sep-2640-client-no-prefetch"
	revision := os.Getenv("MCP_CONFORMANCE_PROTOCOL_VERSION")
	ctx := context.Background()
	var host skillsclient.Host
	client := must.Get(host.NewClient(&mcp.Implementation{Name: "skillhost", Version: "1"}, nil))(must.Program)
	session := must.Get(client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: os.Args[1]},
		&mcp.ClientSessionOptions{ProtocolVersion: revision}))(must.Program)
	defer session.Close()
	server := must.Get(host.Server("conformance", session))(must.Program)
	catalog := must.Get(toolshelf.New(toolshelf.WithSkillsDir(),
		toolshelf.WithSkillsFS("conformance", server.FS(ctx))))(must.Program)
	defer catalog.Close()
	skills := must.Get(catalog.ListSkills(ctx))(must.Program)
	must.Get(catalog.SkillsPrompt(ctx))(must.Program)
	for _, info := range skills {
		fmt.Println(info.Name, info.Description)
		if !load {
			continue
		}
		for _, file := range must.Get(catalog.GetSkill(ctx, info.Name))(must.Program).Files {
			must.Get(catalog.ReadSkillFile(ctx, info.Name, file.Path))(must.Program)
		}
	}
}
