package audit

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/access"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/problem"
	"github.com/toolshelf-go/toolshelf/internal/skilldir"
)

// maxIgnoredDirs bounds the directories of a layer that ignored reads.
const maxIgnoredDirs = 2000

// An ignored finds the files of a layer that a scan omits without a word, although their authors
// may expect entries. A scan does not read these files and directories. Links are not followed.
type ignored struct {
	ctx      context.Context
	index    *index.Index
	kind     client.Files
	at       int // the layer
	layer    index.Layer
	fs       *confine.FS
	snapshot *index.Snapshot
	left     int // directories to read
	problems []problem.Problem
}

// ignoredFiles returns the problems of ignored files. The error is the error of ctx.
func ignoredFiles(ctx context.Context, kind client.Files, x *index.Index, s *index.Snapshot) (all []problem.Problem, err error) {
	for i, l := range x.Layers() {
		if s.Missing(i) || l.Plugins != nil {
			continue
		}
		w := ignored{ctx: ctx, index: x, kind: kind, at: i, layer: l, fs: x.FS(ctx, i), snapshot: s, left: maxIgnoredDirs}
		switch {
		case kind == client.Skills && l.Files:
		case kind == client.Skills:
			w.directories()
		case kind == client.Instructions || !w.reportBelowTop(func(dirPath string) bool { return w.markdown(w.read(dirPath)) > 0 }):
			w.otherEndings(l.Dir, 0)
		}
		all = append(all, w.problems...)
	}
	return all, ctx.Err()
}

// directories reports the ignored files of a layer of directories with a SKILL.md.
func (w *ignored) directories() {
	hasSkill := func(dirPath string) bool {
		return slices.ContainsFunc(w.read(dirPath).dirs, func(name string) bool { return w.read(path.Join(dirPath, name)).skillFile() })
	}
	isSkill := w.hasEntry(func(e *index.Entry) bool { return path.Dir(e.Path) == w.layer.Dir })
	if !isSkill && !w.reportBelowTop(hasSkill) {
		w.withoutDirectory()
		w.otherSpellings(w.layer.Dir, 1)
	}
}

// hasEntry reports whether an entry of the layer meets a condition.
func (w *ignored) hasEntry(meets func(*index.Entry) bool) bool {
	for e := range w.snapshot.Files() {
		if e.Layer() == w.at && meets(e) {
			return true
		}
	}
	return false
}

// A listing has the names in a directory, sorted, without links.
type listing struct{ dirs, files []string }

// read returns the names in a directory. If the directory cannot be read, read returns no
// names, because the scan reports the directory.
func (w *ignored) read(dirPath string) (found listing) {
	if w.left == 0 {
		return listing{}
	}
	w.left--
	dir, err := w.fs.OpenDir(dirPath)
	if err != nil {
		return listing{}
	}
	defer dir.Close()
	_ = dir.Each(w.ctx, func(name string, typ fs.FileMode) error {
		if typ == confine.TypeUnknown {
			if info, err := w.fs.Lstat(path.Join(dirPath, name)); err == nil {
				typ = info.Mode.Type()
			}
		}
		switch {
		case typ == fs.ModeDir && !skilldir.Skipped(name):
			found.dirs = append(found.dirs, name)
		case typ == 0:
			found.files = append(found.files, name)
		}
		return nil
	})
	slices.Sort(found.dirs)
	slices.Sort(found.files)
	return found
}

// skillFile reports whether a directory has a SKILL.md.
func (l listing) skillFile() bool {
	return slices.ContainsFunc(skilldir.Names[:], func(name string) bool { return slices.Contains(l.files, name) })
}

// markdown returns the number of files that can be commands.
func (w *ignored) markdown(l listing) (n int) {
	if l.skillFile() {
		return 0
	}
	for _, name := range l.files {
		stem, ok := w.layer.Stem(name)
		if ok && w.index.Valid(stem) && !strings.EqualFold(stem, "README") {
			n++
		}
	}
	return n
}

