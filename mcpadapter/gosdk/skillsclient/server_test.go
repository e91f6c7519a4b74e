package skillsclient_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk/skillsclient"
)

func TestListGetAndReadAFile(t *testing.T) {
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			f := newFake(t, nil)
			e := f.add("acme/refunds", "Refund.\n", map[string]string{"a/b.txt": "b", "empty.bin": "", "%41%20x.md": "encoded"})
			f.add("git-workflow", "Commit.\n", nil)
			s := connect(t, new(skillsclient.Host), "docs", f, revision)
			list := must.Get(s.List(ctx))(t)
			must.Len(t, "list.Skills", 2, list.Skills)
			must.Len(t, "list.Rejected", 0, list.Rejected)
			skill := list.Skills[0]
			var paths []string
			for _, file := range skill.Files {
				paths = append(paths, file.Path)
			}
			must.Match(t, "files", []string{"A x.md", "SKILL.md", "a/b.txt", "empty.bin"}, paths)
			if skill.Server != "docs" || skill.URI != e.URI || skill.Dir != "docs.acme.refunds" || skill.Name != "refunds" || skill.Description != "Does refunds" {
				t.Errorf("got %+v", skill)
			}
			got, err := s.Get(ctx, e.URI)
			if diff := cmp.Diff(skill, got); err != nil || diff != "" {
				t.Errorf("Get: %v (-List +Get):\n%s", err, diff)
			}
			f.requests()
			for range 2 { // the second time from the cache
				for path, want := range map[string]string{"SKILL.md": "---\nname: refunds\ndescription: Does refunds\n---\nRefund.\n", "a/b.txt": "b", "empty.bin": "", "A x.md": "encoded"} {
					raw := must.Get(s.ReadFile(ctx, skill, path))(t)
					must.Equal(t, path, want, string(raw))
					clear(raw) // the caller may modify the result
				}
			}
			must.Len(t, "requests", 4, f.requests())
		})
	}
}

func TestFilesThatDifferFromTheEntryAreErrors(t *testing.T) {
	const uri, path = "skill://a/SKILL.md", "SKILL.md"
	text := "---\nname: a\ndescription: Does a\n---\nBody.\n"
	one := func(c *mcp.ResourceContents) *mcp.ReadResourceResult {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{c}}
	}
	for _, tt := range []struct {
		name   string
		result *mcp.ReadResourceResult
		err    error
		want   error
	}{
		{"another byte", contentsOf(uri, strings.Replace(text, "Body", "Bodx", 1)), nil, skillsclient.ErrDigest},
		{"a longer file", contentsOf(uri, text+"x"), nil, skillsclient.ErrSize},
		{"a shorter file", contentsOf(uri, text[1:]), nil, skillsclient.ErrSize},
		{"no bytes", contentsOf(uri, ""), nil, skillsclient.ErrSize},
		{"a large file", contentsOf(uri, strings.Repeat("x", 100_000)), nil, skillsclient.ErrSize},
		{"text that is not UTF-8", one(&mcp.ResourceContents{URI: uri, Text: strings.Replace(text, "Body", "\xff\xfe\xfd\xfc", 1)}), nil, skillsclient.ErrVerification},
		{"another URI", contentsOf("skill://b/SKILL.md", text), nil, skillsclient.ErrContents},
		{"another spelling of the URI", contentsOf("skill://%61/SKILL.md", text), nil, skillsclient.ErrContents},
		{"a text and a blob", one(&mcp.ResourceContents{URI: uri, Text: text, Blob: []byte(text)}), nil, skillsclient.ErrContents},
		{"two contents", &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, Text: text}, {URI: uri, Text: text}}}, nil, skillsclient.ErrContents},
		{"no contents", &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{}}, nil, skillsclient.ErrContents},
		{"a long refusal with control characters", nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "\x1b[31m\n" + strings.Repeat("x", 10_000)}, &jsonrpc.Error{Code: jsonrpc.CodeInternalError}},
		{"no resource", nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "gone"}, skillsclient.ErrNotFound},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t, nil)
			f.add("a", "Body.\n", nil)
			f.read = func(context.Context, string) (*mcp.ReadResourceResult, error) { return tt.result, tt.err }
			s := connect(t, new(skillsclient.Host), "docs", f, revisions[1])
			list := must.Get(s.List(ctx))(t)
			for _, read := range []func() ([]byte, error){
				func() ([]byte, error) { return s.ReadFile(ctx, list.Skills[0], path) },
				func() ([]byte, error) { return fs.ReadFile(s.FS(ctx), "docs.a/SKILL.md") },
				func() ([]byte, error) { return readAll(s.FS(ctx), "docs.a/SKILL.md") },
			} {
				raw, err := read()
				must.Is(t, "read", tt.want, err)
				must.Len(t, "raw", 0, raw)
				if err != nil && (strings.ContainsAny(err.Error(), "\n\x1b") || len(err.Error()) > 800) {
					t.Errorf("the message is not one short line: %q", err)
				}
			}
			f.requests()
			must.Get(s.List(ctx))(t)
			must.Len(t, "requests", 1, f.requests())
		})
	}
}

