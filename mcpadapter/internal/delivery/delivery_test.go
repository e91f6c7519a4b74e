package delivery_test

import (
	"context"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/delivery"
)

func TestThenWaitsForTheDelivery(t *testing.T) {
	var calls []string
	then := func(ctx context.Context, row, call string) {
		delivery.Then(ctx, row, func() { calls = append(calls, call) })
	}
	ctx := t.Context()
	then(ctx, "a", "at once")
	outer, deliver := delivery.Collect(ctx)
	inner, nothing := delivery.Collect(outer)
	then(outer, "a", "a")
	then(inner, "a", "a of the inner list")
	then(inner, "b", "b")
	nothing("b")
	for range 2 {
		deliver("a")
		deliver("c")
	}
	must.Match(t, "result", []string{"at once", "a", "a of the inner list"}, calls)
}
