package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf"
)

// The file of a store has one JSON object a line:
//
//	{"format":"toolshelf trust","version":2}
//	{"kind":"skill","name":"pdf","layer":"/p/.claude/skills","rules":"claude","file":"pdf/SKILL.md","digest":"skill-sha256:…","files":{"SKILL.md":"…"}}
//	{"kind":"command","name":"deploy","layer":"/p/.claude/commands","revoked":true}
//	{"sha256":"…","text":"# PDF\n…"}
//	{"end":"sha256:…"}
//
// A line with a kind is the decision about an item, the oldest decision first. A value of files is
// the SHA-256 of a text, whose line follows the decisions, or begins with "sha256:" if the approval
// had a digest in place of the text. A text of several files has one line. The last line has the
// SHA-256 of all lines above, so a truncated file is broken. An approval of version 1 has no rules
// and no file.
const (
	firstLine  = `{"format":"` + format + `","version":2}` + "\n"
	oldLine    = `{"format":"` + format + `","version":1}` + "\n"
	format     = "toolshelf trust"
	version    = 2
	textPrefix = `{"sha256":"`
	textMiddle = `","text":"`
)

const (
	maxFile  = 64 << 20 // bytes of the file
	maxTexts = 32 << 20 // bytes of all files and texts of approvals
	maxItem  = 4 << 20  // bytes of the texts of an item
	maxText  = 64 << 10 // bytes of a text
)

// A book is the content of the file. A book never changes.
type book struct {
	records []*record // oldest first
	byKey   map[toolshelf.Item]*record
	lines   map[string]string // the line of each text by its SHA-256
}

// A record is a decision. The fields are those of toolshelf.Item; without Rules, the approval is of
// version 1 and does not depend on Rules and File.
type record struct {
	Kind    exact            `json:"kind"`
	Name    exact            `json:"name"`
	Layer   exact            `json:"layer"`
	Plugin  exact            `json:"plugin,omitzero"`
	Rules   *exact           `json:"rules,omitempty"`
	File    exact            `json:"file,omitzero"`
	Digest  string           `json:"digest,omitempty"`
	Revoked bool             `json:"revoked,omitempty"`
	Files   map[exact]string `json:"files,omitempty"` // by path: the SHA-256 of a text, or "sha256:…"

	line string // of the file
}

// ended is the digest of an approval of version 1 that allows nothing.
const ended = filePrefix + "0000000000000000000000000000000000000000000000000000000000000000"

// A decision is a change of a book. A revocation is an item without its state.
type decision struct {
	item  toolshelf.Item
	texts map[string]string // by path
}

// key returns the item without its state.
func (r *record) key() toolshelf.Item {
	return toolshelf.Item{Kind: toolshelf.Kind(r.Kind.string), Name: r.Name.string,
		Layer: r.Layer.string, Plugin: r.Plugin.string}
}

// allows reports whether a record allows the state of an item.
func (r *record) allows(i toolshelf.Item) bool {
	return r != nil && r.Digest != "" && r.Digest == i.Digest &&
		(r.Rules == nil || r.Rules.string == i.Rules && r.File.string == i.File)
}

// is reports whether a record is the decision about the state of an item.
func (r *record) is(i toolshelf.Item) bool {
	return r != nil && (r.Revoked && i.Digest == "" || r.Rules != nil && r.allows(i))
}

// end ends an approval of version 1 of several files, of a file with its name, and in a plugin,
// whose files choose the rules.
func (r *record) end() {
	several := r.Plugin != exact{}
	for _, sum := range r.Files {
		sum, digest := strings.TrimPrefix(sum, filePrefix), strings.TrimPrefix(r.Digest, filePrefix)
		several = several || sum != digest
	}
	if several {
		r.Rules, r.Digest = new(exact), ended
	}
}

// A textLine is the JSON of a text.
type textLine struct {
	SHA256 string `json:"sha256"`
	Text   string `json:"text"`
}

// keyOf returns the item without its state.
func keyOf(i toolshelf.Item) toolshelf.Item {
	i.Rules, i.File, i.Digest = "", "", ""
	return i
}

// find returns the decision about an item, or nil.
func (b *book) find(i toolshelf.Item) *record { return b.byKey[keyOf(i)] }

