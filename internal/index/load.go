package index

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/access"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/problem"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// ErrTooLarge is Entry.Broken for a file larger than Config.MaxFileSize.
var ErrTooLarge = access.ErrTooLarge

// heads holds buffers for the first bytes of files. Parsed values are copied
// before a buffer returns to the pool.
var heads = sync.Pool{New: func() any { return new(headBuffer) }}

// A headBuffer holds the first bytes of a file, and the memory to parse the bytes.
type headBuffer struct {
	bytes   [matter.MinHead]byte
	scanner matter.Scanner
}

// A wholeBuffer holds a whole file for the collectors. Public files with more bytes are rare.
type wholeBuffer [64 << 10]byte

var wholeFiles = sync.Pool{New: func() any { return new(wholeBuffer) }}

// A collector receives the texts that scans read; see Index.Collect.
type collector struct {
	collect func(e *Entry, info confine.Info, text []byte)
}

// Collect makes the scans that begin from now on read new files of up to 64 KiB as a whole, and
// call f with the text of each, until stop is called. The text is valid during the call. Several
// goroutines call f, also for a moment after stop. Scans read no file of a filesystem that knows
// the heads of its files.
func (x *Index) Collect(f func(e *Entry, info confine.Info, text []byte)) (stop func()) {
	c := &collector{f}
	x.collecting.Lock()
	defer x.collecting.Unlock()
	x.collectors = append(x.collectors, c)
	return func() {
		x.collecting.Lock()
		defer x.collecting.Unlock()
		x.collectors = slices.DeleteFunc(x.collectors, func(other *collector) bool {
			return other == c
		})
	}
}

// A source is a Markdown file that a scan loads.
type source struct {
	dir        *confine.Dir // contains the file as base
	base       string
	typ        fs.FileMode // the type bits; if unknown, of the most likely type
	file, name string      // of the entry: the path below the layer, and the name
	known      *Entry      // of the file from the previous scan, or nil

	subdirectory string // of dir, which contains the file; "" for dir itself

	link   bool        // set by load
	listed stamp.Stamp // set by load, for the entry of a file that cannot be read
}

// load returns the entry of a file, or nil if the file has vanished. If the file is unchanged, load
// returns the known entry.
func (s *scan) load(f source) *Entry {
	if f.known == nil && f.typ == 0 {
		if e, ok := s.loadNew(f); ok {
			return e
		}
	}
	info, err := f.dir.Lstat(f.base)
	if errors.Is(err, fs.ErrNotExist) {
		return s.vanished(f)
	}
	f.link = err == nil && info.Mode&fs.ModeSymlink != 0
	if f.link {
		s.FollowedLink()
		if info, err = s.FS.Info(f.file); err != nil {
			f.listed = stamp.Of(info)
			return s.broken(f, err, s.linkProblem(f.file, err))
		}
	}
	f.listed = stamp.Of(info)
	switch {
	case err != nil:
		return s.unread(f, err)
	case info.Mode.IsDir() && !f.link:
		if !s.seenBySpelling(f) {
			s.reportDir(f.file)
		}
		return nil
	case !info.Mode.IsRegular():
		return s.unreadable(f, confine.ErrNotRegular)
	case info.Size > s.config.MaxFileSize:
		return s.tooLarge(f)
	case s.isCurrent(f.known, f.listed):
		return f.known
	}
	e, err := s.retryPartial(f.known, func() (*Entry, error) { return s.read(f) })
	switch {
	case err == nil:
		return keep(f.known, e)
	case errors.Is(err, fs.ErrNotExist):
		return s.vanished(f)
	}
	return s.unread(f, err)
}

// isCurrent reports whether the stamp of a file proves that an entry describes the file.
func (s *scan) isCurrent(known *Entry, now stamp.Stamp) bool {
	return known != nil && known.settled && !known.unread() && known.Stamp.Same(now) &&
		!s.canRestore(known)
}

