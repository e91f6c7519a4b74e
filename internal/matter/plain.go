package matter

import "strings"

// plainYAML reads a header that is nothing but lines of "key: value" with
// values that no rule of YAML can turn into anything but their own text. Most
// headers are such, and the YAML library takes thirty times as long for one.
// FuzzPlainYAML holds it to the same result for whatever it accepts; for
// everything else ok is false.
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

// maxPlainKey is well within the 1,024 characters that YAML allows a key.
const maxPlainKey = 128

// isPlainValue reports whether a text is a plain scalar in one line that is a
// string: it begins with a letter or a character that means nothing to YAML,
// holds no ": " or " #", and is no word for a truth value or for null.
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
