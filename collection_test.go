package toolshelf_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
)

// A file that exists and cannot be read has another code than a file that does not
// exist, also if the cause of both is fs.ErrNotExist.
func TestABrokenLinkIsAFileThatCannotBeRead(t *testing.T) {
	root := diskOf(t, map[string]string{
		"commands/good.md": "Good.", "skills/good/SKILL.md": skillFile("good"), "skills/broken/notes.txt": "notes", "skills/empty/notes.txt": "notes",
	})
	err := errors.Join(
		os.Symlink("nothing.md", filepath.Join(root, "commands", "broken.md")),
		os.Symlink("nothing.md", filepath.Join(root, "skills", "broken", "SKILL.md")),
	)
	if err != nil {
		t.Skipf("symbolic links are not available: %v", err)
	}
	for name, options := range map[string][]toolshelf.Option{
		"without a snapshot": nil,
		"cached":             {toolshelf.WithCacheTTL(time.Hour)},
		"filtered": {
			toolshelf.WithCommandFilter(func(toolshelf.CommandInfo) bool { return true }),
			toolshelf.WithSkillFilter(func(toolshelf.SkillInfo) bool { return true }),
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := catalog(t, append(options, toolshelf.WithRoot(root))...)
			for range 2 {
				for method, get := range map[string]func(name string) error{
					"Get":           func(name string) error { _, err := c.Get(t.Context(), name); return err },
					"GetSkill":      func(name string) error { _, err := c.GetSkill(t.Context(), name); return err },
					"ReadSkillFile": func(name string) error { _, err := c.ReadSkillFile(t.Context(), name, "SKILL.md"); return err },
				} {
					if err := get("good"); err != nil {
						t.Errorf("%s: %v", method, err)
					}
					if err := get("broken"); !errors.Is(err, toolshelf.ErrFileRead) || !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), root) {
						t.Errorf("%s: %v, want ErrFileRead with the cause fs.ErrNotExist", method, err)
					}
					if err := get("empty"); !errors.Is(err, toolshelf.ErrSkillNotFound) && !errors.Is(err, toolshelf.ErrCommandNotFound) {
						t.Errorf("%s: %v, want a name that is not found", method, err)
					}
				}
			}
		})
	}
}

func codes(diagnostics []toolshelf.Diagnostic) (all []toolshelf.DiagnosticCode) {
	for _, d := range diagnostics {
		all = append(all, d.Code)
	}
	return all
}

// listedAgain returns the SkillInfo and the text of each skill from ListSkills and GetSkill.
func listedAgain(t *testing.T, c *toolshelf.Catalog) []toolshelf.Skill {
	t.Helper()
	list, err := c.ListSkills(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var all []toolshelf.Skill
	for _, info := range list {
		skill := toolshelf.Skill{SkillInfo: info}
		if info.Loadable {
			if skill, err = c.GetSkill(t.Context(), info.Name); err != nil {
				t.Fatal(err)
			}
		}
		skill.Raw, skill.Files, skill.FilesTruncated = nil, nil, info.Loadable
		all = append(all, skill)
	}
	return all
}

// collected returns the values of a range. An error ends the test.
func collected[T any](t *testing.T, all iter.Seq2[T, error]) []T {
	t.Helper()
	var values []T
	for v, err := range all {
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, v)
	}
	return values
}

func TestSkillsAgreeWithGetSkill(t *testing.T) {
	onEveryFilesystem(t, func(t *testing.T, open func(...toolshelf.Option) *toolshelf.Catalog) {
		want := listedAgain(t, open())
		c := open()
		for range 2 { // of a new catalog, and after a scan
			if diff := cmp.Diff(want, collected(t, c.Skills(t.Context())), cmpopts.IgnoreFields(toolshelf.SkillInfo{}, "Frontmatter")); diff != "" {
				t.Errorf("-GetSkill +Skills:\n%s", diff)
			}
		}
	})
}

func TestCommandsAgreeWithGet(t *testing.T) {
	onEveryFilesystem(t, func(t *testing.T, open func(...toolshelf.Option) *toolshelf.Catalog) {
		c := open(toolshelf.WithNestedCommands())
		var want []toolshelf.Command
		for info, err := range open(toolshelf.WithNestedCommands()).All(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			command, err := c.Get(t.Context(), info.Name)
			if err != nil || !command.Loadable {
				t.Fatal(command, err)
			}
			want = append(want, command)
		}
		for range 2 {
			if diff := cmp.Diff(want, collected(t, open(toolshelf.WithNestedCommands()).Commands(t.Context())), cmpopts.IgnoreFields(toolshelf.Command{}, "Frontmatter")); diff != "" {
				t.Errorf("-Get +Commands:\n%s", diff)
			}
		}
	})
}

