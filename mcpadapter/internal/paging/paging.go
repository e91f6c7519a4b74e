// Package paging has what the lists of an adapter share, whoever serves them.
package paging

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
)

// MaxPrompts is how many prompts a page has at most: as many as a page of the
// catalog can have commands.
const MaxPrompts = 100

// An Identity tells a list from every other one, and from itself once it
// changed: the beginning of a hash of all that it has.
type Identity [12]byte

// Identify makes an Identity of a hash, of which it takes the first 12 bytes.
func Identify(hash []byte) Identity { return Identity(hash[:len(Identity{})]) }

// Cursor names a place in the list by the number of items before it. Programs
// that serve the same list understand each other's.
func (id Identity) Cursor(offset int) string {
	return base64.RawURLEncoding.EncodeToString(binary.AppendUvarint(id[:], uint64(offset)))
}

// Offset returns the place that a cursor names in the list, which has n items.
func (id Identity) Offset(cursor string, n int) (int, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(raw) <= len(id) || !bytes.HasPrefix(raw, id[:]) {
		return 0, false
	}
	offset, _ := binary.Uvarint(raw[len(id):])
	if offset >= uint64(n) || id.Cursor(int(offset)) != cursor { // a place has one name only
		return 0, false
	}
	return int(offset), true
}

// InvalidCursor is the text of the error for a cursor that is quoted already.
func InvalidCursor(quoted string) string {
	return "Invalid cursor " + quoted + "; ask without a cursor for the first page of this list"
}
