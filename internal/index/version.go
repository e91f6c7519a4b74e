package index

import (
	"hash/maphash"
	"time"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// A version is what distinguishes the states of a file besides the stamp.Stamp. The
// version of a command's file that the first read finds settled is zero.
type version struct {
	head   uint64 // hash of the parsed bytes
	parsed int    // number of bytes in head
	recent bool   // the file changed just before the read
	short  bool   // the read returned fewer bytes than the metadata promises
}

var seed = maphash.MakeSeed()

// sameHead reports whether the entry was parsed from these first bytes of the
// file.
func (e *Entry) sameHead(head []byte, info confine.Info) bool {
	version := e.get().version
	return !e.unread() && e.Stamp.Same(stamp.Of(info)) &&
		version.parsed == len(head) && version.head == maphash.Bytes(seed, head)
}

// Describes reports whether the entry has the frontmatter, the offset of the body and all problems
// of a file with this text and this metadata. The scan has parsed only the first bytes of the file,
// so a file without frontmatter, or with bytes that are not UTF-8, can have further problems. The
// bytes that the scan has parsed decide, because a program can rewrite the file after the stat, and
// because a store can give a scan another header than the file has.
func (e *Entry) Describes(text string, info confine.Info) bool {
	d := e.get()
	if d.broken != nil || len(d.problems) > 0 || d.header.Format == "" || !e.Whole() ||
		!e.Stamp.Same(stamp.Of(info)) || !utf8.ValidString(text) {
		return false
	}
	n := d.version.parsed
	if n == 0 || d.body > n || n > len(text) || d.version.head != maphash.String(seed, text[:n]) {
		return false
	}
	// At the end of a half-written file, the line of the closing fence can continue.
	return text[d.body-1] == '\n' || d.body == len(text)
}

// keep returns known if the new entry e shows no change of the file. Therefore
// two entries or two snapshots are equal exactly if their pointers are equal.
func keep(known, e *Entry) *Entry {
	if known == nil || !known.isSame(e) {
		return e
	}
	if e.settled {
		known.settled = true
	}
	return known
}

// isSame reports whether a new entry of the file shows no change.
func (e *Entry) isSame(now *Entry) bool {
	was, is := e.get(), now.get()
	switch {
	case !e.Stamp.Same(now.Stamp), was.version.head != is.version.head, !was.seal.sameFile(is.seal):
		return false
	case !e.Whole() && now.Whole(): // the index has room for the whole entry now
		return false
	case was.broken == nil || is.broken == nil:
		return was.broken == is.broken
	}
	return was.problems[0] == is.problems[0]
}

// Settled is stamp.Settled for a file of a layer. Files of an immutable
// layer are always settled.
func (x *Index) Settled(layer int, info confine.Info, now time.Time) bool {
	return x.config.Layers[layer].Immutable || stamp.Settled(info, now)
}
