package toolshelf_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestGetSkill(t *testing.T) {
	onEveryFilesystem(t, func(t *testing.T, open func(...toolshelf.Option) *toolshelf.Catalog) {
		c := open()
		listed := must.Get(c.ListSkills(t.Context()))(t)
		for range 2 { // first read from the file, then cached
			for _, info := range listed {
				if info.Name == "no-file" {
					continue
				}
				skill := must.Get(c.GetSkill(t.Context(), info.Name))(t)
				must.Match(t, info.Name, info, skill.SkillInfo,
					cmpopts.IgnoreFields(toolshelf.SkillInfo{}, "Frontmatter"))
				base := path.Base(filepath.ToSlash(skill.Path))
				raw := must.Get(os.ReadFile(filepath.Join("testdata", "project", "skills", info.Name, base)))(t)
				if string(raw) != string(skill.Raw) || !strings.HasSuffix(string(raw), skill.Content) {
					t.Errorf("%s: Raw is %q and Content %q of the file %q", info.Name, skill.Raw, skill.Content, raw)
				}
				must.Match(t, info.Name, []toolshelf.SkillFile{{Path: base, Size: int64(len(raw))}},
					skill.Files)
				skill.Raw[0] = '!' // the caller owns the slice
			}
		}
	})
}

// forms is a skill with every kind of file.
func forms() map[string]string { return filesOf("forms") }

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func TestTheFilesOfASkillAreAllFilesBelowItsDirectory(t *testing.T) {
	files := forms()
	for name, options := range map[string][]toolshelf.Option{
		"memory": {toolshelf.WithFs(memoryOf(t, files))},
		"disk":   {toolshelf.WithRoot(diskOf(t, files))},
	} {
		t.Run(name, func(t *testing.T) {
			c := catalog(t, options...)
			var want []toolshelf.SkillFile
			for _, p := range []string{".env.example", "SKILL.md", "empty.txt", "inner/SKILL.md", "references-old.md", "references/A B.md", "references/deep/b.md", "scripts/fill.py"} {
				content := files["skills/forms/"+p]
				want = append(want, toolshelf.SkillFile{Path: p, Size: int64(len(content)), SHA256: digest(content)})
			}
			for range 2 { // first read from the files, then cached
				skill := must.Get(c.GetSkill(t.Context(), "forms", toolshelf.Digests()))(t)
				if diff := cmp.Diff(want, skill.Files); diff != "" || skill.FilesTruncated || len(skill.Diagnostics) > 0 {
					t.Errorf("files (-want +got):\n%s%v", diff, skill.Diagnostics)
				}
			}
			for p, content := range files {
				if below, ok := strings.CutPrefix(p, "skills/forms/"); ok {
					must.Equal(t, below, content,
						string(must.Get(c.ReadSkillFile(t.Context(), "forms", below))(t)))
				}
			}
		})
	}
}

func TestTheJSONOfASkill(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{
		"skills/forms/SKILL.md": forms()["skills/forms/SKILL.md"], "skills/forms/a.txt": "a"})))
	skill := must.Get(c.GetSkill(t.Context(), "forms", toolshelf.Digests()))(t)
	got := must.Get(json.Marshal(skill))(t)
	want := `{"name":"forms","declared_name":"forms","description":"Fills forms.","user_invocable":true,"loadable":true,` +
		`"path":"skills/forms/SKILL.md","layer":"skills",` +
		`"frontmatter":{"name":"forms","description":"Fills forms.","x-rank":7,"stage":{"from":1.50}},` +
		`"content":"Fill.\n","files":[` +
		`{"path":"SKILL.md","size":` + fmt.Sprint(len(skill.Raw)) + `,"sha256":"` + digest(string(skill.Raw)) + `"},` +
		`{"path":"a.txt","size":1,"sha256":"` + digest("a") + `"}]}`
	must.Match(t, "JSON", want, string(got))
}

func TestTheJSONOfASkillHasEveryFieldAndUnescapedHTML(t *testing.T) {
	got := must.Get(toolshelf.Skill{Content: "<b>", FilesTruncated: true}.MarshalJSON())(t)
	must.Contain(t, "MarshalJSON", string(got), `"content":"<b>"`)
	fields := reflect.TypeFor[toolshelf.Skill]()
	for i := range fields.NumField() {
		f := fields.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" && !strings.Contains(string(got), `"`+name+`":`) {
			t.Errorf("the field %s is missing in %s", f.Name, got)
		}
	}
	must.NotContain(t, "a SkillInfo", string(must.Get(json.Marshal(toolshelf.SkillInfo{}))(t)),
		"rontmatter")
}

func TestGetSkillErrors(t *testing.T) {
	fsys := catalogtest.Faulty{
		Fs:    memoryOf(t, map[string]string{"skills/private/SKILL.md": skillFile("private")}),
		Opens: map[string]error{"private": fs.ErrPermission},
	}
	c := catalog(t, toolshelf.WithFs(fsys))
	_, err := c.GetSkill(t.Context(), "private")
	_, fileErr := c.ReadSkillFile(t.Context(), "private", "SKILL.md")
	for _, err := range []error{err, fileErr} {
		must.Is(t, "a private directory", toolshelf.ErrFileRead, err)
		must.Is(t, "a private directory", fs.ErrPermission, err, "permission")
	}
	_, err = catalog(t, toolshelf.WithFs(afero.NewMemMapFs())).GetSkill(t.Context(), "x")
	must.Is(t, "no directory of skills", toolshelf.ErrSkillNotFound, err)
	must.Is(t, "no directory of skills", toolshelf.ErrDirectoryNotFound, err)
}

