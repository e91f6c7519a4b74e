package mcpadapter

import (
	"crypto/sha256"
	"encoding/json"
	"slices"

	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/paging"
)

// toolPages are the results of tools/list, encoded once: the tools of an adapter
// do not change.
type toolPages struct {
	bounds []int // the first tool of each page, and the number of tools at the end
	legacy []json.RawMessage
	modern []json.RawMessage
	next   []string       // the cursor that each page ends with; "" for the last
	byNext map[string]int // the page that a cursor asks for
}

// ttlTools is how long a client may keep a page, in milliseconds. A program
// that is started again may have other tools.
const ttlTools = 300_000

func newToolPages(tools []Tool, c config) (toolPages, error) {
	p := toolPages{byNext: make(map[string]int)}
	encoded := make([]json.RawMessage, len(tools))
	hash := sha256.New()
	for i, t := range tools {
		var err error
		if encoded[i], err = encode(t); err != nil {
			return toolPages{}, invalidOption("the tool " + quote(t.Name) + " cannot be encoded: " + err.Error())
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
		p.modern = append(p.modern, slices.Clip(slices.Concat(c.modern(ttlTools, "public"), []byte{','}, body, []byte{'}'})))
	}
	p.bounds = append(p.bounds, len(tools))
	return p, nil
}

// page returns the number of the page that a cursor asks for; nil asks for the
// first.
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
	return invalidParams("%s", paging.InvalidCursor(quote(cursor)))
}

// ToolsPage returns one page of the tools and the cursor of the next, "" after
// the last: what tools/list is to return in an SDK's server. A nil cursor is
// the first page; one that did not come from this list, "" included, is an
// *RPCError with CodeInvalidParams. There are exactly max(1, ceil(n/size))
// pages.
func (a *Adapter) ToolsPage(cursor *string) (tools []Tool, next string, err error) {
	n, rpcErr := a.pages.page(cursor)
	if rpcErr != nil {
		return nil, "", rpcErr
	}
	return slices.Clone(a.tools[a.pages.bounds[n]:a.pages.bounds[n+1]]), a.pages.next[n], nil
}
