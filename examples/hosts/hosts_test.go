// Package hosts_test runs the loaders of docs/hosts.md over files with defects, and compares the
// document with the files.
package hosts_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/examples/hosts/agentframework"
	"github.com/toolshelf-go/toolshelf/examples/hosts/crush"
	"github.com/toolshelf-go/toolshelf/examples/hosts/dockeragent"
	"github.com/toolshelf-go/toolshelf/examples/hosts/eino"
	"github.com/toolshelf-go/toolshelf/examples/hosts/kit"
	"github.com/toolshelf-go/toolshelf/examples/hosts/trpc"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
)

// skills are a valid skill, three with defects that loaders often drop, and two that no client
// shows.
var skills = map[string]string{
	"good/SKILL.md":        "---\nname: good\ndescription: Fine.\nmetadata:\n  version: 1.0\n---\n\n# Good\n",
	"good/docs/a.md":       "# A\n",
	"colon/SKILL.md":       "---\nname: colon\ndescription: Use when: reviewing.\n---\n\n# Colon\n",
	"mark/SKILL.md":        "\ufeff---\r\nname: mark\r\ndescription: >\r\n  one\r\n  two\r\n---\r\n\r\n# Mark\r\n",
	"list/SKILL.md":        "---\nname: list\ndescription: Tools.\nallowed-tools: [Read, Bash(git:*)]\nmetadata:\n  tags: [a, b]\n---\n\n# List\n",
	"undescribed/SKILL.md": "---\nname: undescribed\n---\n\n# Undescribed\n",
	"empty/SKILL.md":       "",
}

// A shown skill is the description and the beginning of the text.
type shown struct{ Description, Heading string }

var want = map[string]shown{
	"good":  {"Fine.", "# Good"},
	"colon": {"Use when: reviewing.", "# Colon"},
	"mark":  {"one two", "# Mark"},
	"list":  {"Tools.", "# List"},
}

func show(description, text string) shown {
	heading := regexp.MustCompile(`(?m)^# \w+`).FindString(text)
	return shown{strings.TrimSpace(description), heading}
}

func TestLoadersOfHostsShowTheSkills(t *testing.T) {
	dir := catalogtest.Disk(t, skills)
	catalog := catalogtest.Open(t, toolshelf.WithSkillsDir(dir))
	ctx := t.Context()
	for name, load := range map[string]func() (map[string]shown, error){
		"crush": func() (map[string]shown, error) {
			all, states := crush.DiscoverWithStates([]string{dir, filepath.Join(dir, "missing")})
			if len(states) != len(skills)-1 {
				t.Errorf("crush: %d states, want one for each directory", len(states))
			}
			got := map[string]shown{}
			for _, s := range all {
				got[s.Name] = show(s.Description, s.Instructions)
			}
			return got, nil
		},
		"kit": func() (map[string]shown, error) {
			all, err := kit.LoadSkillsFromDir(dir)
			got := map[string]shown{}
			for _, s := range all {
				if s.Description != "" { // kit omits the others after it has loaded all directories
					got[s.Name] = show(s.Description, s.Content)
				}
			}
			return got, err
		},
		"docker-agent": func() (map[string]shown, error) {
			got := map[string]shown{}
			for _, s := range dockeragent.Load(dir) {
				text, err := os.ReadFile(s.FilePath)
				if err != nil {
					return nil, err
				}
				got[s.Name] = show(s.Description, string(text))
			}
			return got, nil
		},
		"agent-framework-go": func() (map[string]shown, error) {
			all, err := agentframework.NewSource(catalog).Skills(ctx)
			got := map[string]shown{}
			for _, s := range all {
				text, err := s.GetContent(ctx)
				if err != nil {
					return nil, err
				}
				got[s.Frontmatter.Name] = show(s.Frontmatter.Description, text)
			}
			return got, err
		},
		"trpc-agent-go": func() (map[string]shown, error) {
			repository, got := trpc.NewRepository(catalog), map[string]shown{}
			for _, summary := range repository.Summaries() {
				s, err := repository.Get(summary.Name)
				if err != nil {
					return nil, err
				}
				got[s.Summary.Name] = show(s.Summary.Description, s.Body)
			}
			return got, nil
		},
		"Eino": func() (map[string]shown, error) {
			backend, got := eino.NewBackend(catalog), map[string]shown{}
			all, err := backend.List(ctx)
			if err != nil {
				return nil, err
			}
			for _, header := range all {
				s, err := backend.Get(ctx, header.Name)
				if err != nil {
					return nil, err
				}
				got[s.Name] = show(s.Description, s.Content)
			}
			return got, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := load()
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%v, -want +got:\n%s", err, diff)
			}
		})
	}
}

