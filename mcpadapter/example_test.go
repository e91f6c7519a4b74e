package mcpadapter_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// sample is the project of the examples: a command and a skill, in memory.
func sample() *toolshelf.Catalog {
	fsys := afero.NewMemMapFs()
	for name, text := range map[string]string{
		"commands/commit.md":    "---\ndescription: Commit what is staged\nargument-hint: \"[scope]\"\n---\nWrite one line about $1.\n",
		"skills/paint/SKILL.md": "---\nname: paint\ndescription: Paints.\n---\n",
	} {
		if err := afero.WriteFile(fsys, name, []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}
	catalog, err := toolshelf.New(toolshelf.WithFs(fsys))
	if err != nil {
		log.Fatal(err)
	}
	return catalog
}

func Example() {
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog)
	if err != nil {
		log.Fatal(err)
	}
	// The name of a tool and its arguments, as written by a model.
	result, err := adapter.Call(context.Background(), "list_skills", json.RawMessage(`{}`))
	fmt.Println(result.Text, result.IsError, err)
	result, err = adapter.Call(context.Background(), "get_command", json.RawMessage(`{"command_name":"comit"}`))
	fmt.Println(result.Text, result.IsError, err)
	// Output:
	// {"skills":["paint"],"descriptions":{"paint":"Paints."}} false <nil>
	// {"error":{"code":"COMMAND_NOT_FOUND","message":"there is no command \"comit\"; did you mean \"commit\"?"}} true <nil>
}

func ExampleNew() {
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog,
		mcpadapter.WithNamespace("shelf"),
		mcpadapter.WithTools("list_skills"),
		mcpadapter.WithExtraTools(mcpadapter.Tool{
			Name:        "roll_dice",
			Description: "Roll one die.",
			Call: func(context.Context, json.RawMessage) (mcpadapter.Result, error) {
				return mcpadapter.Result{Text: "4"}, nil
			},
		}),
	)
	if err != nil {
		log.Fatal(err)
	}
	for _, tool := range adapter.Tools() {
		fmt.Println(tool.Name)
	}
	// Output:
	// shelf.list_skills
	// roll_dice
}

func ExampleSession_Handle() {
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog, mcpadapter.WithTools(), mcpadapter.WithPrompts(), mcpadapter.WithServerInfo("paintbox", "1.0.0"))
	if err != nil {
		log.Fatal(err)
	}
	session := adapter.NewSession() // each client has its own session
	defer session.Close()
	ctx := context.Background()
	for _, message := range []struct{ method, params string }{
		{"tools/list", `{}`},
		{"initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"me","version":"1"}}`},
		{"notifications/initialized", `{}`},
		{"tools/list", `{}`},
	} {
		result, err := session.Handle(ctx, message.method, json.RawMessage(message.params))
		fmt.Println(string(result), err)
	}
	// Output:
	//  mcpadapter: Server not initialized; send initialize first (-32600)
	// {"protocolVersion":"2025-11-25","serverInfo":{"name":"paintbox","version":"1.0.0"},"capabilities":{"tools":{},"prompts":{},"completions":{},"resources":{},"extensions":{"io.modelcontextprotocol/skills":{"directoryRead":true}}}} <nil>
	//  <nil>
	// {"tools":[]} <nil>
}

func ExampleAdapter_Call() {
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog)
	if err != nil {
		log.Fatal(err)
	}
	_, err = adapter.Call(context.Background(), "delete_everything", nil)
	var rpc *mcpadapter.RPCError
	if errors.As(err, &rpc) { // the model invented the name: return the message to the model
		fmt.Println(rpc.Code, strings.HasPrefix(rpc.Message, `Unknown tool: "delete_everything"; the tools are list_commands,`))
	}
	// Output: -32602 true
}

func ExampleAdapter_GetPrompt() {
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	prompts, err := adapter.Prompts(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, prompt := range prompts {
		fmt.Println(prompt.Name, "-", prompt.Description, "-", prompt.Arguments)
	}
	prompt, err := adapter.GetPrompt(ctx, "commit", map[string]string{"scope": "the parser"})
	fmt.Print(prompt.Text, err)
	// Output:
	// commit - Commit what is staged - [{scope [scope] false}]
	// paint - Paints. - []
	// Write one line about the parser.
	// <nil>
}

func ExampleAdapter_Complete() {
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog)
	if err != nil {
		log.Fatal(err)
	}
	completion, err := adapter.Complete(context.Background(), "get_command", "command_name", "co")
	fmt.Println(completion.Values, err)
	// Output: [commit] <nil>
}

