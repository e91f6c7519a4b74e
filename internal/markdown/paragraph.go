package markdown

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// FirstParagraph returns the first paragraph of a Markdown text (CommonMark 0.31 with the tables of
// GFM) as one line, with inline markup as written. FirstParagraph skips headings, lists, quotes,
// tables, code, HTML and link definitions. If whole is false, text is only the beginning of a longer
// text, and complete reports whether every longer text has the same first paragraph.
//
// FirstParagraph reads each line once, and distinguishes blocks only at the outermost level. The end
// of a container follows the rules of the specification for a container with paragraphs. Unlike
// Blocks, FirstParagraph recognizes HTML, tables and link definitions, and treats a deeply indented
// fence as indented code.
func FirstParagraph(text []byte, whole bool) (paragraph string, complete bool) {
	if !whole {
		text = text[:bytes.LastIndexByte(text, '\n')+1]
	}
	var s blocks
	for line := range bytes.Lines(text) {
		if s.line(bytes.TrimRight(line, "\r\n")) {
			return s.joined(), true
		}
	}
	if s.state == inParagraph && s.endParagraph() {
		return s.joined(), whole
	}
	return "", whole
}

type blockState uint8

const (
	between     blockState = iota
	inParagraph            // of the lines read so far
	inFence                // up to the closing fence
	inList                 // up to an unindented line after a blank line
	inQuote                // up to a blank line or another block
	inTable                // up to a blank line or another block
	inHTML                 // up to a line that contains until, or to a blank line if until is ""
)

// blocks is the state of a scan for the first paragraph.
type blocks struct {
	state  blockState
	lines  [][]byte // of the paragraph
	fence  []byte   // the opening fence, three or more of one character
	until  string
	indent int  // inList: of the text of the item
	empty  bool // inList: the item has no text yet
	// In inList and inQuote, the previous line belongs to a paragraph, which may continue without
	// indentation.
	lazy bool
}

// line reads the next line and reports whether a paragraph ended before the line.
func (s *blocks) line(line []byte) (done bool) {
	indent, rest := Columns(line, 0)
	if s.state == inParagraph {
		if taken, done := s.paragraphLine(indent, rest); taken || done {
			return done
		}
	} else if s.continues(indent, rest) {
		return false
	}
	s.state = between
	if len(rest) == 0 || indent >= 4 {
		return false // indented code
	}
	if next, ok := s.begin(indent, rest, false); ok {
		*s = next
		return false
	}
	s.state = inParagraph
	s.lines = append(s.lines[:0:0], rest)
	return false
}

// continues reports whether a line belongs to the block of the previous line.
func (s *blocks) continues(indent int, rest []byte) bool {
	blank := len(rest) == 0
	switch s.state {
	case inFence:
		if indent < 4 && ClosesFence(rest, s.fence) {
			s.state = between
		}
		return true
	case inHTML:
		if s.until == "" && blank || s.until != "" && containsFold(rest, s.until) {
			s.state = between
		}
		return true
	case inList:
		return s.listContinues(indent, rest)
	case inQuote:
		return s.lazy && s.isText(indent, rest)
	case inTable:
		return s.isText(indent, rest)
	default:
		return false
	}
}

func (s *blocks) listContinues(indent int, rest []byte) bool {
	switch {
	case len(rest) == 0:
		if s.empty { // an item begins with at most one blank line
			s.state = between
		}
		s.lazy = false
		return true
	case indent >= s.indent:
		s.empty = false
		s.lazy = isLazyText(rest, indent) && !(s.lazy && IsUnderline(rest))
		return true
	default:
		return s.lazy && s.isText(indent, rest)
	}
}

// isText reports whether a line can continue a paragraph or the rows of a table.
func (s *blocks) isText(indent int, rest []byte) bool {
	if len(rest) == 0 || indent >= 4 {
		return len(rest) > 0
	}
	_, block := s.begin(indent, rest, true)
	return !block
}

