package instruction

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/markdown"
	"github.com/toolshelf-go/toolshelf/internal/problem"
	"github.com/toolshelf-go/toolshelf/internal/template"
)

const (
	maxImported = 1 << 20 // bytes that the imports add to an instruction
	maxImports  = 1000    // imports of an instruction
)

// importRules find @path, and no other directive or placeholder.
var importRules = client.Rules{Forms: client.FilePath, Code: client.CodeStays, Escape: client.NoEscape, Append: client.Drop}

// An importer replaces the imports of an instruction.
type importer struct {
	*call
	of    *found
	bytes int  // that imports may still add
	count int  // of imports that may still follow
	over  bool // a limit has ended the imports
	texts map[string]imported
}

// shown returns the path of a file of the importer.
func (i *importer) shown(file string) string { return path.Join(i.of.above, file) }

// imported is the result of a read.
type imported struct {
	raw, text string // the text without the line breaks at the end
	err       error
}

// seal sets the Seal of a text that is not cut: of the file, and of all files that the imports reach over any number of
// hops, so a Seal depends on the files only. Beyond a limit of the imports, a text has no Seal. The map read receives the imports.
func (c *call) seal(x *found, read map[string]imported) error {
	all := *c
	all.Refused = nil
	reached := *x
	i := &importer{call: &all, of: &reached, bytes: maxImported, count: maxImports, texts: read}
	if _, err := i.replace([]string{x.file}, x.Text.Text, x.lines, maxImports+1); err != nil || i.over {
		return err
	}
	raw := map[string]string{x.Path: x.raw}
	for file, one := range read {
		if name := i.shown(file); slices.Contains(reached.Imports, name) {
			raw[name] = one.raw
		}
	}
	if x.Seal, x.Raw = index.SealOf(index.ImportedList, raw), raw; len(raw) == 1 {
		x.Seal.Digest = index.FileDigest(x.Seal.Files[0].Sum)
	}
	return nil
}

// expand replaces the imports of a text. The map read has the files that were read before.
func (c *call) expand(x *found, hops int, read map[string]imported) error {
	if !strings.Contains(x.Text.Text, "@") {
		return nil
	}
	i := &importer{call: c, of: x, bytes: maxImported, count: maxImports, texts: read}
	text, err := i.replace([]string{x.file}, x.Text.Text, x.lines, hops)
	x.Text.Text = text
	return err
}

// replace returns the text of the last file of a chain of imports, with its imports in place.
func (i *importer) replace(chain []string, text string, lines, hops int) (string, error) {
	if hops == 0 || !strings.Contains(text, "@") {
		return text, nil
	}
	found, err := template.Renderer{Rules: importRules}.Render(i.ctx, template.Source{Text: text}, template.Args{})
	if err != nil {
		return "", err
	}
	meter := markdown.NewMeter(i.ctx)
	var code []int // the start and the end of each piece of code, in order
	markdown.Code(text, meter, func(start, end int, _ markdown.Kind) { code = append(code, start, end) })
	if err := meter.Err(); err != nil {
		return "", err
	}
	var b strings.Builder
	done := 0
	for _, d := range found.Directives {
		if at, _ := slices.BinarySearch(code, d.Start+1); at%2 == 1 {
			continue // within code
		}
		target := d.Text(text)
		next, err := i.load(chain, target, hops)
		if err != nil {
			return "", err
		}
		if next.problem.Code != "" {
			next.problem.Path, next.problem.Line = escape.Path(i.shown(chain[len(chain)-1])), lines+1+strings.Count(text[:d.Start], "\n")
			i.of.Problems = append(i.of.Problems, next.problem)
		}
		if next.ok {
			b.WriteString(text[done:d.Start])
			b.WriteString(next.text)
			done = d.End
		}
	}
	b.WriteString(text[done:])
	return b.String(), nil
}

// A replacement is the text of an import, or the problem of an import that stays.
type replacement struct {
	text    string
	ok      bool
	problem problem.Problem
}

