package toolshelf_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/bridge"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestListSkills(t *testing.T) {
	want := []toolshelf.SkillInfo{
		{Name: "list-style", DeclaredName: "list-style", Description: "Tools as a list", AllowedTools: []string{"Read", "Bash(ls:*)"}},
		{Name: "lower-case", DeclaredName: "other-name", Description: "Spelt in lower case"},
		{Name: "no-file"},
		{Name: "pdf-tools", DeclaredName: "pdf-tools", Description: "Read and fill PDF forms.\nUse when a form is mentioned.",
			License: "Apache-2.0", Compatibility: "needs python3", Metadata: map[string]string{"author": "tests", "version": "1.0"},
			AllowedTools: []string{"Bash(git add:*)", "Read", "Write"}},
	}
	for i := range want {
		want[i].UserInvocable, want[i].Loadable = true, want[i].Name != "no-file"
	}
	files := map[string]string{
		"list-style": "skills/list-style/SKILL.md", "lower-case": "skills/lower-case/skill.md", "pdf-tools": "skills/pdf-tools/SKILL.md",
	}
	onEveryFilesystem(t, func(t *testing.T, open func(...toolshelf.Option) *toolshelf.Catalog) {
		got := must.Get(open().ListSkills(t.Context()))(t)
		must.Match(t, "skills", want, got, cmpopts.IgnoreFields(toolshelf.SkillInfo{}, "Path", "Layer", "Diagnostics", "Frontmatter"))
		for _, s := range got {
			file := files[s.Name]
			if path := filepath.ToSlash(s.Path); (file == "") != (path == "") ||
				!strings.HasSuffix(path, file) && !strings.HasSuffix(path, strings.TrimPrefix(file, "skills/")) {
				t.Errorf("%s is at %q, want %q", s.Name, s.Path, file)
			}
			must.Equal(t, s.Name, s.Name == "no-file", len(s.Diagnostics) > 0)
		}
	})
}

func TestListSkillsErrors(t *testing.T) {
	for _, tt := range []struct {
		name    string
		options []toolshelf.Option
		want    error
		message string // the contract's
	}{
		{"a missing directory", []toolshelf.Option{toolshelf.WithFs(afero.NewMemMapFs()), toolshelf.WithSkillsDir("/path/to/skills")},
			toolshelf.ErrDirectoryNotFound, "Skills folder not found at path: /path/to/skills"},
		{"an unreadable directory", []toolshelf.Option{toolshelf.WithFs(catalogtest.Faulty{Fs: memory(t, "."), Opens: map[string]error{"skills": fs.ErrPermission}})},
			toolshelf.ErrPermissionDenied, "Permission denied reading skills folder"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := catalog(t, tt.options...).ListSkills(t.Context())
			var e *toolshelf.Error
			if !errors.Is(err, tt.want) || !errors.As(err, &e) || e.Message != tt.message {
				t.Errorf("got %v, want %v with %q", err, tt.want, tt.message)
			}
		})
	}
	t.Run("an empty directory is an empty list", func(t *testing.T) {
		fsys := afero.NewMemMapFs()
		must.Do(t, fsys.Mkdir("skills", 0o755))
		got, err := catalog(t, toolshelf.WithFs(fsys)).ListSkills(t.Context())
		if err != nil || got == nil || len(got) != 0 {
			t.Errorf("got %#v, %v", got, err)
		}
	})
}

func TestSkillNamesAreSafePathElements(t *testing.T) {
	files := fstest.MapFS{}
	for _, name := range []string{"good", "also good", "a..b", `back\slash`, "new\nline", "esc\x1b[31m", ".hidden"} {
		files[name+"/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: x\ndescription: x\n---\n")}
	}
	c := catalog(t, toolshelf.WithSkillsFS("built in", files))
	got := must.Get(c.ListSkills(t.Context()))(t)
	var names []string
	for _, s := range got {
		names = append(names, s.Name)
	}
	must.Match(t, "names", []string{"also good", "good"}, names)
	want := []string{`built in/a..b`, `built in/back\\slash`, `built in/esc\x1b[31m`, `built in/new\nline`}
	if filepath.Separator == '\\' {
		want = slices.Delete(want, 1, 2) // no path of package confine has the name
	}
	var reported []string
	for _, p := range problems(t, c) {
		if name, ok := strings.CutPrefix(p, "INVALID_SKILL_NAME "); ok {
			reported = append(reported, name)
		}
	}
	must.Match(t, "reported names", want, reported)
}

func TestSkillsThroughLinks(t *testing.T) {
	outside := diskOf(t, map[string]string{"secret/SKILL.md": "---\nname: secret\ndescription: outside\n---\n"})
	root := diskOf(t, map[string]string{
		"shared/inside/SKILL.md":  "---\nname: inside\ndescription: inside\n---\n",
		"skills/direct/SKILL.md":  "---\nname: direct\ndescription: direct\n---\n",
		"skills/linked/notes.txt": "",
	})
	link := func(target, name string) {
		t.Helper()
		hosttest.Symlink(t, target, filepath.Join(root, "skills", name))
	}
	link("../shared/inside", "inside")
	link(filepath.Join(root, "shared", "inside"), "absolute")
	link(filepath.Join(outside, "secret"), "outside")
	link("nothing", "dangling")
	link("circle", "circle")
	link("../../shared/inside/SKILL.md", "linked/SKILL.md")

	for _, tt := range []struct {
		name   string
		option toolshelf.Option
		want   map[string]string // description by name
		refuse []string
	}{
		{"inside", toolshelf.WithSymlinks(toolshelf.SymlinksInside),
			map[string]string{"direct": "direct", "inside": "inside", "absolute": "inside", "linked": "inside"}, []string{"outside", "dangling", "circle"}},
		{"none", toolshelf.WithSymlinks(toolshelf.SymlinksDeny),
			map[string]string{"direct": "direct", "linked": ""}, []string{"inside", "absolute", "outside", "dangling", "circle", "linked/SKILL.md"}},
		{"trusted", toolshelf.WithSymlinks(toolshelf.SymlinksTrusted, outside),
			map[string]string{"direct": "direct", "inside": "inside", "absolute": "inside", "outside": "outside", "linked": "inside"}, []string{"dangling", "circle"}},
		{"all", toolshelf.WithSymlinks(toolshelf.SymlinksAll),
			map[string]string{"direct": "direct", "inside": "inside", "absolute": "inside", "outside": "outside", "linked": "inside"}, []string{"dangling", "circle"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := catalog(t, toolshelf.WithRoot(root), tt.option)
			list := must.Get(c.ListSkills(t.Context()))(t)
			got := map[string]string{}
			for _, s := range list {
				got[s.Name] = s.Description
			}
			must.Match(t, "skills", tt.want, got)
			reported := strings.Join(problems(t, c), "\n") + "\n"
			for _, name := range tt.refuse {
				must.Contain(t, name, reported, "LINK_NOT_FOLLOWED skills/"+name+"\n")
			}
		})
	}
}

