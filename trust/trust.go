// Package trust remembers the files of projects that a user has approved. A [Store] is a gate of a
// catalog: see [toolshelf.WithGate].
//
// A store is one file, for example in the configuration directory of the user. The file has a
// decision for each item, which is a kind, a layer, a plugin and a name. The decision is a
// revocation, or the approved digest with the approved rules and file. An item has one approved
// digest: an approval of changed content replaces the approval of the old content.
//
// # Freshness
//
// A program has one Store for a file; several programs may use the file at the same time.
// [Store.Allowed] looks a digest up in memory, without a lock. [Store.Version] asks the filesystem
// for the metadata of the file and loads a file that has changed, so a catalog sees each approval
// and each revocation before its next list. If a program calls only Allowed, Allowed does the same
// once a second: an answer can be one second old, and is the answer of one state of the file. Calls
// that change the Store itself are visible at once.
//
// # Failures
//
// A Store fails closed. If the file is broken, belongs to another user, is writable by others or
// cannot be read, the Store allows nothing until the file is correct. A missing file allows nothing
// and is no error.
//
// # Limits
//
// The file has at most 64 MiB. The texts of approved files, which [Store.Approved] returns, have at
// most 4 MiB for an item and 32 MiB together. Beyond the limit of an item, a digest replaces the
// text. Beyond the limit of the file, the store forgets the texts of the oldest approvals, and
// never a decision.
//
// See https://github.com/toolshelf-go/toolshelf for an overview of the library.
package trust

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// Errors of a Store. While a Store has such an error, the Store allows nothing. Use errors.Is.
var (
	// ErrBroken reports a file that is damaged or is no store.
	ErrBroken = errors.New("the trust store is broken")
	// ErrNewer reports a file that a newer version of the package has written.
	ErrNewer = errors.New("the trust store has a newer format")
	// ErrForeign reports a file or a directory that another user owns or can change.
	ErrForeign = errors.New("the trust store is not private")
	// ErrFull reports a change that makes the file larger than 64 MiB. The file is unchanged, and
	// the Store continues to answer.
	ErrFull = errors.New("the trust store is full")
)

// A Store is a gate whose decisions are in a file. All methods are safe for concurrent use. A Store
// keeps no file open.
type Store struct {
	file    string // absolute
	name    string // the last element of file
	dir     *confine.FS
	invalid error // of the path

	turn    chan struct{} // of the one update; a wait for a mutex does not end with a context
	loading sync.Mutex    // of the one load
	last    atomic.Pointer[state]

	begin   time.Time
	checked atomic.Int64 // nanoseconds after begin: the last look at the file
}

// A state is the result of one load. A state never changes.
type state struct {
	number uint64 // of the answers
	book   *book  // empty after an error
	err    error

	missing bool
	loaded  bool   // raw is the content of the file
	raw     string // also of a broken file
	stamp   stamp.Stamp
	settled bool // a later change of the file changes the stamp
}

// rarely is the longest time between two looks at the file while a program calls Allowed.
const rarely = time.Second

// Open returns the Store of a file. A missing file is an empty store: Open creates nothing, and
// [Store.Approve] creates the file and its directory for the user only.
//
// The Store is never nil. If the file cannot be used, Open returns the error and a Store that
// allows nothing: [ErrBroken], [ErrNewer], [ErrForeign], or an error of the filesystem. The Store
// works as soon as the file is correct or gone. A symbolic link in place of the file is ErrBroken.
//
// On Unix, the file and its directory must belong to the user, and nobody else may write. A
// directory above belongs to the user or to root; others may write only with the sticky bit. Open
// does not check directories above on Android. On Windows, Open checks the owners of the file and
// of its directory, and no access lists. On other systems, Open checks no owners.
func Open(file string) (*Store, error) {
	s := &Store{turn: make(chan struct{}, 1), begin: time.Now()}
	s.last.Store(&state{book: &book{}, missing: true})
	s.file, s.invalid = filepath.Abs(file)
	if s.invalid == nil && file == "" {
		s.invalid = errors.New("trust: the path of the store is empty; pass the path of a file")
	}
	if s.invalid == nil {
		s.name = filepath.Base(s.file)
		s.dir, s.invalid = confine.New(filepath.Dir(s.file), confine.DenySymlinks())
	}
	return s, s.load().err
}

// Allowed reports whether the Rules, the File and the Digest of an item are the approved ones.
// Allowed never waits for a lock of another program.
func (s *Store) Allowed(_ context.Context, i toolshelf.Item) bool {
	now, checked := int64(time.Since(s.begin)), s.checked.Load()
	if now-checked >= int64(rarely) && s.checked.CompareAndSwap(checked, now) {
		s.current()
	}
	return s.last.Load().book.find(i).allows(i)
}

// Version returns a number that changes with the answers of [Store.Allowed]. Version costs the
// metadata of the file, and a read after a change of the file.
func (s *Store) Version() uint64 {
	s.checked.Store(int64(time.Since(s.begin)))
	return s.current().number
}

// Revoked reports whether the last decision about an item is a revocation, whatever the digest.
// Catalog.Pending calls Revoked.
func (s *Store) Revoked(_ context.Context, i toolshelf.Item) bool {
	r := s.last.Load().book.find(i)
	return r != nil && r.Revoked
}

// Approved returns the approved texts of an item by path, as in [toolshelf.Pending], or nil. The
// digest of the item does not matter.
func (s *Store) Approved(_ context.Context, i toolshelf.Item) map[string]string {
	return s.last.Load().book.texts(i)
}