// The cache of verified contents must not hide a wrong size.
func TestCachedFilesHaveTheSizeOfTheEntry(t *testing.T) {
	f := newFake(t, nil)
	f.add("a", "", map[string]string{"x.txt": "same"})
	lie := f.add("b", "", map[string]string{"x.txt": "same"})
	lie.Resources.([]resource)[1].Size = 3
	s := connect(t, new(skillsclient.Host), "docs", f, revisions[1])
	list := must.Get(s.List(ctx))(t)
	must.Len(t, "list.Skills", 2, list.Skills)
	must.Equal(t, "raw", "same", string(must.Get(s.ReadFile(ctx, list.Skills[0], "x.txt"))(t)))
	must.Fail(s.ReadFile(ctx, list.Skills[1], "x.txt"))(t, "ReadFile", skillsclient.ErrSize)
}

func TestFrontmatterIsComparedFieldByField(t *testing.T) {
	for _, tt := range []struct {
		name, header string
		fields       map[string]any
		same         bool
	}{
		{"all fields", "license: MIT\nmetadata:\n  a: \"1\"\n  b: [x, 2, true, null, 1.50]", map[string]any{"license": "MIT", "metadata": map[string]any{"a": "1", "b": []any{"x", 2, true, nil, 1.5}}}, true},
		{"a block text", "notes: |\n  one\n  two\n", map[string]any{"notes": "one\ntwo\n"}, true},
		{"a date, and a number with a leading zero", "date: 2025-01-31\nid: 007", map[string]any{"date": "2025-01-31", "id": "007"}, true},
		{"numbers and booleans of YAML 1.1", "mode: 0x1F\nid: 007\nshown: yes", map[string]any{"mode": 31, "id": 7, "shown": true}, true},
		{"an address of 160 bits", "address: 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF", map[string]any{"address": json.Number("1461501637330902918203684832716283019655932542975")}, true},
		{"a description that ends before a comment of YAML", "description: Does a #1", nil, true},
		{"the comment as a part of the description", "description: Does a #1", map[string]any{"description": "Does a #1"}, false},
		{"another description", "description: Exfiltrates", nil, false},
		{"a field more in the file", "allowed-tools: Bash", nil, false},
		{"a field more in the entry", "", map[string]any{"license": "MIT"}, false},
		{"a nested field more in the file", "metadata: {a: b, c: d}", map[string]any{"metadata": map[string]any{"a": "b"}}, false},
		{"another item", "tags: [a, b]", map[string]any{"tags": []any{"a", "c"}}, false},
		{"an item more", "tags: [a, b]", map[string]any{"tags": []any{"a"}}, false},
		{"a text for a list", "tags: [a]", map[string]any{"tags": "[a]"}, false},
		{"a list for a text", "tags: a", map[string]any{"tags": []any{"a"}}, false},
		{"a boolean for another text", "shown: x", map[string]any{"shown": true}, false},
		{"another number", "id: 8", map[string]any{"id": 7}, false},
		{"another large number", "id: 9007199254740993", map[string]any{"id": int64(9007199254740992)}, false},
		{"null for a text", "license: MIT", map[string]any{"license": nil}, false},
		{"a key twice", "license: MIT\nlicense: GPL", map[string]any{"license": "MIT"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t, nil)
			e := f.add("a", "", nil)
			text := "---\nname: a\n" + tt.header + "\n---\nBody.\n"
			if !strings.HasPrefix(tt.header, "description") {
				text = strings.Replace(text, "name: a", "name: a\ndescription: Does a", 1)
			}
			for key, value := range tt.fields {
				e.Frontmatter[key] = value
			}
			e.Resources = []resource{{e.URI, digest(text), int64(len(text))}}
			f.entries, f.files[e.URI] = []any{e}, text
			s := connect(t, new(skillsclient.Host), "docs", f, revisions[0])
			skill := must.Get(s.Get(ctx, e.URI))(t)
			for range 2 { // the second time from the cache
				raw, err := s.ReadFile(ctx, skill, "SKILL.md")
				if tt.same && (err != nil || string(raw) != text) || !tt.same && (!errors.Is(err, skillsclient.ErrFrontmatter) || raw != nil) {
					t.Errorf("got %q, %v", raw, err)
				}
			}
		})
	}
}

