package lint

import (
	"bytes"
	"iter"
	"math/bits"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/markdown"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// A Command is a file of commands, as far as others refer to it.
type Command struct {
	Name   string
	Path   string // below its layer
	Listed bool   // by a catalog without filters
}

// Commands checks the files of commands. It knows what their texts may refer to.
type Commands struct {
	Nested  bool                             // the names may have folders
	Valid   func(element string) bool        // reports an element that a name can have
	Present func(path, fromRoot string) bool // reports a file at a path in any layer, or at another below the root

	names   []commandName
	known   map[string]bool     // every name
	last    map[string]bool     // what comes after the last ":" of every name, of skills too: some clients put the layer before it, and all run skills as commands
	folders map[string]bool     // of nested commands, with their ":"
	files   map[string][]string // where there are files of a name, in lower case, below their layers
}

// A commandName is a name that may have been meant by one that there is not.
type commandName struct {
	name    string
	folder  int    // the length of what comes before its last element
	letters []rune // of its last element, in lower case
	bits    uint64 // which letters these are
}

func newCommandName(name string) commandName {
	n := commandName{name: name, folder: strings.LastIndexByte(name, ':') + 1}
	n.letters = []rune(strings.ToLower(name[n.folder:]))
	for _, r := range n.letters {
		n.bits |= 1 << (r % 64)
	}
	return n
}

// far reports, quickly, that two names differ in more than some letters.
func (n *commandName) far(other *commandName, letters int) bool {
	d := len(n.letters) - len(other.letters)
	return max(d, -d) > letters || bits.OnesCount64(n.bits&^other.bits) > letters || bits.OnesCount64(other.bits&^n.bits) > letters
}

// Add adds a command that others may refer to.
func (l *Commands) Add(c Command) {
	if l.last == nil {
		l.known, l.last, l.folders, l.files = make(map[string]bool), make(map[string]bool), make(map[string]bool), make(map[string][]string)
	}
	base := strings.ToLower(path.Base(c.Path))
	l.files[base] = append(l.files[base], c.Path)
	name := newCommandName(c.Name)
	l.names = append(l.names, name)
	l.known[c.Name] = true
	l.last[c.Name[name.folder:]] = true
	if l.Nested && name.folder > 0 {
		l.folders[c.Name[:name.folder]] = true
	}
}

// AddSkill adds a skill that commands may refer to.
func (l *Commands) AddSkill(name string) {
	if l.last == nil {
		l.last = make(map[string]bool)
	}
	l.last[name] = true
}

// Check returns what is wrong with a file of commands.
func (l *Commands) Check(f File, command Command) []problem.Problem {
	found := f.header(false)
	field, ok := f.field("description")
	text := strings.TrimSpace(field.Value.String())
	if text == "" && command.Listed {
		if !ok {
			field = matter.Field{Key: field.Key}
		}
		found = append(found, f.at(field, problem.Warning, problem.NoDescription,
			"the frontmatter has no description", "add one that says what the command does and when to use it"))
	}
	return append(found, l.references(f, command)...)
}

// A text is searched for references within limits that no text for people
// reaches, so that a hostile one takes no longer than it takes to read.
const (
	maxReferences    = 100     // reported of one file
	maxMeant         = 25      // for which names of commands are compared
	maxReferenceLine = 4 << 10 // bytes; a longer line is data
)

// references reports what the text refers to as a command and is none, each
// once, where it is first. Lines of code blocks are searched for "/folder:name"
// alone, which is nothing else there either.
func (l *Commands) references(f File, command Command) []problem.Problem {
	var (
		found  []problem.Problem
		known  = make(map[string]bool) // what was looked for already
		blocks codeBlocks
		number = bytes.Count(f.Raw[:f.Doc.Body], []byte("\n"))
		body   = f.Raw[f.Doc.Body:]
		prose  = withoutCode(body)
	)
	for line := range bytes.Lines(body) {
		text := prose[:len(line)]
		prose = prose[len(line):]
		number++
		code := blocks.line(line)
		if len(line) > maxReferenceLine {
			continue
		}
		report := func(at int, message, suggestion string) {
			found = append(found, f.at(matter.Field{Line: number, Column: 1 + utf8.RuneCount(line[:at])}, problem.Warning,
				problem.ReferenceNotFound, message, suggestion))
		}
		for at, name := range slashNames(line) {
			if !known["/"+name] && l.missing(name, line[:at], code) {
				known["/"+name] = true
				report(at, "there is no command "+strconv.Quote(name), l.meant(name, len(found) < maxMeant))
			}
		}
		if code {
			continue
		}
		for at, target := range links(text) {
			if known[target] {
				continue
			}
			known[target] = true
			if file := l.missingFile(command, target); file != "" {
				report(at, "it links to "+strconv.Quote(target)+", and there is no such file", l.meantFile(command, file))
			}
		}
		if len(found) >= maxReferences {
			return found[:maxReferences]
		}
	}
	return found
}

// codeBlocks follows fenced code blocks from line to line, and takes more for
// code than Markdown does, since what may be code is not searched for links. A
// fence may be indented as deep as it likes, and a block within a block, which
// Markdown does not have and people write, is one.
type codeBlocks struct {
	fence []byte // what opened the outermost block
	depth int
}

// line takes the next line, and reports whether it is part of a block.
func (b *codeBlocks) line(line []byte) bool {
	line = bytes.TrimSpace(line)
	for b.depth == 0 && markdown.ListMarker(line) > 0 || len(line) > 0 && line[0] == '>' {
		line = bytes.TrimSpace(line[max(markdown.ListMarker(line), 1):])
	}
	fence := markdown.OpenFence(line)
	info := line[len(fence):]
	switch {
	case len(fence) == 0:
	case b.depth == 0:
		b.fence, b.depth = fence, 1
	case fence[0] != b.fence[0] || len(fence) < len(b.fence):
	case len(info) > 0:
		b.depth++
	default:
		b.depth--
		return true
	}
	return b.depth > 0
}

// slashNames ranges over what follows a "/" that begins a word, as far as it
// can be a command's name and is not part of a path.
func slashNames(line []byte) iter.Seq2[int, string] {
	return func(yield func(at int, name string) bool) {
		for at := bytes.IndexByte(line, '/'); at >= 0; {
			end := at + 1
			for end < len(line) && (names.Plain(string(line[end:end+1])) || line[end] == ':') {
				end++
			}
			name := strings.TrimRight(string(line[at+1:end]), ":")
			begins := at == 0 || strings.IndexByte(" \t(\"'`*", line[at-1]) >= 0
			if begins && name != "" && endsWord(line[end:]) && !yield(at, name) {
				return
			}
			next := bytes.IndexByte(line[end:], '/')
			if next < 0 {
				return
			}
			at = end + next
		}
	}
}

// endsWord reports whether a word ends before text: a blank or a punctuation
// mark follows, and not what goes on in a path or a URL.
func endsWord(text []byte) bool {
	const after = " \t\r\n`\"'*)],;"
	if len(text) > 0 && strings.IndexByte(".?!", text[0]) >= 0 {
		text = text[1:]
	}
	return len(text) == 0 || strings.IndexByte(after, text[0]) >= 0
}

// runs is the end of a text that has the reader run what follows.
var runs = regexp.MustCompile("(?i)(?:^|[^\\pL])(?:run|use|execute|invoke|call|try|type|running|using|invoking)[ \\t]+[`\"'*]*$")

// missing reports whether "/name" is surely a command, and there is none.
func (l *Commands) missing(name string, before []byte, code bool) bool {
	folder := strings.LastIndexByte(name, ':') + 1
	if l.last[name[folder:]] || placeholder(name) {
		return false
	}
	if folder > 0 {
		return l.folders[name[:folder]]
	}
	// One word may be anything: a route, a command of the client's own.
	return !code && strings.ContainsAny(name[1:], "-_") && runs.Match(before[max(0, len(before)-40):])
}

// meant says what to do about "/name", which is no command.
func (l *Commands) meant(name string, compare bool) string {
	wanted := newCommandName(name)
	folder, last := name[:wanted.folder], name[wanted.folder:]
	if folder != "" {
		if long := folder + strings.TrimSuffix(folder, ":") + "-" + last; l.known[long] {
			return "write /" + long
		}
	}
	limit := min(len(wanted.letters)/5, 2)
	best := names.Nearest(name, func(yield func(string) bool) {
		for i := range l.names {
			other := &l.names[i]
			if compare && other.folder == len(folder) && !wanted.far(other, limit) && other.name[:other.folder] == folder && !yield(other.name) {
				return
			}
		}
	}, limit, nil)
	if best != "" {
		return "write /" + best + " if that is meant, else make the command"
	}
	return "make the command, or remove what refers to it"
}

// placeholder reports a name that stands for one, as in "run /your-command".
func placeholder(name string) bool {
	return strings.HasSuffix(name, "-name") || strings.HasSuffix(name, "_name") ||
		strings.HasPrefix(name, "your-") || strings.HasPrefix(name, "my-")
}

// links ranges over the targets of links in a line without code: of [text](target)
// and of a definition, [name]: target.
func links(line []byte) iter.Seq2[int, string] {
	return func(yield func(at int, target string) bool) {
		depth, defines := 0, bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte("["))
		for i := 0; i+1 < len(line); i++ {
			switch {
			case line[i] == '\\':
				i++
			case line[i] == '[':
				depth++
			case line[i] == ']' && depth > 0:
				depth--
				if line[i+1] != '(' && (line[i+1] != ':' || depth > 0 || !defines) {
					defines = defines && depth > 0 // it begins with brackets that define nothing
					continue
				}
				at := i + 2
				at += len(line[at:]) - len(bytes.TrimLeft(line[at:], " \t<"))
				end := at
				for end < len(line) && strings.IndexByte(") \t\r\n>", line[end]) < 0 {
					end++
				}
				if end > at && !yield(at, string(line[at:end])) {
					return
				}
				i, defines = end-1, false
			}
		}
	}
}

