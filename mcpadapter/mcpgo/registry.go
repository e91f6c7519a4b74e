package mcpgo

import (
	"reflect"
	"sync"
	"sync/atomic"
)

// A registry keeps the registered items of a server, by key, equal to the lists of its
// catalogs. If several catalogs have an item with the same key, the last source wins.
type registry[T any] struct {
	key func(T) string

	mu         sync.Mutex   // held while the server changes, but not while a catalog is read
	sources    []*source[T] // in the order of Register
	registered map[string]T
}

// A source is the list of one catalog.
type source[T any] struct {
	started atomic.Uint64 // number of started reads of the catalog

	// Guarded by the mutex of the registry.
	applied uint64 // number of the latest read whose items are registered
	items   map[string]T
}

// add adds a source without items.
func (r *registry[T]) add() *source[T] {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := new(source[T])
	r.sources = append(r.sources, s)
	return s
}

// sync reads the list of a source, and calls change with the items that the server must add
// or replace and with the keys of the items that no catalog has any more. If the catalog
// cannot be read, the items stay. A call whose context ends in read does not wait for another
// call.
func (r *registry[T]) sync(s *source[T], read func() ([]T, error), change func(added []T, removed []string)) {
	number := s.started.Add(1)
	items, err := read()
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if number < s.applied { // the items of a later read are registered
		return
	}
	s.applied, s.items = number, make(map[string]T, len(items))
	for _, item := range items {
		s.items[r.key(item)] = item
	}
	current := make(map[string]T, len(r.registered))
	for _, s := range r.sources {
		for key, item := range s.items {
			current[key] = item
		}
	}
	var added []T
	for key, item := range current {
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

// has reports whether a source has an item.
func (r *registry[T]) has(s *source[T], key string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := s.items[key]
	return ok
}

// registers reports whether an item is registered.
func (r *registry[T]) registers(key string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.registered[key]
	return ok
}