// A counting filesystem counts its calls, opened files and read bytes.
type counting struct {
	afero.Fs
	calls atomic.Int64
	files atomic.Int64 // opened regular files
	read  atomic.Int64 // bytes read from regular files
	lists atomic.Int64 // lists of directories
}

func (c *counting) Open(name string) (afero.File, error) { return c.OpenFile(name, os.O_RDONLY, 0) }

func (c *counting) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	c.calls.Add(1)
	f, err := c.Fs.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		c.files.Add(1)
	}
	return countingFile{f, c}, nil
}

func (c *counting) Stat(name string) (os.FileInfo, error) {
	c.calls.Add(1)
	return c.Fs.Stat(name)
}

type countingFile struct {
	afero.File
	fs *counting
}

func (f countingFile) Readdir(n int) ([]os.FileInfo, error) {
	f.fs.lists.Add(1)
	return f.File.Readdir(n)
}

func (f countingFile) Readdirnames(n int) ([]string, error) {
	f.fs.lists.Add(1)
	return f.File.Readdirnames(n)
}

func (f countingFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.fs.read.Add(int64(n))
	return n, err
}

// skillsOf returns the layer of each skill of a catalog, by name.
func skillsOf(t testing.TB, c *toolshelf.Catalog) map[string]string {
	t.Helper()
	list := must.Get(c.ListSkills(t.Context()))(t)
	found := map[string]string{}
	for _, s := range list {
		found[s.Name] = s.Layer
	}
	return found
}

func skillFile(name string) string { return "---\nname: " + name + "\ndescription: d\n---\n" }

func TestASkillNamesTheSkillsThatItShadows(t *testing.T) {
	files := map[string]string{
		"mine/pdf/SKILL.md": skillFile("pdf"), "theirs/pdf/SKILL.md": skillFile("pdf"), "theirs/csv/SKILL.md": skillFile("csv"),
	}
	builtIn := fstest.MapFS{"pdf/skill.md": {Data: []byte(skillFile("pdf"))}}
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithSkillsDir("mine", "theirs"), toolshelf.WithSkillsFS("built in", builtIn))
	list := must.Get(c.ListSkills(t.Context()))(t)
	want := []toolshelf.SkillInfo{{Name: "csv", Layer: "theirs"}, {Name: "pdf", Layer: "mine", Shadows: []string{"theirs/pdf/SKILL.md", "built in/pdf/skill.md"}}}
	compare := cmp.FilterPath(func(p cmp.Path) bool {
		switch p.Last().String() {
		case ".Name", ".Layer", ".Shadows":
			return false
		}
		return len(p) == 3
	}, cmp.Ignore())
	must.Match(t, "skills", want, list, compare)
	must.Match(t, "GetSkill", want[1].Shadows, must.Get(c.GetSkill(t.Context(), "pdf"))(t).Shadows)
}

func TestALayerMayBeASkillItself(t *testing.T) {
	named := map[string]string{"packs/pdf/SKILL.md": skillFile("declared"), "packs/pdf/scripts/run.sh": "", "packs/pdf/a.txt": "a"}
	top := fstest.MapFS{"SKILL.md": {Data: []byte(skillFile("declared"))}, "a.txt": {Data: []byte("a")}, "scripts/run.sh": {}}
	unusable := fstest.MapFS{"skill.md": {Data: []byte(skillFile("../up"))}, "a.txt": {Data: []byte("a")}, "scripts/run.sh": {}}
	for _, tt := range []struct {
		name    string
		options []toolshelf.Option
		want    string
	}{
		{"has the name of its directory", []toolshelf.Option{toolshelf.WithFs(memoryOf(t, named)), toolshelf.WithSkillsDir("packs/pdf")}, "pdf"},
		{"also on disk", []toolshelf.Option{toolshelf.WithRoot(diskOf(t, named)), toolshelf.WithSkillsDir("packs/pdf")}, "pdf"},
		{"also as the root", []toolshelf.Option{toolshelf.WithFs(memoryOf(t, named)), toolshelf.WithRoot("packs/pdf"), toolshelf.WithSkillsDir(".")}, "pdf"},
		{"also with a search further down", []toolshelf.Option{toolshelf.WithFs(memoryOf(t, named)), toolshelf.WithSkillsDir("packs/pdf"), toolshelf.WithSkillDepth(3)}, "pdf"},
		{"else by the name it declares", []toolshelf.Option{toolshelf.WithSkillsDir(), toolshelf.WithSkillsFS("built in", top)}, "declared"},
		{"else by the layer's", []toolshelf.Option{toolshelf.WithSkillsDir(), toolshelf.WithSkillsFS("built in", unusable)}, "built in"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := catalog(t, tt.options...)
			for range 2 {
				found := skillsOf(t, c)
				if _, ok := found[tt.want]; !ok || len(found) != 1 {
					t.Fatalf("got %v, want %s", found, tt.want)
				}
				must.Len(t, "skill.Files", 3, must.Get(c.GetSkill(t.Context(), tt.want))(t).Files)
				must.Equal(t, "a.txt", "a", string(must.Get(c.ReadSkillFile(t.Context(), tt.want, "a.txt"))(t)))
				must.Fail(c.ReadSkillFile(t.Context(), tt.want, "../pdf/a.txt"))(t, "a path out of the skill", toolshelf.ErrOutsideRoot)
			}
		})
	}
}

