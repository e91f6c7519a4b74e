package gosdk_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

func skillText(name string) string {
	return "---\nname: " + name + "\ndescription: Does " + name + ".\n---\n# " + name + "\n"
}

// newest are params of the revision 2026-07-28 with the members.
func newest(members string) string {
	if members != "" {
		members += ","
	}
	return `{` + members + `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}`
}

func TestServersDeclareSkills(t *testing.T) {
	with, _ := adapterOf(t, catalogtest.Memory(t, map[string]string{"skills/a/SKILL.md": skillText("a")}))
	without, _ := adapterOf(t, catalogtest.Memory(t, map[string]string{"commands/a.md": "a"}))
	for _, revision := range revisions {
		for declared, a := range map[bool]*mcpadapter.Adapter{true: with, false: without} {
			c := connect(t, serverOf(t, nil, a), revision, nil).InitializeResult().Capabilities
			extension := c.Extensions[mcpadapter.SkillsExtension]
			must.Equal(t, revision, declared, c.Resources != nil)
			must.Equal(t, revision, declared, extension != nil)
			if declared && (!c.Resources.ListChanged || !cmp.Equal(extension, any(map[string]any{"directoryRead": true}))) {
				t.Errorf("%s: declares %+v and %v", revision, c.Resources, extension)
			}
		}
	}
}

func TestSkillResultsFollowTheEra(t *testing.T) {
	a, _ := adapterOf(t, catalogtest.Memory(t, map[string]string{"skills/a/SKILL.md": skillText("a"), "skills/a/empty.txt": ""}))
	s := serverOf(t, nil, a)
	for _, tt := range []struct {
		method, members string
		cached          bool
	}{
		{"skills/list", ``, true}, {"skills/get", `"uri":"skill://a/SKILL.md"`, true}, {"resources/list", ``, true}, {"resources/templates/list", ``, true},
		{"resources/read", `"uri":"skill://a/SKILL.md"`, true}, {"resources/read", `"uri":"skill://a/empty.txt"`, true}, {"resources/directory/read", `"uri":"skill://a"`, false},
	} {
		for _, modern := range []bool{false, true} {
			w, params := open(t, s), newest(tt.members)
			if !modern {
				w, params = dial(t, s), `{`+tt.members+`}`
			}
			raw, err := w.request(tt.method, params)
			var got map[string]any
			if err != nil || json.Unmarshal(raw, &got) != nil {
				t.Fatalf("%s: %s, %v", tt.method, raw, err)
			}
			_, ttl := got["ttlMs"]
			if (got["resultType"] == "complete") != modern || modern && (ttl != tt.cached || (got["cacheScope"] != nil) != tt.cached) {
				t.Errorf("%s, modern %t: %s", tt.method, modern, raw)
			}
		}
	}
}

// addResource adds a resource to the server.
func addResource(s *mcp.Server, uri string) {
	s.AddResource(&mcp.Resource{URI: uri, Name: uri}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, Text: "own"}}}, nil
	})
}

func TestServersKeepTheirOwnResources(t *testing.T) {
	files := map[string]string{}
	for i := range 5 {
		files[fmt.Sprintf("skills/s%d/SKILL.md", i)] = skillText(fmt.Sprintf("s%d", i))
	}
	for _, revision := range revisions {
		a, _ := adapterOf(t, catalogtest.Memory(t, files), mcpadapter.WithPageSize(3))
		s := serverOf(t, &mcp.ServerOptions{PageSize: 2}, a)
		want := []string{}
		for i := range 5 {
			want = append(want, fmt.Sprintf("skill://s%d/SKILL.md", i))
		}
		for i := range 5 {
			addResource(s, fmt.Sprintf("file:///%d", i))
			want = append(want, fmt.Sprintf("file:///%d", i))
		}
		addResource(s, "skill://s1/SKILL.md") // the skill wins
		c := connect(t, s, revision, nil)
		got, pages := []string{}, 0
		for cursor := ""; ; {
			list := must.Get(c.ListResources(ctx, &mcp.ListResourcesParams{Cursor: cursor}))(t)
			pages++
			for _, r := range list.Resources {
				got = append(got, r.URI)
			}
			if cursor = list.NextCursor; cursor == "" {
				break
			}
		}
		must.Match(t, revision, want, got)
		must.Equal(t, revision, 4, pages)
		for uri, text := range map[string]string{"file:///3": "own", "skill://s1/SKILL.md": skillText("s1")} {
			must.Equal(t, revision, text,
				must.Get(c.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri}))(t).Contents[0].Text)
		}
		s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "file:///{+path}", Name: "file"}, nil)
		templates := must.Get(c.ListResourceTemplates(ctx, nil))(t)
		must.Len(t, revision, 2, templates.ResourceTemplates)
		must.Equal(t, revision, "skill-file", templates.ResourceTemplates[0].Name)
	}
}

