package trust

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// read returns a state with the content or the error of the file, without a number and a book.
func (s *Store) read() *state {
	if s.invalid != nil {
		return &state{err: s.invalid}
	}
	now := time.Now()
	f, err := s.dir.OpenRegular(s.name)
	switch {
	case err != nil && isMissing(err):
		return &state{missing: true}
	case errors.Is(err, confine.ErrSymlink), errors.Is(err, confine.ErrNotRegular):
		return &state{err: fmt.Errorf("%w: a link or a directory has its name; pass the path of a regular file", ErrBroken)}
	case err != nil:
		return &state{err: fmt.Errorf("trust: the store cannot be read; correct its permissions: %w", err)}
	}
	defer f.Close()
	if err := private(s.file); err != nil {
		return &state{err: err}
	}
	info := known(f.Info())
	var content strings.Builder
	content.Grow(int(min(info.Size, maxFile)) + 1)
	if n, err := io.Copy(&content, io.LimitReader(f, maxFile+1)); err != nil {
		return &state{err: fmt.Errorf("trust: the store cannot be read: %w", err)}
	} else if n > maxFile {
		return &state{err: fmt.Errorf("%w: the file has more than %d MiB; move the file away, and approve the entries again", ErrBroken, maxFile>>20)}
	}
	return &state{loaded: true, raw: content.String(), stamp: stamp.Of(info), settled: stamp.Settled(info, now)}
}

// known returns the metadata of a file with the modification time as the change time of a
// filesystem without change times: nobody else than the user writes the file, and a Store sets no
// times.
func known(info confine.Info) confine.Info {
	if info.Changed.IsZero() {
		info.Changed = info.Modified
	}
	return info
}

// isMissing reports whether an error of an open or of a stat means that the file does not exist.
func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// lock creates the directory and waits until no other program changes the file. The file of the
// lock stays, because a program that removes the file could remove the lock of another program.
func (s *Store) lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(s.file), 0o700); err != nil {
		return nil, fmt.Errorf("trust: the directory of the store cannot be created: %w", err)
	}
	if err := private(s.file); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(s.file+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("trust: the lock of the store cannot be opened; correct the permissions: %w", err)
	}
	err = poll(ctx, func() (bool, error) { return tryLock(f) })
	if err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil // the system releases the lock of a closed file, also of a killed program
}

// write replaces the file in one step. The holder of the lock is the only writer, so a temporary
// file is the rest of a program that was killed.
func (s *Store) write(ctx context.Context, text string) error {
	temp := s.file + ".tmp"
	if err := os.Remove(temp); err != nil && !isMissing(err) {
		return fmt.Errorf("trust: the temporary file cannot be removed: %w", err)
	}
	err := writeNew(temp, text)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = replace(ctx, temp, s.file)
	}
	if err != nil {
		os.Remove(temp)
		if err == ctx.Err() {
			return err
		}
		return fmt.Errorf("trust: the store cannot be written: %w", err)
	}
	return syncDir(filepath.Dir(s.file))
}

// writeNew writes and syncs a new file.
func writeNew(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return cmp.Or(err, f.Sync(), f.Close())
}

// poll calls try until try is done or fails, or ctx ends.
func poll(ctx context.Context, try func() (done bool, err error)) error {
	const shortest, longest = time.Millisecond, 20 * time.Millisecond
	timer := time.NewTimer(shortest)
	defer timer.Stop()
	for wait := shortest; ; wait = min(2*wait, longest) {
		if done, err := try(); done || err != nil {
			return err
		}
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
