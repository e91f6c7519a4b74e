package matter

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unsafe"

	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// A Kind is the type of a value.
type Kind uint8

const (
	Null Kind = iota
	Bool
	Int
	Float
	String // every other scalar, including dates and times
	Sequence
	Mapping
)

// A Field is a key and its value.
type Field struct {
	Key          string
	Line, Column int // position of the key, 1-based in the file; 0 means unknown
	Value        Value
}

// A Value is a value in the notation of the file. The zero Value is null.
type Value struct {
	Kind Kind
	// Scalar without quotes and block indentation, such as 007, yes, 2025-01-31; or a top-level
	// list or mapping in brackets, with the brackets.
	Text string
	*nested
}

// nested holds the values of a list or mapping. Most values are scalars.
type nested struct {
	items  []Value
	fields []Field
}

func sequence(items []Value) Value { return Value{Kind: Sequence, nested: &nested{items: items}} }

func mapping(fields []Field) Value { return Value{Kind: Mapping, nested: &nested{fields: fields}} }

// Items returns the items of a Sequence. The slice is not a copy.
func (v Value) Items() []Value {
	if v.nested == nil {
		return nil
	}
	return v.items
}

// Fields returns the fields of a Mapping. The slice is not a copy.
func (v Value) Fields() []Field {
	if v.nested == nil {
		return nil
	}
	return v.fields
}

// String returns the text of a scalar, the text of a value in brackets, such as
// [file], or the items of another list of scalars, joined by ", ". Authors write
// [file] as text and not as a list. For any other value, String returns "".
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

// Strings returns the texts of the scalar items of a list, or a list with the text
// of a scalar. For null and for a mapping, Strings returns nil.
func (v Value) Strings() []string {
	switch v.Kind {
	case Null, Mapping:
		return nil
	case Sequence:
		list := make([]string, 0, len(v.Items()))
		for _, item := range v.Items() {
			if item.Kind != Sequence && item.Kind != Mapping {
				list = append(list, item.Text)
			}
		}
		return list
	default:
		return []string{v.Text}
	}
}

// Texts returns the texts of a mapping, and the JSON of its lists and mappings. The specification
// of skills defines metadata as a mapping of texts, and one in seven public files has other values.
// For any other value, Texts returns nil.
func (v Value) Texts() map[string]string {
	if v.Kind != Mapping {
		return nil
	}
	texts := make(map[string]string, len(v.Fields()))
	for _, f := range v.Fields() {
		switch f.Value.Kind {
		case Mapping, Sequence:
			texts[f.Key] = string(f.Value.AppendJSON(nil))
		default:
			texts[f.Key] = f.Value.Text
		}
	}
	return texts
}

// Bool reads true, yes, on and 1 as true, and false, no, off and 0 as false, in any
// letter case, with or without quotes. For any other value, ok is false.
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

// AppendJSON appends the value as JSON. Keys keep their order. A duplicate key has
// the last value at the first position. jsonNumber describes numbers.
func (v Value) AppendJSON(dst []byte) []byte {
	switch v.Kind {
	case Null:
		return append(dst, "null"...)
	case Bool:
		// A tag can mark any text as a boolean.
		if text := strings.ToLower(v.Text); text == "true" || text == "false" {
			return append(dst, text...)
		}
		return escape.AppendJSON(dst, v.Text)
	case Int, Float:
		if number, ok := jsonNumber(v.Text); ok {
			return append(dst, number...)
		}
		return escape.AppendJSON(dst, v.Text)
	case Sequence:
		dst = append(dst, '[')
		for i, item := range v.Items() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.AppendJSON(dst)
		}
		return append(dst, ']')
	case Mapping:
		return appendFields(dst, v.Fields())
	default:
		return escape.AppendJSON(dst, v.Text)
	}
}

