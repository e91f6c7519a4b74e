package mcpadapter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

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