// A public collection often has a SKILL.md beside the directories of its skills. The
// file explains to a model how to choose a skill.
func TestALayersOwnSkillFileShadowsNoSkill(t *testing.T) {
	files := map[string]string{
		"skills/SKILL.md":          skillFile("router"),
		"skills/2d-games/SKILL.md": skillFile("2d-games"),
		"skills/3d-games/skill.md": skillFile("3d-games"),
		"skills/notes/a.txt":       "",
	}
	for name, options := range map[string][]toolshelf.Option{
		"memory": {toolshelf.WithFs(memoryOf(t, files))}, "disk": {toolshelf.WithRoot(diskOf(t, files))},
	} {
		for depth := 1; depth <= 2; depth++ {
			t.Run(fmt.Sprint(name, " ", depth), func(t *testing.T) {
				c := catalog(t, append(options, toolshelf.WithSkillDepth(depth))...)
				want := []string{"2d-games", "3d-games", "notes"}
				for range 2 {
					must.Match(t, "skills", want, slices.Sorted(maps.Keys(skillsOf(t, c))))
				}
				must.Get(c.GetSkill(t.Context(), "2d-games"))(t)
				must.Fail(c.GetSkill(t.Context(), "skills"))(t, "the layer itself", toolshelf.ErrSkillNotFound)
				must.Has(t, "problems", problems(t, c), "SKILL_FILE_UNUSED skills/SKILL.md")
			})
		}
	}
}

func TestALayerBecomesASkillAndDirectoriesAgain(t *testing.T) {
	root := diskOf(t, map[string]string{"skills/SKILL.md": skillFile("skills"), "skills/pdf/notes.txt": ""})
	c := catalog(t, toolshelf.WithRoot(root))
	expect := func(is, isNot string) {
		t.Helper()
		must.Get(c.GetSkill(t.Context(), is))(t)
		must.Fail(c.GetSkill(t.Context(), isNot))(t, isNot, toolshelf.ErrSkillNotFound)
		if found := skillsOf(t, c); len(found) != 1 || found[is] == "" {
			t.Errorf("got %v, want %s", found, is)
		}
	}
	expect("skills", "pdf")
	below := filepath.Join(root, "skills", "pdf", "SKILL.md")
	must.Do(t, os.WriteFile(below, []byte(skillFile("pdf")), 0o644))
	expect("pdf", "skills")
	must.Do(t, os.Remove(below))
	expect("skills", "pdf")
}

func TestSkillsInDeeperDirectories(t *testing.T) {
	files := map[string]string{
		"skills/flat/SKILL.md":                skillFile("flat"),
		"skills/flat/part/SKILL.md":           skillFile("part"), // flat is a router
		"skills/flat/part/more/SKILL.md":      skillFile("more"),
		"skills/flat/assets/new/SKILL.md":     skillFile("new"), // belongs to flat
		"skills/a/deep/flat/SKILL.md":         skillFile("flat"),
		"skills/web/scraper/SKILL.md":         skillFile("scraper"),
		"skills/web/a/b/c/d/six/SKILL.md":     skillFile("six"),
		"skills/web/a/b/c/d/e/seven/SKILL.md": skillFile("seven"),
		"skills/zoo/scraper/SKILL.md":         skillFile("scraper"),
		"skills/zoo/.hidden/in/SKILL.md":      skillFile("in"),
		"skills/zoo/node_modules/m/SKILL.md":  skillFile("m"),
		"skills/nothing/here/notes.txt":       "",
	}
	for name, options := range map[string][]toolshelf.Option{
		"memory": {toolshelf.WithFs(memoryOf(t, files))}, "disk": {toolshelf.WithRoot(diskOf(t, files))},
	} {
		for depth, want := range map[int][]string{
			1: {"a", "flat", "nothing", "web", "zoo"},
			2: {"a", "flat", "nothing", "part", "scraper"},
			6: {"flat", "more", "nothing", "part", "scraper", "six"},
		} {
			t.Run(fmt.Sprint(name, " ", depth), func(t *testing.T) {
				c := catalog(t, append(options, toolshelf.WithSkillDepth(depth))...)
				for range 2 {
					found := skillsOf(t, c)
					must.Match(t, "skills", want, slices.Sorted(maps.Keys(found)))
				}
				if depth == 1 {
					return
				}
				if flat, err := c.GetSkill(t.Context(), "flat"); err != nil || !strings.HasSuffix(filepath.ToSlash(flat.Path), "skills/flat/SKILL.md") || len(flat.Files) != 4 {
					t.Errorf("flat is %s with %v, %v; want the subdirectory of the layer", flat.Path, flat.Files, err)
				}
				skill, err := c.GetSkill(t.Context(), "scraper")
				if err != nil || !strings.HasSuffix(filepath.ToSlash(skill.Path), "skills/web/scraper/SKILL.md") || !slices.Equal(skill.Shadows, []string{"skills/zoo/scraper/SKILL.md"}) {
					t.Errorf("scraper is %s and shadows %q, %v", skill.Path, skill.Shadows, err)
				}
				must.Has(t, "problems", problems(t, c), "SHADOWED skills/zoo/scraper/SKILL.md")
			})
		}
	}
	for _, depth := range []int{-1, 0, 7} {
		must.Fail(toolshelf.New(toolshelf.WithSkillDepth(depth)))(t, depth, toolshelf.ErrInvalidOption)
	}
}

