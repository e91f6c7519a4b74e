//go:build unix

package servertest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gocloud.dev/blob/s3blob"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk"
	"github.com/toolshelf-go/toolshelf/stores/blob"
	"github.com/toolshelf-go/toolshelf/stores/blob/s3"
)

// The tests of this file run three stateless replicas of an MCP server over one bucket. Each replica
// is a process. The writer of the bucket publishes an event for each change to a stream of three
// NATS servers, and each replica follows the stream.

// These environment variables of the process of a replica have the address of the S3 server, the
// bucket, and the addresses of the NATS servers.
const (
	socketVariable = "FLEET_S3_SOCKET"
	bucketVariable = "FLEET_BUCKET"
	natsVariable   = "FLEET_NATS"
)

const heartbeat = 5 * time.Second // of the feed

func isReplica() bool { return os.Getenv(socketVariable) != "" }

// serveReplica serves prompts from the bucket, prints the URL, and ends at the end of stdin.
func serveReplica() {
	client := newClient(dialing(os.Getenv(socketVariable)))
	opened := must.Get(s3blob.OpenBucket(context.Background(), client, os.Getenv(bucketVariable), nil))
	store := must.Get(blob.New(opened(must.Program), blob.Options{Versions: s3.Versions}))(must.Program)
	feed := newFeed(os.Getenv(natsVariable), heartbeat)
	catalog := must.Get(toolshelf.New(toolshelf.WithCommandsDir(), toolshelf.WithSkillsDir(),
		toolshelf.WithCommandsFS("shelf", store), toolshelf.WithFeed(3*heartbeat, feed)))(must.Program)
	// Several pages, so that a walk changes its replica.
	adapter := must.Get(mcpadapter.New(catalog, mcpadapter.WithPageSize(50)))(must.Program)
	server := mcp.NewServer(&mcp.Implementation{Name: "fleet", Version: "1.0.0"}, nil)
	must.Do(must.Program, gosdk.Register(server, adapter))
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}))
	fmt.Println(web.URL)
	io.Copy(io.Discard, os.Stdin)
}

// A replica is a process that runs serveReplica.
type replica struct {
	url  string
	kill func() // ends the process without a warning
}

func newReplica(t *testing.T, b *bucket, c *cluster) replica {
	t.Helper()
	process := exec.Command(must.Get(os.Executable())(t))
	process.Env = append(os.Environ(), socketVariable+"="+socket, bucketVariable+"="+b.name,
		natsVariable+"="+c.urls)
	process.Stderr = os.Stderr
	must.Get(process.StdinPipe())(t) // open until the end of this process
	stdout := must.Get(process.StdoutPipe())(t)
	must.Do(t, process.Start())
	kill := sync.OnceFunc(func() {
		process.Process.Kill()
		process.Wait()
	})
	t.Cleanup(kill)
	return replica{strings.TrimSpace(must.Get(bufio.NewReader(stdout).ReadString('\n'))(t)), kill}
}

// A balancer passes each request to the next replica. If the replica fails, the balancer repeats
// the request with the next replica: requests for prompts change nothing.
type balancer struct {
	urls             []string
	next             atomic.Int64
	served, repeated atomic.Int64
}

func (b *balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	for range b.urls {
		response, content, err := b.send(r, body)
		if err != nil {
			b.repeated.Add(1)
			continue
		}
		b.served.Add(1)
		for name, values := range response.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(response.StatusCode)
		w.Write(content)
		return
	}
	http.Error(w, "no replica answers", http.StatusBadGateway)
}

// send sends the request to the next replica and reads the whole response.
func (b *balancer) send(r *http.Request, body []byte) (*http.Response, []byte, error) {
	url := b.urls[int(b.next.Add(1))%len(b.urls)]
	request, err := http.NewRequestWithContext(r.Context(), r.Method, url+r.URL.Path,
		bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	request.Header = r.Header.Clone()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return response, content, err
}

// A walk is what a client has seen on the pages of prompts/list.
type walk struct {
	names   []string
	cursors []string // of the pages; the last cursor is empty
}

// walkPrompts requests all pages of prompts/list, and calls visit after each page.
func walkPrompts(
	ctx context.Context, url string, visit func(page int) error,
) (w walk, err error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "walker", Version: "1.0.0"}, nil)
	transport := &mcp.StreamableClientTransport{Endpoint: url, DisableStandaloneSSE: true}
	session, err := client.Connect(ctx, transport, nil)
	if err != nil {
		return w, err
	}
	defer session.Close()
	for params := new(mcp.ListPromptsParams); ; {
		page, err := session.ListPrompts(ctx, params)
		if err != nil {
			return w, err
		}
		for _, prompt := range page.Prompts {
			w.names = append(w.names, prompt.Name)
		}
		w.cursors = append(w.cursors, page.NextCursor)
		if err := visit(len(w.cursors)); err != nil {
			return w, err
		}
		if page.NextCursor == "" {
			return w, nil
		}
		params.Cursor = page.NextCursor
	}
}