// loadNew is load for a new file, which must be opened in any case. The open file has the metadata.
// For a link or a special file, whose type only a stat finds, ok is false.
func (s *scan) loadNew(f source) (e *Entry, ok bool) {
	e, err := s.read(f)
	switch {
	case err == nil && e.Stamp.Size > s.config.MaxFileSize:
		f.listed = e.Stamp
		return s.tooLarge(f), true
	case err == nil:
		return e, true
	case errors.Is(err, fs.ErrNotExist):
		return s.vanished(f), true
	case errors.Is(err, confine.ErrSymlink), errors.Is(err, confine.ErrNotRegular):
		return nil, false
	}
	info, _ := f.dir.Lstat(f.base) // the next scan compares the metadata
	f.listed = stamp.Of(info)
	return s.unread(f, err), true
}

// vanished returns no entry, and records a file that does not exist although a snapshot lists the
// file. A program can write the same file again, and then the filesystem has the same version again.
func (s *scan) vanished(f source) *Entry {
	if s.version != "" {
		if _, err := f.dir.Lstat(f.base); err == nil {
			s.refusal.Store(true)
		}
	}
	return nil
}

// unread returns the entry of a file that the scan could not read. If a store has failed,
// the file has no defect. Then a later scan reads the file again, and the list keeps the
// previous content of a file with a version.
func (s *scan) unread(f source, err error) *Entry {
	versions := f.listed.Versioned() || f.known != nil && f.known.Stamp.Versioned()
	if !s.failed(err, versions) || !versions || f.known == nil || f.known.Broken() != nil {
		return s.unreadable(f, err)
	}
	s.reportFailure(f.file, err)
	return f.known
}

// failed reports whether err can be a failure of a store, and records that a later scan may
// read the rest. A filesystem whose files have versions is a store.
func (s *scan) failed(err error, versions bool) bool {
	if !access.MayHaveChanged(err) {
		return false
	}
	s.Watch.Unwatched() // no event tells the end of the failure
	if l := s.at; !versions && l.Store == nil && !l.Fed {
		return false
	}
	s.incomplete.Store(true)
	return true
}

// keepBelow adds the previous entries below a directory that a store could not list, and
// reports whether any exist. The function at returns the place of an entry from its path:
// of the file for a command, and of the directory for a skill.
func (s *scan) keepBelow(dirPath string, at func(file string) string) bool {
	before := len(s.entries)
	for _, e := range s.before.entries {
		if e.Part() == s.part && strings.HasPrefix(at(e.Path), dirPath+"/") {
			s.entries = append(s.entries, e)
		}
	}
	return len(s.entries) > before
}

// reportFailure reports a file or directory of a store that could not be read.
func (s *scan) reportFailure(file string, err error) {
	s.warn(problem.FileRead, file, "the list has the previous content: "+access.Unreadable(err),
		s.at.ReadAdvice(err))
}

// fileBytes are the bytes that a scan has read of a file: the first bytes, or in a sealed layer all
// bytes up to the limit of the size.
type fileBytes struct {
	raw  []byte
	info confine.Info
	sum  [sha256.Size]byte // of raw, in a sealed layer
	at   time.Time         // before the read
	err  error
}

// read reads as much of a file as a list and the collectors need.
func (s *scan) read(f source) (*Entry, error) {
	pooled := heads.Get().(*headBuffer)
	defer heads.Put(pooled)
	buf := pooled.bytes[:]
	if f.known != nil && f.known.get().version.parsed > len(buf) {
		buf = make([]byte, f.known.get().version.parsed)
	}
	limit := len(buf) // of the parsed head
	collected := f.known == nil && len(s.collectors) > 0 && !s.FS.KnowsHeads()
	if collected && !s.at.Sealed {
		whole := wholeFiles.Get().(*wholeBuffer)
		defer wholeFiles.Put(whole)
		buf = whole[:]
	}
	now := time.Now()
	if !s.at.Sealed {
		s.Opened.Add(1)
	}
	for {
		read := fileBytes{at: now}
		if s.at.Sealed {
			read = s.readWhole(f)
		} else {
			var n int
			n, read.info, read.err = s.readHead(f, buf)
			read.raw = buf[:n]
		}
		if read.err != nil {
			return nil, read.err
		}
		if s.confirms(f.known, read, limit) {
			return f.known, nil
		}
		doc, head, more := s.parse(pooled, f.file, read, limit)
		if more {
			limit = 4 * len(head)
			buf = make([]byte, limit)
			continue
		}
		e := s.newEntry(f, read, head, doc)
		if int64(len(read.raw)) < read.info.Size && (s.at.Sealed || len(read.raw) < len(buf)) {
			e.set().version.short = true
		}
		s.handOver(e, read, collected)
		return e, nil
	}
}