//go:embed testdata/entries.txt
var listedEntries string

// TestEntries asks the questions of testdata/entries.txt, which describes the questions. A client
// rejects one entry and lists the others.
func TestEntries(t *testing.T) {
	const uri = "skill://x/a/SKILL.md"
	good := entry{uri, map[string]any{"name": "a", "description": "Does a"}, []resource{{uri, digest(""), 0}}}
	size := func(s string) int64 { return must.Get(strconv.ParseInt(s, 10, 64))(t) }
	files := func(more ...resource) any {
		return withJSON(t, good, "resources", append([]resource{{uri, digest(""), 0}}, more...))
	}
	answer := func(t *testing.T, listed any) string {
		f := newFake(t, nil)
		f.add("other", "", nil)
		f.change(func() { f.entries = append([]any{listed}, f.entries...) })
		f.get = func(string) any { return listed }
		s := connect(t, new(skillsclient.Host), "docs", f, revisions[0])
		list := must.Get(s.List(ctx))(t)
		if len(list.Rejected) == 0 {
			must.Len(t, "skills", 2, list.Skills)
			return "listed"
		}
		must.Len(t, "skills", 1, list.Skills)
		must.Len(t, "rejected", 1, list.Rejected)
		for text, err := range map[string]error{
			"invalid": skillsclient.ErrInvalidEntry, "too large": skillsclient.ErrTooLarge,
			"dynamic": skillsclient.ErrDynamic,
		} {
			if errors.Is(list.Rejected[0], err) {
				if e, ok := listed.(entry); ok {
					must.Fail(s.Get(ctx, e.URI))(t, "Get", err)
				}
				return text
			}
		}
		return list.Rejected[0].Error()
	}
	value := func(t *testing.T, text string) (v any) {
		must.Do(t, json.Unmarshal([]byte(text), &v))
		return v
	}
	must.Answer(t, listedEntries, map[string]func(t *testing.T, a ...string) string{
		"entry": func(t *testing.T, a ...string) string { return answer(t, value(t, a[0])) },
		"at": func(t *testing.T, a ...string) string {
			e := entry{a[0], good.Frontmatter, []resource{{a[0], digest(""), 0}}}
			if len(a) > 1 {
				e.Frontmatter = value(t, a[1]).(map[string]any)
			}
			return answer(t, e)
		},
		"with": func(t *testing.T, a ...string) string {
			return answer(t, withJSON(t, good, a[0], value(t, a[1])))
		},
		"files": func(t *testing.T, a ...string) string {
			var more []resource
			for i := 0; i < len(a); i += 2 {
				more = append(more, resource{a[i], digest(""), size(a[i+1])})
			}
			return answer(t, files(more...))
		},
		"digest": func(t *testing.T, a ...string) string {
			return answer(t, files(resource{a[0], a[2], size(a[1])}))
		},
		"many": func(t *testing.T, a ...string) string {
			many := make([]resource, size(a[0]))
			for i := range many {
				many[i] = resource{fmt.Sprintf("skill://x/a/%d", i), digest(""), 0}
			}
			return answer(t, files(many...))
		},
	})
}

