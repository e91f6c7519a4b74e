//go:build unix

package servertest

import (
	"bytes"
	"context"
	"crypto/md5"
	"fmt"
	"log"
	"maps"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
	gocloud "gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

const account = "toolshelf"

var (
	socket  string                                                // address of the S3 server
	objects string                                                // directory of the S3 server, with a directory for each bucket
	stored  = &attributes{values: map[string]map[string][]byte{}} // of the objects
)

func TestMain(m *testing.M) {
	if isReplica() {
		serveReplica()
		return
	}
	os.Exit(runWithServer(m))
}

// runWithServer runs the tests with a versitygw server, which stores the objects in a temporary
// directory.
func runWithServer(m *testing.M) int {
	// The path is short, because the path of a socket has about 100 bytes.
	dir := must.Get(os.MkdirTemp("", "s3"))(must.Program)
	defer os.RemoveAll(dir)
	socket = filepath.Join(dir, "socket")
	objects = filepath.Join(dir, "objects")
	must.Do(must.Program, os.Mkdir(objects, 0o700))
	// posix.New makes the directory of the objects the working directory of the process.
	backend := must.Get(posix.New(objects, stored, posix.PosixOpts{}))(must.Program)
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() {
		stopped <- embedgw.RunVersityGW(ctx, backend, &embedgw.Config{RootUserAccess: account, RootUserSecret: account, Ports: []string{socket},
			MaxConnections: 1000, MaxRequests: 1000, MultipartMaxParts: 100, Quiet: true, KeepAlive: true, AccessLog: accessLog()})
	}()
	defer func() {
		cancel()
		<-stopped
	}()
	for {
		select {
		case err := <-stopped:
			log.Fatal(err)
		default:
		}
		if conn, err := net.Dial("unix", socket); err == nil {
			conn.Close()
			break
		}
		runtime.Gosched()
	}
	return m.Run()
}

// accessLog is a file with a line for each answer of the server.
func accessLog() string { return filepath.Join(filepath.Dir(socket), "log") }

// answers returns the number of requests that the server has answered.
func answers(t *testing.T) int {
	t.Helper()
	return bytes.Count(must.Get(os.ReadFile(accessLog()))(t), []byte("\n"))
}

// An answer replaces the response of the server, unless both results are nil.
type answer func(*http.Request) (*http.Response, error)

// A transport sends requests to the server, and counts the requests.
type transport struct {
	http.RoundTripper
	list, get, head atomic.Int64
	answer          atomic.Pointer[answer]
}

func (c *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	switch {
	case r.Method == http.MethodHead:
		c.head.Add(1)
	case r.Method == http.MethodGet && r.URL.Query().Has("list-type"):
		c.list.Add(1)
	case r.Method == http.MethodGet:
		c.get.Add(1)
	}
	if answer := c.answer.Load(); answer != nil {
		if response, err := (*answer)(r); response != nil || err != nil {
			return response, err
		}
	}
	return c.RoundTripper.RoundTrip(r)
}

// intercept passes each request to f. With nil, the server answers all requests.
func (c *transport) intercept(f answer) {
	if f == nil {
		c.answer.Store(nil)
		return
	}
	c.answer.Store(&f)
}

// counted returns the requests that do has sent.
func (c *transport) counted(do func()) string {
	list, get, head := c.list.Load(), c.get.Load(), c.head.Load()
	do()
	return fmt.Sprintf("%d LIST, %d GET, %d HEAD", c.list.Load()-list, c.get.Load()-get, c.head.Load()-head)
}

var buckets atomic.Int64

// A bucket is a new bucket of the server.
type bucket struct {
	t      *testing.T
	client *s3.Client
	name   string
	*transport
}

// dialing returns a transport to the server at a socket.
func dialing(socket string) *http.Transport {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}
	return &http.Transport{DialContext: dial, MaxIdleConnsPerHost: 100}
}

