package documents

import (
	"os"
	"regexp"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
)

// TestPrecedencePage removes the winning layer of the example of docs/precedence.md again and again: each layer of the
// table wins over all later rows.
func TestPrecedencePage(t *testing.T) {
	page, err := os.ReadFile("docs/precedence.md")
	if err != nil {
		t.Fatal(err)
	}
	var layers []string
	files := map[string]string{"/repo/.git/HEAD": "", "/home/me/x": ""}
	for _, row := range regexp.MustCompile(`(?m)^\| \d+ \| `+"`(.*?)`").FindAllStringSubmatch(string(page), -1) {
		layers = append(layers, row[1])
	}
	if len(layers) != 14 {
		t.Fatalf("the table has %q", layers)
	}
	at := func(layer string) string {
		if layer[0] == '~' {
			return "/home/me" + layer[1:] + "/review.md"
		}
		return "/repo/services/api/" + layer + "/review.md"
	}
	for _, layer := range layers {
		files[at(layer)] = ""
	}
	files["/.claude/commands/review.md"] = "" // above the repository
	project := catalogtest.Memory(t, files)
	catalog := catalogtest.Open(t, toolshelf.WithFs(project), toolshelf.WithRoot("/repo/services/api"), toolshelf.WithHome("/home/me"),
		toolshelf.WithCommandsDir("team"),
		toolshelf.WithClient(client.Claude(), client.OpenCode()),
		toolshelf.WithCommandsFS("defaults", fstest.MapFS{"review.md": {Data: []byte("Review the change.\n")}}),
		toolshelf.WithParents(""))
	var got []string
	for range layers {
		command, err := catalog.Get(t.Context(), "review")
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, command.Layer)
		if err := project.Remove(at(command.Layer)); err != nil && command.Layer != "defaults" {
			t.Fatal(err)
		}
	}
	if !slices.Equal(got, layers) {
		t.Errorf("the layers win in the order %q, the table has %q", got, layers)
	}
}
