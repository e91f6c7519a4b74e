// Package digest computes the SHA-256 of the files of skills, and keeps the digests while
// the files are unchanged.
package digest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash/maphash"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/skilldir"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// ErrChanging reports a skill that changes between two reads of its files.
var ErrChanging = index.ErrChanging

// A Digest is the SHA-256 of a file.
type Digest struct {
	sum  [sha256.Size]byte
	head uint64 // of a SKILL.md: the headHash of the same bytes; otherwise 0
}

// String returns the SHA-256 as 64 lowercase hexadecimal digits.
func (d Digest) String() string { return hex.EncodeToString(d.sum[:]) }

// OfSkillFile returns the Digest of a SKILL.md with the given frontmatter.
func OfSkillFile(content []byte, format, frontmatter string) Digest {
	return Digest{sum: sha256.Sum256(content), head: headHash(format, frontmatter)}
}

// HasHead reports whether the Digest is the result of OfSkillFile for a SKILL.md with the
// given frontmatter.
func (d Digest) HasHead(format, frontmatter string) bool {
	return d.head == headHash(format, frontmatter)
}

// headHash returns a hash of a frontmatter. The result is not 0.
func headHash(format, frontmatter string) uint64 {
	return maphash.String(seed, format+"\n"+frontmatter) | 1
}

// Of returns the digest of a listed file, from the cache if possible, or ErrChanging if the
// file has changed since the listing.
func (c *Cache) Of(ctx context.Context, dir *index.SkillDir, f skilldir.File) (Digest, error) {
	if d, ok := c.Kept(dir, f); ok {
		return d, nil
	}
	now := time.Now()
	d, err := read(ctx, dir, f)
	switch {
	case err == nil:
		c.Keep(dir, f, d, now)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, confine.ErrNotRegular), errors.Is(err, confine.ErrEscape), errors.Is(err, confine.ErrSymlink):
		return d, ErrChanging
	}
	return d, err
}

// read returns the digest of a listed file, or ErrChanging if the file has other metadata.
func read(ctx context.Context, dir *index.SkillDir, listed skilldir.File) (d Digest, err error) {
	f, err := dir.Open(listed.Name)
	if err != nil {
		return d, err
	}
	defer f.Close()
	if !stamp.SameFile(f.Info(), listed.Info) {
		return d, ErrChanging
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, io.LimitReader(untilEnded{ctx, f}, listed.Info.Size+1)); err != nil {
		return d, err
	}
	hash.Sum(d.sum[:0])
	return d, nil
}

// untilEnded is a reader that stops at the end of a context.
type untilEnded struct {
	ctx context.Context
	r   io.Reader
}

func (u untilEnded) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

// Unchanged lists the files of a skill again, and returns ErrChanging if the files have
// changed since the first listing.
func Unchanged(ctx context.Context, dir *index.SkillDir, listed skilldir.Listing) error {
	again, err := dir.Files(ctx)
	if err != nil {
		return err
	}
	same := slices.EqualFunc(listed.Files, again.Files, func(a, b skilldir.File) bool {
		return a.Name == b.Name && stamp.SameFile(a.Info, b.Info)
	})
	if !same {
		return ErrChanging
	}
	return nil
}
