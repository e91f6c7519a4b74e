// Package must ends a test on an error, and reports differences between values.
package must

import "github.com/google/go-cmp/cmp"

// A TB is a test, a benchmark or a property.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// Do ends the test if err is not nil.
func Do(t TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Get returns a function that returns the value, or ends the test if err is not nil: the results of
// a call are the arguments of Get, as in
//
//	list := must.Get(catalog.List(ctx, page))(t)
func Get[V any](value V, err error) func(TB) V {
	return func(t TB) V {
		t.Helper()
		Do(t, err)
		return value
	}
}

// Match reports an error of the test if cmp.Diff finds a difference.
func Match(t TB, of string, want, got any, opts ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, opts...); diff != "" {
		t.Errorf("%s (-want +got):\n%s", of, diff)
	}
}
