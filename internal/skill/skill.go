// Package skill reads the open directory of one skill: SKILL.md, the other files, and their
// digests. In a layer with a gate, every read compares the bytes with the seal of the entry.
package skill

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/problem"
	"github.com/toolshelf-go/toolshelf/internal/skilldir"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// A Reader reads the skills of an index and of the results of Extend, and keeps their texts and
// digests. The fields MaxFileSize and DigestOf are set once, before the first read.
type Reader struct {
	MaxFileSize int64
	DigestOf    func(seal *index.Seal, name string, raw []byte) string // observe.Observer.Digest, or nil

	Texts   index.Texts[[]byte] // of stores
	Kept    index.Cache[Text]   // of files whose changes are visible
	Digests Digests
}

// Retain removes the skills that a snapshot does not contain.
func (r *Reader) Retain(now *index.Snapshot) {
	r.Kept.Retain(now.HasFile)
	r.Texts.Retain(now.HasFile)
	r.Digests.Retain(now)
}

func (r *Reader) digestOf(seal *index.Seal, name string, raw []byte) string {
	if r.DigestOf == nil {
		return ""
	}
	return r.DigestOf(seal, name, raw)
}

// A Text is the content of a SKILL.md. A Text is immutable, except the result of Bytes.
type Text struct {
	Header   matter.Frontmatter
	Problems []problem.Problem
	Rejected error  // why WithStrict does not load the file
	Digest   string // of the file; see Reader.DigestOf

	whole string
	body  int    // offset in whole
	fresh []byte // the bytes of whole, if only the current call has the bytes
}

// Content returns the Markdown after the header.
func (t *Text) Content() string { return t.whole[t.body:] }

// Size returns the number of bytes of the file.
func (t *Text) Size() int { return len(t.whole) }

// Bytes returns bytes that the caller of the catalog may modify.
func (t *Text) Bytes() []byte {
	if t.fresh != nil {
		return t.fresh
	}
	return []byte(t.whole)
}

// A Dir is the open directory of a skill during a call.
type Dir struct {
	*index.SkillDir
	Seen func(Text) // called with each state of the skill that Whole has seen; or nil

	// Of the file that the last call has returned; see Reader.DigestOf.
	Digest string
	Size   int

	reader *Reader
}

// Of returns the Dir of a skill that OpenSkill has opened.
func (r *Reader) Of(opened *index.SkillDir) Dir { return Dir{SkillDir: opened, reader: r} }

// attempts is the number of attempts to read a skill that changes during the call.
const attempts = 3

// again reports whether to repeat the n-th attempt to read the skill, because the skill has changed
// during the attempt. If the directory cannot be read again, again sets err to the reason, such as
// the removal of the skill.
func (d *Dir) again(ctx context.Context, n int, err *error) bool {
	if n == attempts || ctx.Err() != nil || !errors.Is(*err, index.ErrChanging) && !d.Outdated(*err) {
		return false
	}
	failed := d.Renew(ctx)
	*err = cmp.Or(failed, *err)
	return failed == nil
}

// Latest returns the SKILL.md. If the skill changes during the call, Latest reads the file again.
// In a gated layer, Latest compares all files of the skill: a text tells the model to run the other
// files.
func (d *Dir) Latest(ctx context.Context) (Text, error) {
	if d.Index.Sealed(d.Entry) {
		whole, err := d.Whole(ctx, Wanted{})
		return whole.Text, err
	}
	for n := 1; ; n++ {
		if text, _, err := d.current(confine.Info{}); !d.again(ctx, n, &err) {
			return text, cmp.Or(err, text.Rejected)
		}
	}
}

// Text returns the SKILL.md, or the reason why WithStrict does not load the file.
func (d *Dir) Text() (Text, error) {
	text, _, err := d.current(confine.Info{})
	if err == nil {
		err = d.verify(&text)
	}
	return text, cmp.Or(err, text.Rejected)
}

