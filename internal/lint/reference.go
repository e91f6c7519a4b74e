package lint

import (
	"bytes"
	"iter"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/markdown"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// Limits of the search for references. Ordinary texts stay below the limits. With the
// limits, the check of a hostile text takes no longer than the read of the text.
const (
	maxReferences    = 100     // reported per file
	maxCompared      = 100     // unknown names per file that are compared with all commands
	maxReferenceLine = 4 << 10 // bytes; a longer line is data
)

// references reports references to missing commands. A reference is a link to a
// Markdown file, "/directory:name", or "/two-words" if a command has a similar
// name. Other texts that begin with a slash may be paths, routes or commands of
// the client. Each reference is reported once, at its first place. In code
// blocks, only "/directory:name" is a reference.
func (l *Commands) references(f File, command Command) []problem.Problem {
	var (
		found  []problem.Problem
		seen   = make(map[string]bool)
		left   = maxCompared
		blocks codeBlocks
		number = bytes.Count(f.Raw[:f.Doc.Body], []byte("\n"))
		body   = f.Raw[f.Doc.Body:]
		prose  = withoutCode(body)
	)
	for line := range bytes.Lines(body) {
		text := prose[:len(line)]
		prose = prose[len(line):]
		number++
		inCode := blocks.line(line)
		if len(line) > maxReferenceLine {
			continue
		}
		report := func(at int, message, suggestion string) {
			place := matter.Field{Line: number, Column: 1 + utf8.RuneCount(line[:at])}
			found = append(found, f.at(place, problem.Warning, problem.ReferenceNotFound, message, suggestion))
		}
		for at, name := range slashNames(line) {
			if seen["/"+name] || !l.mayRefer(name, inCode) {
				continue
			}
			seen["/"+name] = true
			similar := ""
			if left--; left >= 0 {
				similar = l.similar(name)
			}
			switch {
			case similar != "":
				report(at, "command "+strconv.Quote(name)+" does not exist", "write /"+similar+", or create the command")
			case strings.Contains(name, ":"):
				report(at, "command "+strconv.Quote(name)+" does not exist", "create the command, or remove the reference")
			}
		}
		if inCode {
			continue
		}
		for at, target := range links(text) {
			if seen[target] {
				continue
			}
			seen[target] = true
			if file := l.missingFile(command, target); file != "" {
				report(at, "linked file "+strconv.Quote(target)+" does not exist", l.fileSuggestion(command, file))
			}
		}
		if len(found) >= maxReferences {
			return found[:maxReferences]
		}
	}
	return found
}

// mayRefer reports whether "/name" may refer to a missing command: "/two-words",
// or a name in an existing directory of commands. The last element of the name
// must be unknown, because several clients put the layer before the name.
func (l *Commands) mayRefer(name string, inCode bool) bool {
	directory := strings.LastIndexByte(name, ':') + 1
	switch {
	case l.last[name[directory:]], placeholder(name):
		return false
	case directory > 0:
		return l.directories[name[:directory]]
	default:
		return !inCode && strings.ContainsAny(name[1:], "-_")
	}
}

// similar returns a command in the directory of a missing name: the command whose name
// is the missing name with the directory as a prefix, or else the command with the
// nearest name. If no name is near, similar returns "".
func (l *Commands) similar(name string) string {
	end := strings.LastIndexByte(name, ':') + 1
	directory, last := name[:end], name[end:]
	if directory != "" {
		if long := directory + strings.TrimSuffix(directory, ":") + "-" + last; l.known[long] {
			return long
		}
	}
	return names.Nearest(name, func(yield func(string) bool) {
		for _, other := range l.names {
			below, ok := strings.CutPrefix(other, directory)
			if ok && strings.IndexByte(below, ':') < 0 && !yield(other) {
				return
			}
		}
	}, min(utf8.RuneCountInString(last)/5, 2), nil)
}

// placeholder reports whether a name is a placeholder, as in "run /your-command".
func placeholder(name string) bool {
	return strings.HasSuffix(name, "-name") || strings.HasSuffix(name, "_name") ||
		strings.HasPrefix(name, "your-") || strings.HasPrefix(name, "my-")
}

// missingFile returns the path below a layer of the target of a link. missingFile
// returns "" if the target exists or cannot be a command.
func (l *Commands) missingFile(from Command, target string) string {
	target, _, _ = strings.Cut(target, "#")
	target, err := url.PathUnescape(target)
	if err != nil || strings.HasPrefix(target, "/") {
		return ""
	}
	file := path.Join(path.Dir(from.Path), target)
	directory, base := path.Split(file)
	stem, isMarkdown := names.TrimMarkdown(base)
	if !isMarkdown || !l.Valid(stem) || strings.EqualFold(base, "README.md") || strings.EqualFold(base, "SKILL.md") {
		return ""
	}
	if directory != "" && !l.directories[strings.ReplaceAll(directory, "/", ":")] {
		return ""
	}
	// The link may be relative to the root, the working directory of the client.
	fromRoot := path.Clean(target)
	if !filepath.IsLocal(filepath.FromSlash(fromRoot)) {
		fromRoot = ""
	}
	if l.Present(file, fromRoot) {
		return ""
	}
	return file
}

// fileSuggestion suggests the file with the same base name in another directory of
// commands, if exactly one such file exists.
func (l *Commands) fileSuggestion(from Command, missing string) string {
	var same []string
	for _, file := range l.files[strings.ToLower(path.Base(missing))] {
		if file != from.Path && !slices.Contains(same, file) {
			same = append(same, file)
		}
	}
	if len(same) == 1 {
		if link, err := filepath.Rel(filepath.FromSlash(path.Dir(from.Path)), filepath.FromSlash(same[0])); err == nil {
			return "write " + strconv.Quote(filepath.ToSlash(link)) + ", or create " + strconv.Quote(missing)
		}
	}
	return "create " + strconv.Quote(missing) + ", or remove the link"
}

// codeBlocks tracks fenced code blocks line by line. Unlike in Markdown, a fence may have
// any indentation, and blocks may be nested, because authors write such blocks. At worst,
// codeBlocks omits references.
type codeBlocks struct {
	fence []byte // opening fence of the outermost block
	depth int
}

// line reads the next line and reports whether the line is part of a block.
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

// slashNames yields the names in words of the form "/name", with the offset of the
// slash. slashNames omits words that continue as a path.
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

// endsWord reports whether text begins with a blank or a punctuation mark that
// ends a word. Other characters continue a path or a URL.
func endsWord(text []byte) bool {
	const after = " \t\r\n`\"'*)],;"
	if len(text) > 0 && strings.IndexByte(".?!", text[0]) >= 0 {
		text = text[1:]
	}
	return len(text) == 0 || strings.IndexByte(after, text[0]) >= 0
}

// links yields the targets of links in a line without code, with their offsets.
// A link is [text](target) or a definition, [name]: target.
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
					defines = defines && depth > 0 // the brackets at the start of the line define nothing
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

// withoutCode returns a text of the same length with blanks in place of code and
// comments. Line breaks are kept.
func withoutCode(body []byte) []byte {
	prose := bytes.Clone(body)
	blank := func(start, end int) {
		for i := start; i < end; i++ {
			if prose[i] != '\n' {
				prose[i] = ' '
			}
		}
	}
	markdown.Code(string(body), new(markdown.Meter), func(start, end int, _ markdown.Kind) { blank(start, end) })
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