func TestAnInvalidSkillNameNeverReachesTheFilesystem(t *testing.T) {
	fsys := &counting{Fs: dated(memoryOf(t, forms()))}
	c := catalog(t, toolshelf.WithFs(fsys))
	for _, name := range []string{"..", "../secret", "/etc", "a/b", "", "\x00", "con\n"} {
		_, getErr := c.GetSkill(t.Context(), name)
		_, readErr := c.ReadSkillFile(t.Context(), name, "SKILL.md")
		must.Is(t, name, toolshelf.ErrInvalidSkillName, getErr)
		must.Is(t, name, toolshelf.ErrInvalidSkillName, readErr)
	}
	must.Equal(t, "fsys.calls.Load()", 0, fsys.calls.Load())
}

func TestReadSkillFileErrors(t *testing.T) {
	files := forms()
	files["skills/forms/large.bin"] = strings.Repeat("x", 1001)
	for name, options := range map[string][]toolshelf.Option{
		"memory": {toolshelf.WithFs(memoryOf(t, files))},
		"disk":   {toolshelf.WithRoot(diskOf(t, files))},
	} {
		c := catalog(t, append(options, toolshelf.WithMaxFileSize(1000))...)
		for want, paths := range map[error][]string{
			toolshelf.ErrOutsideRoot: {
				"../other/SKILL.md", "../other/MISSING.md", "references/../../other/SKILL.md", "..",
				"/etc/passwd", "/SKILL.md",
			},
			toolshelf.ErrNotFound: {
				"missing.md", "missing/../missing.md", "SKILL.md/x", "nul\x00", strings.Repeat("x", 5000),
			},
			toolshelf.ErrFileRead:     {"", ".", "references", "references/"},
			toolshelf.ErrFileTooLarge: {"large.bin"},
		} {
			for _, p := range paths {
				got, err := c.ReadSkillFile(t.Context(), "forms", p)
				must.Is(t, name+" "+p, want, err)
				must.Len(t, name+" "+p, 0, got)
				must.NotContain(t, name+" "+p, err, "\n", "\x00")
			}
		}
		for _, p := range []string{"./SKILL.md", "references/../SKILL.md", "references//A B.md"} {
			must.Get(c.ReadSkillFile(t.Context(), "forms", p))(t)
		}
	}
}