func TestTheSearchForSkillsIsBounded(t *testing.T) {
	files := map[string]string{}
	for i := range 2100 {
		files[fmt.Sprintf("skills/first/%04d/notes.txt", i)] = ""
	}
	files["skills/first/1990/deeper/SKILL.md"] = skillFile("deeper")
	files["skills/first/1998x/SKILL.md"] = skillFile("1998x")
	files["skills/first/2050x/SKILL.md"] = skillFile("2050x")
	files["skills/second/late/SKILL.md"] = skillFile("late")
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithSkillDepth(6))
	must.Match(t, "skills", []string{"1998x", "second"}, slices.Sorted(maps.Keys(skillsOf(t, c))))
	must.Has(t, "problems", problems(t, c), "TOO_MANY_FOLDERS skills/first")
}

func TestTheSearchWithinASkillIsBounded(t *testing.T) {
	files := map[string]string{"skills/big/SKILL.md": skillFile("big"), "skills/big/zed/SKILL.md": skillFile("zed")}
	for i := range 100 {
		files[fmt.Sprintf("skills/big/%03d/a.txt", i)] = ""
		files[fmt.Sprintf("skills/small-%d/SKILL.md", i)] = skillFile("small")
		files[fmt.Sprintf("skills/small-%d/scripts/a.sh", i)] = ""
	}
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithSkillDepth(2))
	if found := skillsOf(t, c); len(found) != 101 || found["zed"] != "" {
		t.Errorf("%d skills, zed is %q", len(found), found["zed"])
	}
	want := []string{"TOO_MANY_FOLDERS skills/big"}
	all := slices.DeleteFunc(problems(t, c), func(p string) bool { return !strings.HasPrefix(p, "TOO_MANY_FOLDERS") })
	must.Match(t, "problems", want, all)
}

func TestACycleOfDirectoriesEnds(t *testing.T) {
	root := diskOf(t, map[string]string{"skills/web/scraper/SKILL.md": skillFile("scraper")})
	hosttest.Symlink(t, "..", filepath.Join(root, "skills", "web", "up"))
	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithSkillDepth(6))
	if found := skillsOf(t, c); len(found) != 1 || found["scraper"] == "" {
		t.Errorf("got %v", found)
	}
	if all := problems(t, c); !slices.ContainsFunc(all, func(p string) bool { return strings.HasPrefix(p, "LINK_NOT_FOLLOWED skills/web/up") }) {
		t.Errorf("problems: %q", all)
	}
}

func TestALinkBackShadowsNoSkill(t *testing.T) {
	for target, link := range map[string]string{".": "loop", "../..": "group/loop"} {
		root := diskOf(t, map[string]string{"skills/zed/SKILL.md": skillFile("zed"), "skills/group/a/SKILL.md": skillFile("a"), "src/x/SKILL.md": skillFile("x")})
		hosttest.Symlink(t, target, filepath.Join(root, "skills", filepath.FromSlash(link)))
		c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithSkillDepth(4))
		list := must.Get(c.ListSkills(t.Context()))(t)
		var got []string
		for _, s := range list {
			if s.Name != "loop" { // loop is a directory without a SKILL.md
				got = append(got, filepath.ToSlash(s.Path))
			}
		}
		want := []string{filepath.ToSlash(root) + "/skills/group/a/SKILL.md", filepath.ToSlash(root) + "/skills/zed/SKILL.md"}
		must.Match(t, link, want, got)
	}
}

func TestADeeperSkillThatTakesPrecedenceIsFoundAtOnce(t *testing.T) {
	root := diskOf(t, map[string]string{"skills/b/zed/SKILL.md": skillFile("zed")})
	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithSkillDepth(2))
	must.Get(c.GetSkill(t.Context(), "zed"))(t)
	first := filepath.Join(root, "skills", "a", "zed", "SKILL.md")
	must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(first), 0o755), os.WriteFile(first, []byte(skillFile("zed")), 0o644)))
	must.Equal(t, "skill.Path", first, must.Get(c.GetSkill(t.Context(), "zed"))(t).Path)
}

func TestNoSkillIsADependency(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"skills/zed/SKILL.md": "---\nname: zed\ndescription: d\nis_dependency: true\n---\n"})))
	if found := skillsOf(t, c); found["zed"] == "" {
		t.Errorf("got %v", found)
	}
}

func TestAnUnreadableHomeDirectoryDoesNotAffectTheProject(t *testing.T) {
	for what, file := range map[string]string{"the home directory is a file": "home", "the directory is a file": "home/.claude/skills"} {
		t.Run(what, func(t *testing.T) {
			root := diskOf(t, map[string]string{".claude/commands/a.md": "a", ".claude/skills/b/SKILL.md": skillFile("b")})
			top := diskOf(t, map[string]string{file: ""})
			home := filepath.Join(top, "home")
			if _, err := os.Stat(filepath.Join(home, ".claude", "skills")); errors.Is(err, fs.ErrNotExist) {
				t.Skip("a path below a file does not exist")
			}
			t.Setenv("HOME", home)
			t.Setenv("USERPROFILE", home)
			c := catalog(t, toolshelf.WithRoot(root), claudeAndAgentSkills)
			for range 2 {
				if got, found := names(t, c), skillsOf(t, c); !slices.Equal(got, []string{"a"}) || found["b"] == "" {
					t.Errorf("got %q, %v", got, found)
				}
			}
			must.Has(t, "problems", problems(t, c), "FOLDER_UNREADABLE ~/.claude/skills")
			must.Do(t, os.Remove(filepath.Join(top, filepath.FromSlash(file))))
			if all := problems(t, c); slices.Contains(all, "FOLDER_UNREADABLE ~/.claude/skills") {
				t.Errorf("reported although the directory no longer exists: %q", all)
			}
		})
	}
}