// withoutCode returns a text with blanks in place of code and of comments, line
// breaks left where they are.
func withoutCode(body []byte) []byte {
	text := string(body)
	prose := bytes.Clone(body)
	blank := func(start, end int) {
		for i := start; i < end; i++ {
			if prose[i] != '\n' {
				prose[i] = ' '
			}
		}
	}
	meter := new(markdown.Meter)
	markdown.Blocks(text, meter, func(start, end int, kind markdown.Kind) {
		if kind != markdown.Text {
			blank(start, end)
			return
		}
		spans := markdown.NewSpans(text[:end], meter)
		for i := start; i < end; i++ {
			switch text[i] {
			case '\\':
				i++
			case '`':
				n := markdown.Run(text[i:end])
				if closing, ok := spans.Closing(i+n, n); ok {
					blank(i, closing+n)
					i = closing
				}
				i += n - 1
			}
		}
	})
	for i := 0; ; {
		begin := bytes.Index(prose[i:], []byte("<!--"))
		if begin < 0 {
			return prose
		}
		begin += i
		end := bytes.Index(prose[begin:], []byte("-->"))
		if end < 0 {
			return prose
		}
		i = begin + end
		blank(begin, i)
	}
}

// meantFile says what to do about a link to a file that is missing. A file of
// that name in another folder of commands is what was meant, if there is one
// only.
func (l *Commands) meantFile(from Command, missing string) string {
	var there []string
	for _, file := range l.files[strings.ToLower(path.Base(missing))] {
		if file != from.Path && !slices.Contains(there, file) {
			there = append(there, file)
		}
	}
	if len(there) == 1 {
		if link, err := filepath.Rel(filepath.FromSlash(path.Dir(from.Path)), filepath.FromSlash(there[0])); err == nil {
			return "write " + strconv.Quote(filepath.ToSlash(link)) + " if that is meant, else make " + strconv.Quote(missing)
		}
	}
	return "make " + strconv.Quote(missing) + ", or remove the link"
}

// missingFile returns the path that a link's target has below a layer, if a
// command could be there and nothing is, in any layer, and "" else.
func (l *Commands) missingFile(from Command, target string) string {
	target, _, _ = strings.Cut(target, "#")
	target, err := url.PathUnescape(target)
	if err != nil || strings.HasPrefix(target, "/") {
		return ""
	}
	file := path.Join(path.Dir(from.Path), target)
	folder, base := path.Split(file)
	stem, isMarkdown := names.TrimMarkdown(base)
	if !isMarkdown || !l.Valid(stem) || strings.EqualFold(base, "README.md") || strings.EqualFold(base, "SKILL.md") {
		return ""
	}
	if folder != "" && !l.folders[strings.ReplaceAll(folder, "/", ":")] {
		return ""
	}
	// It may be meant from the root, where the program that follows it works.
	fromRoot := path.Clean(target)
	if !filepath.IsLocal(filepath.FromSlash(fromRoot)) {
		fromRoot = ""
	}
	if l.Present(file, fromRoot) {
		return ""
	}
	return file
}
