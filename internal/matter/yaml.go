package matter

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/adrg/frontmatter"
	"go.yaml.in/yaml/v3"

	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// MaxDepth is the number of levels of a header. Parse refuses a deeper header. Public headers
// have a depth of 6.
const MaxDepth = 100

// A scope is the header around the texts that strictYAML reads. The scope bounds the text and the
// values that the header may gain beyond its own characters through aliases and compound keys.
// Without the bound, 60 KB of aliases expand to 95 MB, and each level of a compound key doubles the
// quotes of the level below. Public headers hardly ever contain aliases or compound keys.
type scope struct {
	header string
	values int
	bytes  int
	marks  map[string]bool // the words of the header that begin like an anchor or an alias
	asYAML bool            // without the texts of meant
}

// newScope returns a header with the bound of its own length and 4 KB.
func newScope(header string) *scope {
	return &scope{header: header, values: 2_000, bytes: len(header) + 4<<10}
}

// take reports false if the header is larger than the bound.
func (s *scope) take(values, bytes int) bool {
	s.values -= values
	s.bytes -= bytes
	return s.values >= 0 && s.bytes >= 0
}

// isShared reports whether a text has an anchor with an alias in the header, or an alias with an
// anchor. In quotes, the anchor and the alias would lose their meaning.
func (s *scope) isShared(text string) bool {
	if strings.IndexByte(s.header, '&') < 0 || strings.IndexByte(s.header, '*') < 0 {
		return false
	}
	if s.marks == nil {
		s.marks = make(map[string]bool)
		for word := range strings.FieldsFuncSeq(s.header, endsMark) {
			if len(word) > 1 && (word[0] == '&' || word[0] == '*') {
				s.marks[word] = true
			}
		}
	}
	for word := range strings.FieldsFuncSeq(text, endsMark) {
		if word[0] == '&' && s.marks["*"+word[1:]] || word[0] == '*' && s.marks["&"+word[1:]] {
			return true
		}
	}
	return false
}

// endsMark reports a character that no anchor and no alias contains.
func endsMark(r rune) bool { return strings.ContainsRune(" \t\r\n[]{},", r) }

// maxTries is the number of keys of a broken header to parse as YAML. Parsing takes
// about ten microseconds per key. The values of further keys are read as text. Real
// headers have a dozen keys.
const maxTries = 256

var errRefused = errors.New("nested too deeply, or too large after alias expansion")

const refused = "the frontmatter is nested too deeply, or too large after alias expansion"

// decodeYAML sets the fields. If the text between the fences is not a mapping,
// decodeYAML returns false: the fences are thematic breaks and the text is body.
func (d *Document) decodeYAML(scanner *Scanner) bool {
	s := &scanner.subset
	verdict := s.read(d.Header, d.Line+1, scanner.keys)
	if verdict == certain {
		d.Fields = s.fields
		d.Plain = scanner.keys == nil
		if !scanner.shared {
			d.Fields = slices.Clone(s.fields)
		}
		return true
	}
	text, standIns := d.printable()
	defer func() { asWritten(d.Fields, standIns) }()
	whole := newScope(text)
	fields, problems, err := []Field(nil), []problem.Problem(nil), errInvalid
	if verdict == unsure {
		fields, problems, err = strictYAML(text, d.Line+1, whole)
	}
	switch {
	case err == nil:
		d.Fields, d.Problems = fields, append(d.Problems, problems...)
		return true
	case errors.Is(err, errNotMapping):
		d.report(problem.FrontmatterNotAMapping, d.Line,
			`the text between the lines "---" contains no fields and is part of the content`,
			`write fields as "key: value", or begin the file with a line other than "---"`)
		return false
	}
	recovered, broken := d.recover(text, repairer{scope: whole, subset: s})
	if len(recovered) == 0 && d.decodeIndented(text, whole) {
		return true
	}
	if len(recovered) == 0 {
		if looksLikeHeader([]byte(text), YAML) {
			d.report(problem.FrontmatterNotAMapping, d.Line,
				"the frontmatter is not valid YAML and is part of the content", "")
		}
		return false
	}
	if errors.Is(err, errRefused) {
		d.report(problem.FrontmatterRefused, d.Line, refused,
			"replace aliases by values, and use fewer levels")
	} else if !broken {
		d.report(problem.FrontmatterRecovered, d.Line,
			"the frontmatter is not valid YAML; each field is read separately", "")
	}
	d.Fields = recovered
	return true
}

