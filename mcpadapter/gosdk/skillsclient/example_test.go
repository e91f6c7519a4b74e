package skillsclient_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"testing/fstest"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk/skillsclient"
)

// transport connects to a server in this program, which publishes the skill
// skill://acme/refunds/SKILL.md. A program uses an mcp.CommandTransport or an
// mcp.StreamableClientTransport.
func transport() mcp.Transport {
	const uri = "skill://acme/refunds/SKILL.md"
	const text = "---\nname: refunds\ndescription: Processes refunds\n---\nAsk for the receipt.\n"
	capabilities := &mcp.ServerCapabilities{}
	capabilities.AddExtension(mcpadapter.SkillsExtension, nil)
	server := mcp.NewServer(&mcp.Implementation{Name: "acme", Version: "1"}, &mcp.ServerOptions{Capabilities: capabilities})
	server.AddResource(&mcp.Resource{URI: uri, Name: "refunds"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return contentsOf(uri, text), nil
	})
	refunds := entry{uri, map[string]any{"name": "refunds", "description": "Processes refunds"}, []resource{{uri, digest(text), int64(len(text))}}}
	if err := errors.Join(
		mcp.AddReceivingCustomMethod(server, "skills/list", func(context.Context, *mcp.ServerSession, *cursorParams) (*page, error) {
			return &page{Skills: []entry{refunds}}, nil
		}),
		mcp.AddReceivingCustomMethod(server, "skills/get", func(context.Context, *mcp.ServerSession, *uriParams) (*got, error) {
			return &got{Skill: refunds}, nil
		})); err != nil {
		log.Fatal(err)
	}
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(context.Background(), far, nil); err != nil {
		log.Fatal(err)
	}
	return near
}

func ExampleHost() {
	ctx := context.Background()
	var host skillsclient.Host
	client, err := host.NewClient(&mcp.Implementation{Name: "me", Version: "1"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	session, err := client.Connect(ctx, transport(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	acme, err := host.Server("acme", session)
	if err != nil {
		log.Fatal(err)
	}
	defer acme.Close()
	list, err := acme.List(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, skill := range list.Skills {
		fmt.Println(skill.Server, skill.URI, skill.Description)
	}
	// Output: acme skill://acme/refunds/SKILL.md Processes refunds
}

// open returns the server of transport, and a function that ends the session.
func open() (acme *skillsclient.Server, end func() error) {
	var host skillsclient.Host
	client, err := host.NewClient(&mcp.Implementation{Name: "me", Version: "1"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	session, err := client.Connect(context.Background(), transport(), nil)
	if err != nil {
		log.Fatal(err)
	}
	if acme, err = host.Server("acme", session); err != nil {
		log.Fatal(err)
	}
	return acme, session.Close
}

// A host shows a skill to the user by its entry, and reads the files after the approval.
func ExampleServer_ReadFile() {
	ctx := context.Background()
	acme, end := open()
	defer end()
	skill, err := acme.Get(ctx, "skill://acme/refunds/SKILL.md")
	if err != nil {
		log.Fatal(err)
	}
	for _, file := range skill.Files {
		fmt.Println(file.Path, file.Size, "bytes", file.Digest[:14])
	}
	raw, err := acme.ReadFile(ctx, skill, "SKILL.md")
	if errors.Is(err, skillsclient.ErrVerification) {
		fmt.Println("the skill has changed") // get the skill again, and ask the user again
	}
	fmt.Printf("%s", raw)
	_, err = acme.ReadFile(ctx, skill, "scripts/refund.py")
	fmt.Println(errors.Is(err, skillsclient.ErrUnlisted))
	// Output:
	// SKILL.md 74 bytes sha256:6fd0ca6
	// ---
	// name: refunds
	// description: Processes refunds
	// ---
	// Ask for the receipt.
	// true
}

// A catalog lists the skills of a server beside local skills.
func ExampleServer_FS() {
	ctx := context.Background()
	acme, end := open()
	defer end()
	local := fstest.MapFS{"refunds/SKILL.md": {Data: []byte("---\nname: refunds\ndescription: A local skill\n---\n")}}
	catalog, err := toolshelf.New(
		toolshelf.WithSkillsDir(),
		toolshelf.WithSkillsFS("local", local),
		toolshelf.WithSkillsFS("acme", acme.FS(ctx)))
	if err != nil {
		log.Fatal(err)
	}
	defer catalog.Close()
	skills, err := catalog.ListSkills(ctx) // reads no file of the server
	if err != nil {
		log.Fatal(err)
	}
	for _, skill := range skills {
		fmt.Printf("%s: %s: %s\n", skill.Layer, skill.Name, skill.Description)
	}
	skill, err := catalog.GetSkill(ctx, "acme.acme.refunds") // reads and verifies SKILL.md
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(skill.Content)
	// Output:
	// acme: acme.acme.refunds: Processes refunds
	// local: refunds: A local skill
	// Ask for the receipt.
}

func ExampleLimitResponses() {
	transport := &mcp.StreamableClientTransport{
		Endpoint:     "https://example.com/mcp",
		HTTPClient:   &http.Client{Transport: skillsclient.LimitResponses(nil)},
		MaxEventSize: skillsclient.MaxMessage,
	}
	fmt.Println(transport.Endpoint)
	// Output: https://example.com/mcp
}