func TestLinksInASkillLeadOnlyToItsFiles(t *testing.T) {
	outside := diskOf(t, map[string]string{"secret.txt": "outside"})
	root := diskOf(t, forms())
	dir := filepath.Join(root, "skills", "forms")
	links := map[string]string{
		"inside.md":          "references/A B.md",
		"absolute.md":        filepath.Join(dir, "references", "A B.md"),
		"inside-directory":   "references",
		"there-and-back.md":  "../../skills/forms/references/A B.md",
		"to-secret.txt":      "../../secret.txt",
		"to-missing.txt":     "../../missing.txt",
		"to-other":           "../other",
		"to-outside.txt":     filepath.Join(outside, "secret.txt"),
		"to-outside-missing": filepath.Join(outside, "missing.txt"),
		"by-way-of":          "to-secret.txt",
		"dangling":           "nothing",
		"circle":             "circle",
		"references/up.md":   "../SKILL.md",
		"references/home":    "..",
	}
	for name, target := range links {
		hosttest.Symlink(t, target, filepath.Join(dir, name))
	}
	linked := filepath.Join(root, "linked")
	hosttest.Symlink(t, "skills", linked)
	for _, tt := range []struct {
		name    string
		options []toolshelf.Option
		want    map[string]any // content, or error
		listed  []string
	}{
		{"inside", nil, map[string]any{
			"inside.md": "# A", "absolute.md": "# A", "inside-directory/A B.md": "# A", "there-and-back.md": "# A", "references/up.md": forms()["skills/forms/SKILL.md"],
			"references/home/references/A B.md": "# A", "references/home": toolshelf.ErrFileRead,
			"to-secret.txt": toolshelf.ErrOutsideRoot, "to-missing.txt": toolshelf.ErrOutsideRoot, "to-other/SKILL.md": toolshelf.ErrOutsideRoot, "to-other/none": toolshelf.ErrOutsideRoot,
			"to-outside.txt": toolshelf.ErrOutsideRoot, "to-outside-missing": toolshelf.ErrOutsideRoot, "by-way-of": toolshelf.ErrOutsideRoot,
			"dangling": toolshelf.ErrNotFound, "circle": toolshelf.ErrFileRead, "inside-directory": toolshelf.ErrFileRead,
		}, []string{"absolute.md", "inside.md", "references/up.md", "there-and-back.md"}},
		{"none", []toolshelf.Option{toolshelf.WithSymlinks(toolshelf.SymlinksDeny)}, map[string]any{
			"inside.md": toolshelf.ErrOutsideRoot, "absolute.md": toolshelf.ErrOutsideRoot, "inside-directory/A B.md": toolshelf.ErrOutsideRoot,
			"to-secret.txt": toolshelf.ErrOutsideRoot, "to-outside.txt": toolshelf.ErrOutsideRoot, "references/A B.md": "# A",
		}, nil},
		{"trusted directories apply to skills, not to their files", []toolshelf.Option{toolshelf.WithSymlinks(toolshelf.SymlinksTrusted, outside)}, map[string]any{
			"inside.md": "# A", "to-outside.txt": toolshelf.ErrOutsideRoot,
		}, []string{"absolute.md", "inside.md", "references/up.md", "there-and-back.md"}},
		{"the policy for all links applies to skills, not to their files", []toolshelf.Option{toolshelf.WithSymlinks(toolshelf.SymlinksAll)}, map[string]any{
			"inside.md": "# A", "to-outside.txt": toolshelf.ErrOutsideRoot,
		}, []string{"absolute.md", "inside.md", "references/up.md", "there-and-back.md"}},
		{"a layer that is reached by a link", []toolshelf.Option{toolshelf.WithSkillsDir("linked")}, map[string]any{
			"inside.md": "# A", "there-and-back.md": "# A", "to-other/SKILL.md": toolshelf.ErrOutsideRoot,
		}, []string{"absolute.md", "inside.md", "references/up.md", "there-and-back.md"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := catalog(t, append([]toolshelf.Option{toolshelf.WithRoot(root)}, tt.options...)...)
			for p, want := range tt.want {
				got, err := c.ReadSkillFile(t.Context(), "forms", p)
				if content, ok := want.(string); ok {
					must.Do(t, err)
					must.Equal(t, p, content, string(got))
				} else if !errors.Is(err, want.(error)) || strings.Contains(err.Error(), root) || strings.Contains(err.Error(), outside) {
					t.Errorf("%s: %q, %v; want %v", p, got, err, want)
				}
			}
			skill := must.Get(c.GetSkill(t.Context(), "forms"))(t)
			var listed []string
			for _, f := range skill.Files {
				if links[f.Path] != "" {
					listed = append(listed, f.Path)
				}
			}
			must.Match(t, "links among the files", tt.listed, listed)
			reported := map[string]bool{}
			for _, d := range skill.Diagnostics {
				reported[strings.TrimPrefix(strings.TrimPrefix(d.Path, "linked/forms/"), "skills/forms/")] = d.Code == "LINK_NOT_FOLLOWED"
			}
			for name := range links {
				if (name == "inside-directory" || name == "references/home") && tt.name != "none" || name == "absolute.md" {
					continue
				}
				isListed := false
				for _, l := range listed {
					isListed = isListed || l == name
				}
				if isListed == reported[name] {
					t.Errorf("%s is listed: %v, reported: %v", name, isListed, reported[name])
				}
			}
		})
	}
	t.Run("the error does not depend on the existence of the file", func(t *testing.T) {
		c := catalog(t, toolshelf.WithRoot(root))
		text := func(p string) string {
			_, err := c.ReadSkillFile(t.Context(), "forms", p)
			return strings.ReplaceAll(err.Error(), p, "…")
		}
		for _, pair := range [][2]string{{"to-secret.txt", "to-missing.txt"}, {"to-outside.txt", "to-outside-missing"}, {"../other/SKILL.md", "../other/none"}, {"to-other/SKILL.md", "to-other/none"}} {
			must.Equal(t, "the errors differ", text(pair[1]), text(pair[0]))
		}
	})
}

func TestGetSkillReadsALinkedSkillFileLikeListSkills(t *testing.T) {
	root := diskOf(t, map[string]string{"shared/pdf.md": "---\ndescription: shared\n---\nText.", "skills/pdf/notes.txt": "n"})
	hosttest.Symlink(t, "../../shared/pdf.md", filepath.Join(root, "skills", "pdf", "SKILL.md"))
	c := catalog(t, toolshelf.WithRoot(root))
	skill := must.Get(c.GetSkill(t.Context(), "pdf"))(t)
	if skill.Description != "shared" || skill.Content != "Text." || len(skill.Files) != 2 {
		t.Errorf("got %+v", skill)
	}
	must.Equal(t, "ReadSkillFile", string(skill.Raw),
		string(must.Get(c.ReadSkillFile(t.Context(), "pdf", "SKILL.md"))(t)))
}

