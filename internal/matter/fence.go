package matter

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// fenced holds the offsets of the parts of a file.
type fenced struct {
	format    Format
	begin     int    // start of the file, after a byte order mark
	blank     int    // number of leading blank lines
	first     int    // offset of the line after the blank lines
	header    int    // start of the text between the fences
	headerEnd int    // start of the closing fence
	body      int    // start of the line after the closing fence
	open      bool   // the file has an opening fence without a closing fence
	close     string // closing fence; "" for a JSON object without fences
	err       error  // syntax error of a leading JSON object
	wholeTOML bool   // the whole file is the header; see wholeTOML
}

// wholeTOML returns the parts of a file that is a header without fences. The lines of decoded
// fields count an opening fence, therefore blank is -1.
func wholeTOML(data []byte, whole bool) fenced {
	if !whole || len(data) > MaxHead {
		return fenced{begin: len(data), open: true, wholeTOML: true}
	}
	begin := len(data) - len(bytes.TrimPrefix(data, bom))
	return fenced{format: TOML, blank: -1, begin: begin, header: begin, headerEnd: len(data),
		body: len(data), wholeTOML: true}
}

var bom = []byte("\uFEFF")

// split finds the fences. If ends is true, data ends at the end of the file.
// Otherwise the last line may continue after data.
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
			f.open = true // the line may become a fence
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
				break // the line may continue
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
	return len(bytes.TrimLeftFunc(line, invisible)) == 0
}

// splitObject finds a JSON object at the start of the text. The last line of the
// object must not contain other text.
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
