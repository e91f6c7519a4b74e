package index

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/access"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/skilldir"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// Known returns the entry of last, the value of [Index.Last], that Find would find in a snapshot
// taken now, if stats prove the result. Known stats the files that could take precedence over the
// entry, and scans no layer. The caller checks the file of the entry itself. If another file can
// have the name now, Known returns nil. Known also returns nil for a broken entry, for an unknown
// name, and if last is nil. If ctx has ended, Known does not wait: Known looks only into the open
// directories of the layers, and returns nil if a file elsewhere can have the name.
func (x *Index) Known(ctx context.Context, last *Snapshot, wanted ...string) *Entry {
	return (&lookout{index: x, ctx: ctx, last: last}).known(wanted)
}

// Ended is the context of a call that must not wait.
var Ended = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// Absent reports whether stats prove that a snapshot taken now has no entry of a name, except a
// directory without a SKILL.md. Absent scans no layer. The argument last is the value of
// [Index.Last].
func (x *Index) Absent(ctx context.Context, last *Snapshot, name string) bool {
	if last == nil {
		return false
	}
	if e, candidates := last.Find(name); e != nil || len(candidates) > 0 || last.Hidden(nil, name) != nil {
		return false
	}
	l := lookout{index: x, ctx: ctx, last: last}
	return l.unclaimed(len(x.config.Layers), name)
}

// A lookout finds out whether a file that a snapshot does not contain can have a name. A lookout may
// run during Close; the caller closes the filesystems afterwards.
type lookout struct {
	index *Index
	ctx   context.Context
	last  *Snapshot
	dirs  int    // number of directories that nestedClaims has read
	bare  *Entry // the entry of a plugin that has the name as a bare name, or nil

	open *confine.Dir // the open directory of the layer at, if current; nil otherwise
	at   int          // the layer of open, plus 1
}

// ended reports whether the lookout looks only into open directories.
func (l *lookout) ended() bool { return l.ctx.Err() != nil }

// A claims function reports whether a file of a layer that e does not describe can have the
// name, with precedence over e. The entry e is in the layer, or nil.
type claims func(l *lookout, layer int, name string, e *Entry) bool

func (l *lookout) known(wanted []string) *Entry {
	if l.last == nil {
		return nil
	}
	x := l.index
	e, _ := l.last.Find(wanted...)
	if e == nil || e.Broken() != nil || l.ended() && e.Part() != nil && !l.unchanged(e.Layer()) {
		return nil
	}
	if !slices.Contains(wanted, e.Name) {
		l.bare = e
	}
	for i, name := range wanted {
		switch {
		case name == e.Name:
			if !l.unclaimed(e.Layer(), name) || !l.unchanged(e.Layer()) && l.claims(e.Layer(), name, e) {
				return nil
			}
			return e
		case i > 0 && name == wanted[0], l.bare == nil && (x.config.Valid == nil || !x.config.Valid(name)):
		case !l.unclaimed(len(x.config.Layers), name):
			return nil
		}
	}
	return e
}

// claims reports whether a file of a layer can have the name, with precedence over e.
func (l *lookout) claims(layer int, name string, e *Entry) bool {
	at := &l.index.config.Layers[layer]
	manyStats := at.Plugins != nil || at.Names != client.FromPath
	if manyStats && l.index.Last() == l.last && l.index.clean() {
		return false // a watch makes fewer system calls
	}
	if files := l.last.layers[layer]; files.missing && len(files.problems) == 0 {
		if l.ended() {
			return true
		}
		_, err := l.index.FS(l.ctx, layer).Info(at.Dir)
		return !errors.Is(err, fs.ErrNotExist)
	}
	if at.Plugins != nil {
		return l.pluginClaims(layer, name, e)
	}
	return l.index.config.kind.claims(l, layer, name, e)
}

// unclaimed reports whether no file of the first n layers can have the name.
func (l *lookout) unclaimed(n int, name string) bool {
	for layer := range n {
		if !l.unchanged(layer) && l.claims(layer, name, nil) {
			return false
		}
	}
	return true
}

// unchanged reports whether no file of a layer can have changed since the snapshot.
func (l *lookout) unchanged(layer int) bool {
	var since freshness
	if f := l.index.fresh.Load(); f != nil && f.snapshot == l.last {
		since = *f
	}
	return l.index.unchanged(layer, l.last.layers[layer], since)
}

// errLookout is the error if a lookout cannot decide.
var errLookout = errors.New("undecided")

