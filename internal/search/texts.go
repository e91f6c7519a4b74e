package search

import (
	"cmp"
	"context"
	"hash/maphash"
	"maps"
	"path"
	"runtime"
	"slices"
	"time"
	"unsafe"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
	"github.com/toolshelf-go/toolshelf/internal/rank"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// maxAwaited is the number of missing texts up to which a search waits for them.
const maxAwaited = 1000

// A batch is a series of texts that a Finder reads in the background. At any time, at most one
// batch is running and at most one batch is next.
type batch struct {
	ctx     batchContext
	entries []*index.Entry            // missing texts
	again   map[*index.Entry]struct{} // unsettled texts, and texts that Config.Allows allows now
	done    chan struct{}             // closed at the end
	exit    *parallel.Exit            // of a read that did not return, or nil; set before done
}

// A batchContext has the values of the call that began a batch. Err returns an error as soon as the
// Finder's Lifetime ends. The cancel of a context.AfterFunc would follow with a delay.
type batchContext struct {
	context.Context // Lifetime
	call            context.Context
}

func (c batchContext) Value(key any) any { return c.call.Value(key) }

// due begins to read the texts that a search of a snapshot needs. due returns the batch that the
// search waits for, or nil.
func (s *Finder) due(ctx context.Context, snapshot *index.Snapshot) *batch {
	s.lock.RLock()
	current := s.generation >= snapshot.Generation && len(s.missing) == 0 &&
		(len(s.unsettled) == 0 || !s.expired(s.oldest))
	var admitted []*index.Entry
	if len(s.refused) > 0 {
		admitted = slices.Collect(maps.Keys(s.refused))
	}
	s.lock.RUnlock()
	admitted = slices.DeleteFunc(admitted, func(e *index.Entry) bool {
		return !s.config.Allows(ctx, e)
	})
	if current && len(admitted) == 0 {
		return nil
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	var fresh []*index.Entry
	if s.generation < snapshot.Generation {
		fresh = s.putNames(snapshot)
	}
	if s.running == nil && len(s.missing) > len(fresh) { // a batch failed
		fresh = fresh[:0]
		for _, e := range s.entries {
			if _, missing := s.missing[e]; missing {
				fresh = append(fresh, e)
			}
		}
	}
	b := s.next
	if b == nil {
		b = &batch{ctx: batchContext{s.config.Lifetime, ctx}, done: make(chan struct{})}
		b.again = map[*index.Entry]struct{}{}
	}
	b.entries = append(b.entries, fresh...)
	for e, u := range s.unsettled {
		if s.expired(u.read) {
			b.again[e] = struct{}{}
		}
	}
	for _, e := range admitted {
		if s.refused[e] {
			b.again[e] = struct{}{}
		}
	}
	if len(b.entries)+len(b.again) > 0 {
		s.next = b
		if s.running == nil {
			s.begin()
		}
	}
	if len(s.missing) > maxAwaited {
		return nil
	}
	return cmp.Or(s.next, s.running)
}

// putNames puts the names and descriptions of the loadable entries of a snapshot into ranked, and
// returns the new and the changed entries, whose texts are missing. A changed entry keeps the
// words of its earlier text.
func (s *Finder) putNames(snapshot *index.Snapshot) (fresh []*index.Entry) {
	var a rank.Analyzer
	before := s.entries
	drop := func() {
		delete(s.unsettled, before[0])
		delete(s.missing, before[0])
		delete(s.refused, before[0])
		before = before[1:]
	}
	for _, e := range snapshot.Loadable {
		for len(before) > 0 && before[0] != e && names.Compare(before[0].Name, e.Name) < 0 {
			s.ranked.Remove(before[0].Name)
			drop()
		}
		switch {
		case len(before) > 0 && before[0] == e:
			before = before[1:]
			continue
		case len(before) > 0 && before[0].Name == e.Name:
			drop()
		default:
			a.Analyze(s.document(e))
			s.ranked.PutAnalyzed(e.Name, &a)
		}
		s.missing[e] = struct{}{}
		fresh = append(fresh, e)
	}
	for len(before) > 0 {
		s.ranked.Remove(before[0].Name)
		drop()
	}
	s.flush()
	s.entries, s.generation = snapshot.Loadable, snapshot.Generation
	return fresh
}

// begin starts the next batch. begin needs s.lock.
func (s *Finder) begin() {
	b := s.next
	if s.running, s.next = b, nil; b == nil {
		return
	}
	go parallel.Run(func() {
		if !s.config.Enter() {
			return
		}
		defer s.config.Leave()
		s.put(b.ctx, slices.AppendSeq(b.entries, maps.Keys(b.again)))
	}, func(exit *parallel.Exit) {
		s.lock.Lock()
		defer s.lock.Unlock()
		s.oldest = s.config.Now()
		for _, u := range s.unsettled {
			if u.read.Before(s.oldest) {
				s.oldest = u.read
			}
		}
		if b.exit = exit; exit != nil {
			s.config.Exited(exit)
		}
		close(b.done)
		s.begin()
	})
}

// put reads the files of entries and puts the texts into ranked. put reads many files
// at a time from a slow filesystem, but analyzes only one text on each core, because an
// Analyzer can take much memory. If ctx ends, put finishes the entries that it is reading. The
// results of searches do not depend on the order of the entries.
func (s *Finder) put(ctx context.Context, entries []*index.Entry) {
	analyzers := make(chan *rank.Analyzer, runtime.GOMAXPROCS(0))
	for range cap(analyzers) {
		analyzers <- new(rank.Analyzer)
	}
	readers := make(chan *textReader, max(s.config.MaxReads, cap(analyzers)))
	defer func() {
		close(readers)
		for r := range readers {
			r.close()
		}
	}()
	_ = parallel.Each(ctx, s.config.MaxReads, len(entries), func(i int) {
		e := entries[i]
		defer s.filesRead.Add(1)
		s.lock.RLock()
		known, again := s.unsettled[e]
		refused := s.refused[e]
		s.lock.RUnlock()
		embeds := s.config.Meanings != nil && s.config.Allows(ctx, e)
		var r *textReader
		select {
		case r = <-readers:
		default:
			r = new(textReader)
		}
		defer func() { readers <- r }()
		text := s.read(ctx, e, r)
		if ctx.Err() != nil {
			return // the end can be the error of the read
		}
		a := <-analyzers
		defer func() { analyzers <- a }()
		changed := !again || known.hash != text.hash || refused && embeds
		if changed {
			if embeds {
				text.document.Vector = s.config.Meanings.Vector(text.document)
			}
			a.Analyze(text.document)
		}
		s.lock.Lock()
		defer s.lock.Unlock()
		_, missing := s.missing[e]
		if _, again := s.unsettled[e]; !missing && !again && !s.refused[e] {
			return // ranked has the text, or the entry belongs to an earlier snapshot
		}
		if changed {
			s.ranked.PutAnalyzed(e.Name, a)
			s.unflushed = true
		}
		delete(s.missing, e)
		s.observe(e, text)
		if delete(s.refused, e); s.config.Meanings != nil && !embeds {
			s.refused[e] = true
		}
	})
}

// A textReader holds the memory and the directory for reading one file. The next file reuses the
// memory and, usually, the directory.
type textReader struct {
	buf     []byte
	scanner matter.Scanner
	local   bool // the last file was on a local disk, where the open of a directory is no request
	fs      *confine.FS
	dir     *confine.Dir // nil, or the open directory dirPath of fs
	dirPath string
}

// open opens a regular file. If the file is a link, or the open directory was removed since, open
// begins at the root of the filesystem.
func (r *textReader) open(fsys *confine.FS, name string) (*confine.File, error) {
	if dirPath := path.Dir(name); r.dir == nil || r.fs != fsys || r.dirPath != dirPath {
		r.close()
		if r.local {
			r.dir, _ = fsys.OpenDir(dirPath)
		}
		r.fs, r.dirPath = fsys, dirPath
	}
	if r.dir != nil {
		if f, err := r.dir.OpenRegular(path.Base(name)); err == nil {
			return f, nil
		}
	}
	return fsys.OpenRegular(name)
}

func (r *textReader) close() {
	if r.dir != nil {
		r.dir.Close()
		r.dir = nil
	}
}

// A text is the text of an entry at the time of a read. The document is valid until the
// next read with the same textReader.
type text struct {
	document rank.Document
	settled  bool // a change of the file changes its metadata
	unsettledText
}

// observe records whether the text of an entry can change unnoticed.
func (s *Finder) observe(e *index.Entry, t text) {
	delete(s.unsettled, e)
	if t.settled {
		return
	}
	if len(s.unsettled) == 0 || t.read.Before(s.oldest) {
		s.oldest = t.read
	}
	s.unsettled[e] = t.unsettledText
}

var seed = maphash.MakeSeed()

// document returns the document of an entry without its text.
func (s *Finder) document(e *index.Entry) rank.Document {
	return rank.Document{Name: e.Name, Description: s.config.Description(e)}
}

// read reads the file of an entry.
func (s *Finder) read(ctx context.Context, e *index.Entry, r *textReader) text {
	t := text{document: s.document(e)}
	layer := s.config.Index.LayerOf(e)
	now := time.Now()
	t.unsettledText.read = s.config.Now()
	raw, info, err := s.readText(ctx, e, r)
	if err != nil {
		t.unsettledText.read = time.Time{}
	}
	t.hash = maphash.Bytes(seed, raw)
	t.settled = err == nil && (s.config.Index.Settled(e.Layer(), info, now) ||
		s.config.Watch && layer.Fixed && !layer.Remote())
	// If the file has changed since the scan, the text belongs to a later snapshot,
	// which the filters have not seen yet.
	if err == nil && stamp.Of(info).Same(e.Stamp) {
		doc, _ := r.scanner.ParseFile(e.Path, raw, true, "tags")
		tags, _ := doc.Get("tags")
		body := doc.Text(raw)
		t.document.Tags, t.document.Body = tags.String(), unsafe.String(unsafe.SliceData(body), len(body))
	}
	return t
}

// readText reads the part of a file that Find searches.
func (s *Finder) readText(
	ctx context.Context, e *index.Entry, r *textReader,
) ([]byte, confine.Info, error) {
	if x := s.config.Index; x.Sealed(e) {
		raw, info, err := x.ReadFile(x.FSOf(ctx, e), e.Path)
		return raw[:min(len(raw), matter.MaxHead+rank.MaxText)], info, cmp.Or(err, x.Verify(e, raw))
	}
	if s.config.Text != nil {
		if text, info, ok := s.config.Text(e); ok {
			return text, info, nil
		}
	}
	fsys, name := s.config.Index.FSOf(ctx, e), e.Path
	if fsys.KnowsHeads() {
		return readKnownHead(fsys, name, &r.buf)
	}
	f, err := r.open(fsys, name)
	if err != nil {
		return nil, confine.Info{}, err
	}
	defer f.Close()
	info := f.Info()
	r.local = !info.Changed.IsZero()
	if info.Size > s.config.MaxFileSize {
		return nil, info, index.ErrTooLarge
	}
	size := int(min(info.Size, matter.MaxHead+rank.MaxText))
	r.buf = slices.Grow(r.buf[:0], size)[:size]
	n, err := f.ReadHead(r.buf)
	if err != nil {
		return nil, info, err
	}
	return r.buf[:n], info, nil
}

// readKnownHead is readText for a filesystem that must not read a whole file for a search.
func readKnownHead(fsys *confine.FS, name string, buf *[]byte) ([]byte, confine.Info, error) {
	dir, err := fsys.OpenDir(path.Dir(name))
	if err != nil {
		return nil, confine.Info{}, err
	}
	defer dir.Close()
	*buf = slices.Grow((*buf)[:0], matter.MaxHead)[:matter.MaxHead]
	n, info, err := dir.ReadHead(path.Base(name), *buf)
	if err != nil {
		return nil, info, err
	}
	return (*buf)[:n], info, nil
}
