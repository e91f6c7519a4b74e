package documents

import (
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// texts returns the content of each <text> of an SVG.
func texts(t *testing.T, file string) (all []string) {
	t.Helper()
	svg, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer svg.Close()
	decoder := xml.NewDecoder(svg)
	inText := false
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if token.Name.Local == "text" {
				inText = true
				all = append(all, "")
			}
		case xml.EndElement:
			inText = inText && token.Name.Local != "text"
		case xml.CharData:
			if inText {
				all[len(all)-1] += string(token)
			}
		}
	}
}

// TestOverviewShowsResultsOfItsFiles compares the left side of docs/overview.svg with the
// files of a catalog, and the right side with results of the catalog.
func TestOverviewShowsResultsOfItsFiles(t *testing.T) {
	files := map[string]string{
		".claude/commands/review.md":  "---\ndescription: Review a change\nargument-hint: \"[number]\"\n---\nRead the diff of $ARGUMENTS.",
		".claude/skills/pdf/SKILL.md": "---\nname: pdf\ndescription: Fill in PDF forms\n---",
		"src/main.go":                 "",
		"src/parser/parser.go":        "",
	}
	project := afero.NewMemMapFs()
	shown := []string{"src/", "├── main.go", "└── parser/parser.go"}
	for name, text := range files {
		if err := afero.WriteFile(project, name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if text != "" {
			shown = append(append(shown, name), strings.Split(text, "\n")...)
		}
	}
	catalog, err := toolshelf.New(toolshelf.WithFs(project), toolshelf.WithClient(client.Claude()))
	if err != nil {
		t.Fatal(err)
	}
	defer catalog.Close()

	list, err := catalog.List(t.Context(), toolshelf.Page{})
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range list.Commands {
		shown = append(shown, fmt.Sprintf("CommandInfo{Name: %q,", command.Name), fmt.Sprintf("  Description: %q, …}", command.Description))
	}
	command, err := catalog.Get(t.Context(), "review")
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := command.Render("42")
	if err != nil {
		t.Fatal(err)
	}
	shown = append(shown, fmt.Sprintf("%q", rendered))

	prompt, err := catalog.SkillsPrompt(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var block []string
	for line := range strings.Lines(prompt.Text) {
		block = append(block, strings.TrimSpace(line))
	}
	shown = append(shown, strings.Join(block[1:3], ""), strings.Replace(block[3], "</description>", "</…>", 1))

	found, err := catalog.FindFiles(t.Context(), "src", "*.go")
	if err != nil {
		t.Fatal(err)
	}
	shown = append(shown, strings.Join(found.Files, "  "))

	picture := texts(t, path.Join("docs", "overview.svg"))
	isShown := map[string]bool{}
	for _, text := range picture {
		isShown[text] = true
	}
	for _, text := range shown {
		if !isShown[text] {
			t.Errorf("the picture has no text %q", text)
		}
	}

	adapter, err := mcpadapter.New(catalog)
	if err != nil {
		t.Fatal(err)
	}
	tools := map[string]bool{}
	for _, tool := range adapter.Tools() {
		tools[tool.Name] = true
	}
	after := false
	names := 0
	for _, text := range picture {
		if after {
			for _, name := range strings.Fields(strings.TrimSuffix(text, "…")) {
				names++
				if !tools[name] {
					t.Errorf("the picture shows the tool %q, which the adapter does not have", name)
				}
			}
		}
		after = after || strings.HasPrefix(text, "mcpadapter:")
	}
	if names == 0 {
		t.Error("the picture shows no tool")
	}
}
