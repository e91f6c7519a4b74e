package index

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// ErrTooLarge is Entry.Broken for a file larger than Config.MaxFileSize.
var ErrTooLarge = errors.New("file too large")

// heads holds buffers for the first bytes of files. Parsed values are copied
// before a buffer returns to the pool.
var heads = sync.Pool{New: func() any { return new([matter.MinHead]byte) }}

var seed = maphash.MakeSeed()

// A version distinguishes the states of a file.
type version struct {
	head    uint64      // hash of the parsed bytes; 0 if the first read found a settled file
	parsed  int         // number of bytes in head
	settled atomic.Bool // a later change of the file changes its Info; see Settled
	recent  bool        // the file changed just before the read
	short   bool        // the read returned fewer bytes than Info promises
}

// load returns the entry of one Markdown file. The argument known is the entry
// of the file from the previous scan, or nil. If the file is unchanged, load
// returns known. If the file has vanished, load returns nil. The directory dir
// contains the file as base, with the type bits typ. If the type of the file is
// unknown, typ is the most likely type.
func (s *scan) load(dir *confine.Dir, base string, typ fs.FileMode, file, name string, known *Entry) *Entry {
	if known == nil && typ == 0 {
		// A new file must be opened in any case, and the open file has the
		// metadata.
		e, err := s.read(dir, base, file, name, false, nil)
		switch {
		case err == nil && e.Info.Size > s.config.MaxFileSize:
			return s.tooLarge(nil, file, name, e.Info)
		case err == nil:
			return e
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case !errors.Is(err, confine.ErrSymlink) && !errors.Is(err, confine.ErrNotRegular): // after either error, Lstat finds the type
			return s.unreadable(nil, file, name, confine.Info{}, err)
		}
	}
	info, err := dir.Lstat(base)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	link := err == nil && info.Mode&fs.ModeSymlink != 0
	if link {
		s.throughLink()
		if info, err = s.fs.Info(file); err != nil {
			return s.broken(known, file, name, info, err, s.linkProblem(file, err))
		}
	}
	switch {
	case err != nil:
		return s.unreadable(known, file, name, info, err)
	case info.Mode.IsDir() && !link:
		s.reportDir(file)
		return nil
	case !info.Mode.IsRegular():
		return s.unreadable(known, file, name, info, confine.ErrNotRegular)
	case info.Size > s.config.MaxFileSize:
		return s.tooLarge(known, file, name, info)
	case known != nil && known.Broken == nil && SameFile(known.Info, info) && known.version.settled.Load() && !s.canGrow(known):
		return known
	}
	e, err := s.retryPartial(known, func() (*Entry, error) { return s.read(dir, base, file, name, link, known) })
	switch {
	case err == nil:
		return keep(known, e)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	default:
		return s.unreadable(known, file, name, info, err)
	}
}

// SameFile reports whether the metadata of a file shows no change. SameFile
// ignores Accessed, because a read changes Accessed.
func SameFile(a, b confine.Info) bool {
	return a.Size == b.Size && a.Mode == b.Mode && a.Ino == b.Ino && a.Dev == b.Dev &&
		a.Modified.Equal(b.Modified) && a.Changed.Equal(b.Changed)
}

// granularity returns the shortest time between two changes of a file that gives
// the file different times. The result is a clock tick of the kernel or, for
// times in whole seconds, the two seconds of the coarsest filesystems.
func granularity(t time.Time) time.Duration {
	if t.Nanosecond() == 0 {
		return 2 * time.Second
	}
	return 20 * time.Millisecond
}

// Settled reports whether a later change of a file changes the Info of the file.
// The file must be read no earlier than now. Only a change time proves a file
// settled: a program can replace a file with another file of the same size and
// set the modification time back. On a filesystem without change times no file
// is settled, and each validation must read and compare the contents.
func Settled(info confine.Info, now time.Time) bool {
	return !info.Changed.IsZero() && now.Sub(info.Changed) > granularity(info.Changed)
}

// recent reports whether a file changed just before now, or at an unknown time.
func recent(info confine.Info, now time.Time) bool {
	changed := info.Changed
	if changed.IsZero() {
		changed = info.Modified
	}
	return changed.IsZero() || now.Sub(changed) <= granularity(changed)
}

// A file that seems half written is read again, up to rereads times, with a
// pause of rereadAfter before each read. Editors and programs that write in
// place need well under a millisecond.
const (
	rereads     = 3
	rereadAfter = 5 * time.Millisecond
)

// retryPartial reads a file, and reads the file again if the first read seems to
// fall between two writes: known is good, the new contents are empty or broken,
// and the file has just changed. If the file is still changing after the last
// read, retryPartial returns known.
func (s *scan) retryPartial(known *Entry, read func() (*Entry, error)) (*Entry, error) {
	e, err := read()
	if known == nil || known.Broken != nil {
		return e, err
	}
	changing := false
	for range rereads {
		if err != nil || !halfWritten(known, e) {
			return e, err
		}
		select {
		case <-time.After(rereadAfter):
		case <-s.ctx.Done():
			return known, nil // the scan ends with an error
		}
		before := e.Info
		if e, err = read(); err == nil {
			changing = !SameFile(before, e.Info)
		}
	}
	if err == nil && changing && halfWritten(known, e) {
		return known, nil
	}
	return e, err
}

func halfWritten(known, e *Entry) bool {
	return e != known && e.version.recent &&
		(e.version.short || e.Info.Size == 0 && known.Info.Size > 0 || len(e.Problems) > len(known.Problems))
}

