package skillsclient_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk/skillsclient"
)

// readAll reads a file through Open.
func readAll(fsys fs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

func TestLayerIsAFileSystem(t *testing.T) {
	f := newFake(t, nil)
	f.add("acme/refunds", "Refund.\n", map[string]string{"a/b.txt": "b", "a/c/d.md": "d", "a-b": "", "inner/SKILL.md": "x"})
	f.add("git-workflow", "Commit.\n", nil)
	s := connect(t, new(skillsclient.Host), "docs", f, revisions[1])
	if err := fstest.TestFS(s.FS(ctx), "docs.acme.refunds/SKILL.md", "docs.acme.refunds/a/b.txt", "docs.acme.refunds/a/c/d.md",
		"docs.acme.refunds/a-b", "docs.acme.refunds/inner/SKILL.md", "docs.git-workflow/SKILL.md"); err != nil {
		t.Error(err)
	}
	for name, content := range f.files {
		info := must.Get(s.FS(ctx).Stat(strings.NewReplacer("skill://", "docs.", "acme/", "acme.").Replace(name)))(t)
		if v, ok := info.(toolshelf.Versioned); !ok || !strings.HasPrefix(v.Version(), digest(content)) {
			t.Errorf("%s: the version does not begin with the digest", name)
		}
	}
}

func TestErrorsOfALayerNameTheCallAndTheFile(t *testing.T) {
	f := newFake(t, nil)
	f.add("a", "A.\n", map[string]string{"b/c": "d"})
	layer := connect(t, new(skillsclient.Host), "docs", f, revisions[1]).FS(ctx)
	_, gone := layer.ReadFile("docs.x/SKILL.md")
	_, dir := layer.ReadFile("docs.a/b")
	_, noDir := layer.ReadDir("docs.a/b/c")
	_, _, noHead := layer.ReadHead("docs.a/b/c")
	_, invalid := layer.Open("../docs.a")
	must.Equal(t, "errors", `read docs.x/SKILL.md: file does not exist
read docs.a/b: is a directory
readdir docs.a/b/c: not a directory
read docs.a/b/c: file does not exist
open ../docs.a: invalid argument`, errors.Join(gone, dir, noDir, noHead, invalid).Error())
}

func TestOnlyAReadRequestsAFile(t *testing.T) {
	f := newFake(t, nil)
	f.add("acme/refunds", "Refund zebras.\n", map[string]string{"a/b.txt": "b", "inner/SKILL.md": "---\nname: inner\ndescription: x\n---\n"})
	s := connect(t, new(skillsclient.Host), "docs", f, revisions[1])
	c := catalogOf(t, toolshelf.WithSkillsFS("docs", s.FS(ctx)), toolshelf.WithSkillDepth(4))
	for range 3 {
		skills, err := c.ListSkills(ctx)
		if err != nil || len(skills) != 1 || skills[0].Description != "Does refunds" || len(skills[0].Diagnostics) != 0 {
			t.Fatalf("got %+v, %v", skills, err)
		}
		must.Get(c.SkillsPrompt(ctx))(t)
		must.Equal(t, "found.TotalFound", 1, must.Get(c.SearchSkills(ctx, "refunds", 0))(t).TotalFound)
		must.Do(t, fs.WalkDir(s.FS(ctx), ".", func(name string, _ fs.DirEntry, err error) error {
			if err == nil {
				var file fs.File
				if file, err = s.FS(ctx).Open(name); err == nil {
					file.Close()
				}
			}
			return err
		}))
	}
	must.Match(t, "requests", []string{"skills/list"}, f.requests())
	for range 2 {
		skill, err := c.GetSkill(ctx, "docs.acme.refunds")
		if err != nil || skill.Content != "Refund zebras.\n" || skill.DeclaredName != "refunds" || len(skill.Files) != 3 {
			t.Errorf("got %+v, %v", skill, err)
		}
	}
	must.Equal(t, "raw", "b",
		string(must.Get(c.ReadSkillFile(ctx, "docs.acme.refunds", "a/b.txt"))(t)))
	want := []string{"resources/read skill://acme/refunds/SKILL.md", "resources/read skill://acme/refunds/a/b.txt"}
	must.Match(t, "requests", want, f.requests())
}

func catalogOf(t testing.TB, opts ...toolshelf.Option) *toolshelf.Catalog {
	t.Helper()
	c := must.Get(toolshelf.New(append([]toolshelf.Option{toolshelf.WithFs(afero.NewMemMapFs()), toolshelf.WithSkillsDir()}, opts...)...))(t)
	t.Cleanup(func() { c.Close() })
	return c
}

func TestSkillsOfSeveralOriginsStayVisible(t *testing.T) {
	local := fstest.MapFS{"refunds/SKILL.md": {Data: []byte("---\nname: refunds\ndescription: Local\n---\n")}}
	h := new(skillsclient.Host)
	opts := []toolshelf.Option{toolshelf.WithSkillsFS("local", local)}
	for _, label := range []string{"one", "two"} {
		f := newFake(t, nil)
		f.add("refunds", "", nil)
		f.add("acme/refunds", "", map[string]string{"inner/SKILL.md": "an inner skill is a file"})
		f.add("Acme/refunds", "", nil)
		opts = append(opts, toolshelf.WithSkillsFS(label, connect(t, h, label, f, revisions[1]).FS(ctx)))
	}
	c := catalogOf(t, opts...)
	skills := must.Get(c.ListSkills(ctx))(t)
	var got []string
	for _, s := range skills {
		got = append(got, s.Layer+" "+s.Name)
		must.Len(t, s.Name, 0, s.Shadows)
		must.Get(c.GetSkill(ctx, s.Name))(t)
	}
	want := []string{"one one.Acme.refunds", "one one.acme.refunds", "one one.refunds", "local refunds", "two two.Acme.refunds", "two two.acme.refunds", "two two.refunds"}
	must.Match(t, "skills", want, got)
}

func TestCatalogReportsRejectedAndTamperedSkills(t *testing.T) {
	f := newFake(t, nil)
	f.add("good", "", nil)
	tampered := f.add("tampered", "Body.\n", nil)
	f.files[tampered.URI] = strings.Replace(f.files[tampered.URI], "Body", "Evil", 1)
	dynamic := f.add("dynamic", "", nil)
	f.change(func() { f.entries[2] = withJSON(t, dynamic, "resources", "dynamic") })
	s := connect(t, new(skillsclient.Host), "docs", f, revisions[0])
	c := catalogOf(t, toolshelf.WithSkillsFS("docs", s.FS(ctx)))
	skills, err := c.ListSkills(ctx)
	if err != nil || len(skills) != 3 || len(skills[0].Diagnostics) != 1 {
		t.Fatalf("got %+v, %v", skills, err)
	}
	for name, want := range map[string]error{"docs.dynamic": skillsclient.ErrDynamic, "docs.tampered": skillsclient.ErrDigest, "docs.good": nil} {
		skill, err := c.GetSkill(ctx, name)
		if err != nil && !strings.Contains(err.Error(), "(server docs: the ") {
			t.Errorf("%s: the error does not give the reason: %v", name, err)
		}
		if !errors.Is(err, want) || err != nil && (!errors.Is(err, toolshelf.ErrFileRead) || skill.Raw != nil) {
			t.Errorf("%s: got %q, %v", name, skill.Raw, err)
		}
		if err == nil {
			continue
		}
		must.Fail(c.ReadSkillFile(ctx, name, "SKILL.md"))(t, name, want)
	}
}

func TestManyFailedReadsCauseFewLists(t *testing.T) {
	f := newFake(t, nil)
	const skills = 50
	for i := range skills {
		f.add(fmt.Sprintf("s%d", i), "", nil)
	}
	f.files = nil // the server refuses every read
	s := connect(t, new(skillsclient.Host), "docs", f, revisions[1])
	c := catalogOf(t, toolshelf.WithSkillsFS("docs", s.FS(ctx)))
	must.Get(c.Lint(ctx))(t)
	lists := 0
	for _, request := range f.requests() {
		if request == "skills/list" {
			lists++
		}
	}
	if lists == 0 || lists > skills/2 {
		t.Errorf("%d lists for %d failed reads", lists, skills)
	}
	f.change(func() { f.files = map[string]string{} })
	f.add("s0", "Again.\n", nil)
	must.Get(c.ListSkills(ctx))(t)
	must.Equal(t, "skill.Content", "Again.\n", must.Get(c.GetSkill(ctx, "docs.s0"))(t).Content)
}

func TestCatalogSeesChangesOfTheServer(t *testing.T) {
	f := newFake(t, nil)
	stale := int64(0)
	f.ttl = &stale
	f.add("a", "One.\n", nil)
	s := connect(t, new(skillsclient.Host), "docs", f, revisions[1])
	c := catalogOf(t, toolshelf.WithSkillsFS("docs", s.FS(ctx)))
	changed := make(chan toolshelf.Change, 10)
	defer c.OnChange(func(change toolshelf.Change) { changed <- change })()
	must.Get(c.ListSkills(ctx))(t)
	f.add("a", "Two.\n", nil) // of the same size, with the same frontmatter
	must.Get(c.ListSkills(ctx))(t)
	<-changed
	f.change(func() { // the same file, with another entry
		e := f.entries[0].(entry)
		e.Frontmatter = map[string]any{"name": "a", "description": "Lies"}
		f.entries[0] = e
	})
	must.Equal(t, "Description", "Lies", must.Get(c.ListSkills(ctx))(t)[0].Description)
	must.Fail(c.GetSkill(ctx, "docs.a"))(t, "a lie", skillsclient.ErrFrontmatter)
	f.add("a", "Two.\n", nil)
	must.Get(c.ListSkills(ctx))(t)
	must.Equal(t, "skill.Content", "Two.\n", must.Get(c.GetSkill(ctx, "docs.a"))(t).Content)
}

// A server that fails must not hide the skills of other layers, not even a local skill with
// the label as name.
func TestCatalogReportsAnIncompleteList(t *testing.T) {
	f := newFake(t, nil)
	f.list = func(_ context.Context, c string) page {
		return page{Skills: []any{entries(0, 1)[0], make([]int, 20_000)}, NextCursor: c + "x"}
	}
	s := connect(t, new(skillsclient.Host), "docs", f, revisions[1])
	s.SetMaxList(10_000)
	skills, err := catalogOf(t, toolshelf.WithSkillsFS("docs", s.FS(ctx))).ListSkills(ctx)
	if err != nil || len(skills) != 2 || skills[0].Name != "docs.(incomplete)" || skills[1].Name != "docs.0.a" {
		t.Fatalf("got %+v, %v", skills, err)
	}
	const want = "server docs: the list is incomplete: the entries have more than 10000 bytes; get other skills by URI"
	if d := skills[0].Diagnostics; len(d) != 1 || !strings.Contains(d[0].Message, want) {
		t.Errorf("got %+v", d)
	}
}

func TestCatalogReportsAServerThatFails(t *testing.T) {
	local := fstest.MapFS{"docs/SKILL.md": {Data: []byte("---\nname: docs\ndescription: Local\n---\n")}}
	f := newFake(t, nil)
	stale := int64(0)
	f.ttl = &stale
	f.add("a", "A.\n", nil)
	h := &skillsclient.Host{Timeout: 20 * time.Millisecond}
	s := connect(t, h, "docs", f, revisions[1])
	c := catalogOf(t, toolshelf.WithSkillsFS("docs", s.FS(ctx)), toolshelf.WithSkillsFS("local", local))
	list := func() (names []string, why string) {
		t.Helper()
		for _, skill := range must.Get(c.ListSkills(ctx))(t) {
			names = append(names, skill.Name)
			for _, d := range skill.Diagnostics {
				why += skill.Name + ": " + d.Message
			}
		}
		return names, why
	}
	stall := func(ctx context.Context, _ string) page { <-ctx.Done(); return page{} }
	f.change(func() { f.list = stall })
	if names, why := list(); !slices.Equal(names, []string{"docs", "docs.(failed)"}) || !strings.Contains(why, "docs.(failed): not listed: server docs: the server does not answer") {
		t.Errorf("before the first list: got %q, %q", names, why)
	}
	must.Fail(s.FS(ctx).Open("docs.a"))(t, "error", context.DeadlineExceeded)
	f.requests()
	if list(); f.requests() != nil {
		t.Error("the next list waits for the server again")
	}
	f.change(func() { f.list = nil })
	s.Refresh()
	if names, why := list(); !slices.Equal(names, []string{"docs", "docs.a"}) || why != "" {
		t.Errorf("got %q, %q", names, why)
	}
	f.change(func() { f.list = stall })
	if names, _ := list(); !slices.Equal(names, []string{"docs", "docs.(failed)", "docs.a"}) {
		t.Errorf("after the failure of a later list: got %q", names)
	}
	must.Fail(s.List(ctx))(t, "List", context.DeadlineExceeded)
	must.Equal(t, "a held entry", "A.\n", must.Get(c.GetSkill(ctx, "docs.a"))(t).Content)
	s.Close()
	if names, why := list(); !slices.Equal(names, []string{"docs", "docs.(failed)"}) || !strings.Contains(why, "the Server is closed") {
		t.Errorf("after Close: got %q, %q", names, why)
	}
	if _, err := c.GetSkill(ctx, "docs.(failed)"); !errors.Is(err, skillsclient.ErrClosed) || !errors.Is(err, toolshelf.ErrFileRead) {
		t.Errorf("after Close: got %v", err)
	}
	must.Equal(t, "the local skill", "Local", must.Get(c.GetSkill(ctx, "docs"))(t).Description)
}

func TestCatalogNamesTheNextStepForEachError(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fault func(f *fake, s *skillsclient.Server)
		want  string
	}{
		{"a file that differs", func(f *fake, _ *skillsclient.Server) { f.change(func() { f.files["skill://a/SKILL.md"] += "x" }) }, "do not use the skill until its files match its entry"},
		{"a file that is gone", func(f *fake, _ *skillsclient.Server) { f.change(func() { delete(f.files, "skill://a/SKILL.md") }) }, "list the skills again"},
		{"an entry without digests", func(f *fake, s *skillsclient.Server) {
			f.change(func() { f.entries[0] = withJSON(t, f.entries[0], "resources", "dynamic") })
			s.Refresh()
		}, "ask the operator of the server to correct the skills"},
		{"a refusal", func(f *fake, _ *skillsclient.Server) {
			f.change(func() {
				f.read = func(context.Context, string) (*mcp.ReadResourceResult, error) { return nil, errors.New("no") }
			})
		}, "check the connection to the server"},
		{"a closed server", func(_ *fake, s *skillsclient.Server) { s.Close() }, "call Host.Server again"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t, nil)
			f.add("a", "A.\n", nil)
			s := connect(t, new(skillsclient.Host), "docs", f, revisions[1])
			c := catalogOf(t, toolshelf.WithSkillsFS("docs", s.FS(ctx)))
			must.Get(c.ListSkills(ctx))(t)
			tt.fault(f, s)
			name := "docs.a"
			if tt.name == "a closed server" {
				name = "docs.(failed)"
			}
			_, err := c.GetSkill(ctx, name)
			if err == nil || !strings.HasSuffix(err.Error(), "; "+tt.want) && !strings.Contains(err.Error(), tt.want+" (") || strings.Contains(err.Error(), "to the store") {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}