// paragraphLine reads the line after a line of a paragraph. It reports whether the
// line was taken, as a part of the same block, and whether the paragraph ended
// before the line.
func (s *blocks) paragraphLine(indent int, rest []byte) (taken, done bool) {
	switch {
	case indent < 4 && IsUnderline(rest):
		return s.endParagraph(), false // a heading, unless all lines are definitions
	case indent < 4 && isDelimiterRow(rest) && s.isText(indent, rest) &&
		cells(s.lines[len(s.lines)-1]) == cells(rest):
		s.lines = s.lines[:len(s.lines)-1]
		done = s.endParagraph()
		s.state = inTable
		return true, done
	case s.isText(indent, rest):
		s.lines = append(s.lines, rest)
		return true, false
	default:
		return false, s.endParagraph()
	}
}

// endParagraph removes the link definitions from the lines, and reports whether other
// lines are left.
func (s *blocks) endParagraph() bool {
	s.lines = stripDefinitions(s.lines)
	s.state = between
	return len(s.lines) > 0
}

func (s *blocks) joined() string {
	var b strings.Builder
	for i, line := range s.lines {
		line = bytes.TrimRight(line, " \t")
		if i < len(s.lines)-1 {
			line = bytes.TrimRight(bytes.TrimSuffix(line, []byte(`\`)), " \t")
		}
		if b.Len() > 0 && len(line) > 0 {
			b.WriteByte(' ')
		}
		b.Write(line)
	}
	return strings.TrimSpace(b.String())
}

// begin reports whether a line, indented by less than a code block, begins a block other than a
// paragraph, and returns the state after the line. If interrupting is true, the line follows text,
// and only the blocks that can interrupt text count.
func (s *blocks) begin(indent int, rest []byte, interrupting bool) (next blocks, ok bool) {
	fence := OpenFence(rest)
	switch {
	case IsHeading(rest), IsThematicBreak(rest):
		return next, true
	case len(fence) > 0:
		return blocks{state: inFence, fence: fence}, true
	case rest[0] == '>':
		return blocks{state: inQuote, lazy: isLazyText(rest, indent)}, true
	}
	if end, ok := htmlEnd(rest, interrupting); ok {
		if end == "" || !containsFold(rest, end) {
			next.state, next.until = inHTML, end
		}
		return next, true
	}
	marker := ListMarker(rest)
	if marker == 0 || interrupting && s.state == inParagraph && !InterruptsParagraph(rest, marker) {
		return next, false
	}
	width, _, text := ListItem(rest, marker, indent)
	return blocks{state: inList, indent: indent + width, empty: len(text) == 0,
		lazy: isLazyText(rest, indent)}, true
}

// isLazyText reports whether a line of a container belongs to a paragraph, which the
// next line can continue without the marker of the container.
func isLazyText(rest []byte, column int) bool {
	c := cursor{rest: string(rest), column: column, margin: column}
	r := reader{meter: new(Meter), yield: func(int, int, Kind) {}}
	if r.markers(&c) || c.rest == "" || c.indent() >= 4 || IsHeading(c.rest) ||
		OpenFence(c.rest) != "" {
		return false
	}
	_, html := htmlEnd([]byte(c.rest), false)
	return !html
}

// The elements that begin an HTML block (CommonMark, HTML blocks, start conditions 1 and 6): with
// their closing tag as the end, and in every position.
var (
	rawTags   = []string{"pre", "script", "style", "textarea"}
	blockTags = strings.Fields(`address article aside base basefont blockquote body caption center
		col colgroup dd details dialog dir div dl dt fieldset figcaption figure footer form frame
		frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link main menu menuitem nav
		noframes ol optgroup option p param search section summary table tbody td tfoot th thead
		title tr track ul`)
)

var (
	// The beginning of a tag, and the end of the tag or of its name.
	beginOfTag = regexp.MustCompile(`^<(/?)([A-Za-z][A-Za-z0-9-]*)(/?>|[ \t]|$)?`)
	// A complete tag alone in a line (start condition 7).
	tagAlone = regexp.MustCompile(`^<(?:/[A-Za-z][A-Za-z0-9-]*[ \t]*|[A-Za-z][A-Za-z0-9-]*(?:[ \t]+` +
		"[A-Za-z_:][^ \t=>/\"'<`]*" + // the name of an attribute
		"(?:[ \t]*=[ \t]*(?:\"[^\"]*\"|'[^']*'|[^ \t\"'=<>`]+))?)*" +
		`[ \t]*/?)>[ \t]*$`)
)

// htmlEnd reports whether a line begins an HTML block, and returns the text that a
// line must contain to end the block. The text is "" if a blank line ends the block.
// A complete tag alone in a line does not interrupt a paragraph.
func htmlEnd(rest []byte, interrupting bool) (end string, ok bool) {
	if len(rest) < 2 || rest[0] != '<' {
		return "", false
	}
	for _, special := range [...]struct{ begin, end string }{{"<!--", "-->"}, {"<?", "?>"},
		{"<![CDATA[", "]]>"}} {
		if bytes.HasPrefix(rest, []byte(special.begin)) {
			return special.end, true
		}
	}
	if rest[1] == '!' {
		return ">", len(rest) > 2 && isLetter(rest[2])
	}
	tag := beginOfTag.FindSubmatch(rest)
	if tag == nil {
		return "", false
	}
	name, bounded := strings.ToLower(string(tag[2])), tag[3] != nil
	switch {
	case bounded && len(tag[1]) == 0 && string(tag[3]) != "/>" && slices.Contains(rawTags, name):
		return "</" + name + ">", true
	case bounded && slices.Contains(blockTags, name):
		return "", true
	}
	return "", !interrupting && tagAlone.Match(rest)
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// containsFold reports whether line contains the lower-case text s in any case.
func containsFold(line []byte, s string) bool {
	if s[0] == '<' {
		line = bytes.ToLower(line)
	}
	return bytes.Contains(line, []byte(s))
}

// delimiterRow matches dashes, optional colons and optional bars.
var delimiterRow = regexp.MustCompile(`^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$`)

// isDelimiterRow reports whether a line is the second line of a table.
func isDelimiterRow(rest []byte) bool {
	return len(rest) > 0 && strings.IndexByte("|:-", rest[0]) >= 0 &&
		bytes.ContainsAny(rest, "|:") && delimiterRow.Match(rest)
}

// cells returns the number of columns of a table row. The bars at both ends are optional.
func cells(row []byte) int {
	text := strings.TrimPrefix(string(bytes.TrimSpace(row)), "|")
	n := 1 + strings.Count(text, "|") - strings.Count(text, `\|`)
	if strings.HasSuffix(text, "|") && !strings.HasSuffix(text, `\|`) {
		n--
	}
	return n
}

// definition matches a link reference definition: a label, a destination and an
// optional title. Each part is on the line of the previous part or on the next line.
var definition = regexp.MustCompile(`(?s)^\[[ \t\n]*(?:[^\[\]\\ \t\n]|\\.)(?:[^\[\]\\]|\\.)*\]:[ \t]*\n?[ \t]*` +
	`(?:<(?:[^<>\\\n]|\\[^\n])*>|[^ \t\n<][^ \t\n]*)` +
	`(?:(?:[ \t]+|[ \t]*\n[ \t]*)(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)))?[ \t]*\n`)

// stripDefinitions removes the link reference definitions at the beginning of a
// paragraph.
func stripDefinitions(lines [][]byte) [][]byte {
	if len(lines) == 0 || lines[0][0] != '[' {
		return lines
	}
	text := append(bytes.Join(lines, []byte("\n")), '\n')
	for {
		found := definition.FindIndex(text)
		if found == nil {
			return lines
		}
		lines = lines[bytes.Count(text[:found[1]], []byte("\n")):]
		text = text[found[1]:]
	}
}