// The directory of a skill may be a link. Its files are served like the files of any
// other skill.
func TestALinkedSkillIsServedWithItsFiles(t *testing.T) {
	outside := diskOf(t, map[string]string{"pdf/SKILL.md": skillFile("pdf"), "pdf/a.md": "a", "pdf/deep/b.md": "b", "secret.txt": "secret"})
	root := diskOf(t, map[string]string{"shared/csv/SKILL.md": skillFile("csv"), "shared/csv/a.md": "a", "shared/csv/deep/b.md": "b", "shared/secret.txt": "secret", "skills/x/SKILL.md": ""})
	hosttest.Symlink(t, "../shared/csv", filepath.Join(root, "skills", "csv"))
	hosttest.Symlink(t, "../a.md", filepath.Join(root, "shared", "csv", "deep", "link.md"))
	hosttest.Symlink(t, "../secret.txt", filepath.Join(root, "shared", "csv", "out.md"))
	hosttest.Symlink(t, filepath.Join(outside, "pdf"), filepath.Join(root, "skills", "pdf"))
	hosttest.Symlink(t, "../a.md", filepath.Join(outside, "pdf", "deep", "link.md"))
	hosttest.Symlink(t, "../secret.txt", filepath.Join(outside, "pdf", "out.md"))
	pluginDir := diskOf(t, map[string]string{"p/skills/x/SKILL.md": skillFile("x"), "p/skills/x/a.md": "a", "p/secret.txt": "secret"})
	hosttest.Symlink(t, "a.md", filepath.Join(pluginDir, "p", "skills", "x", "link.md"))
	hosttest.Symlink(t, "../../secret.txt", filepath.Join(pluginDir, "p", "skills", "x", "out.md"))
	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithSymlinks(toolshelf.SymlinksTrusted, outside), toolshelf.WithPlugins(pluginDir))
	for name, want := range map[string][]string{
		"p:x": {"SKILL.md", "a.md", "link.md"},
		"csv": {"SKILL.md", "a.md", "deep/b.md", "deep/link.md"},
		"pdf": {"SKILL.md", "a.md", "deep/b.md"}, // links in a trusted directory are not followed
	} {
		for range 2 {
			skill := must.Get(c.GetSkill(t.Context(), name, toolshelf.Digests()))(t)
			var got []string
			for _, f := range skill.Files {
				got = append(got, f.Path)
				must.Get(c.ReadSkillFile(t.Context(), name, f.Path))(t)
			}
			must.Match(t, name, want, got)
		}
		must.Fail(c.ReadSkillFile(t.Context(), name, "out.md"))(t, name, toolshelf.ErrOutsideRoot)
	}
}

func TestGetSkillReturnsTheCurrentFiles(t *testing.T) {
	for name, option := range map[string]toolshelf.Option{
		"validated": toolshelf.WithCacheTTL(0), "kept for an hour": toolshelf.WithCacheTTL(time.Hour), "watched": toolshelf.WithWatch(),
	} {
		t.Run(name, func(t *testing.T) {
			root := diskOf(t, forms())
			c := catalog(t, toolshelf.WithRoot(root), option)
			get := func() string {
				t.Helper()
				skill, err := c.GetSkill(t.Context(), "forms", toolshelf.Digests())
				if err != nil {
					return string(toolshelf.CodeOf(err))
				}
				for _, f := range skill.Files {
					data := must.Get(c.ReadSkillFile(t.Context(), "forms", f.Path))(t)
					must.Equal(t, f.Path, f.Size, int64(len(data)))
					must.Equal(t, f.Path, f.SHA256, digest(string(data)))
				}
				return fmt.Sprint(skill.Description, " ", len(skill.Files))
			}
			dir := filepath.Join(root, "skills", "forms")
			for _, step := range []struct {
				name string
				do   func() error
				want string
			}{
				{"as it was", func() error { return nil }, "Fills forms. 8"},
				{"another description", func() error {
					return os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("---\ndescription: Another.\n---\n"), 0o644)
				}, "Another. 8"},
				{"another text of the same length", func() error { return os.WriteFile(filepath.Join(dir, "empty.txt"), []byte("1"), 0o644) }, "Another. 8"},
				{"again", func() error { return os.WriteFile(filepath.Join(dir, "empty.txt"), []byte("2"), 0o644) }, "Another. 8"},
				{"a file more", func() error { return os.WriteFile(filepath.Join(dir, "new.txt"), nil, 0o644) }, "Another. 9"},
				{"a removed directory", func() error { return os.RemoveAll(filepath.Join(dir, "references")) }, "Another. 7"},
				{"a replaced directory", func() error {
					return errors.Join(os.Rename(dir, dir+"-old"), os.CopyFS(dir, os.DirFS(filepath.Join(root, "skills", "other"))))
				}, "d 1"},
				{"nothing in its place", func() error { return os.RemoveAll(dir) }, "SKILL_NOT_FOUND"},
			} {
				must.Do(t, step.do())
				must.Equal(t, step.name, step.want, get())
			}
		})
	}
}

func TestAnUnchangedSkillIsReadOnce(t *testing.T) {
	fsys := &counting{Fs: dated(memoryOf(t, forms()))}
	c := catalog(t, toolshelf.WithFs(fsys))
	for range 2 {
		must.Get(c.GetSkill(t.Context(), "forms", toolshelf.Digests()))(t)
	}
	fsys.read.Store(0)
	must.Get(c.GetSkill(t.Context(), "forms", toolshelf.Digests()))(t)
	must.Equal(t, "fsys.read.Load()", 0, fsys.read.Load())
}

func TestTheListOfFilesIsBounded(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files func(add func(path string))
		want  int
		least string
	}{
		{"many files", func(add func(string)) {
			for i := range 10_050 {
				add(fmt.Sprintf("data/%05d.txt", i))
			}
		}, 9_999, "data/09997.txt"},
		{"many files before SKILL.md", func(add func(string)) {
			for i := range 10_050 {
				add(fmt.Sprintf("A%05d.txt", i))
			}
		}, 10_001, "A09999.txt"},
		{"many directories", func(add func(string)) {
			for i := range 6_000 {
				add(fmt.Sprintf("data/%05d/x", i))
			}
		}, 5_000, "data/04998/x"},
		{"deep directories", func(add func(string)) {
			add(strings.Repeat("d/", 15) + "last")
			add(strings.Repeat("d/", 16) + "beyond")
		}, 2, strings.Repeat("d/", 15) + "last"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{"skills/big/SKILL.md": "---\ndescription: d\n---\n"}
			tt.files(func(p string) { files["skills/big/"+p] = "" })
			skill := must.Get(catalog(t, toolshelf.WithFs(memoryOf(t, files))).GetSkill(t.Context(), "big"))(t)
			found := map[string]bool{}
			for _, f := range skill.Files {
				found[f.Path] = true
			}
			if !skill.FilesTruncated || len(skill.Files) != tt.want || !found["SKILL.md"] || !found[tt.least] {
				t.Errorf("%d files, truncated: %v; want %d with SKILL.md and %s; the last is %s", len(skill.Files), skill.FilesTruncated, tt.want, tt.least, skill.Files[len(skill.Files)-1].Path)
			}
			must.Len(t, "diagnostics", 1, skill.Diagnostics)
			must.Equal(t, "diagnostics", "TOO_MANY_FILES", skill.Diagnostics[0].Code)
		})
	}
}

