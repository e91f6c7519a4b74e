// Package matter reads the frontmatter of Markdown files. The package finds and
// decodes the header, recovers fields of a broken header, and finds the first
// paragraph of the body. The package never changes the body, and returns all
// defects as values.
//
// A header is the text between two fences at column 0. The opening fence begins
// the file, after an optional byte order mark and blank lines. Parse reports the
// blank lines. The fences are "---" for YAML, "+++" for TOML and ";;;" for JSON.
// The opening fences "---yaml", "---toml" and "---json" name a format. A JSON
// object at the beginning of the file is also a header. Any other text, such as
// "---js", is part of the body. Parse evaluates no code.
package matter

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"github.com/toolshelf-go/toolshelf/internal/markdown"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

const (
	// MinHead is the number of bytes of a file to read first. Nearly every header
	// and first paragraph is shorter.
	MinHead = 4 << 10
	// MaxHead is the maximum number of bytes up to the end of a header. A fence
	// that is not closed within MaxHead bytes is part of the body.
	MaxHead = 64 << 10
)

// A Format is the notation of a header.
type Format string

const (
	YAML Format = "yaml"
	TOML Format = "toml"
	JSON Format = "json"
)

// A Frontmatter is a decoded header.
type Frontmatter struct {
	Format Format  // "" if the file has no header
	Header string  // text between the fences
	Fields []Field // in the order of the file
}

// A Document is a Markdown file with its header decoded.
type Document struct {
	Frontmatter
	Line     int               // line of the opening fence, 1-based; 0 if the file has no header
	Start    int               // offset of the header in the data; Body if the file has no header
	Body     int               // offset of the body in the data
	Problems []problem.Problem // at most problem.Max warnings without a path, in the order of the file
	// The header is in the subset of YAML of subset.go, and Fields are complete.
	Plain bool

	paragraph string // first paragraph of the body, if Parse has read the paragraph
	wholeTOML bool   // the file is a header without fences; see Text
}

// A Source is the origin of a description.
type Source string

const (
	FromNone        Source = ""
	FromFrontmatter Source = "frontmatter"
	FromParagraph   Source = "paragraph"
)

// Parse finds and decodes the header of a file. If whole is false, data is only
// the beginning of the file. Parse then returns more = true if the header or the
// description may continue after data. The caller should call Parse again with
// more data. Parse never requests more than MaxHead bytes. doc.Body is always a
// valid offset in data.
func Parse(data []byte, whole bool) (doc Document, more bool) {
	return ParseFile("", data, whole)
}

// ParseFile is Parse for a file with the given path. If the path ends in ".toml", the whole file is
// the header, and the field prompt is the text; ParseFile reads no file of more than MaxHead bytes,
// because the time to decode TOML is not linear. Otherwise ParseFile is Parse.
func ParseFile(file string, data []byte, whole bool) (doc Document, more bool) {
	s := scanners.Get().(*Scanner)
	defer scanners.Put(s)
	doc, more = s.parse(file, data, whole)
	s.subset.reuse()
	return doc, more
}

func isTOML(file string) bool { return strings.HasSuffix(file, ".toml") }

// Text returns the text after the header. The argument is the data of the Parse, or more data.
func (d *Document) Text(data []byte) []byte {
	if !d.wholeTOML {
		return data[d.Body:]
	}
	prompt, _ := d.Get("prompt")
	return []byte(prompt.String())
}

// scanners holds Scanners for Parse.
var scanners = sync.Pool{New: func() any { return new(Scanner) }}

// A Scanner parses many files for a list that shows few fields. The zero Scanner is
// ready for use. A Scanner reuses the memory of the previous document. Concurrent
// calls are not allowed.
type Scanner struct {
	subset subset
	keys   []string // of the fields to read; nil means all fields, and suggestions
	shared bool     // the document shares memory with the data and the Scanner
}

// ParseFile is like the function ParseFile, with two differences. If keys are given, fields with
// other keys may have no value, and problems have no Suggestion. The header, the fields, and the
// keys of problems are valid until the next call and until data changes; problem.Problem.In copies
// the keys.
func (s *Scanner) ParseFile(
	file string, data []byte, whole bool, keys ...string,
) (doc Document, more bool) {
	if isTOML(file) {
		return ParseFile(file, data, whole)
	}
	s.keys, s.shared = keys, true
	return s.parse(file, data, whole)
}

