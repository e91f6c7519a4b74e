// Package must ends a test on an error, and reports differences between values. The functions call
// Helper only for a failure, because Helper takes longer than a system call that a benchmark
// measures.
package must

import (
	"errors"
	"fmt"
	"log"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// A TB is a test, a benchmark or a property.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// Program is the TB of a program for tests: a failure ends the program.
var Program TB = program{}

type program struct{}

func (program) Helper()                           {}
func (program) Errorf(format string, args ...any) { log.Fatalf(format, args...) }
func (program) Fatal(args ...any)                 { log.Fatal(args...) }

// Do ends the test if err is not nil.
func Do(t TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// Get returns a function that returns the value, or ends the test if err is not nil: the results of
// a call are the arguments of Get, as in
//
//	list := must.Get(catalog.List(ctx, page))(t)
func Get[V any](value V, err error) func(TB) V {
	return func(t TB) V {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
		return value
	}
}

// Equal reports an error of the test if the values differ. The report begins with of.
func Equal[V comparable](t TB, of any, want, got V) {
	if got != want {
		t.Helper()
		t.Errorf("%v: got %#v, want %#v", of, got, want)
	}
}

// Is reports an error of the test unless err matches want, as errors.Is, and has the parts in its
// text.
func Is(t TB, of any, want, err error, parts ...string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%v: got the error %v, want %v", of, err, want)
	}
	Contain(t, of, err, parts...)
}

// Fail returns Is for the results of a call.
func Fail[V any](_ V, err error) func(t TB, of any, want error, parts ...string) {
	return func(t TB, of any, want error, parts ...string) {
		t.Helper()
		Is(t, of, want, err, parts...)
	}
}

// Match reports an error of the test if cmp.Diff finds a difference.
func Match(t TB, of any, want, got any, opts ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, opts...); diff != "" {
		t.Errorf("%v (-want +got):\n%s", of, diff)
	}
}

// Contain reports an error of the test for each part that the text of got, as by fmt.Sprint, lacks.
func Contain(t TB, of, got any, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if text := fmt.Sprint(got); !strings.Contains(text, part) {
			t.Errorf("%v: got %q, want a text with %q", of, text, part)
		}
	}
}

// NotContain reports an error of the test for each part that the text of got has.
func NotContain(t TB, of, got any, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if text := fmt.Sprint(got); strings.Contains(text, part) {
			t.Errorf("%v: got %q, want a text without %q", of, text, part)
		}
	}
}

// Has reports an error of the test for each value that got lacks.
func Has[S ~[]E, E comparable](t TB, of any, got S, values ...E) {
	t.Helper()
	for _, value := range values {
		if !slices.Contains(got, value) {
			t.Errorf("%v: got %+v, want a list with %+v", of, got, value)
		}
	}
}

// Len ends the test if got has another length.
func Len[S ~[]E, E any](t TB, of any, want int, got S) {
	if len(got) != want {
		t.Helper()
		t.Fatal(fmt.Sprintf("%v: got %d values, want %d: %+v", of, len(got), want, got))
	}
}
