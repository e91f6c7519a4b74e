// Package names defines the valid names of commands and skills, their order, and
// the search for similar names.
package names

import (
	"cmp"
	"path"
	"regexp"
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

// notPlain matches the characters in place of which PlainSpelling writes a hyphen.
var notPlain = regexp.MustCompile(`-?[^A-Za-z0-9_-]+`)

// PlainSpelling returns a plain name similar to name, for a suggestion.
func PlainSpelling(name string) string {
	s := strings.TrimRight(notPlain.ReplaceAllString(name, "-"), "-")
	if !Plain(name[:min(1, len(name))]) {
		s = strings.TrimPrefix(s, "-")
	}
	return cmp.Or(s, "command")
}

// Loose reports whether name is a single path element that is safe on every
// system and in a line of text. A loose name is valid UTF-8 without separators,
// control characters, ".." and characters that reorder text. The name does not
// begin with a dot, and neither begins nor ends with a blank.
func Loose(name string) bool {
	if name == "" || name[0] == '.' || strings.Contains(name, "..") || !utf8.ValidString(name) ||
		strings.TrimSpace(name) != name {
		return false
	}
	for _, r := range name {
		if ' ' <= r && r <= '~' && r != '/' && r != '\\' {
			continue
		}
		if r == '/' || r == '\\' ||
			unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control) || r == '\uFEFF' {
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

// Mentioned returns the names of agents that a typed text can begin with, after one of the mentions
// of clients, such as "@". If typing, the text may be a part of a mention, and then the name is "".
// If bare, a mention may be missing.
func Mentioned(typed string, mentions []string, typing, bare bool) (all []string) {
	at, isAt := strings.CutPrefix(typed, "@")
	for _, m := range mentions {
		switch rest, ok := strings.CutPrefix(typed, m); {
		case ok:
			all = append(all, rest)
		case typing && isAt && strings.HasPrefix(m, typed):
			all = append(all, "")
		}
	}
	if bare || typing && isAt && len(mentions) > 0 {
		all = append(all, at)
	}
	return all
}

// Meant returns the name that an invalid name probably means, without a check: the first word
// after a slash, as in "/review args", or a path, as in "commands/review". Meant reports whether
// arguments follow the first word. Meant removes the directory at the beginning of the path if dirs
// contain a path that ends with the directory.
func Meant(given string, dirs []string) (name string, arguments bool) {
	name = strings.ReplaceAll(strings.TrimSpace(given), `\`, "/")
	if strings.HasPrefix(name, "/") {
		words := strings.Fields(name)
		name, arguments = words[0], len(words) > 1
	}
	name = strings.Trim(strings.TrimPrefix(name, "./"), "/")
	for _, dir := range dirs {
		dir = strings.Trim(path.Clean(strings.ReplaceAll(dir, `\`, "/")), "/")
		for more := true; more; _, dir, more = strings.Cut(dir, "/") {
			if below, ok := strings.CutPrefix(name, dir+"/"); ok {
				return below, arguments
			}
		}
	}
	return name, arguments
}
