// Package must ends a test on an error, and reports differences between values. The functions call
// Helper only for a failure, because Helper takes longer than a system call that a benchmark
// measures.
package must

import (
	"errors"

	"github.com/google/go-cmp/cmp"
)

// A TB is a test, a benchmark or a property.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

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

// Is reports an error of the test unless err matches want, as errors.Is.
func Is(t TB, of any, want, err error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%v: got the error %v, want %v", of, err, want)
	}
}

// Fail returns Is for the results of a call.
func Fail[V any](_ V, err error) func(t TB, of any, want error) {
	return func(t TB, of any, want error) {
		t.Helper()
		Is(t, of, want, err)
	}
}

// Match reports an error of the test if cmp.Diff finds a difference.
func Match(t TB, of any, want, got any, opts ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, opts...); diff != "" {
		t.Errorf("%v (-want +got):\n%s", of, diff)
	}
}
