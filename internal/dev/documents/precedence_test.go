package documents

import (
	"os"
	"regexp"
	"testing"
	"testing/fstest"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// TestPrecedencePage removes the winning layers of the example of docs/precedence.md again and
// again: each layer of the table wins over all later rows.
func TestPrecedencePage(t *testing.T) {
	page := must.Get(os.ReadFile("docs/precedence.md"))(t)
	var commands, skills []string
	for _, row := range regexp.MustCompile(`(?m)^\| \d+ \| `+"`(.*?)` "+`\| (none|`+"`(.*?)`)").FindAllStringSubmatch(string(page), -1) {
		if commands = append(commands, row[1]); row[3] != "" {
			skills = append(skills, row[3])
		}
	}
	must.Len(t, "rows of the table", 14, commands)
	must.Len(t, "rows of the table", 12, skills)
	at := func(layer, file string) string {
		if layer[0] == '~' {
			return "/home/me" + layer[1:] + "/" + file
		}
		return "/repo/services/api/" + layer + "/" + file
	}
	const command, skill = "review.md", "pdf/SKILL.md"
	files := map[string]string{"/repo/.git/HEAD": "", "/home/me/x": "", "/.claude/commands/review.md": "", "/.claude/skills/pdf/SKILL.md": ""}
	for _, layer := range commands {
		files[at(layer, command)] = ""
	}
	for _, layer := range skills {
		files[at(layer, skill)] = "---\nname: pdf\ndescription: Fill forms\n---\n"
	}
	project := catalogtest.Memory(t, files)
	catalog := catalogtest.Open(t, toolshelf.WithFs(project), toolshelf.WithRoot("/repo/services/api"), toolshelf.WithHome("/home/me"),
		toolshelf.WithCommandsDir("team"),
		toolshelf.WithClient(client.Claude(), client.OpenCode()),
		toolshelf.WithCommandsFS("defaults", fstest.MapFS{"review.md": {Data: []byte("Review the change.\n")}}),
		toolshelf.WithParents(""))
	// winners returns the layers that win, one after the other.
	winners := func(n int, file string, get func() (layer string, err error)) (layers []string) {
		for range n {
			layer := must.Get(get())(t)
			layers = append(layers, layer)
			if err := project.Remove(at(layer, file)); err != nil && layer != "defaults" {
				t.Fatal(err)
			}
		}
		return layers
	}
	got := winners(len(commands), command, func() (string, error) {
		found, err := catalog.Get(t.Context(), "review")
		return found.Layer, err
	})
	must.Match(t, "winners", commands, got)
	got = winners(len(skills), skill, func() (string, error) {
		found, err := catalog.GetSkill(t.Context(), "pdf")
		return found.Layer, err
	})
	must.Match(t, "winners", skills, got)
}
