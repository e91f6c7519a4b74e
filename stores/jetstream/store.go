// Package jetstream reads commands and skills from a key-value bucket of NATS JetStream.
// A [Store] is a filesystem for toolshelf.WithCommandsFS and toolshelf.WithSkillsFS. A key
// such as "commands/deploy.md" is the path of a file.
//
// Guarantees:
//
//   - Reads see the previous writes of all clients. A watch copies the bucket into memory.
//     Each snapshot asks the leader of the stream for the last revision, which is one
//     request, and waits until the copy has this revision. The copy alone is late: a read
//     directly after a write of another client is almost always stale.
//   - If the watch does not deliver a revision within a second, the store copies the bucket
//     again. A change of the leader can delay a watch by many seconds. A copy also starts
//     again if messages have disappeared unnoticed, such as keys with a time to live,
//     and after each change of a bucket with a history of 2 or more and a time to live of keys.
//   - A bucket can go back, as when the server restores a backup. After 4 seconds without a
//     snapshot, the first snapshot of a changed bucket verifies the copy with a second watch. If
//     the bucket has gone back, the store copies the bucket again.
//   - The version of a file is the hash of the content. The version of a snapshot depends on the
//     revisions of all keys.
//   - If the server does not answer, a call fails or uses the last good snapshot, as
//     Options.Stale decides.
//
// A key with other characters than letters, digits, "-", "_", "=", "." and "/" is not possible in
// NATS. Keys that [io/fs.ValidPath] does not accept, such as "a//b", and keys with more than 100
// elements are omitted. The bucket is in memory, at most Options.MaxSize bytes, and about 100 bytes
// and the name for each key, also of keys that are deleted or not below Options.Dir.
//
// See https://github.com/toolshelf-go/toolshelf for an overview of the library.
package jetstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/toolshelf-go/toolshelf/internal/filetree"
	"github.com/toolshelf-go/toolshelf/stores/internal/tree"
	"github.com/toolshelf-go/toolshelf/stores/jetstream/internal/interval"
)

// Options are the options of a Store. The zero value reads all keys of a bucket.
type Options struct {
	// Dir is the directory of the bucket that becomes the top of the filesystem, such as
	// "commands". Empty means all keys. If no key is below Dir, the filesystem is empty.
	Dir string

	// MaxSize limits the size in bytes of the values below Dir, and counts 512 bytes and the
	// name for each file and each directory. Zero means 256 MB. With a larger bucket, every
	// snapshot fails.
	MaxSize int64

	// Timeout limits a snapshot. Zero means that only the context of the call and the
	// limits of the client, 5 seconds for a request by default, apply. If a snapshot has
	// reached the limit and Stale has allowed the last snapshot, calls use this snapshot
	// for one second without a request.
	Timeout time.Duration

	// Stale decides if the server fails or the bucket does not exist, and the store has a
	// snapshot. The arguments are the error and the time since the last good answer. If
	// Stale returns nil, the call uses the last snapshot. Otherwise the call fails with the
	// result of Stale. Nil means that the call fails with the error. Calls of Stale do not
	// overlap. The store does not call Stale if the context of the call has ended, or
	// after Close.
	Stale func(err error, age time.Duration) error
}

// A Store is a filesystem with the values of a bucket. The methods are:
//
//   - Open, Stat, Lstat, ReadDir and ReadLink, of [fs.StatFS], [fs.ReadDirFS] and [fs.ReadLinkFS].
//     Each call makes a snapshot.
//   - Snapshot(ctx context.Context) (fs.FS, error), of toolshelf.SnapshotFS. The result has the
//     files at one revision, never changes, and has the methods Version
//     and Stale of docs/stores.md.
//   - WithContext(ctx context.Context) fs.FS. All calls of the result use
//     one snapshot, which the first call makes and which ends when ctx ends.
//   - Close and Feed.
//
// An error matches [fs.ErrNotExist] if the bucket does not exist. A Store is safe for concurrent
// use. A snapshot is one request. The first snapshot also copies the bucket, and starts a goroutine
// that ends with Close. A snapshot that verifies the copy also starts a watch for the changes.
type Store struct {
	*tree.Store
	*source
}

type source struct {
	kv   jetstream.KeyValue
	opts Options
	life context.Context // ends with Close
	end  context.CancelFunc

	// Only update uses these fields.
	mirror *mirror // nil before the first snapshot
	agreed agreement
}

// New returns a Store with the values of a bucket. New makes no request.
func New(kv jetstream.KeyValue, opts Options) (*Store, error) {
	opts.Dir = path.Clean(opts.Dir)
	if !fs.ValidPath(opts.Dir) {
		return nil, fmt.Errorf("jetstream: invalid Dir %q; use the first elements of a key", opts.Dir)
	}
	if opts.MaxSize == 0 {
		opts.MaxSize = 256 << 20
	}
	s := &source{kv: kv, opts: opts}
	s.life, s.end = context.WithCancel(context.Background())
	return &Store{tree.NewStore(s.update, opts.Timeout, opts.Stale), s}, nil
}

