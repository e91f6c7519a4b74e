//go:build unix

package servertest

import (
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/versity/versitygw/backend/meta"
)

// attributes holds the attributes of objects in memory, because versitygw otherwise writes several
// files for each object.
type attributes struct {
	mu     sync.Mutex
	values map[string]map[string][]byte // by bucket and object, by attribute
}

var _ meta.MetadataStorer = (*attributes)(nil)

func (a *attributes) RetrieveAttribute(_ *os.File, bucket, object, attribute string) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	value, ok := a.values[path.Join(bucket, object)][attribute]
	if !ok {
		return nil, meta.ErrNoSuchKey
	}
	return value, nil
}

func (a *attributes) StoreAttribute(_ *os.File, bucket, object, attribute string, value []byte) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	name := path.Join(bucket, object)
	if a.values[name] == nil {
		a.values[name] = map[string][]byte{}
	}
	a.values[name][attribute] = value
	return nil
}

func (a *attributes) DeleteAttribute(bucket, object, attribute string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.values[path.Join(bucket, object)], attribute)
	return nil
}

func (a *attributes) ListAttributes(bucket, object string) ([]string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Collect(maps.Keys(a.values[path.Join(bucket, object)])), nil
}

func (a *attributes) DeleteAttributes(bucket, object string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.values, path.Join(bucket, object))
	return nil
}

func (a *attributes) RenameObject(bucket, before, after string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	before, after = path.Join(bucket, before), path.Join(bucket, after)
	for name, values := range maps.Clone(a.values) {
		if below, ok := strings.CutPrefix(name, before); ok && (below == "" || below[0] == '/') {
			delete(a.values, name)
			a.values[after+below] = values
		}
	}
	return nil
}