// texts returns the texts of an approved item by path, or nil.
func (b *book) texts(i toolshelf.Item) map[string]string {
	r := b.find(i)
	if r == nil || len(r.Files) == 0 {
		return nil
	}
	texts := make(map[string]string, len(r.Files))
	for path, sum := range r.Files {
		if isFileDigest(sum) {
			texts[path.string] = sum
			continue
		}
		var line textLine
		if err := json.Unmarshal([]byte(b.lines[sum]), &line); err == nil && sumOf(line.Text) == sum {
			texts[path.string] = line.Text
		}
	}
	return texts
}

// with returns the book after decisions, or b if no decision changes the book. The last decision
// about an item counts.
func (b *book) with(decisions []decision) *book {
	changed := map[toolshelf.Item]decision{}
	var order []toolshelf.Item
	for _, d := range decisions {
		key := keyOf(d.item)
		if _, ok := changed[key]; !ok {
			order = append(order, key)
		}
		changed[key] = d
	}
	maps.DeleteFunc(changed, func(key toolshelf.Item, d decision) bool {
		return b.byKey[key].is(d.item)
	})
	if len(changed) == 0 {
		return b
	}
	next := &book{lines: maps.Clone(b.lines),
		byKey: make(map[toolshelf.Item]*record, len(b.records)+len(changed))}
	if next.lines == nil {
		next.lines = map[string]string{}
	}
	for _, r := range b.records {
		if _, ok := changed[r.key()]; !ok {
			next.add(r)
		}
	}
	for _, key := range order {
		if d, ok := changed[key]; ok {
			next.add(next.record(d))
		}
	}
	next.forget()
	return next
}

func (b *book) add(r *record) {
	b.records = append(b.records, r)
	b.byKey[r.key()] = r
}

// record returns the record of a decision, and adds its texts to the lines.
func (b *book) record(d decision) *record {
	i := d.item
	r := &record{Kind: exact{string(i.Kind)}, Name: exact{i.Name}, Layer: exact{i.Layer},
		Plugin: exact{i.Plugin}, File: exact{i.File}, Digest: i.Digest, Revoked: i.Digest == "",
		Files: make(map[exact]string, len(d.texts))}
	if !r.Revoked {
		r.Rules = &exact{i.Rules}
	}
	left := maxItem
	for _, path := range slices.Sorted(maps.Keys(d.texts)) {
		text := d.texts[path]
		sum := sumOf(text)
		switch {
		case isFileDigest(text):
			r.Files[exact{path}] = text
			continue
		case len(text) > min(maxText, left), !utf8.ValidString(text):
			r.Files[exact{path}] = filePrefix + sum
			continue
		}
		left -= len(text)
		r.Files[exact{path}] = sum
		if _, ok := b.lines[sum]; !ok {
			b.lines[sum] = lineOf(textLine{sum, text})
		}
	}
	r.line = lineOf(r)
	return r
}

// forget removes the texts without a file, and the files of the oldest records whose files and
// texts exceed the limit.
func (b *book) forget() {
	kept := map[string]string{}
	left := maxTexts
	for i, r := range slices.Backward(b.records) {
		if len(r.Files) == 0 {
			continue
		}
		size := len(r.line)
		added := map[string]string{}
		for _, sum := range r.Files {
			if line, ok := b.lines[sum]; ok && kept[sum] == "" && added[sum] == "" {
				added[sum] = line
				size += len(line)
			}
		}
		if size > left {
			forgotten := *r
			forgotten.Files = nil
			forgotten.line = lineOf(&forgotten)
			b.records[i], b.byKey[r.key()] = &forgotten, &forgotten
			continue
		}
		left -= size
		maps.Copy(kept, added)
	}
	b.lines = kept
}

// encode returns the content of the file.
func (b *book) encode() string {
	var text strings.Builder
	text.WriteString(firstLine)
	for _, r := range b.records {
		text.WriteString(r.line)
	}
	for _, sum := range slices.Sorted(maps.Keys(b.lines)) {
		text.WriteString(b.lines[sum])
	}
	text.WriteString(lastLine(text.String()))
	return text.String()
}

// lastLine returns the line after a text.
func lastLine(text string) string { return `{"end":"sha256:` + sumOf(text) + "\"}\n" }

