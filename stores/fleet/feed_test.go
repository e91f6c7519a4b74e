package main

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestFeedReportsEventsAndHeartbeats(t *testing.T) {
	cluster := must.Get(startCluster(t.Context()))(t)
	defer cluster.stop()
	for _, heartbeat := range []time.Duration{time.Millisecond, time.Hour} {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		touched, ended := make(chan []string), make(chan error, 1)
		go func() {
			ended <- newFeed(cluster.urls, heartbeat)(ctx, func(paths ...string) {
				select {
				case touched <- paths:
				case <-ctx.Done():
				}
			})
			close(touched)
		}()
		<-touched // connected
		var want []string
		if heartbeat == time.Hour {
			want = []string{"a.md"}
			if err := cluster.publish("a.md"); err != nil {
				t.Error(err)
			}
		}
		if paths, ok := <-touched; !ok || !slices.Equal(paths, want) {
			t.Errorf("heartbeat %v: touch of %q %v, want %q", heartbeat, paths, ok, want)
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("heartbeat %v: %v", heartbeat, err)
		}
	}
}