func (s *Scanner) parse(file string, data []byte, whole bool) (doc Document, more bool) {
	ends := whole || len(data) >= MaxHead
	var fenced fenced
	if isTOML(file) {
		fenced = wholeTOML(data, whole)
	} else {
		fenced = split(data[:min(len(data), MaxHead)], whole && len(data) <= MaxHead)
	}
	if fenced.open && !ends {
		return Document{Body: fenced.begin}, true
	}
	doc = s.decode(data, fenced)
	doc.checkTools()
	doc.checkText(data, whole)
	doc.Problems = problem.Limit(doc.Problems)
	if s.keys == nil {
		doc.suggest()
	}
	for i := range doc.Problems {
		p := &doc.Problems[i]
		if p.Severity = problem.Warning; s.keys != nil {
			p.Suggestion = ""
		}
	}
	if !ends && doc.description() == "" {
		paragraph, complete := markdown.FirstParagraph(data[doc.Body:], false)
		if !complete {
			return doc, true
		}
		doc.paragraph = paragraph
	}
	return doc, false
}

// report adds a problem.
func (d *Document) report(
	code problem.Code, line int, message, suggestion string,
) *problem.Problem {
	d.Problems = append(d.Problems, problem.Problem{
		Code: code, Line: line, Message: message, Suggestion: suggestion})
	return &d.Problems[len(d.Problems)-1]
}

// text returns a part of the data as a string.
func (s *Scanner) text(data []byte) string {
	if s.shared {
		return unsafe.String(unsafe.SliceData(data), len(data))
	}
	return string(data)
}

// decode decodes a header that split found.
func (s *Scanner) decode(data []byte, f fenced) Document {
	line := f.blank + 1
	none := Document{Start: f.begin, Body: f.begin}
	switch {
	case f.open && f.wholeTOML:
		none.report(problem.FrontmatterRefused, line, fmt.Sprintf("the TOML file is longer than %d KB; "+
			"the fields and the prompt are unknown", MaxHead>>10), "shorten the prompt")
		return none
	case f.open:
		none.checkOpen(data, f)
		return none
	case f.format == "":
		none.checkFence(data, f)
		return none
	}
	header := Frontmatter{Format: f.format, Header: s.text(data[f.header:f.headerEnd])}
	doc := Document{Frontmatter: header, Line: line, Start: f.header, Body: f.body,
		wholeTOML: f.wholeTOML}
	if f.blank > 0 {
		doc.report(problem.FrontmatterAfterBlankLines, 1,
			"blank lines precede the frontmatter; most other readers find no frontmatter",
			"remove the blank lines")
	}
	switch before := len(doc.Problems); f.format {
	case YAML:
		if !doc.decodeYAML(s) {
			none.Problems = doc.Problems[before:]
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

// checkOpen reports fields after an opening fence without a closing fence.
func (d *Document) checkOpen(data []byte, f fenced) {
	if f.close == "" || !looksLikeHeader(data[f.header:], f.format) {
		return
	}
	message, add := "the frontmatter has no closing fence",
		`add a line "`+f.close+`" after the last field`
	if len(data) >= MaxHead {
		d.report(problem.FrontmatterUnterminated, f.blank+1, message+fmt.Sprintf(
			" in the first %d KB of the file and is read as text", MaxHead>>10),
			"shorten the frontmatter, or "+add)
		return
	}
	p := d.report(problem.FrontmatterUnterminated, f.blank+1, message+" and is read as text", add)
	line := f.blank + 1
	for text := range bytes.Lines(data[f.header:]) {
		if line++; resemblesFence(text, f.close) {
			p.Suggestion = fmt.Sprintf(`write "%s" in line %d`, f.close, line)
		}
		if resemblesFence(text, f.close) || looksBlank(text) {
			break
		}
	}
}

// checkFence reports fields that Parse reads as text: a JSON object with a syntax
// error, and fields between lines that resemble fences. A line that resembles a
// fence is indented, has four hyphens, or has text after the hyphens.
func (d *Document) checkFence(data []byte, f fenced) {
	text := data[f.first:]
	if f.err != nil && objectStart.Match(text) {
		d.report(problem.FrontmatterInvalid, f.blank+1,
			"the JSON object at the start of the file is invalid and is read as text: "+f.err.Error(), "")
		return
	}
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	for _, fence := range []struct {
		text   string
		format Format
	}{{"---", YAML}, {"+++", TOML}} {
		if !resemblesFence(first, fence.text) || !looksLikeHeader(rest, fence.format) {
			continue
		}
		number := f.blank + 1
		for line := range bytes.Lines(rest) {
			if number++; !resemblesFence(line, fence.text) {
				continue
			}
			p := d.report(problem.FrontmatterUnknownFence, f.blank+1,
				"the first line is not a valid fence; the fields after the line are read as text",
				`begin the file with a line that contains only "`+fence.text+`"`)
			if string(bytes.TrimRight(line, " \t\r\n")) != fence.text {
				p.Suggestion = fmt.Sprintf(`write "%s" in line %d and in line %d`,
					fence.text, f.blank+1, number)
			}
			return
		}
	}
}

// resemblesFence reports whether a line begins with a fence, after invisible
// characters.
func resemblesFence(line []byte, fence string) bool {
	return bytes.HasPrefix(bytes.TrimLeftFunc(line, invisible), []byte(fence))
}

// objectStart matches the beginning of a JSON object with a field.
var objectStart = regexp.MustCompile(`^\{\s*"[^"\n]*"\s*:`)

// invisible reports blanks and format characters such as U+200B.
func invisible(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) }

// looksLikeHeader distinguishes a header without a closing fence from a text that
// begins with a thematic break.
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
			key, _, ok := TopLevelKey(string(line))
			return (ok && key != "") || line[0] == '{'
		}
	}
	return false
}

