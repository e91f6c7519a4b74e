package servers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// The limits of the files of digests, of a file and of a call in bytes, and of the paths that a
// command line can name.
const (
	maxFiles = 64
	maxBytes = 64 << 20
	maxRead  = 256 << 20
	maxPaths = 1000
	maxBegin = 64<<10 + 1
)

// A Covered is a file that a digest covers.
type Covered struct {
	Begin string // the text, or more than 64 KiB of the text
	Sum   [sha256.Size]byte

	once sync.Once
	err  error
}

// A coveredFile is a file of a plugin or of the project.
type coveredFile struct {
	fs   *confine.FS
	name string
}

// A sealing computes the digest of a server.
type sealing struct {
	*Server
	search     *search
	paths      int // looked up
	incomplete bool
}

// seal sets the digest of a server. The reason for a path that leads out of a plugin is not "".
func (s *Server) seal(ctx context.Context, in *search) (reason string) {
	w := sealing{Server: s, search: in}
	s.Files = map[string]*Covered{}
	for i, text := range append([]string{s.Command, s.Dir}, s.Args...) {
		if !s.Gated && (s.Plugin == "" || i > 1) {
			break
		}
		if i == 0 && !strings.ContainsAny(text, `/\`) {
			continue // a name in PATH
		}
		names, more := s.named(text)
		if more {
			w.uncovered("the digest covers files of the first parts of "+quoted(mask(text))+" only",
				"read the command before you approve the server")
		}
		for _, p := range names {
			if w.paths++; w.paths > maxPaths || ctx.Err() != nil {
				w.incomplete = true
				break
			}
			if !w.cover(text, p, i) {
				return fmt.Sprintf("the path %s leads out of the plugin", quoted(mask(text)))
			}
		}
	}
	if s.Gated && !w.incomplete {
		entry := bytes.NewBufferString(s.Of + "\n")
		_ = json.Compact(entry, s.entry) // the entry is valid
		files := []index.SealedFile{{Sum: sha256.Sum256(entry.Bytes())}}
		for name, c := range s.Files {
			files = append(files, index.SealedFile{Name: name, Sum: c.Sum})
		}
		s.Digest = index.SealOf(index.ServerList, files).Digest
	}
	return ""
}

// cover adds a file to the digest. The argument with the index 0 is the command, and 1 the
// directory. The result is false if the path leads out of the plugin.
func (w *sealing) cover(text string, p named, i int) bool {
	on := path.Join(w.Base.name, p.name)
	info, err := w.Base.fs.Info(on)
	outside := p.name == "" || errors.Is(err, confine.ErrEscape) || errors.Is(err, confine.ErrSymlink)
	fault := index.IsFault(err)
	if p.guess && !fault && (outside || err != nil || info.Mode.IsDir()) {
		return true
	}
	if outside {
		w.uncovered("the digest does not cover "+quoted(mask(text))+", which is outside",
			"approve the server only if nobody else writes the file")
		return w.Plugin == "" || i > 1 || filepath.IsAbs(text)
	}
	if !w.store {
		w.search.look.File(filepath.Join(w.Base.path, p.name))
	}
	switch {
	case err != nil:
		w.incomplete = w.incomplete || fault
	case info.Mode.IsRegular() && w.Gated:
		w.read(p.name, on)
	case info.Mode.IsDir() && p.name != "." && i != 1:
		w.uncovered("the digest covers no file of the directory "+quoted(p.name),
			"approve the server only if nobody else writes into the directory")
	}
	return true
}

func (w *sealing) uncovered(message, suggestion string) {
	w.findings = append(w.findings,
		w.problem(problem.UncoveredFiles, problem.Warning, message, suggestion))
}

// read adds a file, which a call reads once.
func (w *sealing) read(name, on string) {
	kept, _ := w.search.covered.LoadOrStore(coveredFile{w.Base.fs, on}, &Covered{})
	c := kept.(*Covered)
	c.once.Do(func() {
		var raw []byte
		raw, c.err = readAll(w.Base.fs, on, maxBytes)
		c.Begin, c.Sum = string(raw[:min(len(raw), maxBegin)]), sha256.Sum256(raw)
		if w.search.read.Add(int64(len(raw))) > maxRead && c.err == nil {
			c.err = errors.New("too many bytes")
		}
	})
	w.Files[name] = c
	w.incomplete = w.incomplete || c.err != nil || len(w.Files) > maxFiles
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
// and further parts, each below the base and below the working directory. The text may have more
// parts.
func (s *Server) named(text string) (all []named, more bool) {
	dir := filepath.ToSlash(s.fill(s.Dir, unset, new(filling)))
	add := func(part string, guess bool) {
		var r filling
		if len(part) > 4096 {
			return
		}
		filled := s.fill(part, unset, &r)
		if filled == "" || filled[0] == '-' || r.missing != nil || strings.Contains(filled, "://") {
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
	for i := 0; i < len(text) && len(all) < maxParts; i++ {
		if text[i] == '=' {
			add(text[i+1:], false)
		}
	}
	separates := func(r rune) bool { return strings.ContainsRune(" \t\r\n:;,@=\"'`()", r) }
	parts := strings.FieldsFunc(text, separates)
	for _, part := range parts[:min(len(parts), maxParts)] {
		add(part, true)
		if part[0] == '-' && len(part) > 2 {
			add(part[2:], true) // the value of a short option
		}
	}
	return all, len(parts) > maxParts
}