func TestTheHomeDirectoryMayBeALinkToTheRoot(t *testing.T) {
	root := diskOf(t, map[string]string{".claude/skills/b/SKILL.md": skillFile("b")})
	home := filepath.Join(t.TempDir(), "home")
	hosttest.Symlink(t, root, home)
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	c := catalog(t, toolshelf.WithRoot(root), claudeAndAgentSkills)
	if skill, err := c.GetSkill(t.Context(), "b"); err != nil || skill.Shadows != nil {
		t.Errorf("b shadows %q, %v", skill.Shadows, err)
	}
}

// claudeAndAgentSkills adds the places of Claude Code, and the places of skills that the client
// guide of Agent Skills recommends.
var claudeAndAgentSkills = toolshelf.WithClient(client.Claude(), client.Client{Skills: []client.Place{
	{Dir: ".agents/skills", Pattern: "*/SKILL.md"},
	{Base: client.Home, Dir: ".agents/skills", Pattern: "*/SKILL.md"},
}})

func TestDirectoriesOfAClient(t *testing.T) {
	home := diskOf(t, map[string]string{
		".claude/commands/both.md": "home", ".claude/commands/home.md": "home",
		".claude/skills/both/SKILL.md": skillFile("both"), ".claude/skills/home/SKILL.md": skillFile("home"), ".agents/skills/shared/SKILL.md": skillFile("shared"),
	})
	project := map[string]string{
		".claude/commands/both.md": "project", ".claude/skills/both/SKILL.md": skillFile("both"),
		".agents/skills/both/SKILL.md": skillFile("both"), ".agents/skills/home/SKILL.md": skillFile("home"),
	}
	root := diskOf(t, project)
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	hosttest.Symlink(t, filepath.Join(home, ".claude"), filepath.Join(home, ".agents", "skills", "out"))

	t.Run("directories of the project precede directories of the home directory", func(t *testing.T) {
		c := catalog(t, toolshelf.WithRoot(root), claudeAndAgentSkills)
		want := map[string]string{"both": ".claude/skills", "home": ".agents/skills", "shared": "~/.agents/skills"}
		must.Match(t, "skills", want, skillsOf(t, c))
		must.Match(t, "commands", []string{"both", "home"}, names(t, c))
		both := must.Get(c.Get(t.Context(), "both"))(t)
		must.Equal(t, "both.Content", "project", both.Content)
		must.Equal(t, "both.Layer", ".claude/commands", both.Layer)
		skill, err := c.GetSkill(t.Context(), "both")
		if err != nil || !slices.Equal(skill.Shadows, []string{".agents/skills/both/SKILL.md", "~/.claude/skills/both/SKILL.md"}) {
			t.Errorf("both shadows %q, %v", skill.Shadows, err)
		}
		for _, p := range problems(t, c) {
			must.NotContain(t, "path", p, home, root)
		}
		must.Has(t, "problems", problems(t, c), "LINK_NOT_FOLLOWED ~/.agents/skills/out")
	})
	t.Run("the order of the options is the order of the layers", func(t *testing.T) {
		c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithSkillsDir(".agents/skills"), claudeAndAgentSkills, toolshelf.WithClient(client.Goose()))
		must.Equal(t, "found", ".agents/skills", skillsOf(t, c)["both"])
		for _, p := range problems(t, c) {
			if strings.HasPrefix(p, "SHADOWED .agents/skills") {
				t.Errorf("a directory is a layer twice: %s", p)
			}
		}
	})
	t.Run("the home directory is omitted if it is the root", func(t *testing.T) {
		c := catalog(t, toolshelf.WithRoot(home), claudeAndAgentSkills)
		must.Match(t, "skills", map[string]string{"both": ".claude/skills", "home": ".claude/skills", "shared": ".agents/skills", "out": ".agents/skills"}, skillsOf(t, c))
	})
	t.Run("the home directory is omitted on another filesystem", func(t *testing.T) {
		c := catalog(t, toolshelf.WithFs(memoryOf(t, project)), claudeAndAgentSkills)
		must.Match(t, "skills", map[string]string{"both": ".claude/skills", "home": ".agents/skills"}, skillsOf(t, c))
	})
	t.Run("a missing directory beside a missing named directory is an error", func(t *testing.T) {
		_, err := catalog(t, toolshelf.WithFs(afero.NewMemMapFs()), claudeAndAgentSkills, toolshelf.WithSkillsDir("mine")).ListSkills(t.Context())
		must.Is(t, "ListSkills", toolshelf.ErrDirectoryNotFound, err, "mine")
	})
}

func TestWhoMayChooseASkill(t *testing.T) {
	for header, want := range map[string][2]bool{ // DisableModelInvocation, UserInvocable
		"":                                {false, true},
		"disable-model-invocation: true":  {true, true},
		"disable-model-invocation: yes":   {true, true},
		"disable-model-invocation: false": {false, true},
		"user-invocable: false":           {false, false},
		"user-invocable: 'no'":            {false, false},
		"user-invocable: perhaps":         {false, true},
	} {
		c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"skills/x/SKILL.md": "---\ndescription: d\n" + header + "\n---\n"})))
		list := must.Get(c.ListSkills(t.Context()))(t)
		must.Equal(t, header, want, [2]bool{list[0].DisableModelInvocation, list[0].UserInvocable})
	}
}

func TestFiveThousandSkillsAreReadOnce(t *testing.T) {
	files := map[string]string{}
	for i := range 5000 {
		name := fmt.Sprintf("skill-%04d", i)
		files["skills/"+name+"/SKILL.md"] = skillFile(name)
	}
	fsys := &counting{Fs: dated(memoryOf(t, files))}
	c := catalog(t, toolshelf.WithFs(fsys))
	for _, want := range []int64{5000, 0, 0} {
		fsys.files.Store(0)
		must.Len(t, "list", 5000, must.Get(c.ListSkills(t.Context()))(t))
		must.Equal(t, "fsys.files.Load()", want, fsys.files.Load())
	}
}

