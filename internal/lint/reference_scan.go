package lint

import (
	"bytes"
	"iter"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/markdown"
	"github.com/toolshelf-go/toolshelf/internal/names"
)

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
