// Package usage has the entries that a user invokes by a name. The package reads the arguments of
// commands and skills for lists, and keeps the arguments while the files are unchanged.
package usage

import (
	"cmp"
	"context"
	"hash/maphash"
	"time"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
	"github.com/toolshelf-go/toolshelf/internal/template"
)

// patience is the time that a call waits for the next read to complete.
const patience = 500 * time.Millisecond

// A Reader reads the arguments of commands and skills. The fields are set once, before the first
// call of Each.
type Reader struct {
	Commands, Skills Source

	reads reads
}

// A Source has the files of the commands or of the skills.
type Source struct {
	Index *index.Index
	Texts *index.Texts[[]byte] // of stores
	Kept  index.Cache[usage]
}

// Open lets the Reader read at most max files at the same time.
func (r *Reader) Open(max int, lifetime context.Context, enter func() bool, leave func()) {
	r.reads = reads{read: r.read, lifetime: lifetime, enter: enter, leave: leave,
		slots: make(chan struct{}, max), all: make(map[key]*started)}
}

func (r *Reader) source(skill bool) *Source {
	if skill {
		return &r.Skills
	}
	return &r.Commands
}

// Each calls use with the arguments of each entry that Each has or reads in time, by some rules, or
// by the rules of the layer of the entry. The function use must not modify the arguments. The reads
// of the other entries continue.
func (r *Reader) Each(ctx context.Context, entries []Invoked, rules *client.Rules, use func(i int, arguments []template.Parameter)) error {
	begun := make([]*started, len(entries))
	for i, e := range entries {
		from := r.source(e.Skill)
		of := key{e, from.Index.LayerOf(e.Entry).Rules}
		if rules != nil {
			of.rules = *rules
		}
		kept := from.Kept.Get(e.File())
		if kept != nil && !from.Index.Sealed(e.Entry) && kept.Value.settled && kept.Value.rules == of.rules && stamp.Of(kept.Info).Same(e.Stamp) {
			use(i, kept.Value.arguments)
		} else {
			begun[i] = r.reads.start(of)
		}
	}
	return r.reads.wait(ctx, begun, patience, use)
}

// A usage holds the arguments of a command or a skill by some rules. A usage is immutable.
type usage struct {
	rules     client.Rules
	arguments []template.Parameter
	head      uint64 // hash of the bytes read
	whole     bool   // head covers the whole file
	settled   bool   // a change of the file changes its metadata
}

var seed = maphash.MakeSeed()

// A key identifies a read.
type key struct {
	entry Invoked
	rules client.Rules
}

// read reads the arguments of a command or a skill. If the text is the same as at the last read,
// read returns the kept arguments.
func (r *Reader) read(of key) []template.Parameter {
	if r.reads.lifetime.Err() != nil {
		return nil // the waiting calls return an error
	}
	e, now, from := of.entry, time.Now(), r.source(of.entry.Skill)
	head, info, err := r.readHead(e.Entry, from)
	if err != nil {
		return nil // the file was removed since the scan, or its permissions changed
	}
	u := usage{rules: of.rules, head: maphash.Bytes(seed, head), whole: int64(len(head)) >= info.Size}
	u.settled = stamp.Of(info).Same(e.Stamp) && from.Index.Settled(e.Layer(), info, now)
	if kept := from.Kept.Get(e.File()); kept != nil && kept.Value.rules == of.rules && kept.Value.head == u.head && kept.Value.whole == u.whole {
		u.arguments = kept.Value.arguments
	} else {
		u.arguments = template.Renderer{Rules: of.rules}.Listed(e.Path, head, u.whole)
	}
	size := int64(0)
	for _, a := range u.arguments {
		size += int64(64 + len(a.Name) + len(a.Description) + len(a.Hint))
	}
	from.Kept.Put(&index.Cached[usage]{File: e.File(), Info: info, Value: u, Size: size})
	return u.arguments
}

// readHead returns the first bytes of the file of an entry.
func (r *Reader) readHead(e *index.Entry, from *Source) ([]byte, confine.Info, error) {
	fsys := from.Index.FSOf(r.reads.lifetime, e)
	if from.Index.Sealed(e) {
		raw, info, err := from.Index.ReadFile(fsys, e.Path)
		return raw[:min(len(raw), template.MaxListedText)], info, cmp.Or(err, from.Index.Verify(e, raw))
	}
	if text, info, ok := from.Texts.Find(e); ok {
		return text, info, nil
	}
	f, err := fsys.OpenRegular(e.Path)
	if err != nil {
		return nil, confine.Info{}, err
	}
	defer f.Close()
	head := make([]byte, min(f.Info().Size, template.MaxListedText))
	n, err := f.ReadHead(head)
	return head[:n], f.Info(), err
}
