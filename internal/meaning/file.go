package meaning

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"time"
	"unsafe"

	"github.com/toolshelf-go/toolshelf/internal/vector"
)

// The file of vectors has the line fileHeader, then for each vector its key, the number of its
// dimensions and its numbers, and at last the SHA-256 of all bytes before. The newest vectors are
// the first.
const (
	fileName   = "toolshelf-vectors"
	tempName   = fileName + ".tmp"
	fileHeader = "toolshelf vectors 1\n"
	maxFile    = 64 << 20 // bytes; the oldest vectors that no document has leave the file
)

// open opens the directory of the file. The last element "." makes the open of a named pipe an error instead of
// a wait.
func (s *Store) open() (*os.Root, error) {
	return os.OpenRoot(s.config.Dir + string(os.PathSeparator) + ".")
}

// load makes the pending vectors known that the file has.
func (s *Store) load() error {
	root, err := s.open()
	if err != nil {
		return err
	}
	defer root.Close()
	data, err := read(root)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := maps.Collect(records(data))
	for _, k := range s.queue {
		v, values := s.vectors[k].Value(), kept[k]
		if _, pending := s.pending[k]; !pending || v == nil {
			continue
		}
		p, ok := vector.PointOf(bytes8(bytes.Clone(values)))
		if !ok || s.dimensions != 0 && len(values) != s.dimensions {
			continue
		}
		s.dimensions = len(values)
		v.Set(p)
		delete(s.pending, k)
	}
	return nil
}

// bytes8 converts bytes to signed numbers in place.
func bytes8(b []byte) []int8 {
	return unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(b))), len(b))
}

// read returns the records of the file, or nil if the file is missing, broken or foreign.
func read(root *os.Root) ([]byte, error) {
	info, err := root.Lstat(fileName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, err
	}
	f, err := root.Open(fileName)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil || len(data) < len(fileHeader)+sha256.Size ||
		!bytes.HasPrefix(data, []byte(fileHeader)) {
		return nil, err
	}
	data, sum := data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	if sha256.Sum256(data) != [sha256.Size]byte(sum) {
		return nil, nil
	}
	return data[len(fileHeader):], nil
}

// records ranges over the records of a file, and ends at a record that is not complete.
func records(data []byte) iter.Seq2[key, []byte] {
	return func(yield func(key, []byte) bool) {
		for len(data) >= len(key{})+2 {
			k := key(data)
			n := int(binary.BigEndian.Uint16(data[len(k):]))
			if data = data[len(k)+2:]; n > len(data) || !yield(k, data[:n]) {
				return
			}
			data = data[n:]
		}
	}
}

func appendRecord(data []byte, k key, values []byte) []byte {
	data = binary.BigEndian.AppendUint16(append(data, k[:]...), uint16(len(values)))
	return append(data, values...)
}

// save writes the known vectors and the other vectors of the file. The temporary file has a
// fixed name, so that only one process writes, and no process loses the vectors of another.
func (s *Store) save() error {
	if err := os.MkdirAll(s.config.Dir, 0o700); err != nil {
		return err
	}
	root, err := s.open()
	if err != nil {
		return err
	}
	defer root.Close()
	if info, err := root.Lstat(tempName); err == nil && time.Since(info.ModTime()) > maxStale {
		_ = root.Remove(tempName) // a process has ended while writing
	}
	temp, err := root.OpenFile(tempName, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err // another process writes
	}
	old, err := read(root)
	if err == nil {
		data := s.content(old)
		sum := sha256.Sum256(data)
		_, err = temp.Write(append(data, sum[:]...))
	}
	if err = errors.Join(err, temp.Sync(), temp.Close()); err == nil {
		err = root.Rename(tempName, fileName)
	}
	if err != nil { // after a rename, the temporary file is of another process
		_ = root.Remove(tempName)
	}
	return err
}

// content returns the file without its checksum: the vectors of documents, then the others.
func (s *Store) content(old []byte) []byte {
	data := []byte(fileHeader)
	room := maxFile - sha256.Size
	written := map[key]bool{}
	add := func(k key, values []byte) {
		if !written[k] && len(data)+len(k)+2+len(values) <= room {
			data, written[k] = appendRecord(data, k, values), true
		}
	}
	s.mu.Lock()
	for k, w := range s.vectors {
		if v := w.Value(); v != nil {
			if p := v.Point(); p != nil {
				values := p.Values()
				add(k, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)))
			}
		}
	}
	s.mu.Unlock()
	for k, values := range records(old) {
		add(k, values)
	}
	return data
}