// confirms reports whether the bytes of a file are those of the known entry.
func (s *scan) confirms(known *Entry, read fileBytes, limit int) bool {
	if known == nil || !known.sameHead(read.raw[:min(len(read.raw), limit)], read.info) ||
		!known.get().seal.covers(read.sum) || s.canRestore(known) {
		return false
	}
	if stamp.Settled(read.info, read.at) {
		known.settled = true
	}
	return true
}

// commandKeys are the fields that fill reads of commands.
var commandKeys = []string{"description", dependencyKey, userOnlyKey, hintKey, nameKey}

// parse parses the first limit bytes of a file, or more if the header is longer. If the header is
// longer than the bytes that were read, more is true. The fields of a command are valid until the
// bytes change.
func (s *scan) parse(pooled *headBuffer, file string, read fileBytes, limit int) (
	doc matter.Document, head []byte, more bool,
) {
	for {
		head = read.raw[:min(len(read.raw), limit)]
		// A file that has grown since the open is longer than its size.
		whole := len(head) < limit || int64(len(head)) == read.info.Size
		switch {
		case s.config.kind.header:
			doc, more = matter.Parse(head, whole)
		case s.config.Judge != nil: // a rule can concern every field
			doc, more = pooled.scanner.ParseFile(file, head, whole)
		default:
			doc, more = pooled.scanner.ParseFile(file, head, whole, commandKeys...)
		}
		if !more || limit >= len(read.raw) {
			return doc, head, more && !whole
		}
		limit *= 4
	}
}

// newEntry returns the entry of a parsed file.
func (s *scan) newEntry(f source, read fileBytes, head []byte, doc matter.Document) *Entry {
	e := &Entry{Stamp: stamp.Of(read.info), layer: uint16(s.layer), Linked: f.link,
		settled: stamp.Settled(read.info, read.at)}
	v := version{recent: stamp.Recent(read.info, read.at)}
	if f.known != nil || !e.settled || s.config.kind.header { // see Describes
		v.head, v.parsed = maphash.Bytes(seed, head), len(head)
	}
	if v != (version{}) {
		e.set().version = v
	}
	if s.part != nil {
		e.set().part = s.part
	}
	s.fill(e, f, doc, head)
	if s.at.Sealed {
		s.seal(e, read.sum)
	}
	s.judge(e, f, doc, head)
	s.limitMemory(e)
	return e
}

// handOver passes a file that was read as a whole to the functions that keep texts.
func (s *scan) handOver(e *Entry, read fileBytes, collected bool) {
	whole := int64(len(read.raw)) == read.info.Size
	if !whole || read.info.Size > s.config.MaxFileSize || s.FS.KnowsHeads() {
		return
	}
	if s.config.Whole != nil && s.at.Store != nil {
		s.config.Whole(e, read.info, read.raw)
	}
	if collected {
		for _, c := range s.collectors {
			c.collect(e, read.info, read.raw)
		}
	}
}

// readHead reads the first bytes of a file. A link is opened by its path, because
// the target may be in another directory.
func (s *scan) readHead(f source, buf []byte) (int, confine.Info, error) {
	if f.link {
		return access.ReadHead(s.FS, f.file, buf)
	}
	if f.subdirectory != "" {
		return f.dir.ReadHeadBelow(f.subdirectory, f.base, buf)
	}
	n, info, err := f.dir.ReadHead(f.base, buf)
	if err == nil || s.refused == nil || s.Context.Err() != nil || !access.MayHaveChanged(err) {
		return n, info, err
	}
	return access.ReadHead(s.refused, f.file, buf)
}

