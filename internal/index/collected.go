package index

import "github.com/toolshelf-go/toolshelf/confine"

// A Collected is an entry with the text that a scan has read, or nil.
type Collected struct {
	*Entry
	Text *Cached[string]
}

// Unread returns the number of bytes that a loader reads, plus 1, or 0 if the scan has read the
// text and parsed the frontmatter.
func (e Collected) Unread() int64 {
	if e.Text != nil && e.Whole() && e.Header().Format != "" {
		return 0
	}
	return max(e.Stamp.Size, 0) + 1
}

// CollectTexts keeps the texts that scans read until end, at most the given number of bytes.
func (x *Index) CollectTexts(limit int64) (texts *Texts[string], end func()) {
	texts = new(Texts[string])
	texts.Max = limit
	return texts, x.Collect(func(e *Entry, info confine.Info, text []byte) {
		texts.Add(e, info, string(text))
	})
}

// Collected returns the named entries of a snapshot with their texts. A text of a gated layer has
// the bytes of its seal.
func (x *Index) Collected(shown *Snapshot, texts *Texts[string]) []Collected {
	named := shown.Named()
	all := make([]Collected, len(named))
	for i, e := range named {
		all[i] = Collected{e, texts.Of(e)}
		if text := all[i].Text; text != nil && x.Sealed(e) && x.Verify(e, []byte(text.Value)) != nil {
			all[i].Text = nil
		}
	}
	return all
}
