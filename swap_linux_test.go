package toolshelf_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolshelf-go/toolshelf"
)

var swapCalls = flag.Int("swapcalls", 100_000, "how many calls TestSwapRace makes while a directory and a link are exchanged")

// secret is a part of the names and contents of all files outside.
const secret = "TOP-SECRET"

// TestSwapRace exchanges directories and a file of the project for links to the outside, as fast
// as possible, while four goroutines call all methods for these paths. A program that checks a
// path first and uses the path afterwards fails within some hundred calls. With
// -swapcalls 500000, the test makes 100,000 calls of ReadFile and of Grep.
func TestSwapRace(t *testing.T) {
	outside := diskOf(t, map[string]string{
		secret + ".txt": secret, "only-outside": "", "a.md": "---\ndescription: " + secret + "\n---\n" + secret, "sub/" + secret + ".md": secret, "sub/b.txt": secret,
		"s/SKILL.md": "---\nname: s\ndescription: " + secret + "\n---\n" + secret,
	})
	root := diskOf(t, map[string]string{
		"dir/a.txt": "", "dir/sub/b.txt": "", "commands/a.md": "---\ndescription: fine\n---\nfine", "skills/s/SKILL.md": "---\nname: s\ndescription: fine\n---\n",
		"file.txt": "fine",
	})
	targets := map[string]string{"dir": outside, "commands": outside, "skills": outside, "file.txt": filepath.Join(outside, secret+".txt")}
	for name, target := range targets {
		if err := os.Symlink(target, filepath.Join(root, name+".link")); err != nil {
			t.Fatal(err)
		}
	}
	stop := make(chan struct{})
	var swapper, askers sync.WaitGroup
	swaps := 0
	swapper.Go(func() {
		for ; ; swaps++ {
			select {
			case <-stop:
				return
			default:
			}
			for name := range targets {
				path := filepath.Join(root, name)
				if err := unix.Renameat2(unix.AT_FDCWD, path, unix.AT_FDCWD, path+".link", unix.RENAME_EXCHANGE); err != nil {
					t.Errorf("renameat2: %v", err)
					return
				}
			}
		}
	})

	c := catalog(t, toolshelf.WithRoot(root))
	most := int64(*swapCalls)
	if testing.Short() {
		most /= 10
	}
	var calls atomic.Int64
	answered := make([]atomic.Int64, len(swapped))
	for g := range 4 {
		askers.Go(func() {
			for i := g; calls.Add(1) <= most; i++ {
				kind := i % len(swapped)
				got, err := swapped[kind].answer(t.Context(), c)
				if err == nil {
					answered[kind].Add(1)
				} else {
					got = err.Error()
				}
				if strings.Contains(got, secret) || strings.Contains(got, outside) || err != nil && strings.Contains(got, root) {
					t.Errorf("%s (%d) tells of the outside, or of the host: %s", swapped[kind].method, kind, got)
					return
				}
			}
		})
	}
	askers.Wait()
	close(stop)
	swapper.Wait()
	made, results := map[string]int64{}, map[string]int64{}
	for i, kind := range swapped {
		made[kind.method] += most / int64(len(swapped))
		results[kind.method] += answered[i].Load()
	}
	for method, n := range results {
		if n == 0 || swaps == 0 {
			t.Errorf("%s: %d answers during %d exchanges: nothing was tried", method, n, swaps)
		}
	}
	t.Logf("calls: %v; answers: %v; %d exchanges", made, results, len(targets)*swaps)
}

// swapped are calls of all methods for the exchanged paths. The results of commands and skills
// lack the full paths, which are for the host program.
var swapped = []struct {
	method string
	answer func(ctx context.Context, c *toolshelf.Catalog) (string, error)
}{
	{"ListDir", func(ctx context.Context, c *toolshelf.Catalog) (string, error) { return textOf(c.ListDir(ctx, "dir")) }},
	{"ListDir", func(ctx context.Context, c *toolshelf.Catalog) (string, error) {
		return textOf(c.ListDir(ctx, "dir/sub"))
	}},
	{"Tree", func(ctx context.Context, c *toolshelf.Catalog) (string, error) { return textOf(c.Tree(ctx, ".")) }},
	{"FindFiles", func(ctx context.Context, c *toolshelf.Catalog) (string, error) {
		return textOf(c.FindFiles(ctx, ".", "*"))
	}},
	{"Stat", func(ctx context.Context, c *toolshelf.Catalog) (string, error) {
		return textOf(c.Stat(ctx, "dir/a.txt"))
	}},
	{"Stat", func(ctx context.Context, c *toolshelf.Catalog) (string, error) {
		info, err := c.Stat(ctx, "dir/only-outside")
		if err == nil {
			return secret + info.String(), nil
		}
		return "", err
	}},
	{"List", func(ctx context.Context, c *toolshelf.Catalog) (string, error) {
		return textOf(c.List(ctx, toolshelf.Page{}))
	}},
	{"Get", func(ctx context.Context, c *toolshelf.Catalog) (string, error) {
		command, err := c.Get(ctx, "a")
		return command.Content + command.Metadata.Description, err
	}},
	{"ListSkills", func(ctx context.Context, c *toolshelf.Catalog) (string, error) {
		skills, err := c.ListSkills(ctx)
		for i := range skills {
			skills[i].Path = ""
		}
		return textOf(skills, err)
	}},
	{"ReadFile", func(ctx context.Context, c *toolshelf.Catalog) (string, error) {
		return textOf(c.ReadFile(ctx, "commands/a.md"))
	}},
	{"ReadFile", func(ctx context.Context, c *toolshelf.Catalog) (string, error) {
		return textOf(c.ReadFile(ctx, "dir/sub/b.txt", toolshelf.Lines(-1, 0)))
	}},
	{"ReadFile", func(ctx context.Context, c *toolshelf.Catalog) (string, error) {
		return textOf(c.ReadFile(ctx, "file.txt"))
	}},
	{"Grep", func(ctx context.Context, c *toolshelf.Catalog) (string, error) {
		return textOf(c.Grep(ctx, ".", "SECRET|fine"))
	}},
	{"Grep", func(ctx context.Context, c *toolshelf.Catalog) (string, error) {
		return textOf(c.Grep(ctx, "dir", "T", toolshelf.Literal(), toolshelf.Files("sub/*")))
	}},
	{"Grep", func(ctx context.Context, c *toolshelf.Catalog) (string, error) {
		return textOf(c.Grep(ctx, "file.txt", "^"))
	}},
}

// textOf returns a result as text and as JSON.
func textOf(v any, err error) (string, error) {
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(v)
	return fmt.Sprint(v, string(b)), err
}