const (
	userOnlyKey  = "disable-model-invocation"
	invocableKey = "user-invocable"
	hintKey      = "argument-hint"
	nameKey      = "name"
)

// fill copies the fields of an entry from a parsed head.
func (s *scan) fill(e *Entry, f source, doc matter.Document, head []byte) {
	description, _ := matter.Description(doc, doc.Text(head))
	var missing *problem.Problem
	e.Name, missing = s.named(doc, f)
	e.Path = f.file
	if s.config.kind.header {
		e.text = description // usually a part of the header
	} else {
		hint, _ := doc.Get(hintKey)
		e.setText(description, hint.String())
	}
	e.Dependency = s.config.kind.dependencies && IsDependency(doc, head)
	disabled, _ := doc.Get(userOnlyKey)
	e.UserOnly, _ = disabled.Bool()
	if len(doc.Problems) > 0 {
		d, place := e.set(), s.place(f.file)
		d.problems = make([]problem.Problem, len(doc.Problems))
		for i, p := range doc.Problems {
			d.problems[i] = p.In(place)
		}
	}
	if missing != nil {
		e.set().broken = ErrNotListed
		e.set().problems = append(e.set().problems, missing.In(s.place(f.file)))
	}
	if s.config.kind.header {
		d := e.set()
		d.header, d.body = doc.Frontmatter, doc.Body
		invocable, _ := doc.Get(invocableKey)
		value, said := invocable.Bool()
		d.modelOnly = said && !value
	}
}

// judge makes the entry of a rejected file broken.
func (s *scan) judge(e *Entry, f source, doc matter.Document, head []byte) {
	if s.config.Judge == nil || e.Broken() == ErrNotListed {
		return
	}
	l := s.at
	name := e.Name
	if s.config.kind.header && !l.Files && path.Dir(f.file) == l.Dir { // the layer is a skill itself
		name = l.skillName(doc.Frontmatter)
	}
	reasons := s.config.Judge(*l, name, s.place(f.file), head, doc)
	if len(reasons) == 0 {
		return
	}
	d := e.set()
	all := slices.Clone(reasons)
	for _, p := range d.problems {
		same := func(reason problem.Problem) bool {
			return reason.Code == p.Code && reason.Line == p.Line && reason.Column == p.Column
		}
		if !slices.ContainsFunc(reasons, same) {
			all = append(all, p)
		}
	}
	d.broken, d.problems = &Rejection{reasons}, all
}

func (s *scan) tooLarge(f source) *Entry {
	return s.broken(f, ErrTooLarge, problem.Problem{
		Code: problem.FileTooLarge, Severity: problem.Error, Path: s.place(f.file),
		Message: fmt.Sprintf("not listed: the file has %d bytes; at most %d are allowed",
			f.listed.Size, s.config.MaxFileSize),
		Suggestion: "shorten the file, or let the program raise the limit",
	})
}

func (s *scan) unreadable(f source, err error) *Entry {
	if errors.Is(err, fs.ErrPermission) {
		s.refusal.Store(true)
	}
	if s.at.Names != client.FromPath { // the header has the name
		s.hide(f.file, s.at.Prefix, false, err)
	}
	return s.broken(f, err, problem.Problem{
		Code: problem.FileRead, Severity: problem.Error, Path: s.place(f.file),
		Message: "not listed: " + access.Unreadable(err), Suggestion: s.at.ReadAdvice(err)})
}

// broken returns the entry of a file that cannot be loaded because of err. The
// problem p describes err to the author of the file.
func (s *scan) broken(f source, err error, p problem.Problem) *Entry {
	return keep(f.known, &Entry{Stamp: f.listed, Name: f.name, Path: f.file, layer: uint16(s.layer),
		details: &details{broken: err, problems: []problem.Problem{p}, part: s.part}})
}
