// Command otel expands the lines of the standard input, such as "/pdf-forms invoice.pdf", in a
// project, and prints the spans and metrics of the used skills at the end.
//
//	echo /pdf-forms | go -C examples/otel run . ../sample/project
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"go.opentelemetry.io/otel/exporters/stdout/stdoutmetric"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/examples/otel/genai"
)

func main() {
	log.SetFlags(0)
	if err := run(context.Background(), os.Stdin, os.Stdout, append(os.Args, ".")[1]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, lines io.Reader, w io.Writer, dir string) (err error) {
	spans, err := stdouttrace.New(stdouttrace.WithWriter(w))
	if err != nil {
		return err
	}
	metrics, err := stdoutmetric.New(stdoutmetric.WithWriter(w))
	if err != nil {
		return err
	}
	tracers := trace.NewTracerProvider(trace.WithBatcher(spans))
	meters := metric.NewMeterProvider(metric.WithReader(metric.NewPeriodicReader(metrics)))
	defer func() { err = errors.Join(err, tracers.Shutdown(ctx), meters.Shutdown(ctx)) }()
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	observer, err := genai.Observer(tracers, meters, func(e toolshelf.Event) string { return "file://" + filepath.ToSlash(filepath.Join(dir, e.Layer)) })
	if err != nil {
		return err
	}
	catalog, err := toolshelf.New(toolshelf.WithRoot(dir), toolshelf.WithObserver(observer))
	if err != nil {
		return err
	}
	defer catalog.Close()
	for s := bufio.NewScanner(lines); s.Scan(); {
		x, err := catalog.Expand(ctx, s.Text())
		if err != nil {
			fmt.Fprintln(w, err)
			continue
		}
		fmt.Fprintln(w, x.Text)
	}
	return nil
}
