package client_test

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestRowsAreValid(t *testing.T) {
	names := map[string]bool{}
	for _, c := range client.All() {
		if c.Name != strings.ToLower(c.Name) || c.Title == "" || names[c.Name] {
			t.Errorf("wrong or repeated name %q, title %q", c.Name, c.Title)
		}
		names[c.Name] = true
		if len(c.Commands)+len(c.Skills)+len(c.Servers.Files) == 0 {
			t.Errorf("%s reads neither commands nor skills nor MCP servers", c.Name)
		}
		for kind, places := range map[string][]client.Place{"commands": c.Commands, "skills": c.Skills, "agents": c.Agents, "instructions": c.Instructions} {
			seen, base := map[client.Place]bool{}, client.Project
			for _, p := range places {
				if seen[p] {
					t.Errorf("%s of %s: %+v twice", kind, c.Name, p)
				}
				seen[p] = true
				if p.Base == client.Project && base != client.Project {
					t.Errorf("%s of %s: %s follows a place of the user; the project has precedence", kind, c.Name, p.Path())
				}
				base = p.Base
				if p.Parents && p.Base != client.Project {
					t.Errorf("%s of %s: %s has no parents", kind, c.Name, p.Path())
				}
				file := kind == "skills" && p.Pattern == "*.md" && p.Name == client.FromHeader // a skill without a directory
				if skill := strings.HasSuffix(p.Pattern, "*/SKILL.md"); !file && skill != (kind == "skills") {
					t.Errorf("%s of %s: pattern %q", kind, c.Name, p.Pattern)
				}
			}
		}
		for _, f := range c.Fields {
			if f.Directory && f.Files != client.Skills {
				t.Errorf("%s: wrong field %+v", c.Name, f)
			}
		}
		if err := c.Check(); err != nil {
			t.Error(err)
		}
	}
	if !slices.IsSortedFunc(client.All(), func(a, b client.Client) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("All does not sort by name")
	}
}

// A client is a row, not code. The sources in the comments do not count.
func TestARowHasAtMost30Lines(t *testing.T) {
	source := must.Get(os.ReadFile("table.go"))(t)
	source = regexp.MustCompile(`(?m)^\t+//.*\n`).ReplaceAll(source, nil)
	rows := regexp.MustCompile(`(?ms)^func ([A-Z]\w+)\(\) Client \{\n.*?^\}`).FindAllStringSubmatch(strings.ReplaceAll(string(source), "\r\n", "\n"), -1)
	if len(rows) != len(client.All())+1 {
		t.Fatalf("%d rows, want %d", len(rows), len(client.All())+1)
	}
	for _, row := range rows {
		if n := 1 + strings.Count(row[0], "\n"); n > 30 {
			t.Errorf("%s has %d lines", row[1], n)
		}
	}
}

func TestACopyDoesNotChangeTheTable(t *testing.T) {
	before := client.All()
	for _, c := range client.All() {
		for _, places := range [][]client.Place{c.Commands, c.Skills, c.Agents, c.Instructions, c.Plugins} {
			clear(places)
		}
		clear(c.Manifests)
		clear(c.Fields)
	}
	if !reflect.DeepEqual(before, client.All()) {
		t.Error("All returns shared memory")
	}
}

func TestTheSpecificationHasNoPlaces(t *testing.T) {
	spec := client.AgentSkills()
	if len(spec.Commands)+len(spec.Skills)+len(spec.Agents)+len(spec.Instructions) > 0 {
		t.Errorf("got %+v", spec)
	}
	if slices.ContainsFunc(client.All(), func(c client.Client) bool { return c.Name == spec.Name }) {
		t.Error("All contains the specification")
	}
}