// tomlField matches a line of TOML with a field or a table name.
var tomlField = regexp.MustCompile(`^(?:[\w."\'-]+[ \t]*=|\[)`)

func (d *Document) checkDuplicates() {
	// Only a hostile header has enough keys to need a map.
	var lines map[string]int
	if len(d.Fields) > 32 {
		lines = make(map[string]int, len(d.Fields))
	}
	for i, f := range d.Fields {
		first, twice := 0, false
		if lines != nil {
			first, twice = lines[f.Key]
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
		message := "duplicate key; the last value is used"
		if first > 0 {
			message = fmt.Sprintf("duplicate key, first used in line %d; the last value is used", first)
		}
		p := d.report(problem.DuplicateKey, f.Line, message, "remove the other values")
		p.Column, p.Key = f.Column, f.Key
	}
}

// checkText reports the first byte that is not UTF-8.
func (d *Document) checkText(data []byte, whole bool) {
	if utf8.Valid(data) {
		return
	}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			if !whole && !utf8.FullRune(data[i:]) {
				return // data ends within a character
			}
			line := bytes.LastIndexByte(data[:i], '\n') + 1
			p := d.report(problem.NotUTF8, 1+bytes.Count(data[:line], []byte("\n")), "invalid UTF-8",
				"save the file as UTF-8")
			p.Column = 1 + utf8.RuneCount(data[line:i])
			return
		}
		i += size
	}
}

// Get returns the last value of a top-level key.
func (m *Frontmatter) Get(key string) (Value, bool) {
	for i := len(m.Fields) - 1; i >= 0; i-- {
		if m.Fields[i].Key == key {
			return m.Fields[i].Value, true
		}
	}
	return Value{}, false
}

func (d *Document) description() string {
	v, _ := d.Get("description")
	return strings.TrimSpace(v.String())
}

// Description returns the description of the header without leading and trailing
// blanks, or else the first paragraph of the body. The text is valid UTF-8.
func Description(doc Document, body []byte) (string, Source) {
	if s := doc.description(); s != "" {
		return s, FromFrontmatter
	}
	s := doc.paragraph
	if s == "" {
		s, _ = markdown.FirstParagraph(body, true)
	}
	if s != "" {
		return strings.ToValidUTF8(s, "\uFFFD"), FromParagraph
	}
	return "", FromNone
}
