// Package cursor encodes the position of a row of a list as a text.
package cursor

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"strings"
)

// A cursor is the base64url encoding of the version, a CRC-32 of version, scope
// and key, and the key. The CRC detects every change of up to four adjacent bytes.
// Strict decoding detects every change of the bits that base64 leaves unused.
const version = 1

var (
	encoding = base64.RawURLEncoding.Strict()
	table    = crc32.MakeTable(crc32.Castagnoli)
)

// Encode returns the cursor of a row. The scope names the list, and the key names the row.
func Encode(scope, key string) string {
	b := make([]byte, 5, 5+len(key))
	b[0] = version
	binary.BigEndian.PutUint32(b[1:], sum(scope, key))
	return encoding.EncodeToString(append(b, key...))
}

// Decode returns the key of a cursor. If Encode did not make the cursor for the scope, ok is false.
func Decode(scope, cursor string) (key string, ok bool) {
	// The decoder skips line breaks and would accept an altered cursor.
	if strings.ContainsAny(cursor, "\r\n") {
		return "", false
	}
	b, err := encoding.DecodeString(cursor)
	if err != nil || len(b) < 5 || b[0] != version || binary.BigEndian.Uint32(b[1:]) != sum(scope, string(b[5:])) {
		return "", false
	}
	return string(b[5:]), true
}

func sum(scope, key string) uint32 {
	crc := crc32.Update(0, table, []byte{version})
	crc = crc32.Update(crc, table, []byte(scope))
	crc = crc32.Update(crc, table, []byte{0})
	return crc32.Update(crc, table, []byte(key))
}
