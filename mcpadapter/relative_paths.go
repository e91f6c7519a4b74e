package mcpadapter

import (
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf"
)

// WithRelativePaths shows paths relative to the root of the catalog instead of
// full paths, in the results and errors of the library's tools and prompts:
// metadata.path of get_command; path, layer, shadows and diagnostics of get_skill and get_agent;
// report_path of report_feedback; and the directories in messages. The root itself is
// ".". For a layer outside the root, the path of a file begins with the name that the
// option of the catalog gives to the layer.
//
// The default is full paths, as the tool contracts require. The tools for files always
// show relative paths.
//
// WithRelativePaths does not change the texts of commands, skills and their files, and agents, the
// patterns in the results of search_files and search_text, and the results of extra tools.
func WithRelativePaths() Option {
	return func(c *config) error { c.relativePaths = true; return nil }
}

// A rootHider replaces the full path of the root in the messages of the library.
// The zero rootHider replaces nothing.
type rootHider struct {
	spellings []string // of the root's path, the longest first
}

// newRootHider returns a rootHider for the root of a catalog. A relative root,
// as on a filesystem in memory, and the top of a filesystem are no secrets.
func newRootHider(root string) rootHider {
	slashed := filepath.ToSlash(root)
	if !filepath.IsAbs(root) && !path.IsAbs(root) || strings.Trim(strings.TrimPrefix(slashed, filepath.VolumeName(root)), "/") == "" {
		return rootHider{}
	}
	quoted := strconv.Quote(root)
	spellings := []string{root, slashed, quoted[1 : len(quoted)-1]} // messages quote paths
	slices.SortFunc(spellings, func(a, b string) int { return len(b) - len(a) })
	return rootHider{slices.Compact(spellings)}
}

// text returns a message with relative paths.
func (h rootHider) text(s string) string {
	for _, root := range h.spellings {
		s = relativeTo(root, s)
	}
	return s
}

// texts returns messages with relative paths. The result is a new slice.
func (h rootHider) texts(all []string) []string {
	all = slices.Clone(all)
	for i, s := range all {
		all[i] = h.text(s)
	}
	return all
}

// diagnostics replaces the paths in diagnostics by relative paths.
func (h rootHider) diagnostics(all []toolshelf.Diagnostic) {
	for i := range all {
		d := &all[i]
		d.Path, d.Message, d.Suggestion = h.text(d.Path), h.text(d.Message), h.text(d.Suggestion)
	}
}

// error replaces an error of the catalog or of the protocol by an error with
// relative paths and without advice for the programmer. The causes stay in the chain.
func (h rootHider) error(err *error) {
	if *err == nil {
		return
	}
	var ours *toolshelf.Error
	var rpc *RPCError
	switch {
	case errors.As(*err, &rpc):
		shown := *rpc
		shown.Message = h.text(rpc.Message)
		*err = &shown
	case errors.As(*err, &ours):
		shown := *ours
		shown.Message, shown.Path = h.text(withoutGo(ours)), h.text(ours.Path)
		*err = &shown
	}
}

// relativeTo removes the path of a directory from the paths in a text that are
// in the directory. The directory itself becomes ".".
func relativeTo(dir, text string) string {
	var b strings.Builder
	rest := text
	for {
		before, after, ok := strings.Cut(rest, dir)
		if !ok {
			break
		}
		whole := text[:len(text)-len(after)-len(dir)] // all of the text before dir
		separators := len(after) - len(strings.TrimLeft(after, `/\`))
		b.WriteString(before)
		switch {
		case inName(lastRune(whole)), separators == 0 && continues(after):
			b.WriteString(dir) // a part of another path
		default:
			if after = after[separators:]; separators == 0 || !startsName(after) {
				b.WriteString(".")
			}
		}
		rest = after
	}
	b.WriteString(rest)
	return b.String()
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// inName reports whether a character next to a path is a part of a longer name.
func inName(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-.~", r)
}

// continues reports whether a text continues the name before the text. A dot at
// the end of a word ends a sentence.
func continues(after string) bool {
	name := strings.TrimLeft(after, ".")
	r, size := utf8.DecodeRuneInString(name)
	return size > 0 && inName(r)
}

// startsName reports whether a text begins with a file name.
func startsName(after string) bool {
	r, size := utf8.DecodeRuneInString(after)
	return size > 0 && !unicode.IsSpace(r) && !strings.ContainsRune("'\"`)],;:", r)
}
