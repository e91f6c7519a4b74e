package listing

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/names"
)

// A Hint corrects a glob that matches no file.
type Hint struct {
	Glob     string // as given
	Use      string // a glob that matches a file; if Relative is set, maybe only the rest of Glob
	Relative bool   // Glob repeats the path of the directory
}

const (
	hintedGlobs   = 5      // globs that Correct considers
	hintedEntries = 50_000 // entries that Correct reads
)

// Correct returns a Hint for the first glob that Correct can correct, or the zero Hint. The caller
// knows that no file below the directory matches the globs with the options.
//
// Correct reads the directories at most once, as Find does, so Find returns a file for the
// suggestion. If there are more than hintedEntries entries, Correct reads no further directory, and
// corrects only globs that repeat the path. Globs with wildcards only, such as "*.go", cost
// nothing.
func Correct(ctx context.Context, fsys *confine.FS, name string, globs []Glob, o Options) Hint {
	c := correction{ctx: ctx}
	for i := range globs[:min(len(globs), hintedGlobs)] {
		c.subjects = append(c.subjects, newSubject(ctx, fsys, name, &globs[i], o.Hidden))
	}
	complete := c.walk(fsys, name, o)
	for _, s := range c.subjects {
		if use := s.answer(complete); use != "" {
			return Hint{s.given, use, s.relative}
		}
	}
	return Hint{}
}

// A correction is a call of Correct.
type correction struct {
	ctx      context.Context
	subjects []*subject
	seen     atomic.Int64
	mu       sync.Mutex // guards near and found of the subjects
}

// A subject is a glob to correct.
type subject struct {
	given    string
	pattern  string // without the repeated path
	relative bool   // given has the repeated path
	literal  bool   // pattern has no wildcards
	path     bool   // pattern matches paths, not names
	trials   []Glob // other globs, the best first
	found    []bool // a file matches the trial
	near     []string
}

// newSubject chooses the trials.
func newSubject(ctx context.Context, fsys *confine.FS, name string, g *Glob, hidden bool) *subject {
	s := &subject{given: g.text, pattern: g.pattern}
	if rest, whole := withoutPath(g.pattern, rulesDir(name)); rest != "" {
		if s.relative = whole; whole {
			s.pattern = rest
		}
		s.try(rest)
	}
	s.literal = !strings.ContainsAny(s.pattern, `*?[]{}\`)
	s.path = strings.Contains(s.pattern, "/")
	deep := s.pattern
	if !strings.HasPrefix(deep, "**/") {
		deep = "**/" + deep
	}
	if s.path {
		s.try(deep)
	}
	if s.literal {
		s.try(s.pattern + ".*")
	}
	if strings.Contains(s.pattern, "[") {
		s.try(quoteGlob(s.pattern))
	}
	if dir, rest, ok := strings.Cut(s.pattern, "/*"); ok && !strings.ContainsAny(dir, `*?[]{}\`) {
		top := rulesDir(name)
		if near := NearestDir(ctx, fsys, joinPath(top, dir), hidden); near != "" {
			s.try(quoteGlob(strings.TrimPrefix(near, joinPath(top, ""))) + "/*" + rest)
		}
	}
	if s.literal {
		s.try(deep + "/**")
		if s.path {
			s.try("**/" + s.pattern[strings.LastIndexByte(s.pattern, '/')+1:])
		}
	}
	return s
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

// walk compares all files with the trials and the literal patterns, and reports whether walk has
// seen all files.
func (c *correction) walk(fsys *confine.FS, name string, o Options) bool {
	if !slices.ContainsFunc(c.subjects, func(s *subject) bool { return s.literal || len(s.trials) > 0 }) {
		return false
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

func (c *correction) files(_ *reader, in foundFiles) error {
	if c.seen.Load() > hintedEntries {
		return errEnough
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	m := meter{ctx: c.ctx}
	for _, file := range in.files {
		for _, s := range c.subjects {
			if err := s.compare(&m, in.at.path, file); err != nil {
				return err
			}
		}
	}
	return nil
}

// compare compares a file with a subject.
func (s *subject) compare(m *meter, dir, file string) (err error) {
	for i := range s.trials {
		if !s.found[i] && err == nil {
			s.found[i], err = s.trials[i].matches(m, dir, file, false)
		}
	}
	text := file
	if s.path {
		text = joinPath(dir, file)
	}
	if n := len(text) - len(s.pattern); s.literal && max(n, -n) <= maxEdits*utf8.UTFMax {
		s.near = append(s.near, text)
	}
	return err
}

// answer returns the suggestion, or "". If the walk is not complete, only the repeated path counts.
func (s *subject) answer(complete bool) string {
	if complete {
		if i := slices.Index(s.found, true); i >= 0 {
			return s.trials[i].text
		}
		if near := names.Nearest(s.pattern, slices.Values(s.near), edits(s.pattern), nil); near != "" {
			return quoteGlob(near)
		}
	}
	if s.relative {
		return s.pattern
	}
	return ""
}