func ExampleAdapter_ToolsPage() {
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog, mcpadapter.WithPageSize(8))
	if err != nil {
		log.Fatal(err)
	}
	var cursor *string
	for {
		tools, next, err := adapter.ToolsPage(cursor)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(len(tools), next != "")
		if next == "" {
			break
		}
		cursor = &next
	}
	// Output:
	// 8 true
	// 5 false
}

func ExampleWithRenderer() {
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog, mcpadapter.WithRenderer(toolshelf.Renderer{Rules: client.Claude().Rules}))
	if err != nil {
		log.Fatal(err)
	}
	prompt, err := adapter.GetPrompt(context.Background(), "commit", nil)
	fmt.Print(prompt.Text, err)
	// Output:
	// Write one line about $1.
	// <nil>
}

func ExampleWithRelativePaths() {
	fsys := afero.NewMemMapFs()
	if err := afero.WriteFile(fsys, "/srv/app/commands/commit.md", []byte("Write one line.\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	catalog, err := toolshelf.New(toolshelf.WithFs(fsys), toolshelf.WithRoot("/srv/app"))
	if err != nil {
		log.Fatal(err)
	}
	defer catalog.Close()
	for _, options := range [][]mcpadapter.Option{nil, {mcpadapter.WithRelativePaths()}} {
		adapter, err := mcpadapter.New(catalog, options...)
		if err != nil {
			log.Fatal(err)
		}
		result, err := adapter.Call(context.Background(), "get_command", json.RawMessage(`{"command_name":"commit"}`))
		if err != nil {
			log.Fatal(err)
		}
		var command toolshelf.Command
		if err := json.Unmarshal(result.Structured, &command); err != nil {
			log.Fatal(err)
		}
		fmt.Println(filepath.ToSlash(command.Metadata.Path))
	}
	// Output:
	// /srv/app/commands/commit.md
	// commands/commit.md
}

func ExampleTool_Schema() {
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog, mcpadapter.WithTools("get_skill"))
	if err != nil {
		log.Fatal(err)
	}
	for _, tool := range adapter.Tools() {
		schema := tool.Schema() // for an API that takes a map
		fmt.Println(schema["type"], schema["required"], schema["additionalProperties"])
	}
	// Output: object [skill_name] false
}

func ExampleAdapter_Answer() {
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog, mcpadapter.WithTools("list_skills", "get_skill"))
	if err != nil {
		log.Fatal(err)
	}
	for _, call := range []struct{ name, arguments string }{ // written by a model
		{"list_skills", `{}`},
		{"get_skill", `{"skill_name":"pant"}`},
		{"read_skill", `{"skill_name":"paint"}`},
	} {
		text, isError := adapter.Answer(context.Background(), call.name, json.RawMessage(call.arguments))
		fmt.Println(text, isError)
	}
	// Output:
	// {"skills":["paint"],"descriptions":{"paint":"Paints."}} false
	// {"error":{"code":"SKILL_NOT_FOUND","message":"there is no skill \"pant\"; did you mean \"paint\"?"}} true
	// Unknown tool: "read_skill"; the tools are list_skills, get_skill true
}

func ExampleAdapter_AnswerErr() {
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog)
	if err != nil {
		log.Fatal(err)
	}
	_, err = adapter.AnswerErr(context.Background(), "list_directory", json.RawMessage(`{"path":"/etc"}`))
	fmt.Println(err, errors.Is(err, toolshelf.ErrOutsideRoot))
	// Output: Error: Path '/etc' is outside project root true
}

func ExampleAdapter_AnswerMap() {
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	fmt.Println(adapter.AnswerMap(ctx, "list_skills", nil))
	fmt.Println(adapter.AnswerMap(ctx, "list_skills", map[string]any{"page": 2}))
	// Output:
	// map[descriptions:map[paint:Paints.] skills:[paint]]
	// map[error:the tool has no argument "page"; accepted arguments: path]
}

func ExampleWithSeparator() {
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog, mcpadapter.WithNamespace("shelf"), mcpadapter.WithSeparator("_"))
	if err != nil {
		log.Fatal(err)
	}
	tool, ok := adapter.Lookup("shelf.list_skills") // another accepted spelling
	fmt.Println(tool.Name, ok)
	// Output:
	// shelf_list_skills true
}

func ExampleAdapter_Prompts() {
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog)
	if err != nil {
		log.Fatal(err)
	}
	prompts, err := adapter.Prompts(context.Background())
	for _, p := range prompts {
		fmt.Println(p.Name, "-", p.Description, p.Arguments)
	}
	fmt.Println(err)
	_, ok, err := adapter.Prompt(context.Background(), "push")
	fmt.Println(ok, err)
	// Output:
	// commit - Commit what is staged [{scope [scope] false}]
	// paint - Paints. []
	// <nil>
	// false <nil>
}