// parse returns the book of a file. The lines of a book of an earlier load need no decoding. An error is
// ErrBroken or ErrNewer.
func parse(text string, earlier *book) (*book, error) {
	lines, err := checked(text)
	if err != nil {
		return nil, err
	}
	b := &book{byKey: map[toolshelf.Item]*record{}, lines: map[string]string{}}
	known := make(map[string]*record, len(earlier.records))
	for _, r := range earlier.records {
		known[r.line] = r
	}
	number := 1
	for line := range strings.Lines(lines) {
		number++
		if rest, ok := strings.CutPrefix(line, textPrefix); ok {
			sum := rest[:min(len(rest), 2*sha256.Size)]
			if !isSum(sum) || !strings.HasPrefix(rest[len(sum):], textMiddle) || b.lines[sum] != "" {
				return nil, damaged(number, "the line is not a text")
			}
			b.lines[sum] = line
			continue
		}
		r := new(record)
		if before := known[line]; before != nil {
			*r = *before
		} else if !r.parse(line) {
			return nil, damaged(number, "the line is not a decision")
		}
		r.line = line // the line of an earlier load keeps the text of that load
		if b.byKey[r.key()] != nil {
			return nil, damaged(number, "the line is not a decision")
		}
		b.add(r)
	}
	for i, r := range b.records {
		for _, sum := range r.Files {
			if b.lines[sum] == "" && !isFileDigest(sum) {
				return nil, damaged(i+2, "the line has a file without a text")
			}
		}
	}
	return b, nil
}

// checked returns the lines between the first and the last line of a file, which state the version
// and the checksum.
func checked(text string) (lines string, err error) {
	first, _, _ := strings.Cut(text, "\n")
	var header struct {
		Format  string
		Version int
	}
	switch err := json.Unmarshal([]byte(first), &header); {
	case err != nil || header.Format != format || header.Version < 1:
		return "", fmt.Errorf("%w: the first line is not the line of a store; move the file away, and approve the entries again", ErrBroken)
	case header.Version > version:
		return "", fmt.Errorf("%w, %d: update the program", ErrNewer, header.Version)
	}
	end := strings.LastIndexByte(strings.TrimSuffix(text, "\n"), '\n') + 1
	if first += "\n"; first != firstLine && first != oldLine || text[end:] != lastLine(text[:end]) {
		return "", damaged(1+strings.Count(text[:end], "\n"), "the checksum differs")
	}
	return text[len(first):end], nil
}

// parse reads a line, and reports whether the line is a decision.
func (r *record) parse(line string) bool {
	if err := json.Unmarshal([]byte(line), r); err != nil || r.Kind == (exact{}) ||
		r.Revoked != (r.Digest == "") || r.Digest != "" && !isDigest(r.Digest) {
		return false
	}
	for _, sum := range r.Files {
		if !isFileDigest(sum) && !isSum(sum) {
			return false
		}
	}
	if !r.Revoked && r.Rules == nil {
		r.end()
	}
	return true
}

func damaged(line int, problem string) error {
	return fmt.Errorf("%w: line %d: %s; move the file away, and approve the entries again", ErrBroken, line, problem)
}

// An exact is a string that survives JSON also if the string is not UTF-8. A name or a path has any
// bytes except NUL, so a NUL begins the quoted form.
type exact struct{ string }

// MarshalText implements encoding.TextMarshaler.
func (e exact) MarshalText() ([]byte, error) {
	if !utf8.ValidString(e.string) || strings.HasPrefix(e.string, "\x00") {
		return []byte("\x00" + strconv.Quote(e.string)), nil
	}
	return []byte(e.string), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (e *exact) UnmarshalText(text []byte) (err error) {
	e.string = string(text)
	if quoted, ok := strings.CutPrefix(e.string, "\x00"); ok {
		e.string, err = strconv.Unquote(quoted)
	}
	return err
}

// lineOf returns a value as a line of JSON.
func lineOf(value any) string {
	var line strings.Builder
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // the values are strings
	}
	return line.String()
}

// filePrefix begins the digest of a file.
const filePrefix = "sha256:"

// isFileDigest reports whether a text is the digest of a file.
func isFileDigest(text string) bool {
	sum, ok := strings.CutPrefix(text, filePrefix)
	return ok && isSum(sum)
}

// isDigest reports whether a text is the digest of an item: of a file, or of a list of a kind, as in "skill-sha256:…".
func isDigest(text string) bool {
	kind, sum, ok := strings.Cut(text, filePrefix)
	return ok && isSum(sum) && (kind == "" || strings.HasSuffix(kind, "-") && strings.Trim(kind, "abcdefghijklmnopqrstuvwxyz-") == "")
}

// isSum reports whether a text is a SHA-256 in hexadecimal digits.
func isSum(text string) bool {
	return len(text) == 2*sha256.Size && strings.Trim(text, "0123456789abcdef") == ""
}

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