func TestCursorsThatRepeatAreErrors(t *testing.T) {
	for _, tt := range []struct {
		name     string
		next     map[string]string
		requests int
	}{
		{"a cursor that stays", map[string]string{"": "x", "x": "x"}, 2},
		{"cursors in a circle", map[string]string{"": "a", "a": "b", "b": "a"}, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t, nil)
			f.list = func(_ context.Context, c string) page { return page{NextCursor: tt.next[c]} }
			s := connect(t, new(skillsclient.Host), "docs", f, revisions[1])
			must.Fail(s.List(ctx))(t, "error", skillsclient.ErrInvalidList)
			must.Equal(t, "len(f.requests())", tt.requests, len(f.requests()))
		})
	}
}

// entries returns n different valid entries from a number on.
func entries(from, n int) (all []entry) {
	for i := from; i < from+n; i++ {
		uri := fmt.Sprintf("skill://%d/a/SKILL.md", i)
		all = append(all, entry{uri, map[string]any{"name": "a", "description": "x"}, []resource{{uri, digest(""), 0}}})
	}
	return all
}

func TestListsAreBounded(t *testing.T) {
	endless := func(skills func(cursor string) any) func(context.Context, string) page {
		return func(_ context.Context, c string) page { return page{NextCursor: c + "x", Skills: skills(c)} }
	}
	for _, tt := range []struct {
		name             string
		list             func(context.Context, string) page
		requests, listed int
		reason           string
	}{
		{"pages", endless(func(c string) any { return entries(len(c), 1) }), 1000, 1000, "1000 pages"},
		{"entries", endless(func(c string) any { return entries(4000*len(c), 4000) }), 3, 10_000, "10000 entries"},
		{"entries that are no skills", endless(func(string) any { return make([]int, 4000) }), 3, 0, "10000 entries"},
		{"bytes", endless(func(c string) any { return []any{entries(len(c), 1)[0], strings.Repeat("x", 1_000_000)} }), 4, 4, "4000000 bytes"},
		{"values", endless(func(c string) any { return []any{entries(len(c), 1)[0], make([]int, 600_000)} }), 2, 2, "1048576 JSON values"},
		{"a long cursor", func(_ context.Context, c string) page {
			return page{NextCursor: strings.Repeat("x", 16<<10+1), Skills: entries(len(c), 2)}
		}, 1, 2, "16384 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t, nil)
			f.list = tt.list
			s := connect(t, new(skillsclient.Host), "docs", f, revisions[1])
			s.SetMaxList(4_000_000)
			list, err := s.List(ctx)
			if err != nil || len(list.Skills) != tt.listed || len(list.Rejected) == 0 {
				t.Fatalf("got %d skills, %d rejected, %v", len(list.Skills), len(list.Rejected), err)
			}
			last := list.Rejected[len(list.Rejected)-1]
			if !errors.Is(last, skillsclient.ErrInvalidList) || last.URI != "" || !strings.Contains(last.Message, tt.reason) {
				t.Errorf("got %v, want %s", last, tt.reason)
			}
			must.Equal(t, "len(f.requests())", tt.requests, len(f.requests()))
		})
	}
}

func TestPagesOfAListAreJoined(t *testing.T) {
	f := newFake(t, nil)
	a, b := f.add("x/a", "", nil), f.add("x/b", "", nil)
	again := withJSON(t, a, "frontmatter", map[string]any{"name": "a", "description": "Another"})
	encoded := strings.Replace(a.URI, "x", "%78", 1)
	f.list = func(_ context.Context, cursor string) page {
		if cursor == "" {
			return page{Skills: []any{a}, NextCursor: "2"}
		}
		return page{Skills: []any{again, b, entry{encoded, a.Frontmatter, []resource{{encoded, digest(""), 0}}}}}
	}
	s := connect(t, new(skillsclient.Host), "docs", f, revisions[1])
	list, err := s.List(ctx)
	if err != nil || len(list.Skills) != 2 || list.Skills[0].Description != "Does a" || len(list.Rejected) != 2 {
		t.Errorf("got %+v, %v", list, err)
	}
}

