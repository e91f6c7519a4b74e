package index

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/access"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/problem"
	"github.com/toolshelf-go/toolshelf/internal/skilldir"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// ErrChanging reports a file or a skill that changes during a call.
var ErrChanging = errors.New("changes during the read")

// The limits of the files of a skill in a sealed layer. A larger skill has no Seal.
const (
	maxSealedFiles = 512
	maxSealedBytes = 64 << 20
)

// A Seal identifies the content of an entry of a layer with Layer.Sealed. A Seal is immutable,
// except for its proof.
type Seal struct {
	Digest  string             // of the content: the result of FileDigest or ListDigest; "" if Problem is not nil
	Files   []SealedFile       // sorted by the bytes of Name; with a Problem, the file of the entry only
	Omitted []skilldir.Omitted // of a skill, sorted by the bytes of Name
	Problem *problem.Problem   // the reason why the digest of a skill is unknown
	own     int                // the file of the entry in Files
	proof   atomic.Pointer[proof]
}

// A proof is the metadata of the files of a skill. A later scan replaces the proof of an unchanged
// skill.
type proof struct {
	files []fileProof // by the position in Seal.Files

	// dirs are the directories of a skill, by the paths below the skill, before a scan has listed
	// them. No file has been added or removed while the metadata of all directories is the same. A
	// directory that proves nothing makes dirs nil.
	dirs []access.ListedDir
}

type fileProof struct {
	stamp   stamp.Stamp
	settled bool // a later change of the file changes the stamp
}

// A SealedFile is a file of an entry.
type SealedFile struct {
	Name string // relative to the directory of the skill; of a file, the base name
	Sum  [sha256.Size]byte
}

// Unchanged reports whether the metadata of the file with a position in Files prove that the file
// has the bytes of the seal.
func (s *Seal) Unchanged(i int, info confine.Info) bool {
	p := s.proof.Load()
	return p != nil && p.files[i].settled && p.files[i].stamp.Same(stamp.Of(info))
}

// FileDigest returns the digest of a single file.
func FileDigest(sum [sha256.Size]byte) string { return "sha256:" + hex.EncodeToString(sum[:]) }

// SumOf returns the SHA-256 of a file with the given name and bytes. If the seal has the file, raw
// is the file of the seal, and SumOf does not read raw.
func (s *Seal) SumOf(name string, raw []byte) [sha256.Size]byte {
	if s != nil {
		if f := s.file(name); f != nil {
			return f.Sum
		}
	}
	return sha256.Sum256(raw)
}

// The kinds of lists of files for ListDigest.
const (
	NamedFile    = "list" // one file whose bytes have another meaning under another name
	SkillList    = "skill"
	PluginList   = "plugin"
	ImportedList = "instruction" // an instruction and the files of its imports
	ServerList   = "server"      // the entry of an MCP server and the files that its command line names
)

// ListDigest returns the digest of a list of a kind. Different lists, a list and a file, and lists
// of different kinds have different digests: the hashed text begins with the kind, and each name
// follows its length.
func ListDigest(kind string, files []SealedFile, omitted []skilldir.Omitted) string {
	hash := sha256.New()
	fmt.Fprintf(hash, "%s\n", kind)
	for _, f := range files {
		fmt.Fprintf(hash, "%x %d %s\n", f.Sum, len(f.Name), f.Name)
	}
	for _, o := range omitted {
		fmt.Fprintf(hash, "%s %d %s %d %s\n", o.Type, len(o.Name), o.Name, len(o.Target), o.Target)
	}
	return kind + "-" + FileDigest([sha256.Size]byte(hash.Sum(nil)))
}

// Own returns the name of the file of the entry.
func (s *Seal) Own() string { return s.Files[s.own].Name }

// SealOf returns the seal of a list of files, given in any order.
func SealOf(kind string, files []SealedFile) *Seal {
	slices.SortFunc(files, func(a, b SealedFile) int { return strings.Compare(a.Name, b.Name) })
	return &Seal{Files: files, Digest: ListDigest(kind, files, nil)}
}

// Sums are the SHA-256 of texts, each computed once.
type Sums map[string][sha256.Size]byte

