// Package matter reads the frontmatter of Markdown files: it finds the header,
// decodes it, recovers what it can of a broken one, and finds the first
// paragraph of the text. It never loses or alters the body, and reports all
// that it did as values.
//
// A header is between fences at column 0. The first fence begins the file. A byte
// order mark may come before the fence, and so may blank lines, which are
// reported. The fences are "---" for YAML ("---yaml",
// "---toml" and "---json" say the format), "+++" for TOML, ";;;" for JSON. A
// JSON object at the beginning is a header too. Anything else, "---js" say, is
// body: nothing is ever evaluated.
package matter

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/problem"
)

const (
	// MinHead is how many bytes of a file to read first: nearly every header
	// and first paragraph is within.
	MinHead = 4 << 10
	// MaxHead is how far a header is looked for. A fence that is not closed
	// by then is none.
	MaxHead = 64 << 10
)

// A Format is a header's notation.
type Format string

const (
	YAML Format = "yaml"
	TOML Format = "toml"
	JSON Format = "json"
)

// A Document is a Markdown file with its header decoded.
type Document struct {
	Format   Format            // "" where there is no header
	Line     int               // of the opening fence, 1-based; 0 where there is no header
	Header   []byte            // the text between the fences; aliases the data
	Body     int               // the body is data[Body:]
	Fields   []Field           // in the order of the file
	Problems []problem.Problem // in the order of the file
}

// A Source says where a description was found.
type Source string

const (
	FromNone        Source = ""
	FromFrontmatter Source = "frontmatter"
	FromParagraph   Source = "paragraph"
)

// Parse finds and decodes the header of a file. If whole is false, data is
// only the beginning of it; then more says that header or description go on
// beyond it, and that Parse should be called again with more data. It never
// asks for more than MaxHead bytes. Whatever is returned, data[doc.Body:] is a
// suffix of data.
func Parse(data []byte, whole bool) (doc Document, more bool) {
	ends := whole || len(data) >= MaxHead
	fenced := split(data[:min(len(data), MaxHead)], whole && len(data) <= MaxHead)
	if fenced.open && !ends {
		return Document{Body: fenced.begin}, true
	}
	doc = decode(data, fenced)
	doc.checkTools()
	doc.checkText(data, whole)
	doc.Problems = problem.Limit(doc.Problems)
	for i := range doc.Problems {
		doc.Problems[i].Severity = problem.Warning
	}
	if !ends && doc.description() == "" {
		if _, complete := firstParagraph(data[doc.Body:], false); !complete {
			return doc, true
		}
	}
	return doc, false
}

// decode decodes what split found.
func decode(data []byte, f fenced) Document {
	doc := decodeFenced(data, f)
	if f.blank == 0 {
		return doc
	}
	moveFields(doc.Fields, f.blank)
	moveProblems(doc.Problems, f.blank)
	if doc.Format != "" {
		doc.Line += f.blank
		doc.Problems = append([]problem.Problem{{Code: problem.FrontmatterAfterBlankLines, Line: 1,
			Message:    "blank lines come before the frontmatter, so that most other readers find no frontmatter",
			Suggestion: "remove the blank lines"}}, doc.Problems...)
	}
	return doc
}

// moveFields adds the blank lines before the opening fence to the fields' lines.
func moveFields(fields []Field, lines int) {
	for i := range fields {
		f := &fields[i]
		if f.Line > 0 {
			f.Line += lines
		}
	}
}

// moveProblems adds the blank lines before the opening fence to the problems' lines.
func moveProblems(problems []problem.Problem, lines int) {
	for i := range problems {
		problems[i].Line += lines
	}
}

// decodeFenced decodes a header. Lines are counted from the opening fence.
func decodeFenced(data []byte, f fenced) Document {
	none := Document{Body: f.begin}
	switch {
	case f.open:
		if f.close != "" && looksLikeHeader(data[f.header:], f.format) {
			p := problem.Problem{Code: problem.FrontmatterUnterminated, Line: 1,
				Message:    "the frontmatter is not closed, so all of it is text",
				Suggestion: `put a line "` + f.close + `" after its last field`}
			if len(data) >= MaxHead {
				p.Message = fmt.Sprintf("the frontmatter is not closed within the first %d KB of the file, so all of it is text", MaxHead>>10)
				p.Suggestion = `shorten it, or put a line "` + f.close + `" after its last field`
			}
			none.Problems = []problem.Problem{p}
		}
		return none
	case f.format == "":
		none.checkFence(data, f)
		return none
	}
	doc := Document{Format: f.format, Line: 1, Header: data[f.header:f.headerEnd], Body: f.body}
	switch f.format {
	case YAML:
		if !doc.decodeYAML() {
			none.Problems = doc.Problems
			return none
		}
	case TOML:
		doc.decodeTOML()
	case JSON:
		doc.decodeJSON()
	}
	doc.checkDuplicates()
	return doc
}

