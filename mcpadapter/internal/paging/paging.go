// Package paging makes and reads the cursors of tools/list and prompts/list.
package paging

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
)

// MaxRows is the maximum number of skills or resources on a page.
const MaxRows = 100

// PromptSize returns the maximum number of prompts on a page of an *mcpadapter.Adapter. Package
// mcpadapter sets the function.
var PromptSize func(adapter any) int

// An Identity identifies the state of a list: the beginning of a hash of the list's
// items.
type Identity [12]byte

// Identify returns the Identity of a list, the first 12 bytes of hash.
func Identify(hash []byte) Identity { return Identity(hash[:len(Identity{})]) }

// Cursor returns the cursor for the item at an offset. Programs that serve the same
// list accept each other's cursors. A cursor has no checksum, so an altered cursor can be
// the cursor of another offset of the same list.
func (id Identity) Cursor(offset int) string {
	return base64.RawURLEncoding.EncodeToString(binary.AppendUvarint(id[:], uint64(offset)))
}

// Offset returns the offset of a cursor in the list of n items. For a text other than
// the cursors of the offsets below n, Offset returns false.
func (id Identity) Offset(cursor string, n int) (int, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(raw) <= len(id) || !bytes.HasPrefix(raw, id[:]) {
		return 0, false
	}
	offset, _ := binary.Uvarint(raw[len(id):])
	if offset >= uint64(n) || id.Cursor(int(offset)) != cursor { // other encodings of the same offset are invalid
		return 0, false
	}
	return int(offset), true
}

// InvalidCursor returns the message for an invalid cursor. The caller quotes the
// cursor.
func InvalidCursor(quoted string) string {
	return "Invalid cursor " + quoted + "; omit the cursor to get the first page of this list"
}