// decodeIndented reads a header in which a tab precedes all keys.
func (d *Document) decodeIndented(text string, whole *scope) bool {
	widths, tab := tabWidths(text)
	for _, width := range widths {
		if tab == 0 {
			break
		}
		fields, _, err := strictYAML(retab(text, width), d.Line+1, whole)
		if err == nil && len(fields) > 0 {
			d.Fields = fields
			d.report(problem.FrontmatterRecovered, d.Line+tab, tabMessage,
				fmt.Sprintf("replace each tab at the beginning of a line with %d blanks", width)).Column = 1
			return true
		}
	}
	return false
}

const tabMessage = "the line is indented with a tab, which YAML does not allow; " +
	"the tab is read as blanks"

// printable returns the header for the libraries: with U+FFFD in place of invalid UTF-8 and of the
// control characters below U+0020, and with stand-ins of other characters, which asWritten
// replaces. Line breaks are kept.
func (d *Document) printable() (text string, standIns bool) {
	if isPrintable(d.Header) {
		return d.Header, false
	}
	// An escape of a stand-in.
	ambiguous := strings.ContainsFunc(d.Header, isStandIn) || strings.Contains(d.Header, `\U0010`)
	reported := false
	var b strings.Builder
	for i := 0; i < len(d.Header); {
		r, size := utf8.DecodeRuneInString(d.Header[i:])
		if !reported && (isControl(r) || isSpecial(r) && r != 0x85 && r>>8 != 0x20) {
			reported = true
			line := d.Header[strings.LastIndexByte(d.Header[:i], '\n')+1 : i]
			number := d.Line + 1 + strings.Count(d.Header[:i], "\n")
			p := d.report(problem.ControlCharacter, number, "the character "+
				strconv.QuoteRuneToASCII(r)+" is not allowed in frontmatter", "remove the character")
			p.Column = 1 + utf8.RuneCountInString(line)
		}
		i += size
		switch {
		case isControl(r) || isSpecial(r) && ambiguous:
			r = utf8.RuneError
		case isSpecial(r):
			r, standIns = r+standIn, true
		}
		b.WriteRune(r)
	}
	return b.String(), standIns
}

// isPrintable reports whether the libraries read a header of ASCII characters as it is.
func isPrintable(header string) bool {
	return !strings.ContainsFunc(header, func(r rune) bool { return isControl(r) || r >= 0x7f })
}

