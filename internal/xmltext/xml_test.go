package xmltext

import (
	_ "embed"
	"encoding/xml"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

//go:embed testdata/texts.txt
var texts string

// TestTexts asks the questions of testdata/texts.txt, which describes the questions.
func TestTexts(t *testing.T) {
	must.Answer(t, texts, map[string]func(t *testing.T, a ...string) string{
		"xml": func(t *testing.T, a ...string) string {
			return strconv.Quote(XML(a[0])) + " " + strconv.Quote(XMLLine(a[0]))
		},
		"shorten": func(t *testing.T, a ...string) string {
			limit := must.Get(strconv.Atoi(a[1]))(t)
			return strconv.Quote(ShortenXML(a[0], limit))
		},
	})
}

// admitted returns s without the characters that XML 1.0 excludes (production 2).
func admitted(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t', r == '\n', r == '\r', ' ' <= r && r <= 0xd7ff, 0xe000 <= r && r <= 0xfffd, 0x10000 <= r && r <= 0x10ffff:
			return r
		}
		return utf8.RuneError
	}, s)
}

func TestXMLShowsTheCharactersThatNameEscapes(t *testing.T) {
	for r := rune(0x80); r <= utf8.MaxRune; r++ {
		escaped := xmlEscape(r, utf8.RuneLen(r), false)
		if want := escape.UnsafeRune(r) && r != '\u200c' && r != '\u200d'; want != strings.HasPrefix(escaped, "&#x") {
			t.Errorf("%U is escaped as %q", r, escaped)
		}
	}
}

func FuzzXML(f *testing.F) {
	for _, seed := range []string{"", "a b", "</skill>&amp;\"'", "a\r\n\tb", "\xff\x00\u202e\ufffe", "]]>", "&#x41;", strings.Repeat("word ", 50), strings.Repeat("&", 90)} {
		f.Add(seed, 20)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		content, line := XML(s), XMLLine(s)
		var parsed struct {
			Content string `xml:"content"`
			Line    struct {
				Attribute string `xml:"line,attr"`
				Text      string `xml:",chardata"`
			} `xml:"line"`
		}
		document := "<x><content>" + content + "</content><line line=\"" + line + "\">" + line + "</line></x>"
		if err := xml.Unmarshal([]byte(document), &parsed); err != nil {
			t.Fatalf("%q gives %q: %v", s, document, err)
		}
		if want := admitted(s); parsed.Content != want || parsed.Line.Attribute != want || parsed.Line.Text != want {
			t.Errorf("%q is decoded as %q, want %q", s, parsed, want)
		}
		if strings.ContainsAny(line, "\n\r\t") {
			t.Errorf("%q is not one line: %q", s, line)
		}

		limit = 1 + int(uint(limit)%300)
		if utf8.RuneCountInString(content) <= limit {
			return
		}
		cut := ShortenXML(content, limit)
		if n := utf8.RuneCountInString(cut); n > limit {
			t.Errorf("%q is cut to %d characters, over %d: %q", content, n, limit, cut)
		}
		kept, ok := strings.CutSuffix(cut, "…")
		if !ok || !strings.HasPrefix(content, kept) {
			t.Errorf("%q is cut to %q", content, cut)
		}
		if err := xml.Unmarshal([]byte("<x>"+cut+"</x>"), new(struct{})); err != nil {
			t.Errorf("%q is cut within an escape: %q", content, cut)
		}
		if longer := ShortenXML(content, limit+1); len(longer) < len(cut) {
			t.Errorf("%q is cut to %q by %d, and to %q by one more", content, cut, limit, longer)
		}
	})
}

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