func TestTheNamesOfFilesAreUnchanged(t *testing.T) {
	root := diskOf(t, map[string]string{"skills/odd/SKILL.md": "---\ndescription: d\n---\n"})
	for _, name := range []string{"new\nline", "esc\x1b[31m", "\xff", `back\slash`} {
		if err := os.WriteFile(filepath.Join(root, "skills", "odd", name), []byte(name), 0o644); err != nil {
			t.Skip("the filesystem has no line breaks in names")
		}
	}
	hosttest.Symlink(t, "/", filepath.Join(root, "skills", "odd", "out\nside"))
	c := catalog(t, toolshelf.WithRoot(root))
	skill := must.Get(c.GetSkill(t.Context(), "odd"))(t)
	must.Len(t, "files", 5, skill.Files)
	for _, f := range skill.Files {
		if got, err := c.ReadSkillFile(t.Context(), "odd", f.Path); err != nil || f.Path != "SKILL.md" && string(got) != f.Path {
			t.Errorf("%q: %q, %v", f.Path, got, err)
		}
	}
	for _, d := range skill.Diagnostics {
		if strings.ContainsAny(d.Path+d.Message+d.Suggestion, "\n\x1b") {
			t.Errorf("a diagnostic of more than one line: %+v", d)
		}
	}
	must.Len(t, "diagnostics", 1, skill.Diagnostics)
}

func TestAFileWithoutADigestIsReported(t *testing.T) {
	files := forms()
	files["skills/forms/large.bin"] = strings.Repeat("x", 1001)
	denied := map[string]error{"fill.py": fs.ErrPermission}
	fsys := catalogtest.Faulty{Fs: memoryOf(t, files), Opens: denied}
	skill := must.Get(catalog(t, toolshelf.WithFs(fsys), toolshelf.WithMaxFileSize(1000)).GetSkill(t.Context(), "forms", toolshelf.Digests()))(t)
	var without, reported []string
	for _, f := range skill.Files {
		if f.SHA256 == "" {
			without = append(without, f.Path)
		}
	}
	for _, d := range skill.Diagnostics {
		reported = append(reported, string(d.Code)+" "+d.Path)
	}
	if diff := cmp.Diff([]string{"FILE_TOO_LARGE skills/forms/large.bin", "FILE_READ_ERROR skills/forms/scripts/fill.py"}, reported); diff != "" || !slices.Equal(without, []string{"large.bin", "scripts/fill.py"}) {
		t.Errorf("without: %q; diagnostics (-want +got):\n%s", without, diff)
	}
}

func TestASkillWithAnUnreadableDirectory(t *testing.T) {
	denied := map[string]error{"references": fs.ErrPermission}
	fsys := catalogtest.Faulty{Fs: memoryOf(t, forms()), Opens: denied}
	skill := must.Get(catalog(t, toolshelf.WithFs(fsys)).GetSkill(t.Context(), "forms"))(t)
	if len(skill.Files) != 6 || len(skill.Diagnostics) != 1 || skill.Diagnostics[0].Code != "FILE_READ_ERROR" || skill.Diagnostics[0].Path != "skills/forms/references" {
		t.Errorf("%v, %v", skill.Files, skill.Diagnostics)
	}
}

func TestGetSkillEndsWithItsContext(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, forms())))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, getErr := c.GetSkill(ctx, "forms", toolshelf.Digests())
	_, readErr := c.ReadSkillFile(ctx, "forms", "SKILL.md")
	must.Is(t, "getErr", context.Canceled, getErr)
	must.Is(t, "readErr", context.Canceled, readErr)
	must.Do(t, c.Close())
	_, getErr = c.GetSkill(t.Context(), "forms")
	_, readErr = c.ReadSkillFile(t.Context(), "forms", "SKILL.md")
	must.Is(t, "after Close", toolshelf.ErrClosed, getErr)
	must.Is(t, "after Close", toolshelf.ErrClosed, readErr)
}

// ReadSkillFile returns only files below the skill's directory, for every path.
func TestNoPathLeadsOutOfASkill(t *testing.T) {
	files := forms()
	root := diskOf(t, files)
	for name, target := range map[string]string{"up": "..", "top": root, "in": "references", "abs": filepath.Join(root, "skills", "forms", "scripts")} {
		hosttest.Symlink(t, target, filepath.Join(root, "skills", "forms", name))
	}
	c := catalog(t, toolshelf.WithRoot(root))
	inside := map[string]bool{}
	for p, content := range files {
		if strings.HasPrefix(p, "skills/forms/") {
			inside[content] = true
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		elements := rapid.SliceOfN(rapid.SampledFrom([]string{
			"..", ".", "", "up", "top", "in", "abs", "forms", "other", "skills", "SKILL.md", "secret.txt", "references", "A B.md", "deep", "b.md", "fill.py", "\x00",
		}), 1, 7).Draw(t, "elements")
		given := strings.Join(elements, "/")
		got, err := c.ReadSkillFile(t.Context(), "forms", given)
		if err == nil && !inside[string(got)] {
			t.Fatalf("%q is %q", given, got)
		}
		if err != nil && toolshelf.CodeOf(err) == "" {
			t.Fatalf("%q: an error without a code: %v", given, err)
		}
	})
}

