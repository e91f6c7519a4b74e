package main

import (
	"context"
	"encoding/json"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/examples/sample"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func catalog(t *testing.T, options ...toolshelf.Option) *toolshelf.Catalog {
	t.Helper()
	c := must.Get(toolshelf.New(options...))(t)
	t.Cleanup(func() { c.Close() })
	return c
}

func sampleCatalog(t *testing.T) *toolshelf.Catalog {
	return catalog(t, toolshelf.WithFs(afero.FromIOFS{FS: sample.FS()}), toolshelf.WithNestedCommands())
}

// get requests a path and decodes the answer.
func get(t *testing.T, h http.Handler, path string, answer any) (status int) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	if err := json.Unmarshal(w.Body.Bytes(), answer); err != nil {
		t.Fatalf("%s: %v in %s", path, err, w.Body)
	}
	return w.Code
}

func TestCursorsLeadThroughAllCommands(t *testing.T) {
	c := sampleCatalog(t)
	var got, want []string
	for page := ""; ; {
		var list toolshelf.CommandList
		if status := get(t, handler(c), "/commands?size=20&cursor="+url.QueryEscape(page), &list); status != 200 {
			t.Fatalf("status %d", status)
		}
		for _, command := range list.Commands {
			got = append(got, command.Name)
		}
		if page = list.Pagination.NextCursor; page == "" {
			break
		}
	}
	for command, err := range c.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, command.Name)
	}
	if !slices.Equal(got, want) || len(want) <= 40 {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestCommandsAndSkills(t *testing.T) {
	h := handler(sampleCatalog(t))
	for path, members := range map[string][]string{
		"/commands/frontend:new-component": {"content", "description", "name"},
		"/skills/release-notes":            {"content", "description", "files", "name"},
	} {
		var got map[string]any
		if status := get(t, h, path, &got); status != 200 || !strings.HasSuffix(path, "/"+got["name"].(string)) {
			t.Errorf("%s is %d, %v", path, status, got)
		}
		if keys := slices.Sorted(maps.Keys(got)); !slices.Equal(keys, members) {
			t.Errorf("%s has the members %q, want %q", path, keys, members)
		}
	}
}

func TestErrorsHaveStatuses(t *testing.T) {
	closed := catalog(t)
	closed.Close()
	large := catalog(t, toolshelf.WithMaxFileSize(1), toolshelf.WithCommandsFS("large", fstest.MapFS{"a.md": {Data: []byte("large")}}))
	for _, tt := range []struct {
		catalog *toolshelf.Catalog
		path    string
		status  int
		code    toolshelf.Code
	}{
		{sampleCatalog(t), "/commands?size=ten", 400, "INVALID_PAGE_SIZE"},
		{sampleCatalog(t), "/commands?size=101", 400, "INVALID_PAGE_SIZE"},
		{sampleCatalog(t), "/commands?cursor=x", 400, "INVALID_CURSOR"},
		{sampleCatalog(t), "/commands/..%2Fsecret", 400, "INVALID_COMMAND_NAME"},
		{sampleCatalog(t), "/commands/none", 404, "COMMAND_NOT_FOUND"},
		{sampleCatalog(t), "/skills/..%2Fsecret", 400, "INVALID_SKILL_NAME"},
		{sampleCatalog(t), "/skills/none", 404, "SKILL_NOT_FOUND"},
		{catalog(t, toolshelf.WithFs(afero.NewMemMapFs())), "/commands", 404, "DIRECTORY_NOT_FOUND"},
		{large, "/commands/a", 500, "FILE_TOO_LARGE"},
		{closed, "/commands", 500, "CLOSED"},
	} {
		var answer struct {
			Error struct{ Code, Message string }
		}
		status := get(t, handler(tt.catalog), tt.path, &answer)
		if status != tt.status || answer.Error.Code != string(tt.code) || answer.Error.Message == "" {
			t.Errorf("%s: got %d, %+v; want %d, %s", tt.path, status, answer, tt.status, tt.code)
		}
	}
}

// A hangingFs reports the first Open and does not return from Open.
type hangingFs struct {
	afero.Fs
	begun, hang chan struct{}
}

func (f hangingFs) Open(string) (afero.File, error) {
	f.begun <- struct{}{}
	<-f.hang
	return nil, context.Canceled
}

func TestDisconnectEndsTheWork(t *testing.T) {
	fsys := hangingFs{afero.NewMemMapFs(), make(chan struct{}, 100), make(chan struct{})}
	must.Do(t, fsys.Mkdir("commands", 0o755))
	c := catalog(t, toolshelf.WithFs(fsys))
	t.Cleanup(func() { close(fsys.hang) }) // before Close, which waits
	ended := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		handler(c).ServeHTTP(w, r)
	}))
	defer server.Close()
	ctx, disconnect := context.WithCancel(t.Context())
	request := must.Get(http.NewRequestWithContext(ctx, "GET", server.URL+"/commands", nil))(t)
	go func() {
		<-fsys.begun
		disconnect()
	}()
	if response, err := http.DefaultClient.Do(request); err == nil {
		response.Body.Close()
		t.Errorf("status %d", response.StatusCode)
	}
	<-ended // although the filesystem hangs
}

func TestRunEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(ctx, "127.0.0.1:0", t.TempDir()); err != nil {
		t.Error(err)
	}
}

func TestRunReportsAnAddressInUse(t *testing.T) {
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	if err := run(t.Context(), listener.Addr().String(), "."); err == nil || !strings.Contains(err.Error(), "listen") {
		t.Errorf("got %v", err)
	}
}
