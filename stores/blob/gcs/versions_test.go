package gcs_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	gocloud "gocloud.dev/blob"
	"gocloud.dev/blob/gcsblob"
	"gocloud.dev/gcp"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/stores/blob"
	"github.com/toolshelf-go/toolshelf/stores/blob/gcs"
	"github.com/toolshelf-go/toolshelf/stores/blob/internal/versiontest"
)

const modified = "2026-01-02T03:04:05Z" // of all generations

// A server has one object, and answers the requests of the JSON API for metadata and of the XML
// API for contents. The object is composite, so it has no MD5 hash.
type server struct {
	content    string
	generation int
	reads      []string // conditions of the reads
}

func (s *server) put(content string) { s.content, s.generation = content, s.generation+1 }

func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	object := map[string]any{
		"kind": "storage#object", "bucket": "team", "name": "deploy.md", "size": fmt.Sprint(len(s.content)),
		"updated": modified, "generation": fmt.Sprint(s.generation), "componentCount": 2,
	}
	switch r.URL.Path {
	case "/storage/v1/b/team/o":
		json.NewEncoder(w).Encode(map[string]any{"kind": "storage#objects", "items": []any{object}})
	case "/storage/v1/b/team/o/deploy.md":
		json.NewEncoder(w).Encode(object)
	case "/team/deploy.md":
		condition := r.Header.Get("X-Goog-If-Generation-Match")
		s.reads = append(s.reads, condition)
		if condition != "" && condition != fmt.Sprint(s.generation) {
			w.WriteHeader(http.StatusPreconditionFailed)
			break
		}
		w.Header().Set("X-Goog-Generation", fmt.Sprint(s.generation))
		w.Header().Set("Last-Modified", "Fri, 02 Jan 2026 03:04:05 GMT")
		w.Header().Set("Content-Length", fmt.Sprint(len(s.content)))
		io.WriteString(w, s.content)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
	response := w.Result()
	response.Request = r
	return response, nil
}

func open(t *testing.T, s *server) *gocloud.Bucket {
	t.Helper()
	bucket := must.Get(gcsblob.OpenBucket(t.Context(), &gcp.HTTPClient{Client: http.Client{Transport: s}}, "team", nil))(t)
	t.Cleanup(func() { bucket.Close() })
	return bucket
}

func TestVersionsAreGenerations(t *testing.T) {
	s := new(server)
	versiontest.Run(t, open(t, s), gcs.Versions, s.put, "1")
	must.Equal(t, "conditions", ",1,1,2", strings.Join(s.reads, ","))
}

// Without a generation and a hash, neither the size nor the time shows a change. A catalog reads
// the object again.
func TestAnObjectWithoutAVersionIsNeverStale(t *testing.T) {
	s := new(server)
	store := must.Get(blob.New(open(t, s), blob.Options{}))(t)
	catalog := must.Get(toolshelf.New(toolshelf.WithCommandsDir(), toolshelf.WithCommandsFS("team", store)))(t)
	defer catalog.Close()
	for _, content := range []string{"one", "two", "six"} {
		s.put(content)
		list, err := catalog.List(t.Context(), toolshelf.Page{})
		if err != nil || list.Commands[0].Description != content {
			t.Errorf("List: %v, %v, want %s", list.Commands, err, content)
		}
		must.Equal(t, "Get", content, must.Get(catalog.Get(t.Context(), "deploy"))(t).Content)
	}
}
