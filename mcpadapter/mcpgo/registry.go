package mcpgo

import (
	"reflect"
	"sync"
	"sync/atomic"
)

// A registry keeps the registered items of a server, by key, equal to a list of a catalog.
type registry[T any] struct {
	key func(T) string

	started atomic.Uint64 // number of started reads of the catalog

	mu         sync.Mutex // held while the server changes, but not while the catalog is read
	applied    uint64     // number of the latest read whose items are registered
	registered map[string]T
}

// sync calls change with the new and changed items and with the keys of the items that the
// catalog no longer has. If the catalog cannot be read, the items stay. A call whose context
// ends in read does not wait for another call.
func (r *registry[T]) sync(read func() ([]T, error), change func(added []T, removed []string)) {
	number := r.started.Add(1)
	items, err := read()
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if number < r.applied { // the items of a later read are registered
		return
	}
	r.applied = number
	current := make(map[string]T, len(items))
	var added []T
	for _, item := range items {
		key := r.key(item)
		current[key] = item
		if old, ok := r.registered[key]; !ok || !reflect.DeepEqual(old, item) {
			added = append(added, item)
		}
	}
	var removed []string
	for key := range r.registered {
		if _, ok := current[key]; !ok {
			removed = append(removed, key)
		}
	}
	r.registered = current
	change(added, removed)
}

// has reports whether an item is registered.
func (r *registry[T]) has(key string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.registered[key]
	return ok
}