// A SKILL.md in the directory of skills shadows no skill.
func TestAStraySkillFileShadowsNoSkill(t *testing.T) {
	const good = "---\nname: good\ndescription: Is good.\n---\n"
	for name, stray := range map[string]string{"empty": "", "a text": "Skills are here.\n", "a header of something else": "---\ntitle: Skills\n---\n"} {
		c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"skills/SKILL.md": stray, "skills/good/SKILL.md": good})), toolshelf.WithCommandsDir())
		list := must.Get(c.ListSkills(t.Context()))(t)
		must.Len(t, name, 1, list)
		must.Equal(t, name, "good", list[0].Name)
		found, err := c.Lint(t.Context())
		if err != nil || !slices.ContainsFunc(found, func(d toolshelf.Diagnostic) bool { return d.Path == "skills/SKILL.md" }) {
			t.Errorf("%s: Lint does not report the file: %v, %v", name, found, err)
		}
	}
}

func TestPathsInDiagnosticsAreOneLine(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"commands/b\x1b[2J\n##[error]x.md": "x", "skills/a\n##[error]y/SKILL.md": "x"})))
	found, err := c.Lint(t.Context())
	if err != nil || len(found) < 2 {
		t.Fatal(found, err)
	}
	for _, d := range found {
		if strings.ContainsAny(d.String(), "\n\x1b") {
			t.Errorf("more than one line: %q", d.String())
		}
	}
}

func TestSkillLayersAndSubdirs(t *testing.T) {
	fsys := memoryOf(t, map[string]string{"a/b/skills/x/y/SKILL.md": skillFile("y"), "own/SKILL.md": skillFile("own"), "skills/z/none.txt": ""})
	c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithSkillsDir("a/b/skills", "missing", "own", "skills"), toolshelf.WithSkillDepth(2))
	must.Match(t, "layers", []string{"a/b/skills", "missing", "own", "skills"}, bridgeOf(c).SkillLayers())
	skills := must.Get(c.ListSkills(t.Context()))(t)
	got := map[string]string{}
	for _, s := range skills {
		got[s.Name] = bridgeOf(c).SkillSubdir(s)
	}
	must.Match(t, "subdirectories", map[string]string{"y": "x/y", "own": ".", "z": ""}, got)
	if got := bridgeOf(catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"x": ""})))).SkillLayers(); got != nil {
		t.Errorf("missing default directory: got %q", got)
	}
	c = catalog(t, toolshelf.WithFs(fsys), toolshelf.WithSkillsFS("built in", afero.NewIOFS(fsys)))
	must.Match(t, "layers", []string{"skills", "built in"}, bridgeOf(c).SkillLayers())
}

// placesOf returns the layer of each listed skill, with "-" for a skill that cannot be loaded.
func placesOf(t *testing.T, c *toolshelf.Catalog) string {
	t.Helper()
	list := must.Get(c.ListSkills(t.Context()))(t)
	var places []string
	for _, s := range list {
		place := s.Name + " " + s.Layer
		if !s.Loadable {
			place = "-" + place
		}
		if len(s.Shadows) > 0 {
			place += fmt.Sprint(" shadows ", s.Shadows)
		}
		places = append(places, place)
	}
	return strings.Join(places, "; ")
}

func TestADirectoryWithoutASkillFileShadowsNothing(t *testing.T) {
	const text = "---\nname: pdf\ndescription: Reads PDF files.\n---\nRead.\n"
	for _, tt := range []struct {
		name  string
		files []string // SKILL.md files have the text above
		want  string
	}{
		{"above a skill", []string{"high/pdf/scripts/x.py", "low/pdf/SKILL.md"}, "pdf low"},
		{"an empty cache above a skill", []string{"high/pdf/__pycache__/x.pyc", "low/pdf/skill.md"}, "pdf low"},
		{"below a skill", []string{"high/pdf/SKILL.md", "low/pdf/scripts/x.py"}, "pdf high"},
		{"between two skills", []string{"high/pdf/SKILL.md", "middle/pdf/x.py", "low/pdf/SKILL.md"}, "pdf high shadows [low/pdf/SKILL.md]"},
		{"above two skills", []string{"high/pdf/x.py", "middle/pdf/SKILL.md", "low/pdf/SKILL.md"}, "pdf middle shadows [low/pdf/SKILL.md]"},
		{"alone", []string{"high/pdf/x.py", "low/forms/SKILL.md"}, "forms low; -pdf high"},
		{"in two layers", []string{"high/pdf/x.py", "low/pdf/x.py"}, "-pdf high"},
	} {
		files := map[string]string{"high/z.txt": "", "middle/z.txt": "", "low/z.txt": ""}
		for _, file := range tt.files {
			files[file] = text
		}
		layers := toolshelf.WithSkillsDir("high", "middle", "low")
		fsLayers := []toolshelf.Option{toolshelf.WithSkillsDir()}
		memory := memoryOf(t, files)
		for _, layer := range []string{"high", "middle", "low"} {
			fsLayers = append(fsLayers, toolshelf.WithSkillsFS(layer, afero.NewIOFS(afero.NewBasePathFs(memory, layer))))
		}
		for kind, options := range map[string][]toolshelf.Option{
			"memory": {toolshelf.WithFs(memory), layers},
			"disk":   {toolshelf.WithRoot(diskOf(t, files)), layers},
			"fs.FS":  fsLayers,
		} {
			t.Run(tt.name+"/"+kind, func(t *testing.T) {
				c := catalog(t, options...)
				must.Equal(t, "ListSkills", tt.want, placesOf(t, c))
				loadable := !strings.Contains(tt.want, "-pdf")
				skill, err := c.GetSkill(t.Context(), "pdf")
				if loadable && (err != nil || skill.Content != "Read.\n" || !skill.Loadable) || !loadable && !errors.Is(err, toolshelf.ErrSkillNotFound) {
					t.Errorf("GetSkill: %+v, %v", skill, err)
				}
				found, err := c.SearchSkills(t.Context(), "pdf", 0)
				if err != nil || slices.ContainsFunc(found.Results, func(r toolshelf.SearchResult) bool { return r.Name == "pdf" }) != loadable {
					t.Errorf("SearchSkills: %+v, %v", found, err)
				}
				must.Equal(t, "SkillsPrompt", loadable,
					slices.Contains(must.Get(c.SkillsPrompt(t.Context()))(t).Included, "pdf"))
				for m, err := range bridgeOf(c).SkillManifests(t.Context(), nil) {
					if err != nil || m.Skill.Name == "pdf" && !loadable {
						t.Errorf("SkillManifests: %s, %v", m.Skill.Name, err)
					}
				}
			})
		}
	}
}

