// Package bench compares the library with the necessary system calls ("floor") and with the usual
// way of programs ("naive"), over files like the public ones. Each benchmark runs the ways in turn,
// so the ratios stay valid if the speed of the machine drifts.
package bench

import (
	"strings"
	"testing"
	"time"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// benchTexts makes a usual command, a command of 10 MiB, and hostile texts, in which
// many searches fail.
var benchTexts = []struct {
	name string
	text func() string
}{
	{"Usual4KB", usual},
	{"Prose10MiB", repeated("Read the diff, name what is wrong and say why it is so. Fix $1.\n\n")},
	{"Backticks10MiB", repeated("` ")},
	{"BacktickRuns10MiB", backtickRuns},
	{"Inputs10MiB", repeated("${input:")},
	{"Braces10MiB", repeated("${")},
	{"Dollars10MiB", repeated("$")},
	{"Names10MiB", repeated("$a-")},
	{"Backslashes10MiB", repeated(`\`)},
	{"Directives10MiB", repeated("!` ")},
	{"Files10MiB", repeated(" @a)")},
	{"OneFile10MiB", func() string { return "@a/" + repeated(")")() }},
	{"Fences10MiB", repeated("```\n")},
	{"Lists10MiB", repeated("- ")},
	{"Quotes10MiB", repeated(">")},
	{"Everything10MiB", repeated("$1")},
}

func usual() string {
	return "Review PR #$1 with priority $2.\n\n" + strings.Repeat("Read the diff, name what is wrong and say why.\n\n- Look at `main.go` and $ARGUMENTS.\n", 50)
}

func repeated(unit string) func() string {
	return func() string { return strings.Repeat(unit, 10<<20/len(unit)) }
}

// backtickRuns returns a text with one run of backticks of each length. No run
// closes another run.
func backtickRuns() string {
	var b strings.Builder
	for n := 1; b.Len() < 10<<20; n++ {
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
		b.Run(tt.name, func(b *testing.B) {
			source := tt.text()
			command := toolshelf.Command{Content: source}
			b.SetBytes(int64(len(source)))
			b.ReportAllocs()
			for b.Loop() {
				text := must.Get(command.Render(args...))(b)
				benchSink = text
			}
			ours := b.Elapsed() / time.Duration(b.N)
			rounds := max(3, min(b.N, 1000))
			replaced := timeOf(rounds, func() { benchSink = replacer.Replace(source) })
			copied := timeOf(rounds, func() { benchSink = strings.Clone(source) })
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
	command := toolshelf.Command{Content: usual()}
	b.ReportAllocs()
	for b.Loop() {
		if arguments, err := (toolshelf.Renderer{}).Arguments(b.Context(), command); len(arguments) != 2 || err != nil {
			b.Fatal("the text has other arguments")
		}
	}
	ours := b.Elapsed() / time.Duration(b.N)
	copied := timeOf(max(3, min(b.N, 1000)), func() { benchSink = strings.Clone(command.Content) })
	b.ReportMetric(float64(ours)/float64(copied), "×copy")
}
