package plugin

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	diff "github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/access"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// reader returns a Recorder of a filesystem with files of at most limit bytes, and its accesses.
func reader(t testing.TB, fsys afero.Fs, dir string, limit int64) (*access.Recorder, *access.Reads) {
	t.Helper()
	reads := new(access.Reads)
	source := &access.Source{Context: t.Context(), FS: must.Get(confine.Over(fsys, dir))(t), Opened: new(atomic.Int64)}
	return access.NewRecorder(source, reads, limit), reads
}

// memory is reader for a filesystem with the files.
func memory(t testing.TB, files map[string]string, limit int64) (*access.Recorder, *access.Reads) {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return reader(t, afero.FromIOFS{FS: fsys}, ".", limit)
}

var kindNames = map[client.Files]string{client.Commands: "commands", client.Skills: "skills", client.Agents: "agents"}

// shown writes the plugins, their parts and all problems, one a line.
func shown(t Table) (lines []string) {
	list := func(problems []problem.Problem) {
		for _, p := range problems {
			lines = append(lines, fmt.Sprintf("%s %s: %s", p.Code, p.Path, p.Message))
		}
	}
	list(t.Problems)
	for _, p := range t.Plugins {
		line := p.Name + " in " + cmp.Or(p.Dir, "nowhere")
		if p.Source.Kind != "" {
			line += " from " + p.Source.Kind
		}
		lines = append(lines, line)
		for _, part := range p.Parts {
			line := "  " + kindNames[part.Kind] + " " + part.Path
			if part.Pattern != "" {
				line += "/" + part.Pattern
			}
			if part.File {
				line += ", a file"
			}
			if part.Declared {
				line += ", declared"
			}
			lines = append(lines, line)
		}
		list(p.Problems)
	}
	return lines
}

// find returns the table of a directory.
func findIn(t *testing.T, files map[string]string, dir string, o Options) Table {
	t.Helper()
	recorder, _ := memory(t, files, cmp.Or(o.MaxSize, MaxSize))
	return must.Get(Find(t.Context(), recorder, dir, o))(t)
}

const (
	schema = `"$schema":"https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"`
	agent  = "x/plugin.json"
	claude = "x/.claude-plugin/plugin.json"
	market = ".claude-plugin/marketplace.json"
)

//go:embed testdata/find.txt
var finds string

// A findCase is a case of testdata/find.txt, which describes the cases.
type findCase struct {
	name, dir string
	files     map[string]string
	want      []string // the lines of shown
}

func findCases() (all []*findCase) {
	var c *findCase
	for line := range strings.SplitSeq(strings.ReplaceAll(finds, "SCHEMA", schema), "\n") {
		line, below := strings.CutPrefix(line, "\t")
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "" || !below && line[0] == '#':
		case !below:
			c = &findCase{name: line, dir: ".", files: map[string]string{}}
			all = append(all, c)
		case word == "file":
			file := must.Arguments(rest)
			c.files[file[0]] = file[1]
		case word == "files":
			for _, name := range must.Arguments(rest) {
				c.files[name] = ""
			}
		case word == "find":
			c.dir = rest
		case word == "|":
			c.want = append(c.want, rest)
		default:
			panic("unknown word " + word)
		}
	}
	if all == nil || slices.ContainsFunc(all, func(c *findCase) bool { return len(c.files) == 0 }) {
		panic("the text has no case, or a case without a file")
	}
	return all
}

func TestFind(t *testing.T) {
	for _, c := range findCases() {
		t.Run(c.name, func(t *testing.T) {
			must.Match(t, "lines", c.want, shown(findIn(t, c.files, c.dir, Options{Name: "top"})))
		})
	}
}

