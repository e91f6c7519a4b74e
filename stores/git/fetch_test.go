package git_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-git/go-billy/v5"
	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/client"
	"github.com/go-git/go-git/v5/plumbing/transport/server"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/stores/git"
	"github.com/toolshelf-go/toolshelf/stores/internal/outagetest"
)

// A remote serves a repository in this process, for URLs with the scheme remote.
type remote struct {
	transport.Transport
	listings, packs atomic.Int64 // requests
	fail            atomic.Pointer[error]
	hang            atomic.Bool
}

var errDown = errors.New("connection refused")

func newRemote(t *testing.T, repo *repository) *remote {
	endpoint := must.Get(transport.NewEndpoint("remote://host/repo"))(t)
	r := &remote{Transport: server.NewServer(server.MapLoader{endpoint.String(): repo.Storer})}
	client.InstallProtocol("remote", r)
	t.Cleanup(func() { client.InstallProtocol("remote", nil) })
	return r
}

func (r *remote) NewUploadPackSession(e *transport.Endpoint, auth transport.AuthMethod) (transport.UploadPackSession, error) {
	s, err := r.Transport.NewUploadPackSession(e, auth)
	return &session{s, r}, err
}

type session struct {
	transport.UploadPackSession
	remote *remote
}

func (s *session) AdvertisedReferencesContext(ctx context.Context) (*packp.AdvRefs, error) {
	s.remote.listings.Add(1)
	if s.remote.hang.Load() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if err := s.remote.fail.Load(); err != nil {
		return nil, *err
	}
	return s.UploadPackSession.AdvertisedReferencesContext(ctx)
}

func (s *session) UploadPack(ctx context.Context, request *packp.UploadPackRequest) (*packp.UploadPackResponse, error) {
	s.remote.packs.Add(1)
	return s.UploadPackSession.UploadPack(ctx, request)
}

// newClone returns an empty clone. The first snapshot fetches the files.
func newClone(t *testing.T) *gogit.Repository {
	t.Helper()
	clone := newRepository(t).open()
	must.Get(clone.CreateRemote(&config.RemoteConfig{Name: "origin", URLs: []string{"remote://host/repo"}}))(t)
	return clone
}

func TestASnapshotFetches(t *testing.T) {
	repo := newRepository(t)
	repo.write(map[string]string{"a.md": "one"})
	remote := newRemote(t, repo)
	store := newStore(t, newClone(t), "refs/remotes/origin/main", git.Options{Fetch: &gogit.FetchOptions{}})
	for _, content := range []string{"one", "two"} {
		repo.write(map[string]string{"a.md": content})
		remote.listings.Store(0)
		remote.packs.Store(0)
		files := snapshot(t, store)
		if got := read(t, files, "a.md"); got != content {
			t.Errorf("a.md = %q, want %q", got, content)
		}
		if again := snapshot(t, store); version(t, again) != version(t, files) {
			t.Error("the version changed without a commit")
		}
		if remote.listings.Load() != 2 || remote.packs.Load() != 1 {
			t.Errorf("two snapshots: %d listings of references, %d packs; want 2, 1", remote.listings.Load(), remote.packs.Load())
		}
	}
}

func TestACommitThatTheRepositoryHasIsNotFetched(t *testing.T) {
	repo := newRepository(t)
	commit := repo.write(map[string]string{"a.md": "one"})
	repo.write(map[string]string{"a.md": "two"})
	remote := newRemote(t, repo)
	store := newStore(t, newClone(t), commit.String(), git.Options{Fetch: &gogit.FetchOptions{}})
	for range 3 {
		if got := read(t, snapshot(t, store), "a.md"); got != "one" {
			t.Errorf("a.md = %q", got)
		}
	}
	if got := remote.listings.Load(); got != 1 {
		t.Errorf("%d fetches, want 1", got)
	}
}

