// Chart reads the output of go test -bench from the standard input and writes docs/benchmarks.svg
// to the standard output: a chart of the benchmarks of the module's root package that compare the
// library with the floor, only the necessary system calls, and with the usual way of programs.
//
//	go run ./internal/dev/chart <.ci/benchmarks.txt >docs/benchmarks.svg
//
// Each bar is the median of a ratio over all runs in the input.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "chart:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	results, err := parse(in)
	if err != nil {
		return err
	}
	return draw(out, results)
}
