package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
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
			compare(b, []string{"cold", "floor", "naive"}, map[string]func(){
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
		compare(b, []string{"codex", "agentskills", "cold"}, map[string]func(){
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
		compare(b, []string{"warm", "floor", "naive"}, map[string]func(){
			"warm":  func() { list(c) },
			"floor": func() { skillFloor(b, dir, false) },
			"naive": func() { naiveSkills(b, dir) },
		})
	})
	b.Run("watched", func(b *testing.B) {
		c := catalogtest.Open(b, toolshelf.WithRoot(root), toolshelf.WithWatch())
		list(c)
		compare(b, []string{"watched", "naive"}, map[string]func(){
			"watched": func() { list(c) },
			"naive":   func() { naiveSkills(b, dir) },
		})
	})
}

// wholeFloor reads each file as a whole on one goroutine.
func wholeFloor(b *testing.B, files []string) {
	for _, file := range files {
		must.Get(os.ReadFile(file))(b)
	}
}
