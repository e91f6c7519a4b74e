package skillsclient_test

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk/skillsclient"
)

// TestChangesDuringCallsAreErrorsOrWholeFiles changes a skill in a loop while clients list,
// get and read. Every content must belong to the entry of the call.
func TestChangesDuringCallsAreErrorsOrWholeFiles(t *testing.T) {
	f := newFake(t, nil)
	stale := int64(0)
	f.ttl = &stale
	change := func(i int) {
		f.add("a", fmt.Sprintf("Body %d.\n", i), map[string]string{"b.txt": fmt.Sprint(i), fmt.Sprintf("%d.txt", i%3): "x"})
	}
	change(0)
	s := connect(t, new(skillsclient.Host), "docs", f, revisions[1])
	c := catalogOf(t, toolshelf.WithSkillsFS("docs", s.FS(ctx)))
	allowed := func(err error) {
		var refused *jsonrpc.Error
		if err != nil && !errors.Is(err, skillsclient.ErrVerification) && !errors.As(err, &refused) &&
			!errors.Is(err, fs.ErrNotExist) && !errors.Is(err, toolshelf.ErrFileRead) {
			t.Error(err)
		}
	}
	stop := make(chan struct{})
	var writer, clients sync.WaitGroup
	writer.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				change(i)
			}
		}
	})
	rounds := 50
	if testing.Short() {
		rounds = 10
	}
	read := 0
	clients.Go(func() {
		for round := 0; round < rounds || read == 0 && !t.Failed(); round++ {
			list, err := s.List(ctx)
			if err != nil {
				t.Error(err)
				continue
			}
			for _, skill := range list.Skills {
				for _, file := range skill.Files {
					raw, err := s.ReadFile(ctx, skill, file.Path)
					if allowed(err); err != nil {
						continue
					}
					if read++; digest(string(raw)) != file.Digest {
						t.Errorf("%s: got %q, of another entry", file.Path, raw)
					}
				}
			}
		}
	})
	clients.Go(func() {
		for range rounds {
			skill, err := c.GetSkill(ctx, "docs.a", toolshelf.Digests())
			if allowed(err); err != nil {
				continue
			}
			for _, file := range skill.Files {
				if file.Path == "SKILL.md" && file.SHA256 != "" && "sha256:"+file.SHA256 != digest(string(skill.Raw)) {
					t.Errorf("got %q with another digest", skill.Raw)
				}
			}
		}
	})
	clients.Go(func() {
		for range rounds {
			allowed(fs.WalkDir(s.FS(ctx), ".", func(name string, d fs.DirEntry, err error) error {
				if err == nil && path.Ext(name) == ".txt" {
					_, err := fs.ReadFile(s.FS(ctx), name)
					allowed(err)
				}
				return err
			}))
			s.Refresh()
		}
	})
	clients.Wait()
	close(stop)
	writer.Wait()
	if read == 0 {
		t.Error("no file was read")
	}
}
