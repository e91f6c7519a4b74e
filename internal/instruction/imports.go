package instruction

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/markdown"
	"github.com/toolshelf-go/toolshelf/internal/problem"
	"github.com/toolshelf-go/toolshelf/internal/template"
)

// The limits of the imports of a call of Find, and of each instruction in a check. A Seal depends
// on the files only, so the limits of a Seal are those of one instruction, with each file counted
// once.
const (
	maxImported = 1 << 20 // bytes that the imports add
	maxImports  = 1000    // imports, also the refused imports
)

// An allowance is the rest of the limits.
type allowance struct{ bytes, count int }

func newAllowance() allowance { return allowance{maxImported, maxImports} }

// A site is an import in a text.
type site struct {
	start, end int
	line       int // from 0
	target     string
}

// sitesOf returns the imports of a text: at most maxImports and the next import.
func (c *call) sitesOf(text string) (all []site, err error) {
	if !strings.Contains(text, "@") {
		return nil, nil
	}
	meter := markdown.NewMeter(c.ctx)
	line, counted := 0, 0
	template.Paths(meter, text, func(start, end int) {
		if len(all) <= maxImports {
			line += strings.Count(text[counted:start], "\n")
			counted = start
			all = append(all, site{start, end, line, text[start+len("@") : end]})
		}
	})
	return all, meter.Err()
}

// A source is a file that imports reach.
type source struct {
	raw, text string // the text without the line breaks at the end
	sum       [sha256.Size]byte
	sites     []site
	err       error
}

// sources are the files that the imports of a call reach. Each file is read, hashed and scanned
// once.
type sources map[sourceKey]*source

type sourceKey struct {
	fs        *confine.FS
	top, file string
}

// source returns a file of at most the given number of bytes, which an import of x reaches. The
// error is the end of the call.
func (c *call) source(x *found, file string, limit int) (*source, error) {
	key := sourceKey{x.fs, x.top, file}
	if s := c.sources[key]; s != nil {
		if len(s.text) > limit {
			return &source{err: index.ErrTooLarge}, nil
		}
		return s, nil
	}
	c.look(x.fs, file)
	s, err := new(source), c.ctx.Err()
	if s.raw, s.err = c.readSource(x.fs.Within(x.top), file, limit); err == nil && errors.Is(s.err, fs.ErrClosed) {
		err = s.err
	}
	s.text = strings.TrimRight(s.raw, "\r\n")
	if s.err == nil && len(s.text) > limit {
		s.err = index.ErrTooLarge
	}
	if err == nil && s.err == nil {
		s.sites, err = c.sitesOf(s.text)
		s.sum = sha256.Sum256([]byte(s.raw))
	}
	if err != nil || errors.Is(s.err, index.ErrTooLarge) {
		return s, err
	}
	c.sources[key] = s
	return s, nil
}