// current returns the SKILL.md. If the file is unchanged since the last read or scan, current makes
// no request for bytes in memory. The argument is the metadata of the file in the listing of the
// directory, or the zero Info.
func (d *Dir) current(listed confine.Info) (Text, confine.Info, error) {
	if listed.Version != "" {
		if text, ok := d.kept(listed); ok {
			return text, listed, nil
		}
	}
	now := time.Now()
	f, err := d.Open(path.Base(d.Entry.Path))
	if err != nil {
		return Text{}, confine.Info{}, err
	}
	defer f.Close()
	info := f.Info()
	if text, ok := d.kept(info); ok {
		return text, info, nil
	}
	raw, err := d.Index.ReadOpen(f)
	if err != nil {
		return Text{}, info, err
	}
	text := d.parse(raw, info, now)
	text.fresh = raw
	return text, info, nil
}

// verify returns index.ErrChanging if the layer is gated and the text has other bytes than the bytes
// of the entry.
func (d *Dir) verify(text *Text) error {
	if !d.Index.Sealed(d.Entry) {
		return nil
	}
	return d.Index.Verify(d.Entry, []byte(text.whole))
}

// kept returns the SKILL.md with the given metadata, if the reader has the bytes.
func (d *Dir) kept(info confine.Info) (Text, bool) {
	if kept := d.reader.Kept.Get(d.Entry.File()); kept != nil && stamp.SameFile(kept.Info, info) {
		return kept.Value, true
	}
	raw, listed, ok := d.reader.Texts.Find(d.Entry)
	if !ok || !stamp.SameFile(listed, info) {
		return Text{}, false
	}
	return d.parse(raw, listed, time.Now()), true
}

// parse converts a SKILL.md, and keeps the result if no later change of the file goes unnoticed.
func (d *Dir) parse(raw []byte, info confine.Info, read time.Time) Text {
	text := d.reader.Describe(d.Index, d.Entry, string(raw), info)
	if d.Settled(info, read) {
		d.reader.Kept.Put(&index.Cached[Text]{File: d.Entry.File(), Info: info, Value: text, Size: int64(len(raw) + text.Header.Memory())})
	}
	return text
}

// Describe converts a SKILL.md of x. If the scan has parsed the same file, Describe does not parse
// again.
func (r *Reader) Describe(x *index.Index, e *index.Entry, whole string, info confine.Info) Text {
	sum := r.digestOf(nil, "", []byte(whole))
	if e.Describes(whole, info) {
		return Text{whole: whole, body: e.Body(), Header: e.Header(), Digest: sum}
	}
	doc, _ := matter.Parse([]byte(whole), true)
	return Text{whole: whole, body: doc.Body, Header: doc.Frontmatter, Problems: doc.Problems, Digest: sum, Rejected: x.Rejection(e, []byte(whole), doc)}
}

// A Wanted has the options of Whole.
type Wanted struct {
	Digests bool // of the files
	Listed  bool // Whole may omit the text if the entry of the index describes the text

	// The limits of the digests: of the number of files and of their bytes; 0 means none.
	MaxFiles int
	MaxBytes int64
}

// A Whole is one state of a skill, as far as the filesystem reports changes.
type Whole struct {
	Text
	Described bool // the entry of the index has the header of the text, and Text is zero
	skilldir.Listing
	Sums []string          // the SHA-256 of each of the Files; nil or "" without a digest
	Size int64             // sum of the sizes of Files
	Lost []problem.Problem // the files without a digest
}

// Whole returns a skill with its files. If the skill changes during the call, Whole reads the skill
// again.
func (d *Dir) Whole(ctx context.Context, w Wanted) (s Whole, err error) {
	for n := 1; ; n++ {
		s = Whole{}
		if s.Listing, err = d.Files(ctx); err == nil {
			err = d.own(&s, w)
		}
		if err == nil && d.Index.Sealed(d.Entry) {
			err = d.sealed(ctx, s.Listing)
		}
		if w.MaxFiles > 0 && (s.Truncated || len(s.Files) > w.MaxFiles || s.Size > w.MaxBytes) {
			s.Sums = nil
		}
		if err == nil && s.Sums != nil {
			err = d.digest(ctx, &s)
		}
		if !d.again(ctx, n, &err) {
			return s, err
		}
	}
}