// Of returns the SHA-256 of a text.
func (s Sums) Of(text string) [sha256.Size]byte {
	sum, ok := s[text]
	if !ok {
		sum = sha256.Sum256([]byte(text))
		s[text] = sum
	}
	return sum
}

// Files returns texts by their names as files of a seal.
func (s Sums) Files(texts map[string]string) (files []SealedFile) {
	for name, text := range texts {
		files = append(files, SealedFile{name, s.Of(text)})
	}
	return files
}

// Has reports whether the seal has a file, or files below a directory, with the name.
func (s *Seal) Has(name string) bool {
	below := func(f SealedFile) bool { return strings.HasPrefix(f.Name, name+"/") }
	return name == "." || s.file(name) != nil || slices.ContainsFunc(s.Files, below)
}

// find returns the position of the file with the name in Files.
func (s *Seal) find(name string) (i int, ok bool) {
	return slices.BinarySearchFunc(s.Files, name, func(f SealedFile, name string) int {
		return strings.Compare(f.Name, name)
	})
}

// file returns the file with the name, or nil.
func (s *Seal) file(name string) *SealedFile {
	i, ok := s.find(name)
	if !ok {
		return nil
	}
	return &s.Files[i]
}

// covers reports whether the text of the entry's file has a sum. No seal covers every text.
func (s *Seal) covers(sum [sha256.Size]byte) bool { return s == nil || s.Files[s.own].Sum == sum }

// sameFile reports whether two seals are of the same text of the entry's file.
func (s *Seal) sameFile(other *Seal) bool {
	return s == nil || other == nil || s.Files[s.own].Sum == other.Files[other.own].Sum
}

// Seal returns the seal of the entry, or nil in a layer without Sealed and of a file that a scan
// cannot read.
func (e *Entry) Seal() *Seal { return e.get().seal }

// Sealed reports whether the layer of an entry is sealed.
func (x *Index) Sealed(e *Entry) bool { return x.LayerOf(e).Sealed }

// Verify returns ErrChanging if raw is not the text of the entry's file in the seal of the entry.
// In a layer that is not sealed, Verify accepts every text.
func (x *Index) Verify(e *Entry, raw []byte) error {
	if seal := e.Seal(); x.Sealed(e) && (seal == nil || !seal.covers(sha256.Sum256(raw))) {
		return ErrChanging
	}
	return nil
}

// VerifyFile is Verify for a file of a skill, by its name in the seal. A file that the seal does
// not cover does not exist.
func (x *Index) VerifyFile(e *Entry, name string, raw []byte) error {
	if !x.Sealed(e) {
		return nil
	}
	if name == path.Base(e.Path) {
		return x.Verify(e, raw)
	}
	if seal := e.Seal(); seal != nil && seal.Problem == nil {
		switch f := seal.file(name); {
		case f == nil:
			return fs.ErrNotExist
		case f.Sum == sha256.Sum256(raw):
			return nil
		}
	}
	return ErrChanging
}

