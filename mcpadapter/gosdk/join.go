package gosdk

import (
	"crypto/sha256"
	"encoding/json"

	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/paging"
)

// identify returns the identity of a list from its kind and all its items.
func identify[T any](kind string, items []T) (paging.Identity, error) {
	hash := sha256.New()
	hash.Write([]byte(kind))
	e := json.NewEncoder(hash)
	for _, item := range items {
		if err := e.Encode(item); err != nil {
			return paging.Identity{}, err
		}
	}
	return paging.Identify(hash.Sum(nil)), nil
}
