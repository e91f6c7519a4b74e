//go:build unix

package toolshelf_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolshelf-go/toolshelf"
)

// Each of these skills attacks the reader: with a hang, with a large use of memory, or
// with a link to other files. Each skill is loaded as far as possible or rejected with
// a code, has a diagnostic, and does not affect another skill.
func TestHostileSkills(t *testing.T) {
	const description = 5 << 20
	root := diskOf(t, map[string]string{
		"skills/good/SKILL.md":           skillFile("good"),
		"skills/links/SKILL.md":          skillFile("links"),
		"skills/long/SKILL.md":           "---\nname: long\ndescription: " + strings.Repeat("x", description) + "\n---\nText.\n",
		"skills/nested/SKILL.md":         "---\nname: nested\ndescription: d\nx: " + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + "\n---\nText.\n",
		"skills/aliases/SKILL.md":        "---\nname: aliases\ndescription: d\n" + laughs() + "---\nText.\n",
		"skills/nul/SKILL.md":            "---\nname: nul\ndescription: a\x00b\n---\nText.\x00\n",
		"skills/fifo/notes.txt":          "",
		"skills/fifo-among/SKILL.md":     skillFile("fifo-among"),
		"skills/directory/SKILL.md/x":    "",
		"skills/device/notes.txt":        "",
		"skills/endless/references/a.md": "",
		"skills/endless/SKILL.md":        skillFile("endless"),
		"skills/many/SKILL.md":           skillFile("many"),
		"secret.txt":                     secretText,
	})
	dir := func(elem ...string) string { return filepath.Join(root, "skills", filepath.Join(elem...)) }
	problems := []error{
		unix.Mkfifo(dir("fifo", "SKILL.md"), 0o644),
		unix.Mkfifo(dir("fifo-among", "pipe.md"), 0o644),
		os.Symlink("/dev/zero", dir("device", "SKILL.md")),
		os.Symlink("..", dir("endless", "references", "up")),
		os.Symlink("/proc/self", dir("endless", "proc")),
	}
	for i := range 1000 {
		problems = append(problems, os.Symlink("../../secret.txt", dir("links", fmt.Sprintf("out-%04d.md", i))))
	}
	for i := range 10_000 {
		problems = append(problems, os.WriteFile(dir("many", fmt.Sprint(i)), nil, 0o644))
	}
	if err := errors.Join(problems...); err != nil {
		t.Fatal(err)
	}

	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithCommandsDir())
	allocated := func(do func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		do()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	var list []toolshelf.SkillInfo
	if n := allocated(func() {
		var err error
		if list, err = c.ListSkills(t.Context()); err != nil {
			t.Fatal(err)
		}
	}); n > 32<<20 {
		t.Errorf("ListSkills took %d bytes of memory", n)
	}
	if len(list) != 12 {
		t.Errorf("%d skills listed, want 12", len(list))
	}
	for _, s := range list {
		fine := s.Name == "good" || s.Name == "links" || s.Name == "endless" || s.Name == "fifo-among" || s.Name == "many" // with a valid SKILL.md
		if fine != (len(s.Diagnostics) == 0) || fine && s.Description != "d" {
			t.Errorf("%s has the description %.20q and diagnostics %.200v", s.Name, s.Description, s.Diagnostics)
		}
	}

	var diagnostics []toolshelf.Diagnostic
	if n := allocated(func() {
		var err error
		if diagnostics, err = c.Lint(t.Context()); err != nil {
			t.Fatal(err)
		}
	}); n > 20*description {
		t.Errorf("Lint took %d bytes of memory", n)
	}
	checkCodes(t, diagnostics)
	linted := map[string]bool{}
	for _, d := range diagnostics {
		linted[string(d.Code)+" "+d.Path] = true
	}

	for name, want := range map[string]error{
		"good": nil, "links": nil, "long": nil, "nested": nil, "aliases": nil, "nul": nil, "endless": nil, "fifo-among": nil, "many": nil,
		"fifo": toolshelf.ErrFileRead, "device": toolshelf.ErrFileRead, "directory": toolshelf.ErrSkillNotFound,
	} {
		var skill toolshelf.Skill
		var err error
		n := allocated(func() { skill, err = c.GetSkill(t.Context(), name, toolshelf.Digests()) })
		if !errors.Is(err, want) || want != nil && err == nil {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
		if n > 8*description {
			t.Errorf("%s took %d bytes of memory", name, n)
		}
		if err == nil && (name != "good") != (len(skill.Diagnostics) > 0) {
			t.Errorf("%s: diagnostics %.200v", name, skill.Diagnostics)
		}
		for _, d := range skill.Diagnostics {
			if reported := linted[string(d.Code)+" "+d.Path]; !reported && !strings.HasPrefix(d.Message, "no digest") {
				t.Errorf("Lint does not report %+v", d)
			}
		}
		if text := fmt.Sprintf("%+v", skill); strings.Contains(text, secretText) {
			t.Errorf("%s contains text from outside", name)
		}
	}
	for skill, file := range map[string]string{"links": "out-0000.md", "endless": "proc/environ"} {
		if _, err := c.ReadSkillFile(t.Context(), skill, file); !errors.Is(err, toolshelf.ErrOutsideRoot) {
			t.Errorf("%s of %s: %v", file, skill, err)
		}
	}
	if _, err := c.ReadSkillFile(t.Context(), "fifo-among", "pipe.md"); !errors.Is(err, toolshelf.ErrFileRead) {
		t.Errorf("a pipe: %v", err)
	}
}

const secretText = "text from outside"

// laughs returns a header of 3 KB whose aliases expand to a billion values.
func laughs() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [lol, lol, lol]\n")
	for i := 1; i < 20; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [*a%d, *a%d, *a%d]\n", i, i, i-1, i-1, i-1)
	}
	return b.String()
}

// While a program exchanges directories of a skill and links out of the skill,
// ReadSkillFile returns only files of the skill.
func TestNoExchangeOfFilesLeadsOutOfASkill(t *testing.T) {
	root := diskOf(t, map[string]string{
		"skills/pdf/SKILL.md": skillFile("pdf"), "skills/pdf/refs/a.md": "inside", "private/a.md": secretText, "private/SKILL.md": secretText,
	})
	refs := filepath.Join(root, "skills", "pdf", "refs")
	if err := os.Symlink("../../private", refs+".link"); err != nil {
		t.Fatal(err)
	}
	c := catalog(t, toolshelf.WithRoot(root))
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			err := errors.Join(os.Rename(refs, refs+".aside"), os.Rename(refs+".link", refs), os.Rename(refs, refs+".link"), os.Rename(refs+".aside", refs))
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	served := 0
	for range 1000 {
		got, err := c.ReadSkillFile(t.Context(), "pdf", "refs/a.md")
		if err == nil {
			served++
		}
		if err == nil && string(got) != "inside" || err != nil && toolshelf.CodeOf(err) == "" {
			t.Errorf("got %q, %v", got, err)
			break
		}
		skill, err := c.GetSkill(t.Context(), "pdf", toolshelf.Digests())
		for _, f := range skill.Files {
			if f.SHA256 == digest(secretText) {
				t.Errorf("a digest of a file outside: %+v", f)
			}
		}
		if err != nil && !errors.Is(err, toolshelf.ErrFileRead) {
			t.Error(err)
			break
		}
	}
	close(stop)
	swapper.Wait()
	if served == 0 {
		t.Error("no read succeeded, so the test tried nothing")
	}
}
