package toolshelf

import (
	"bytes"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
)

// listedTexts holds the texts of small files that scans have read from stores with
// versions, because another request for a text takes long.
type listedTexts struct{ index.Cache[[]byte] }

// collect is a function for Index.Collect.
func (t *listedTexts) collect(e *index.Entry, info confine.Info, text []byte) {
	t.Put(&index.Cached[[]byte]{File: e.File(), Info: info, Value: bytes.Clone(text), Size: int64(len(text))})
}

// keep is the function Whole of an index.
func (t *listedTexts) keep(e *index.Entry, info confine.Info, text []byte) {
	if info.Version != "" {
		t.collect(e, info, text)
	}
}

// find returns the text of a file in the version of the entry, if the catalog still has
// the text. The caller must not modify the text.
func (t *listedTexts) find(e *index.Entry) (text []byte, info confine.Info, ok bool) {
	kept := t.Get(e.File())
	if kept == nil || !index.StampOf(kept.Info).Same(e.Stamp) {
		return nil, confine.Info{}, false
	}
	return kept.Value, kept.Info, true
}