func newClient(transport http.RoundTripper) *s3.Client {
	return s3.New(s3.Options{
		BaseEndpoint: aws.String("http://s3.test"), UsePathStyle: true, Region: "us-east-1", RetryMaxAttempts: 1,
		HTTPClient: &http.Client{Transport: transport},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: account, SecretAccessKey: account}, nil
		}),
	})
}

func newBucket(t *testing.T) *bucket {
	t.Helper()
	direct := dialing(socket)
	t.Cleanup(direct.CloseIdleConnections)
	b := &bucket{t: t, name: fmt.Sprintf("bucket%d", buckets.Add(1)), transport: &transport{RoundTripper: direct}}
	b.client = newClient(b.transport)
	must.Get(b.client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &b.name}))(t)
	return b
}

// open returns the bucket for a store.
func (b *bucket) open() *gocloud.Bucket {
	b.t.Helper()
	opened := must.Get(s3blob.OpenBucket(b.t.Context(), b.client, b.name, nil))(b.t)
	b.t.Cleanup(func() { opened.Close() })
	return opened
}

func (b *bucket) put(key, content string) {
	b.t.Helper()
	object := &s3.PutObjectInput{Bucket: &b.name, Key: &key, Body: strings.NewReader(content)}
	must.Get(b.client.PutObject(b.t.Context(), object))(b.t)
}

// place writes an object into the directory of the server. A request for each of 10,000 objects
// would take a minute.
func (b *bucket) place(key, content string) {
	b.t.Helper()
	file := filepath.Join(objects, b.name, filepath.FromSlash(key))
	must.Do(b.t, os.MkdirAll(filepath.Dir(file), 0o700))
	must.Do(b.t, os.WriteFile(file, []byte(content), 0o600))
	stored.StoreAttribute(nil, b.name, key, "etag", fmt.Appendf(nil, "%x", md5.Sum([]byte(content))))
}

func (b *bucket) delete(key string) {
	b.t.Helper()
	object := &s3.DeleteObjectInput{Bucket: &b.name, Key: &key}
	must.Get(b.client.DeleteObject(b.t.Context(), object))(b.t)
}

func isList(r *http.Request) bool { return r.URL.Query().Has("list-type") }

func isObject(r *http.Request) bool { return !isList(r) && strings.Count(r.URL.Path, "/") > 1 }

// attributes holds the attributes of objects in memory, because versitygw otherwise writes several
// files for each object.
type attributes struct {
	mu     sync.Mutex
	values map[string]map[string][]byte // by bucket and object, by attribute
}

var _ meta.MetadataStorer = (*attributes)(nil)

func (a *attributes) RetrieveAttribute(_ *os.File, bucket, object, attribute string) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	value, ok := a.values[path.Join(bucket, object)][attribute]
	if !ok {
		return nil, meta.ErrNoSuchKey
	}
	return value, nil
}

func (a *attributes) StoreAttribute(_ *os.File, bucket, object, attribute string, value []byte) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	name := path.Join(bucket, object)
	if a.values[name] == nil {
		a.values[name] = map[string][]byte{}
	}
	a.values[name][attribute] = value
	return nil
}

func (a *attributes) DeleteAttribute(bucket, object, attribute string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.values[path.Join(bucket, object)], attribute)
	return nil
}

func (a *attributes) ListAttributes(bucket, object string) ([]string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Collect(maps.Keys(a.values[path.Join(bucket, object)])), nil
}

func (a *attributes) DeleteAttributes(bucket, object string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.values, path.Join(bucket, object))
	return nil
}

func (a *attributes) RenameObject(bucket, before, after string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	before, after = path.Join(bucket, before), path.Join(bucket, after)
	for name, values := range maps.Clone(a.values) {
		if below, ok := strings.CutPrefix(name, before); ok && (below == "" || below[0] == '/') {
			delete(a.values, name)
			a.values[after+below] = values
		}
	}
	return nil
}
