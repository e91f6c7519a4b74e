package matter

import "strings"

// plainYAML reads a header that consists of lines "key: value" with plain values.
// YAML reads a plain value as its own text. Most headers are plain, and the YAML
// library takes thirty times as long. For any other header, ok is false.
// FuzzPlainYAML compares the fields with the result of the library.
func plainYAML(header []byte) (fields []Field, ok bool) {
	text := string(header)
	fields = make([]Field, 0, strings.Count(text, "\n")+1)
	line := 1
	for text != "" {
		line++
		var l string
		l, text, _ = strings.Cut(text, "\n")
		key, value, found := strings.Cut(strings.TrimRight(strings.TrimSuffix(l, "\r"), " "), ": ")
		value = strings.TrimLeft(value, " ")
		if !found || !isPlainKey(key) || !isPlainValue(value) {
			return nil, false
		}
		fields = append(fields, Field{Key: key, Line: line, Column: 1, Value: Value{Kind: String, Text: value}})
	}
	return fields, true
}

func isPlainKey(key string) bool {
	for i := range len(key) {
		if c := key[i]; !isLetter(c) && c != '_' && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return 0 < len(key) && len(key) <= maxPlainKey
}

// maxPlainKey is less than 1,024, the maximum length of a key in YAML.
const maxPlainKey = 128

// isPlainValue reports whether YAML reads a line of text as a string without
// changes. The text begins with a letter or a character without a meaning in YAML,
// contains neither ": " nor " #", and is not a word for a boolean or null.
func isPlainValue(value string) bool {
	if value == "" || !isLetter(value[0]) && strings.IndexByte("$(/<_", value[0]) < 0 || value[len(value)-1] == ':' {
		return false
	}
	for i := range len(value) {
		c := value[i]
		if c < ' ' || c > '~' || i > 0 && (c == ' ' && value[i-1] == ':' || c == '#' && value[i-1] == ' ') {
			return false
		}
	}
	switch len(value) {
	case len("true"): // and len("null")
		return !strings.EqualFold(value, "true") && !strings.EqualFold(value, "null")
	case len("false"):
		return !strings.EqualFold(value, "false")
	default:
		return true
	}
}
