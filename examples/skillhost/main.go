// Command skillhost lists the skills of MCP servers beside the skills of a directory, and
// prints a skill. Each server is a program that uses stdin and stdout, or an HTTP address.
//
//	go run ./examples/skillhost [-skills DIR] [-server LABEL=COMMAND|URL]... [SKILL]
//	go run ./examples/skillhost -server "team=go run ./examples/skillserver DIR" team.NAME
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk/skillsclient"
)

func main() {
	skills := flag.String("skills", "skills", "`directory` of local skills")
	var servers []string
	flag.Func("server", "label of a server and its command or address, as `LABEL=COMMAND|URL`; may be repeated", func(s string) error {
		if _, address, _ := strings.Cut(s, "="); strings.TrimSpace(address) == "" {
			return errors.New("write LABEL=COMMAND or LABEL=URL")
		}
		servers = append(servers, s)
		return nil
	})
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, *skills, servers, flag.Arg(0)); err != nil {
		log.New(os.Stderr, "skillhost: ", 0).Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer, skills string, servers []string, name string) error {
	options := []toolshelf.Option{toolshelf.WithSkillsDir(skills)}
	var host skillsclient.Host
	client, err := host.NewClient(&mcp.Implementation{Name: "skillhost", Version: "1"}, nil)
	if err != nil {
		return err
	}
	for _, s := range servers {
		label, address, _ := strings.Cut(s, "=")
		session, err := client.Connect(ctx, transport(ctx, address), nil)
		if err != nil {
			return fmt.Errorf("server %s: %w", label, err)
		}
		defer session.Close()
		server, err := host.Server(label, session)
		if err != nil {
			return err
		}
		options = append(options, toolshelf.WithSkillsFS(label, server.FS(ctx)))
	}
	catalog, err := toolshelf.New(options...)
	if err != nil {
		return err
	}
	defer catalog.Close()
	if name != "" { // reads the skill, and verifies the skill of a server
		skill, err := catalog.GetSkill(ctx, name)
		if err == nil {
			fmt.Fprintf(out, "Origin: %s\nFiles: %d\n\n%s", skill.Layer, len(skill.Files), visible(skill.Content))
		}
		return err
	}
	list, err := catalog.ListSkills(ctx) // reads no file of a server
	for _, skill := range list {
		fmt.Fprintf(out, "%s: %s\n", skill.Name, visible(strings.Join(strings.Fields(skill.Description), " ")))
		for _, d := range skill.Diagnostics {
			fmt.Fprintf(out, "  %s\n", d.Message)
		}
	}
	return err
}

// visible replaces the characters that a terminal obeys or hides, because a server wrote the text.
func visible(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\ufffd"), func(r rune) bool { return !unicode.IsPrint(r) && r != '\n' && r != '\t' }), "\ufffd")
}

func transport(ctx context.Context, address string) mcp.Transport {
	if strings.HasPrefix(address, "http://") || strings.HasPrefix(address, "https://") {
		return &mcp.StreamableClientTransport{Endpoint: address, HTTPClient: &http.Client{Transport: skillsclient.LimitResponses(nil)}, MaxEventSize: skillsclient.MaxMessage}
	}
	command := strings.Fields(address)
	return &mcp.CommandTransport{Command: exec.CommandContext(ctx, command[0], command[1:]...)}
}