// wantLines returns the lines without the indentation of the test.
func wantLines(text string) (lines []string) {
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimPrefix(line, "\t\t\t"); strings.TrimSpace(line) != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestFindReadsTheManifestsOfTheOptions(t *testing.T) {
	files := map[string]string{claude: `{"name":"claude"}`, "x/.codex-plugin/plugin.json": `{"name":"codex"}`, agent: `{` + schema + `,"name":"open"}`, "x/commands/a.md": ""}
	for _, tt := range []struct {
		manifests []string
		want      string
	}{
		{nil, "open"},
		{[]string{"unknown.json", ".codex-plugin/plugin.json", "plugin.json"}, "codex"},
		{[]string{".cursor-plugin/plugin.json"}, "open"},
		{[]string{".claude-plugin/plugin.json"}, "claude"},
	} {
		table := findIn(t, files, ".", Options{Manifests: tt.manifests})
		if len(table.Plugins) != 1 || table.Plugins[0].Name != tt.want {
			t.Errorf("%q: got %q, want %s", tt.manifests, shown(table), tt.want)
		}
	}
	listed := map[string]string{market: `{"plugins":[{"name":"e","source":"./x"}]}`}
	maps.Copy(listed, files)
	for want, manifests := range map[string][]string{"claude": {".cursor-plugin/plugin.json"}, "codex": {".codex-plugin/plugin.json"}} {
		if table := findIn(t, listed, ".", Options{Manifests: manifests}); len(table.Plugins) != 1 || table.Plugins[0].Name != want {
			t.Errorf("a marketplace, %q: got %q, want %s", manifests, shown(table), want)
		}
	}
}

func TestTheTextsOfAPlugin(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  Plugin // without Parts
	}{
		{"of a manifest", map[string]string{claude: `{"name":"p","version":"1","description":"d","homepage":"h","repository":"r","license":"MIT","keywords":["a","b"],"author":{"name":"n","email":"e","url":"u"}}`},
			Plugin{About: About{Name: "p", Version: "1", Description: "d", Homepage: "h", Repository: "r", License: "MIT", Keywords: []string{"a", "b"}, Author: Person{"n", "e", "u"}}, Dir: "x", Manifest: claude}},
		{"in the forms of package.json", map[string]string{claude: `{"name":"p","author":"n <e>","repository":{"type":"git","url":"r"},"keywords":"a"}`},
			Plugin{About: About{Name: "p", Repository: "r", Keywords: []string{"a"}, Author: Person{Name: "n <e>"}}, Dir: "x", Manifest: claude}},
		{"of an entry precede the manifest, except for the name and the version", map[string]string{market: `{"name":"m","plugins":[{"name":"e","version":"2","description":"of e","author":{"name":"e"},"source":"./x"}]}`,
			claude: `{"name":"p","version":"1","description":"of p","license":"MIT","author":{"name":"p","url":"u"}}`},
			Plugin{About: About{Name: "p", Version: "1", Description: "of e", License: "MIT", Author: Person{Name: "e"}}, Dir: "x", Manifest: claude, Marketplace: "m", Source: Source{Kind: "relative", Path: "./x"}}},
		{"of a remote entry", map[string]string{market: `{"name":"m","plugins":[{"name":"e","description":"d","commands":"./c","mcpServers":{"s":{}},"source":{"source":"git-subdir","url":"u","path":"p","ref":"v1","sha":"f00"}}]}`},
			Plugin{About: About{Name: "e", Description: "d"}, Marketplace: "m", MCPServers: []json.RawMessage{json.RawMessage(`{"s":{}}`)}, Source: Source{Kind: "git-subdir", URL: "u", Path: "p", Ref: "v1", SHA: "f00"}}},
		{"with hooks and servers", map[string]string{claude: `{"name":"p","hooks":["./h.json",{"Stop":[]},"./hooks/hooks.json"],"mcpServers":"./m.json"}`, "x/hooks/hooks.json": `{}`, "x/.mcp.json": `{}`},
			Plugin{About: About{Name: "p"}, Dir: "x", Manifest: claude, Hooks: []json.RawMessage{json.RawMessage(`{"Stop":[]}`)}, HookFiles: []string{"x/hooks/hooks.json", "x/h.json"}, MCPServerFiles: []string{"x/.mcp.json", "x/m.json"}}},
		{"of Agent Plugins with the file of the format", map[string]string{agent: `{` + schema + `,"name":"p","version":"1"}`, "x/hooks/hooks.json": `{}`, "x/mcp.json": `{}`, "x/.mcp.json": `{}`},
			Plugin{About: About{Name: "p", Version: "1"}, Dir: "x", Manifest: agent, MCPServerFiles: []string{"x/mcp.json"}}},
		{"of Agent Plugins 1.1", map[string]string{agent: `{"$schema":"https://agent-plugins.org/schemas/1.1.0/plugin.schema.json","name":"p","displayName":"The P","icon":"./i.png"}`},
			Plugin{About: About{Name: "p", DisplayName: "The P"}, Dir: "x", Manifest: agent}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			table := findIn(t, tt.files, ".", Options{})
			if len(table.Plugins) != 1 {
				t.Fatal(shown(table))
			}
			got := *table.Plugins[0]
			got.Parts, tt.want.Format = nil, got.Format
			must.Equal(t, "diff.Diff(tt.want, got)", "", diff.Diff(tt.want, got))
		})
	}
}

