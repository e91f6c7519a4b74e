package azure_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	gocloud "gocloud.dev/blob"
	"gocloud.dev/blob/azureblob"

	"github.com/toolshelf-go/toolshelf/stores/blob"
	"github.com/toolshelf-go/toolshelf/stores/blob/azure"
)

const modified = "Fri, 02 Jan 2026 03:04:05 GMT" // of all versions

// A server has one blob, and answers the requests of the REST API. The blob was written in
// blocks, so it has no MD5 hash.
type server struct {
	content string
	puts    int
	reads   []string // conditions of the reads
}

func (s *server) put(content string) { s.content, s.puts = content, s.puts+1 }

func (s *server) Do(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	etag := fmt.Sprintf("0x%d", s.puts)
	w.Header().Set("Last-Modified", modified)
	switch {
	case r.URL.Query().Get("comp") == "list":
		w.Header().Set("Content-Type", "application/xml")
		fmt.Fprintf(w, `<?xml version="1.0" encoding="utf-8"?><EnumerationResults ContainerName="team"><Blobs><Blob><Name>deploy.md</Name><Properties>`+
			`<Last-Modified>%s</Last-Modified><Etag>%s</Etag><Content-Length>%d</Content-Length><BlobType>BlockBlob</BlobType>`+
			`</Properties></Blob></Blobs><NextMarker/></EnumerationResults>`, modified, etag, len(s.content))
	case r.URL.Path != "/team/deploy.md":
		w.WriteHeader(http.StatusNotFound)
	default:
		condition := r.Header.Get("If-Match")
		if r.Method == http.MethodGet {
			s.reads = append(s.reads, condition)
		}
		if condition != "" && condition != `"`+etag+`"` {
			w.Header().Set("X-Ms-Error-Code", "ConditionNotMet")
			w.WriteHeader(http.StatusPreconditionFailed)
			break
		}
		w.Header().Set("ETag", `"`+etag+`"`)
		w.Header().Set("X-Ms-Creation-Time", modified)
		w.Header().Set("Content-Length", fmt.Sprint(len(s.content)))
		if r.Method == http.MethodGet {
			io.WriteString(w, s.content)
		}
	}
	response := w.Result()
	response.Request = r
	return response, nil
}

func open(t *testing.T, s *server) *gocloud.Bucket {
	t.Helper()
	client, err := container.NewClientWithNoCredential("https://azure.test/team", &container.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: s}})
	if err != nil {
		t.Fatal(err)
	}
	bucket, err := azureblob.OpenBucket(t.Context(), client, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { bucket.Close() })
	return bucket
}

func version(t *testing.T, fsys fs.FS) string {
	t.Helper()
	info, err := fs.Stat(fsys, "deploy.md")
	if err != nil {
		t.Fatal(err)
	}
	return info.(interface{ Version() string }).Version()
}

func TestVersionsAreETags(t *testing.T) {
	s := new(server)
	s.put("one")
	store, err := blob.New(open(t, s), blob.Options{Versions: azure.Versions})
	if err != nil {
		t.Fatal(err)
	}
	before, err := store.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	file, err := store.Open("deploy.md")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	opened, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	listed, head, read := version(t, before), version(t, store), opened.(interface{ Version() string }).Version()
	if listed != "0x1" || head != "0x1" || read != "0x1" {
		t.Errorf("versions: %q in the listing, %q of the metadata, %q of the content, want 0x1", listed, head, read)
	}
	if content, err := fs.ReadFile(before, "deploy.md"); string(content) != "one" || err != nil {
		t.Errorf("content %q, %v", content, err)
	}

	s.put("two") // with the same size and the same time
	if _, err := fs.ReadFile(before, "deploy.md"); !errors.Is(err, blob.ErrChanged) {
		t.Errorf("a changed object: %v, want %v", err, blob.ErrChanged)
	}
	now, err := store.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if content, err := fs.ReadFile(now, "deploy.md"); string(content) != "two" || err != nil {
		t.Errorf("content %q, %v", content, err)
	}
	if got := strings.Join(s.reads, ","); got != `,"0x1","0x1","0x2"` {
		t.Errorf("conditions %q", got)
	}
}