// ReadSealed reads a file of the seal of an entry. If the file has other bytes now, the error is
// ErrChanging.
func (x *Index) ReadSealed(ctx context.Context, e *Entry, name string) (raw []byte, err error) {
	if name == e.Seal().Files[e.Seal().own].Name {
		raw, _, err = x.ReadFile(x.FSOf(ctx, e), e.Path)
	} else {
		raw, err = x.readBeside(ctx, e, name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrChanging
	}
	return raw, cmp.Or(err, x.VerifyFile(e, name, raw))
}

// CountOmitted returns the number of files below an omitted directory of a skill, and whether these
// are all files. At the limit, and after a directory that cannot be read, there can be more.
func (x *Index) CountOmitted(ctx context.Context, e *Entry, name string, limit int) (files int, all bool) {
	skill, err := x.OpenSkill(ctx, e)
	if err != nil {
		return 0, false
	}
	defer skill.Close()
	left := 10 * limit // files and directories
	all = true
	for dirs := []string{name}; len(dirs) > 0 && left >= 0; dirs = dirs[1:] {
		dir, err := skill.OpenDir(dirs[0])
		if err != nil {
			all = false
			continue
		}
		err = dir.Each(ctx, func(elem string, typ fs.FileMode) error {
			if left--; left < 0 || files == limit {
				left, all = -1, false
				return fs.SkipAll
			}
			if typ != fs.ModeDir {
				files++
			} else if below := path.Join(dirs[0], elem); strings.Count(below[len(name):], "/") <= skilldir.MaxDepth {
				dirs = append(dirs, below)
			}
			return nil
		})
		all = all && err == nil
		dir.Close()
	}
	return files, all
}

func (x *Index) readBeside(ctx context.Context, e *Entry, name string) ([]byte, error) {
	dir, err := x.OpenSkill(ctx, e)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	raw, _, err := x.readAndClose(dir.Open(name))
	return raw, err
}

// A sharedFile is the key of a file that is confined to a directory, in scan.shared.
type sharedFile[T any] struct{ within, file string }

type fileSum struct {
	sum  [sha256.Size]byte
	read fileProof
	err  error
}

// shared returns the result of the first call of read for a file in a scan, because the entries of a
// marketplace can share a file. Without scan.shared, shared calls read.
func shared[T any](s *scan, file string, read func() T) T {
	if s.shared == nil {
		return read()
	}
	first, _ := s.shared.LoadOrStore(sharedFile[T]{s.part.PluginDir, file}, sync.OnceValue(read))
	return first.(func() T)()
}

// readWhole reads a file of a sealed layer. A file that is too large has no bytes.
func (s *scan) readWhole(f source) fileBytes {
	return shared(s, f.file, func() fileBytes {
		w := fileBytes{at: time.Now()}
		if w.raw, w.info, w.err = s.openWhole(f); w.err == nil {
			w.sum = sha256.Sum256(w.raw)
		} else if w.info.Size > s.config.MaxFileSize {
			w.err = nil
		}
		return w
	})
}

func (s *scan) openWhole(f source) ([]byte, confine.Info, error) {
	s.Opened.Add(1)
	if f.link {
		return s.index.ReadFile(s.FS, f.file)
	}
	raw, info, err := s.index.readAndClose(f.dir.OpenRegular(f.base))
	if err == nil || s.refused == nil || s.Context.Err() != nil || !access.MayHaveChanged(err) {
		return raw, info, err
	}
	return s.index.ReadFile(s.refused, f.file)
}

// seal gives an entry that a scan has just made the seal of its file.
func (s *scan) seal(e *Entry, sum [sha256.Size]byte) {
	seal := &Seal{Files: []SealedFile{{path.Base(e.Path), sum}}}
	switch {
	case s.config.kind.directories:
		seal.Digest = ListDigest(SkillList, seal.Files, nil)
	case path.Ext(e.Path) == ".toml": // the same bytes are another text in Markdown
		seal.Digest = ListDigest(NamedFile, seal.Files, nil)
	default:
		seal.Digest = FileDigest(seal.Files[0].Sum)
	}
	e.set().seal = seal
}

// sealDirectory returns the entry of a skill with the seal of all its files. The entry of the last
// snapshot does not change.
func (s *scan) sealDirectory(e, known *Entry, dir *confine.Dir, dirPath string) *Entry {
	if !s.at.Sealed || e.Broken() != nil {
		return e
	}
	before := e.Seal()
	if known != nil && known.Seal() != nil {
		before = known.Seal()
	}
	if e == known && s.sameFiles(e, dir, ".") {
		return known
	}
	seal, problem := s.sealFiles(e, before, dir, dirPath)
	if problem != nil {
		own := e.Seal()
		seal = &Seal{Files: own.Files[own.own : own.own+1], Problem: problem}
	}
	if e == known {
		failedAgain := problem != nil && before.Problem != nil && *problem == *before.Problem
		if seal == before || failedAgain && slices.Equal(seal.Files, before.Files) {
			return known
		}
		clone, parts := *e, *e.get()
		clone.details, e = &parts, &clone
	}
	e.set().seal = seal
	return e
}

// sealFiles returns the seal of a skill, or the reason why the digest is unknown. The unchanged
// files have the digests of the seal before.
func (s *scan) sealFiles(e *Entry, before *Seal, dir *confine.Dir, dirPath string) (*Seal, *problem.Problem) {
	fail := func(code problem.Code, message, suggestion string) (*Seal, *problem.Problem) {
		return nil, &problem.Problem{Code: code, Severity: problem.Warning, Path: s.place(e.Path),
			Message: "no digest of the skill: " + message, Suggestion: suggestion}
	}
	d := s.index.newDir(e)
	d.FS, d.At, d.Top, d.Scan = s.FS, dirPath, dir, &s.Source
	d.Vanished = func(dir *confine.Dir, base string) { s.vanished(source{dir: dir, base: base}) }
	listed, err := d.Files(s.Context)
	size := int64(0)
	for _, f := range listed.Files {
		size += f.Info.Size
	}
	switch {
	case err != nil:
		return fail(problem.FileRead, access.Unreadable(err), s.at.ReadAdvice(err))
	case listed.Own < 0:
		return fail(problem.FileRead, "SKILL.md was removed a moment ago", "list the skills again")
	case listed.Truncated || len(listed.Files)+len(listed.Omitted) > maxSealedFiles || size > maxSealedBytes:
		message := fmt.Sprintf("the skill has more than %d files or %d MiB", maxSealedFiles, maxSealedBytes>>20)
		return fail(problem.TooManyFiles, message, "remove files that do not belong to the skill")
	}
	for _, p := range listed.Problems {
		if p.Code == problem.FileRead {
			return fail(p.Code, "a file cannot be read: "+p.Path, p.Suggestion)
		}
	}
	own := e.Seal()
	n := len(listed.Files)
	seal := &Seal{Files: make([]SealedFile, n), Omitted: listed.Omitted, own: listed.Own}
	now := &proof{files: make([]fileProof, n)}
	for i, f := range listed.Files {
		known, ok := before.find(f.Name)
		switch {
		case i == listed.Own:
			seal.Files[i] = SealedFile{f.Name, own.Files[own.own].Sum}
		case ok && before.Unchanged(known, f.Info):
			seal.Files[i], now.files[i] = before.Files[known], before.proof.Load().files[known]
		default:
			seal.Files[i].Name = f.Name
			read := shared(s, path.Join(dirPath, f.Name), func() fileSum { return s.sum(d, f.Name) })
			if seal.Files[i].Sum, now.files[i], err = read.sum, read.read, read.err; err != nil {
				code := problem.FileRead
				if errors.Is(err, ErrTooLarge) {
					code = problem.FileTooLarge
				}
				return fail(code, escape.Name(f.Name)+": "+access.Unreadable(err), s.at.ReadAdvice(err))
			}
		}
	}
	now.dirs = listed.Listed
	if before.Problem == nil && before.own == seal.own &&
		slices.Equal(before.Files, seal.Files) && slices.Equal(before.Omitted, seal.Omitted) {
		seal = before
	} else {
		seal.Digest = ListDigest(SkillList, seal.Files, seal.Omitted)
	}
	seal.proof.Store(now)
	return seal, nil
}

// sameFiles reports whether the metadata of the directories and of the files proves that the files
// of a skill are unchanged. The caller has compared the file of the entry. The skill has the path at
// below dir. A link that replaces a directory during the call changes nothing: the files with the
// recorded metadata were the files of the skill when the call began.
func (s *scan) sameFiles(e *Entry, dir *confine.Dir, at string) bool {
	seal := e.Seal()
	proven := seal.proof.Load()
	if proven == nil || proven.dirs == nil {
		return false
	}
	for i := range proven.dirs {
		d := &proven.dirs[i]
		if d.Path != "." {
			s.Visit(path.Join(path.Dir(e.Path), d.Path))
		}
		if !d.Stamp.IsOf(dir, path.Join(at, d.Path)) {
			return false
		}
	}
	for i, f := range proven.files {
		if i != seal.own && !(f.settled && f.stamp.IsOf(dir, access.Below(at, seal.Files[i].Name))) {
			return false
		}
	}
	return true
}

// sum reads a file of a skill.
func (s *scan) sum(d *SkillDir, name string) fileSum {
	now := time.Now()
	sum, info, n, err := d.Sum(s.Context, name, s.config.MaxFileSize)
	if err == nil || errors.Is(err, ErrTooLarge) {
		s.Opened.Add(1)
	}
	settled := n == info.Size && (s.at.Immutable || stamp.Settled(info, now))
	return fileSum{sum, fileProof{stamp.Of(info), settled}, err}
}
