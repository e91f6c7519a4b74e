// Package loaders compares loaders of skills and commands with the cases in testdata. Each case is
// a directory of files, with the entries that a correct loader shows to a model, a public source
// and the reason. testdata/README.md describes the format of the cases.
//
// Each case has a good neighbor beside its files, so that a loader that loses all entries is seen.
package loaders

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// A testCase is a directory of skills or commands, and the entries that a correct loader shows.
type testCase struct {
	Group    string // the name of the archive
	Name     string
	Source   string // an address
	Reason   string
	Commands bool // the files are commands, not skills
	Want     []want
	May      string  // an entry that a correct loader may show or omit
	Body     *string // the beginning of the text of the first entry; nil if the case does not name the text
	files    []part
	escapes  bool
}

// A want is an entry that a correct loader shows.
type want struct {
	Names       []string // alternatives
	Description string
}

// An entry is a skill or a command that a loader shows to a model.
type entry struct{ Description, Body string }

// A directory has the files of a case, or public files.
type directory struct {
	Path     string
	Commands bool
}

// A loading is what a loader reads from a directory.
type loading struct {
	Absent  bool // the loader has no such files
	Entries map[string]entry
	Error   string
}

// A loader reads directories.
type loader struct {
	Name     string
	Loadings []loading // of each directory
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

// cases returns the cases in the order of the archives.
func cases(t testing.TB) (all []testCase) {
	t.Helper()
	for _, name := range must.Get(filepath.Glob("testdata/*.txtar"))(t) {
		archive := must.Get(os.ReadFile(name))(t)
		group := strings.TrimSuffix(filepath.Base(name), ".txtar")
		for _, p := range parts(strings.ReplaceAll(string(archive), "\r\n", "\n")) {
			if strings.ContainsAny(p.name, "/.>") {
				if len(all) == 0 || all[len(all)-1].Group != group {
					t.Fatalf("%s: %s belongs to no case", name, p.name)
				}
				c := &all[len(all)-1]
				c.files = append(c.files, p)
				continue
			}
			c := testCase{Group: group, Name: p.name, Commands: strings.HasPrefix(group, "commands")}
			if err := c.read(p.text); err != nil {
				t.Fatalf("%s: %s: %v", name, p.name, err)
			}
			all = append(all, c)
		}
	}
	return all
}

// read reads the lines of a case.
func (c *testCase) read(record string) error {
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
			c.Want = append(c.Want, want{strings.Split(names, " or "), unquote(description)})
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

// write writes the files of the case and of its neighbor below an empty directory.
func (c testCase) write(dir string) error {
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

// A verdict is the result of a loader in a case.
type verdict string

const (
	right   verdict = "right"
	wrong   verdict = "wrong"     // another name, description or text, or an entry that must not be shown
	dropped verdict = "dropped"   // an entry is missing
	lost    verdict = "list lost" // the neighbor is missing too
	absent  verdict = ""          // the loader has no such files
)

// verdicts are the verdicts of a loader that has the files, in the order of the document.
var verdicts = []verdict{right, wrong, dropped, lost}

// judge compares what a loader reads from the files of the case. The text explains each verdict
// except right.
func (c testCase) judge(l loading) (verdict, string) {
	got := maps.Clone(l.Entries)
	if l.Absent {
		return absent, ""
	}
	if _, ok := got[neighbor]; l.Error != "" || !ok {
		return lost, l.Error + " the neighbor is missing"
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
		found, ok := got[name]
		if !ok {
			if len(got) > 0 {
				return wrong, fmt.Sprintf("no %q; shown: %.300q", want.Names, got)
			}
			return dropped, fmt.Sprintf("no %q", want.Names)
		}
		delete(got, name)
		if strings.TrimSpace(found.Description) != strings.TrimSpace(want.Description) {
			return wrong, fmt.Sprintf("description of %s: %.300q, want %.300q", name, found.Description, want.Description)
		}
		if body := strings.TrimSpace(found.Body); i == 0 && c.Body != nil && (!strings.HasPrefix(body, *c.Body) || *c.Body == "" && body != "") {
			return wrong, fmt.Sprintf("text of %s: %.300q, want %.300q", name, body, *c.Body)
		}
	}
	if len(got) > 0 {
		return wrong, fmt.Sprintf("also shown: %.300q", got)
	}
	return right, ""
}