// Skills and Commands of a new catalog open each file once.
func TestEachTextIsReadOnce(t *testing.T) {
	files := map[string]string{}
	for i := range 200 {
		body := strings.Repeat("x", i*300)
		files[fmt.Sprintf("skills/s%d/SKILL.md", i)] = skillFile(fmt.Sprintf("s%d", i)) + body
		files[fmt.Sprintf("commands/c%d.md", i)] = body
	}
	root := diskOf(t, files)
	old := time.Now().Add(-time.Minute) // see stamp.Settled
	for file := range files {
		if err := os.Chtimes(filepath.Join(root, file), old, old); err != nil {
			t.Fatal(err)
		}
	}
	for where, fsys := range map[string]afero.Fs{"memory": memoryOf(t, files), "disk": afero.NewBasePathFs(afero.NewOsFs(), root)} {
		t.Run(where, func(t *testing.T) {
			opens := &openedFs{Fs: fsys, opens: map[string]int{}}
			c := catalog(t, toolshelf.WithFs(opens))
			for i, skill := range collected(t, c.Skills(t.Context())) {
				if want := files[path.Join("skills", skill.Name, "SKILL.md")]; !strings.HasSuffix(want, "---\n"+skill.Content) {
					t.Errorf("skill %d has %d bytes, want the end of %d", i, len(skill.Content), len(want))
				}
			}
			for i, command := range collected(t, c.Commands(t.Context())) {
				if want := files["commands/"+command.Name+".md"]; string(command.Raw) != want {
					t.Errorf("command %d has %d bytes, want %d", i, len(command.Raw), len(want))
				}
			}
			for file, n := range opens.opens {
				if path.Ext(file) == ".md" && n != 1 {
					t.Errorf("%s was opened %d times", file, n)
				}
			}
		})
	}
}

// An openedFs counts the opens of each path.
type openedFs struct {
	afero.Fs
	mu    sync.Mutex
	opens map[string]int
}

func (f *openedFs) Open(name string) (afero.File, error) {
	f.mu.Lock()
	f.opens[filepath.ToSlash(name)]++
	f.mu.Unlock()
	return f.Fs.Open(name)
}

func TestTheBytesOfARangeBelongToTheCaller(t *testing.T) {
	files := fstest.MapFS{"a/SKILL.md": {Data: []byte(skillFile("a"))}, "a.md": {Data: []byte("text")}}
	c := catalog(t, toolshelf.WithSkillsFS("files", toolshelf.Immutable(files)), toolshelf.WithCommandsFS("files", toolshelf.Immutable(files)))
	for range 2 { // from the scan, and from the cache
		for _, s := range collected(t, c.Skills(t.Context())) {
			clear(s.Raw)
		}
		for _, s := range collected(t, c.Commands(t.Context())) {
			clear(s.Raw)
		}
		skill, err := c.GetSkill(t.Context(), "a")
		command, err2 := c.Get(t.Context(), "a")
		if string(skill.Raw) != skillFile("a") || string(command.Raw) != "text" || errors.Join(err, err2) != nil {
			t.Errorf("%q, %q, %v, %v", skill.Raw, command.Raw, err, err2)
		}
	}
}

// A catalog that closes makes no skill unreadable.
func TestCloseEndsARangeBeforeTheNextSkill(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("skills/s%d/SKILL.md", i)] = skillFile("s")
	}
	fsys := memoryOf(t, files)
	for i := range 20 {
		c := catalog(t, toolshelf.WithFs(fsys))
		if _, err := c.ListSkills(t.Context()); err != nil { // the range reads the files ahead of its consumer
			t.Fatal(err)
		}
		n, failed := 0, error(nil)
		for s, err := range c.Skills(t.Context()) {
			if failed = err; err == nil && !s.Loadable {
				t.Fatal(s.Diagnostics)
			}
			if n++; n == i+1 {
				c.Close()
			}
		}
		if !errors.Is(failed, toolshelf.ErrClosed) {
			t.Errorf("%d values, %v", n, failed)
		}
	}
}

// A scan that panics leaves no trace: later lists read only the beginning of files.
func TestAPanicEndsTheCollectionOfTexts(t *testing.T) {
	files := &counting{Fs: memoryOf(t, map[string]string{"skills/a/SKILL.md": skillFile("a") + strings.Repeat("x", 50_000)})}
	fsys := &panickingFs{Fs: files}
	c := catalog(t, toolshelf.WithFs(fsys))
	func() {
		defer func() { _ = recover() }()
		for range c.Skills(t.Context()) {
		}
		t.Error("no panic")
	}()
	fsys.calm.Store(true)
	if _, err := c.ListSkills(t.Context()); err != nil || files.read.Load() > 10_000 {
		t.Errorf("a list reads %d bytes, %v", files.read.Load(), err)
	}
}

// A panickingFs panics at each open of a SKILL.md until calm.
type panickingFs struct {
	afero.Fs
	calm atomic.Bool
}

func (f *panickingFs) Open(name string) (afero.File, error) {
	if strings.HasSuffix(name, "SKILL.md") && !f.calm.Load() {
		panic("open")
	}
	return f.Fs.Open(name)
}