func isControl(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' }

// isSpecial reports whether the YAML library rejects a character, or reads the character as a line
// break of YAML 1.1. The npm package yaml 2.9.1, which several clients use, keeps each as written.
func isSpecial(r rune) bool {
	return r >= 0x7f && r <= 0x9f || r == 0x2028 || r == 0x2029 || r == 0xFFFE || r == 0xFFFF
}

// A special character plus standIn is a character for private use, which the libraries keep.
const standIn = 0x100000

func isStandIn(r rune) bool { return r >= standIn && isSpecial(r-standIn) }

// asWritten replaces the stand-ins of printable, if any, in all keys and values.
func asWritten(fields []Field, standIns bool) []Field {
	if standIns {
		for i := range fields {
			fields[i].Key = special(fields[i].Key)
			valueAsWritten(&fields[i].Value)
		}
	}
	return fields
}

func valueAsWritten(v *Value) {
	v.Text = special(v.Text)
	asWritten(v.Fields(), true)
	for i := range v.Items() {
		valueAsWritten(&v.Items()[i])
	}
}

func special(s string) string {
	return strings.Map(func(r rune) rune {
		if isStandIn(r) {
			r -= standIn
		}
		return r
	}, s)
}

var (
	errNotMapping = errors.New("not a mapping")
	errInvalid    = errors.New("not YAML")
)

// AsYAML returns the fields of a header as other readers of YAML see the fields: a
// description ends before a comment. For a header that is not valid YAML, AsYAML
// returns d.Fields.
func (d *Document) AsYAML() []Field {
	if d.Format != YAML || len(d.Problems) == 0 {
		return d.Fields
	}
	text, standIns := (&Document{Frontmatter: Frontmatter{Header: d.Header}}).printable()
	whole := newScope(text)
	whole.asYAML = true
	fields, _, err := strictYAML(text, d.Line+1, whole)
	if err != nil {
		return d.Fields
	}
	return asWritten(fields, standIns)
}

// strictYAML reads a text that is valid YAML. line is the line of the text in the
// file.
func strictYAML(text string, line int, whole *scope) ([]Field, []problem.Problem, error) {
	if tooDeep(text) {
		return nil, nil, errRefused
	}
	node, err := parseYAML(text)
	if err != nil {
		return nil, nil, err
	}
	if node.Kind == 0 { // empty, or comments only
		return nil, nil, nil
	}
	root := node.Content[0]
	if root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null" && root.Value == "" {
		return nil, nil, nil
	}
	if root.Kind == yaml.ScalarNode {
		for range chunks(text, 0) {
			return nil, nil, errInvalid // quotes of different fields enclose the keys between the fields
		}
	}
	if root.Kind != yaml.MappingNode {
		return nil, nil, errNotMapping
	}
	c := converter{line: line - 1, cuts: cuts{scope: whole, text: []byte(text), line: line - 1}}
	v, err := c.value(root, 0)
	c.literals(v.Fields()[:c.own], text)
	return v.Fields(), c.cuts.found, err
}

// Nodes returns the nodes of a header that is valid YAML, the text that the YAML library reads,
// and the offsets of the lines of the text. For other headers, root is nil. Nodes reads the
// header again, because Parse does not keep the nodes.
func (d *Document) Nodes() (root *yaml.Node, text []byte, lines []int) {
	header, _ := (&Document{Frontmatter: Frontmatter{Header: d.Header}}).printable()
	if d.Format != YAML || tooDeep(header) {
		return nil, nil, nil
	}
	node, err := parseYAML(header)
	if err != nil || node.Kind == 0 {
		return nil, nil, nil
	}
	text = []byte(header)
	return node.Content[0], text, yamlLines(text)
}

// yamlLines returns the offsets of the lines of a text, by the line breaks of YAML
// 1.1.
func yamlLines(text []byte) []int {
	lines := []int{0}
	for i, r := range string(text) {
		switch {
		case r == '\r' && i+1 < len(text) && text[i+1] == '\n':
		case r == '\r', r == '\n', r == '\u0085', r == '\u2028', r == '\u2029':
			lines = append(lines, i+utf8.RuneLen(r))
		}
	}
	return lines
}

// tooDeep reports brackets that are nested deeper than MaxDepth. The check precedes
// the parser.
func tooDeep(text string) bool {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '[', '{':
			if depth++; depth > MaxDepth {
				return true
			}
		case ']', '}':
			depth = max(depth-1, 0)
		}
	}
	return false
}

