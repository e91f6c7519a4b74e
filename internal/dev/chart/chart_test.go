package main

import (
	"bytes"
	"encoding/xml"
	"flag"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

var update = flag.Bool("update", false, "write the chart to testdata/chart.svg")

// measured returns the output of benchmarks in testdata/bench.txt.
func measured(t *testing.T) string {
	t.Helper()
	output := must.Get(os.ReadFile("testdata/bench.txt"))(t)
	return strings.ReplaceAll(string(output), "\r\n", "\n")
}

func chartOf(t *testing.T, output string) string {
	t.Helper()
	var svg bytes.Buffer
	must.Do(t, run(strings.NewReader(output), &svg))
	return svg.String()
}

func TestChartOfTheStoredOutputStaysTheSame(t *testing.T) {
	const file = "testdata/chart.svg"
	got := chartOf(t, measured(t))
	if *update {
		must.Do(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want := must.Get(os.ReadFile(file))(t)
	if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); diff != "" {
		t.Errorf("chart, -%s +got:\n%s", file, diff)
	}
}

// TestChartEscapesTheOutput reads the chart as XML. The name of a CPU must stay a text.
func TestChartEscapesTheOutput(t *testing.T) {
	const cpu = `</text><script href="x">alert(1)</script> & 'CPU' ]]>`
	decoder := xml.NewDecoder(strings.NewReader(chartOf(t, measured(t)+"cpu: "+cpu+"\n")))
	texts := ""
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if token.Name.Local == "script" {
				t.Error("the chart has an element of the name of the CPU")
			}
		case xml.CharData:
			texts += string(token)
		}
	}
	if !strings.Contains(texts, cpu) {
		t.Errorf("the texts of the chart do not contain %q:\n%s", cpu, texts)
	}
}

func TestBarsAreTheMediansOfTheRuns(t *testing.T) {
	got := chartOf(t, measured(t)+"BenchmarkTree-2 1 9 ours/floor\nBenchmarkTree-2 1 8 ours/floor\n")
	if !strings.Contains(got, ">8.0×<") || strings.Contains(got, ">9.0×<") {
		t.Errorf("the chart has no bar of the median, 8:\n%s", got)
	}
}

func TestMissingAndBrokenResultsAreErrors(t *testing.T) {
	for _, tt := range []struct{ name, output, want string }{
		{"no output", "", "no result of BenchmarkListCold/public in ours/floor"},
		{"a missing unit", strings.ReplaceAll(measured(t), "ours/os.ReadDir", "ours/ioutil"), "no result of BenchmarkListDir/10 in ours/os.ReadDir"},
		{"no number", "BenchmarkTree-2 1 many ours/floor\n", "not a result of a benchmark"},
		{"no unit", "BenchmarkTree-2 1 2 ours/floor 3\n", "not a result of a benchmark"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := run(strings.NewReader(tt.output), io.Discard); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestChartOfTheDocumentsIsUpToDate compares docs/benchmarks.svg with the chart of the
// stored results.
func TestChartOfTheDocumentsIsUpToDate(t *testing.T) {
	results := must.Get(os.ReadFile("../../../.ci/benchmarks.txt"))(t)
	svg := must.Get(os.ReadFile("../../../docs/benchmarks.svg"))(t)
	lines := func(b []byte) string { return strings.ReplaceAll(string(b), "\r\n", "\n") }
	if diff := cmp.Diff(lines(svg), chartOf(t, lines(results))); diff != "" {
		t.Errorf("run .ci/benchmarks -update; chart, -docs/benchmarks.svg +.ci/benchmarks.txt:\n%s", diff)
	}
}
