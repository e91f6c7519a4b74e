package main

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
)

// A row compares one call with its floor and, if usual is not empty, with the usual way of
// programs.
type row struct {
	title     string
	benchmark string // without "Benchmark"
	floor     string // the unit of the ratio of the library to the floor
	usual     string // the unit of the ratio of the library to the usual way
}

var rows = []row{
	{"List 10,000 commands, new catalog", "ListCold/public", "ours/floor", "ours/naive"},
	{"the same, only plain YAML headers", "ListCold/plain", "ours/floor", "ours/naive"},
	{"List 10,000 commands again", "ListWarm/10000", "ours/floor", ""},
	{"Get one of 10,000 commands again", "GetWarm", "ours/stat", "ours/read"},
	{"ListSkills of 5,000, new catalog", "ListSkills5000/cold/public", "cold/floor", "cold/naive"},
	{"ListSkills of 5,000 again", "ListSkills5000/warm", "warm/floor", "warm/naive"},
	{"ListDir of 10 files", "ListDir/10", "ours/floor", "ours/os.ReadDir"},
	{"ListDir of 1,000 files", "ListDir/1000", "ours/floor", "ours/os.ReadDir"},
	{"ListDir of 10,000 files", "ListDir/10000", "ours/floor", "ours/os.ReadDir"},
	{"Tree of 100,000 files", "Tree", "ours/floor", "ours/filepath.WalkDir"},
	{"FindFiles in 100,000 files", "FindFiles/names", "ours/floor", "ours/filepath.WalkDir"},
	{"the same, with Gitignore", "FindFiles/gitignore", "ours/floor", "ours/filepath.WalkDir"},
	{"first Search of 10,000 commands", "SearchFirst/public", "first/read", "first/naive"},
}

//go:embed chart.svg
var source string

var chart = template.Must(template.New("chart").Parse(source))

// The axis is logarithmic. The line of the floor, 1, separates faster from slower. A bar of a value
// outside the axis ends at the end of the axis.
const (
	axisStart, axisEnd   = 0.1, 50.0
	plotStart, plotWidth = 300, 430
	top, rowHeight       = 92, 36
)

// x is the horizontal position of a ratio.
func x(ratio float64) float64 {
	ratio = min(max(ratio, axisStart), axisEnd)
	return math.Round(plotStart + plotWidth*math.Log(ratio/axisStart)/math.Log(axisEnd/axisStart))
}

// A bar extends from the line of the floor to a ratio.
type bar struct {
	Class       string
	X, Width, Y float64
	Label       string
	LabelX      float64
}

func newBar(class string, ratio, y float64) bar {
	from, to := min(x(1), x(ratio)), max(x(1), x(ratio))
	return bar{class, from, max(to-from, 1), y, label(ratio), to + 5}
}

// label is a ratio with two significant digits.
func label(ratio float64) string {
	switch {
	case ratio >= 10:
		return fmt.Sprintf("%.0f×", ratio)
	case ratio >= 1:
		return fmt.Sprintf("%.1f×", ratio)
	case ratio >= 0.01:
		return fmt.Sprintf("%.2f×", ratio)
	}
	return fmt.Sprintf("1/%.0f", 1/ratio)
}

type drawnRow struct {
	Title, Benchmark string
	Y                float64
	Bars             []bar
}

// draw writes the chart of the rows.
func draw(out io.Writer, r results) error {
	var drawn []drawnRow
	for i, row := range rows {
		y := float64(top + i*rowHeight)
		ours, err := r.median(row.benchmark, row.floor)
		bars := []bar{newBar("ours", ours, y)}
		if row.usual != "" && err == nil {
			var ratio float64
			ratio, err = r.median(row.benchmark, row.usual)
			bars = append(bars, newBar("usual", ours/ratio, y+13))
		}
		if err != nil {
			return err
		}
		drawn = append(drawn, drawnRow{row.title, row.benchmark, y, bars})
	}
	ticks := map[float64]string{} // labels by their places
	for _, ratio := range []float64{0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50} {
		ticks[x(ratio)] = fmt.Sprintf("%g×", ratio)
	}
	return chart.Execute(out, map[string]any{
		"System": r.system, "Rows": drawn, "Ticks": ticks, "Floor": x(1),
		"Top": top - 8, "Bottom": top + len(rows)*rowHeight - 6, "Height": top + len(rows)*rowHeight + 30,
	})
}
