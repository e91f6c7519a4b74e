package listing

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/text"
)

// A hintKind is the reason why a glob matches no file.
type hintKind uint8

const (
	similarGlob  hintKind = iota // another glob matches a file
	repeatedPath                 // the glob repeats the path of the directory
	backslashes                  // the glob has backslashes in place of slashes
	hiddenFiles                  // the glob matches, or names, hidden files, which the options omit
	parentPath                   // the glob contains ".."
)

// text returns the hint for a search of a directory. The glob use matches a file; of repeatedPath,
// use is maybe only the rest of the glob.
func (k hintKind) text(name, glob, use string) string {
	dir, inPlace := "'"+escape.Path(name)+"/'", "'"+escape.Path(use)+"' in place of '"+escape.Path(glob)+"'"
	switch glob = "'" + escape.Path(glob) + "'"; k {
	case similarGlob:
		return "Did you mean " + inPlace + "?"
	case repeatedPath:
		return "Globs are relative to " + dir + "; use " + inPlace
	case backslashes:
		return "Globs have slashes between names; use " + inPlace
	case hiddenFiles:
		return "Hidden files are omitted; set show_hidden to find files for " + glob
	default:
		return "Globs cannot leave " + dir + "; pass another directory as path, and remove '..' from " + glob
	}
}

const (
	hintedGlobs   = 5      // globs that Correct considers
	hintedEntries = 50_000 // entries that Correct reads
)

// Correct returns a hint for the first glob that Correct can explain, in one line, or "". The caller
// knows that no file below the directory matches the globs with the options. The roots are full
// paths of the root of fsys, with slashes.
//
// Correct reads the directories at most once, as Find does, so Find returns a file for the
// suggestion. Correct also reads hidden directories, but no hidden directories of dependencies.
// If there are more than hintedEntries entries, Correct reads no further directory, and makes no
// suggestion that depends on all files. Globs with wildcards only, such as "*.go" and "**/*.go",
// cost nothing.
func Correct(ctx context.Context, fsys *confine.FS, name string, roots []string, globs []Glob,
	o Options) string {
	c := correction{ctx: ctx, hidden: o.Hidden}
	for i := range globs[:min(len(globs), hintedGlobs)] {
		c.subjects = append(c.subjects, newSubject(ctx, fsys, name, roots, &globs[i], o.Hidden))
	}
	complete := c.walk(fsys, name, o)
	for _, s := range c.subjects {
		if hint := s.answer(name, complete); hint != "" {
			return hint
		}
	}
	return ""
}

// A correction is a call of Correct.
type correction struct {
	ctx      context.Context
	subjects []*subject
	hidden   bool // the options include hidden files
	seen     atomic.Int64
	mu       sync.Mutex // guards near, found and omitted of the subjects
}

// A subject is a glob to correct.
type subject struct {
	glob    *Glob
	pattern string   // with slashes, without the repeated path
	kind    hintKind // of a suggestion

	trials []Glob // other globs, the best first
	found  []bool // a file matches the trial

	// The pattern is before, literal and after. The text literal has no wildcards, and is a path, a
	// name, or the beginning of a name.
	before, literal, after string
	// For a name: matches the files whose names are near, if the names resemble literal.
	scope *Glob
	near  []string

	hidden  bool // the options omit hidden files, and the pattern names hidden files
	omitted bool // the glob matches a hidden file, which the options omit
}

