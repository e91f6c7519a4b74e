package gosdk_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk"
)

// pages returns the names on each page of tools/list.
func pages(t testing.TB, c *mcp.ClientSession) [][]string {
	t.Helper()
	var all [][]string
	for cursor := ""; ; {
		res := must.Get(c.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor}))(t)
		names := []string{}
		for _, tool := range res.Tools {
			names = append(names, tool.Name)
		}
		all = append(all, names)
		if res.NextCursor == "" {
			return all
		}
		cursor = res.NextCursor
	}
}

func TestToolsListHasTheExactNumberOfPages(t *testing.T) {
	for _, n := range []int{0, 1, 49, 50, 51, 99, 100, 101, 150} {
		for _, own := range []int{0, 1, 50} { // number of the server's own tools
			if own > n {
				continue
			}
			for _, size := range []int{0, 7} { // page size of the SDK; 0 means 1000
				for _, revision := range revisions {
					t.Run(fmt.Sprintf("%d tools, %d the server's, by %d/%s", n, own, size, revision), func(t *testing.T) {
						s := serverOf(t, &mcp.ServerOptions{PageSize: size}, manyTools(t, n-own))
						var want []string
						for i := range n - own {
							want = append(want, fmt.Sprintf("tool_%03d", i))
						}
						for i := range own {
							name := fmt.Sprintf("own_%03d", i) // sorts before the adapter's tools
							addTool(s, name)
							want = append(want, name)
						}
						got := pages(t, connect(t, s, revision, nil))
						must.Len(t, "pages", max(1, (n+49)/50), got)
						for i, page := range got[:len(got)-1] {
							must.Len(t, i+1, 50, page)
						}
						must.Match(t, "result", want, slices.Concat(got...))
					})
				}
			}
		}
	}
}

func TestToolsListHasTheAdaptersPageSize(t *testing.T) {
	got := pages(t, connect(t, serverOf(t, nil, manyTools(t, 7, mcpadapter.WithPageSize(3))), revisions[0], nil))
	want := [][]string{{"tool_000", "tool_001", "tool_002"}, {"tool_003", "tool_004", "tool_005"}, {"tool_006"}}
	must.Match(t, "result", want, got)
}

func TestLastPageHasNoNextCursor(t *testing.T) {
	raw := must.Get(dial(t, serverOf(t, nil, manyTools(t, 50))).request("tools/list", `{"cursor":null}`))(t)
	var members map[string]json.RawMessage
	must.Do(t, json.Unmarshal(raw, &members))
	if next, ok := members["nextCursor"]; ok {
		t.Errorf("nextCursor is %s", next)
	}
}

func TestNoToolsAreAnEmptyArray(t *testing.T) {
	raw, err := dial(t, serverOf(t, nil, manyTools(t, 0))).request("tools/list", `{}`)
	if err != nil || !strings.Contains(string(raw), `"tools":[]`) {
		t.Errorf("got %s, %v", raw, err)
	}
}

// next returns the cursor of the second page of tools.
func next(t testing.TB, s *mcp.Server) string {
	t.Helper()
	return must.Get(connect(t, s, revisions[0], nil).ListTools(ctx, nil))(t).NextCursor
}

func TestInvalidCursorsAreRejected(t *testing.T) {
	s := serverOf(t, nil, manyTools(t, 120))
	good := next(t, s)
	tests := []struct{ name, cursor string }{
		{"a number", `0`},
		{"an offset", `50`},
		{"a number as text", `"0"`},
		{"an offset as text", `"50"`},
		{"base64 of something", `"YWJj"`},
		{"a short text", `"5"`},
		{"an array", `[1]`},
		{"an object", `{}`},
		{"a truth", `true`},
		{"of another list", `"` + next(t, serverOf(t, nil, manyTools(t, 121))) + `"`},
		{"of another page size", `"` + next(t, serverOf(t, nil, manyTools(t, 120, mcpadapter.WithPageSize(60)))) + `"`},
		{"altered", `"` + good[1:] + `"`},
	}
	w := dial(t, s)
	for _, tt := range tests {
		if _, err := w.request("tools/list", `{"cursor":`+tt.cursor+`}`); code(err) != -32602 {
			t.Errorf("%s: %s: got %v, want -32602", tt.name, tt.cursor, err)
		}
	}
	for _, cursor := range []string{`"` + good + `"`, `null`, `""`} {
		must.Get(w.request("tools/list", `{"cursor":`+cursor+`}`))(t)
	}
}