// lstat describes a file of a layer. If a scan cannot read the directory of the layer, the error
// is errLookout.
func (l *lookout) lstat(layer int, file string) (confine.Info, error) {
	at := l.index.config.Layers[layer].Dir
	if path.Dir(file) == at {
		if dir := l.openDir(layer); dir != nil {
			info, err := dir.Lstat(path.Base(file))
			if !errors.Is(err, fs.ErrClosed) { // a scan has replaced dir
				return info, err
			}
		}
	}
	if l.ended() {
		return confine.Info{}, errLookout
	}
	info, err := l.index.FS(l.ctx, layer).Lstat(file)
	if err == nil || errors.Is(err, fs.ErrNotExist) || !absent(err) {
		return info, err
	}
	// The directory, not the file, can be the reason.
	dir, dirErr := l.index.FS(l.ctx, layer).Info(at)
	if dirErr == nil && !dir.Mode.IsDir() || dirErr != nil && !errors.Is(dirErr, fs.ErrNotExist) {
		return info, errLookout
	}
	return info, err
}

// openDir returns the open directory of a layer, or nil if the path of the layer may lead
// elsewhere.
func (l *lookout) openDir(layer int) *confine.Dir {
	if l.at != layer+1 {
		l.at, l.open = layer+1, l.index.openLayer(layer)
	}
	return l.open
}

// absent reports whether the error of a stat shows that a scan finds no entry at the path.
func absent(err error) bool {
	for _, reason := range []error{fs.ErrNotExist, confine.ErrNotDir, syscall.ENOTDIR, confine.ErrEscape, confine.ErrSymlink} {
		if errors.Is(err, reason) {
			return true
		}
	}
	return false
}

// is reports whether a stat with another letter case describes the unchanged file of the entry,
// as on a filesystem that ignores letter case.
func (e *Entry) is(info confine.Info) bool {
	return e != nil && info.Ino != 0 && stamp.Of(info).Same(e.Stamp)
}

// markdownSuffixes are the spellings of ".md" in order of precedence; see comparePrecedence.
var markdownSuffixes = [...]string{".md", ".MD", ".Md", ".mD"}

// fileClaims is the claims function of commands.
func fileClaims(l *lookout, layer int, name string, e *Entry) bool {
	config := &l.index.config
	at := &config.Layers[layer]
	stem, ok := strings.CutPrefix(name, at.Prefix)
	switch {
	case at.Names != client.FromPath:
		return l.renames(layer, e)
	case !ok:
		return false
	case at.Nested && strings.Contains(stem, ":"):
		if config.Valid(stem) {
			return true // a loose name has several paths
		}
		stem = strings.ReplaceAll(stem, ":", "/")
	}
	suffixes := markdownSuffixes[:]
	if at.Suffix != "" {
		suffixes = []string{at.Suffix}
	}
	own, found := "", false // the suffix of e
	if e != nil {
		own, found = strings.CutPrefix(l.index.Below(e), stem)
	}
	for _, suffix := range suffixes {
		if found && own == suffix {
			return false
		}
		info, err := l.lstat(layer, access.Below(at.Dir, stem+suffix))
		switch {
		case err == nil && (info.Mode.IsDir() || e.is(info)):
		case absent(err):
		default:
			return true
		}
	}
	return false
}

// In a layer with more than largeLayer files, a call looks at the files beside the file of the
// entry at most once in checkInterval. Otherwise N calls for N files would make N² stats.
const (
	largeLayer    = 64
	checkInterval = time.Second
)

// renames reports whether a layer whose headers name the files can have a new file, a change of e,
// or a file with another name that has precedence over e.
func (l *lookout) renames(layer int, e *Entry) bool {
	known, now := l.listed(layer), l.index.config.Now()
	if known == nil || l.ended() && len(known.dirs) > 1 {
		return true
	}
	files := known.files.entries
	large := len(files) > largeLayer
	recent := large && known.recent(now)
	switch {
	case recent && e == nil:
		files = nil
	case recent:
		files = []*Entry{e}
	case !large && e != nil:
		files = files[:slices.Index(files, e)+1] // the later files have no precedence
	}
	dir, at := l.openDir(layer), l.index.config.Layers[layer].Dir
	same := func(file string, before stamp.Stamp) bool { // the directories on the way are compared too
		return dir != nil && before.IsOf(dir, access.FromTop(at, file)) || l.same(layer, nil, file, before)
	}
	if known.changed(nil, files, same) {
		return true
	}
	if large && !recent {
		known.checked.Store(&now)
	}
	return false
}

// listed returns what the scan of the snapshot has listed in a layer, or nil.
func (l *lookout) listed(layer int) *listed {
	known := l.index.states[layer].listed.Load()
	if known == nil || known.files != l.last.layers[layer] {
		return nil
	}
	return known
}

