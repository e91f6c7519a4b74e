package skillsclient_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/examples/sample"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk/skillsclient"
)

// serve publishes the skills of a directory, and returns a client of the server.
func serve(t *testing.T, dir, revision string, opts ...toolshelf.Option) (*skillsclient.Server, *mcpadapter.Adapter) {
	t.Helper()
	c := must.Get(toolshelf.New(append(opts, toolshelf.WithSkillsDir(dir))...))(t)
	t.Cleanup(func() { c.Close() })
	a := must.Get(mcpadapter.New(c, mcpadapter.WithTools(), mcpadapter.WithPrompts()))(t)
	server := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	must.Do(t, gosdk.Register(server, a))
	return connect(t, new(skillsclient.Host), "docs", &fake{server: server}, revision), a
}

// TestServedSkillsAreVerified reads all skills of directories through the server of package
// gosdk, and compares the files with the disk.
func TestServedSkillsAreVerified(t *testing.T) {
	dirs := []string{filepath.Join(t.TempDir(), "sample")}
	must.Do(t, os.CopyFS(dirs[0], sample.FS()))
	dirs[0] = filepath.Join(dirs[0], "skills")
	if corpus := os.Getenv("TOOLSHELF_CORPUS"); corpus != "" && !testing.Short() {
		dirs = append(dirs, filepath.Join(corpus, "skills", "openai", ".curated"), filepath.Join(corpus, "skills", "wshobson-agents", "developer-essentials"))
		if os.Getenv("TOOLSHELF_NIGHTLY") != "" {
			dirs = append(dirs, filepath.Join(corpus, "skills", "wshobson-agents"))
		}
	}
	for i, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			s, a := serve(t, dir, revisions[i%len(revisions)], toolshelf.WithSkillDepth(6), toolshelf.WithCacheTTL(time.Minute))
			list := must.Get(s.List(ctx))(t)
			must.Len(t, "rejected", 0, list.Rejected)
			omitted, err := a.SkillDiagnostics(ctx)
			if err != nil || len(list.Skills) == 0 {
				t.Fatalf("%d skills, %v", len(list.Skills), err)
			}
			onDisk := map[string]bool{} // the names and digests of all files
			must.Do(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
				if err != nil || !d.Type().IsRegular() {
					return err
				}
				raw, err := os.ReadFile(name)
				onDisk[d.Name()+" "+digest(string(raw))] = true
				return err
			}))
			files := 0
			for _, skill := range list.Skills {
				for _, file := range skill.Files {
					raw, err := s.ReadFile(ctx, skill, file.Path)
					if err != nil || !onDisk[path.Base(file.Path)+" "+digest(string(raw))] {
						t.Errorf("%s: not a file of the disk, %v", file.URI, err)
					}
					files++
				}
			}
			t.Logf("%d skills, %d files, omitted: %d", len(list.Skills), files, len(omitted))
		})
	}
}

// TestEditsOfServedSkillsAreErrorsOrWholeFiles edits skills on the disk in a loop while a
// client lists, gets and reads with verification.
func TestEditsOfServedSkillsAreErrorsOrWholeFiles(t *testing.T) {
	dir := t.TempDir()
	edit := func(i int) {
		for _, name := range []string{"a", "b"} {
			skill := filepath.Join(dir, name)
			for file, text := range map[string]string{
				"SKILL.md":                 fmt.Sprintf("---\nname: %s\ndescription: State %d\n---\nBody %d.\n", name, i, i),
				"b.txt":                    fmt.Sprint(i),
				fmt.Sprintf("%d.txt", i%3): "x",
			} {
				if err := errors.Join(os.MkdirAll(skill, 0o755), os.WriteFile(filepath.Join(skill, file), []byte(text), 0o644)); err != nil {
					t.Error(err)
				}
			}
			os.Remove(filepath.Join(skill, fmt.Sprintf("%d.txt", (i+1)%3)))
		}
	}
	edit(0)
	s, _ := serve(t, dir, revisions[1])
	stop, cancel := context.WithCancel(ctx)
	called := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 1; stop.Err() == nil; i++ {
			edit(i)
			for range i % 4 { // a slow client also reads complete skills
				select {
				case <-called:
				case <-stop.Done():
				}
			}
		}
	})
	rounds := 100 // for more, use -count
	if testing.Short() {
		rounds = 20
	}
	read, refused := 0, 0
	check := func(what string, err error) bool {
		select {
		case called <- struct{}{}: // the writer waits for calls
		default:
		}
		var e *jsonrpc.Error
		switch {
		case err == nil:
			read++
			return true
		case errors.As(err, &e) && !errors.Is(err, skillsclient.ErrVerification):
			refused++
		default:
			t.Errorf("%s: %v", what, err)
		}
		return false
	}
	begin := time.Now()
	for round := 0; round < rounds || (read == 0 || refused == 0) && !t.Failed(); round++ {
		list, err := s.List(ctx)
		if !check("List", err) {
			continue
		}
		for _, e := range list.Rejected {
			t.Error(e)
		}
		for _, listed := range list.Skills {
			skill, err := s.Get(ctx, listed.URI)
			if !check("Get", err) {
				continue
			}
			for _, file := range skill.Files {
				_, err := s.ReadFile(ctx, skill, file.Path)
				check(file.Path, err)
			}
		}
	}
	cancel()
	writer.Wait()
	if read == 0 || refused == 0 {
		t.Errorf("%d results, %d refusals; want both", read, refused)
	}
	t.Logf("%d rounds in %v: %d results, %d refusals", rounds, time.Since(begin), read, refused)
}