func TestSourcesHaveTheirFields(t *testing.T) {
	for source, want := range map[string]Source{
		`"./x"`: {Kind: "relative", Path: "./x"},
		`{"source":"github","repo":"o/r","ref":"v1","sha":"f00"}`:                               {Kind: "github", Repo: "o/r", Ref: "v1", SHA: "f00"},
		`{"source":"url","url":"https://example.com/a.git"}`:                                    {Kind: "url", URL: "https://example.com/a.git"},
		`{"source":"npm","package":"@o/p","version":"^2","registry":"https://npm.example.com"}`: {Kind: "npm", Package: "@o/p", Version: "^2", Registry: "https://npm.example.com"},
		`{"source":"archive","url":"https://example.com/a.zip","sha256":"f00"}`:                 {Kind: "archive", URL: "https://example.com/a.zip", SHA256: "f00"},
		`{"source":"command","command":"tool path","mode":"link","timeout":5}`:                  {Kind: "command", Command: "tool path", Mode: "link"},
		`{"source":"local","path":"./x"}`:                                                       {Kind: "local", Path: "./x"},
		`{"source":"other","url":1,"x":{}}`:                                                     {Kind: "other"},
	} {
		table := findIn(t, map[string]string{market: `{"plugins":[{"name":"a","source":` + source + `}]}`, "x/commands/a.md": ""}, ".", Options{})
		if len(table.Plugins) != 1 || table.Plugins[0].Source != want {
			t.Errorf("%s: got %q, want %+v", source, shown(table), want)
		}
	}
}

// The same files give the same table.
func TestFindIsDeterministic(t *testing.T) {
	files := map[string]string{}
	for i := range 50 {
		dir := fmt.Sprintf("p%d", i)
		files[dir+"/.claude-plugin/plugin.json"] = `{"name":"` + dir + `","x":1,"skills":["./a","./b","../c"],"keywords":2,"agents":7}`
		files[dir+"/commands/a.md"] = ""
	}
	first := findIn(t, files, ".", Options{})
	for range 10 {
		if again := findIn(t, files, ".", Options{}); !reflect.DeepEqual(first, again) {
			t.Fatal(diff.Diff(shown(first), shown(again)))
		}
	}
}

func TestAMessageHasTheBeginningOfALongText(t *testing.T) {
	long := strings.Repeat("x", 199)
	for text, want := range map[string]string{
		"short": "short", long + "y": long + "y", long + "yz": long + "y…",
		long + "é": long + "…", // no part of a character
	} {
		must.Equal(t, text, want, shortened(text))
	}
}

// FuzzValues compares the values of a text with encoding/json.
func FuzzValues(f *testing.F) {
	for _, seed := range []string{`{}`, ` { "a" : [ 1 , "x\"}]" , { "b" : null } ] , "a\u0041":-1.5e3,"c":true}`, `{"a":1,"a":{"a":"\\"}}`, `{"":[[],{},""]}`, "\ufeff{\"a\":1}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var problems []problem.Problem
		o, failed := parse("a.json", data, &problems)
		var want map[string]json.RawMessage
		if failed != nil {
			if utf8.Valid(data) && json.Unmarshal(data, &want) == nil && want != nil {
				t.Fatalf("%+v", failed)
			}
			return
		}
		must.Do(t, json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &want))
		if len(want) != len(o.members) || len(want) != len(o.keys) {
			t.Fatalf("%d members, want %d", len(o.members), len(want))
		}
		for key, value := range want {
			must.Equal(t, key, string(value), string(o.members[key]))
			var wantText string
			isText := value[0] == '"' && json.Unmarshal(value, &wantText) == nil
			if s, ok := Text(o.members[key]); s != wantText || ok != isText {
				t.Errorf("%q: got %q, want %q", key, s, wantText)
			}
			var wantItems []json.RawMessage
			isList := value[0] == '[' && json.Unmarshal(value, &wantItems) == nil
			items, ok := list(o.members[key])
			if ok != isList || len(items) != len(wantItems) {
				t.Fatalf("%q: got %q, want %q", key, items, wantItems)
			}
			for i := range items {
				must.Equal(t, key, string(wantItems[i]), string(items[i]))
			}
		}
	})
}
