// Package loaders compares loaders of skills and commands with the cases in testdata. Each case is
// a directory of files, with the entries that a correct loader shows to a model, a public source
// and the reason. testdata/README.md describes the format of the cases.
//
// Each case has a good neighbor beside its files, so that a loader that loses all entries is seen.
package loaders

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

//go:embed testdata/*.txtar
var archives embed.FS

// A Case is a directory of skills or commands, and the entries that a correct loader shows.
type Case struct {
	Group    string // the name of the archive
	Name     string
	Source   string // an address
	Reason   string
	Commands bool // the files are commands, not skills
	Want     []Want
	May      string  // an entry that a correct loader may show or omit
	Body     *string // the beginning of the text of the first entry; nil if the case does not name the text
	files    []part
	escapes  bool
}

// A Want is an entry that a correct loader shows.
type Want struct {
	Names       []string // alternatives
	Description string
}

// An Entry is a skill or a command that a loader shows to a model.
type Entry struct{ Description, Body string }

// A Loader reads a directory of skills or of commands. A nil function means that the loader has no
// such files.
type Loader struct {
	Name             string
	Skills, Commands func(dir string) (map[string]Entry, error)
}

type part struct{ name, text string }

// parts splits an archive. The text before the first part is the title of the group.
func parts(archive string) (all []part) {
	for line := range strings.Lines(archive) {
		text := strings.TrimRight(line, "\n")
		if name, ok := strings.CutPrefix(text, "-- "); ok && strings.HasSuffix(name, " --") {
			all = append(all, part{name: strings.TrimSuffix(name, " --")})
		} else if len(all) > 0 {
			all[len(all)-1].text += line
		}
	}
	return all
}

// Cases returns the cases in the order of the archives.
func Cases(t testing.TB) (all []Case) {
	t.Helper()
	for _, name := range must.Get(fs.Glob(archives, "testdata/*.txtar"))(t) {
		archive := must.Get(fs.ReadFile(archives, name))(t)
		group := strings.TrimSuffix(path.Base(name), ".txtar")
		for _, p := range parts(strings.ReplaceAll(string(archive), "\r\n", "\n")) {
			if strings.ContainsAny(p.name, "/.>") {
				if len(all) == 0 || all[len(all)-1].Group != group {
					t.Fatalf("%s: %s belongs to no case", name, p.name)
				}
				c := &all[len(all)-1]
				c.files = append(c.files, p)
				continue
			}
			c := Case{Group: group, Name: p.name, Commands: strings.HasPrefix(group, "commands")}
			if err := c.read(p.text); err != nil {
				t.Fatalf("%s: %s: %v", name, p.name, err)
			}
			all = append(all, c)
		}
	}
	return all
}

// read reads the lines of a case.
func (c *Case) read(record string) error {
	for line := range strings.Lines(record) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		value = strings.TrimSpace(value)
		switch key {
		case "source":
			c.Source = value
		case "reason":
			c.Reason = value
		case "escapes":
			c.escapes = true
		case "may show":
			c.May = value
		case "shown":
			names, description, ok := strings.Cut(value, " | ")
			if !ok {
				return fmt.Errorf("the line %q has no description", line)
			}
			c.Want = append(c.Want, Want{strings.Split(names, " or "), unquote(description)})
		case "body":
			body := unquote(value)
			if value == "-" {
				body = ""
			}
			c.Body = &body
		case "":
		default:
			return fmt.Errorf("unknown key %q", key)
		}
	}
	return nil
}

// unquote returns the value of a Go string in double quotes, and each other text unchanged.
func unquote(text string) string {
	if value, err := strconv.Unquote(text); err == nil && strings.HasPrefix(text, `"`) {
		return value
	}
	return repeated.ReplaceAllStringFunc(text, repeat)
}

