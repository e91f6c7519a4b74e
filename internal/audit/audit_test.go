package audit

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/lint"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// audit returns an Audit of files in memory and the snapshots of the files.
func audit(t *testing.T, files map[string]string) (a *Audit, fsys afero.Fs, of map[client.Files]*index.Snapshot) {
	t.Helper()
	fsys = afero.NewMemMapFs()
	for file, text := range files {
		must.Do(t, afero.WriteFile(fsys, file, []byte(text), 0o644))
	}
	root := must.Get(confine.Over(fsys, "/"))(t)
	a = &Audit{Indexes: map[client.Files]*index.Index{}, Root: root, Profile: lint.Default(), Valid: names.Plain}
	of = map[client.Files]*index.Snapshot{}
	for kind, dir := range map[client.Files]string{client.Commands: "commands", client.Skills: "skills", client.Agents: "agents"} {
		x, err := index.New(kind, index.Config{Layers: []index.Layer{{Name: dir, FS: root, Dir: dir, MayBeMissing: true}}, MaxFileSize: 1 << 20,
			Valid: names.Plain, Now: time.Now, Lifetime: t.Context(), Broken: true, Depth: 1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(x.Close)
		a.Indexes[kind] = x
		if of[kind], err = x.Snapshot(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return a, fsys, of
}

func TestAuditReportsEachProblemOnce(t *testing.T) {
	const good = "---\nname: pdf\ndescription: Reads PDF files. Use for PDF files.\n---\nRead the file.\n"
	for _, tt := range []struct {
		name    string
		files   map[string]string
		remove  string // after the scan
		want    []problem.Code
		checked int64
	}{
		{"no problem", map[string]string{"commands/a.md": "---\ndescription: Reviews\n---\nReview $1.\n", "skills/pdf/SKILL.md": good}, "", nil, 2},
		{"a duplicate key, which the scan reports too", map[string]string{"commands/a.md": "---\ndescription: a\ndescription: b\n---\nx\n"}, "",
			[]problem.Code{problem.DuplicateKey}, 1},
		{"a file that is removed after the scan", map[string]string{"commands/a.md": "Review.\n", "commands/b.md": "Test.\n"}, "commands/a.md", []problem.Code{problem.NoDescription}, 2},
		{"a directory without SKILL.md", map[string]string{"skills/x/notes.txt": "x"}, "", []problem.Code{problem.SkillFileMissing}, 0},
		{"an agent", map[string]string{"agents/a.md": "---\nname: a\ndescription: Reviews\n---\nReview.\n"}, "", nil, 1},
		{"an agent without a header", map[string]string{"agents/a.md": "Review.\n"}, "", []problem.Code{problem.NoDescription}, 1},
		{"an agent with defects", map[string]string{"agents/a.md": "---\nname: a/b\ndescripton: Reviews\ntools: Read, Bash(\n---\nReview.\u202e\n"}, "",
			[]problem.Code{problem.InvalidAgentName, problem.FieldMisspelled, problem.ToolRuleInvalid, problem.InvisibleCharacter}, 1},
		{"skills one directory deeper", map[string]string{"skills/x/pdf/SKILL.md": good}, "", []problem.Code{problem.SkillFileMissing, problem.SkillFileMissing}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, fsys, of := audit(t, tt.files)
			if tt.remove != "" {
				must.Do(t, fsys.Remove(tt.remove))
			}
			var found [][]problem.Problem
			for kind := range of {
				problems := must.Get(a.Of(t.Context(), kind, of))(t)
				found = append(found, problems)
			}
			var got []problem.Code
			all := Join(found...)
			for _, p := range all {
				got = append(got, p.Code)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s\n%+v", diff, all)
			}
			must.Equal(t, "a.Checked.Load()", tt.checked, a.Checked.Load())
		})
	}
}

func TestAnEndedContextReturnsNoPartOfTheProblems(t *testing.T) {
	a, _, of := audit(t, map[string]string{"commands/a.md": "---\ndescription: a\ndescription: b\n---\n", "skills/x/notes.txt": "x", "agents/a.md": ""})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for kind := range of {
		if got, err := a.Of(ctx, kind, of); !errors.Is(err, context.Canceled) || got != nil {
			t.Errorf("kind %d: got %v, %v", kind, got, err)
		}
	}
}

func TestJoinSortsAndRemovesRepetitions(t *testing.T) {
	a, b := problem.Problem{Path: "a", Code: problem.FileRead}, problem.Problem{Path: "b", Code: problem.FileRead}
	for _, tt := range []struct{ commands, skills, want []problem.Problem }{
		{nil, nil, nil},
		{[]problem.Problem{b}, []problem.Problem{a, b}, []problem.Problem{a, b}},
	} {
		if got := Join(tt.commands, tt.skills); !slices.Equal(got, tt.want) {
			t.Errorf("got %v, want %v", got, tt.want)
		}
	}
}