func TestServersOfSeveralAdaptersServeAllSkills(t *testing.T) {
	a, _ := adapterOf(t, catalogtest.Memory(t, map[string]string{"skills/a/SKILL.md": skillText("a"), "skills/both/SKILL.md": skillText("both")}), mcpadapter.WithTools(), mcpadapter.WithPrompts())
	b, _ := adapterOf(t, catalogtest.Memory(t, map[string]string{"skills/b/SKILL.md": skillText("b"), "skills/both/SKILL.md": skillText("both") + "first\n"}), mcpadapter.WithTools(), mcpadapter.WithPrompts())
	w := dial(t, serverOf(t, nil, a, b))
	var list struct{ Skills []mcpadapter.SkillEntry }
	raw, err := w.request("skills/list", `{}`)
	if err != nil || json.Unmarshal(raw, &list) != nil {
		t.Fatalf("%s, %v", raw, err)
	}
	uris := []string{}
	for _, e := range list.Skills {
		uris = append(uris, e.URI)
	}
	must.Match(t, "result", []string{"skill://b/SKILL.md", "skill://both/SKILL.md", "skill://a/SKILL.md"}, uris)
	for _, e := range list.Skills {
		for _, r := range e.Resources {
			raw := must.Get(w.request("resources/read", `{"uri":"`+r.URI+`"}`))(t)
			var got mcp.ReadResourceResult
			must.Do(t, json.Unmarshal(raw, &got))
			must.Equal(t, r.URI, r.Size, int64(len(got.Contents[0].Text)))
		}
		must.Get(w.request("skills/get", `{"uri":"`+e.URI+`"}`))(t)
	}
}

// A counter counts how often the directory skills is opened.
type counter struct {
	afero.Fs
	opened *atomic.Int32
}

func (c counter) Open(name string) (afero.File, error) {
	if path.Base(filepath.ToSlash(name)) == "skills" {
		c.opened.Add(1)
	}
	return c.Fs.Open(name)
}

// The adapters of a server must not list their skills for each skill of another adapter,
// or for each page of another adapter.
func TestListsOfSeveralAdaptersListTheSkillsOnce(t *testing.T) {
	var opened atomic.Int32
	var adapters []*mcpadapter.Adapter
	for _, prefix := range []string{"a", "b", "c"} {
		files := map[string]string{}
		for i := range 10 {
			name := fmt.Sprintf("%s%d", prefix, i)
			files["skills/"+name+"/SKILL.md"] = skillText(name)
		}
		a, _ := adapterOf(t, counter{catalogtest.Memory(t, files), &opened}, mcpadapter.WithPageSize(5))
		adapters = append(adapters, a)
	}
	w := dial(t, serverOf(t, nil, adapters...))
	for _, method := range []string{"skills/list", "resources/list"} {
		opened.Store(0)
		must.Get(w.request(method, `{}`))(t)
		// The adapters request 2, 2 and 1 pages, and the second adapter requests its URIs in 2
		// pages. Each page opens the directory twice.
		if n := opened.Load(); n > 14 {
			t.Errorf("%s: the directories were opened %d times for one page", method, n)
		}
	}
}

func TestReadsOfStaleEntriesFail(t *testing.T) {
	fsys := catalogtest.Memory(t, map[string]string{"skills/a/SKILL.md": skillText("a"), "skills/a/x.txt": "one"})
	a, _ := adapterOf(t, fsys)
	s := serverOf(t, nil, a)
	holder, fresh := dial(t, s), dial(t, s)
	const skill, file = `{"uri":"skill://a/SKILL.md"}`, `{"uri":"skill://a/x.txt"}`
	for _, w := range []*wire{holder, fresh} {
		must.Get(w.request("skills/list", `{}`))(t)
	}
	write(t, fsys, "skills/a/x.txt", "two")
	must.Get(fresh.request("skills/get", skill))(t)
	must.Get(fresh.request("resources/read", file))(t)
	if raw, err := holder.request("resources/read", file); code(err) != mcpadapter.CodeInternalError {
		t.Errorf("a stale entry: %s, %v", raw, err)
	}
}