func TestLookup(t *testing.T) {
	for _, c := range client.All() {
		if found, err := client.Lookup(c.Name); err != nil || !reflect.DeepEqual(found, c) {
			t.Errorf("%s: %v, %v", c.Name, found, err)
		}
	}
	for name, want := range map[string]string{
		"cluade":   `unknown client "cluade"; did you mean "claude"?`,
		"Claude":   `unknown client "Claude"; did you mean "claude"?`,
		"vs-code":  `unknown client "vs-code"; did you mean "vscode"?`,
		"opencod":  `unknown client "opencod"; did you mean "opencode"?`,
		"":         `unknown client ""; use one of amp, claude, `,
		"acme":     `unknown client "acme"; use one of amp, claude, `,
		"xyzxyz":   `unknown client "xyzxyz"; use one of amp, `,
		"a\nb\x00": `unknown client "a\nb\x00"; use one of amp, `,
	} {
		if c, err := client.Lookup(name); err == nil || !strings.HasPrefix(err.Error(), want) || c.Name != "" {
			t.Errorf("%q: got %v, want %s", name, err, want)
		}
	}
	if _, err := client.Lookup(strings.Repeat("claude", 1e6)); err == nil || len(err.Error()) > 400 {
		t.Errorf("a long name: %v", err)
	}
}

func TestPlacesThatAreNotValid(t *testing.T) {
	for _, p := range []client.Place{
		{}, {Dir: "a"}, {Dir: "", Pattern: "*.md"}, {Dir: "/a", Pattern: "*.md"}, {Dir: "a/", Pattern: "*.md"}, {Dir: "../a", Pattern: "*.md"},
		{Dir: "a/../b", Pattern: "*.md"}, {Dir: "./a", Pattern: "*.md"}, {Dir: `a\b`, Pattern: "*.md"}, {Dir: "a\xff", Pattern: "*.md"},
		{Dir: "a", Pattern: "*"}, {Dir: "a", Pattern: "**/*"}, {Dir: "a", Pattern: "**"}, {Dir: "a", Pattern: "**/"}, {Dir: "a", Pattern: "*/"}, {Dir: "a", Pattern: "b*.md"},
		{Dir: "a", Pattern: "*/*.md"}, {Dir: "a", Pattern: "*.{md,mdc}"}, {Dir: "a", Pattern: "**/*/SKILL.md"}, {Dir: "a", Pattern: "b/c.md"},
		{Base: 3, Dir: "a", Pattern: "*.md"}, {Base: -1, Dir: "a", Pattern: "*.md"}, {Dir: "a", Pattern: "*.md", Name: 3},
		{Dir: "a", Pattern: "*.md", Prefix: "a/"}, {Dir: "a", Pattern: "*.md", Prefix: "a\n"}, {Dir: "a", Pattern: "*.md", Prefix: "é:"},
	} {
		if err := p.Check(); err == nil {
			t.Errorf("%+v is valid", p)
		}
	}
	for _, pattern := range []string{"*.md", "**/*.md", "*.prompt.md", "**/*.toml", "*/SKILL.md", "**/SKILL.md", "AGENTS.md"} {
		if err := (client.Place{Dir: ".", Pattern: pattern}).Check(); err != nil {
			t.Errorf("%q: %v", pattern, err)
		}
	}
}