// sealed returns index.ErrChanging if the list does not have the files of the seal. The caller has
// compared the SKILL.md.
func (d *Dir) sealed(ctx context.Context, listed skilldir.Listing) error {
	seal := d.Entry.Seal()
	if seal == nil || seal.Digest == "" || !slices.Equal(seal.Omitted, listed.Omitted) || !slices.EqualFunc(seal.Files, listed.Files, func(a index.SealedFile, b skilldir.File) bool { return a.Name == b.Name }) {
		return index.ErrChanging
	}
	for i, f := range listed.Files {
		if f.Name == seal.Own() || seal.Unchanged(i, f.Info) {
			continue
		}
		sum, err := d.reader.Digests.Of(ctx, d, f)
		if err != nil {
			return err
		}
		if index.FileDigest(seal.Files[i].Sum) != "sha256:"+sum.String() {
			return index.ErrChanging
		}
	}
	return nil
}

// own sets the sizes, the text of the SKILL.md and, if the text may be missing, the digest. A known
// digest describes the same bytes as the entry of the index: the digest has the hash of the header,
// which the entry must have too. In a gated layer, own returns index.ErrChanging for other bytes
// than the bytes of the entry.
func (d *Dir) own(s *Whole, w Wanted) error {
	for _, f := range s.Files {
		s.Size += f.Info.Size
	}
	if w.Digests {
		s.Sums = make([]string, len(s.Files))
	}
	var own skilldir.File
	if s.Own >= 0 {
		own = s.Files[s.Own]
	}
	if w.Listed && s.Own >= 0 && d.Entry.Whole() {
		header := d.Entry.Header()
		sum, ok := d.reader.Digests.Kept(d, own)
		if ok && sum.HasHead(string(header.Format), header.Header) {
			s.Described, s.Sums[s.Own] = true, sum.String()
			return nil
		}
	}
	now := time.Now()
	text, info, err := d.current(own.Info)
	if err == nil {
		err = d.verify(&text)
	}
	switch {
	case err != nil:
		return err
	case s.Own < 0 || !stamp.SameFile(own.Info, info):
		return index.ErrChanging
	case text.Rejected != nil:
		return text.Rejected
	}
	s.Text = text
	if d.Seen != nil {
		d.Seen(s.Text)
	}
	if w.Listed {
		sum := ofSkillFile(text.Bytes(), string(text.Header.Format), text.Header.Header)
		d.reader.Digests.Keep(d, own, sum, now)
		s.Sums[s.Own] = sum.String()
	}
	return nil
}

// digest adds the missing digests of the files. digest returns index.ErrChanging if a file changes
// during the call.
func (d *Dir) digest(ctx context.Context, s *Whole) error {
	place := path.Dir(d.Index.Place(d.Entry))
	for i, f := range s.Files {
		report := func(code problem.Code, message, suggestion string) {
			s.Lost = append(s.Lost, problem.Problem{Code: code, Severity: problem.Warning,
				Path: path.Join(place, escape.Path(f.Name)), Message: "no digest: " + message, Suggestion: suggestion})
		}
		if s.Sums[i] != "" {
			continue
		}
		if f.Info.Size > d.reader.MaxFileSize {
			report(problem.FileTooLarge, "the file is larger than allowed", "shorten the file, or let the program raise the limit")
			continue
		}
		sum, err := d.reader.Digests.Of(ctx, d, f)
		switch {
		case err == nil:
			s.Sums[i] = sum.String()
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, index.ErrChanging):
			return err
		default:
			report(problem.FileRead, escape.Reason(err), "check the permissions of the file")
		}
	}
	if seal := d.Entry.Seal(); seal != nil {
		for i, f := range seal.Files { // of the same names
			if index.FileDigest(f.Sum) != "sha256:"+s.Sums[i] {
				return index.ErrChanging
			}
		}
	}
	return unchanged(ctx, d, s.Listing)
}