// parseYAML decodes a header into nodes. The frontmatter package ends a header at the first
// line that is the fence without the blanks around the line. A header can contain such a line,
// in a text of several lines, so the fence has more hyphens than each run of hyphens in the
// header.
func parseYAML(text string) (*yaml.Node, error) {
	run, longest := 0, 2
	for i := range len(text) {
		if run++; text[i] != '-' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("-", longest+1)
	end := fence
	if !strings.HasSuffix(text, "\n") { // another line break would change a last value after |+
		end = "\n" + fence
	}
	file := io.MultiReader(strings.NewReader(fence+"\n"), strings.NewReader(text),
		strings.NewReader(end))
	node := new(yaml.Node)
	_, err := frontmatter.Parse(file, node, frontmatter.NewFormat(fence, fence, unmarshalOne))
	return node, err
}

var errDocuments = errors.New("more than one document")

// unmarshalOne decodes a text with a single document. yaml.Unmarshal decodes only
// the first document and silently drops the text after a line "...".
func unmarshalOne(text []byte, v any) error {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	err := decoder.Decode(v)
	if err == nil {
		if err = decoder.Decode(new(yaml.Node)); err == nil {
			return errDocuments
		}
	}
	if err == io.EOF { // an empty text, or the end after one document
		return nil
	}
	return err
}

// A converter turns nodes into values.
type converter struct {
	line int // added to a node's line

	aliases int // number of aliases around the current value
	own     int // number of fields of the top-level mapping without merged fields
	cuts    cuts
}

func (c *converter) value(n *yaml.Node, depth int) (Value, error) {
	if n.Style&yaml.FlowStyle != 0 {
		c.cuts.flow++
		defer func() { c.cuts.flow-- }()
	}
	if depth > MaxDepth {
		return Value{}, errRefused
	}
	if c.aliases > 0 && !c.cuts.take(1, len(n.Value)) {
		return Value{}, errRefused
	}
	switch n.Kind {
	case yaml.AliasNode:
		c.aliases++
		defer func() { c.aliases-- }()
		return c.value(n.Alias, depth+1)
	case yaml.SequenceNode:
		v := sequence(nil)
		for _, item := range n.Content {
			i, err := c.value(item, depth+1)
			if err != nil {
				return v, err
			}
			v.items = append(v.items, i)
		}
		return v, nil
	case yaml.MappingNode:
		return c.mapping(n, depth)
	default:
		if c.aliases == 0 {
			if text := c.cuts.look(n, depth == 1); text != "" {
				return Value{Kind: String, Text: text}, nil
			}
		}
		return Value{Kind: scalarKind(n), Text: n.Value}, nil
	}
}

func (c *converter) mapping(n *yaml.Node, depth int) (Value, error) {
	v := mapping(nil)
	var merged []Field
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if depth == 0 {
			c.cuts.key = k.Value
		}
		value, err := c.value(n.Content[i+1], depth+1)
		if err != nil {
			return v, err
		}
		if k.Tag == "!!merge" && mergeable(value) {
			merged = append(merged, value.Fields()...)
			for _, item := range value.Items() {
				merged = append(merged, item.Fields()...)
			}
			continue
		}
		c.cuts.flow++ // quotes around the whole key and value would lose the key
		key, err := c.value(k, depth+1)
		c.cuts.flow--
		if err != nil {
			return v, err
		}
		name := key.Text
		if key.Kind == Sequence || key.Kind == Mapping {
			name = string(key.AppendJSON(nil))
			if !c.cuts.take(0, len(name)) {
				return v, errRefused
			}
		}
		v.fields = append(v.fields,
			Field{Key: name, Line: c.line + k.Line, Column: k.Column, Value: value})
	}
	if depth == 0 {
		c.own = len(v.fields)
	}
	if len(merged) == 0 {
		return v, nil
	}
	// Keys of the mapping precede merged keys, and earlier merges precede later merges.
	own := make(map[string]bool, len(v.fields)+len(merged))
	for _, f := range v.fields {
		own[f.Key] = true
	}
	for _, f := range merged {
		if !own[f.Key] {
			own[f.Key] = true
			v.fields = append(v.fields, f)
		}
	}
	return v, nil
}

const quotedStyles = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle |
	yaml.FoldedStyle

