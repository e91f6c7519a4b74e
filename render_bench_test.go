package toolshelf_test

import (
	"strings"
	"testing"
	"time"

	"github.com/toolshelf-go/toolshelf"
)

// benchTexts has a usual command, a command of 10 MiB, and hostile texts, in which
// many searches fail.
var benchTexts = []struct{ name, text string }{
	{"Usual4KB", "Review PR #$1 with priority $2.\n\n" + strings.Repeat("Read the diff, name what is wrong and say why.\n\n- Look at `main.go` and $ARGUMENTS.\n", 50)},
	{"Prose10MiB", strings.Repeat("Read the diff, name what is wrong and say why it is so. Fix $1.\n\n", 10<<20/66)},
	{"Backticks10MiB", hostile("` ")},
	{"BacktickRuns10MiB", backtickRuns(10 << 20)},
	{"Inputs10MiB", hostile("${input:")},
	{"Braces10MiB", hostile("${")},
	{"Dollars10MiB", hostile("$")},
	{"Names10MiB", hostile("$a-")},
	{"Backslashes10MiB", hostile(`\`)},
	{"Directives10MiB", hostile("!` ")},
	{"Files10MiB", hostile(" @a)")},
	{"OneFile10MiB", "@a/" + hostile(")")},
	{"Fences10MiB", hostile("```\n")},
	{"Lists10MiB", hostile("- ")},
	{"Quotes10MiB", hostile(">")},
	{"Everything10MiB", hostile("$1")},
}

func hostile(unit string) string { return strings.Repeat(unit, 10<<20/len(unit)) }

// backtickRuns returns a text with one run of backticks of each length. No run
// closes another run.
func backtickRuns(size int) string {
	var b strings.Builder
	for n := 1; b.Len() < size; n++ {
		b.WriteString(strings.Repeat("`", n))
		b.WriteByte(' ')
	}
	return b.String()
}

var benchSink string

// BenchmarkRender compares Render with strings.NewReplacer and with a copy of the
// text. The Replacer handles no code, no escapes and no directives. Both ratios are
// measured in one run.
func BenchmarkRender(b *testing.B) {
	args := []string{"main", "high"}
	replacer := strings.NewReplacer("$ARGUMENTS", "main high", "{{args}}", "main high", "$1", "main", "$2", "high")
	for _, tt := range benchTexts {
		command := toolshelf.Command{Content: tt.text}
		b.Run(tt.name, func(b *testing.B) {
			b.SetBytes(int64(len(tt.text)))
			b.ReportAllocs()
			for b.Loop() {
				text, err := command.Render(args...)
				if err != nil {
					b.Fatal(err)
				}
				benchSink = text
			}
			ours := b.Elapsed() / time.Duration(b.N)
			rounds := max(3, min(b.N, 1000))
			replaced := timeOf(rounds, func() { benchSink = replacer.Replace(tt.text) })
			copied := timeOf(rounds, func() { benchSink = strings.Clone(tt.text) })
			b.ReportMetric(float64(ours)/float64(replaced), "×replacer")
			b.ReportMetric(float64(ours)/float64(copied), "×copy")
		})
	}
}

func timeOf(rounds int, f func()) time.Duration {
	start := time.Now()
	for range rounds {
		f()
	}
	return time.Since(start) / time.Duration(rounds)
}

// BenchmarkArguments compares Arguments with a copy of the text.
func BenchmarkArguments(b *testing.B) {
	command := toolshelf.Command{Content: benchTexts[0].text}
	b.ReportAllocs()
	for b.Loop() {
		if len(command.Arguments()) != 2 {
			b.Fatal("the text has other arguments")
		}
	}
	ours := b.Elapsed() / time.Duration(b.N)
	copied := timeOf(max(3, min(b.N, 1000)), func() { benchSink = strings.Clone(command.Content) })
	b.ReportMetric(float64(ours)/float64(copied), "×copy")
}
