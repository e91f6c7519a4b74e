package grep

import (
	"bytes"
	"context"
	"io"

	"github.com/toolshelf-go/toolshelf/internal/text"
)

// A Request limits the result of a search.
type Request struct {
	Lines   int  // number of matching lines to return
	Context int  // number of lines to return before and after each matching line
	Stop    bool // end the search after the first matching line
}

// A Line is a matching line.
type Line struct {
	Number        int    // from 1
	Column        int64  // bytes of the line in the file before the match
	Text          string // the line in UTF-8, or a part of the line around the match
	TextColumn    int64  // bytes of the line in the file before Text
	Truncated     bool   // the line continues after Text
	Before, After []string
}

// Found is the result of a search.
type Found struct {
	Lines []Line
	Total int // number of matching lines
	Long  int // number of lines of which the search covers only the beginning, see text.Block
}

// Search searches a text. Search checks ctx before each block and within a block whose search
// takes long. The errors are the error of ctx and the errors of [text.Blocks.Next].
//
// Before and After contain the lines next to the matching line that do not match and are not in
// After of the previous matching line.
func (p *Pattern) Search(ctx context.Context, blocks *text.Blocks, q Request) (Found, error) {
	s := search{Pattern: p, matcher: matcher{ctx: ctx}, request: q}
	if len(p.needles) > 0 {
		s.finders = make([]finder, len(p.needles))
		for i := range p.needles {
			s.finders[i].needle = &p.needles[i]
		}
	}
	for {
		if err := ctx.Err(); err != nil {
			return Found{}, err
		}
		block, err := blocks.Next()
		if err == io.EOF {
			return s.found, nil
		} else if err != nil {
			return Found{}, err
		}
		s.format = blocks.Format()
		s.terminator = s.format.Terminator()
		s.add(block)
		if s.matcher.err != nil {
			return Found{}, s.matcher.err
		}
		if s.ends() {
			return s.found, nil
		}
	}
}

// A search is a call of Search.
type search struct {
	*Pattern
	matcher    matcher
	request    Request
	finders    []finder
	format     text.Format
	terminator byte

	found Found
	// Number of lines before the rest of the block; not counted once all requested lines are known.
	line   int
	before []string // the last lines without a match, for Before
	after  int      // number of lines to add to After of the last match
}

// add searches a block.
func (s *search) add(b text.Block) {
	if b.Cut {
		s.found.Long++
	}
	for i := range s.finders {
		s.finders[i].reset()
	}
	rest := 0 // offset of the lines that follow the last match
	for rest < len(b.Text) {
		start, end, match := s.next(b.Text, rest)
		if match < 0 {
			break
		}
		s.pass(b.Text[rest:start])
		s.found.Total++
		s.after = 0
		if s.collects() {
			s.line++
			s.found.Lines = append(s.found.Lines, s.newLine(b.Text[start:end], match, b.Cut))
			s.after, s.before = s.request.Context, nil
		}
		if s.ends() {
			return
		}
		rest = s.lineEnd(b.Text, end)
	}
	if !b.Last || s.after > 0 { // in most files, no line break needs to be counted
		s.pass(b.Text[rest:])
	}
	if b.Cut && rest == 0 {
		s.line++ // the block has no line break
	}
}

// collects reports whether the next matching line is a part of the result.
func (s *search) collects() bool { return len(s.found.Lines) < s.request.Lines }

// ends reports whether the search ends before the end of the text.
func (s *search) ends() bool { return s.request.Stop && s.found.Total > 0 }

// next finds the first matching line in the lines from rest: its start, its end without the line
// break, and the offset of the match in the line. Without a matching line, and after the end of
// the context, match is -1.
func (s *search) next(block []byte, rest int) (start, end, match int) {
	for rest < len(block) && s.matcher.err == nil {
		at := s.candidate(block, rest)
		start = rest + bytes.LastIndexByte(block[rest:at], s.terminator) + 1
		if start == len(block) {
			break
		}
		lineEnd := s.lineEnd(block, at)
		end = s.contentEnd(block, start, lineEnd)
		if match = s.match(block[start:end], at-start); match >= 0 {
			return start, end, match
		}
		rest = lineEnd
	}
	return 0, 0, -1
}

// candidate returns an offset in the first line from rest that may match, or len(block).
func (s *search) candidate(block []byte, rest int) int {
	if len(s.finders) == 0 {
		return rest
	}
	at := len(block)
	for i := range s.finders {
		at = min(at, s.finders[i].next(block, rest))
	}
	return at
}

// match returns the offset of the match in a line, or -1. at is the offset of the candidate.
func (s *search) match(line []byte, at int) int {
	if s.exact {
		if at+len(s.needles[0].text) <= len(line) {
			return at
		}
		return -1
	}
	return s.matcher.find(s.Pattern.line, s.group, line, s.steps)
}

// lineEnd returns the end of the line that contains an offset, with the line break.
func (s *search) lineEnd(block []byte, at int) int {
	if i := bytes.IndexByte(block[at:], s.terminator); i >= 0 {
		return at + i + 1
	}
	return len(block)
}

// contentEnd returns the end of a line without the line break.
func (s *search) contentEnd(block []byte, start, end int) int {
	if end > start && block[end-1] == s.terminator {
		end--
		if s.terminator == '\n' && end > start && block[end-1] == '\r' {
			end--
		}
	}
	return end
}

// pass passes lines without a match.
func (s *search) pass(lines []byte) {
	if !s.collects() && s.after == 0 {
		return
	}
	s.line += bytes.Count(lines, []byte{s.terminator})
	if s.request.Context == 0 {
		return
	}
	for s.after > 0 && len(lines) > 0 {
		end := s.lineEnd(lines, 0)
		last := &s.found.Lines[len(s.found.Lines)-1]
		last.After = append(last.After, excerptOfContext(lines[:s.contentEnd(lines, 0, end)]))
		lines = lines[end:]
		s.after--
	}
	if s.collects() {
		s.keepBefore(lines)
	}
}

// keepBefore keeps the last lines for Before of the next match.
func (s *search) keepBefore(lines []byte) {
	begin, n := len(lines), 0
	for ; begin > 0 && n < s.request.Context; n++ {
		begin = bytes.LastIndexByte(lines[:begin-1], s.terminator) + 1
	}
	if more := len(s.before) + n - s.request.Context; more > 0 {
		s.before = s.before[more:]
	}
	for begin < len(lines) {
		end := s.lineEnd(lines, begin)
		s.before = append(s.before, excerptOfContext(lines[begin:s.contentEnd(lines, begin, end)]))
		begin = end
	}
}

func (s *search) newLine(line []byte, match int, cut bool) Line {
	from, to := excerpt(line, match)
	return Line{
		Number:     s.line,
		Column:     s.format.EncodedLen(line[:match]),
		Text:       valid(line[from:to]),
		TextColumn: s.format.EncodedLen(line[:from]),
		Truncated:  to < len(line) || cut,
		Before:     s.before,
	}
}