// Close ends the watch of the bucket. Later calls return an error that matches
// [fs.ErrClosed], but snapshots remain readable. Close returns nil.
func (s *Store) Close() error {
	s.end()
	return nil
}

// Feed reports changes, for toolshelf.WithFeed. Feed calls touch without a path when the
// watch has started, and with the path of each changed file. Every 10 seconds, Feed asks
// the server and calls touch without a path if the server answers, because a change of the
// leader can delay a watch unnoticed. Use a maximum age of more than 10 seconds. Feed
// returns when ctx ends, when the client closes the connection, or after Close.
func (s *Store) Feed(ctx context.Context, touch func(paths ...string)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.life, func() { cancel(fs.ErrClosed) })()
	watch, err := s.kv.WatchAll(ctx, jetstream.UpdatesOnly(), jetstream.MetaOnly())
	if err != nil {
		return fmt.Errorf("jetstream: bucket %q: %w", s.kv.Bucket(), err)
	}
	touch()
	beat := time.NewTicker(interval.Feed)
	defer beat.Stop()
	for {
		select {
		case change, ok := <-watch.Updates():
			if !ok {
				return cmp.Or(context.Cause(ctx), errEnded)
			}
			if name, ok := nameOf(s.opts.Dir, change); ok {
				touch(name)
			}
		case <-beat.C:
			if _, err := s.kv.Status(ctx); err == nil {
				touch()
			}
		}
	}
}

// update asks for the last revision, and waits until the mirror has this revision.
func (s *source) update(ctx context.Context, last *filetree.FS) (*filetree.FS, error) {
	if s.life.Err() != nil {
		return nil, fs.ErrClosed
	}
	files, err := s.files(ctx, last)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		err = fmt.Errorf("%w: create the bucket", fs.ErrNotExist)
	}
	if err != nil {
		return nil, fmt.Errorf("jetstream: bucket %q: %w", s.kv.Bucket(), err)
	}
	return files, nil
}

// files returns the files of the mirror, if the mirror agrees with the stream. A stream can go
// back, as when an older copy is restored, and keep the time of its creation. The client then
// resumes the watch without a notice, so the mirror is no proof.
func (s *source) files(ctx context.Context, last *filetree.FS) (*filetree.FS, error) {
	asked := time.Now()
	var seen uint64
	var loaded bool
	if s.mirror != nil {
		seen, loaded = s.mirror.state()
	}
	status, err := s.kv.Status(ctx)
	if err != nil {
		return nil, err
	}
	info := status.(*jetstream.KeyValueBucketStatus).StreamInfo()
	now := pointOf(info.State)
	advanced := loaded && now.last > s.agreed.revision
	full := s.mirror == nil || !s.mirror.created.Equal(info.Created) || now.last < seen ||
		loaded && s.canHaveLost(info)
	resume := advanced && asked.Sub(s.agreed.at) > interval.MaxQuiet
	if resume && !full { // the mirror knows which messages still exist only after the last message
		current, err := s.mirror.await(ctx, info.State, false)
		if err != nil {
			return nil, err
		}
		full = !current
	}
	for {
		if full || resume {
			s.restart(info, !full)
			s.agreed = agreement{at: asked, revision: s.agreed.revision}
		}
		current, err := s.mirror.await(ctx, info.State, full)
		if err != nil {
			return nil, err
		}
		if current {
			files, revision := s.mirror.snapshot(last)
			if revision == now.last {
				s.agreed = agreement{asked, revision, now}
			} else if full || resume {
				s.agreed.revision = revision
			}
			return files, nil
		}
		full = true
	}
}

// canHaveLost reports whether the state of a loaded mirror can differ from the stream without a
// message: after a loss of messages, or because an earlier value of a key in a history came back.
func (s *source) canHaveLost(info *jetstream.StreamInfo) bool {
	now := pointOf(info.State)
	lost := now.last == s.agreed.point.last && now != s.agreed.point
	returns := info.Config.AllowMsgTTL && info.Config.MaxMsgsPerSubject != 1
	return lost || returns && now.last > s.agreed.revision
}

// An agreement is the last revision of the mirror that the stream is known to have.
type agreement struct {
	at       time.Time
	revision uint64
	point    point // zero if the stream had later messages
}

// A point is a state of the stream. The points before and after a loss of messages differ.
type point struct {
	last, messages, subjects uint64
	time                     int64 // of the last message, in nanoseconds
}

func pointOf(state jetstream.StreamState) point {
	return point{state.LastSeq, state.Msgs, state.NumSubjects, state.LastTime.UnixNano()}
}
