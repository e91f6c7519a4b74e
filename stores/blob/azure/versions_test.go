package azure_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	gocloud "gocloud.dev/blob"
	"gocloud.dev/blob/azureblob"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/stores/blob/azure"
	"github.com/toolshelf-go/toolshelf/stores/blob/internal/versiontest"
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
	client := must.Get(container.NewClientWithNoCredential("https://azure.test/team", &container.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: s}}))(t)
	bucket := must.Get(azureblob.OpenBucket(t.Context(), client, nil))(t)
	t.Cleanup(func() { bucket.Close() })
	return bucket
}

func TestVersionsAreETags(t *testing.T) {
	s := new(server)
	versiontest.Run(t, open(t, s), azure.Versions, s.put, "0x1")
	must.Equal(t, "conditions", `,"0x1","0x1","0x2"`, strings.Join(s.reads, ","))
}