// TestLoadersOfHostsKeepTheRulesOfTheHost has the rules that the files of the other test do not
// show.
func TestLoadersOfHostsKeepTheRulesOfTheHost(t *testing.T) {
	user, project := catalogtest.Disk(t, skills), catalogtest.Disk(t, map[string]string{
		"good/SKILL.md": "---\nname: good\ndescription: Of the project.\n---\n", "single.md": "Text.\n"})
	t.Run("the last path of crush wins", func(t *testing.T) {
		all, _ := crush.DiscoverWithStates([]string{user, project})
		for _, s := range all {
			if s.Name == "good" && s.Description != "Of the project." {
				t.Errorf("good is %q", s.Description)
			}
		}
	})
	t.Run("crush parses bytes, and requires a header", func(t *testing.T) {
		s, err := crush.ParseContent([]byte(skills["colon/SKILL.md"]))
		if err != nil || s.Description != "Use when: reviewing." || s.Instructions != "# Colon" {
			t.Errorf("%+v, %v", s, err)
		}
		if _, err := crush.ParseContent([]byte("Text.")); err == nil {
			t.Error("a file without a header has no error")
		}
	})
	t.Run("kit loads single files", func(t *testing.T) {
		all, err := kit.LoadSkillsFromDir(project)
		if err != nil || len(all) != 2 || all[1].Name != "single" || all[1].Content != "Text." {
			t.Errorf("%+v, %v", all, err)
		}
	})
	t.Run("a missing directory has no skills", func(t *testing.T) {
		missing := filepath.Join(project, "missing")
		inKit, err := kit.LoadSkillsFromDir(missing)
		inCrush, states := crush.DiscoverWithStates([]string{missing})
		if inDocker := dockeragent.Load(missing); len(inKit)+len(inCrush)+len(states)+len(inDocker) > 0 || err != nil {
			t.Error(inKit, inCrush, states, inDocker, err)
		}
	})
	t.Run("a resource of agent-framework-go is a file of the skill", func(t *testing.T) {
		catalog := catalogtest.Open(t, toolshelf.WithSkillsDir(user))
		all, err := agentframework.NewSource(catalog).Skills(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range all {
			for _, resource := range s.Resources {
				if content, err := resource.Read(context.Background()); s.Frontmatter.Name == "good" && resource.Name == "docs/a.md" && content == "# A\n" && err == nil {
					return
				}
			}
		}
		t.Error("no resource docs/a.md")
	})
	t.Run("a document of trpc-agent-go is a file of the skill", func(t *testing.T) {
		repository := trpc.NewRepository(catalogtest.Open(t, toolshelf.WithSkillsDir(user)))
		s, err := repository.Get("good")
		if err != nil || len(s.Docs) != 1 || s.Docs[0] != (trpc.Doc{Path: "docs/a.md", Content: "# A\n"}) {
			t.Errorf("%+v, %v", s, err)
		}
		if dir, err := repository.Path("good"); err != nil || dir != filepath.Join(user, "good") {
			t.Error(dir, err)
		}
	})
}

// TestDocumentShowsALoaderThatTheTestsRun compares each Go block below the link of a file with the
// file, and looks for a link of each loader.
func TestDocumentShowsALoaderThatTheTestsRun(t *testing.T) {
	read := func(file string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(text), "\r\n", "\n")
	}
	page := read("../../docs/hosts.md")
	files, err := filepath.Glob("*/loader.go")
	if err != nil || len(files) != 6 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		if !strings.Contains(page, "](../examples/hosts/"+filepath.ToSlash(file)+")") {
			t.Errorf("docs/hosts.md has no link of %s", file)
		}
	}
	shown := regexp.MustCompile("(?s)\\]\\(\\.\\./examples/hosts/([a-z]+/loader\\.go)\\)[^\n]*\n\n```go\n(.*?\n)```\n").FindAllStringSubmatch(page, -1)
	if len(shown) == 0 {
		t.Error("docs/hosts.md shows no loader")
	}
	for _, match := range shown {
		if _, code, _ := strings.Cut(read(match[1]), "\n)\n\n"); code != match[2] {
			t.Errorf("%s, -document +file:\n%s", match[1], cmp.Diff(match[2], code))
		}
	}
}