func (w *ignored) report(code problem.Code, severity problem.Severity, file, message, suggestion string) {
	w.problems = append(w.problems, problem.Problem{Code: code, Severity: severity, Path: w.index.PlaceIn(w.at, file), Message: message, Suggestion: suggestion})
}

// reportBelowTop reports a filesystem of the program that has its files in a directory, as an
// embed.FS has. The directory is the only directory of the highest level for which holds
// returns true.
func (w *ignored) reportBelowTop(holds func(dirPath string) bool) bool {
	if w.layer.Store == nil || w.hasEntry(func(e *index.Entry) bool { return w.snapshot.HasFile(e.File()) }) {
		return false
	}
	const maxLevels = 4
	level := []string{w.layer.Dir}
	for range maxLevels {
		var next []string
		for _, dirPath := range level {
			found := w.read(dirPath)
			if found.skillFile() {
				continue
			}
			for _, name := range found.dirs {
				next = append(next, path.Join(dirPath, name))
			}
		}
		holding := slices.DeleteFunc(slices.Clone(next), func(dirPath string) bool { return !holds(dirPath) })
		if len(holding) == 1 {
			w.report(problem.FilesystemTopEmpty, problem.Warning, holding[0], "not listed: the directory is not the top of the filesystem that the program passes",
				"pass the result of fs.Sub(fsys, "+strconv.Quote(holding[0])+")")
			return true
		}
		if len(holding) > 1 {
			return false
		}
		level = next
	}
	return false
}

var nouns = map[client.Files]string{
	client.Commands: "a command", client.Skills: "a skill", client.Instructions: "a rule", client.Agents: "an agent",
}

// otherEndings reports the ignored files of a directory that the scan has read.
func (w *ignored) otherEndings(dirPath string, depth int) {
	found := w.read(dirPath)
	for _, name := range found.files {
		if suggestion := w.renamed(dirPath, name); suggestion != "" && !w.readElsewhere(name) {
			w.report(problem.ExtensionNotRead, problem.Warning, path.Join(dirPath, name), "not listed: the file of "+nouns[w.kind]+" ends in "+cmp.Or(w.layer.Suffix, ".md"), suggestion)
		}
	}
	for _, name := range found.dirs {
		sub := path.Join(dirPath, name)
		switch _, command := w.layer.Stem(name); {
		case name[0] == '.', command, !w.layer.Nested && w.kind == client.Instructions:
		case !w.layer.Nested:
			if n := w.markdownBelow(sub, 1); n == 1 {
				w.report(problem.SubdirectoryNotRead, problem.Warning, sub, "not listed: a Markdown file in the directory, because the program reads no subdirectories",
					"move the file to the directory above, or let the program read subdirectories")
			} else if n > 1 {
				w.report(problem.SubdirectoryNotRead, problem.Warning, sub, fmt.Sprintf("not listed: %d Markdown files in the directory, because the program reads no subdirectories", n),
					"move the files to the directory above, or let the program read subdirectories")
			}
		case depth < index.MaxDepth && w.index.Valid(name):
			w.otherEndings(sub, depth+1)
		}
	}
}

// markdownBelow returns the number of Markdown files that can be commands.
func (w *ignored) markdownBelow(dirPath string, depth int) int {
	found := w.read(dirPath)
	n := w.markdown(found)
	if depth == index.MaxDepth || found.skillFile() {
		return n
	}
	for _, name := range found.dirs {
		if name[0] != '.' {
			n += w.markdownBelow(path.Join(dirPath, name), depth+1)
		}
	}
	return n
}

// readElsewhere reports whether another layer of the same directory reads a file.
func (w *ignored) readElsewhere(name string) bool {
	return slices.ContainsFunc(w.index.Layers(), func(l index.Layer) bool {
		_, ok := l.Stem(name)
		return ok && (l.Files || w.kind != client.Skills) && l.FS.Path(l.Dir) == w.layer.FS.Path(w.layer.Dir)
	})
}