var (
	repeated = regexp.MustCompile(`\\\*\{\d+,[^}]*\}`)
	escaped  = regexp.MustCompile(`\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[trs\\]|z\n|\*\{\d+,[^}]*\})`)
)

// repeat returns the text of "\*{N,TEXT}".
func repeat(escape string) string {
	number, text, _ := strings.Cut(escape[3:len(escape)-1], ",")
	n, _ := strconv.Atoi(number)
	return strings.Repeat(escaped.ReplaceAllStringFunc(text, unescape), n)
}

func unescape(escape string) string {
	switch escape[1] {
	case 's':
		return " "
	case 'z':
		return ""
	case '*':
		return repeat(escape)
	}
	text, _ := strconv.Unquote(`"` + escape + `"`) // the other escapes are those of Go
	return text
}

const neighbor = "neighbor"

// Write writes the files of the case and of its neighbor below an empty directory.
func (c Case) Write(dir string) error {
	good := "---\nname: neighbor\ndescription: Fine.\n---\nText.\n"
	files := append(slices.Clone(c.files), part{neighbor + "/SKILL.md", good})
	if c.Commands {
		files[len(files)-1].name = neighbor + ".md"
	}
	for _, f := range files {
		text := f.text
		if c.escapes {
			text = escaped.ReplaceAllStringFunc(text, unescape)
		}
		link, target, isLink := strings.Cut(f.name, " -> ")
		file := filepath.Join(dir, filepath.FromSlash(link))
		err := os.MkdirAll(filepath.Dir(file), 0o755)
		switch {
		case err != nil:
		case isLink:
			err = os.Symlink(filepath.FromSlash(target), file)
		case strings.HasSuffix(f.name, "/"):
			err = os.MkdirAll(file, 0o755)
		default:
			err = os.WriteFile(file, []byte(text), 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A Verdict is the result of a loader in a case.
type Verdict string

const (
	Right   Verdict = "right"
	Wrong   Verdict = "wrong"     // another name, description or text, or an entry that must not be shown
	Dropped Verdict = "dropped"   // an entry is missing
	Lost    Verdict = "list lost" // the neighbor is missing too
	Absent  Verdict = ""          // the loader has no such files
)

// Verdicts are the verdicts of a loader that has the files, in the order of the document.
var Verdicts = []Verdict{Right, Wrong, Dropped, Lost}

// Judge runs a loader over the directory that Write has written. The text explains each verdict
// except Right.
func (c Case) Judge(l Loader, dir string) (Verdict, string) {
	load := l.Skills
	if c.Commands {
		load = l.Commands
	}
	if load == nil {
		return Absent, ""
	}
	got, err := load(dir)
	if _, ok := got[neighbor]; err != nil || !ok {
		return Lost, fmt.Sprint(errors.Join(err, errors.New("the neighbor is missing")))
	}
	delete(got, neighbor)
	delete(got, c.May)
	for i, want := range c.Want {
		name := ""
		for _, alternative := range want.Names {
			if _, ok := got[alternative]; ok {
				name = alternative
			}
		}
		entry, ok := got[name]
		if !ok {
			if len(got) > 0 {
				return Wrong, fmt.Sprintf("no %q; shown: %.300q", want.Names, got)
			}
			return Dropped, fmt.Sprintf("no %q", want.Names)
		}
		delete(got, name)
		if strings.TrimSpace(entry.Description) != strings.TrimSpace(want.Description) {
			return Wrong, fmt.Sprintf("description of %s: %.300q, want %.300q", name, entry.Description, want.Description)
		}
		if body := strings.TrimSpace(entry.Body); i == 0 && c.Body != nil && (!strings.HasPrefix(body, *c.Body) || *c.Body == "" && body != "") {
			return Wrong, fmt.Sprintf("text of %s: %.300q, want %.300q", name, body, *c.Body)
		}
	}
	if len(got) > 0 {
		return Wrong, fmt.Sprintf("also shown: %.300q", got)
	}
	return Right, ""
}