// check reports a stable prompt that is missing, and any prompt that appears twice. The result is
// the number of other prompts.
func (w walk) check(stable int) (others int, err error) {
	seen := map[string]bool{}
	for _, name := range w.names {
		if seen[name] {
			return 0, fmt.Errorf("the prompt %s appears twice", name)
		}
		seen[name] = true
	}
	for i := range stable {
		if !seen[stableName(i)] {
			return 0, fmt.Errorf("the prompt %s is missing", stableName(i))
		}
	}
	return len(seen) - stable, nil
}

func stableName(i int) string { return fmt.Sprintf("stable-%04d", i) }

// A shelf is a bucket whose changes are also events.
type shelf struct {
	*bucket
	*cluster
}

func prompt(name string) string {
	return "---\ndescription: The prompt " + name +
		"\nargument-hint: \"[topic]\"\n---\nExplain $ARGUMENTS.\n"
}

func (s shelf) write(ctx context.Context, name string) error {
	key, text := name+".md", prompt(name)
	_, err := s.client.PutObject(ctx,
		&awss3.PutObjectInput{Bucket: &s.bucket.name, Key: &key, Body: strings.NewReader(text)})
	return errors.Join(err, s.publish(key))
}

// change makes the i-th change of a number of names between the stable names. The changes write all
// names, delete all names, and so on.
func (s shelf) change(ctx context.Context, i, names int) error {
	const step = 7919 // a prime, so consecutive changes are on different pages
	name := stableName(i*step%names) + "-volatile"
	if i/names%2 == 0 {
		return s.write(ctx, name)
	}
	key := name + ".md"
	_, err := s.client.DeleteObject(ctx,
		&awss3.DeleteObjectInput{Bucket: &s.bucket.name, Key: &key})
	return errors.Join(err, s.publish(key))
}

// await walks over each replica until done returns true.
func await(t *testing.T, replicas []replica, done func(i int, w walk) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for i, r := range replicas {
		for end := false; !end; {
			w, err := walkPrompts(ctx, r.url, func(int) error { return nil })
			if err != nil {
				t.Fatalf("replica %d: %v", i, err)
			}
			end = done(i, w)
		}
	}
}

// While nothing changes, the cursors of all replicas are the same, and the pages of prompts/list
// make no request of the S3 server. Six clients then walk the pages. Each page comes from the next
// replica, objects are written and deleted between the pages, and a replica and the leader of the
// stream are stopped. Afterwards the other replicas list a new prompt.
func TestEachWalkerSeesEachStablePromptOnce(t *testing.T) {
	const volatile = 600
	stable := 600
	if testing.Short() {
		stable = 200
	}
	s := shelf{newBucket(t), newCluster(t)}
	for i := range stable {
		s.place(stableName(i)+".md", prompt(stableName(i)))
	}
	var replicas []replica
	for range 3 {
		replicas = append(replicas, newReplica(t, s.bucket, s.cluster))
	}

	var cursors []string
	await(t, replicas, func(i int, w walk) bool {
		if i == 0 {
			cursors = w.cursors
		}
		must.Match(t, fmt.Sprint("cursors of replica ", i), cursors, w.cursors)
		return true
	})

	// The walks that make requests are before the connection of a feed, and at a heartbeat.
	before := answers(t)
	await(t, replicas, func(i int, w walk) bool {
		after := answers(t)
		quiet := after == before
		before = after
		return quiet
	})

	front := &balancer{}
	for _, r := range replicas {
		front.urls = append(front.urls, r.url)
	}
	web := httptest.NewServer(front)
	defer web.Close()
	leader := sync.OnceValue(func() string { // the third page of a client stops the leader
		replicas[1].kill()
		return s.stopLeader()
	})
	var changes atomic.Int64
	var clients sync.WaitGroup
	for i := range 6 {
		clients.Go(func() {
			w, err := walkPrompts(t.Context(), web.URL, func(page int) error {
				if page == 3 {
					leader()
				}
				for range volatile / 50 {
					if err := s.change(t.Context(), int(changes.Add(1)), volatile); err != nil {
						return err
					}
				}
				return nil
			})
			others := 0
			if err == nil {
				others, err = w.check(stable)
			}
			if err != nil {
				t.Errorf("client %d: %v", i, err)
			}
			t.Logf("client %d: %d pages, and %d of the prompts that come and go",
				i, len(w.cursors), others)
		})
	}
	clients.Wait()
	t.Logf("%d changes, %d requests repeated with another replica, stopped %s",
		changes.Load(), front.repeated.Load(), leader())
	if leader() == "" {
		t.Error("the stream had no leader")
	}

	const last = "written-last"
	must.Do(t, s.write(t.Context(), last))
	start := time.Now()
	await(t, []replica{replicas[0], replicas[2]}, func(_ int, w walk) bool {
		return slices.Contains(w.names, last)
	})
	t.Logf("the other replicas list a new prompt after %v", time.Since(start))
}

func TestCheckReportsMissingAndRepeatedPrompts(t *testing.T) {
	for _, test := range []struct {
		names string
		ok    bool
	}{
		{"stable-0000 stable-0000-volatile stable-0001", true},
		{"stable-0000 stable-0001 stable-0001", false},
		{"stable-0000 other other stable-0001", false},
		{"stable-0000", false},
	} {
		w := walk{names: strings.Fields(test.names)}
		if others, err := w.check(2); (err == nil) != test.ok || err == nil && others != 1 {
			t.Errorf("check of %q: %d, %v", test.names, others, err)
		}
	}
}
