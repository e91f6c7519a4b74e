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
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// audit returns an Audit of files in memory and the snapshots of the files.
func audit(t *testing.T, files map[string]string) (a *Audit, fsys afero.Fs, commands, skills *index.Snapshot) {
	t.Helper()
	fsys = afero.NewMemMapFs()
	for file, text := range files {
		if err := afero.WriteFile(fsys, file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	root, err := confine.Over(fsys, "/")
	if err != nil {
		t.Fatal(err)
	}
	a = &Audit{Root: root, Profile: lint.Default(), Valid: names.Plain}
	for _, x := range []struct {
		dir  string
		into **index.Index
		of   client.Files
	}{{"commands", &a.Commands, client.Commands}, {"skills", &a.Skills, client.Skills}} {
		if *x.into, err = index.New(x.of, index.Config{Layers: []index.Layer{{Name: x.dir, FS: root, Dir: x.dir, MayBeMissing: true}}, MaxFileSize: 1 << 20,
			Valid: names.Plain, Now: time.Now, Lifetime: t.Context(), Broken: true, Depth: 1}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { (*x.into).Close() })
	}
	if commands, err = a.Commands.Snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	if skills, err = a.Skills.Snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	return a, fsys, commands, skills
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
		{"skills one directory deeper", map[string]string{"skills/x/pdf/SKILL.md": good}, "", []problem.Code{problem.SkillFileMissing, problem.SkillFileMissing}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, fsys, commands, skills := audit(t, tt.files)
			if tt.remove != "" {
				if err := fsys.Remove(tt.remove); err != nil {
					t.Fatal(err)
				}
			}
			ofCommands, err := a.OfCommands(t.Context(), commands, skills)
			if err != nil {
				t.Fatal(err)
			}
			ofSkills, err := a.OfSkills(t.Context(), skills)
			if err != nil {
				t.Fatal(err)
			}
			var got []problem.Code
			all := Join(ofCommands, ofSkills)
			for _, p := range all {
				got = append(got, p.Code)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s\n%+v", diff, all)
			}
			if n := a.Checked.Load(); n != tt.checked {
				t.Errorf("%d checked files, want %d", n, tt.checked)
			}
		})
	}
}

func TestAnEndedContextReturnsNoPartOfTheProblems(t *testing.T) {
	a, _, commands, skills := audit(t, map[string]string{"commands/a.md": "---\ndescription: a\ndescription: b\n---\n", "skills/x/notes.txt": "x"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := a.OfCommands(ctx, commands, skills); !errors.Is(err, context.Canceled) || got != nil {
		t.Errorf("commands: got %v, %v", got, err)
	}
	if got, err := a.OfSkills(ctx, skills); !errors.Is(err, context.Canceled) || got != nil {
		t.Errorf("skills: got %v, %v", got, err)
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