// load returns the text of the file that an import names, with its imports in place.
func (i *importer) load(chain []string, target string, hops int) (replacement, error) {
	refused := func(code problem.Code, message, suggestion string) (replacement, error) {
		return replacement{problem: problem.Problem{Code: code, Severity: problem.Warning, Message: `the import "` + escape.Path("@"+target) + `" ` + message, Suggestion: suggestion}}, i.ctx.Err()
	}
	file := path.Join(path.Dir(chain[len(chain)-1]), target)
	switch {
	case strings.HasPrefix(target, "~") || path.IsAbs(target) || strings.Contains(target, `\`) || !isBelow(i.of.top, file):
		return refused(problem.ImportNotFollowed, "leads outside", "import a file of the same project by a relative path")
	case slices.Contains(chain, file):
		names := make([]string, 0, len(chain)+1)
		for _, name := range append(chain[slices.Index(chain, file):], file) {
			names = append(names, escape.Path(i.shown(name)))
		}
		return refused(problem.ImportCycle, "leads back: "+strings.Join(names, " imports "), "remove one of the imports")
	case i.count < 0 || slices.ContainsFunc(i.Refused, func(refused string) bool { return strings.EqualFold(refused, i.shown(file)) }):
		return replacement{}, i.ctx.Err()
	case i.count == 0:
		i.count--
		i.over = true
		return refused(problem.ImportNotFollowed, fmt.Sprintf("is not followed: an instruction has at most %d imports", maxImports), "use fewer imports")
	}
	i.count--
	read, ok := i.texts[file]
	if !ok {
		read = i.read(file)
		i.texts[file] = read
	}
	switch {
	case errors.Is(read.err, fs.ErrClosed) || i.ctx.Err() != nil:
		return replacement{}, errors.Join(i.ctx.Err(), read.err)
	case errors.Is(read.err, confine.ErrEscape), errors.Is(read.err, confine.ErrSymlink):
		return refused(problem.ImportNotFollowed, "leads outside", "import a file of the same project by a relative path")
	case errors.Is(read.err, index.ErrTooLarge) || read.err == nil && len(read.text) > i.bytes:
		i.over = true
		return refused(problem.ImportNotFollowed, fmt.Sprintf("is not followed: the imports of an instruction add at most %d bytes", maxImported), "import shorter files")
	case errors.Is(read.err, fs.ErrNotExist) && !namesText(target):
		return replacement{}, nil // probably no import, as in @types/node and @app.route
	case read.err != nil:
		return refused(problem.ImportNotFollowed, "leads nowhere: "+escape.Reason(read.err), "correct the path, which is relative to the file with the import")
	}
	i.bytes -= len(read.text)
	if shown := i.shown(file); !slices.Contains(i.of.Imports, shown) {
		i.of.Imports = append(i.of.Imports, shown)
	}
	text, err := i.replace(append(slices.Clip(chain), file), read.text, 0, hops-1)
	return replacement{text: text, ok: true}, err
}

// isBelow reports whether a clean relative path is the path of a file below a directory.
func isBelow(dir, file string) bool {
	if dir == "." {
		return file != ".." && !strings.HasPrefix(file, "../")
	}
	return strings.HasPrefix(file, dir+"/")
}

// namesText reports whether the target of an import is a path from the file, or has the ending of a text.
func namesText(target string) bool {
	return strings.HasPrefix(target, "./") || strings.HasPrefix(target, "../") ||
		slices.Contains([]string{".md", ".mdc", ".markdown", ".txt", ".json", ".yaml", ".yml", ".toml"}, strings.ToLower(path.Ext(target)))
}

// read reads a file within the limits.
func (i *importer) read(file string) imported {
	i.look(i.of.fs, file)
	f, err := i.of.fs.Within(i.of.top).OpenRegular(file)
	if err != nil {
		return imported{err: err}
	}
	defer f.Close()
	if f.Info().Size > maxImported {
		return imported{err: index.ErrTooLarge}
	}
	raw, err := i.Rules.ReadOpen(f)
	return imported{string(raw), strings.TrimRight(string(raw), "\r\n"), err}
}
