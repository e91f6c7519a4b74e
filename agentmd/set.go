package agentmd

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// edited returns the data of a file with one top-level field changed or added. Every other byte
// stays. Of several fields with the key, edited changes the last. If no edit keeps all other fields
// and the body, edited returns an error. If the path ends in ".toml", the whole file is the header,
// as for matter.ParseFile.
func edited(file string, data []byte, key, value string) ([]byte, error) {
	switch {
	case key == "":
		return nil, errors.New("the key is empty; name a field")
	case !utf8.ValidString(key + value):
		return nil, errors.New("the key or the value is not UTF-8; use UTF-8")
	}
	before, _ := matter.ParseFile(file, data, true)
	for _, p := range before.Problems {
		if before.Format == "" || p.Code == problem.FrontmatterInvalid ||
			p.Code == problem.FrontmatterRefused {
			return nil, fmt.Errorf("%s; %s", p.Message,
				cmp.Or(p.Suggestion, "correct the frontmatter first"))
		}
	}
	switch old, ok := before.Get(key); {
	case !ok:
	case old.Kind == matter.Mapping:
		return nil, errors.New("the value is a mapping; change its fields by hand")
	case old.Kind < matter.Sequence && old.Text == value:
		return bytes.Clone(data), nil
	}
	e := edit{file: file, data: data, before: &before, key: key, value: value,
		header: before.Start, headerEnd: before.Start + len(before.Header)}
	for changed := range e.candidates() {
		if e.keepsRest(changed) {
			return changed, nil
		}
	}
	return nil, errors.New("no edit of these lines keeps all other fields; change the field by hand")
}

// An edit changes one field of a file.
type edit struct {
	file       string
	data       []byte
	before     *matter.Document
	key, value string

	header, headerEnd int // offsets of the text between the fences
}

// candidates yields files in which the field may have the value, the best file first.
func (e *edit) candidates() iter.Seq[[]byte] {
	switch e.before.Format {
	case matter.YAML:
		return e.yaml
	case matter.TOML:
		return e.toml
	case matter.JSON:
		return e.json
	default:
		return func(yield func([]byte) bool) {
			e.replace(yield, e.header, e.header, "---\n"+e.yamlField()+"\n---\n")
		}
	}
}

// replace yields the file with a text in place of data[from:to], and returns the result of yield.
func (e *edit) replace(yield func([]byte) bool, from, to int, text string) bool {
	return yield(slices.Concat(e.data[:from], []byte(text), e.data[to:]))
}

