package mcpadapter

import (
	"crypto/sha256"
	"encoding/json"
	"slices"

	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/paging"
)

// toolPages are the encoded results of tools/list. The tools of an adapter never change,
// so each page is encoded only once.
type toolPages struct {
	bounds []int // index of the first tool of each page, then the number of tools
	legacy []json.RawMessage
	modern []json.RawMessage
	next   []string       // the next cursor of each page; "" for the last page
	byNext map[string]int // page number by cursor
}

// ttlTools is the time in milliseconds for which a client may cache a page. After a
// restart, a program may have other tools.
const ttlTools = 300_000

func newToolPages(tools []Tool, c config) (toolPages, error) {
	p := toolPages{byNext: make(map[string]int)}
	encoded := make([]json.RawMessage, len(tools))
	hash := sha256.New()
	for i, t := range tools {
		var err error
		if encoded[i], err = escape.Marshal(t); err != nil {
			return toolPages{}, invalidOption("the tool %s cannot be encoded: %v", escape.Quote(t.Name), err)
		}
		hash.Write(encoded[i])
	}
	list := paging.Identify(hash.Sum(nil))
	for first := 0; first == 0 || first < len(tools); first += c.pageSize {
		last := min(first+c.pageSize, len(tools))
		body := []byte(`"tools":[`)
		for i, tool := range encoded[first:last] {
			if i > 0 {
				body = append(body, ',')
			}
			body = append(body, tool...)
		}
		body = append(body, ']')
		next := ""
		if last < len(tools) {
			next = list.Cursor(last)
			p.byNext[next] = len(p.next) + 1
			body = append(body, `,"nextCursor":"`+next+`"`...)
		}
		p.next = append(p.next, next)
		p.bounds = append(p.bounds, first)
		p.legacy = append(p.legacy, slices.Clip(slices.Concat([]byte{'{'}, body, []byte{'}'})))
		p.modern = append(p.modern, slices.Clip(slices.Concat(c.modern(ttlTools), []byte{','}, body, []byte{'}'})))
	}
	p.bounds = append(p.bounds, len(tools))
	return p, nil
}

// page returns the number of the page that a cursor requests. A nil cursor requests
// the first page.
func (p *toolPages) page(cursor *string) (int, *RPCError) {
	if cursor == nil {
		return 0, nil
	}
	n, ok := p.byNext[*cursor]
	if !ok {
		return 0, invalidCursor(*cursor)
	}
	return n, nil
}

func invalidCursor(cursor string) *RPCError {
	return invalidParams("%s", paging.InvalidCursor(escape.Quote(cursor)))
}

// ToolsPage returns one page of the tools for tools/list in an SDK's server, and the
// cursor of the next page. On the last page, the next cursor is "". A nil cursor requests
// the first page. For n tools, the list has exactly max(1, ceil(n/size)) pages.
//
// ToolsPage returns an *RPCError with CodeInvalidParams for a cursor that does not come
// from this list, including "".
func (a *Adapter) ToolsPage(cursor *string) (tools []Tool, next string, err error) {
	n, rpcErr := a.pages.page(cursor)
	if rpcErr != nil {
		return nil, "", rpcErr
	}
	return slices.Clone(a.tools[a.pages.bounds[n]:a.pages.bounds[n+1]]), a.pages.next[n], nil
}
