// Package bench compares the library with the necessary system calls ("floor") and with the usual
// way of programs ("naive"), over files like the public ones. Each benchmark runs the ways in turn,
// so the ratios stay valid if the speed of the machine drifts.
package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
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
		must.Len(b, "arguments of the text", 2,
			must.Get((toolshelf.Renderer{}).Arguments(b.Context(), command))(b))
	}
	ours := b.Elapsed() / time.Duration(b.N)
	copied := timeOf(max(3, min(b.N, 1000)), func() { benchSink = strings.Clone(command.Content) })
	b.ReportMetric(float64(ours)/float64(copied), "×copy")
}

// BenchmarkObserver runs each method without an observer and with an observer that does nothing.
// Compare the two with benchstat -col /observer.
func BenchmarkObserver(b *testing.B) {
	dir := b.TempDir()
	for i := range 100 {
		for name, text := range map[string]string{
			"commands/c%d.md":         "---\ndescription: Deploys.\n---\nDeploy $1. ",
			"skills/s%d/SKILL.md":     "---\nname: s\ndescription: Deploys.\n---\nDeploy. ",
			"skills/s%d/reference.md": "Deploy. ",
		} {
			name = filepath.Join(dir, fmt.Sprintf(name, i))
			must.Do(b, os.MkdirAll(filepath.Dir(name), 0o755))
			must.Do(b, os.WriteFile(name, []byte(text+strings.Repeat("Deploy to staging. ", 100)), 0o644))
		}
	}
	ctx := context.Background()
	open := func(opts ...toolshelf.Option) *toolshelf.Catalog {
		c := must.Get(toolshelf.New(append(opts, toolshelf.WithRoot(dir))...))(b)
		b.Cleanup(func() { c.Close() })
		return c
	}
	observers := []struct {
		name string
		c    *toolshelf.Catalog
	}{{"none", open()}, {"nothing", open(toolshelf.WithObserver(func(context.Context, toolshelf.Event) {}))}}
	for _, method := range []struct {
		name string
		call func(c *toolshelf.Catalog) error
	}{
		{"List", func(c *toolshelf.Catalog) error { _, err := c.List(ctx, toolshelf.Page{}); return err }},
		{"ListSkills", func(c *toolshelf.Catalog) error { _, err := c.ListSkills(ctx); return err }},
		{"Get", func(c *toolshelf.Catalog) error { _, err := c.Get(ctx, "c7"); return err }},
		{"GetSkill", func(c *toolshelf.Catalog) error { _, err := c.GetSkill(ctx, "s7"); return err }},
		{"ReadSkillFile", func(c *toolshelf.Catalog) error { _, err := c.ReadSkillFile(ctx, "s7", "reference.md"); return err }},
		{"Expand", func(c *toolshelf.Catalog) error { _, err := c.Expand(ctx, "/c7 staging"); return err }},
		{"Search", func(c *toolshelf.Catalog) error { _, err := c.Search(ctx, "staging", 0); return err }},
		{"Skills", func(c *toolshelf.Catalog) error {
			for _, err := range c.Skills(ctx) {
				if err != nil {
					return err
				}
			}
			return nil
		}},
	} {
		for _, o := range observers {
			b.Run(method.name+"/observer="+o.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					must.Do(b, method.call(o.c))
				}
			})
		}
	}
}
