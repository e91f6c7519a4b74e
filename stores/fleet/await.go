package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"
)

// patience limits the wait for a feed.
const patience = time.Minute

// walkEach walks over each replica until done returns true.
func walkEach(ctx context.Context, replicas []*replica, done func(i int, w walk) (bool, error)) error {
	for i, r := range replicas {
		for end := false; !end; {
			w, err := walkPrompts(ctx, r.url, func(int) error { return nil })
			if err == nil {
				end, err = done(i, w)
			}
			if err != nil {
				return fmt.Errorf("replica %d: %w", i, err)
			}
		}
	}
	return nil
}

// compareCursors walks over each replica. While nothing changes, the cursors are the same.
func compareCursors(ctx context.Context, out io.Writer, replicas []*replica) error {
	var first walk
	err := walkEach(ctx, replicas, func(i int, w walk) (bool, error) {
		if i == 0 {
			first = w
		}
		if !slices.Equal(w.cursors, first.cursors) {
			return false, fmt.Errorf("the cursors differ:\n%q\n%q", w.cursors, first.cursors)
		}
		return true, nil
	})
	if err == nil {
		fmt.Fprintf(out, "all replicas return the same %d cursors\n", len(first.cursors)-1)
	}
	return err
}

// awaitQuiet walks until a walk over each replica makes no request of the bucket. The walks that
// make requests are before the connection of a feed, and at a heartbeat.
func awaitQuiet(ctx context.Context, out io.Writer, shelf *shelf, replicas []*replica) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	before, walks := 0, 0
	err := walkEach(ctx, replicas, func(i int, w walk) (bool, error) {
		after, err := shelf.requests()
		quiet := after == before
		before, walks = after, walks+1
		if quiet {
			fmt.Fprintf(out, "replica %d: %d pages without a request of the bucket, in walk %d\n", i, len(w.cursors), walks)
			walks = 0
		}
		return quiet, err
	})
	if err != nil {
		return fmt.Errorf("no walk without a request of the bucket: %w", err)
	}
	return nil
}

// awaitPrompt writes a new prompt, and walks over each replica until the replica lists the prompt.
func awaitPrompt(ctx context.Context, out io.Writer, shelf *shelf, replicas []*replica) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	const name = "written-last"
	if err := shelf.put(ctx, name); err != nil {
		return err
	}
	start := time.Now()
	err := walkEach(ctx, replicas, func(_ int, w walk) (bool, error) {
		return slices.Contains(w.names, name), nil
	})
	if err != nil {
		return fmt.Errorf("the prompt %s is not listed: %w", name, err)
	}
	fmt.Fprintf(out, "the other replicas list a new prompt after %v\n", time.Since(start).Round(time.Millisecond))
	return nil
}