// skillOf returns a skill and its catalog.
func skillOf(t *testing.T, name string, options ...toolshelf.Option) (toolshelf.Skill, *toolshelf.Catalog) {
	t.Helper()
	c := catalog(t, options...)
	return must.Get(c.GetSkill(t.Context(), name))(t), c
}

// walked returns the files that fs.WalkDir finds.
func walked(t *testing.T, fsys fs.FS) (files []string) {
	t.Helper()
	must.Do(t, fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, name)
		}
		return err
	}))
	return files
}

func TestSkillFSIsAnFSOfTheFilesOfTheSkill(t *testing.T) {
	files := forms()
	builtIn := fstest.MapFS{}
	for name, content := range files {
		if below, ok := strings.CutPrefix(name, "skills/"); ok {
			builtIn[below] = &fstest.MapFile{Data: []byte(content)}
		}
	}
	for name, options := range map[string][]toolshelf.Option{
		"memory": {toolshelf.WithFs(memoryOf(t, files))},
		"disk":   {toolshelf.WithRoot(diskOf(t, files))},
		"FS":     {toolshelf.WithRoot(t.TempDir()), toolshelf.WithSkillsFS("built in", builtIn)},
	} {
		t.Run(name, func(t *testing.T) {
			skill, _ := skillOf(t, "forms", options...)
			fsys := skill.FS()
			var paths []string
			for _, f := range skill.Files {
				paths = append(paths, f.Path)
				content, err := fs.ReadFile(fsys, f.Path)
				if want := files["skills/forms/"+f.Path]; err != nil || string(content) != want {
					t.Errorf("%s: %q, %v; want %q", f.Path, content, err, want)
				}
			}
			must.Do(t, fstest.TestFS(fsys, paths...))
			must.Match(t, "the length of walked", len(paths), len(walked(t, fsys)))
			must.Equal(t, "an unlisted file", "url", string(must.Get(fs.ReadFile(fsys, ".git/config"))(t)))
		})
	}
}

func TestSkillFSErrors(t *testing.T) {
	files := forms()
	files["skills/forms/large.bin"] = strings.Repeat("x", 2001)
	root := diskOf(t, files)
	skill, c := skillOf(t, "forms", toolshelf.WithRoot(root), toolshelf.WithMaxFileSize(2000))
	fsys := skill.FS()
	calls := map[string]func(fs.FS, string) error{
		"Open":     func(fsys fs.FS, name string) error { _, err := fsys.Open(name); return err },
		"ReadFile": func(fsys fs.FS, name string) error { _, err := fs.ReadFile(fsys, name); return err },
		"ReadDir":  func(fsys fs.FS, name string) error { _, err := fs.ReadDir(fsys, name); return err },
		"Stat":     func(fsys fs.FS, name string) error { _, err := fs.Stat(fsys, name); return err },
	}
	check := func(fsys fs.FS, call, name string, wants ...error) {
		t.Helper()
		err := calls[call](fsys, name)
		var at *fs.PathError
		if !errors.As(err, &at) || at.Path != name || strings.Contains(err.Error(), root) {
			t.Errorf("%s(%q): %v; want an *fs.PathError", call, name, err)
		}
		for _, want := range wants {
			must.Is(t, call, want, err)
		}
	}
	for call := range calls {
		for _, name := range []string{"", "/", "../other/SKILL.md", "references/..", "./SKILL.md", "references/", "/etc/passwd"} {
			check(fsys, call, name, fs.ErrInvalid)
		}
		check(fsys, call, "nothing", fs.ErrNotExist, toolshelf.ErrNotFound)
		check(fsys, call, "SKILL.md/x", toolshelf.ErrNotFound)
		check(toolshelf.Skill{SkillInfo: skill.SkillInfo}.FS(), call, "SKILL.md", fs.ErrInvalid)
	}
	check(fsys, "Open", "large.bin", toolshelf.ErrFileTooLarge)
	check(fsys, "ReadFile", "large.bin", toolshelf.ErrFileTooLarge)
	check(fsys, "ReadFile", "references", toolshelf.ErrFileRead)
	check(fsys, "ReadFile", ".", toolshelf.ErrFileRead)
	must.Equal(t, "Stat", 2001, must.Get(fs.Stat(fsys, "large.bin"))(t).Size())

	opened := must.Get(fsys.Open("scripts/fill.py"))(t)
	defer opened.Close()
	must.Do(t, os.RemoveAll(filepath.Join(root, "skills", "forms")))
	for call := range calls {
		check(fsys, call, "scripts/fill.py", fs.ErrNotExist, toolshelf.ErrSkillNotFound)
	}
	c.Close()
	for call := range calls {
		check(fsys, call, "scripts/fill.py", fs.ErrClosed, toolshelf.ErrClosed)
	}
	content := make([]byte, 20)
	must.Equal(t, "an open file after Close", "print()",
		string(content[:must.Get(opened.Read(content))(t)]))
}

