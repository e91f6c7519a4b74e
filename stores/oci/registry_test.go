package oci_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/stores/oci"
)

// A registry serves an image layout with the pull requests of the distribution
// specification.
type registry struct {
	*layout
	mu       sync.Mutex
	requests map[string]int // by method and kind
	fail     int            // status of all answers; 0 for the content
	hang     bool
}

func newRegistry(t *testing.T) (*registry, *remote.Repository) {
	r := &registry{layout: newLayout(t), requests: map[string]int{}}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	repo := must.Get(remote.NewRepository(strings.TrimPrefix(server.URL, "http://") + "/team/skills"))(t)
	repo.PlainHTTP = true
	repo.Client = server.Client() // the default client repeats requests
	return r, repo
}

func (r *registry) set(fail int, hang bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fail, r.hang = fail, hang
	clear(r.requests)
}

// counts returns the requests since the last call.
func (r *registry) counts() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer clear(r.requests)
	return fmt.Sprint(r.requests)
}

func (r *registry) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	kind, reference, _ := strings.Cut(strings.TrimPrefix(request.URL.Path, "/v2/team/skills/"), "/")
	r.mu.Lock()
	r.requests[request.Method+" "+kind]++
	fail, hang := r.fail, r.hang
	r.mu.Unlock()
	if hang {
		<-request.Context().Done()
		return
	}
	if fail != 0 {
		w.WriteHeader(fail)
		return
	}
	target := oci.Layout(os.DirFS(r.dir))
	desc, err := target.Resolve(request.Context(), reference)
	if kind == "blobs" {
		desc, err = v1.Descriptor{Digest: digest.Digest(reference), MediaType: "application/octet-stream"}, nil
	}
	var body io.ReadCloser
	if err == nil {
		body, err = target.Fetch(request.Context(), desc)
	}
	if err != nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	defer body.Close()
	raw, err := io.ReadAll(body)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", desc.MediaType)
	w.Header().Set("Docker-Content-Digest", desc.Digest.String())
	w.Header().Set("Content-Length", fmt.Sprint(len(raw)))
	if request.Method == http.MethodGet {
		w.Write(raw)
	}
}

func TestRequests(t *testing.T) {
	registry, repo := newRegistry(t)
	files := map[string]string{}
	var names []string
	for i := range 20 {
		name := fmt.Sprintf("c%02d.md", i)
		files[name], names = name, append(names, name)
	}
	registry.orasPush("latest", files, names...)
	store := newStore(t, repo, "latest", oci.Options{})
	want := func(calls string) {
		t.Helper()
		must.Equal(t, "requests", calls, registry.counts())
	}
	must.Match(t, "files", files, contents(t, snapshot(t, store)))
	want("map[GET blobs:20 GET manifests:1 HEAD manifests:1]")
	snapshot(t, store)
	want("map[HEAD manifests:1]")
	files["c05.md"] = "changed"
	registry.orasPush("latest", files, names...)
	must.Match(t, "files", files, contents(t, snapshot(t, store)))
	want("map[GET blobs:1 GET manifests:1 HEAD manifests:1]")

	pinned := newStore(t, repo, version(t, snapshot(t, store)), oci.Options{})
	snapshot(t, pinned)
	registry.counts()
	snapshot(t, pinned)
	want("map[]")
}

func TestAnUnreachableRegistry(t *testing.T) {
	registry, repo := newRegistry(t)
	registry.orasPush("latest", map[string]string{"a.md": "one"}, "a.md")
	errStale := errors.New("too old")
	var ages []time.Duration
	strict := newStore(t, repo, "latest", oci.Options{})
	lenient := newStore(t, repo, "latest", oci.Options{Stale: func(err error, age time.Duration) error {
		if ages = append(ages, age); len(ages) == 3 {
			return errStale
		}
		return nil
	}})
	unavailable := func(err error) bool {
		var response *errcode.ErrorResponse
		return errors.As(err, &response) && response.StatusCode == http.StatusServiceUnavailable
	}
	registry.set(http.StatusServiceUnavailable, false)
	if _, err := lenient.Snapshot(t.Context()); !unavailable(err) {
		t.Errorf("first snapshot: %v", err)
	}
	registry.set(0, false)
	snapshot(t, strict)
	files := snapshot(t, lenient)
	registry.set(http.StatusServiceUnavailable, false)
	if _, err := strict.Snapshot(t.Context()); !unavailable(err) {
		t.Errorf("without Stale: %v", err)
	}
	for range 2 {
		must.Equal(t, "the last good snapshot", version(t, files),
			version(t, snapshot(t, lenient)))
	}
	must.Fail(lenient.Snapshot(t.Context()))(t, "Stale returned an", errStale)
	if len(ages) != 3 || ages[0] <= 0 || ages[1] <= ages[0] {
		t.Errorf("ages: %v", ages)
	}
	registry.set(http.StatusForbidden, false)
	if _, err := strict.Snapshot(t.Context()); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without permission: %v", err)
	}
	registry.set(http.StatusNotFound, false)
	must.Fail(lenient.Snapshot(t.Context()))(t, "a deleted tag", fs.ErrNotExist)
}

func TestARegistryThatHangs(t *testing.T) {
	registry, repo := newRegistry(t)
	registry.orasPush("latest", map[string]string{"a.md": "one"}, "a.md")
	stale := 0
	store := newStore(t, repo, "latest", oci.Options{Timeout: 300 * time.Millisecond, Stale: func(error, time.Duration) error { stale++; return nil }})
	files, err := store.Snapshot(t.Context())
	for errors.Is(err, context.DeadlineExceeded) { // on a busy machine, 300 ms can be too short
		files, err = store.Snapshot(t.Context())
	}
	must.Do(t, err)
	registry.set(0, true)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := store.WithContext(ctx).Open("a.md"); !errors.Is(err, context.Canceled) || stale != 0 {
		t.Errorf("Open with a context that ends: %v; Stale is called %d times", err, stale)
	}
	if last := snapshot(t, store); version(t, last) != version(t, files) || stale != 1 {
		t.Errorf("not the last good snapshot; Stale is called %d times", stale)
	}
}

// A layer that disappears between the request for the manifest and the request for the
// layer is not half an artifact.
func TestALayerThatDisappears(t *testing.T) {
	registry, repo := newRegistry(t)
	registry.orasPush("latest", map[string]string{"a.md": "one", "b.md": "b"}, "a.md", "b.md")
	must.Do(t, os.Remove(registry.dir+"/blobs/sha256/"+digest.FromString("one").Encoded()))
	if _, err := newStore(t, repo, "latest", oci.Options{}).Snapshot(t.Context()); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Snapshot: %v, want an error of the layer", err)
	}
}