// Equal reports whether two values have the same kind and JSON.
func (v Value) Equal(w Value) bool {
	if v.Kind < Sequence {
		return v.same(w)
	}
	return v.Kind == w.Kind && bytes.Equal(v.AppendJSON(nil), w.AppendJSON(nil))
}

// Memory returns the approximate size of the header and its fields in memory.
func (m *Frontmatter) Memory() int {
	return len(m.Header) + mapping(m.Fields).memory()
}

func (v Value) memory() int {
	size := len(v.Text)
	if v.nested == nil {
		return size
	}
	size += int(unsafe.Sizeof(*v.nested)) + len(v.items)*int(unsafe.Sizeof(v)) +
		len(v.fields)*int(unsafe.Sizeof(Field{}))
	for _, item := range v.items {
		size += item.memory()
	}
	for _, f := range v.fields {
		size += len(f.Key) + f.Value.memory()
	}
	return size
}

// jsonNumber returns the JSON notation of a number of the YAML 1.2 core schema. The
// digits stay the same if JSON allows the notation: 1.50 stays 1.50. Otherwise 007 is 7,
// .5 is 0.5, 0o17 is 15, and 0x1F is 31. ok is false for numbers of YAML 1.1 only, such
// as 1_000 and 0b101, and for numbers without a JSON form: .inf, .nan, and numbers
// outside the range of float64, which few readers of JSON accept.
func jsonNumber(text string) (number string, ok bool) {
	if isBaseInteger(text) {
		if len(text) > maxBaseInteger {
			return "", false
		}
		n, _ := new(big.Int).SetString(text, 0)
		text = n.String()
	} else if strings.Trim(text, "+-.0123456789eE") == "" {
		text = decimal(text)
	}
	if text == "" || text[0] != '-' && (text[0] < '0' || text[0] > '9') || !json.Valid([]byte(text)) {
		return "", false
	}
	_, err := strconv.ParseFloat(text, 64)
	return text, err == nil
}

// maxBaseInteger is the maximum length of a number that jsonNumber converts to another
// base. The largest float64 has 256 hexadecimal or 342 octal digits.
const maxBaseInteger = 400

// isBaseInteger reports whether a text is an octal or hexadecimal integer of the YAML
// 1.2 core schema.
func isBaseInteger(text string) bool {
	if digits, ok := strings.CutPrefix(text, "0x"); ok {
		return digits != "" && strings.Trim(digits, "0123456789abcdefABCDEF") == ""
	}
	digits, ok := strings.CutPrefix(text, "0o")
	return ok && digits != "" && strings.Trim(digits, "01234567") == ""
}

// decimalParts matches the sign, the leading zeros, the whole number, the fraction and the exponent of
// a decimal number.
var decimalParts = regexp.MustCompile(`^([-+]?)(0*)([0-9]*)(?:\.([0-9]*))?((?:[eE].*)?)$`)

// decimal removes a plus sign, leading zeros, and a point without digits from a decimal
// number, and adds a zero before a leading point. Other texts stay.
func decimal(text string) string {
	m := decimalParts.FindStringSubmatch(text)
	switch {
	case m == nil:
		return text
	case m[2]+m[3]+m[4] == "":
		return "" // no digits
	case m[4] != "":
		m[4] = "." + m[4]
	}
	return strings.Trim(m[1], "+") + cmp.Or(m[3], "0") + m[4] + m[5]
}

// AppendJSON appends the header as a JSON object, by the rules of Value.AppendJSON.
func (m *Frontmatter) AppendJSON(dst []byte) []byte { return appendFields(dst, m.Fields) }

// LastValues returns the last value of each key.
func LastValues(fields []Field) map[string]Value {
	last := make(map[string]Value, len(fields))
	for _, f := range fields {
		last[f.Key] = f.Value
	}
	return last
}

func appendFields(dst []byte, fields []Field) []byte {
	last := LastValues(fields)
	dst = append(dst, '{')
	first := true
	for _, f := range fields {
		value, ok := last[f.Key]
		if !ok {
			continue // duplicate
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
