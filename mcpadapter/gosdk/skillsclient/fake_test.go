package skillsclient_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk/skillsclient"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ctx = context.Background()

// The protocol revisions of the tests, one legacy and one modern.
var revisions = []string{"2025-11-25", "2026-07-28"}

// A fake is an MCP server that returns what a test wants, including lies.
type fake struct {
	server *mcp.Server

	mu    sync.Mutex
	files map[string]string                             // by URI
	list  func(ctx context.Context, cursor string) page // replaces entries
	read  func(ctx context.Context, uri string) (*mcp.ReadResourceResult, error)
	get   func(uri string) any // replaces entries
	// entries are the skills of the list, as JSON values.
	entries []any
	ttl     *int64
	log     []string // "method uri" of each request
}

type page struct {
	mcp.ResultBase
	Skills     any    `json:"skills"`
	NextCursor string `json:"nextCursor,omitempty"`
	TTL        *int64 `json:"ttlMs,omitempty"`
}

type got struct {
	mcp.ResultBase
	Skill any `json:"skill"`
}

type cursorParams struct {
	mcp.ParamsBase
	Cursor string `json:"cursor"`
}

type uriParams struct {
	mcp.ParamsBase
	URI string `json:"uri"`
}

func newFake(t testing.TB, capabilities *mcp.ServerCapabilities) *fake {
	t.Helper()
	f := &fake{files: map[string]string{}}
	if capabilities == nil {
		capabilities = &mcp.ServerCapabilities{Resources: &mcp.ResourceCapabilities{ListChanged: true}}
		capabilities.AddExtension(mcpadapter.SkillsExtension, nil)
	}
	f.server = mcp.NewServer(&mcp.Implementation{Name: "local", Version: "1"}, &mcp.ServerOptions{Capabilities: capabilities})
	must.Do(t, mcp.AddReceivingCustomMethod(f.server, "skills/list", func(ctx context.Context, _ *mcp.ServerSession, p *cursorParams) (*page, error) {
		f.record("skills/list " + p.Cursor)
		f.mu.Lock()
		list, all := f.list, page{Skills: slices.Clone(f.entries), TTL: f.ttl}
		f.mu.Unlock()
		if list != nil {
			all = list(ctx, p.Cursor)
		}
		return &all, nil
	}))
	must.Do(t, mcp.AddReceivingCustomMethod(f.server, "skills/get", func(_ context.Context, _ *mcp.ServerSession, p *uriParams) (*got, error) {
		f.record("skills/get " + p.URI)
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.get != nil {
			return &got{Skill: f.get(p.URI)}, nil
		}
		for _, e := range f.entries {
			if e, ok := e.(entry); ok && e.URI == p.URI {
				return &got{Skill: e}, nil
			}
		}
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "no skill"}
	}))
	f.server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			read, ok := r.(*mcp.ReadResourceRequest)
			if !ok {
				return next(ctx, method, r)
			}
			uri := read.Params.URI
			f.record("resources/read " + uri)
			f.mu.Lock()
			answer := f.read
			content, ok := f.files[uri]
			f.mu.Unlock()
			if answer != nil {
				result, err := answer(ctx, uri)
				if err != nil {
					return nil, err
				}
				return result, nil
			}
			if !ok {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "no resource"}
			}
			return contentsOf(uri, content), nil
		}
	})
	return f
}

func contentsOf(uri, content string) *mcp.ReadResourceResult {
	c := &mcp.ResourceContents{URI: uri, Blob: []byte(content)}
	if strings.HasSuffix(uri, ".md") && content != "" {
		c.Text, c.Blob = content, nil
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{c}}
}

func (f *fake) record(request string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, strings.TrimSpace(request))
}

// requests returns and forgets the requests so far.
func (f *fake) requests() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	log := f.log
	f.log = nil
	return log
}

// change changes the fake.
func (f *fake) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
}

type entry struct {
	URI         string         `json:"uri"`
	Frontmatter map[string]any `json:"frontmatter"`
	Resources   any            `json:"resources"`
}

type resource struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
}

func digest(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// add publishes a skill with the description "Does name", or replaces the skill. The map
// holds the files beside SKILL.md.
func (f *fake) add(path, body string, files map[string]string) entry {
	name := path[strings.LastIndex(path, "/")+1:]
	root := "skill://" + path + "/"
	text := "---\nname: " + name + "\ndescription: Does " + name + "\n---\n" + body
	e := entry{URI: root + "SKILL.md", Frontmatter: map[string]any{"name": name, "description": "Does " + name}}
	resources := []resource{{root + "SKILL.md", digest(text), int64(len(text))}}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.files[root+"SKILL.md"] = text
	for file, content := range files {
		f.files[root+file] = content
		resources = append(resources, resource{root + file, digest(content), int64(len(content))})
	}
	e.Resources = resources
	f.entries = slices.DeleteFunc(f.entries, func(old any) bool { o, ok := old.(entry); return ok && o.URI == e.URI })
	f.entries = append(f.entries, e)
	return e
}

// connect returns the skills of a fake. The end of the test closes the session.
func connect(t testing.TB, h *skillsclient.Host, label string, f *fake, revision string) *skillsclient.Server {
	t.Helper()
	s := must.Get(h.Server(label, session(t, h, f, revision)))(t)
	t.Cleanup(func() { s.Close() })
	return s
}

func session(t testing.TB, h *skillsclient.Host, f *fake, revision string) *mcp.ClientSession {
	t.Helper()
	near, far := mcp.NewInMemoryTransports()
	server := must.Get(f.server.Connect(ctx, far, nil))(t)
	client := must.Get(h.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil))(t)
	session := must.Get(client.Connect(ctx, near, &mcp.ClientSessionOptions{ProtocolVersion: revision}))(t)
	t.Cleanup(func() {
		session.Close()
		server.Wait()
	})
	must.Equal(t, "the session speaks", revision, session.InitializeResult().ProtocolVersion)
	return session
}

// withJSON returns the JSON form of a value with a member replaced. A nil value removes the
// member.
func withJSON(t testing.TB, value any, key string, replacement any) any {
	t.Helper()
	raw := must.Get(json.Marshal(value))(t)
	var members map[string]any
	must.Do(t, json.Unmarshal(raw, &members))
	if members[key] = replacement; replacement == nil {
		delete(members, key)
	}
	return members
}