func TestListIsFreshUntilTheServerAnnouncesAChange(t *testing.T) {
	never, hour := int64(0), int64(3_600_000)
	silent := &mcp.ServerCapabilities{Resources: &mcp.ResourceCapabilities{}}
	silent.AddExtension(mcpadapter.SkillsExtension, nil)
	for _, tt := range []struct {
		name         string
		capabilities *mcp.ServerCapabilities
		ttl          *int64
		requests     int // of three lists
	}{
		{"announced changes", nil, nil, 1},
		{"an hour", nil, &hour, 1},
		{"stale at once", nil, &never, 3},
		{"an hour, without announcements", silent, &hour, 1},
		{"no promise", silent, nil, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t, tt.capabilities)
			f.ttl = tt.ttl
			f.add("a", "", nil)
			s := connect(t, new(skillsclient.Host), "docs", f, revisions[1])
			for range 3 {
				must.Get(s.List(ctx))(t)
			}
			must.Equal(t, "len(f.requests())", tt.requests, len(f.requests()))
			s.Refresh()
			must.Get(s.List(ctx))(t)
			must.Len(t, "Refresh", 1, f.requests())
		})
	}
}

func TestListChangedRefreshes(t *testing.T) {
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			f := newFake(t, nil)
			f.add("a", "", nil)
			s := connect(t, new(skillsclient.Host), "docs", f, revision)
			layer := s.FS(ctx)
			must.Get(fs.ReadDir(layer, "."))(t)
			f.add("b", "", nil)
			f.server.AddResource(&mcp.Resource{URI: "skill://b/SKILL.md", Name: "b"}, nil) // announces a change
			for deadline := time.Now().Add(10 * time.Second); ; {
				if _, err := fs.Stat(layer, "docs.b"); err == nil {
					break
				} else if time.Now().After(deadline) {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestNewClientKeepsTheHandlerOfTheOptions(t *testing.T) {
	f := newFake(t, nil)
	told := make(chan *mcp.ClientSession, 1)
	opts := &mcp.ClientOptions{ResourceListChangedHandler: func(_ context.Context, r *mcp.ResourceListChangedRequest) { told <- r.Session }}
	client := must.Get(new(skillsclient.Host).NewClient(&mcp.Implementation{Name: "test", Version: "1"}, opts))(t)
	near, far := mcp.NewInMemoryTransports()
	server := must.Get(f.server.Connect(ctx, far, nil))(t)
	defer server.Wait()
	session := must.Get(client.Connect(ctx, near, nil))(t)
	defer session.Close()
	f.server.AddResource(&mcp.Resource{URI: "skill://b/SKILL.md", Name: "b"}, nil)
	must.Equal(t, "got another session", session, <-told)
}

// TestGetReplacesTheHeldEntry is the case of a server that renames and changes a skill
// between a list and a read.
func TestGetReplacesTheHeldEntry(t *testing.T) {
	hour := int64(3_600_000)
	f := newFake(t, nil)
	f.ttl = &hour
	e := f.add("a", "One.\n", map[string]string{"old.txt": "old"})
	s := connect(t, new(skillsclient.Host), "docs", f, revisions[1])
	layer := s.FS(ctx)
	list := must.Get(s.List(ctx))(t)
	delete(f.files, "skill://a/old.txt")
	f.add("a", "Two.\n", map[string]string{"new.txt": "new"})
	must.Fail(s.ReadFile(ctx, list.Skills[0], "SKILL.md"))(t, "the changed file", skillsclient.ErrDigest)
	must.Fail(s.ReadFile(ctx, list.Skills[0], "old.txt"))(t, "the removed file", skillsclient.ErrNotFound)
	f.requests()
	if _, err := s.ReadFile(ctx, list.Skills[0], "new.txt"); !errors.Is(err, skillsclient.ErrUnlisted) || !errors.Is(err, skillsclient.ErrVerification) {
		t.Errorf("the new file: got %v", err)
	}
	if got := f.requests(); got != nil {
		t.Errorf("an unlisted file sends %q", got)
	}
	skill := must.Get(s.Get(ctx, e.URI))(t)
	for _, path := range []string{"SKILL.md", "new.txt"} {
		must.Get(s.ReadFile(ctx, skill, path))(t)
		must.Get(fs.ReadFile(layer, "docs.a/"+path))(t)
	}
	f.change(func() { f.list = func(context.Context, string) page { return page{TTL: &hour} } }) // a partial list
	unlisted := f.add("b", "", nil)
	s.Refresh()
	must.Get(s.Get(ctx, unlisted.URI))(t)
	if list, err := s.List(ctx); err != nil || len(list.Skills) != 1 || list.Skills[0].URI != unlisted.URI {
		t.Errorf("a partial list loses the skills of Get: got %+v, %v", list, err)
	}
	for uri, want := range map[string]error{"skill://none/SKILL.md": skillsclient.ErrNotFound, "skill://none": skillsclient.ErrInvalidEntry} {
		must.Fail(s.Get(ctx, uri))(t, uri, want)
	}
	f.change(func() { f.entries = f.entries[:1] }) // removes b
	must.Fail(s.Get(ctx, unlisted.URI))(t, "the removed skill", skillsclient.ErrNotFound)
	must.Len(t, "the removed skill stays", 0, must.Get(s.List(ctx))(t).Skills)
	f.get = func(string) any { return e }
	must.Fail(s.Get(ctx, "skill://b/SKILL.md"))(t, "the entry of another skill", skillsclient.ErrInvalidEntry)
}

// TestTheCacheOfTheSDKDoesNotKeepStaleFiles reads a file whose results promise an hour.
func TestTheCacheOfTheSDKDoesNotKeepStaleFiles(t *testing.T) {
	f := newFake(t, nil)
	f.read = func(_ context.Context, uri string) (*mcp.ReadResourceResult, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		r := contentsOf(uri, f.files[uri])
		r.TTLMs = 3_600_000
		return r, nil
	}
	s := connect(t, new(skillsclient.Host), "docs", f, revisions[1])
	for _, body := range []string{"One.\n", "Two.\n"} {
		skill := must.Get(s.Get(ctx, f.add("a", body, nil).URI))(t)
		if raw, err := s.ReadFile(ctx, skill, "SKILL.md"); err != nil || !strings.HasSuffix(string(raw), body) {
			t.Errorf("got %q, %v", raw, err)
		}
	}
}

func TestCallsEndWithTheirContext(t *testing.T) {
	f := newFake(t, nil)
	e := f.add("a", "", nil)
	stall := func(ctx context.Context) { <-ctx.Done() } // until the client cancels the request
	f.read = func(ctx context.Context, _ string) (*mcp.ReadResourceResult, error) {
		stall(ctx)
		return nil, ctx.Err()
	}
	s := connect(t, &skillsclient.Host{Timeout: 20 * time.Millisecond}, "docs", f, revisions[0])
	patient := connect(t, new(skillsclient.Host), "docs", f, revisions[0])
	skill := must.Get(s.Get(ctx, e.URI))(t)
	must.Fail(s.ReadFile(ctx, skill, "SKILL.md"))(t, "ReadFile", context.DeadlineExceeded)
	must.Fail(fs.ReadFile(s.FS(ctx), "docs.a/SKILL.md"))(t, "FS", context.DeadlineExceeded)
	f.change(func() { f.list = func(ctx context.Context, _ string) page { stall(ctx); return page{} } })
	s.Refresh()
	must.Fail(s.List(ctx))(t, "List", context.DeadlineExceeded)
	// A caller that waits for the list of another caller ends with its own context.
	first, cancel := context.WithCancel(ctx)
	ended := make(chan error)
	f.requests()
	go func() { _, err := patient.List(first); ended <- err }()
	for len(f.requests()) == 0 {
	}
	second, cancelSecond := context.WithCancel(ctx)
	cancelSecond()
	must.Fail(patient.List(second))(t, "the second caller", context.Canceled)
	must.Fail(patient.FS(ctx).WithContext(second).Open("."))(t, "WithContext", context.Canceled)
	cancel()
	must.Is(t, "the first caller", context.Canceled, <-ended)
}

func TestGetOfAnotherSpellingLeavesTheListedSkill(t *testing.T) {
	const spelling = "skill://%78/a/SKILL.md"
	for _, tt := range []struct {
		name   string
		get    func(uri string) any
		listed bool
		want   error
	}{
		{"the server does not serve the spelling", nil, true, skillsclient.ErrNotFound},
		{"the server serves the spelling", func(uri string) any {
			return entry{uri, map[string]any{"name": "a", "description": "x"}, []resource{{uri, digest(""), 0}}}
		}, true, skillsclient.ErrInvalidEntry},
		{"the skill is of Get", nil, false, skillsclient.ErrNotFound},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t, nil)
			e := f.add("x/a", "A.\n", nil)
			if !tt.listed {
				f.list = func(context.Context, string) page { return page{} }
			}
			s := connect(t, new(skillsclient.Host), "docs", f, revisions[1])
			skill, err := s.Get(ctx, e.URI)
			if err == nil {
				_, err = s.List(ctx)
			}
			must.Do(t, err)
			f.change(func() { f.get = tt.get })
			must.Fail(s.Get(ctx, spelling))(t, "error", tt.want)
			list, err := s.List(ctx)
			if diff := cmp.Diff([]skillsclient.Skill{skill}, list.Skills); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			must.Get(fs.ReadFile(s.FS(ctx), "docs.x.a/SKILL.md"))(t)
		})
	}
}

