package mcpadapter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// manyTools returns an adapter with n tools with the names tool_000, tool_001 and so on.
func manyTools(t testing.TB, n int, opts ...mcpadapter.Option) *mcpadapter.Adapter {
	t.Helper()
	tools := make([]mcpadapter.Tool, n)
	for i := range tools {
		tools[i] = mcpadapter.Tool{
			Name:        fmt.Sprintf("tool_%03d", i),
			Description: "Tells its number.",
			Call: func(context.Context, json.RawMessage) (mcpadapter.Result, error) {
				return mcpadapter.Result{Text: fmt.Sprint(i)}, nil
			},
		}
	}
	return adapter(t, append([]mcpadapter.Option{mcpadapter.WithTools(), mcpadapter.WithExtraTools(tools...)}, opts...)...)
}

// A page is a page of tools/list. Next is nil without a nextCursor.
type page struct {
	Tools []struct{ Name string }
	Next  *string `json:"nextCursor"`
}

func list(t testing.TB, s *mcpadapter.Session, params json.RawMessage) page {
	t.Helper()
	raw := must.Get(s.Handle(ctx, "tools/list", params))(t)
	var p page
	if err := json.Unmarshal(raw, &p); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	if p.Tools == nil {
		t.Fatalf("no array of tools in %s", raw)
	}
	return p
}

var counts = []int{0, 1, 49, 50, 51, 99, 100, 101, 150}

func TestToolsListHasTheExactNumberOfPages(t *testing.T) {
	for _, n := range counts {
		for _, era := range []string{"legacy", "modern"} {
			t.Run(fmt.Sprint(n, " tools, ", era), func(t *testing.T) {
				a := manyTools(t, n)
				s := ready(t, a)
				var got, want []string
				for _, tool := range a.Tools() {
					want = append(want, tool.Name)
				}
				pages, cursor := 0, ""
				for {
					member := ""
					if cursor != "" {
						member = `"cursor":"` + cursor + `"`
					}
					params := json.RawMessage(`{` + member + `}`)
					if era == "modern" {
						params = modern(member)
					}
					p := list(t, s, params)
					pages++
					for _, tool := range p.Tools {
						got = append(got, tool.Name)
					}
					if p.Next == nil {
						break
					}
					if len(p.Tools) != 50 || *p.Next == cursor {
						t.Fatalf("page %d has %d tools and goes on", pages, len(p.Tools))
					}
					cursor = *p.Next
				}
				if want := max(1, (n+49)/50); pages != want {
					t.Errorf("%d pages, want %d", pages, want)
				}
				must.Match(t, "result", want, got)
			})
		}
	}
}

func TestInvalidCursorsAreRejected(t *testing.T) {
	a := manyTools(t, 120)
	s := ready(t, a)
	foreign := list(t, ready(t, manyTools(t, 121)), nil).Next
	stale := list(t, ready(t, manyTools(t, 120, mcpadapter.WithPageSize(60))), nil).Next
	own := *list(t, s, nil).Next
	for _, cursor := range []string{`0`, `50`, `"0"`, `"50"`, `"YWJj"`, `"5"`, `""`, `[1]`, `{}`, `true`,
		`"` + *foreign + `"`, `"` + *stale + `"`, `"` + own + `="`, `"` + own + ` "`, `"` + own[1:] + `"`} {
		for _, params := range []json.RawMessage{json.RawMessage(`{"cursor":` + cursor + `}`), modern(`"cursor":` + cursor)} {
			_, err := s.Handle(ctx, "tools/list", params)
			if e := rpcError(t, err); e.Code != mcpadapter.CodeInvalidParams {
				t.Errorf("cursor %s: got %v", cursor, e)
			}
		}
	}
	list(t, s, json.RawMessage(`{"cursor":null}`))
	list(t, s, json.RawMessage(`{"cursor":"`+own+`"}`))
}

func TestCursorsAreValidInAnotherProcess(t *testing.T) {
	cursor := list(t, ready(t, manyTools(t, 120)), nil).Next
	if got := list(t, ready(t, manyTools(t, 120)), json.RawMessage(`{"cursor":"`+*cursor+`"}`)); got.Tools[0].Name != "tool_050" {
		t.Errorf("got %s first, want tool_050", got.Tools[0].Name)
	}
}

func TestCursorsBecomeInvalidIfADescriptionChanges(t *testing.T) {
	old := *list(t, ready(t, manyTools(t, 120)), nil).Next
	tools := manyTools(t, 120).Tools()
	tools[0].Description = "Tells another number."
	s := ready(t, adapter(t, mcpadapter.WithTools(), mcpadapter.WithExtraTools(tools...)))
	if _, err := s.Handle(ctx, "tools/list", json.RawMessage(`{"cursor":"`+old+`"}`)); rpcError(t, err).Code != mcpadapter.CodeInvalidParams {
		t.Errorf("got %v", err)
	}
}

func TestPromptsListPagesThroughTheCommands(t *testing.T) {
	files := map[string]string{}
	for i := range 1001 {
		files[fmt.Sprintf("commands/c%04d.md", i)] = fmt.Sprintf("---\ndescription: Number %d\n---\n", i)
	}
	s := ready(t, adapterOf(t, catalog(t, memory(t, files))))
	var names []string
	params := json.RawMessage(nil)
	for pages := 1; ; pages++ {
		raw := must.Get(s.Handle(ctx, "prompts/list", params))(t)
		var p struct {
			Prompts []struct{ Name string }
			Next    *string `json:"nextCursor"`
		}
		must.Do(t, json.Unmarshal(raw, &p))
		for _, prompt := range p.Prompts {
			names = append(names, prompt.Name)
		}
		if p.Next == nil {
			if pages != 2 || len(names) != 1001 || names[1000] != "c1000" {
				t.Errorf("%d prompts in %d pages", len(names), pages)
			}
			break
		}
		params, _ = json.Marshal(map[string]string{"cursor": *p.Next})
	}
	empty := ready(t, adapterOf(t, catalog(t, memory(t, map[string]string{"x": ""}))))
	if _, err := empty.Handle(ctx, "prompts/list", json.RawMessage(`{"cursor":"YWJj"}`)); rpcError(t, err).Code != mcpadapter.CodeInvalidParams {
		t.Errorf("no directory: got %v", err)
	}
	for _, cursor := range []string{`0`, `""`, `"YWJj"`, `[1]`} {
		if _, err := s.Handle(ctx, "prompts/list", json.RawMessage(`{"cursor":`+cursor+`}`)); rpcError(t, err).Code != mcpadapter.CodeInvalidParams {
			t.Errorf("cursor %s: got %v", cursor, err)
		}
	}
}
