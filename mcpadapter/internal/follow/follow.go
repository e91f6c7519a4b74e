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
	follow(ctx, a.OnPromptsChange, owner, func(owner *T, _ []string) { update(owner) })
}

// Skills is Prompts for the published skills. update also gets the URIs of the changed
// skills.
func Skills[T any](ctx context.Context, a *mcpadapter.Adapter, owner *T, update func(owner *T, uris []string)) {
	follow(ctx, a.OnSkillsChange, owner, update)
}

func follow[T any](ctx context.Context, subscribe func(func([]string)) (stop func()), owner *T, update func(*T, []string)) {
	target := weak.Make(owner)
	stop := subscribe(func(changed []string) {
		if owner := target.Value(); owner != nil {
			update(owner, changed)
		}
	})
	release := context.AfterFunc(ctx, stop)
	runtime.AddCleanup(owner, func(stop func()) {
		release()
		stop()
	}, stop)
}