// TestGetThatFailsLeavesTheEntryOfALaterList removes and adds a skill while Get waits.
func TestGetThatFailsLeavesTheEntryOfALaterList(t *testing.T) {
	f := newFake(t, nil)
	e := f.add("a", "A.\n", nil)
	h := new(skillsclient.Host)
	client, answered := interceptedSession(t, h, f), make(chan struct{})
	s := must.Get(h.Server("docs", client.ClientSession))(t)
	defer s.Close()
	must.Get(s.List(ctx))(t)
	f.change(func() { f.entries = nil })
	listed := make(chan struct{})
	client.after = func(method string) {
		if method == "skills/get" {
			close(answered)
			<-listed
		}
	}
	ended := make(chan error)
	go func() { _, err := s.Get(ctx, e.URI); ended <- err }()
	<-answered
	f.change(func() { f.entries = []any{e} })
	s.Refresh()
	must.Get(s.List(ctx))(t)
	close(listed)
	must.Is(t, "Get", skillsclient.ErrNotFound, <-ended)
	must.Len(t, "list.Skills", 1, must.Get(s.List(ctx))(t).Skills)
}

// An intercepted is a session whose requests call after when the response is decoded.
type intercepted struct {
	*mcp.ClientSession
	after func(method string)
}

func interceptedSession(t *testing.T, h *skillsclient.Host, f *fake) *intercepted {
	t.Helper()
	near, far := mcp.NewInMemoryTransports()
	server, err := f.server.Connect(ctx, far, nil)
	must.Do(t, err)
	client := must.Get(h.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil))(t)
	s := &intercepted{after: func(string) {}}
	client.AddSendingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			result, err := next(ctx, method, r)
			s.after(method)
			return result, err
		}
	})
	if s.ClientSession, err = client.Connect(ctx, near, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		server.Wait()
	})
	return s
}