// Approve allows the digests of the entries, and keeps the texts of New. An approval replaces
// earlier approvals and revocations of the items. All entries are approved, or after an error none.
//
// Approve waits for other programs that change the file, until ctx ends. The file is replaced in
// one step, so a program that ends during Approve leaves the old file or the new file. On Solaris,
// AIX, Plan 9, js and wasip1, programs do not wait for each other, and one of two approvals at the
// same time can be lost.
func (s *Store) Approve(ctx context.Context, pending ...toolshelf.Pending) error {
	return s.update(ctx, func(*book) ([]decision, error) { return approvals(pending) })
}

// ApproveFirst approves the entries whose items have no decision: trust on first use. An item that
// was approved or revoked before keeps its decision, so changed content stays refused. An entry
// without a Digest also stays refused. If no entry is new, ApproveFirst writes nothing and takes no
// lock.
func (s *Store) ApproveFirst(ctx context.Context, pending ...toolshelf.Pending) error {
	pending = slices.DeleteFunc(slices.Clone(pending), func(p toolshelf.Pending) bool { return p.Digest == "" })
	unknown := func(b *book) (all []decision, err error) {
		known := map[toolshelf.Item]bool{}
		decisions, err := approvals(pending)
		for _, d := range decisions {
			if key := keyOf(d.item); !known[key] && b.find(key) == nil {
				known[key] = true
				all = append(all, d)
			}
		}
		return all, err
	}
	now := s.current()
	if decisions, err := unknown(now.book); errors.Join(err, now.err) == nil && len(decisions) == 0 {
		return ctx.Err()
	}
	return s.update(ctx, unknown)
}

// Revoke refuses the items, with any digest, also items that were never approved. The store forgets
// the approved texts, and remembers the revocations. Revoke waits and writes as [Store.Approve]
// does.
//
// Take the items from [toolshelf.Catalog.Pending]: Revoke does not know which entries exist, so an
// item with another Layer, such as Layer of a list, has no effect on an entry.
func (s *Store) Revoke(ctx context.Context, items ...toolshelf.Item) error {
	return s.update(ctx, func(*book) (all []decision, _ error) {
		for _, i := range items {
			if err := checkKind(i); err != nil {
				return nil, err
			}
			all = append(all, decision{item: keyOf(i)})
		}
		return all, nil
	})
}

// approvals returns the decisions of approved entries.
func approvals(pending []toolshelf.Pending) (all []decision, err error) {
	for _, p := range pending {
		if err := checkKind(p.Item); err != nil {
			return nil, err
		}
		if p.Digest == "" {
			return nil, fmt.Errorf("trust: %s %.80q has no digest, so no approval can name its content; leave the entry out, or correct the files as its Findings say", p.Kind, p.Name)
		}
		if !isDigest(p.Digest) {
			return nil, fmt.Errorf("trust: the digest %.80q of %s %.80q is no SHA-256; approve the entries of Catalog.Pending", p.Digest, p.Kind, p.Name)
		}
		all = append(all, decision{p.Item, p.New})
	}
	return all, nil
}

// checkKind returns an error for an Item of no kind of entries, such as the zero Item.
func checkKind(i toolshelf.Item) error {
	switch i.Kind {
	case toolshelf.KindCommand, toolshelf.KindSkill, toolshelf.KindAgent, toolshelf.KindInstruction, toolshelf.KindPlugin, toolshelf.KindMCPServer:
		return nil
	}
	return fmt.Errorf("trust: the item %.80q has the unknown kind %.80q; take items from Catalog.Pending", i.Name, i.Kind)
}

// update adds decisions to the file, while no other update runs in this or in another program.
func (s *Store) update(ctx context.Context, decide func(*book) ([]decision, error)) error {
	if err := errors.Join(s.invalid, ctx.Err()); err != nil {
		return err
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	now := s.load()
	if now.err != nil {
		return now.err
	}
	decisions, err := decide(now.book)
	if err != nil {
		return err
	}
	next := now.book.with(decisions)
	if next == now.book {
		return nil
	}
	text := next.encode()
	if len(text) > maxFile {
		return fmt.Errorf("%w: %q would have more than %d MiB; move the file away, and approve the entries again", ErrFull, s.file, maxFile>>20)
	}
	err = s.write(ctx, text)
	s.load()
	return err
}

// current returns the state of the file at the time of the call.
func (s *Store) current() *state {
	if last := s.last.Load(); s.unchanged(last) {
		return last
	}
	return s.load()
}

// unchanged reports whether the file is the file of a state.
func (s *Store) unchanged(last *state) bool {
	if s.invalid != nil {
		return last.err != nil
	}
	info, err := s.dir.Lstat(s.name)
	if err != nil {
		return last.missing && isMissing(err)
	}
	return last.settled && stamp.Of(known(info)).Same(last.stamp)
}

// load reads the file if the file has changed. A number of answers is new only if an answer can be
// new.
func (s *Store) load() *state {
	s.loading.Lock()
	defer s.loading.Unlock()
	last := s.last.Load()
	if s.unchanged(last) {
		return last
	}
	next := s.read()
	switch {
	case next.loaded && last.loaded && next.raw == last.raw, next.missing && last.missing:
		next.number, next.book, next.err = last.number, last.book, last.err
	case next.err != nil && last.err != nil:
		next.number, next.book = last.number, last.book
	default:
		next.number, next.book = last.number+1, &book{}
		if next.loaded {
			next.book, next.err = parse(next.raw, last.book)
		}
		if next.err != nil {
			next.book, next.err = &book{}, fmt.Errorf("%w (%q)", next.err, s.file)
		}
	}
	s.last.Store(next)
	return next
}
