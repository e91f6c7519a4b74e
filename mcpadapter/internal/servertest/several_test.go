package servertest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// TestSeveralAdaptersOfAServer tests a server with two adapters that have some names in common. The
// later adapter has precedence.
func TestSeveralAdaptersOfAServer(t *testing.T) {
	each(t, func(t *testing.T, b binding) {
		if b.start != nil { // a session has one adapter
			testSeveralAdapters(t, b.connect)
		}
	})
}

func testSeveralAdapters(t *testing.T, connect connect) {
	skill := func(name, description string) string { // no prompt
		return "---\nname: " + name + "\nuser-invocable: false\ndescription: " + description + "\n---\n" + description + "\n"
	}
	var fsys [2]afero.Fs
	var closers [2]func() error
	var adapters []*mcpadapter.Adapter
	for i, name := range []string{"first", "second"} {
		fsys[i] = catalogtest.Memory(t, map[string]string{
			"commands/both.md":               "---\ndescription: Both of " + name + "\n---\nText of " + name + ".\n",
			"commands/" + name + ".md":       "---\nargument-hint: \"[low|high]\"\n---\nOnly " + name + " $1.\n",
			"skills/both/SKILL.md":           skill("both", "Skill of "+name),
			"skills/" + name + "/SKILL.md":   skill(name, "Only "+name),
			"skills/" + name + "/x.md":       "File of " + name + ".\n",
			"skills/both/of-" + name + ".md": "In both of " + name + ".\n",
		})
		c := catalog(t, fsys[i])
		closers[i] = c.Close
		adapters = append(adapters, adapter(t, c, mcpadapter.WithTools(), mcpadapter.WithPrompts()))
	}
	write := func(i int, name, content string) {
		must.Do(t, afero.WriteFile(fsys[i], name, []byte(content), 0o644))
	}
	remove := func(i int, name string) { must.Do(t, fsys[i].RemoveAll(name)) }
	prompt := func(name string) [2]string { return [2]string{"prompts/get", fmt.Sprintf(`"name":%q`, name)} }
	file := func(path string) [2]string {
		return [2]string{"resources/read", fmt.Sprintf(`"uri":"skill://%s"`, path)}
	}
	choices := func(name string) [2]string {
		return [2]string{"completion/complete", fmt.Sprintf(`"ref":{"type":"ref/prompt","name":%q},"argument":{"name":%q,"value":""}`, name, argumentOf(t, name, adapters...))}
	}
	reached := ways(t, connect, adapters...)
	for _, tt := range []struct {
		name    string
		change  func()
		prompts []string             // the listed names
		answers map[[2]string]string // a part of the result; "" for an error
	}{
		{"at first", func() {}, []string{"both", "first", "second"}, map[[2]string]string{
			prompt("both"): "Text of second.", prompt("both.md"): "Text of second.", prompt("first"): "Only first", prompt("second"): "Only second", prompt("none"): "",
			file("both/SKILL.md"): "Skill of second", file("first/SKILL.md"): "Only first", file("first/x.md"): "File of first.", file("second/x.md"): "File of second.",
			file("both/of-second.md"): "In both of second.", file("none/SKILL.md"): "",
			choices("first"): `"low"`, choices("second"): `"low"`,
		}},
		{"after an edit of the first adapter", func() {
			write(0, "commands/both.md", "---\ndescription: Another\n---\nEdited.\n")
			write(0, "skills/both/SKILL.md", skill("both", "Edited skill"))
		}, []string{"both", "first", "second"}, map[[2]string]string{prompt("both"): "Text of second.", file("both/SKILL.md"): "Skill of second"}},
		{"after the last adapter has removed a common name", func() {
			remove(1, "commands/both.md")
			remove(1, "skills/both")
		}, []string{"both", "first", "second"}, map[[2]string]string{
			prompt("both"): "Edited.", file("both/SKILL.md"): "Edited skill", file("both/of-first.md"): "In both of first.", file("both/of-second.md"): "",
		}},
		{"after the last adapter has added the name again", func() {
			write(1, "commands/both.md", "Again.\n")
			write(1, "skills/both/SKILL.md", skill("both", "Again"))
		}, []string{"both", "first", "second"}, map[[2]string]string{prompt("both"): "Again.", file("both/SKILL.md"): "Again"}},
		{"after the first adapter has removed the name", func() {
			remove(0, "commands/both.md")
			remove(0, "skills/both")
		}, []string{"both", "first", "second"}, map[[2]string]string{prompt("both"): "Again.", file("both/SKILL.md"): "Again", file("both/of-first.md"): ""}},
		{"after both adapters have removed the name", func() {
			remove(1, "commands/both.md")
			remove(1, "skills/both")
		}, []string{"first", "second"}, map[[2]string]string{prompt("both"): "", file("both/SKILL.md"): "", prompt("first"): "Only first", file("first/x.md"): "File of first."}},
		{"after the catalog of the last adapter is closed", func() { closers[1]() }, nil, map[[2]string]string{
			prompt("first"): "Only first", file("first/x.md"): "File of first.",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.change()
			for _, way := range reached {
				for request, want := range tt.answers {
					got, code := way.request(t, request[0], request[1])
					if (code == 0) != (want != "") || !strings.Contains(string(got), want) {
						t.Errorf("%s: %s: got %s, code %d; want %q", way.name, request, got, code, want)
					}
				}
				var list struct{ Prompts []struct{ Name string } }
				raw, _ := way.request(t, "prompts/list", ``)
				if tt.prompts == nil {
					continue
				}
				must.Do(t, json.Unmarshal(raw, &list))
				var names []string
				for _, p := range list.Prompts {
					names = append(names, p.Name)
				}
				if slices.Sort(names); !slices.Equal(names, tt.prompts) {
					t.Errorf("%s: prompts/list has %q, want %q", way.name, names, tt.prompts)
				}
			}
		})
	}
}

// argumentOf returns the name of the first argument of a prompt.
func argumentOf(t testing.TB, name string, adapters ...*mcpadapter.Adapter) string {
	t.Helper()
	for _, a := range adapters {
		if p, ok, err := a.Prompt(t.Context(), name); err == nil && ok {
			return p.Arguments[0].Name
		}
	}
	t.Fatalf("no prompt %s", name)
	return ""
}
