package bench

import (
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/adrg/frontmatter"
	"golang.org/x/sys/unix"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// manySkills creates a directory of n skills with two more files each.
func manySkills(b *testing.B, n int) string {
	b.Helper()
	root := b.TempDir()
	old := time.Now().Add(-time.Minute) // see shelf
	body := strings.Repeat("Read the form, and ask for what is missing in it.\n", 60)
	for i := range n {
		name := fmt.Sprintf("skill-%05d", i)
		dir := filepath.Join(root, "skills", name)
		err := os.MkdirAll(filepath.Join(dir, "references"), 0o755)
		for file, text := range map[string]string{
			"SKILL.md":           fmt.Sprintf("---\nname: %s\ndescription: Fills form %d. Use it when a form is mentioned.\nlicense: Apache-2.0\n---\n\n# Form\n\n%s", name, i, body),
			"references/form.md": body, "fill.py": body,
		} {
			file = filepath.Join(dir, file)
			err = errors.Join(err, os.WriteFile(file, []byte(text), 0o644), os.Chtimes(file, old, old))
		}
		must.Do(b, err)
	}
	return root
}

// skillFloor opens each subdirectory of a directory, stats its SKILL.md and, if read is
// set, reads 4 KB of the file, on all cores.
func skillFloor(b *testing.B, dir string, read bool) {
	fd := must.Get(unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY, 0))(b)
	defer unix.Close(fd)
	names := rawNames(b, fd)
	var all sync.WaitGroup
	cores := runtime.GOMAXPROCS(0)
	for core := range cores {
		all.Go(func() {
			buf := make([]byte, 4096)
			for i := core; i < len(names); i += cores {
				subdir, err := unix.Openat(fd, names[i], unix.O_PATH|unix.O_DIRECTORY, 0)
				if err != nil {
					b.Error(err)
					return
				}
				var s unix.Statx_t
				unix.Statx(subdir, "SKILL.md", unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BASIC_STATS, &s)
				if read {
					file, err := unix.Openat(subdir, "SKILL.md", unix.O_RDONLY, 0)
					if err != nil {
						b.Error(err)
						return
					}
					unix.Read(file, buf)
					unix.Close(file)
				}
				unix.Close(subdir)
			}
		})
	}
	all.Wait()
}

// naiveSkills lists skills like a program without a library. naiveSkills skips the
// headers that the YAML library rejects.
func naiveSkills(b *testing.B, dir string) {
	entries := must.Get(os.ReadDir(dir))(b)
	for _, e := range entries {
		data := must.Get(os.ReadFile(filepath.Join(dir, e.Name(), "SKILL.md")))(b)
		var header struct{ Name, Description, License string }
		frontmatter.Parse(strings.NewReader(string(data)), &header)
	}
}

func BenchmarkListSkills5000(b *testing.B) {
	list := func(c *toolshelf.Catalog) {
		must.Len(b, "skills", 5000, must.Get(c.ListSkills(b.Context()))(b))
	}
	for _, mix := range HeaderMixes(PublicSkillHeaders) {
		b.Run("cold/"+mix.Name, func(b *testing.B) {
			d := PublicSkills(b, 5000, mix.Classes, PublicSkillSizes)
			dir := filepath.Join(d.Root, "skills")
			catalogtest.Compare(b, []string{"cold", "floor", "naive"}, map[string]func(){
				"cold": func() {
					c := catalogtest.Open(b, toolshelf.WithRoot(d.Root))
					list(c)
					c.Close()
				},
				"floor": func() { skillFloor(b, dir, true) },
				"naive": func() { naiveSkills(b, dir) },
			})
			d.ReportShares(b)
		})
	}
	b.Run("strict", func(b *testing.B) {
		d := PublicSkills(b, 5000, PublicSkillHeaders, PublicSkillSizes)
		cold := func(opts ...toolshelf.Option) func() {
			return func() {
				c := catalogtest.Open(b, append(opts, toolshelf.WithRoot(d.Root))...)
				list(c)
				c.Close()
			}
		}
		catalogtest.Compare(b, []string{"codex", "agentskills", "cold"}, map[string]func(){
			"codex":       cold(toolshelf.WithStrict(client.Codex())),
			"agentskills": cold(toolshelf.WithStrict(client.AgentSkills())),
			"cold":        cold(),
		})
	})
	root := manySkills(b, 5000)
	dir := filepath.Join(root, "skills")
	b.Run("warm", func(b *testing.B) {
		c := catalogtest.Open(b, toolshelf.WithRoot(root))
		list(c)
		catalogtest.Compare(b, []string{"warm", "floor", "naive"}, map[string]func(){
			"warm":  func() { list(c) },
			"floor": func() { skillFloor(b, dir, false) },
			"naive": func() { naiveSkills(b, dir) },
		})
	})
	b.Run("watched", func(b *testing.B) {
		c := catalogtest.Open(b, toolshelf.WithRoot(root), toolshelf.WithWatch())
		list(c)
		catalogtest.Compare(b, []string{"watched", "naive"}, map[string]func(){
			"watched": func() { list(c) },
			"naive":   func() { naiveSkills(b, dir) },
		})
	})
}