func TestRowsThatAreNotValid(t *testing.T) {
	for want, row := range map[string]client.Client{
		`the place "../a" of the client "mine": invalid directory "../a"; use`:             {Agents: []client.Place{{Dir: "../a", Pattern: "*.md"}}},
		`the field "" of the client "mine": the field has no name; use`:                    {Fields: []client.Field{{Name: "model"}, {Required: true}}},
		`the field " " of the client "mine": the field has no name`:                        {Fields: []client.Field{{Name: " "}}},
		`the field "a" of the client "mine": unknown kind 4; use`:                          {Fields: []client.Field{{Name: "a", Kind: client.Mapping + 1}}},
		`the field "a" of the client "mine": unknown files 8; use`:                         {Fields: []client.Field{{Name: "a", Files: client.Agents << 1}}},
		`the field "a" of the client "mine": a negative Limit or Cut`:                      {Fields: []client.Field{{Name: "a", Limit: -1}}},
		`the field "a" of the client "mine": only a field of the kind Text`:                {Fields: []client.Field{{Name: "a", Kind: client.List, Cut: 1}}},
		`the field "a" of the client "mine": a second field has the name`:                  {Fields: []client.Field{{Name: "a"}, {Name: "a", Files: client.Skills, Required: true}}},
		`the place "a" of the client "mine": only Instructions can have Fallback`:          {Agents: []client.Place{{Dir: "a", Pattern: "*.md", Globs: "paths"}}},
		`the place "b" of the client "mine": a pattern with a wildcard`:                    {Instructions: []client.Place{{Dir: "b", Pattern: "*.md", Fallback: client.InDirectory}}},
		`the place "c" of the client "mine": a pattern with a wildcard`:                    {Instructions: []client.Place{{Dir: "c", Pattern: "*/SKILL.md"}}},
		`the place "d" of the client "mine": only rules can have Globs`:                    {Instructions: []client.Place{{Dir: "d", Pattern: "a.md", When: "x"}}},
		`the place "~/e" of the client "mine": only a place of the project can have Below`: {Skills: []client.Place{{Base: client.Home, Dir: "e", Pattern: "*/SKILL.md", Below: true}}},
		`the place "e" of the client "mine": only Skills and Instructions can have Below`:  {Commands: []client.Place{{Dir: "e", Pattern: "*.md", Below: true}}},
		`the place "~/e" of the client "mine": only a place of the project`:                {Instructions: []client.Place{{Base: client.Home, Dir: "e", Pattern: "a.md", Below: true}}},
		`the place "f" of the client "mine": unknown fallback 3; use InDirectory`:          {Instructions: []client.Place{{Dir: "f", Pattern: "a.md", Fallback: 3}}},
		`the place "g" of the client "mine": Plugins need a pattern`:                       {Manifests: []string{"x.json"}, Plugins: []client.Place{{Dir: "g", Pattern: "*/y.json"}}},
		`the place "../h" of the client "mine": invalid directory`:                         {Manifests: []string{"x.json"}, Plugins: []client.Place{{Dir: "../h", Pattern: "*/x.json"}}},
		`the client "mine": the Mention "agent "; use`:                                     {Mention: "agent "},
		`the client "mine": a negative ImportHops or InstructionBytes`:                     {ImportHops: -1},
		`the rules of the client "mine": unknown Count 77; use`:                            {Rules: client.Rules{Count: 77}},
		`the rules of the client "mine": unknown Append -1; use`:                           {SkillRules: client.Rules{Append: -1}},
		`the rules of the client "mine": unknown Number 4`:                                 {Rules: client.Rules{Number: client.OneDigit + 1}},
		`the rules of the client "mine": unknown NoNumber 3`:                               {Rules: client.Rules{NoNumber: client.Fails + 1}},
		`the rules of the client "mine": unknown NoName 3`:                                 {Rules: client.Rules{NoName: client.Fails + 1}},
		`the rules of the client "mine": unknown Code 4`:                                   {Rules: client.Rules{Code: client.NoCode + 1}},
		`the rules of the client "mine": unknown Escape 4`:                                 {Rules: client.Rules{Escape: client.NoEscape + 1}},
		`the rules of the client "mine": unknown Forms 0x`:                                 {Rules: client.Rules{Forms: client.NoForms << 1}},
	} {
		row.Name = "mine"
		if err := row.Check(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	for _, row := range []client.Client{{}, client.AgentSkills(), {Fields: []client.Field{{Name: "a", Files: client.Commands}, {Name: "a", Files: client.Skills | client.Agents}}}, {Rules: client.Rules{Forms: client.NoForms | client.DefaultForms}}} {
		if err := row.Check(); err != nil {
			t.Errorf("%+v: %v", row, err)
		}
	}
}

func TestPartsOfAPlace(t *testing.T) {
	for _, tt := range []struct {
		place        client.Place
		path, suffix string
		nested       bool
	}{
		{client.Place{Dir: ".claude/commands", Pattern: "**/*.md"}, ".claude/commands", ".md", true},
		{client.Place{Dir: ".github/prompts", Pattern: "*.prompt.md"}, ".github/prompts", ".prompt.md", false},
		{client.Place{Base: client.Home, Dir: ".pi/agent/skills", Pattern: "**/SKILL.md"}, "~/.pi/agent/skills", "/SKILL.md", true},
		{client.Place{Base: client.Config, Dir: "kit/prompts", Pattern: "*.md"}, "~/.config/kit/prompts", ".md", false},
		{client.Place{Dir: ".", Pattern: "AGENTS.md"}, ".", "AGENTS.md", false},
	} {
		p := tt.place
		if p.Path() != tt.path || p.Suffix() != tt.suffix || p.Nested() != tt.nested {
			t.Errorf("%+v: got %q, %q, %v", p, p.Path(), p.Suffix(), p.Nested())
		}
	}
}
