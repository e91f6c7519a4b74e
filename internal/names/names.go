// Package names defines the valid names of commands and skills, their order, and
// the search for similar names.
package names

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Plain reports whether name is not empty and consists of ASCII letters, digits,
// "_" and "-".
func Plain(name string) bool {
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return name != ""
}

// PlainSpelling returns a plain name similar to name, for a suggestion.
func PlainSpelling(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if Plain(name[i : i+1]) {
			b.WriteByte(name[i])
		} else if s := b.String(); s != "" && !strings.HasSuffix(s, "-") {
			b.WriteByte('-')
		}
	}
	if s := strings.TrimRight(b.String(), "-"); s != "" {
		return s
	}
	return "command"
}

// Loose reports whether name is a single path element that is safe on every
// system and in a line of text. A loose name is valid UTF-8 without separators,
// control characters, ".." and characters that reorder text. The name does not
// begin with a dot, and neither begins nor ends with a blank.
func Loose(name string) bool {
	if name == "" || name[0] == '.' || strings.Contains(name, "..") || !utf8.ValidString(name) || strings.TrimSpace(name) != name {
		return false
	}
	for _, r := range name {
		if ' ' <= r && r <= '~' && r != '/' && r != '\\' {
			continue
		}
		if r == '/' || r == '\\' || unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control) || r == '\uFEFF' {
			return false
		}
	}
	return true
}

// TrimMarkdown removes a single ".md", in any letter case, from the end of name.
func TrimMarkdown(name string) (stem string, ok bool) {
	i := len(name) - len(".md")
	if i < 0 || !strings.EqualFold(name[i:], ".md") {
		return name, false
	}
	return name[:i], true
}

// Meant returns the name that an invalid name probably means, without a check: the first word
// after a slash, as in "/review args", or a path, as in "commands/review". Meant removes the
// directory at the beginning of the path if dirs contain the directory.
func Meant(given string, dirs []string) string {
	name := strings.ReplaceAll(strings.TrimSpace(given), `\`, "/")
	if strings.HasPrefix(name, "/") {
		name = strings.Fields(name)[0]
	}
	name = strings.Trim(strings.TrimPrefix(name, "./"), "/")
	for _, dir := range dirs {
		if below, ok := strings.CutPrefix(name, strings.Trim(path.Clean(dir), "/")+"/"); ok {
			return below
		}
	}
	return name
}