// Contains reports whether any page has a prompt.
func ExampleAdapter_ListPrompts() {
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog)
	if err != nil {
		log.Fatal(err)
	}
	page, err := adapter.ListPrompts(context.Background(), nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range page.Prompts {
		fmt.Println(p.Name)
	}
	fmt.Println(page.Contains(page.Prompts[0].Name), page.Contains("no-such-prompt"))
	// Output:
	// commit
	// paint
	// true false
}

func ExampleSession_State() {
	catalog := sample()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog, mcpadapter.WithInstructions("Look for a command before you begin."))
	if err != nil {
		log.Fatal(err)
	}
	session := adapter.NewSession()
	fmt.Println(session.State(), mcpadapter.ProtocolVersions())
	params := []byte(`{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"client","version":"1"}}`)
	if _, err := session.Handle(context.Background(), "initialize", params); err != nil {
		log.Fatal(err)
	}
	fmt.Println(session.State())
	// Output:
	// uninitialized [2026-07-28 2025-11-25 2025-06-18 2025-03-26 2024-11-05]
	// initializing
}

// A server without an SDK: messages come in, one a line, and what Handle
// returns goes out, with the id of the request. A notification has no answer.
func ExampleWithListChanged() {
	project := afero.NewMemMapFs()
	catalog, err := toolshelf.New(toolshelf.WithFs(project))
	if err != nil {
		log.Fatal(err)
	}
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog, mcpadapter.WithServerInfo("shelf", "1.0.0"), mcpadapter.WithListChanged())
	if err != nil {
		log.Fatal(err)
	}
	out := json.NewEncoder(os.Stdout)
	session := adapter.NewSession()
	defer session.Close()
	serve := func(line string) {
		var in struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		if err := json.Unmarshal([]byte(line), &in); err != nil {
			log.Fatal(err)
		}
		result, err := session.Handle(context.Background(), in.Method, in.Params)
		var failure *mcpadapter.RPCError
		errors.As(err, &failure)
		if in.ID == nil {
			return
		}
		out.Encode(struct {
			Version string               `json:"jsonrpc"`
			ID      json.RawMessage      `json:"id"`
			Result  json.RawMessage      `json:"result,omitempty"`
			Error   *mcpadapter.RPCError `json:"error,omitempty"`
		}{"2.0", in.ID, result, failure})
	}
	afero.WriteFile(project, "commands/commit.md", []byte("Commit.\n"), 0o644)
	serve(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"me","version":"1"}}}`)
	serve(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	serve(`{"jsonrpc":"2.0","id":2,"method":"prompts/list"}`)

	changed := make(chan []string, 1)
	stop := adapter.OnPromptsChange(func(names []string) { changed <- names })
	defer stop()
	afero.WriteFile(project, "commands/review.md", []byte("Review.\n"), 0o644)
	serve(`{"jsonrpc":"2.0","id":3,"method":"prompts/list"}`) // without WithWatch, a request detects the change
	fmt.Println(`{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`, <-changed)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"shelf","version":"1.0.0"},"capabilities":{"tools":{},"prompts":{"listChanged":true},"completions":{}}}}
	// {"jsonrpc":"2.0","id":2,"result":{"prompts":[{"name":"commit","description":"Commit."}]}}
	// {"jsonrpc":"2.0","id":3,"result":{"prompts":[{"name":"commit","description":"Commit."},{"name":"review","description":"Review."}]}}
	// {"jsonrpc":"2.0","method":"notifications/prompts/list_changed"} [review]
}

// pdfSkills returns a catalog with a skill that the adapter publishes, and a skill
// without a valid name.
func pdfSkills() (*toolshelf.Catalog, afero.Fs) {
	project := afero.NewMemMapFs()
	for name, content := range map[string]string{
		"skills/pdf/SKILL.md":          "---\nname: pdf\ndescription: Fills PDF forms.\n---\nRun scripts/fill.py.\n",
		"skills/pdf/scripts/fill.py":   "print('filled')\n",
		"skills/office-tools/SKILL.md": "---\nname: Office Tools\ndescription: Opens documents.\n---\n",
	} {
		if err := afero.WriteFile(project, name, []byte(content), 0o644); err != nil {
			log.Fatal(err)
		}
	}
	catalog, err := toolshelf.New(toolshelf.WithFs(project))
	if err != nil {
		log.Fatal(err)
	}
	return catalog, project
}

func ExampleSession_ListSkills() {
	catalog, _ := pdfSkills()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog)
	if err != nil {
		log.Fatal(err)
	}
	session := adapter.NewSession()
	list, err := session.ListSkills(context.Background(), nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, skill := range list.Skills {
		fmt.Printf("%s %s\n", skill.URI, skill.Frontmatter)
		for _, file := range skill.Resources {
			fmt.Println(file.Digest[:15], file.Size, file.URI)
		}
	}
	// Output:
	// skill://pdf/SKILL.md {"name":"pdf","description":"Fills PDF forms."}
	// sha256:73608375 69 skill://pdf/SKILL.md
	// sha256:9907f189 16 skill://pdf/scripts/fill.py
}

// A client that holds an old entry of a skill gets an error instead of other bytes.
func ExampleSession_ReadResource() {
	catalog, project := pdfSkills()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog)
	if err != nil {
		log.Fatal(err)
	}
	ctx, session := context.Background(), adapter.NewSession()
	read := func() {
		c, err := session.ReadResource(ctx, "skill://pdf/scripts/fill.py")
		fmt.Println(c.MIMEType, c.IsText(), string(c.Data), err)
	}
	if _, err := session.GetSkill(ctx, "skill://pdf/SKILL.md"); err != nil {
		log.Fatal(err)
	}
	read()
	afero.WriteFile(project, "skills/pdf/scripts/fill.py", []byte("print('other')\n"), 0o644)
	read()
	if _, err := session.GetSkill(ctx, "skill://pdf/SKILL.md"); err != nil {
		log.Fatal(err)
	}
	read()
	// Output:
	// text/x-python true print('filled')
	//  <nil>
	//  true  mcpadapter: "skill://pdf/scripts/fill.py" has changed since the client fetched the entry of the skill "skill://pdf/SKILL.md"; call skills/get for a fresh entry, and read again (-32603)
	// text/x-python true print('other')
	//  <nil>
}

func ExampleSession_ReadDirectory() {
	catalog, _ := pdfSkills()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog)
	if err != nil {
		log.Fatal(err)
	}
	ctx, session := context.Background(), adapter.NewSession()
	directory, err := session.ReadDirectory(ctx, "skill://pdf", nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range directory.Resources {
		fmt.Println(r.URI, r.MIMEType)
	}
	resources, err := session.ListResources(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range resources.Resources {
		fmt.Println(r.Name, "-", r.Description)
	}
	for _, t := range mcpadapter.ResourceTemplates() {
		fmt.Println(t.URITemplate)
	}
	// Output:
	// skill://pdf/SKILL.md text/markdown
	// skill://pdf/scripts inode/directory
	// pdf - Fills PDF forms.
	// skill://{+path}
}

func ExampleAdapter_SkillDiagnostics() {
	catalog, _ := pdfSkills()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog)
	if err != nil {
		log.Fatal(err)
	}
	diagnostics, err := adapter.SkillDiagnostics(context.Background())
	for _, d := range diagnostics {
		fmt.Println(d)
	}
	fmt.Println(err)
	// Output:
	// skills/office-tools/SKILL.md: error: not published over MCP: a URI cannot end with the name "Office Tools"; write a name of lowercase letters a to z, digits and single hyphens, with at most 64 characters [SKILL_NO_URI]
	// <nil>
}

// A transport sends the notifications for the skills that the client has subscribed to.
func ExampleAdapter_OnSkillsChange() {
	catalog, project := pdfSkills()
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog, mcpadapter.WithListChanged())
	if err != nil {
		log.Fatal(err)
	}
	ctx, session := context.Background(), adapter.NewSession()
	for _, message := range [][2]string{
		{"initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"me","version":"1"}}`},
		{"notifications/initialized", `{}`},
		{"resources/subscribe", `{"uri":"skill://pdf/SKILL.md"}`},
		{"skills/list", `{}`},
	} {
		if _, err := session.Handle(ctx, message[0], json.RawMessage(message[1])); err != nil {
			log.Fatal(err)
		}
	}
	changed := make(chan []string, 1)
	stop := adapter.OnSkillsChange(func(uris []string) { changed <- uris })
	defer stop()
	afero.WriteFile(project, "skills/pdf/SKILL.md", []byte("---\nname: pdf\ndescription: Fills forms.\n---\n"), 0o644)
	session.ListSkills(ctx, nil) // without WithWatch, a request detects the change
	fmt.Println("notifications/resources/list_changed")
	for _, uri := range <-changed {
		if session.Subscribed(uri) {
			fmt.Println("notifications/resources/updated", uri)
		}
	}
	// Output:
	// notifications/resources/list_changed
	// notifications/resources/updated skill://pdf/SKILL.md
}

func ExampleWithoutSkillResources() {
	catalog, _ := pdfSkills()
	defer catalog.Close()
	for _, opts := range [][]mcpadapter.Option{nil, {mcpadapter.WithoutSkillResources()}} {
		adapter, err := mcpadapter.New(catalog, opts...)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(mcpadapter.SkillsExtension, adapter.ServesSkills())
	}
	// Output:
	// io.modelcontextprotocol/skills true
	// io.modelcontextprotocol/skills false
}