// TestCallsEndWhileAResponseIsDecoded stands for a large response with middleware that does
// not end with its context.
func TestCallsEndWhileAResponseIsDecoded(t *testing.T) {
	f := newFake(t, nil)
	e := f.add("a", "", nil)
	h := new(skillsclient.Host)
	client := interceptedSession(t, h, f)
	s := must.Get(h.Server("docs", client.ClientSession))(t)
	defer s.Close()
	skill := must.Get(s.Get(ctx, e.URI))(t)
	calls := map[string]func(context.Context) error{
		"List":     func(ctx context.Context) error { _, err := s.List(ctx); return err },
		"Get":      func(ctx context.Context) error { _, err := s.Get(ctx, e.URI); return err },
		"ReadFile": func(ctx context.Context) error { _, err := s.ReadFile(ctx, skill, "SKILL.md"); return err },
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			limited, cancel := context.WithCancel(ctx)
			decoding, left := make(chan struct{}), make(chan struct{})
			client.after = func(string) { cancel(); <-decoding; close(left) }
			must.Is(t, "error", context.Canceled, call(limited))
			close(decoding)
			<-left
		})
	}
	t.Run("a panic reaches the caller", func(t *testing.T) {
		client.after = func(string) { panic("broken middleware") }
		for name, call := range calls {
			func() {
				defer func() {
					must.Equal(t, name, "broken middleware", recover())
				}()
				s.Refresh()
				t.Errorf("%s: no panic, %v", name, call(ctx))
			}()
		}
	})
	t.Run("Goexit is an error", func(t *testing.T) {
		client.after = func(string) { runtime.Goexit() }
		for name, call := range calls {
			if s.Refresh(); call(ctx) == nil {
				t.Errorf("%s: no error", name)
			}
		}
	})
}