func TestCursorsBecomeInvalidIfTheToolsChange(t *testing.T) {
	s := serverOf(t, nil, manyTools(t, 60))
	c := connect(t, s, revisions[0], nil)
	cursor := next(t, s)
	list := func() error { _, err := c.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor}); return err }
	must.Do(t, list())
	addTool(s, "another")
	must.Equal(t, "after AddTool", -32602, code(list()))
	s.RemoveTools("another")
	must.Do(t, list())
	s.RemoveTools("tool_003")
	must.Equal(t, "after RemoveTools", -32602, code(list()))
	if got := slices.Concat(pages(t, c)...); slices.Contains(got, "tool_003") {
		t.Error("a tool that was removed is listed")
	}
}

func TestMiddlewareBelowMayHideTools(t *testing.T) {
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			res, err := next(ctx, method, req)
			if list, ok := res.(*mcp.ListToolsResult); ok {
				list.Tools = slices.DeleteFunc(list.Tools, func(t *mcp.Tool) bool { return t.Name != "tool_001" })
			}
			return res, err
		}
	})
	must.Do(t, gosdk.Register(s, manyTools(t, 60)))
	must.Match(t, "result", [][]string{{"tool_001"}}, pages(t, connect(t, s, revisions[0], nil)))
}

func TestListsArePrivateUnlessTheProgramSharesThem(t *testing.T) {
	for _, tt := range []struct {
		name string
		set  func(context.Context, mcp.Request, *mcp.Cacheable)
		want string
	}{
		{"by default", nil, `"ttlMs":0,"cacheScope":"private"`},
		{"without a time", func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "public" }, `"ttlMs":0,"cacheScope":"private"`},
		{"shared", func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.TTLMs, c.CacheScope = 1234, "public" }, `"ttlMs":1234,"cacheScope":"public"`},
		{"private", func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.TTLMs, c.CacheScope = 1234, "private" }, `"ttlMs":1234,"cacheScope":"private"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, _ := adapterOf(t, catalogtest.Memory(t, map[string]string{"commands/a.md": "A.\n", "skills/b/SKILL.md": "---\nname: b\ndescription: B\n---\n"}))
			s := serverOf(t, &mcp.ServerOptions{SetCacheable: tt.set}, a)
			for _, method := range []string{"tools/list", "prompts/list", "resources/list", "resources/templates/list", "server/discover"} {
				must.Contain(t, method, string(must.Get(open(t, s).request(method, newest(``)))(t)), tt.want)
			}
		})
	}
}

func TestServerSetsTheCacheHints(t *testing.T) {
	s := serverOf(t, &mcp.ServerOptions{SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) {
		c.TTLMs, c.CacheScope = 1234, "private"
	}}, manyTools(t, 3))
	for _, method := range []string{"tools/list", "prompts/list"} {
		must.Contain(t, method, string(must.Get(dial(t, s).request(method, `{}`))(t)),
			`"ttlMs":1234,"cacheScope":"private"`)
	}
}

// call calls a tool and returns the text of the result.
func call(t testing.TB, c *mcp.ClientSession, name string) string {
	t.Helper()
	res := must.Get(c.CallTool(ctx, &mcp.CallToolParams{Name: name}))(t)
	return res.Content[0].(*mcp.TextContent).Text
}

func TestCallsAcceptSeveralSpellings(t *testing.T) {
	files := catalogtest.Memory(t, map[string]string{"skills/paint/SKILL.md": "Paints.\n"})
	a, _ := adapterOf(t, files, mcpadapter.WithNamespace("docs"), mcpadapter.WithExtraTools(tools("extra.tool_%d", 1)...))
	s := serverOf(t, nil, a)
	for _, revision := range revisions {
		c := connect(t, s, revision, nil)
		for _, name := range []string{"docs.list_skills", "docs_list_skills"} {
			must.Equal(t, name, `{"skills":["paint"]}`, call(t, c, name))
		}
		must.Equal(t, "result", "extra.tool_0", call(t, c, "extra_tool_0"))
		if _, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "docs-list_skills"}); code(err) != -32602 {
			t.Errorf("another spelling: got %v", err)
		}
		for _, page := range pages(t, c) {
			if slices.Contains(page, "docs_list_skills") {
				t.Error("the other spelling is listed")
			}
		}
	}
}

func TestOwnToolsTakePrecedenceForTheirExactName(t *testing.T) {
	a, _ := adapterOf(t, afero.NewMemMapFs(), mcpadapter.WithNamespace("docs"))
	s := serverOf(t, nil, a)
	addTool(s, "docs_list_skills")
	must.Equal(t, "result", "the server's docs_list_skills", call(t, connect(t, s, revisions[0], nil), "docs_list_skills"))
}

func TestToolsOfSeveralAdaptersAreListedAndCalled(t *testing.T) {
	var adapters []*mcpadapter.Adapter
	for _, ns := range []string{"a", "b"} {
		a, _ := adapterOf(t, catalogtest.Memory(t, map[string]string{"skills/of-" + ns + "/SKILL.md": "x"}), mcpadapter.WithNamespace(ns), mcpadapter.WithTools("list_skills"))
		adapters = append(adapters, a)
	}
	c := connect(t, serverOf(t, nil, adapters...), revisions[1], nil)
	must.Match(t, "result", [][]string{{"b.list_skills", "a.list_skills"}}, pages(t, c))
	for _, name := range []string{"a_list_skills", "b_list_skills"} {
		if got, want := call(t, c, name), `{"skills":["of-`+name[:1]+`"]}`; got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func TestCanceledCallHasACode(t *testing.T) {
	ended := mcpadapter.Tool{Name: "ended", Call: func(ctx context.Context, _ json.RawMessage) (mcpadapter.Result, error) {
		<-ctx.Done()
		return mcpadapter.Result{}, ctx.Err()
	}}
	a, _ := adapterOf(t, afero.NewMemMapFs(), mcpadapter.WithExtraTools(ended))
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method == "tools/call" {
				over, cancel := context.WithCancel(ctx)
				cancel()
				ctx = over
			}
			return next(ctx, method, req)
		}
	})
	must.Do(t, gosdk.Register(s, a))
	if _, err := connect(t, s, revisions[0], nil).CallTool(ctx, &mcp.CallToolParams{Name: "ended"}); code(err) != -32603 {
		t.Errorf("got %v, want -32603", err)
	}
}

func TestSessionsAreIndependent(t *testing.T) {
	s := serverOf(t, nil, manyTools(t, 120))
	var group sync.WaitGroup
	for i := range 8 {
		c := connect(t, s, revisions[i%2], nil)
		group.Go(func() {
			for range 5 {
				must.Len(t, "pages", 3, pages(t, c))
				must.Equal(t, "result", "tool_007", call(t, c, "tool_007"))
			}
		})
	}
	group.Wait()
	first, second := connect(t, s, revisions[0], nil), connect(t, s, revisions[0], nil)
	first.Close()
	must.Len(t, "after another client left", 3, pages(t, second))
}

func TestRegisterReturnsErrorsOfTheSDK(t *testing.T) {
	bad := mcpadapter.Tool{
		Name:        "bad",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"A"}}}`),
		Call:        func(context.Context, json.RawMessage) (mcpadapter.Result, error) { return mcpadapter.Result{}, nil },
	}
	a, _ := adapterOf(t, afero.NewMemMapFs(), mcpadapter.WithExtraTools(bad))
	s := serverOf(t, nil)
	if err := gosdk.Register(s, a); err == nil || !strings.HasPrefix(err.Error(), "gosdk: Register: ") || !strings.Contains(err.Error(), `"bad"`) {
		t.Errorf("got %v; want an error that names the tool", err)
	}
	must.Len(t, "the server", 0, pages(t, connect(t, s, revisions[0], nil))[0])
	if gosdk.Register(nil, a) == nil || gosdk.Register(s, nil) == nil {
		t.Error("nil is accepted")
	}
}