// readSource reads a file, unless the line breaks at its end cannot make up for its size.
func (c *call) readSource(fsys *confine.FS, file string, limit int) (string, error) {
	f, err := fsys.OpenRegular(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if f.Info().Size > int64(limit)+maxBreaks {
		return "", index.ErrTooLarge
	}
	raw, err := c.Rules.ReadOpen(f)
	return string(raw), err
}

// maxBreaks bounds the line breaks at the end of a file that do not count as its text, in bytes.
const maxBreaks = 1 << 10

// seal sets the Seal of a text that is not cut: of the file, and of all files that the imports
// reach over any number of hops. Beyond a limit of the imports, and with a file that cannot be
// read, a text has no Seal.
func (c *call) seal(x *found) error {
	if x.Unread() != "" {
		return nil
	}
	sites, err := c.sitesOf(x.Text.Text)
	if err != nil {
		return err
	}
	type reached struct {
		file  string
		sites []site
	}
	raw, sealed := map[string]string{x.Path: x.raw}, []index.SealedFile{{Name: x.Path, Sum: sha256.Sum256([]byte(x.raw))}}
	seen, left := map[string]bool{x.file: true}, newAllowance()
	for rest := []reached{{x.file, sites}}; len(rest) > 0; rest = rest[1:] {
		for _, s := range rest[0].sites {
			if left.count--; left.count < 0 {
				return nil
			}
			file, ok := x.follow(rest[0].file, s.target)
			if !ok || seen[file] {
				continue
			}
			seen[file] = true
			next, err := c.source(x, file, left.bytes)
			switch {
			case err != nil:
				return err
			case errors.Is(next.err, index.ErrTooLarge), next.err != nil && index.IsFault(next.err):
				return nil
			case next.err != nil:
				continue
			}
			left.bytes -= len(next.text)
			name := path.Join(x.above, file)
			raw[name], sealed = next.raw, append(sealed, index.SealedFile{Name: name, Sum: next.sum})
			rest = append(rest, reached{file, next.sites})
		}
	}
	if x.Seal, x.Raw = index.SealOf(index.ImportedList, sealed), raw; len(raw) == 1 {
		x.Seal.Digest = index.FileDigest(sealed[0].Sum)
	}
	return nil
}

// follow returns the path of the file that an import in a file names. ok is false if the path leads
// outside.
func (x *found) follow(from, target string) (file string, ok bool) {
	file = path.Join(path.Dir(from), target)
	return file, !strings.HasPrefix(target, "~") && !path.IsAbs(target) && !strings.Contains(target, `\`) && isBelow(x.top, file)
}

// An importer replaces the imports of an instruction.
type importer struct {
	*call
	of   *found
	left *allowance
	over bool // the problem of the limit of count is reported
	dry  bool // only the problems are of interest
}

// expand replaces the imports of a text. With dry, expand only adds the problems of the imports.
func (c *call) expand(x *found, hops int, left *allowance, dry bool) error {
	if hops == 0 {
		return nil
	}
	sites, err := c.sitesOf(x.Text.Text)
	if err != nil {
		return err
	}
	before := len(x.Problems)
	i := &importer{call: c, of: x, left: left, dry: dry}
	text, err := i.replace([]string{x.file}, x.Text.Text, sites, x.lines, hops)
	if !dry {
		x.Text.Text = text
	}
	x.Problems = append(x.Problems[:before:before], problem.Limit(x.Problems[before:])...)
	return err
}

// shown returns the path of a file of the importer.
func (i *importer) shown(file string) string { return path.Join(i.of.above, file) }

// replace returns the text of the last file of a chain of imports, with its imports in place.
func (i *importer) replace(chain []string, text string, sites []site, lines, hops int) (string, error) {
	if hops == 0 || len(sites) == 0 {
		return text, nil
	}
	var b strings.Builder
	done := 0
	for _, s := range sites {
		next, ok, err := i.load(chain, s.target, lines+1+s.line, hops)
		if err != nil {
			return "", err
		}
		if ok && !i.dry {
			b.WriteString(text[done:s.start])
			b.WriteString(next)
			done = s.end
		}
	}
	if done == 0 {
		return text, nil
	}
	b.WriteString(text[done:])
	return b.String(), nil
}

// load returns the text of the file that an import in a line names, with its imports in place, or
// adds the problem of an import that stays.
func (i *importer) load(
	chain []string, target string, line, hops int,
) (text string, ok bool, err error) {
	refused := func(code problem.Code, message, suggestion string) (string, bool, error) {
		quoted := escape.Path("@" + target[:min(len(target), maxQuoted)])
		p := problem.New(code, problem.Warning, escape.Path(i.shown(chain[len(chain)-1])),
			`the import "`+quoted+`" `+message, suggestion)
		p.Line = line
		i.of.Problems = append(i.of.Problems, p)
		return "", false, i.ctx.Err()
	}
	if i.left.count == 0 {
		if i.over {
			return "", false, i.ctx.Err()
		}
		i.over = true
		return refused(problem.ImportNotFollowed, fmt.Sprintf("is not followed: a call follows at most %d imports", maxImports), "use fewer imports")
	}
	i.left.count--
	file, ok := i.of.follow(chain[len(chain)-1], target)
	shown := i.shown(file)
	switch {
	case !ok:
		return refused(problem.ImportNotFollowed, "leads outside", "import a file of the same project by a relative path")
	case slices.Contains(chain, file):
		return refused(problem.ImportCycle, "leads back: "+i.cycle(chain[slices.Index(chain, file):]), "remove one of the imports")
	case slices.ContainsFunc(i.Refused, func(refused string) bool { return strings.EqualFold(refused, shown) }):
		return "", false, i.ctx.Err()
	}
	next, err := i.source(i.of, file, i.left.bytes)
	switch {
	case err != nil:
		return "", false, err
	case errors.Is(next.err, confine.ErrEscape), errors.Is(next.err, confine.ErrSymlink):
		return refused(problem.ImportNotFollowed, "leads outside", "import a file of the same project by a relative path")
	case errors.Is(next.err, index.ErrTooLarge):
		return refused(problem.ImportNotFollowed, fmt.Sprintf("is not followed: the imports of a call add at most %d bytes", maxImported), "import shorter files")
	case errors.Is(next.err, fs.ErrNotExist) && !namesText(target):
		return "", false, nil // probably no import, as in @types/node and @app.route
	case next.err != nil:
		return refused(problem.ImportNotFollowed, "leads nowhere: "+escape.Reason(next.err), "correct the path, which is relative to the file with the import")
	}
	i.left.bytes -= len(next.text)
	if !slices.Contains(i.of.Imports, shown) {
		i.of.Imports = append(i.of.Imports, shown)
	}
	text, err = i.replace(append(slices.Clip(chain), file), next.text, next.sites, 0, hops-1)
	return text, true, err
}

// isBelow reports whether a clean relative path is the path of a file below a directory.
func isBelow(dir, file string) bool {
	if dir == "." {
		return file != ".." && !strings.HasPrefix(file, "../")
	}
	return strings.HasPrefix(file, dir+"/")
}

// The limits of the message of an import.
const (
	maxQuoted = 200 // bytes of the path
	maxNamed  = 8   // files of a cycle
)

// cycle names the files of a cycle of imports.
func (i *importer) cycle(files []string) string {
	var names []string
	for _, file := range append(slices.Clone(files[:min(len(files), maxNamed)]), files[0]) {
		names = append(names, escape.Path(i.shown(file)))
	}
	if more := len(files) - maxNamed; more > 0 {
		names = slices.Insert(names, maxNamed, fmt.Sprintf("%d more files", more))
	}
	return strings.Join(names, " imports ")
}

// namesText reports whether the target of an import is a path from the file, or has the ending of a
// text.
func namesText(target string) bool {
	return strings.HasPrefix(target, "./") || strings.HasPrefix(target, "../") ||
		slices.Contains([]string{".md", ".mdc", ".markdown", ".txt", ".json", ".yaml", ".yml", ".toml"}, strings.ToLower(path.Ext(target)))
}