func scalarKind(n *yaml.Node) Kind {
	if n.Style&quotedStyles != 0 {
		return String
	}
	switch n.ShortTag() {
	case "!!null":
		return Null
	case "!!bool":
		return Bool
	case "!!int":
		return Int
	case "!!float":
		return Float
	default:
		// More than 64 bits, which the YAML library reads as text.
		if n.Style == 0 && isBaseInteger(n.Value) {
			return Int
		}
		return String
	}
}

// literals sets the Text of top-level lists and mappings in brackets to the
// original text, as in argument-hint: [file]. literals reports a comment after the
// closing bracket that resembles text.
func (c *converter) literals(fields []Field, text string) {
	var lines []string
	for i := range fields {
		f := &fields[i]
		// If a line of a mapping in brackets contains several fields, only the first
		// key can be at the beginning of the line.
		if f.Value.Kind != Sequence && f.Value.Kind != Mapping || f.Column != 1 {
			continue
		}
		if lines == nil {
			lines = strings.Split(text, "\n")
		}
		at := f.Line - c.line - 1
		if at >= len(lines) {
			return // in YAML, a lone carriage return is a line break
		}
		key, value, ok := TopLevelKey(lines[at])
		if !ok || key != f.Key || len(value) == 0 || value[0] != '[' && value[0] != '{' {
			continue
		}
		end := len(lines)
		for _, next := range fields[i+1:] {
			if next.Line > f.Line {
				end = min(end, next.Line-c.line-1)
				break
			}
		}
		parts := []string{value}
		for _, line := range lines[at+1 : max(end, at+1)] {
			if line = strings.TrimSpace(line); len(line) > 0 && line[0] != '#' {
				parts = append(parts, line)
			}
		}
		literal, rest := bracketed(strings.Join(parts, " "))
		f.Value.Text = literal
		if len(literal) <= len(value) {
			comment := strings.TrimLeft(rest[:len(value)-len(literal)], " \t")
			if text := c.cuts.lookAfter(*f, lines[at], value, comment); text != "" {
				f.Value = Value{Kind: String, Text: text}
			}
		}
	}
}

// bracketed splits a text after the bracket that closes the first bracket. The
// rest is a comment or the text of other fields, because the text is YAML.
func bracketed(text string) (literal, rest string) {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"' || c == '\'':
			// In a plain scalar, a quote is an ordinary character.
			if strings.IndexByte(" ,[{:", text[i-1]) >= 0 {
				i = AfterQuote(text, i) - 1
			}
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			if depth--; depth == 0 {
				return text[:i+1], text[i+1:]
			}
		}
	}
	return text, ""
}

// AfterQuote returns the offset after the quoted text at i, or the length of the text.
func AfterQuote[T string | []byte](text T, i int) int {
	for j := i + 1; j < len(text); j++ {
		switch quote := text[i]; {
		case text[j] == '\\' && quote == '"':
			j++
		case text[j] != quote:
		case quote == '\'' && j+1 < len(text) && text[j+1] == quote:
			j++
		default:
			return j + 1
		}
	}
	return len(text)
}

// TopLevelKey splits a line that begins with a key at column 0. A key is a text in
// quotes without quotes and backslashes, or words with single spaces between the
// words.
func TopLevelKey(line string) (key, value string, ok bool) {
	line = strings.TrimRight(line, " \t\r\n")
	key, rest := cutQuotedKey(line)
	if key == "" {
		key, rest = cutPlainKey(line)
	}
	value, ok = strings.CutPrefix(strings.TrimLeft(rest, " \t"), ":")
	if key == "" || !ok || value != "" && value[0] != ' ' && value[0] != '\t' {
		return "", "", false
	}
	return key, strings.TrimLeft(value, " \t"), true
}

