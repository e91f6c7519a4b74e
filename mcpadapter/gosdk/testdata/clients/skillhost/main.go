// Command skillhost is the client for the scenarios sep-2640-client-* of the conformance
// suite. It lists the skills of a server through a catalog. Except in the scenario
// sep-2640-client-no-prefetch, it then loads each skill and reads all files of the skill.
//
//	MCP_CONFORMANCE_SCENARIO=NAME MCP_CONFORMANCE_PROTOCOL_VERSION=REVISION skillhost URL
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk/skillsclient"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: skillhost URL")
	}
	load := os.Getenv("MCP_CONFORMANCE_SCENARIO") != "sep-2640-client-no-prefetch"
	if err := run(context.Background(), os.Args[1], os.Getenv("MCP_CONFORMANCE_PROTOCOL_VERSION"), load); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, url, revision string, load bool) error {
	var host skillsclient.Host
	client, err := host.NewClient(&mcp.Implementation{Name: "skillhost", Version: "1"}, nil)
	if err != nil {
		return err
	}
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: url}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		return err
	}
	defer session.Close()
	server, err := host.Server("conformance", session)
	if err != nil {
		return err
	}
	catalog, err := toolshelf.New(toolshelf.WithSkillsDir(), toolshelf.WithSkillsFS("conformance", server.FS(ctx)))
	if err != nil {
		return err
	}
	defer catalog.Close()
	skills, err := catalog.ListSkills(ctx)
	if err != nil {
		return err
	}
	if _, err := catalog.SkillsPrompt(ctx); err != nil {
		return err
	}
	for _, info := range skills {
		fmt.Println(info.Name, info.Description)
		if !load {
			continue
		}
		skill, err := catalog.GetSkill(ctx, info.Name)
		if err != nil {
			return err
		}
		for _, file := range skill.Files {
			if _, err := catalog.ReadSkillFile(ctx, info.Name, file.Path); err != nil {
				return err
			}
		}
	}
	return nil
}