// skillClaims is the claims function of skills. A directory without a SKILL.md claims nothing.
func skillClaims(l *lookout, layer int, name string, e *Entry) bool {
	at := &l.index.config.Layers[layer]
	stem, ok := strings.CutPrefix(name, at.Prefix)
	switch {
	case at.Files:
		return at.Names == client.FromPath && e != nil && !l.same(layer, nil, e.Path, e.Stamp) ||
			fileClaims(l, layer, name, e)
	case at.Names != client.FromPath:
		return true
	case !ok:
		return false
	case l.bare != nil && at.Depth > 1:
		return true
	case l.bare != nil: // a directory without a SKILL.md has precedence over the bare name
		_, err := l.lstat(layer, access.Below(at.Dir, stem))
		return !absent(err)
	case e != nil && path.Dir(e.Path) == at.Dir:
		return l.ownSkillClaims(layer, e)
	}
	return l.directoryClaims(layer, stem, e)
}

// directoryClaims is skillClaims for a directory below the directory of the layer.
func (l *lookout) directoryClaims(layer int, name string, e *Entry) bool {
	at := &l.index.config.Layers[layer]
	first := access.Below(at.Dir, name) // the directory with the highest precedence
	own, level := "", max(at.Depth, 1)  // the directory of e, and the last level with precedence
	if e != nil {
		own = path.Dir(e.Path)
		level = 1 + strings.Count(own, "/") - strings.Count(first, "/")
		if l.relinked(layer, e) || l.hasSkillFile(layer, own, e) ||
			level > 2 && !l.searched(layer, at.Dir, own) {
			return true
		}
	}
	return own != first && (l.layerClaims(layer, name) || l.holdsSkill(layer, first) ||
		level > 1 && l.nestedClaims(layer, at.Dir, name, own, level-1))
}

// relinked reports whether a link to a SKILL.md, or the target of the link, can have changed. A
// SkillDir does not open a link in place of a file.
func (l *lookout) relinked(layer int, e *Entry) bool {
	return e.Linked && !l.same(layer, nil, e.Path, e.Stamp)
}

// same reports whether a file of a layer, or the target of a link, has a stamp. If possible, same
// checks that the path of the layer still leads to the open directory without a link below the root,
// and stats the file below the directory, in few system calls.
func (l *lookout) same(layer int, in *Part, file string, before stamp.Stamp) bool {
	parent, base := path.Split(access.FromTop(l.index.config.Layers[layer].Dir, file))
	if l.ended() && parent != "" {
		return false // a filesystem that hangs can be mounted below the layer
	}
	dir := l.openDir(layer)
	if dir != nil && parent != "" {
		opened, err := dir.OpenBelow(path.Clean(parent))
		if dir = opened; err == nil {
			defer opened.Close()
		}
	}
	if dir != nil && before.IsOf(dir, base) {
		return true
	}
	if l.ended() {
		return false
	}
	info, err := l.index.fsIn(l.ctx, layer, in).Info(file)
	return err == nil && stamp.Of(info).Same(before)
}

// holdsSkill reports whether a directory can have a SKILL.md.
func (l *lookout) holdsSkill(layer int, dirPath string) bool {
	info, err := l.lstat(layer, dirPath)
	switch typ := info.Mode.Type(); {
	case absent(err), err == nil && typ != fs.ModeDir && typ != fs.ModeSymlink:
		return false
	case err != nil:
		return true
	}
	return l.hasSkillFile(layer, dirPath, nil)
}

// hasSkillFile reports whether a directory has a SKILL.md, readable or not, with a name that
// precedes the name of the file of e. The entry e is in the directory, or nil.
func (l *lookout) hasSkillFile(layer int, dirPath string, e *Entry) bool {
	for _, base := range skilldir.Names {
		file := access.Below(dirPath, base)
		if e != nil && file == e.Path {
			break
		}
		info, err := l.lstat(layer, file)
		if !absent(err) && (err != nil || !info.Mode.IsDir() && !e.is(info)) {
			return true
		}
	}
	return false
}

// searched reports whether a scan searches the directories above a nested skill. A scan searches
// each directory of the first level. Below a directory with a SKILL.md, a scan searches only
// directories with a SKILL.md. searched does not count the directories that limit a scan; see
// maxDirs.
func (l *lookout) searched(layer int, top, own string) bool {
	above := strings.Split(strings.TrimPrefix(own, top+"/"), "/")
	inSkill := false
	for _, name := range above[:len(above)-1] {
		top = access.Below(top, name)
		has := l.hasSkillFile(layer, top, nil)
		if inSkill && !has {
			return false
		}
		inSkill = has
	}
	return true
}