func TestAnUnreachableRemote(t *testing.T) {
	repo := newRepository(t)
	repo.write(map[string]string{"a.md": "one"})
	remote := newRemote(t, repo)
	var ages []time.Duration
	errStale := errors.New("too old")
	opts := git.Options{Fetch: &gogit.FetchOptions{}}
	strict := newStore(t, newClone(t), "refs/remotes/origin/main", opts)
	opts.Stale = func(err error, age time.Duration) error {
		if !errors.Is(err, errDown) {
			t.Errorf("Stale received %v", err)
		}
		if ages = append(ages, age); len(ages) == 3 {
			return errStale
		}
		return nil
	}
	lenient := newStore(t, newClone(t), "refs/remotes/origin/main", opts)

	remote.fail.Store(&errDown)
	if _, err := lenient.Snapshot(t.Context()); !errors.Is(err, errDown) {
		t.Errorf("first snapshot: %v, want %v", err, errDown)
	}
	remote.fail.Store(nil)
	snapshot(t, strict)
	files := snapshot(t, lenient)

	remote.fail.Store(&errDown)
	if _, err := strict.Snapshot(t.Context()); !errors.Is(err, errDown) {
		t.Errorf("without Stale: %v, want %v", err, errDown)
	}
	for range 2 {
		if last := snapshot(t, lenient); version(t, last) != version(t, files) || read(t, last, "a.md") != "one" {
			t.Error("not the last good snapshot")
		}
	}
	if _, err := lenient.Snapshot(t.Context()); !errors.Is(err, errStale) {
		t.Errorf("Stale returned an error: %v", err)
	}
	if len(ages) != 3 || ages[0] <= 0 || ages[1] <= ages[0] {
		t.Errorf("ages: %v", ages)
	}
	remote.fail.Store(nil)
	repo.write(map[string]string{"a.md": "two"})
	if got := read(t, snapshot(t, lenient), "a.md"); got != "two" {
		t.Errorf("after the failure: a.md = %q", got)
	}
}

func TestMethodsDuringAnOutage(t *testing.T) {
	repo := newRepository(t)
	repo.write(outagetest.Files)
	remote := newRemote(t, repo)
	clone := newClone(t)
	for name, stale := range map[string]func(error, time.Duration) error{"without Stale": nil, "with Stale": func(error, time.Duration) error { return nil }} {
		t.Run(name, func(t *testing.T) {
			var fail []string
			if stale == nil {
				fail = outagetest.Names()
			}
			below := func(dir string) *git.Store {
				return newStore(t, clone, "refs/remotes/origin/main", git.Options{Dir: dir, Fetch: &gogit.FetchOptions{}, Stale: stale})
			}
			catalog := newCatalog(t, below("commands"), below("skills"))
			outagetest.Prepare(t, catalog, "List", "ListSkills")
			remote.fail.Store(&errDown)
			defer remote.fail.Store(nil)
			outagetest.Check(t, catalog, errDown, fail...)
		})
	}
}

func TestARemoteThatHangs(t *testing.T) {
	repo := newRepository(t)
	repo.write(map[string]string{"a.md": "one"})
	remote := newRemote(t, repo)
	stale := 0
	store := newStore(t, newClone(t), "refs/remotes/origin/main", git.Options{
		Fetch: &gogit.FetchOptions{}, Timeout: time.Millisecond * 50,
		Stale: func(err error, _ time.Duration) error { stale++; return nil },
	})
	remote.hang.Store(true)
	if _, err := store.Snapshot(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with a timeout: %v", err)
	}
	remote.hang.Store(false)
	for { // on a busy machine, 50 ms can be too short
		if _, err := store.Snapshot(t.Context()); err == nil {
			break
		} else if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
	}
	remote.hang.Store(true)
	if got := read(t, snapshot(t, store), "a.md"); got != "one" || stale != 1 {
		t.Errorf("a.md = %q, Stale called %d times", got, stale)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := fs.ReadFile(store.WithContext(ctx), "a.md"); !errors.Is(err, context.Canceled) {
		t.Errorf("with a canceled context: %v", err)
	}
}

// A counting filesystem counts the opens of indexes.
type counting struct {
	billy.Filesystem
	indexes atomic.Int64
}

func (c *counting) Open(name string) (billy.File, error) {
	if strings.HasSuffix(name, ".idx") {
		c.indexes.Add(1)
	}
	return c.Filesystem.Open(name)
}

// Each reference of the remote that is new asks for an object that the clone does not have.
func TestAFetchOfManyReferencesLoadsTheIndexesAFewTimes(t *testing.T) {
	repo := newRepository(t)
	newRemote(t, repo)
	disk := &counting{Filesystem: newClone(t).Storer.(*filesystem.Storage).Filesystem()}
	clone := must.Get(gogit.Open(filesystem.NewStorage(disk, cache.NewObjectLRUDefault()), nil))(t)
	store := newStore(t, clone, "refs/remotes/origin/main", git.Options{Fetch: &gogit.FetchOptions{}})
	for _, content := range []string{"one", "two"} {
		commit := repo.write(map[string]string{"a.md": content})
		for i := range 50 {
			name := plumbing.NewBranchReferenceName(fmt.Sprint(content, i))
			must.Do(t, repo.Storer.SetReference(plumbing.NewHashReference(name, commit)))
		}
		if got := read(t, snapshot(t, store), "a.md"); got != content {
			t.Errorf("a.md = %q, want %q", got, content)
		}
	}
	if got := disk.indexes.Load(); got > 10 {
		t.Errorf("%d indexes are opened", got)
	}
}
