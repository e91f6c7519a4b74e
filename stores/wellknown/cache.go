package wellknown

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

// A page is an index as the origin sent it.
type page struct {
	URL          string    `json:"url"`
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"last_modified,omitempty"`
	Checked      time.Time `json:"checked"`
	Index        []byte    `json:"index"`
}

// A cache keeps the page and the artifacts of an index below one directory. Each file is complete
// or missing: a file is written under another name, synced and renamed. The name of an artifact is
// its digest, so processes that write the same artifact write the same bytes, and a reader compares
// the bytes with the name. The zero cache keeps nothing.
type cache struct {
	root   *os.Root // nil without a directory
	url    string
	failed atomic.Pointer[error] // of the last write without success
}

const pageName, tempSuffix = "index.json", ".tmp"

// unusedAge is the age at which clean removes a file that no index names, also of a killed process.
const unusedAge = time.Hour

// openCache opens the directory of an index below dir.
func openCache(dir string, index *url.URL) (*cache, error) {
	if dir == "" {
		return new(cache), nil
	}
	sum := sha256.Sum256([]byte(index.String()))
	below := hex.EncodeToString(sum[:8])
	err := os.MkdirAll(dir, 0o700)
	var top, root *os.Root
	if err == nil {
		top, err = os.OpenRoot(dir)
	}
	if err == nil {
		defer top.Close()
		if err = top.MkdirAll(below, 0o700); err == nil {
			root, err = top.OpenRoot(below + "/.") // "." makes the open of a named pipe an error instead of a wait
		}
	}
	if err != nil {
		return nil, fmt.Errorf("wellknown: the directory of the cache cannot be created or opened: %w", err)
	}
	return &cache{root: root, url: index.String()}, nil
}

// page returns the kept page. A broken file and a page of another index count as missing.
func (c *cache) page(limit int64) (p page, ok bool) {
	data, ok := c.read(pageName, 2*limit+64<<10)
	return p, ok && json.Unmarshal(data, &p) == nil && p.URL == c.url && int64(len(p.Index)) <= limit
}

func (c *cache) keep(p page) {
	p.URL = c.url
	data, _ := json.Marshal(p) // has no value that JSON lacks
	c.write(pageName, data)
}

// artifact returns a kept artifact, after a comparison with the digest.
func (c *cache) artifact(digest string, limit int64) ([]byte, bool) {
	data, ok := c.read(fileOf(digest), limit)
	return data, ok && digestOf(data) == digest
}

func fileOf(digest string) string { return strings.Replace(digest, ":", "-", 1) }

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// read returns the bytes of a regular file within a limit.
func (c *cache) read(name string, limit int64) ([]byte, bool) {
	if c.root == nil {
		return nil, false
	}
	if info, err := c.root.Lstat(name); err != nil || !info.Mode().IsRegular() || info.Size() > limit {
		return nil, false // an open of a named pipe would wait
	}
	file, err := c.root.Open(name)
	if err != nil {
		return nil, false
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	return data, err == nil && int64(len(data)) <= limit
}

// write replaces a file in one step, or keeps the error for Refresh.
func (c *cache) write(name string, data []byte) {
	if c.root == nil {
		return
	}
	temp := name + "." + rand.Text() + tempSuffix
	file, err := c.root.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = file.Write(data)
		if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
			err = c.root.Rename(temp, name)
		}
	}
	if err != nil {
		c.failed.Store(&err)
		_ = c.root.Remove(temp)
	}
}

// clean removes the files that the index does not name, an hour after they were written: another
// process may be about to write an index that names a new file.
func (c *cache) clean(entries []entry) {
	if c.root == nil {
		return
	}
	used := map[string]bool{pageName: true}
	for _, e := range entries {
		used[fileOf(e.Digest)] = true
	}
	kept, _ := fs.ReadDir(c.root.FS(), ".")
	for _, d := range kept {
		if info, err := d.Info(); err == nil && !used[d.Name()] && time.Since(info.ModTime()) > unusedAge {
			_ = c.root.Remove(d.Name())
		}
	}
}