// The links are those of TestLinksInASkillLeadNowhereElse.
func TestSkillFSFollowsLinksInTheDirectoryOnly(t *testing.T) {
	outside := diskOf(t, map[string]string{"secret.txt": "outside"})
	root := diskOf(t, forms())
	dir := filepath.Join(root, "skills", "forms")
	for name, target := range map[string]string{
		"inside.md": "references/A B.md", "inside-folder": "references", "references/home": "..", "references/up.md": "../SKILL.md", "to-secret.txt": "../../secret.txt",
		"to-missing.txt": "../../missing.txt", "to-outside": outside, "dangling": "nothing", "circle": "circle",
	} {
		hosttest.Symlink(t, target, filepath.Join(dir, name))
	}
	skill, _ := skillOf(t, "forms", toolshelf.WithRoot(root))
	fsys := skill.FS()
	var listed []string
	for _, f := range skill.Files {
		listed = append(listed, f.Path)
	}
	must.Do(t, fstest.TestFS(fsys, listed...))
	inOrder := cmp.Transformer("set", func(all []string) map[string]bool {
		set := map[string]bool{}
		for _, name := range all {
			set[name] = true
		}
		return set
	})
	must.Match(t, "WalkDir and Files", listed, walked(t, fsys), inOrder)
	for name, want := range map[string]any{
		"inside.md": "# A", "references/up.md": forms()["skills/forms/SKILL.md"], "inside-folder/A B.md": "# A", "references/home/references/A B.md": "# A",
		"to-secret.txt": toolshelf.ErrOutsideRoot, "to-missing.txt": toolshelf.ErrOutsideRoot, "to-outside/secret.txt": toolshelf.ErrOutsideRoot,
		"dangling": fs.ErrNotExist, "circle": toolshelf.ErrFileRead, "to-outside": toolshelf.ErrOutsideRoot,
	} {
		content, err := fs.ReadFile(fsys, name)
		if text, ok := want.(string); ok {
			must.Do(t, err)
			must.Equal(t, name, text, string(content))
			continue
		}
		_, dirErr := fs.ReadDir(fsys, name)
		_, statErr := fs.Stat(fsys, name)
		if !errors.Is(err, want.(error)) || !errors.Is(dirErr, want.(error)) || !errors.Is(statErr, want.(error)) {
			t.Errorf("%s: %v, %v, %v; want %v", name, err, dirErr, statErr, want)
		}
	}
	for _, name := range []string{"inside-folder", "references/home/references"} {
		entries, err := fs.ReadDir(fsys, name)
		if err != nil || len(entries) != 3 { // A B.md, deep and up.md
			t.Errorf("%s: %v, %v", name, entries, err)
		}
	}
	denied, _ := skillOf(t, "forms", toolshelf.WithRoot(root), toolshelf.WithSymlinks(toolshelf.SymlinksDeny))
	must.Fail(fs.ReadFile(denied.FS(), "inside.md"))(t, "with SymlinksDeny", toolshelf.ErrOutsideRoot)
}

func TestSkillFSRespectsTheFilter(t *testing.T) {
	fsys := memoryOf(t, map[string]string{"skills/a/SKILL.md": "---\ndescription: shown\n---\n", "skills/a/x.txt": "x"})
	skill, _ := skillOf(t, "a", toolshelf.WithFs(fsys), toolshelf.WithSkillFilter(func(s toolshelf.SkillInfo) bool { return s.Description == "shown" }))
	must.Get(fs.ReadFile(skill.FS(), "x.txt"))(t)
	must.Do(t, afero.WriteFile(fsys, "skills/a/SKILL.md", []byte("---\ndescription: a secret\n---\n"), 0o644))
	for _, name := range []string{".", "x.txt", "nothing"} {
		if _, err := skill.FS().Open(name); !errors.Is(err, toolshelf.ErrSkillNotFound) || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v; want ErrSkillNotFound", name, err)
		}
	}
}

func TestSkillsOfTwoCatalogsAreEqual(t *testing.T) {
	root := diskOf(t, forms())
	a, _ := skillOf(t, "forms", toolshelf.WithRoot(root))
	b, _ := skillOf(t, "forms", toolshelf.WithRoot(root))
	must.Match(t, "(-a +b)", a, b)
	must.Equal(t, "Path", a.Path, filepath.Join(root, "skills", "forms", "SKILL.md"))
}

func TestTheSpellingOfASkillFileOnThisSystem(t *testing.T) {
	files := map[string]string{"skills/a/Skill.md": "---\nname: a\ndescription: d\n---\nRead.\n"}
	if hosttest.HasNames(t, "Skill.md", "ſkill.md") {
		files["skills/a/ſkill.md"] = "Other.\n"
	}
	c := catalog(t, toolshelf.WithRoot(diskOf(t, files)))
	skill, err := c.GetSkill(t.Context(), "a")
	if hosttest.HasNames(t, "Skill.md", "SKILL.md") {
		must.Is(t, "Skill.md counts as SKILL.md", toolshelf.ErrSkillNotFound, err)
		return
	}
	list, listErr := c.ListSkills(t.Context())
	if err != nil || listErr != nil || len(list) != 1 {
		t.Fatal(err, listErr, list)
	}
	if skill.Content != "Read.\n" || filepath.Base(skill.Path) != "Skill.md" || filepath.Base(list[0].Path) != "Skill.md" || skill.Files[0].Path != "Skill.md" {
		t.Errorf("content %q, paths %s and %s, files %v", skill.Content, skill.Path, list[0].Path, skill.Files)
	}
}