// lineBreak returns the line break of the opening fence.
func (e *edit) lineBreak() string {
	if bytes.HasSuffix(e.data[:e.header], []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

func (e *edit) yaml(yield func([]byte) bool) {
	last := -1
	for i, f := range e.before.Fields {
		if f.Key == e.key {
			last = i
		}
	}
	if last < 0 {
		text := e.yamlField() + e.lineBreak()
		_ = e.replace(yield, e.headerEnd, e.headerEnd, text) && e.replace(yield, e.header, e.header, text)
		return
	}
	field := e.before.Fields[last]
	if field.Column != 1 {
		return
	}
	from, to := e.lines(e.before.Lines(field))
	notation, _, ok := matter.KeyLine(string(e.data[from:to]))
	if !ok {
		return
	}
	text := notation + " " + e.yamlScalar(field.Value)
	if end := e.end(from, to, field.Value); end < to && !e.replace(yield, from, end, text) {
		return
	}
	e.replace(yield, from, to, text)
}

// maxComments bounds the texts that end tries as a comment.
const maxComments = 4

// end returns the end of a value in data[from:to], before the comments that follow the value.
func (e *edit) end(from, to int, v matter.Value) int {
	last := to
	for {
		i := from + bytes.LastIndexByte(e.data[from:last], '\n')
		if line := bytes.TrimSpace(e.data[max(i, from):last]); i < from ||
			len(line) > 0 && line[0] != '#' {
			break
		}
		last = from + len(bytes.TrimSuffix(e.data[from:i], []byte("\r")))
	}
	if last < to && e.isComment(last, to) {
		to = last
	}
	begin := from + bytes.LastIndexByte(e.data[from:to], '\n') + 1
	if v.Kind >= matter.Sequence && begin > from {
		return to // the comment belongs to an item
	}
	tried := 0
	for _, at := range commentAfter.FindAllIndex(e.data[begin:to], -1) {
		if tried++; tried > maxComments {
			break
		}
		if e.isComment(begin+at[0], to) {
			return begin + at[0]
		}
	}
	return to
}

var commentAfter = regexp.MustCompile(`[ \t]+#`)

// isComment reports whether the file means the same without data[from:to].
func (e *edit) isComment(from, to int) bool {
	without := slices.Concat(e.data[:from], e.data[to:])
	after, _ := matter.ParseFile(e.file, without, true)
	return bytes.Equal(after.Text(without), e.before.Text(e.data)) &&
		equalValues(matter.LastValues(e.before.Fields), matter.LastValues(after.Fields))
}

// lines returns the offsets of lines of the file, without the last line break.
func (e *edit) lines(first, last int) (from, to int) {
	n := 0
	for line := range bytes.Lines(e.data) {
		if n++; n < first {
			from += len(line)
		}
		if n <= last {
			to += len(line)
		}
	}
	return from, from + len(bytes.TrimRight(e.data[from:to], "\r\n"))
}

// yamlField returns a line with the field.
func (e *edit) yamlField() string {
	key := e.key
	if got, _, ok := matter.TopLevelKey(key + ":"); !ok || got != key {
		key = quoteJSON(key)
	}
	return key + ": " + e.yamlScalar(matter.Value{})
}

// yamlScalar returns the value in YAML. A number replaces a number, and true and false have no
// quotes. All other values are text, in quotes if a reader of YAML 1.1 or 1.2 could read another
// type.
func (e *edit) yamlScalar(old matter.Value) string {
	read, _ := matter.Parse([]byte("---\nx: "+e.value+"\n---\n"), true)
	if !read.Plain || len(read.Fields) != 1 || read.Fields[0].Value.Text != e.value {
		return quoteJSON(e.value)
	}
	switch v := read.Fields[0].Value; v.Kind {
	case matter.Bool:
		return e.value
	case matter.Int, matter.Float:
		if old.Kind == matter.Int || old.Kind == matter.Float {
			return e.value
		}
	case matter.String:
		first, _ := utf8.DecodeRuneInString(e.value)
		if _, flag := v.Bool(); !flag && unicode.IsLetter(first) &&
			!strings.EqualFold(e.value, "y") && !strings.EqualFold(e.value, "n") {
			return e.value
		}
	}
	return quoteJSON(e.value)
}

// quoteJSON returns a string in JSON. YAML and TOML have the same notation.
func quoteJSON(s string) string { return string(escape.AppendJSON(nil, s)) }

// maxTOMLTried bounds the edits of a TOML header that edited tries: one edit for each line of the
// value, and for each line of a table that begins with the same key.
const maxTOMLTried = 64

func (e *edit) toml(yield func([]byte) bool) {
	key := e.key
	if !bareTOMLKey.MatchString(key) {
		key = quoteJSON(key)
	}
	text := key + " = " + quoteJSON(e.value)
	old, ok := e.before.Get(e.key)
	if ok && old.Kind < matter.String || e.value == "true" || e.value == "false" {
		text = key + " = " + e.value
	}
	number, tried := bytes.Count(e.data[:e.header], []byte("\n")), 0
	for line := range strings.Lines(string(e.data[e.header:e.headerEnd])) {
		number++
		name, _, found := strings.Cut(line, "=")
		if name = strings.TrimSpace(name); !found ||
			name != e.key && name != key && name != "'"+e.key+"'" {
			continue
		}
		for last := number; tried < maxTOMLTried; last++ {
			from, to := e.lines(number, last)
			if to > e.headerEnd {
				break
			}
			if end := e.end(from, to, old); end < to && !e.replace(yield, from, end, text) {
				return
			}
			if tried++; !e.replace(yield, from, to, text) {
				return
			}
		}
	}
	e.replace(yield, e.header, e.header, text+e.lineBreak()) // above all tables
}

var bareTOMLKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func (e *edit) json(yield func([]byte) bool) {
	header := e.data[e.header:e.headerEnd]
	d := json.NewDecoder(bytes.NewReader(header))
	if _, err := d.Token(); err != nil { // the opening brace
		return
	}
	start := int(d.InputOffset())
	from, to, fields := 0, 0, 0
	for ; d.More(); fields++ {
		name, err := d.Token()
		if err != nil {
			return
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return
		}
		if name == e.key {
			to = int(d.InputOffset())
			from = to - len(value)
		}
	}
	text := quoteJSON(e.value)
	if e.value == "true" || e.value == "false" {
		text = e.value
	}
	if to > 0 {
		e.replace(yield, e.header+from, e.header+to, text)
		return
	}
	if text = quoteJSON(e.key) + ": " + text; fields > 0 {
		text += ", "
	}
	e.replace(yield, e.header+start, e.header+start, text)
}

// keepsRest reports whether the field has the value in a changed file, and everything else is as
// before.
func (e *edit) keepsRest(changed []byte) bool {
	after, _ := matter.ParseFile(e.file, changed, true)
	value, ok := after.Get(e.key)
	if !ok || value.Kind >= matter.Sequence || value.Text != e.value ||
		len(after.Problems) > len(e.before.Problems) ||
		!bytes.Equal(after.Text(changed), e.before.Text(e.data)) {
		return false
	}
	was, is := matter.LastValues(e.before.Fields), matter.LastValues(after.Fields)
	delete(was, e.key)
	delete(is, e.key)
	return equalValues(was, is)
}

func equalValues(was, is map[string]matter.Value) bool {
	return maps.EqualFunc(was, is, func(v, other matter.Value) bool { return other.Equal(v) })
}