// renamed returns the correction for a file that resembles a command and ends in another
// extension than .md, or "". A text file resembles a command if the file has frontmatter or
// the placeholder $ARGUMENTS, and a TOML file if the file has a prompt.
func (w *ignored) renamed(dirPath, name string) string {
	extension := path.Ext(name)
	stem := strings.TrimSuffix(name, extension)
	if suffix := w.layer.Suffix; suffix != "" {
		markdown := w.kind == client.Instructions && extension == ".md" // a rule of another client
		if suffix == extension || !strings.HasSuffix(suffix, extension) && !markdown || !w.index.Valid(stem) || isProjectFile(stem) {
			return "" // files of other kinds resemble no command of this layer
		}
		return "rename the file to " + strconv.Quote(stem+suffix)
	}
	if !w.index.Valid(stem) || isProjectFile(stem) {
		return ""
	}
	switch strings.ToLower(extension) {
	case ".markdown", ".mdc":
	case ".txt":
		text := w.head(path.Join(dirPath, name))
		if header(text).Format == "" && !strings.Contains(text, "$ARGUMENTS") {
			return ""
		}
	case ".toml":
		if !hasText(header("+++\n"+w.head(path.Join(dirPath, name))+"\n+++\n"), "prompt") {
			return ""
		}
		return "write the prompt in " + strconv.Quote(stem+".md")
	default:
		return ""
	}
	return "rename the file to " + strconv.Quote(stem+".md")
}

// isProjectFile reports whether a stem is the name of a file that many projects have, such as
// LICENSE.
func isProjectFile(stem string) bool {
	return slices.Contains([]string{"authors", "changelog", "contributing", "copying", "licence", "license", "notice", "readme"}, strings.ToLower(stem))
}

// head returns the beginning of a file, or "" if the file cannot be read.
func (w *ignored) head(file string) string {
	head := make([]byte, matter.MaxHead/2)
	n, _, err := access.ReadHead(w.fs, file, head)
	if err != nil {
		return ""
	}
	return string(head[:n])
}

func header(text string) matter.Frontmatter {
	doc, _ := matter.Parse([]byte(text), true)
	return doc.Frontmatter
}

// hasText reports whether one of the keys has a text.
func hasText(f matter.Frontmatter, keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool {
		value, _ := f.Get(key)
		return strings.TrimSpace(value.String()) != ""
	})
}

// withoutDirectory reports the Markdown files beside the directories of skills that have the
// frontmatter of a skill.
func (w *ignored) withoutDirectory() {
	top := w.layer.Dir
	for _, name := range w.read(top).files {
		if stem, markdown := names.TrimMarkdown(name); !markdown || name[0] == '.' || isProjectFile(stem) || slices.Contains(skilldir.Names[:], name) || w.readElsewhere(name) {
			continue
		}
		if hasText(header(w.head(path.Join(top, name))), "name", "description") {
			w.report(problem.SkillNotADirectory, problem.Warning, path.Join(top, name), "not listed: a skill is a directory with a SKILL.md",
				"move the file to a directory of its own, with the name SKILL.md")
		}
	}
}

// otherSpellings reports the files below a directory whose names differ from SKILL.md in letter
// case, to the depth of the scan.
func (w *ignored) otherSpellings(dirPath string, depth int) {
	for _, name := range w.read(dirPath).dirs {
		sub := path.Join(dirPath, name)
		if !names.Loose(name) || w.snapshot.HasSkill(w.at, sub) {
			continue
		}
		files := w.read(sub).files
		if i := slices.IndexFunc(files, func(file string) bool { return skilldir.SameLetters(file, skilldir.Names[0]) }); i >= 0 {
			w.report(problem.SkillFileMissing, problem.Error, path.Join(sub, files[i]), "the directory has no SKILL.md, because the name of this file has other letter case",
				"rename the file to SKILL.md")
		} else if depth < w.layer.Depth {
			w.otherSpellings(sub, depth+1)
		}
	}
}
