package matter

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode"
)

// fenced is where the parts of a file are, as offsets.
type fenced struct {
	format    Format
	begin     int    // of the file, after a byte order mark
	blank     int    // number of leading blank lines
	first     int    // offset of the line after the blank lines
	header    int    // of the text between the fences
	headerEnd int    // of the closing fence's line
	body      int    // after the closing fence's line
	open      bool   // there is an opening fence, and no closing one
	close     string // the closing fence; "" for an object that stands alone
	err       error  // syntax error of a leading JSON object
}

var bom = []byte("\uFEFF")

// split finds the fences. The data ends where the file does if ends is true;
// otherwise its last line may go on.
func split(data []byte, ends bool) fenced {
	f := fenced{}
	if bytes.HasPrefix(data, bom) {
		f.begin = len(bom)
	}
	f.first = f.begin
	text := data[f.first:]
	first, rest, terminated := bytes.Cut(text, []byte("\n"))
	for terminated && looksBlank(first) {
		f.blank++
		f.first += len(first) + 1
		text = rest
		first, rest, terminated = bytes.Cut(text, []byte("\n"))
	}
	switch string(bytes.TrimRight(first, " \t\r")) {
	case "---", "---yaml":
		f.format, f.close = YAML, "---"
	case "---toml":
		f.format, f.close = TOML, "---"
	case "---json":
		f.format, f.close = JSON, "---"
	case "+++":
		f.format, f.close = TOML, "+++"
	case ";;;":
		f.format, f.close = JSON, ";;;"
	default:
		if len(text) > 0 && text[0] == '{' {
			return splitObject(f, text, ends)
		}
		if !terminated && !ends && len(text) < len("---yaml\r\n") {
			f.open = true // too short to tell
		}
		return f
	}
	f.header = f.first + len(first) + 1
	if !terminated {
		f.header--
	}
	at, closing := f.header, []byte(f.close)
	for line := range bytes.Lines(rest) {
		if bytes.HasPrefix(line, closing) && len(bytes.TrimRight(line[len(closing):], " \t\r\n")) == 0 {
			if line[len(line)-1] != '\n' && !ends {
				break // the line may go on
			}
			f.headerEnd, f.body = at, at+len(line)
			return f
		}
		at += len(line)
	}
	f.open = true
	return f
}

// looksBlank reports whether a line shows nothing: the line has only white space
// and invisible characters.
func looksBlank(line []byte) bool {
	return bytes.IndexFunc(line, func(r rune) bool { return !unicode.IsSpace(r) && !unicode.Is(unicode.Cf, r) }) < 0
}

// splitObject finds a JSON object that begins the text. It must stand alone:
// the line on which it ends holds nothing else.
func splitObject(f fenced, text []byte, ends bool) fenced {
	var object json.RawMessage
	decoder := json.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&object); err != nil {
		cut := errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
		f.open, f.err = cut && !ends, err
		return f
	}
	end := int(decoder.InputOffset())
	line, _, terminated := bytes.Cut(text[end:], []byte("\n"))
	if len(bytes.TrimRight(line, " \t\r")) > 0 {
		return f
	}
	if !terminated && !ends {
		f.open = true
		return f
	}
	f.format, f.header, f.headerEnd = JSON, f.first, f.first+end
	f.body = f.headerEnd + len(line)
	if terminated {
		f.body++
	}
	return f
}
