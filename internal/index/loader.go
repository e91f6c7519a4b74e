package index

import (
	"cmp"
	"context"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// A Loader loads the entries of an index that are single files, and keeps their values. The fields
// Index and Parse are set once, before the first Load.
type Loader[T any] struct {
	Index *Index
	Parse func(e *Entry, raw []byte, info confine.Info) (value T, memory int)

	Texts Texts[[]byte] // of stores
	Kept  Cache[T]      // of files whose changes are visible
}

// Retain removes the files that a snapshot does not contain.
func (l *Loader[T]) Retain(now *Snapshot) {
	l.Texts.Retain(now.HasFile)
	l.Kept.Retain(now.HasFile)
}

// Load returns the value of an entry. If the text kept, which a scan has read, is not nil, Load reads
// no file. If the feed or a stat shows that the file is unchanged, or
// the store does not answer and has served its last good snapshot, Load returns the value in the
// version of the list, as far as the Loader has the bytes. If ctx has ended, Load does not wait,
// and returns the error of ctx if more than a look into an open directory is necessary.
func (l *Loader[T]) Load(ctx context.Context, e *Entry, kept *Cached[string]) (value T, err error) {
	if kept != nil {
		value, _ = l.Parse(e, []byte(kept.Value), kept.Info)
		return value, nil
	}
	x := l.Index
	if e.Rejected() != nil {
		return value, e.Broken()
	}
	sealed := x.Sealed(e)
	switch {
	case sealed:
	case x.current(e):
		if listed, ok := l.listed(e); ok {
			return listed, nil
		}
	default:
		if kept := l.Kept.Get(e.File()); kept != nil && l.unchanged(ctx, e, kept.Info) {
			return kept.Value, nil
		}
	}
	if ctx.Err() != nil {
		return value, ctx.Err()
	}
	now, begin := time.Now(), x.config.Now()
	raw, info, err := x.ReadFile(x.FSOf(ctx, e), e.Path)
	if err != nil && !sealed && x.unanswered(e, begin, err) {
		if listed, ok := l.listed(e); ok {
			return listed, nil
		}
	}
	if err = cmp.Or(err, x.Verify(e, raw)); err != nil {
		return value, err
	}
	if !sealed && x.config.Judge != nil { // the scan has judged the bytes of the seal
		doc, _ := matter.ParseFile(e.Path, raw, true)
		if err := x.Rejection(e, raw, doc); err != nil {
			return value, err
		}
	}
	value, memory := l.Parse(e, raw, info)
	if !sealed && x.Settled(e.Layer(), info, now) {
		l.Kept.Put(&Cached[T]{File: e.File(), Info: info, Value: value, Size: int64(memory)})
	}
	return value, nil
}

// listed returns the value in the version of the last scan, if the Loader has the bytes.
func (l *Loader[T]) listed(e *Entry) (value T, ok bool) {
	if kept := l.Kept.Get(e.File()); kept != nil && stamp.Of(kept.Info).Same(e.Stamp) {
		return kept.Value, true
	}
	text, info, ok := l.Texts.Find(e)
	if !ok {
		return value, false
	}
	value, memory := l.Parse(e, text, info)
	l.Kept.Put(&Cached[T]{File: e.File(), Info: info, Value: value, Size: int64(memory)})
	return value, true
}

// unchanged reports whether the file of an entry still has the given metadata.
func (l *Loader[T]) unchanged(ctx context.Context, e *Entry, known confine.Info) bool {
	if l.Index.LayerOf(e).Immutable {
		return true
	}
	now := lookout{index: l.Index, ctx: ctx}
	return now.same(e.Layer(), e.Part(), e.Path, stamp.Of(known))
}