func TestASkillFileTakesAndLosesPrecedence(t *testing.T) {
	files := map[string]string{"high/pdf/x.py": "", "low/pdf/SKILL.md": "---\ndescription: d\n---\nlow"}
	for kind, fsys := range map[string]afero.Fs{"memory": memoryOf(t, files), "disk": afero.NewBasePathFs(afero.NewOsFs(), diskOf(t, files))} {
		t.Run(kind, func(t *testing.T) {
			c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithSkillsDir("high", "low"))
			content := func(want string) {
				t.Helper()
				must.Equal(t, "GetSkill", want, must.Get(c.GetSkill(t.Context(), "pdf"))(t).Content)
			}
			content("low")
			must.Do(t, afero.WriteFile(fsys, "high/pdf/skill.md", []byte("---\ndescription: d\n---\nhigh"), 0o644))
			content("high")
			must.Do(t, fsys.Remove("high/pdf/skill.md"))
			content("low")
		})
	}
}

// choose chooses skills by name.
func choose(names ...string) func([]toolshelf.SkillInfo) []string {
	return func([]toolshelf.SkillInfo) []string { return names }
}

// manifests returns the manifests of skills, and fails the test on an error.
func manifests(t testing.TB, c *toolshelf.Catalog, names ...string) (all []bridge.Manifest[toolshelf.SkillInfo, toolshelf.SkillFile]) {
	t.Helper()
	for m, err := range bridgeOf(c).SkillManifests(t.Context(), choose(names...)) {
		must.Is(t, m.Skill.Name, nil, err)
		all = append(all, m)
	}
	return all
}

func TestSkillManifestsDescribeTheFilesOfGetSkill(t *testing.T) {
	files := map[string]string{
		"skills/zed/SKILL.md": skillFile("zed"), "skills/zed/a.txt": "a", "skills/zed/sub/b.bin": "\x00", "skills/zed/sub/deep/c": "", "skills/zed/.git/config": "x",
		"skills/alpha/skill.md": skillFile("alpha"),
	}
	fsys := memoryOf(t, files)
	must.Do(t, fsys.MkdirAll("skills/zed/empty", 0o755))
	c := catalog(t, toolshelf.WithFs(fsys))
	all := manifests(t, c, "zed", "alpha")
	for i, name := range []string{"zed", "alpha"} {
		skill := must.Get(c.GetSkill(t.Context(), name, toolshelf.Digests()))(t)
		must.Match(t, name, skill.SkillInfo, all[i].Skill)
		must.Match(t, name, skill.Files, all[i].Files)
		must.Equal(t, name, false, all[i].Oversized())
	}
	must.Match(t, "directories", []string{"empty", "sub", "sub/deep"}, all[0].Dirs)
	must.Equal(t, "Bytes", all[0].Bytes, int64(len(files["skills/zed/SKILL.md"])+2))
}

func TestSkillManifestsContinueAfterAnError(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"skills/good/SKILL.md": skillFile("good"), "skills/none/x": "x"})))
	var got []string
	for m, err := range bridgeOf(c).SkillManifests(t.Context(), choose("missing", "none", "good")) {
		got = append(got, fmt.Sprintf("%s %s %d", m.Skill.Name, toolshelf.CodeOf(err), len(m.Files)))
	}
	must.Match(t, "result", []string{"missing SKILL_NOT_FOUND 0", "none SKILL_NOT_FOUND 0", "good  1"}, got)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	n := 0
	for m, err := range bridgeOf(c).SkillManifests(ended, choose("good", "good")) {
		if n++; !errors.Is(err, context.Canceled) || m.Skill.Name != "" {
			t.Errorf("got %+v, %v", m, err)
		}
	}
	missing := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"x": ""})))
	for m, err := range bridgeOf(missing).SkillManifests(t.Context(), choose("good", "good")) {
		if n++; !errors.Is(err, toolshelf.ErrDirectoryNotFound) || m.Skill.Name != "" {
			t.Errorf("got %+v, %v", m, err)
		}
	}
	must.Equal(t, "n", 2, n)
}

func TestSkillManifestsChooseFromTheList(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"skills/a/SKILL.md": skillFile("a"), "skills/b/SKILL.md": skillFile("b"), "skills/c/SKILL.md": skillFile("c")})))
	view := must.Get(c.View(toolshelf.WithSkillFilter(func(s toolshelf.SkillInfo) bool { return s.Name != "b" })))(t)
	want := must.Get(view.ListSkills(t.Context()))(t)
	var got []string
	for m, err := range bridgeOf(view).SkillManifests(t.Context(), func(skills []toolshelf.SkillInfo) []string {
		must.Match(t, "(-ListSkills +choose)", want, skills)
		return []string{"c", "b", "", "/a"}
	}) {
		got = append(got, m.Skill.Name+" "+string(toolshelf.CodeOf(err)))
	}
	must.Match(t, "result", []string{"c ", "b SKILL_NOT_FOUND", " INVALID_SKILL_NAME", "/a INVALID_SKILL_NAME"}, got)
	n := 0
	for _, err := range bridgeOf(view).SkillManifests(t.Context(), nil) {
		if n++; err != nil {
			t.Error(err)
		}
	}
	must.Equal(t, "a nil choose chooses", 2, n)
}