func TestSkillFileOnAFilesystemThatIgnoresLetterCase(t *testing.T) {
	const text = "---\nname: pdf\ndescription: Reads PDF files.\n---\nRead.\n"
	digest := sha256.Sum256([]byte(text))
	for _, name := range []string{"SKILL.md", "skill.md", "Skill.md"} {
		for _, place := range []string{"memory", "disk", "link"} {
			t.Run(place+"/"+name, func(t *testing.T) {
				files := map[string]string{"skills/pdf/" + name: text, "skills/pdf/z.txt": "a"}
				var options []toolshelf.Option
				switch place {
				case "memory":
					options = append(options, toolshelf.WithFs(catalogtest.Folding{Fs: memoryOf(t, files)}))
				case "link":
					if runtime.GOOS == "windows" {
						t.Skip("Windows makes a symbolic link only with a privilege")
					}
					delete(files, "skills/pdf/"+name)
					files["shared/pdf.md"] = text
					fallthrough
				default:
					root := diskOf(t, files)
					if place == "link" {
						hosttest.Symlink(t, "../../shared/pdf.md", filepath.Join(root, "skills", "pdf", name))
					}
					options = append(options, toolshelf.WithFs(catalogtest.Folding{Fs: afero.NewOsFs(), Top: root}), toolshelf.WithRoot(root))
				}
				c := catalog(t, options...)
				for _, o := range [][]toolshelf.SkillOption{nil, {toolshelf.Digests()}, nil} {
					skill := must.Get(c.GetSkill(t.Context(), "pdf", o...))(t)
					own := toolshelf.SkillFile{Path: name, Size: int64(len(text))}
					other := toolshelf.SkillFile{Path: "z.txt", Size: 1}
					if o != nil {
						sum := sha256.Sum256([]byte("a"))
						own.SHA256, other.SHA256 = hex.EncodeToString(digest[:]), hex.EncodeToString(sum[:])
					}
					want := []toolshelf.SkillFile{own, other}
					must.Match(t, "files", want, skill.Files)
					if skill.Content != "Read.\n" || filepath.Base(skill.Path) != name || len(skill.Diagnostics) > 0 {
						t.Errorf("content %q, path %q, diagnostics %v", skill.Content, skill.Path, skill.Diagnostics)
					}
					if prompt := skill.Prompt(); strings.Contains(prompt, "<file>"+name) || !strings.Contains(prompt, "<file>z.txt") {
						t.Errorf("the prompt lists SKILL.md itself, or not the other file:\n%s", prompt)
					}
				}
				for _, spelling := range []string{name, "SKILL.md", "skill.md"} {
					if got, err := c.ReadSkillFile(t.Context(), "pdf", spelling); string(got) != text {
						t.Errorf("ReadSkillFile(%s) = %q, %v", spelling, got, err)
					}
				}
				skills, err := c.ListSkills(t.Context())
				if err != nil || len(skills) != 1 || skills[0].Description != "Reads PDF files." || filepath.Base(skills[0].Path) != name {
					t.Errorf("ListSkills = %+v, %v", skills, err)
				}
				if skills := collected(t, c.Skills(t.Context())); len(skills) != 1 || filepath.Base(skills[0].Path) != name || skills[0].Content != "Read.\n" {
					t.Errorf("Skills = %+v", skills)
				}
				prompt, err := c.SkillsPrompt(t.Context(), toolshelf.PromptLocations())
				if err != nil || !strings.Contains(prompt.Text, "/"+name+"</location>") {
					t.Errorf("SkillsPrompt = %+v, %v", prompt, err)
				}
			})
		}
	}
}

func TestCloseEndsADigest(t *testing.T) {
	memory := memoryOf(t, map[string]string{"skills/zed/SKILL.md": skillFile("zed"), "skills/zed/big.bin": string(make([]byte, 1<<20))})
	read := make(chan struct{})
	fsys := hook{Fs: memory, file: func(f afero.File) afero.File {
		if path.Base(filepath.ToSlash(f.Name())) != "big.bin" {
			return f
		}
		return reading{f, func(p []byte) (int, error) { // without an end
			read <- struct{}{}
			return min(len(p), 1), nil
		}, f.ReadAt}
	}}
	c := catalog(t, toolshelf.WithFs(fsys))
	got := make(chan error)
	go func() {
		_, err := c.GetSkill(t.Context(), "zed", toolshelf.Digests())
		got <- err
	}()
	<-read
	closed := make(chan struct{})
	go func() {
		c.Close()
		close(closed)
	}()
	for _, err := c.List(t.Context(), toolshelf.Page{}); !errors.Is(err, toolshelf.ErrClosed); _, err = c.List(t.Context(), toolshelf.Page{}) {
		runtime.Gosched()
	}
	reads := 0
	for done := 0; done < 2; {
		select {
		case <-read:
			if reads++; reads == 2 { // a read may have begun before Close
				t.Error("it is read on after Close")
			}
		case err := <-got:
			must.Is(t, "err", toolshelf.ErrClosed, err)
			done++
		case <-closed:
			closed = nil
			done++
		}
	}
}