func TestSkillsAndCommandsKeepWhatCannotBeLoaded(t *testing.T) {
	files := map[string]string{"skills/bare/x.py": "", "skills/large/SKILL.md": strings.Repeat("x", 200), "skills/good/SKILL.md": skillFile("good"),
		"commands/large.md": strings.Repeat("x", 200), "commands/good.md": "text", "commands/hidden.md": "---\nis_dependency: true\n---\n"}
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithMaxFileSize(100))
	var got []string
	for _, s := range collected(t, c.Skills(t.Context())) {
		got = append(got, fmt.Sprintln(s.Name, s.Loadable, s.Description != "", codes(s.Diagnostics)))
	}
	for _, s := range collected(t, c.Commands(t.Context())) {
		got = append(got, fmt.Sprintln(s.Name, s.Loadable, len(s.Raw) > 0, codes(s.Diagnostics), s.Layer, s.Metadata.Size))
	}
	want := []string{"bare false false [SKILL_FILE_MISSING]", "good true true []", "large false false [FILE_TOO_LARGE]",
		"good true true [] commands 4", "large false false [FILE_TOO_LARGE] commands 200"}
	if diff := cmp.Diff(strings.Join(want, "\n")+"\n", strings.Join(got, "")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A change during the range is a new text, another diagnostic, or nothing, but no error.
func TestChangesDuringSkills(t *testing.T) {
	files := map[string]string{}
	for i := range 8 {
		files[fmt.Sprintf("skills/s%d/SKILL.md", i)] = skillFile(fmt.Sprintf("s%d", i))
	}
	fsys := memoryOf(t, files)
	c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithMaxReads(1), toolshelf.WithSkillFilter(func(s toolshelf.SkillInfo) bool { return s.Description != "secret" }))
	if _, err := c.ListSkills(t.Context()); err != nil { // the range reads the files ahead of its consumer only
		t.Fatal(err)
	}
	var got []string
	for s, err := range c.Skills(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if s.Name == "s1" {
			err := errors.Join(afero.WriteFile(fsys, "skills/s4/SKILL.md", []byte("---\ndescription: secret\n---\n"), 0o644),
				afero.WriteFile(fsys, "skills/s5/SKILL.md", []byte("---\ndescription: new\n---\nnew"), 0o644), fsys.Remove("skills/s6/SKILL.md"))
			if err != nil {
				t.Fatal(err)
			}
		}
		got = append(got, s.Name+" "+s.Description)
	}
	want := []string{"s0 d", "s1 d", "s2 d", "s3 d", "s5 new", "s7 d"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestErrorsOfSkillsAndCommands(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("skills/s%d/SKILL.md", i)] = skillFile("s")
		files[fmt.Sprintf("commands/c%d.md", i)] = "text"
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for _, tt := range []struct {
		name string
		ctx  context.Context
		fsys afero.Fs
		stop func(c *toolshelf.Catalog, end func()) // after the third value
		want error
	}{
		{"no directory", t.Context(), afero.NewMemMapFs(), nil, toolshelf.ErrDirectoryNotFound},
		{"an ended context", ended, memoryOf(t, files), nil, context.Canceled},
		{"a context that ends", t.Context(), memoryOf(t, files), func(_ *toolshelf.Catalog, end func()) { end() }, context.Canceled},
		{"a catalog that closes", t.Context(), memoryOf(t, files), func(c *toolshelf.Catalog, _ func()) { c.Close() }, toolshelf.ErrClosed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for kind, all := range map[string]func(context.Context, *toolshelf.Catalog) iter.Seq2[string, error]{
				"skills": func(ctx context.Context, c *toolshelf.Catalog) iter.Seq2[string, error] {
					return named(c.Skills(ctx), func(s toolshelf.Skill) string { return s.Name })
				},
				"commands": func(ctx context.Context, c *toolshelf.Catalog) iter.Seq2[string, error] {
					return named(c.Commands(ctx), func(s toolshelf.Command) string { return s.Name })
				},
			} {
				c := catalog(t, toolshelf.WithFs(tt.fsys))
				ctx, end := context.WithCancel(tt.ctx)
				n, failed := 0, error(nil)
				for name, err := range all(ctx, c) {
					if failed != nil {
						t.Errorf("%s: %q after an error", kind, name)
					}
					if err != nil {
						failed = err
						if name != "" {
							t.Errorf("%s: the name %q with an error", kind, name)
						}
						continue
					}
					if n++; n == 3 && tt.stop != nil {
						tt.stop(c, end)
					}
				}
				end()
				if !errors.Is(failed, tt.want) || tt.stop != nil && n == 300 {
					t.Errorf("%s: %d values, %v, want %v", kind, n, failed, tt.want)
				}
			}
		})
	}
}

func named[T any](all iter.Seq2[T, error], name func(T) string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for v, err := range all {
			if !yield(name(v), err) {
				return
			}
		}
	}
}
