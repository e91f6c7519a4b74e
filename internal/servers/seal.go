package servers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/problem"
	"github.com/toolshelf-go/toolshelf/internal/watch"
)

// The limits of the files of a digest.
const (
	maxFiles = 64
	maxBytes = 64 << 20
)

// A sealing computes the digest of a server.
type sealing struct {
	*Server
	look       *watch.Look
	texts      map[string]string // the contents of the files by their paths
	total      int64             // bytes
	incomplete bool
}

// seal sets the digest of a server. The reason for a path that leads out of a plugin is not "".
func (s *Server) seal(ctx context.Context, look *watch.Look) (reason string) {
	w := sealing{Server: s, look: look, texts: map[string]string{}}
	for i, text := range append([]string{s.Command, s.Dir}, s.Args...) {
		if !s.Gated && (s.Plugin == "" || i > 1) {
			break
		}
		if i == 0 && !strings.ContainsAny(text, `/\`) {
			continue // a name in PATH
		}
		for _, p := range s.named(text) {
			if !w.cover(ctx, text, p, i) {
				return fmt.Sprintf("the path %s leads out of the plugin", quoted(text))
			}
		}
	}
	if s.Gated && !w.incomplete {
		s.Files = maps.Clone(w.texts)
		w.texts[""] = s.Of + "\n" + compact(s.entry)
		s.Digest = index.SealOf(index.ServerList, index.Sums{}.Files(w.texts)).Digest
	}
	return ""
}

// cover adds a file to the digest. The argument with the index 0 is the command, and 1 the
// directory. The result is false if the path leads out of the plugin.
func (w *sealing) cover(ctx context.Context, text string, p named, i int) bool {
	uncovered := func(message, suggestion string) {
		w.findings = append(w.findings, w.problem(problem.UncoveredFiles, problem.Warning, message,
			suggestion))
	}
	on := path.Join(w.Base.name, p.name)
	info, err := w.Base.fs.Info(on)
	outside := p.name == "" || errors.Is(err, confine.ErrEscape) || errors.Is(err, confine.ErrSymlink)
	if p.guess && (outside || err != nil || info.Mode.IsDir()) {
		return true
	}
	if outside {
		uncovered("the digest does not cover "+quoted(mask(text))+", which is outside",
			"approve the server only if nobody else writes the file")
		return w.Plugin == "" || i > 1 || filepath.IsAbs(text)
	}
	if !w.store {
		w.look.File(filepath.Join(w.Base.path, p.name))
	}
	switch {
	case err != nil:
		w.incomplete = w.incomplete || index.IsFault(err)
	case info.Mode.IsRegular() && w.Gated:
		w.read(ctx, p.name, on)
	case info.Mode.IsDir() && p.name != "." && i != 1:
		uncovered("the digest covers no file of the directory "+quoted(p.name),
			"approve the server only if nobody else writes into the directory")
	}
	return true
}

// read adds the content of a file.
func (w *sealing) read(ctx context.Context, name, on string) {
	if _, ok := w.texts[name]; ok {
		return
	}
	raw, err := readAll(w.Base.fs, on, maxBytes-w.total)
	w.total += int64(len(raw))
	w.texts[name] = string(raw)
	w.incomplete = w.incomplete || err != nil || len(w.texts) > maxFiles || ctx.Err() != nil
}

// A named is a path below the base that a text can name; "" is a path outside. A guess is a part of
// a text.
type named struct {
	name  string
	guess bool
}

// maxParts is the number of parts of a text that can be names of files.
const maxParts = 64

// named returns the paths that a text of the command line can name: the text, the part after "=",
// and further parts, each below the base and below the working directory.
func (s *Server) named(text string) (all []named) {
	dir := filepath.ToSlash(s.fill(s.Dir, unset, new(filling)))
	add := func(part string, guess bool) {
		var r filling
		filled := s.fill(part, unset, &r)
		if filled == "" || filled[0] == '-' || len(filled) > 4096 || r.missing != nil ||
			strings.Contains(filled, "://") {
			return
		}
		names := []string{s.below(filled)}
		if dir != "" && text != s.Dir && !absolute(filled) {
			names = append(names, s.below(dir+"/"+filepath.ToSlash(filled)))
		}
		for _, name := range names {
			if !slices.ContainsFunc(all, func(n named) bool { return n.name == name }) {
				all = append(all, named{name, guess})
			}
		}
	}
	add(text, false)
	for _, rest, ok := strings.Cut(text, "="); ok; _, rest, ok = strings.Cut(rest, "=") {
		add(rest, false)
	}
	separates := func(r rune) bool { return strings.ContainsRune(" \t\r\n:;,@=\"'`()", r) }
	parts := strings.FieldsFunc(text, separates)
	for _, part := range parts[:min(len(parts), maxParts)] {
		add(part, true)
		if part[0] == '-' && len(part) > 2 {
			add(part[2:], true) // the value of a short option
		}
	}
	return all
}