// GetSkill of a cached skill reads the skill's directories and stats its files. The
// number of skills has no effect.
func BenchmarkGetSkill(b *testing.B) {
	root := manySkills(b, 5000)
	dir := filepath.Join(root, "skills", "skill-02500")
	c := catalogtest.Open(b, toolshelf.WithRoot(root))
	get := func(opts ...toolshelf.SkillOption) {
		must.Get(c.GetSkill(b.Context(), "skill-02500", opts...))(b)
	}
	get(toolshelf.Digests())
	catalogtest.Compare(b, []string{"warm", "digests", "naive"}, map[string]func(){
		"warm":    func() { get() },
		"digests": func() { get(toolshelf.Digests()) },
		"naive": func() {
			err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				_, err = d.Info()
				return err
			})
			f, openErr := os.Open(filepath.Join(dir, "SKILL.md"))
			must.Do(b, errors.Join(err, openErr))
			defer f.Close()
			data, _ := io.ReadAll(f)
			var header struct{ Name, Description, License string }
			must.Get(frontmatter.Parse(strings.NewReader(string(data)), &header))(b)
		},
	})
}

// A page of a view costs as much as a page of its catalog.
func BenchmarkListFiltered(b *testing.B) {
	whole := catalogtest.Open(b, toolshelf.WithRoot(shelf(b, 10_000)), toolshelf.WithWatch())
	view := must.Get(whole.View(toolshelf.WithCommandFilter(func(i toolshelf.CommandInfo) bool { return strings.HasSuffix(i.Name, "7") })))(b)
	page := func(c *toolshelf.Catalog) {
		must.Get(c.List(b.Context(), toolshelf.Page{Number: 2}))(b)
	}
	page(view)
	catalogtest.Compare(b, []string{"view", "whole"}, map[string]func(){
		"view":  func() { page(view) },
		"whole": func() { page(whole) },
	})
}

// wholeFloor reads each file as a whole on one goroutine.
func wholeFloor(b *testing.B, files []string) {
	for _, file := range files {
		must.Get(os.ReadFile(file))(b)
	}
}

// spread moves the skills of a directory into the directories that at names, and returns the
// new paths of their files.
func spread(b *testing.B, d *PublicDir, at func(i int) string) (files []string) {
	b.Helper()
	for i, name := range d.Names {
		dir := filepath.Join(d.Root, at(i))
		must.Do(b, errors.Join(os.MkdirAll(dir, 0o755), os.Rename(filepath.Join(d.Root, "skills", name), filepath.Join(dir, name))))
		files = append(files, filepath.Join(dir, name, "SKILL.md"))
	}
	return files
}

// GetSkill of all skills after one list. A skill of the second level costs a stat for each
// directory that could hold a skill of the name.
func BenchmarkGetSkillOfAll(b *testing.B) {
	const n = 5000
	for _, layout := range []struct {
		name    string
		at      func(i int) string
		options []toolshelf.Option
	}{
		{"depth-1", func(int) string { return "all" }, []toolshelf.Option{toolshelf.WithSkillsDir("all")}},
		{"depth-2/level-1", func(int) string { return "all" }, []toolshelf.Option{toolshelf.WithSkillsDir("all"), toolshelf.WithSkillDepth(2)}},
		{"depth-2/level-2", func(i int) string { return fmt.Sprint("all/", i%10) }, []toolshelf.Option{toolshelf.WithSkillsDir("all"), toolshelf.WithSkillDepth(2)}},
		{"layers-3", func(i int) string { return fmt.Sprint("layer-", i%3) }, []toolshelf.Option{toolshelf.WithSkillsDir("layer-0", "layer-1", "layer-2")}},
	} {
		for _, mix := range HeaderMixes(PublicSkillHeaders) {
			b.Run(layout.name+"/"+mix.Name, func(b *testing.B) {
				d := PublicSkills(b, n, mix.Classes, PublicSkillSizes)
				files := spread(b, d, layout.at)
				c := catalogtest.Open(b, append(layout.options, toolshelf.WithRoot(d.Root))...)
				must.Len(b, "skills", n, must.Get(c.ListSkills(b.Context()))(b))
				catalogtest.Compare(b, []string{"get", "floor"}, map[string]func(){
					"get": func() {
						for _, name := range d.Names {
							must.Get(c.GetSkill(b.Context(), name))(b)
						}
					},
					"floor": func() { wholeFloor(b, files) },
				})
			})
		}
	}
}

