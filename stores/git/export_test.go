package git

import (
	"bytes"
	"context"

	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
)

// Index returns the index of a pack. The bases that wait for deltas have at most room bytes.
func Index(ctx context.Context, pack []byte, room int) (*idxfile.MemoryIndex, error) {
	x := indexer{ctx: ctx, room: room}
	if _, err := x.index(bytes.NewReader(pack), int64(len(pack))); err != nil {
		return nil, err
	}
	return x.found.Index()
}
