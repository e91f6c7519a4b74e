package xmltext

import (
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// readTolerantly returns a text as a very tolerant reader sees it: without all
// characters but letters, digits, "_" and "<", in lower case, with compatible forms
// decomposed.
func readTolerantly(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '<' || unicode.IsLetter(r) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.IsDigit(r):
			return r
		case unicode.Is(unicode.Pc, r):
			return '_'
		}
		return -1
	}, cases.Fold().String(norm.NFKD.String(text)))
}

// disguised returns a tag with compatible forms of the characters, and with
// characters between them that a reader ignores.
func disguised(t *rapid.T, tag string) string {
	between := rapid.SampledFrom([]string{"", "", "", "", " ", "\t", "\n", "\x00", "\x7f", "\xff", "\xe2\x80", "/", "\u00a0", "\u00ad", "\u034f", "\u0301", "\u115f", "\u180e", "\u2028",
		"\u200b", "\u200c", "\u200d", "\u200e", "\u202e", "\u2060", "\u2066", "\u206a", "\u2800", "\u3164", "\ufe0f", "\ufeff", "\uffa0", "\U000e0001", "\U000e0063", "\U000e0100"})
	var b strings.Builder
	for _, c := range tag {
		forms := []rune{c}
		switch {
		case c == '<':
			forms = append(forms, '＜', '﹤', '≮')
		case c == '/':
			forms = append(forms, '／', '⁄', '∕', '\\')
		case c == '_':
			forms = append(forms, '＿', '﹍', '‿')
		case 'a' <= c && c <= 'z':
			forms = append(forms, unicode.ToUpper(c), 'ａ'+c-'a', 'Ａ'+c-'a', '𝐚'+c-'a', '𝓐'+c-'a', 'ⓐ'+c-'a', map[rune]rune{'s': 'ſ', 'k': 'K', 'i': 'ı', 'l': 'ℓ'}[c])
		}
		b.WriteRune(rapid.SampledFrom(forms).Filter(func(r rune) bool { return r != 0 }).Draw(t, "form"))
		b.WriteString(between.Draw(t, "between"))
	}
	return b.String()
}

// A tolerant reader finds no tag of a block in escaped text.
func TestEscapesOfDisguisedTags(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var author strings.Builder
		for range rapid.IntRange(1, 3).Draw(t, "tags") {
			tag := rapid.SampledFrom(blockTags).Draw(t, "tag")
			author.WriteString(rapid.SampledFrom([]string{"", "x ", "<", "</", "＜b＞", "&lt;"}).Draw(t, "before"))
			author.WriteString(disguised(t, rapid.SampledFrom([]string{"<", "</"}).Draw(t, "begin")+tag))
			author.WriteString(rapid.SampledFrom([]string{">", "＞", " name=\"x\">", ""}).Draw(t, "after"))
		}
		text := author.String()
		for function, got := range map[string]string{
			"BlockTags": BlockTags(text),
			"XML":       XML(text),
			"XMLLine":   XMLLine(text),
		} {
			read := readTolerantly(got)
			for _, tag := range blockTags {
				if strings.Contains(read, "<"+tag) {
					t.Fatalf("%s of %q has <%s>: %q", function, text, tag, got)
				}
			}
		}
	})
}

func TestTextWithoutTagsStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`(<|＜|/|b|skill|content|available|[ _>a-z]){0,20}`)).Draw(t, "text")
		got := BlockTags(text)
		if back := strings.NewReplacer("&lt;", "<", "&#xFF1C;", "＜", "&#xFE64;", "﹤", "&#x226E;", "≮").Replace(got); !strings.Contains(text, "&") && back != text {
			t.Fatalf("%q becomes %q", text, got)
		}
		read := readTolerantly(text)
		for _, tag := range blockTags {
			if strings.Contains(read, "<"+tag) {
				return
			}
		}
		if got != text {
			t.Fatalf("%q has no tag of a block and becomes %q", text, got)
		}
	})
}

// XML escapes the tags of elements too.
func TestXMLEscapesTagsOfElements(t *testing.T) {
	for text, want := range map[string]string{
		"＜/description＞＜ＳＫＩＬＬ＞": "&#xFF1C;/description＞&#xFF1C;ＳＫＩＬＬ＞",
		"＜\u200d/name>":         "&#xFF1C;\u200d/name&gt;",
		"＜重要＞ a ＜ b":            "＜重要＞ a ＜ b",
	} {
		if got := XML(text); got != want {
			t.Errorf("%q is escaped as %q, want %q", text, got, want)
		}
	}
}
