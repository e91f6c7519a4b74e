package toolshelf_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolshelf-go/toolshelf"
)

// heapOf returns the number of bytes that the result of f keeps in memory.
func heapOf(f func() any) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	kept := f()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(kept)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}

// manyHeaders returns n old files with the same text.
func manyHeaders(n int, name, text string) fstest.MapFS {
	files := fstest.MapFS{}
	for i := range n {
		files[fmt.Sprintf(name, i)] = &fstest.MapFile{Data: []byte(text), ModTime: time.Unix(1_600_000_000, 5)}
	}
	return files
}

func notKept(d toolshelf.Diagnostic) bool { return d.Code == "FRONTMATTER_NOT_KEPT" }

// lintNotKept counts the files with DiagFrontmatterNotKept.
func lintNotKept(t *testing.T, c *toolshelf.Catalog) int {
	t.Helper()
	diagnostics, err := c.Lint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return len(slices.DeleteFunc(diagnostics, func(d toolshelf.Diagnostic) bool { return !notKept(d) }))
}

func TestMemoryOfDescriptionsIsBounded(t *testing.T) {
	const n, length = 800, 60_000
	files := manyHeaders(n, "c%d.md", "---\ndescription: "+strings.Repeat("y", length)+"\n---\n")
	c := catalog(t, toolshelf.WithCommandsFS("x", files))
	heap := heapOf(func() any {
		if _, err := c.List(t.Context(), toolshelf.Page{}); err != nil {
			t.Fatal(err)
		}
		return c
	})
	if heap > 40<<20 {
		t.Errorf("%d MB are kept", heap>>20)
	}
	whole, cut := []string{}, []string{}
	for info, err := range c.All(t.Context()) {
		switch {
		case err != nil:
			t.Fatal(err)
		case info.Description == strings.Repeat("y", length):
			whole = append(whole, info.Name)
		case info.Description == strings.Repeat("y", 1<<10)+"…":
			cut = append(cut, info.Name)
		default:
			t.Errorf("%s has the description %.40q of %d bytes", info.Name, info.Description, len(info.Description))
		}
	}
	if reported := lintNotKept(t, c); len(cut) == 0 || len(whole) < n/2 || reported != len(cut) {
		t.Fatalf("%d are cut, %d are whole, Lint reports %d", len(cut), len(whole), reported)
	}
	command, err := c.Get(t.Context(), cut[0])
	if err != nil || len(command.Metadata.Description) != length || slices.ContainsFunc(command.Diagnostics, notKept) {
		t.Errorf("Get returns %d bytes, %v, %v", len(command.Metadata.Description), command.Diagnostics, err)
	}
	// Removed files free memory for other files.
	for _, name := range whole {
		delete(files, name+".md")
	}
	for range 2 { // the first scan still counts the removed files
		if _, err := c.List(t.Context(), toolshelf.Page{}); err != nil {
			t.Fatal(err)
		}
	}
	if reported := lintNotKept(t, c); reported > 0 {
		t.Errorf("%d files are cut of %d, for which there is room", reported, len(cut))
	}
}

func TestMemoryOfSkillsIsBounded(t *testing.T) {
	const n = 120 // more than 32 MiB of values, also with the pointers of a 32-bit platform
	text := "---\nname: s\ndescription: d\ndisable-model-invocation: true\nuser-invocable: no\nmetadata:\n  a: [" + strings.Repeat("y,", 25_000) + "]\n---\n"
	c := catalog(t, toolshelf.WithSkillsFS("x", manyHeaders(n, "s%d/SKILL.md", text)))
	heap := heapOf(func() any {
		if err := func() error { _, err := c.SkillsPrompt(t.Context()); return err }(); err != nil {
			t.Fatal(err)
		}
		return c
	})
	if heap > 40<<20 {
		t.Errorf("%d MB are kept", heap>>20)
	}
	skills, err := c.ListSkills(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cut := 0
	for _, s := range skills {
		if s.DeclaredName != "s" || s.Description != "d" || !s.DisableModelInvocation || s.UserInvocable {
			t.Fatalf("a skill without its first fields: %+v", s)
		}
		if !slices.ContainsFunc(s.Diagnostics, notKept) {
			continue
		}
		if cut++; cut == 1 {
			skill, err := c.GetSkill(t.Context(), s.Name)
			if err != nil || len(skill.Metadata["a"]) < 10_000 || slices.ContainsFunc(skill.Diagnostics, notKept) {
				t.Errorf("GetSkill returns %d bytes, %v, %v", len(skill.Metadata["a"]), skill.Diagnostics, err)
			}
		}
	}
	if reported := lintNotKept(t, c); cut == 0 || reported != cut {
		t.Errorf("%d of %d skills are cut, Lint reports %d", cut, n, reported)
	}
}

// A range over 600 skills of 1 MiB holds a few of the texts.
func TestTheMemoryOfSkillsIsBoundedInARange(t *testing.T) {
	const n, size = 600, 1 << 20
	root := t.TempDir()
	for i := range n {
		file := filepath.Join(root, "skills", fmt.Sprintf("s%03d", i), "SKILL.md")
		err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(skillFile("s")), 0o644), os.Truncate(file, size))
		if err != nil {
			t.Fatal(err)
		}
	}
	c := catalog(t, toolshelf.WithRoot(root))
	most, seen := int64(0), 0
	for skill, err := range c.Skills(t.Context()) {
		if err != nil || len(skill.Content) != size-len(skillFile("s")) {
			t.Fatal(skill.Name, err)
		}
		if seen++; seen%60 == 0 {
			var memory runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&memory)
			most = max(most, int64(memory.HeapAlloc))
		}
	}
	// A text is up to three times in memory: in the cache of GetSkill, as Raw and as Content.
	if seen != n || most > 2*96<<20 {
		t.Errorf("%d skills, %d MiB in memory", seen, most>>20)
	}
}
