package show

import (
	"strings"
	"testing"
)

func TestEscape(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"plain", "Grüße, 世界 👍", "Grüße, 世界 👍"},
		{"escape sequence", "\x1b[2J", "<U+001B>[2J"},
		{"C1 control", "\u009b2J", "<U+009B>2J"},
		{"carriage return", "good\revil", "good<U+000D>evil"},
		{"order of characters", "a\u202eb", "a<U+202E>b"},
		{"invisible", "a\u200b\u3164\U000e0041b", "a<U+200B><U+3164><U+E0041>b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Escape(tt.text); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestDifferenceHasEveryChangedLine(t *testing.T) {
	numbers := strings.Repeat("x\n", 5000)
	for _, tt := range []struct{ name, before, now, want string }{
		{"line in the middle", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", " 2| 3| 4|-5|+five| 6| 7| 8"},
		{"two changes", "a\nb\nc\nd\n", "A\nb\nc\nD\n", "-a|+A| b| c|-d|+D"},
		{"removed line", "a\nb\nc\n", "a\nc\n", " a|-b| c"},
		{"line break at the end", "a\n", "a", "-a|+a|(no line break at the end)"},
		{"large texts", "a\n" + numbers, "b\n" + numbers, "-a|+b| x| x| x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			Difference(&b, map[string]string{"f": tt.before}, map[string]string{"f": tt.now})
			_, body, _ := strings.Cut(b.String(), "\n")
			var got []string
			for line := range strings.Lines(body) {
				line = strings.TrimSuffix(line, "\n")
				if len(line) > 6 && line[:4] == "    " && line[5] == ' ' && line[6] != '(' {
					line = line[4:5] + line[6:]
				}
				got = append(got, strings.TrimPrefix(line, "      "))
			}
			if s := strings.Join(got, "|"); s != tt.want {
				t.Errorf("got %q, want %q", s, tt.want)
			}
		})
	}
}
