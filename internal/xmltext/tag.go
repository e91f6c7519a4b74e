package xmltext

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Prompts consist of blocks, and blocks of elements. The Markdown of an author must
// not begin or end a block. The XML-escaped text of an author must not begin or end
// an element either.
var (
	blockTags = []string{"skill_content", "command_content", "used_texts", "skill_resources",
		"available_skills", "available_commands", "project_instructions", "instruction_file",
		"instruction_on_request"}
	promptTags = append([]string{"skill", "command", "name", "description", "location", "file"},
		blockTags...)
)

// BlockTags replaces the "<" of every tag of a prompt's blocks, as a tolerant
// reader sees tags, by a character reference. All other text stays. The time is
// linear in the length of the text.
func BlockTags(text string) string {
	var b strings.Builder
	done := 0 // text[:done] is in b
	for i := 0; i < len(text); {
		if c := text[i]; c != '<' && c < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if isLessThan(r) && beginsTag(text[i+size:], blockTags) {
			b.WriteString(text[done:i])
			b.WriteString(characterReference(r))
			done = i + size
		}
		i += size
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// isLessThan reports whether a character is "<" or has "<" in its compatibility
// decomposition, as the fullwidth "＜" has.
func isLessThan(r rune) bool { return r == '<' || r == '≮' || r == '﹤' || r == '＜' }

// beginsTag reports whether the text after a "<" begins with the name of a tag,
// as a tolerant reader sees the text. Letter case, compatible forms such as
// fullwidth letters, slashes, white space, accents, and invisible or invalid
// characters make no difference. The next "<" ends every name, so two calls never
// examine the same text.
func beginsTag(text string, tags []string) bool {
	var name []byte
	for i, size := 0, 0; i < len(text); i += size {
		var r rune
		if r, size = utf8.DecodeRuneInString(text[i:]); ignoredInTag(r) {
			continue
		}
		for _, c := range norm.NFKD.String(text[i : i+size]) {
			switch {
			case ignoredInTag(c):
				continue
			case unicode.Is(unicode.Pc, c): // "_" and similar connectors
				c = '_'
			default:
				c = unicode.ToLower(unicode.ToUpper(c)) // "ſ" and "ı" too
			}
			name = utf8.AppendRune(name, c)
		}
		possible := false
		for _, tag := range tags {
			if strings.HasPrefix(string(name), tag) {
				return true
			}
			possible = possible || strings.HasPrefix(tag, string(name))
		}
		if !possible {
			return false
		}
	}
	return false
}

// ignoredInTag reports whether a tolerant reader skips a character of a tag: a
// slash, white space, an accent, or an invisible or invalid character.
func ignoredInTag(r rune) bool {
	if r < utf8.RuneSelf {
		return r <= ' ' || r == '/' || r == '\\' || r == 0x7f
	}
	return strings.ContainsRune("⁄∕⧸⧵∖\u2800\ufffd", r) ||
		unicode.In(r, unicode.Z, unicode.C, unicode.M, unicode.Other_Default_Ignorable_Code_Point,
			unicode.Noncharacter_Code_Point)
}