func cutQuotedKey(line string) (key, rest string) {
	if line == "" || line[0] != '"' && line[0] != '\'' {
		return "", line
	}
	key, rest, ok := strings.Cut(line[1:], line[:1])
	if !ok || line[0] == '"' && strings.Contains(key, `\`) {
		return "", line
	}
	return key, rest
}

func cutPlainKey(line string) (key, rest string) {
	if r, _ := utf8.DecodeRuneInString(line); !unicode.IsLetter(r) && !unicode.IsNumber(r) &&
		r != '_' && r != '$' {
		return "", line
	}
	end := 0
	for end < len(line) &&
		(!endsWord(line[end]) || line[end] == ' ' && end+1 < len(line) && !endsWord(line[end+1])) {
		end++
	}
	return line[:end], line[end:]
}

// endsWord reports whether a character ends a word of a key.
func endsWord(c byte) bool { return strings.IndexByte(":#\"' \t\n\f\r", c) >= 0 }

// recover reads invalid YAML key by key. Each field is parsed as YAML by itself. If
// the field is invalid, repairer.repair reads the field. broken is false if each field
// is valid.
func (d *Document) recover(text string, r repairer) (fields []Field, broken bool) {
	fields = make([]Field, 0, 4)
	for c := range chunks(text, d.Line) {
		if len(fields) == 0 {
			if line := d.Line + firstText(text); line < c.line {
				broken = true
				d.reportStray(line)
			}
		}
		f, problems, err := r.field(c)
		broken = broken || err != nil
		if err != nil && !errors.Is(err, errRefused) {
			whole := c.text
			if read, p, ok := r.prose(&c); ok {
				f, problems, err = read, []problem.Problem{p}, nil
			} else if value, line := cutStray(whole); line > 0 {
				c.text, c.stray = value, whole[len(value):]
				f, problems, err = r.field(c)
			}
			if c.stray != "" {
				d.reportStray(c.line + strings.Count(whole[:len(whole)-len(c.stray)], "\n"))
			}
		}
		if err != nil {
			problems = make([]problem.Problem, 1)
			f, problems[0] = r.repair(c, err)
		}
		fields = append(fields, f)
		d.Problems = append(d.Problems, problems...)
	}
	return fields, broken
}

// reportStray reports a line that recover does not read.
func (d *Document) reportStray(line int) {
	d.report(problem.FrontmatterRecovered, line, "the line belongs to no field",
		`remove the line, or write a key, ":" and a blank before the text`).Column = 1
}

// firstText returns the number of the first line that is neither blank nor a comment.
func firstText(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			break
		}
	}
	return n
}

// A chunk is the text of a header from a top-level key to the next.
type chunk struct {
	key   string
	text  string
	line  int    // in the file
	stray string // lines after the text that belong to no field
}

// chunks splits a header at the lines with a top-level key. The text before the
// first of these lines belongs to no chunk. The examples of a description, and the
// headings above the examples, belong to its chunk. above is the line above the text.
func chunks(text string, above int) iter.Seq[chunk] {
	return func(yield func(chunk) bool) {
		var c chunk
		line, from, at := above, -1, 0
		examples := exampleReader{text: text}
		for l := range strings.Lines(text) {
			line++
			end := at + len(l)
			if key, value, ok := TopLevelKey(l); ok && at >= examples.end &&
				!(isProse(c.key) && isHeading(key, value, text[end:])) {
				c.text = text[max(from, 0):at]
				if from >= 0 && !yield(c) {
					return
				}
				c.key, c.line, from = key, line, at
			}
			if isProse(c.key) {
				examples.read(at, end)
			}
			at = end
		}
		c.text = text[max(from, 0):at]
		if from >= 0 {
			yield(c)
		}
	}
}

// mergeable reports whether "<<" with this value merges fields. With any other
// value, "<<" is an ordinary key.
func mergeable(v Value) bool {
	if v.Kind != Sequence {
		return v.Kind == Mapping
	}
	return !slices.ContainsFunc(v.Items(), func(item Value) bool { return item.Kind != Mapping })
}