// nestedClaims reports whether a directory in the given number of levels of directories below
// dirPath holds a skill of the name. On the last level, the skills in own and later paths
// have no precedence.
func (l *lookout) nestedClaims(layer int, dirPath, name, own string, levels int) bool {
	if l.dirs++; l.ended() || l.dirs > maxDirs {
		return true
	}
	return l.anyDir(layer, dirPath, func(dir *confine.Dir, child string, typ fs.FileMode) bool {
		childPath := access.Below(dirPath, child)
		candidate := access.Below(childPath, name)
		later := levels == 1 && own != "" && candidate >= own
		return !later && !lacks(dir, child, typ, name) && l.holdsSkill(layer, candidate) ||
			levels > 1 && l.nestedClaims(layer, childPath, name, own, levels-1)
	})
}

// anyDir reports whether an entry of a directory meets a condition. The entry can be a directory
// with skills. A directory that cannot be read meets the condition.
func (l *lookout) anyDir(layer int, dirPath string, meets func(dir *confine.Dir, child string, typ fs.FileMode) bool) bool {
	dir, err := l.index.FS(l.ctx, layer).OpenDir(dirPath)
	if err != nil {
		return !absent(err)
	}
	defer dir.Close()
	found := false
	err = dir.Each(l.ctx, func(child string, typ fs.FileMode) error {
		if typ.IsRegular() || !names.Loose(child) || skilldir.Skipped(child) || !meets(dir, child, typ) {
			return nil
		}
		found = true
		return fs.SkipAll
	})
	return found || err != nil
}

// lacks reports whether a subdirectory of an open directory has no entry of the name. If a link
// is on the way, lacks reports false.
func lacks(dir *confine.Dir, child string, typ fs.FileMode, name string) bool {
	if typ != fs.ModeDir {
		return false
	}
	sub, err := dir.OpenDir(child)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer sub.Close()
	_, err = sub.Lstat(name)
	return errors.Is(err, fs.ErrNotExist)
}

// layerClaims reports whether the layer itself can be a skill of the name.
func (l *lookout) layerClaims(layer int, name string) bool {
	at := l.index.config.Layers[layer]
	if own := at.dirName(); names.Loose(own) && own != name || !l.hasSkillFile(layer, at.Dir, nil) {
		return false
	}
	for _, e := range l.last.layers[layer].entries {
		dir := path.Dir(e.Path)
		if hasSkillFile(e) && dir != at.Dir && path.Dir(dir) == at.Dir && l.hasSkillFile(layer, dir, nil) {
			return false // beside a skill, the layer is not a skill
		}
	}
	for _, base := range skilldir.Names {
		own, err := l.ownName(layer, access.Below(at.Dir, base))
		switch {
		case err == nil:
			return own == at.Prefix+name
		case !absent(err):
			return true
		}
	}
	return false
}

// ownSkillClaims reports whether a layer that is a skill can be another skill or no skill now.
func (l *lookout) ownSkillClaims(layer int, e *Entry) bool {
	dir := path.Dir(e.Path)
	if l.relinked(layer, e) || l.hasSkillFile(layer, dir, e) {
		return true
	}
	name, err := l.ownName(layer, e.Path)
	return err != nil || name != e.Name || l.anyDir(layer, dir, func(_ *confine.Dir, child string, _ fs.FileMode) bool {
		return l.holdsSkill(layer, access.Below(dir, child))
	})
}

// ownName returns the name of a layer that is a skill because of its own file.
func (l *lookout) ownName(layer int, file string) (string, error) {
	if l.ended() {
		return "", errLookout
	}
	head := make([]byte, matter.MinHead)
	n, info, err := access.ReadHead(l.index.FS(l.ctx, layer), file, head)
	if err != nil {
		return "", err
	}
	doc, more := matter.Parse(head[:n], n < len(head) || int64(n) == info.Size)
	if more || !describesSkill(doc.Frontmatter) || info.Size > l.index.config.MaxFileSize {
		return "", errLookout
	}
	at := l.index.config.Layers[layer]
	return at.Prefix + at.skillName(doc.Frontmatter), nil
}

// keepOpen keeps a layer's directory open for lookouts, or closes a directory
// that must not stay open. In both cases keepOpen closes the directory of the
// previous scan. A directory stays open only if no stat of a file in the directory
// can hang.
func (x *Index) keepOpen(layer int, dir *confine.Dir) {
	// The real path differs if a link leads to the directory.
	if l := x.config.Layers[layer]; dir.RealPath() != l.FS.Path(l.Dir) || !dir.Current() {
		dir.Close()
		dir = nil
	}
	if before := x.states[layer].open.Swap(dir); before != nil {
		before.Close()
	}
}

// openLayer returns the open directory of a layer, or nil if the path of the layer may lead
// elsewhere.
func (x *Index) openLayer(layer int) *confine.Dir {
	if dir := x.states[layer].open.Load(); dir != nil && dir.Current() {
		return dir
	}
	return nil
}
