package mcpadapter

import (
	"context"
	"slices"
	"sync"
)

// skillURIs remembers the URIs of published skills by the names of the catalog, because a
// removed skill has no URI any more. skillURIs is empty before the first call of use.
type skillURIs struct {
	mu   sync.Mutex
	used bool
	uris map[string]string
}

func (u *skillURIs) use() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.used = true
}

// add remembers the current publications beside earlier publications.
func (u *skillURIs) add(published []publication) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.used {
		return
	}
	const maxRemoved = 1000
	if u.uris == nil || len(u.uris) > len(published)+maxRemoved {
		u.uris = make(map[string]string, len(published))
	}
	for _, p := range published {
		u.uris[p.Name] = p.uri()
	}
}

// of returns the known URIs of names.
func (u *skillURIs) of(names []string) (uris []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, name := range names {
		if uri, ok := u.uris[name]; ok {
			uris = append(uris, uri)
		}
	}
	return uris
}

// urisOf returns the sorted URIs of the named skills, before and after a change. If the
// catalog cannot be read, urisOf returns the known URIs.
func (a *Adapter) urisOf(names []string) []string {
	uris := a.skillURIs.of(names)
	if skills, err := a.model.ListSkills(context.Background()); err == nil {
		a.publications(skills) // remembers the URIs
		uris = append(uris, a.skillURIs.of(names)...)
	}
	slices.Sort(uris)
	return slices.Compact(uris)
}
