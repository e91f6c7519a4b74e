package xmltext

import (
	"encoding/xml"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/escape"
)

func TestXML(t *testing.T) {
	for _, tt := range []struct{ rule, text, want, line string }{
		{"plain text", "Use it; it's fine.", "Use it; it's fine.", "Use it; it's fine."},
		{"any script", "資料 данные 📁", "資料 данные 📁", "資料 данные 📁"},
		{"markup", "</available_skills> & <b>", "&lt;/available_skills&gt; &amp; &lt;b&gt;", "&lt;/available_skills&gt; &amp; &lt;b&gt;"},
		{"escaped text", "&lt;", "&amp;lt;", "&amp;lt;"},
		{"the end of a CDATA section", "]]>", "]]&gt;", "]]&gt;"},
		{"double quotes", `"a"`, `"a"`, "&quot;a&quot;"},
		{"line breaks and tabs", "a\n\tb", "a\n\tb", "a&#10;&#9;b"},
		{"carriage returns, which a parser converts to line feeds", "a\r\nb", "a&#13;\nb", "a&#13;&#10;b"},
		{"control characters", "a\x00\x1b[31mb", "a\ufffd\ufffd[31mb", "a\ufffd\ufffd[31mb"},
		{"DEL and C1 controls", "\x7f\u0085", "&#x7F;&#x85;", "&#x7F;&#x85;"},
		{"invalid UTF-8", "a\xff\xc3(", "a\ufffd\ufffd(", "a\ufffd\ufffd("},
		{"an encoded surrogate", "\xed\xa0\x80", "\ufffd\ufffd\ufffd", "\ufffd\ufffd\ufffd"},
		{"the noncharacters that XML excludes", "\ufffe\uffff", "\ufffd\ufffd", "\ufffd\ufffd"},
		{"the replacement character itself", "\ufffd", "\ufffd", "\ufffd"},
		{"bidi overrides", "txt.\u202egpj.exe", "txt.&#x202E;gpj.exe", "txt.&#x202E;gpj.exe"},
		{"text in tag characters", "a\U000e0041", "a&#xE0041;", "a&#xE0041;"},
		{"joiners", "👩\u200d💻 می\u200cخواهم", "👩\u200d💻 می\u200cخواهم", "👩\u200d💻 می\u200cخواهم"},
		{"a backslash", `a\b`, `a\b`, `a\b`},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			if got := XML(tt.text); got != tt.want {
				t.Errorf("as content %q, want %q", got, tt.want)
			}
			if got := XMLLine(tt.text); got != tt.line {
				t.Errorf("in a line %q, want %q", got, tt.line)
			}
		})
	}
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

func TestShortenXML(t *testing.T) {
	for _, tt := range []struct {
		rule, text string
		limit      int
		want       string
	}{
		{"after the last word that fits", "Extract text from files", 20, "Extract text from…"},
		{"a word that fits exactly is kept", "Extract text from files", 18, "Extract text from…"},
		{"a word with one character too many is cut", "Extract text from files", 17, "Extract text…"},
		{"at a line break", "Extract text.\n\nUse for PDFs.", 16, "Extract text.…"},
		{"nothing if the first word does not fit", "Extraction of text", 8, "…"},
		{"within a long word", strings.Repeat("x", 99), 30, strings.Repeat("x", 29) + "…"},
		{"within text without blanks", strings.Repeat("資料", 50), 30, strings.Repeat("資料", 14) + "資…"},
		{"not between a letter and its accent", strings.Repeat("x", 26) + strings.Repeat("e\u0301", 9), 30, strings.Repeat("x", 26) + "e\u0301…"},
		{"an escape counts with all its characters", "a &amp; b &amp; c", 11, "a &amp; b…"},
		{"never within an escape", "a &amp; b &amp; c", 14, "a &amp; b…"},
		{"never within one of many escapes", strings.Repeat("&amp;", 20), 33, strings.Repeat("&amp;", 6) + "…"},
		{"to nothing", "text", 1, "…"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			if got := ShortenXML(tt.text, tt.limit); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
