package usage

import (
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/cursor"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/names"
)

// snapshotOf returns the entries of a kind in the directory dir.
func snapshotOf(t *testing.T, kind client.Files, dir string, files map[string]string) *index.Snapshot {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	confined, err := confine.Over(afero.FromIOFS{FS: fsys}, ".")
	if err != nil {
		t.Fatal(err)
	}
	x, err := index.New(kind, index.Config{Layers: []index.Layer{{Name: dir, FS: confined, Dir: dir}}, MaxFileSize: 100, Valid: names.Plain, Broken: kind == client.Skills})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.Close)
	s, err := x.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// invocable has commands and skills. Models alone invoke the skill d. The directory e has no
// SKILL.md, and the skill f is too large.
func invocable(t *testing.T) Invocable {
	t.Helper()
	files := map[string]string{"commands/a.md": "", "commands/b.md": "", "commands/d.md": "", "commands/e.md": "", "commands/f.md": "", "commands/part.md": "---\nis_dependency: true\n---\n",
		"skills/B/SKILL.md": "---\nname: B\n---\n", "skills/b/SKILL.md": "---\nname: b\n---\n", "skills/c/SKILL.md": "---\nname: c\n---\n",
		"skills/d/SKILL.md": "---\nname: d\nuser-invocable: false\n---\n", "skills/e/other": "", "skills/f/SKILL.md": strings.Repeat("x", 200)}
	return Invocable{Commands: snapshotOf(t, client.Commands, "commands", files), Skills: snapshotOf(t, client.Skills, "skills", files)}
}

func TestInvocableEntries(t *testing.T) {
	v := invocable(t)
	commands, skills := Invocable{Commands: v.Commands}, Invocable{Skills: v.Skills}
	after := func(scope, name string) iter.Seq[Invoked] {
		page, next, ok := v.Page(10, cursor.Encode(scope, name))
		must.Equal(t, "the next page of the last page", "", next)
		must.Equal(t, "ok", true, ok)
		return slices.Values(page)
	}
	for _, tt := range []struct {
		rule string
		all  iter.Seq[Invoked]
		want []string
	}{
		{"a skill hides a command, unless models alone invoke the skill", v.Prefixed(""), []string{"a", "skill B", "skill b", "skill c", "d", "e"}},
		{"a prefix selects names in any letter case", v.Prefixed("B"), []string{"skill B", "skill b"}},
		{"commands alone", commands.Prefixed(""), []string{"a", "b", "d", "e", "f"}},
		{"skills alone", skills.Prefixed(""), []string{"skill B", "skill b", "skill c"}},
		{"nothing", Invocable{}.Prefixed(""), nil},
		{"commands, then skills", after(CommandScope, ""), []string{"a", "d", "e", "skill B", "skill b", "skill c"}},
		{"after a command", after(CommandScope, "a"), []string{"d", "e", "skill B", "skill b", "skill c"}},
		{"after a removed command", after(CommandScope, "aa"), []string{"d", "e", "skill B", "skill b", "skill c"}},
		{"after the last command", after(CommandScope, "f"), []string{"skill B", "skill b", "skill c"}},
		{"after a skill", after(skillScope, "b"), []string{"skill c"}},
		{"after the last skill", after(skillScope, "c"), nil},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			var got []string
			for e := range tt.all {
				name := e.Name
				if e.Skill {
					name = "skill " + name
				}
				got = append(got, name)
			}
			must.Match(t, "result", tt.want, got)
			for range tt.all {
				break
			}
		})
	}
}

func TestLongestFindsANameOfSeveralWords(t *testing.T) {
	files := map[string]string{"skills/my/SKILL.md": "", "skills/my skill/SKILL.md": "", "skills/my skill two/SKILL.md": ""}
	v := Invocable{Skills: snapshotOf(t, client.Skills, "skills", files)}
	for line, want := range map[string]string{
		"my skill 4": "my skill", "my skill two": "my skill two", "my skill twofold": "my skill",
		"my own": "my", "my skills": "my", "other words": "other",
	} {
		if end := v.Longest(line, strings.IndexByte(line, ' '), " "); line[:end] != want {
			t.Errorf("%q: %q; want %q", line, line[:end], want)
		}
	}
}
