package gosdk

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
)

// An identity tells a list from every other one, and from itself once it
// changed.
type identity [12]byte

// identify makes the identity of a list of some kind from all of its items.
func identify[T any](kind string, items []T) (identity, error) {
	hash := sha256.New()
	hash.Write([]byte(kind))
	e := json.NewEncoder(hash)
	for _, item := range items {
		if err := e.Encode(item); err != nil {
			return identity{}, err
		}
	}
	return identity(hash.Sum(nil)[:len(identity{})]), nil
}

// cursor names a place in the list by the number of items before it. Programs
// that serve the same list understand each other's.
func (id identity) cursor(offset int) string {
	return base64.RawURLEncoding.EncodeToString(binary.AppendUvarint(id[:], uint64(offset)))
}

// offset returns the place that a cursor names in the list, which has n items.
func (id identity) offset(cursor string, n int) (int, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(raw) <= len(id) || !bytes.HasPrefix(raw, id[:]) {
		return 0, false
	}
	offset, _ := binary.Uvarint(raw[len(id):])
	if offset >= uint64(n) || id.cursor(int(offset)) != cursor { // a place has one name only
		return 0, false
	}
	return int(offset), true
}
