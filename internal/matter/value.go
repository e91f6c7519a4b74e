package matter

import (
	"encoding/json"
	"strconv"
	"strings"
	"unsafe"

	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// A Kind is what a value is.
type Kind uint8

const (
	Null Kind = iota
	Bool
	Int
	Float
	String // every other scalar, dates and times too
	Sequence
	Mapping
)

// A Field is a key and its value.
type Field struct {
	Key          string
	Line, Column int // of the key, 1-based in the file; 0 is unknown
	Value        Value
}

// A Value is a value as its author wrote it. The zero Value is null.
type Value struct {
	Kind   Kind
	Text   string  // of a scalar, quotes and block indentation taken off: 007, yes, 2025-01-31; of a top-level list or mapping in brackets, the text with its brackets
	Items  []Value // of a Sequence
	Fields []Field // of a Mapping
}

// String reads the value as a text: of a scalar, its literal text; of what is
// in brackets, such as [file], the text as written, which is what an author
// meant who did not mean a list; of another list of scalars, its items joined
// by ", "; "" of anything else.
func (v Value) String() string {
	switch v.Kind {
	case Null:
		return ""
	case Sequence:
		if v.Text == "" {
			return strings.Join(v.Strings(), ", ")
		}
	}
	return v.Text
}

// Strings reads the value as a list: the texts of its scalar items, or a
// scalar as a list of one. It is nil for null and for a mapping.
func (v Value) Strings() []string {
	switch v.Kind {
	case Null, Mapping:
		return nil
	case Sequence:
		list := make([]string, 0, len(v.Items))
		for _, item := range v.Items {
			if item.Kind != Sequence && item.Kind != Mapping {
				list = append(list, item.Text)
			}
		}
		return list
	default:
		return []string{v.Text}
	}
}

// Bool reads the value as a truth value: true, yes, on or 1, and false, no,
// off or 0, in any letter case, quoted or not; ok is false for anything else.
func (v Value) Bool() (value, ok bool) {
	if v.Kind == Sequence || v.Kind == Mapping {
		return false, false
	}
	switch strings.ToLower(strings.TrimSpace(v.Text)) {
	case "true", "yes", "on", "1":
		return true, true
	case "false", "no", "off", "0":
		return false, true
	}
	return false, false
}

// AppendJSON appends the value as JSON. Keys keep their order; of a key that is
// there twice, the last value counts, in the place of the first. A number is one
// only where its literal is a JSON number too, so 007, 0x1F and .inf are texts,
// and where a float64 can hold it, since few readers of JSON take 1e400.
func (v Value) AppendJSON(dst []byte) []byte {
	switch v.Kind {
	case Null:
		return append(dst, "null"...)
	case Bool:
		// A tag can call anything a truth value.
		if text := strings.ToLower(v.Text); text == "true" || text == "false" {
			return append(dst, text...)
		}
		return escape.AppendJSON(dst, v.Text)
	case Int, Float:
		if isJSONNumber(v.Text) {
			return append(dst, v.Text...)
		}
		return escape.AppendJSON(dst, v.Text)
	case Sequence:
		dst = append(dst, '[')
		for i, item := range v.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.AppendJSON(dst)
		}
		return append(dst, ']')
	case Mapping:
		return appendFields(dst, v.Fields)
	default:
		return escape.AppendJSON(dst, v.Text)
	}
}

// Memory estimates the bytes that the header and its fields need.
func (d *Document) Memory() int {
	return len(d.Header) + Value{Fields: d.Fields}.memory()
}

func (v Value) memory() int {
	size := len(v.Text) + cap(v.Items)*int(unsafe.Sizeof(v)) + cap(v.Fields)*int(unsafe.Sizeof(Field{}))
	for _, item := range v.Items {
		size += item.memory()
	}
	for _, f := range v.Fields {
		size += len(f.Key) + f.Value.memory()
	}
	return size
}

func isJSONNumber(text string) bool {
	if text == "" || text[0] != '-' && (text[0] < '0' || text[0] > '9') || !json.Valid([]byte(text)) {
		return false
	}
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// AppendJSON appends the header as a JSON object, as Value.AppendJSON does.
func (d *Document) AppendJSON(dst []byte) []byte { return appendFields(dst, d.Fields) }

func appendFields(dst []byte, fields []Field) []byte {
	last := make(map[string]Value, len(fields))
	for _, f := range fields {
		last[f.Key] = f.Value
	}
	dst = append(dst, '{')
	first := true
	for _, f := range fields {
		value, ok := last[f.Key]
		if !ok {
			continue // it was there before
		}
		delete(last, f.Key)
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = escape.AppendJSON(dst, f.Key)
		dst = append(dst, ':')
		dst = value.AppendJSON(dst)
	}
	return append(dst, '}')
}
