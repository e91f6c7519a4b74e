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

// awaitQuiet walks until a walk over each replica makes no request of the bucket. The walks that
// make requests are before the connection of a feed, and at a heartbeat.
func awaitQuiet(ctx context.Context, out io.Writer, shelf *shelf, replicas []*replica) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for i, r := range replicas {
		for walks := 1; ; walks++ {
			before, err := shelf.requests()
			if err != nil {
				return err
			}
			w, err := walkPrompts(ctx, r.url, func(int) error { return nil })
			if err != nil {
				return fmt.Errorf("replica %d, walk %d, and no walk without a request of the bucket: %w", i, walks, err)
			}
			after, err := shelf.requests()
			if err != nil {
				return err
			}
			if after == before {
				fmt.Fprintf(out, "replica %d: %d pages without a request of the bucket, in walk %d\n", i, len(w.cursors), walks)
				break
			}
		}
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
	for _, r := range replicas {
		for {
			w, err := walkPrompts(ctx, r.url, func(int) error { return nil })
			if err != nil {
				return fmt.Errorf("a replica does not list the prompt %s: %w", name, err)
			}
			if slices.Contains(w.names, name) {
				break
			}
		}
	}
	fmt.Fprintf(out, "the other replicas list a new prompt after %v\n", time.Since(start).Round(time.Millisecond))
	return nil
}
