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

// TestSwapRace exchanges directories of the project for links to the outside, as fast as
// possible, while four goroutines call all methods for these directories. A program that
// checks a path first and uses the path afterwards fails within some hundred calls.
func TestSwapRace(t *testing.T) {
	outside := diskOf(t, map[string]string{
		secret + ".txt": secret, "only-outside": "", "a.md": "---\ndescription: " + secret + "\n---\n" + secret, "sub/" + secret + ".md": secret, "sub/b.txt": secret,
		"s/SKILL.md": "---\nname: s\ndescription: " + secret + "\n---\n" + secret,
	})
	root := diskOf(t, map[string]string{
		"dir/a.txt": "", "dir/sub/b.txt": "", "commands/a.md": "---\ndescription: fine\n---\nfine", "skills/s/SKILL.md": "---\nname: s\ndescription: fine\n---\n",
	})
	for _, name := range []string{"dir", "commands", "skills"} {
		if err := os.Symlink(outside, filepath.Join(root, name+".link")); err != nil {
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
			for _, name := range []string{"dir", "commands", "skills"} {
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
	var calls, answers atomic.Int64
	for g := range 4 {
		askers.Go(func() {
			for i := g; calls.Add(1) <= most; i++ {
				got, err := answer(t.Context(), c, i%13)
				if err == nil {
					answers.Add(1)
				} else {
					got = err.Error()
				}
				if strings.Contains(got, secret) || strings.Contains(got, outside) || err != nil && strings.Contains(got, root) {
					t.Errorf("call %d tells of what is outside, or of the host: %s", i%13, got)
					return
				}
			}
		})
	}
	askers.Wait()
	close(stop)
	swapper.Wait()
	if answers.Load() == 0 || swaps == 0 {
		t.Errorf("%d answers during %d exchanges: nothing was tried", answers.Load(), swaps)
	}
	t.Logf("%d calls, %d of them answered, during %d exchanges", most, answers.Load(), 3*swaps)
}

// answer calls a method and returns its result, without the full paths for the host
// program.
func answer(ctx context.Context, c *toolshelf.Catalog, kind int) (string, error) {
	text := func(v any, err error) (string, error) {
		if err != nil {
			return "", err
		}
		b, err := json.Marshal(v)
		return fmt.Sprint(v, string(b)), err
	}
	switch kind {
	case 0:
		return text(c.ListDir(ctx, "dir"))
	case 1:
		return text(c.Tree(ctx, "."))
	case 2:
		info, err := c.Stat(ctx, "dir/only-outside")
		if err == nil {
			return secret + info.String(), nil
		}
		return "", err
	case 3:
		return text(c.FindFiles(ctx, ".", "*"))
	case 4:
		return text(c.ListDir(ctx, "dir/sub"))
	case 5:
		return text(c.List(ctx, toolshelf.Page{}))
	case 6:
		command, err := c.Get(ctx, "a")
		return command.Content + command.Metadata.Description, err
	case 7:
		return text(c.ReadFile(ctx, "commands/a.md"))
	case 8:
		return text(c.ReadFile(ctx, "dir/sub/b.txt", toolshelf.Lines(-1, 0)))
	case 9:
		return text(c.Grep(ctx, ".", "SECRET|fine"))
	case 10:
		return text(c.Grep(ctx, "dir", "T", toolshelf.Literal(), toolshelf.Files("sub/*")))
	case 11:
		return text(c.Grep(ctx, "dir/sub/b.txt", "^"))
	default:
		skills, err := c.ListSkills(ctx)
		for i := range skills {
			skills[i].Path = ""
		}
		return text(skills, err)
	}
}
