package matter

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/toolshelf-go/toolshelf/internal/problem"
)

func (d *Document) decodeTOML() {
	text, standIns := d.printable()
	decoded, meta, err := DecodeTOML(text)
	if err == errRefused {
		d.report(problem.FrontmatterRefused, d.Line, refused, "")
		return
	}
	if err != nil {
		p := d.report(problem.FrontmatterInvalid, d.Line,
			"the frontmatter is not valid TOML; the fields are unknown", "")
		var at toml.ParseError
		if errors.As(err, &at) {
			p.Line, p.Message = d.Line+at.Position.Line, p.Message+": "+at.Message
		}
		return
	}
	order := make(map[string]int)
	for i, key := range meta.Keys() {
		if name := strings.Join(key, "\x00"); order[name] == 0 {
			order[name] = i + 1
		}
	}
	d.Fields = asWritten(tomlFields(decoded, "", order), standIns)
}

// DecodeTOML decodes a text that is not nested too deep for the parser.
func DecodeTOML(text string) (decoded map[string]any, meta toml.MetaData, err error) {
	if tomlTooDeep(text) {
		return nil, meta, errRefused
	}
	meta, err = toml.Decode(text, &decoded)
	return decoded, meta, err
}

// maxTOMLDepth bounds the product of nested brackets and parts of a dotted key. The
// toml package takes quadratic time for a dotted key: 15 seconds and 9 GB for 30 KB.
const maxTOMLDepth = 32

// tomlTooDeep reports whether tables, arrays and dotted keys are nested too deep for
// the parser.
func tomlTooDeep(text string) bool {
	depth, maxNesting, dots, maxDots := 0, 0, 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '#':
			for i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
		case '"', '\'':
			i += tomlString(text[i:]) - 1
		case '.':
			dots++
			maxDots = max(maxDots, dots)
		case '[', '{':
			depth++
			maxNesting = max(maxNesting, depth)
			dots = 0
		case ']', '}':
			depth = max(depth-1, 0)
		case '=', ',', '\n':
			dots = 0
		}
	}
	return (maxDots+1)*(maxNesting+1) > maxTOMLDepth
}

// tomlString returns the length of the string at the start of text. A string
// without a closing quote extends to the end of the line, or to the end of the text
// if the string may have several lines. The parser stops there with an error.
func tomlString(text string) int {
	quote, closing, multiline := text[0], text[:1], false
	if len(text) >= 3 && text[1] == quote && text[2] == quote {
		closing, multiline = text[:3], true
	}
	for i := len(closing); i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], closing):
			return i + len(closing)
		case quote == '"' && text[i] == '\\':
			i++
		case text[i] == '\n' && !multiline:
			return i
		}
	}
	return len(text)
}

// tomlFields returns the fields of a table in the order of the file. In an array of
// tables, the first table determines the order of its keys.
func tomlFields(table map[string]any, prefix string, order map[string]int) []Field {
	keys := slices.SortedFunc(maps.Keys(table), func(a, b string) int {
		return cmp.Or(cmp.Compare(order[prefix+a], order[prefix+b]), strings.Compare(a, b))
	})
	var fields []Field
	for _, key := range keys {
		fields = append(fields, Field{Key: key, Value: tomlValue(table[key], prefix+key+"\x00", order)})
	}
	return fields
}

func tomlValue(v any, prefix string, order map[string]int) Value {
	switch v := v.(type) {
	case string:
		return Value{Kind: String, Text: v}
	case bool:
		return Value{Kind: Bool, Text: strconv.FormatBool(v)}
	case int64:
		return Value{Kind: Int, Text: strconv.FormatInt(v, 10)}
	case float64:
		return Value{Kind: Float, Text: tomlFloat(v)}
	case time.Time:
		return Value{Kind: String, Text: tomlTime(v)}
	case map[string]any:
		return mapping(tomlFields(v, prefix, order))
	case []map[string]any:
		var items []Value
		for _, table := range v {
			items = append(items, tomlValue(table, prefix, order))
		}
		return sequence(items)
	case []any:
		var items []Value
		for _, item := range v {
			items = append(items, tomlValue(item, prefix, order))
		}
		return sequence(items)
	}
	return Value{}
}

// tomlFloat formats a float in TOML. The toml package does not keep the notation of
// the file, and 1.10 becomes 1.1.
func tomlFloat(v float64) string {
	text := strconv.FormatFloat(v, 'f', -1, 64)
	if size := math.Abs(v); size != 0 && (size < 1e-6 || size >= 1e21) {
		text = strconv.FormatFloat(v, 'g', -1, 64)
	}
	if strings.Trim(text, "-0123456789") == "" {
		return text + ".0"
	}
	return strings.ToLower(text)
}

// tomlTime formats a time in TOML. The toml package marks the three kinds without
// an offset by the name of the location.
func tomlTime(t time.Time) string {
	switch t.Location().String() {
	case "datetime-local":
		return t.Format("2006-01-02T15:04:05.999999999")
	case "date-local":
		return t.Format(time.DateOnly)
	case "time-local":
		return t.Format("15:04:05.999999999")
	default:
		return t.Format(time.RFC3339Nano)
	}
}