const wildcards = `*?[]{}\`

// newSubject chooses the trials.
func newSubject(ctx context.Context, fsys *confine.FS, name string, roots []string, g *Glob,
	hidden bool) *subject {
	s := &subject{glob: g, pattern: g.pattern, kind: similarGlob}
	if strings.Contains(s.pattern, `\`) {
		s.kind, s.pattern = backslashes, strings.Trim(strings.NewReplacer(`\\`, "/", `\`, "/").Replace(s.pattern), "/")
		s.try(s.pattern)
	}
	elements := strings.Split(s.pattern, "/")
	if slices.Contains(elements, "..") {
		return &subject{glob: g, kind: parentPath}
	}
	s.hidden = !hidden && slices.ContainsFunc(elements, func(e string) bool { return strings.HasPrefix(e, ".") && e != "." })
	top := rulesDir(name)
	s.cutPath(top, true)
	for _, root := range roots {
		full := strings.HasPrefix(g.text, "/") || filepath.IsAbs(filepath.FromSlash(g.text)) // on Windows, a drive
		s.cutPath(strings.Trim(joinPath(root, top), "/"), full)
	}
	s.split()

	deep := "**/" + strings.TrimPrefix(s.pattern, "**/")
	path := strings.Contains(deep[len("**/"):], "/")
	i := strings.LastIndexByte(s.pattern, '/') + 1
	dir, last := s.pattern[:i], s.pattern[i:]
	named := !strings.ContainsAny(last, wildcards)
	if path {
		if !strings.HasSuffix(dir, "**/") {
			s.try(dir + "**/" + last)
		}
		s.try(deep)
	}
	if named {
		s.try(s.pattern + ".*")
	}
	if strings.Contains(s.pattern, "[") {
		s.try(strings.ReplaceAll(s.pattern, "[", "[[]"))
	}
	if dir, rest, ok := strings.Cut(s.pattern, "/*"); ok && !strings.ContainsAny(dir, wildcards) {
		if near := Nearest(ctx, fsys, joinPath(top, dir), true, hidden); near != "" {
			s.try(quoteGlob(strings.TrimPrefix(near, joinPath(top, ""))) + "/*" + rest)
		}
	}
	if named {
		s.try(deep + "/**")
		if path {
			s.try("**/" + last)
		}
	}
	return s
}

// cutPath tries the pattern without the path of the searched directory. If the pattern begins with
// the whole path, the pattern becomes the rest, unless the path may be an accident.
func (s *subject) cutPath(dir string, certain bool) {
	rest, whole := withoutPath(s.pattern, dir)
	if rest == "" || s.kind == repeatedPath {
		return
	}
	if whole && certain {
		s.kind, s.pattern = repeatedPath, rest
	}
	s.try(rest)
}

// split finds the part of the pattern to compare with the files: a path, or the last element at
// least up to its first star.
func (s *subject) split() {
	if !strings.ContainsAny(s.pattern, wildcards) {
		s.literal = s.pattern
		return
	}
	i := strings.LastIndexByte(s.pattern, '/') + 1
	s.before, s.literal = s.pattern[:i], s.pattern[i:]
	scope := s.before + "*"
	if i := strings.IndexAny(s.literal, wildcards); i >= 0 {
		s.literal, s.after = s.literal[:i], s.literal[i:]
		scope = s.before + strings.Repeat("?", utf8.RuneCountInString(s.literal)) + s.after
	}
	g, err := ParseGlob(scope)
	if err != nil || len(g.alternatives) > maxTrialSize || s.after != "" && (s.after[0] != '*' || edits(s.literal) == 0) {
		s.literal = ""
	}
	s.scope = &g
}

// try adds a trial.
func (s *subject) try(pattern string) {
	if g, err := ParseGlob(pattern); err == nil && len(g.alternatives) <= maxTrialSize {
		s.trials, s.found = append(s.trials, g), append(s.found, false)
	}
}

// maxTrialSize is the number of patterns to which the braces of a trial expand.
const maxTrialSize = 20

// withoutPath removes the path of a directory, or else the last names of the path, from the
// beginning of a pattern. A pattern that is the path becomes "**".
func withoutPath(pattern, dir string) (rest string, whole bool) {
	for whole = true; dir != ""; whole = false {
		if pattern == dir {
			return "**", whole
		}
		if rest, ok := strings.CutPrefix(pattern, dir+"/"); ok {
			return rest, whole
		}
		_, dir, _ = strings.Cut(dir, "/")
	}
	return "", false
}

// quoteGlob returns a pattern that matches only the name or path. Brackets need no backslash,
// so a model can copy the pattern into JSON.
func quoteGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", "[*]", "?", "[?]", "[", "[[]", "{", "[{]", "}", "[}]").Replace(path)
}

// hiddenDependencies matches the hidden directories of dependencies.
var hiddenDependencies = func() Glob {
	hidden := slices.DeleteFunc(slices.Collect(maps.Keys(dependencies)), func(name string) bool { return name[0] != '.' })
	g, err := ParseGlob("{" + strings.Join(hidden, ",") + "}/")
	if err != nil {
		panic(err)
	}
	return g
}()

// walk compares all files with the subjects, and reports whether walk has seen all files.
func (c *correction) walk(fsys *confine.FS, name string, o Options) bool {
	if !slices.ContainsFunc(c.subjects, func(s *subject) bool { return s.literal != "" || len(s.trials) > 0 }) {
		return false
	}
	if !o.Hidden {
		o.Hidden, o.Exclude = true, append(slices.Clip(o.Exclude), hiddenDependencies)
	}
	o.Seen, o.Limit = &c.seen, 0
	d, dir, at, err := open(fsys, name, o)
	if err != nil {
		return false
	}
	defer dir.Close()
	_, err = walkFiles(c.ctx, d, dir, at, nil, c.files)
	return err == nil && c.seen.Load() <= hintedEntries
}

func (c *correction) files(in foundFiles) error {
	if c.seen.Load() > hintedEntries {
		return errEnough
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	m := meter{ctx: c.ctx}
	for _, file := range in.files {
		omitted := !c.hidden && strings.Contains("/"+joinPath(in.at.path, file), "/.")
		for _, s := range c.subjects {
			if omitted {
				s.omitted = s.omitted || s.glob.matches(&m, in.at.path, file, false)
			} else {
				s.compare(&m, in.at.path, file)
			}
		}
	}
	return m.err
}

// compare compares a file with a subject.
func (s *subject) compare(m *meter, dir, file string) {
	for i := range s.trials {
		s.found[i] = s.found[i] || s.trials[i].matches(m, dir, file, false)
	}
	if s.literal == "" {
		return
	}
	shown := file
	if s.scope == nil && strings.Contains(s.literal, "/") {
		shown = joinPath(dir, file)
	}
	if s.after != "" {
		shown = text.First(shown, utf8.RuneCountInString(s.literal))
	}
	if n := len(shown) - len(s.literal); max(n, -n) > maxEdits*utf8.UTFMax {
		return
	}
	if s.scope == nil || s.scope.matches(m, dir, file, false) {
		s.near = append(s.near, shown)
	}
}

// answer returns the hint for the glob in a search of a directory, or "". If the walk is not
// complete, the files say only that a hidden file matches.
func (s *subject) answer(name string, complete bool) string {
	kind, use := s.kind, ""
	if !s.omitted && complete {
		if i := slices.Index(s.found, true); i >= 0 {
			use = s.trials[i].text
		} else if near := names.Nearest(s.literal, slices.Values(s.near), edits(s.literal), nil); near != "" {
			use = s.before + quoteGlob(near) + s.after
		}
	}
	switch {
	case use != "", kind == parentPath:
	case s.omitted, s.hidden:
		kind = hiddenFiles
	case kind == repeatedPath:
		use = s.pattern
	default:
		return ""
	}
	return kind.text(name, s.glob.text, use)
}
