package main

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A walk is what a client has seen on the pages of prompts/list.
type walk struct {
	names   []string
	cursors []string // of the pages; the last cursor is empty
}

// walkPrompts requests all pages of prompts/list, and calls visit after each page.
func walkPrompts(ctx context.Context, url string, visit func(page int) error) (w walk, err error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "walker", Version: "1.0.0"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: url, DisableStandaloneSSE: true}, nil)
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