func TestOversizedSkillsHaveNoDigests(t *testing.T) {
	files := map[string]string{"skills/files/SKILL.md": skillFile("files"), "skills/bytes/SKILL.md": skillFile("bytes"), "skills/bytes/x": strings.Repeat("x", 16<<20)}
	for i := range 512 {
		files[fmt.Sprintf("skills/files/%03d", i)] = ""
	}
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithMaxFileSize(64<<20))
	for _, m := range manifests(t, c, "files", "bytes") {
		digests := slices.ContainsFunc(m.Files, func(f toolshelf.SkillFile) bool { return f.SHA256 != "" })
		must.Equal(t, m.Skill.Name, true, m.Oversized())
		must.Equal(t, m.Skill.Name, false, digests)
	}
}

// diskSkills writes n skills of three files each, old enough for the caches.
func diskSkills(t testing.TB, n int) (root string, names []string) {
	t.Helper()
	root = t.TempDir()
	for i := range n {
		name := fmt.Sprintf("s%03d", i)
		names = append(names, name)
		for file, content := range map[string]string{"SKILL.md": skillFile(name), "a.txt": "a", "sub/b.txt": "b"} {
			full := filepath.Join(root, "skills", name, filepath.FromSlash(file))
			must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(content), 0o644)))
		}
	}
	return root, names
}

// settle waits until the change times of the files under a root are older than the clock
// tick that the caches require.
func settle(t testing.TB, c *toolshelf.Catalog, opened *atomic.Int64, names []string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; {
		before := opened.Load()
		manifests(t, c, names...)
		if opened.Load() == before {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("after 20 s: files are still read")
		}
	}
}

func TestSkillManifestsReadEachFileVersionOnce(t *testing.T) {
	root, names := diskSkills(t, 20)
	disk := &counting{Fs: dated(afero.NewOsFs())}
	c := catalog(t, toolshelf.WithFs(disk), toolshelf.WithRoot(root))
	settle(t, c, &disk.files, names)
	before := manifests(t, c, names...)
	changed := filepath.Join(root, "skills", "s003", "a.txt")
	must.Do(t, os.WriteFile(changed, []byte("other"), 0o644))
	disk.files.Store(0)
	after := manifests(t, c, names...)
	must.Equal(t, "after one change", 1, disk.files.Load())
	for i := range after {
		same := cmp.Equal(before[i].Files, after[i].Files)
		if same == (after[i].Skill.Name == "s003") {
			t.Errorf("%s: same files: %t", after[i].Skill.Name, same)
		}
	}
}

// A range over more files than the cache has digests uses most of the digests. A cache that
// evicts the least recently used file has no digest when the next range needs the digest.
func TestSkillManifestsOfMoreFilesThanTheCacheReadFewFiles(t *testing.T) {
	root, names := diskSkills(t, 100)
	disk := &counting{Fs: dated(afero.NewOsFs())}
	settle(t, catalog(t, toolshelf.WithFs(disk), toolshelf.WithRoot(root)), &disk.files, names)
	c := catalog(t, toolshelf.WithFs(disk), toolshelf.WithRoot(root))
	toolshelf.SetMaxDigests(c, 240)
	for range 4 {
		manifests(t, c, names...)
	}
	disk.files.Store(0)
	manifests(t, c, names...)
	// About a third of the files have no digest.
	if got := disk.files.Load(); got == 0 || got > 200 {
		t.Errorf("a range over 300 files opened %d files", got)
	}
	if n := toolshelf.CachedFiles(c); n > 240+len(names) { // with the texts of all skills
		t.Errorf("%d files are cached, want at most 240 digests", n)
	}
}

// The frontmatter and the digest of a manifest describe the same SKILL.md, while a writer
// replaces the file.
func TestSkillManifestsMatchTheirFrontmatter(t *testing.T) {
	root, _ := diskSkills(t, 1)
	c := catalog(t, toolshelf.WithRoot(root))
	file := filepath.Join(root, "skills", "s000", "SKILL.md")
	content := func(i int) string {
		return fmt.Sprintf("---\nname: s000\ndescription: Version %04d.\n---\n# Body %04d\n", i, i)
	}
	known := map[string]string{}
	done, stop := make(chan error), make(chan struct{})
	const versions = 300
	for i := range versions {
		known[fmt.Sprintf("%x", sha256.Sum256([]byte(content(i))))] = fmt.Sprintf("Version %04d.", i)
	}
	must.Do(t, os.WriteFile(file, []byte(content(0)), 0o644))
	go func() {
		defer close(done)
		for i := 0; ; i = (i + 1) % versions {
			select {
			case <-stop:
				return
			default:
			}
			if err := catalogtest.Replace(file, content(i)); err != nil {
				done <- err
				return
			}
		}
	}()
	rounds := 400
	if testing.Short() {
		rounds = 100
	}
	for range rounds {
		for m, err := range bridgeOf(c).SkillManifests(t.Context(), nil) {
			if err != nil {
				continue // the file changes too often
			}
			own := m.Files[slices.IndexFunc(m.Files, func(f toolshelf.SkillFile) bool { return f.Path == path.Base(filepath.ToSlash(m.Skill.Path)) })]
			if got := m.Skill.Description; known[own.SHA256] != got {
				raw, _ := json.Marshal(m.Skill.Frontmatter)
				t.Fatalf("the digest is of %q, the frontmatter is %s", known[own.SHA256], raw)
			}
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Error(err)
	}
}
