package toolshelf_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf"
)

// remote is a HeadFS that counts the opened files.
type remote struct {
	fstest.MapFS
	heads  map[string]string
	opened *atomic.Int32
}

func (r remote) Open(name string) (fs.File, error) {
	f, err := r.MapFS.Open(name)
	if err == nil {
		if fi, err := f.Stat(); err == nil && !fi.IsDir() {
			r.opened.Add(1)
		}
	}
	return f, err
}

func (r remote) ReadHead(name string) ([]byte, fs.FileInfo, error) {
	head, ok := r.heads[name]
	switch {
	case !ok:
		return nil, nil, errors.ErrUnsupported
	case head == "":
		return nil, nil, fs.ErrPermission
	}
	fi, err := r.Stat(name)
	return []byte(head), fi, err
}

func newRemote(files, heads map[string]string) remote {
	r := remote{fstest.MapFS{}, heads, new(atomic.Int32)}
	for name, content := range files {
		r.MapFS[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return r
}

// ExampleHeadFS lists a skill by the frontmatter in the index of a server. Only GetSkill
// reads the file.
func ExampleHeadFS() {
	fsys := newRemote(
		map[string]string{"greet/SKILL.md": "---\nname: greet\ndescription: Greets people\n---\nSay hello.\n"},
		map[string]string{"greet/SKILL.md": "---\n{name: greet, description: Greets people}\n---\n"})
	catalog, err := toolshelf.New(toolshelf.WithSkillsDir(), toolshelf.WithSkillsFS("server", fsys))
	if err != nil {
		log.Fatal(err)
	}
	defer catalog.Close()
	skills, err := catalog.ListSkills(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(skills[0].Name, "-", skills[0].Description, "-", fsys.opened.Load(), "files opened")
	skill, err := catalog.GetSkill(context.Background(), "greet")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(skill.Content)
	// Output:
	// greet - Greets people - 0 files opened
	// Say hello.
}

func TestListsAndSearchesOpenNoFileOfAHeadFS(t *testing.T) {
	long := "---\nname: long\ndescription: Long\nmore: " + strings.Repeat("x", 10_000) + "\n---\n"
	fsys := newRemote(map[string]string{
		"greet/SKILL.md":    "---\nname: greet\ndescription: Greets people\n---\nSay hello, zebra.\n",
		"greet/notes.md":    "notes\n",
		"long/SKILL.md":     long,
		"denied/SKILL.md":   "---\nname: denied\ndescription: Denied\n---\n",
		"unknown/SKILL.md":  "---\nname: unknown\ndescription: Has no head\n---\n",
		"nothing/README.md": "no skill\n",
	}, map[string]string{
		"greet/SKILL.md":  "---\ndescription: Greets people\nname: greet\n---\n",
		"long/SKILL.md":   long,
		"denied/SKILL.md": "",
	})
	c, err := toolshelf.New(toolshelf.WithSkillsDir(), toolshelf.WithSkillsFS("server", fsys))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got := map[string]string{}
	for range 2 { // also validates the first list
		skills, err := c.ListSkills(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range skills {
			got[s.Name] = s.Description
			if broken := len(s.Diagnostics) > 0; broken != (s.Name == "denied" || s.Name == "nothing") {
				t.Errorf("%s: diagnostics %v", s.Name, s.Diagnostics)
			}
		}
	}
	want := map[string]string{"greet": "Greets people", "long": "Long", "denied": "", "unknown": "Has no head", "nothing": ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ListSkills (-want +got):\n%s", diff)
	}
	if _, err := c.SkillsPrompt(context.Background()); err != nil {
		t.Error(err)
	}
	for query, want := range map[string]int{"greets": 1, "zebra": 0} {
		found, err := c.SearchSkills(context.Background(), query, 0)
		if err != nil || found.TotalFound != want {
			t.Errorf("SearchSkills(%q) finds %d skills, want %d; %v", query, found.TotalFound, want, err)
		}
	}
	if n := fsys.opened.Swap(0); n == 0 || n > 10 { // only unknown/SKILL.md, which has no head
		t.Errorf("%d files opened", n)
	}
	delete(fsys.MapFS, "unknown/SKILL.md")
	if _, err := c.ListSkills(context.Background()); err != nil || fsys.opened.Load() != 0 {
		t.Errorf("ListSkills opened %d files; %v", fsys.opened.Load(), err)
	}
	skill, err := c.GetSkill(context.Background(), "greet")
	if err != nil || skill.Content != "Say hello, zebra.\n" || len(skill.Files) != 2 || fsys.opened.Load() != 1 {
		t.Errorf("got %q with %d files, %d files opened; %v", skill.Content, len(skill.Files), fsys.opened.Load(), err)
	}
	if _, err := c.GetSkill(context.Background(), "denied"); !errors.Is(err, toolshelf.ErrFileRead) || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("denied: got %v", err)
	}
}
