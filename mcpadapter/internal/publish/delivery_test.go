package publish

import (
	"context"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestThenWaitsForTheDelivery(t *testing.T) {
	var calls []string
	call := func(ctx context.Context, row, call string) {
		then(ctx, row, func() { calls = append(calls, call) })
	}
	ctx := t.Context()
	call(ctx, "a", "at once")
	outer, deliver := Collect(ctx)
	inner, nothing := Collect(outer)
	call(outer, "a", "a")
	call(inner, "a", "a of the inner list")
	call(inner, "b", "b")
	nothing("b")
	for range 2 {
		deliver("a")
		deliver("c")
	}
	must.Match(t, "result", []string{"at once", "a", "a of the inner list"}, calls)
}