// A client holds only the entries that the client received. On each page of skills/list,
// the server reads the entries of all adapters.
func TestReadsOfStaleEntriesOfSeveralAdaptersFail(t *testing.T) {
	// The pages are o1 and o2, o3 and i1, i2 and i3.
	for _, tt := range []struct {
		name, changed string
		before, after int // pages before and after the change
		stale         bool
	}{
		{"an entry of the first page of the outer adapter", "o1", 2, 1, true},
		{"an entry of the inner adapter, whose change ends the list", "i1", 2, 1, true},
		{"an entry of an earlier list", "i1", 3, 0, true},
		{"an entry that the client receives after the change", "i3", 1, 2, false},
		{"an entry of the outer adapter that the client never receives", "o3", 1, 0, false},
		{"an entry of the inner adapter that the client never receives", "i1", 1, 0, false},
		{"an entry of the last page that the client never receives", "i2", 2, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var adapters []*mcpadapter.Adapter
			var disks []afero.Fs
			for _, prefix := range []string{"i", "o"} {
				files := map[string]string{}
				for i := range 3 {
					name := fmt.Sprintf("%s%d", prefix, i+1)
					files["skills/"+name+"/SKILL.md"] = skillText(name)
				}
				disks = append(disks, catalogtest.Memory(t, files))
				a, _ := adapterOf(t, disks[len(disks)-1], mcpadapter.WithPageSize(2))
				adapters = append(adapters, a)
			}
			w := dial(t, serverOf(t, nil, adapters...))
			params := `{}`
			list := func(pages int) {
				for range pages {
					var page struct{ NextCursor string }
					raw, err := w.request("skills/list", params)
					if err != nil {
						return // the cursor of a list that has changed
					}
					must.Do(t, json.Unmarshal(raw, &page))
					params = fmt.Sprintf(`{"cursor":%q}`, page.NextCursor)
				}
			}
			list(tt.before)
			disk := disks[0]
			if tt.changed[0] == 'o' {
				disk = disks[1]
			}
			write(t, disk, "skills/"+tt.changed+"/SKILL.md", skillText(tt.changed)+"changed\n")
			list(tt.after)
			raw, err := w.request("resources/read", `{"uri":"skill://`+tt.changed+`/SKILL.md"}`)
			if tt.stale && code(err) != mcpadapter.CodeInternalError || !tt.stale && err != nil {
				t.Errorf("%s, %v; want an error: %t", raw, err, tt.stale)
			}
		})
	}
}

func TestServersAnnounceChangesOfSkills(t *testing.T) {
	for _, revision := range revisions {
		fsys := catalogtest.Memory(t, map[string]string{"skills/a/SKILL.md": skillText("a")})
		a, catalog := adapterOf(t, fsys)
		accept := &mcp.ServerOptions{
			SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
			UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
		}
		listed, updated := make(chan string, 10), make(chan string, 10)
		c := connect(t, serverOf(t, accept, a), revision, &mcp.ClientOptions{
			ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) { listed <- "" },
			ResourceUpdatedHandler:     func(_ context.Context, req *mcp.ResourceUpdatedNotificationRequest) { updated <- req.Params.URI },
		})
		must.Do(t, c.Subscribe(ctx, &mcp.SubscribeParams{URI: "skill://a/SKILL.md"}))
		must.Get(c.ListResources(ctx, nil))(t)
		write(t, fsys, "skills/a/SKILL.md", skillText("a")+"changed\n")
		must.Get(catalog.ListSkills(ctx))(t)
		<-listed
		must.Equal(t, revision, "skill://a/SKILL.md", <-updated)
	}
}

func TestAnnouncersAreHidden(t *testing.T) {
	a, _ := adapterOf(t, catalogtest.Memory(t, map[string]string{"skills/a/SKILL.md": skillText("a")}))
	list, err := connect(t, serverOf(t, nil, a), revisions[1], nil).ListResources(ctx, nil)
	if err != nil || slices.ContainsFunc(list.Resources, func(r *mcp.Resource) bool { return r.URI != "skill://a/SKILL.md" }) {
		t.Errorf("got %+v, %v", list, err)
	}
}