// read reads as much of a file as a list needs.
func (s *scan) read(dir *confine.Dir, base, file, name string, link bool, known *Entry) (*Entry, error) {
	pooled := heads.Get().(*[matter.MinHead]byte)
	defer heads.Put(pooled)
	head := pooled[:]
	if known != nil && known.version.parsed > len(head) {
		head = make([]byte, known.version.parsed)
	}
	now := time.Now()
	for {
		n, info, err := s.readHead(dir, base, file, head, link)
		if err != nil {
			return nil, err
		}
		if known != nil && known.sameHead(head[:n], info) && !s.canGrow(known) {
			if Settled(info, now) {
				known.version.settled.Store(true)
			}
			return known, nil
		}
		doc, more := matter.Parse(head[:n], int64(n) >= info.Size)
		if more && n == len(head) {
			head = make([]byte, 4*len(head))
			continue
		}
		e := &Entry{Name: name, Layer: s.layer, Path: file, Linked: link, Info: info}
		e.version.settled.Store(Settled(info, now))
		if known != nil || !e.version.settled.Load() {
			e.version.head, e.version.parsed = maphash.Bytes(seed, head[:n]), n
		}
		e.version.recent = recent(info, now)
		e.version.short = int64(n) < min(int64(len(head)), info.Size)
		s.fill(e, doc, head[:n])
		s.fit(e)
		return e, nil
	}
}

// sameHead reports whether the entry was parsed from these first bytes of the
// file.
func (e *Entry) sameHead(head []byte, info confine.Info) bool {
	return e.Broken == nil && e.version.parsed == len(head) && SameFile(e.Info, info) && e.version.head == maphash.Bytes(seed, head)
}

func (s *scan) readHead(dir *confine.Dir, base, file string, buf []byte, link bool) (int, confine.Info, error) {
	if !link {
		return dir.ReadHead(base, buf)
	}
	f, err := s.fs.OpenRegular(file)
	if err != nil {
		return 0, confine.Info{}, err
	}
	defer f.Close()
	n, err := f.ReadHead(buf)
	return n, f.Info(), err
}

// fill copies the fields of an entry from a parsed head.
func (s *scan) fill(e *Entry, doc matter.Document, head []byte) {
	description, _ := matter.Description(doc, head[doc.Body:])
	e.Description = strings.Clone(description)
	e.Dependency = !s.config.KeepHeader && IsDependency(doc, head) // skills are never dependencies
	disabled, _ := doc.Get("disable-model-invocation")
	e.UserOnly, _ = disabled.Bool()
	if s.config.KeepHeader {
		doc.Header = bytes.Clone(doc.Header)
		e.Header = doc
	}
	for _, p := range doc.Problems {
		e.Problems = append(e.Problems, p.In(s.place(e.Path)))
	}
}

// IsDependency reads is_dependency from the header of a file that begins with
// head. If a broken header leaves the value unclear, the command is a dependency.
func IsDependency(doc matter.Document, head []byte) bool {
	const key = "is_dependency"
	if v, ok := doc.Get(key); ok {
		if v.Kind == matter.Null {
			return false
		}
		dependency, clear := v.Bool()
		return dependency || !clear
	}
	unclear := false
	for _, p := range doc.Problems {
		switch p.Code {
		case problem.FrontmatterRecovered, problem.FrontmatterRefused, problem.FrontmatterInvalid, problem.FrontmatterNotAMapping, problem.FrontmatterUnterminated, problem.FrontmatterUnknownFence:
			unclear = true
		}
	}
	if !unclear {
		return false
	}
	header := doc.Header
	if doc.Format == "" {
		header = head // without a parsed header, search the first bytes
	}
	for line := range bytes.Lines(header) {
		if bytes.HasPrefix(bytes.TrimLeft(line, " \t\"'{,"), []byte(key)) {
			return true
		}
	}
	return false
}

func (s *scan) tooLarge(known *Entry, file, name string, info confine.Info) *Entry {
	return s.broken(known, file, name, info, ErrTooLarge, problem.Problem{
		Code: problem.FileTooLarge, Severity: problem.Error, Path: s.place(file),
		Message:    fmt.Sprintf("not listed: the file has %d bytes; at most %d are allowed", info.Size, s.config.MaxFileSize),
		Suggestion: "shorten the file, or raise the limit with WithMaxFileSize",
	})
}

func (s *scan) unreadable(known *Entry, file, name string, info confine.Info, err error) *Entry {
	return s.broken(known, file, name, info, err, problem.Problem{Code: problem.FileRead, Severity: problem.Error, Path: s.place(file),
		Message: "not listed: " + unreadable(err), Suggestion: "check the type and the permissions of the file"})
}

func (s *scan) broken(known *Entry, file, name string, info confine.Info, err error, p problem.Problem) *Entry {
	return keep(known, &Entry{Name: name, Layer: s.layer, Path: file, Info: info, Broken: err, Problems: []problem.Problem{p}})
}

// keep returns known if the new entry e shows no change of the file. Therefore
// two entries or two snapshots are equal exactly if their pointers are equal.
func keep(known, e *Entry) *Entry {
	if known == nil || !SameFile(known.Info, e.Info) || (known.Broken == nil) != (e.Broken == nil) ||
		known.version.head != e.version.head || !known.Whole() && e.Whole() || e.Broken != nil && known.Problems[0] != e.Problems[0] {
		return e
	}
	if e.version.settled.Load() {
		known.version.settled.Store(true)
	}
	return known
}