// Skills of a new catalog beside ListSkills of a new catalog, and Commands beside List.
func BenchmarkTextsOf5000(b *testing.B) {
	open := func(b *testing.B, d *PublicDir, use func(c *toolshelf.Catalog)) func() {
		return func() {
			c := catalogtest.Open(b, toolshelf.WithRoot(d.Root))
			use(c)
			c.Close()
		}
	}
	for _, mix := range HeaderMixes(PublicSkillHeaders) {
		b.Run("skills/"+mix.Name, func(b *testing.B) {
			d := PublicSkills(b, 5000, mix.Classes, PublicSkillSizes)
			catalogtest.Compare(b, []string{"texts", "list", "floor"}, map[string]func(){
				"texts": open(b, d, func(c *toolshelf.Catalog) {
					n := 0
					for s, err := range c.Skills(b.Context()) {
						if n++; err != nil || s.Content == "" {
							b.Fatal(s, err)
						}
					}
				}),
				"list":  open(b, d, func(c *toolshelf.Catalog) { c.ListSkills(b.Context()) }),
				"floor": func() { wholeFloor(b, d.Files) },
			})
		})
	}
	for _, mix := range HeaderMixes(PublicCommandHeaders) {
		b.Run("commands/"+mix.Name, func(b *testing.B) {
			d := PublicCommands(b, 5000, mix.Classes, PublicCommandSizes)
			catalogtest.Compare(b, []string{"texts", "list", "floor"}, map[string]func(){
				"texts": open(b, d, func(c *toolshelf.Catalog) {
					for s, err := range c.Commands(b.Context()) {
						if err != nil || s.Content == "" {
							b.Fatal(s, err)
						}
					}
				}),
				"list":  open(b, d, func(c *toolshelf.Catalog) { c.List(b.Context(), toolshelf.Page{}) }),
				"floor": func() { wholeFloor(b, d.Files) },
			})
		})
	}
}

// promptCatalog returns a catalog of n skills that does not read the files again,
// and the skills of ListSkills.
func promptCatalog(b *testing.B, n int, describe func(i int) string) (*toolshelf.Catalog, []toolshelf.SkillInfo) {
	b.Helper()
	files := fstest.MapFS{}
	for i := range n {
		files[fmt.Sprintf("skill-%06d/SKILL.md", i)] = &fstest.MapFile{
			Data: []byte(fmt.Sprintf("---\nname: skill-%06d\ndescription: %s\nlicense: MIT\nmetadata:\n  author: tests\n---\n", i, describe(i)))}
	}
	c := catalogtest.Open(b, toolshelf.WithSkillsFS("skills", files), toolshelf.WithCacheTTL(time.Hour))
	list := must.Get(c.ListSkills(b.Context()))(b)
	return c, list
}

func inEnglish(i int) string {
	return strings.TrimSpace(strings.Repeat("Read, fill & merge PDF forms. Use when the user mentions a form. ", 1+i%10))
}

func inChinese(i int) string {
	return strings.Repeat("读取、填写和合并表单。当用户提到表单时使用。", 1+i%10)
}

// BenchmarkSkillsPrompt compares SkillsPrompt with ListSkills alone ("list"), with
// ListSkills and a template ("naive"), and with a copy of the parts of the text,
// without escapes, from an existing list ("floor"). The other measurements have a
// budget.
func BenchmarkSkillsPrompt(b *testing.B) {
	for _, skills := range []struct {
		name     string
		n        int
		describe func(int) string
	}{{"500", 500, inEnglish}, {"5000", 5000, inEnglish}, {"5000 in Chinese", 5000, inChinese}} {
		c, list := promptCatalog(b, skills.n, skills.describe)
		prompt := func(opts ...toolshelf.PromptOption) func() {
			return func() {
				p, err := c.SkillsPrompt(b.Context(), opts...)
				if err != nil || p.Text == "" {
					b.Fatal(p, err)
				}
			}
		}
		b.Run(skills.name, func(b *testing.B) {
			catalogtest.Compare(b, []string{"ours", "list", "naive", "floor", "dropped", "shortened", "tokens"}, map[string]func(){
				"ours":      prompt(),
				"dropped":   prompt(toolshelf.Budget(32_000)),                                               // skills are dropped
				"shortened": prompt(toolshelf.Budget(250 * skills.n)),                                       // descriptions are shortened
				"tokens":    prompt(toolshelf.Tokens(8000, func(s string) int { return 4 + len(s)*10/38 })), // at no cost of its own
				"list": func() {
					must.Get(c.ListSkills(b.Context()))(b)
				},
				"naive": func() {
					list := must.Get(c.ListSkills(b.Context()))(b)
					var t strings.Builder
					t.WriteString("<available_skills>\n")
					for _, s := range list {
						fmt.Fprintf(&t, "  <skill>\n    <name>%s</name>\n    <description>%s</description>\n  </skill>\n",
							html.EscapeString(s.Name), html.EscapeString(s.Description))
					}
					t.WriteString("</available_skills>")
				},
				"floor": func() {
					size := 0
					for _, s := range list {
						size += len(s.Name) + len(s.Description) + 80
					}
					var t strings.Builder
					t.Grow(size)
					for _, s := range list {
						t.WriteString("  <skill>\n    <name>")
						t.WriteString(s.Name)
						t.WriteString("</name>\n    <description>")
						t.WriteString(s.Description)
						t.WriteString("</description>\n  </skill>\n")
					}
				},
			})
		})
	}
}