func TestAServerThatClosesIsAnError(t *testing.T) {
	f := newFake(t, nil)
	e := f.add("a", "", map[string]string{"b": "b"})
	h := new(skillsclient.Host)
	cs := session(t, h, f, revisions[0])
	s := must.Get(h.Server("docs", cs))(t)
	skill := must.Get(s.Get(ctx, e.URI))(t)
	must.Get(s.ReadFile(ctx, skill, "b"))(t)
	for ss := range f.server.Sessions() {
		ss.Close()
	}
	cs.Wait()
	must.Fail(s.ReadFile(ctx, skill, "SKILL.md"))(t, "ReadFile", mcp.ErrConnectionClosed)
	must.Fail(s.List(ctx))(t, "List", mcp.ErrConnectionClosed)
	must.Get(s.ReadFile(ctx, skill, "b"))(t)
	must.Do(t, s.Close())
	for name, call := range map[string]func() error{
		"List":     func() error { _, err := s.List(ctx); return err },
		"Get":      func() error { _, err := s.Get(ctx, e.URI); return err },
		"ReadFile": func() error { _, err := s.ReadFile(ctx, skill, "b"); return err },
		"FS":       func() error { _, err := s.FS(ctx).Stat("docs.a"); return err },
	} {
		must.Is(t, name, skillsclient.ErrClosed, call())
	}
	must.Get(h.Server("DOCS", cs))(t)
}

func TestServersHaveLabels(t *testing.T) {
	f, plain := newFake(t, nil), newFake(t, &mcp.ServerCapabilities{Resources: &mcp.ResourceCapabilities{}})
	h := new(skillsclient.Host)
	cs := session(t, h, f, revisions[0])
	for _, label := range []string{"", "a.b", "a/b", "é", "a b", strings.Repeat("x", 33), "a\x00"} {
		must.Fail(h.Server(label, cs))(t, label, skillsclient.ErrInvalidLabel)
	}
	must.Fail(h.Server("docs", session(t, h, plain, revisions[1])))(t, "a server without skills", skillsclient.ErrNotSupported)
	must.Fail(h.Server("docs", nil))(t, "no session", skillsclient.ErrNotSupported)
	docs := connect(t, h, "docs", f, revisions[0])
	must.Fail(h.Server("Docs", cs))(t, "a label twice", skillsclient.ErrInvalidLabel)
	other := connect(t, h, "other", f, revisions[0])
	skill := must.Get(docs.Get(ctx, f.add("a", "", nil).URI))(t)
	must.Fail(other.ReadFile(ctx, skill, "SKILL.md"))(t, "a skill of another server", skillsclient.ErrUnlisted)
}

func TestGetHoldsABoundedNumberOfSkills(t *testing.T) {
	if testing.Short() {
		t.Skip("sends a thousand requests")
	}
	f := newFake(t, nil)
	s := connect(t, new(skillsclient.Host), "docs", f, revisions[0])
	f.get = func(uri string) any {
		return entry{uri, map[string]any{"name": "a", "description": "x"}, []resource{{uri, digest(""), 0}}}
	}
	for i := range 1010 {
		must.Get(s.Get(ctx, fmt.Sprintf("skill://%d/a/SKILL.md", i)))(t)
	}
	must.Len(t, "the layer holds skills", 1000, must.Get(s.List(ctx))(t).Skills)
}