// checkFence reports fields that Parse takes as text: a JSON object with a syntax
// error, and fields between lines that resemble fences. Such a line is indented,
// has four hyphens, or has a text after the hyphens.
func (d *Document) checkFence(data []byte, f fenced) {
	text := data[f.first:]
	if f.err != nil && objectStart.Match(text) {
		d.Problems = append(d.Problems, problem.Problem{Code: problem.FrontmatterInvalid, Line: 1,
			Message: "the JSON object that begins the file is not valid, so it is taken as text: " + f.err.Error()})
		return
	}
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	for _, fence := range []struct {
		text   string
		format Format
	}{{"---", YAML}, {"+++", TOML}} {
		like := func(line []byte) bool { return bytes.HasPrefix(bytes.TrimFunc(line, invisible), []byte(fence.text)) }
		if !like(first) || !looksLikeHeader(rest, fence.format) {
			continue
		}
		for line := range bytes.Lines(rest) {
			if like(line) {
				d.Problems = append(d.Problems, problem.Problem{Code: problem.FrontmatterUnknownFence, Line: 1,
					Message:    "the first line is no fence of frontmatter, so the fields after it are taken as text",
					Suggestion: `begin the file with a line "` + fence.text + `" that holds nothing else`})
				return
			}
		}
	}
}

// objectStart matches the beginning of a JSON object with a field.
var objectStart = regexp.MustCompile(`^\{\s*"[^"\n]*"\s*:`)

// invisible reports blanks and format characters such as U+200B.
func invisible(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) }

// looksLikeHeader tells a header that was forgotten to be closed from a text
// that begins with a rule.
func looksLikeHeader(text []byte, format Format) bool {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			return false
		}
		if format == TOML && line[0] != '#' {
			return tomlField.Match(line)
		}
		if line[0] != '#' {
			key, _, ok := topLevelKey(line)
			return (ok && key != "") || line[0] == '{'
		}
	}
	return false
}

// tomlField matches a line of TOML with a field or a table's name.
var tomlField = regexp.MustCompile(`^(?:[\w."\'-]+[ \t]*=|\[)`)

func (d *Document) checkDuplicates() {
	// A map is for headers that want to be slow: real ones have a few keys.
	var lines map[string]int
	if len(d.Fields) > 32 {
		lines = make(map[string]int, len(d.Fields))
	}
	for i, f := range d.Fields {
		first, twice := lines[f.Key]
		if lines != nil {
			lines[f.Key] = f.Line
		} else {
			for _, before := range d.Fields[:i] {
				if before.Key == f.Key {
					first, twice = before.Line, true
				}
			}
		}
		if !twice {
			continue
		}
		p := problem.Problem{Code: problem.DuplicateKey, Line: f.Line, Column: f.Column, Key: f.Key,
			Message: "the key is there twice; the last one counts", Suggestion: "remove the others"}
		if first > 0 {
			p.Message = fmt.Sprintf("the key is in line %d already; the last one counts", first)
		}
		d.Problems = append(d.Problems, p)
	}
}

// checkText reports the first byte that is no text.
func (d *Document) checkText(data []byte, whole bool) {
	if utf8.Valid(data) {
		return
	}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			if !whole && !utf8.FullRune(data[i:]) {
				return // cut in the middle of a character
			}
			line := bytes.LastIndexByte(data[:i], '\n') + 1
			d.Problems = append(d.Problems, problem.Problem{Code: problem.NotUTF8,
				Line: 1 + bytes.Count(data[:line], []byte("\n")), Column: 1 + utf8.RuneCount(data[line:i]),
				Message: "a byte that is not UTF-8", Suggestion: "save the file as UTF-8"})
			return
		}
		i += size
	}
}

// Get returns the value of a top-level key; of several, the last.
func (d *Document) Get(key string) (Value, bool) {
	for i := len(d.Fields) - 1; i >= 0; i-- {
		if d.Fields[i].Key == key {
			return d.Fields[i].Value, true
		}
	}
	return Value{}, false
}

func (d *Document) description() string {
	v, _ := d.Get("description")
	return strings.TrimSpace(v.String())
}

// Description is the header's description without blanks at its ends, else the
// first paragraph of the body. It is valid UTF-8.
func Description(doc Document, body []byte) (string, Source) {
	if s := doc.description(); s != "" {
		return s, FromFrontmatter
	}
	if s, _ := firstParagraph(body, true); s != "" {
		return strings.ToValidUTF8(s, "\uFFFD"), FromParagraph
	}
	return "", FromNone
}
