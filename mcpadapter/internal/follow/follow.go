// Package follow keeps an SDK's server up to date with an adapter, without keeping
// the server alive.
package follow

import (
	"context"
	"runtime"
	"weak"

	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// Prompts calls update with the owner after the adapter's prompts change. The calls end
// when ctx ends or when the owner becomes unreachable. Prompts does not keep the owner
// reachable, so update must not hold the owner.
//
// An unreachable server has no sessions, so no client misses a notification.
func Prompts[T any](ctx context.Context, a *mcpadapter.Adapter, owner *T, update func(*T)) {
	target := weak.Make(owner)
	stop := a.OnPromptsChange(func([]string) {
		if owner := target.Value(); owner != nil {
			update(owner)
		}
	})
	release := context.AfterFunc(ctx, stop)
	runtime.AddCleanup(owner, func(stop func()) {
		release()
		stop()
	}, stop)
}
