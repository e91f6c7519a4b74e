// Package wellknown reads the skills that a site publishes at /.well-known/agent-skills/index.json.
// A [Store] is a filesystem for toolshelf.WithSkillsFS. [NewHandler] publishes the skills of a
// catalog in the same form.
//
// The rules are those of the draft "Well-Known URI" of the Agent Skills specification, schema 0.2.0
// (github.com/agentskills/agentskills/pull/254, text of 2026-03-23), with the optional versions of
// pull request 380 (2026-05-13). Guarantees:
//
//   - A store serves a byte only after the artifact has the SHA-256 of the index.
//   - An error of an entry of the index loses one skill: [Store.Status] and the catalog report the reason.
//   - [Open] and [Store.Refresh] make all requests. A list or a read makes none, and nothing polls.
//   - With Options.Dir, a start without a network serves the last verified index.
//   - Requests go to the origin and to Options.Hosts only, and to public addresses only.
//
// The skills are in memory, at most Options.MaxSize bytes.
// See https://github.com/toolshelf-go/toolshelf for an overview of the library.
package wellknown

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolshelf-go/toolshelf/internal/filetree"
	"github.com/toolshelf-go/toolshelf/stores/internal/tree"
)

// Options are the options of a Store. The zero value keeps the skills in memory.
type Options struct {
	// Dir is a directory of the program for the cache. The store creates the directory. Several
	// stores and several processes may share a directory. Empty means no cache.
	Dir string

	// Offline makes Open serve the cache without a request. Refresh makes requests.
	Offline bool

	// Version selects an immutable index, such as "v0.2.0" for
	// /.well-known/agent-skills/v0.2.0/index.json. A store requests an immutable index once. Empty
	// means the newest index.
	Version string

	// Hosts are further hosts of artifacts and redirects, such as "cdn.example.com" or
	// "cdn.example.com:8443".
	Hosts []string

	// Private permits private, link-local and loopback addresses, and http to a loopback host.
	Private bool

	// Transport makes the requests in place of the store's own transport. The Transport then
	// decides about addresses, certificates and proxies. The store's own transport uses no proxy of
	// the environment.
	Transport http.RoundTripper

	Timeout     time.Duration // of a request with its body; zero means 30 seconds
	MaxSkills   int           // entries of the index; zero means 10,000
	MaxIndex    int64         // bytes of the index; zero means 4 MiB
	MaxArtifact int64         // bytes of a SKILL.md or an archive; zero means 16 MiB
	MaxUnpacked int64         // bytes of the files of an archive; zero means 64 MiB
	MaxSize     int64         // bytes of the files of all skills; zero means 256 MiB
}

func (o *Options) setDefaults() {
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	o.MaxSkills = cmp.Or(o.MaxSkills, 10_000)
	o.MaxIndex = cmp.Or(o.MaxIndex, 4<<20)
	o.MaxArtifact = cmp.Or(o.MaxArtifact, 16<<20)
	o.MaxUnpacked = cmp.Or(o.MaxUnpacked, 64<<20)
	o.MaxSize = cmp.Or(o.MaxSize, 256<<20)
}

// A Store is a filesystem with a directory for each published skill. The methods are:
//
//   - Open, Stat, Lstat, ReadDir and ReadLink, of [fs.StatFS], [fs.ReadDirFS] and [fs.ReadLinkFS].
//   - Snapshot(ctx context.Context) (fs.FS, error), of toolshelf.SnapshotFS. The result has the files of one index,
//     never changes, and has the method Version of toolshelf.Versioned.
//
// The version of a file is the digest of its artifact. The directory of a lost skill has a SKILL.md
// that cannot be read, so that a catalog reports the skill. A Store is safe for concurrent use.
type Store struct {
	*tree.Store
	origin *url.URL
	index  *url.URL
	opts   Options
	client *http.Client
	cache  *cache
	turn   chan struct{} // holds a value during Refresh
	now    *published    // of the last Refresh; nil before the first index
	files  atomic.Pointer[filetree.FS]

	mu     sync.Mutex
	status Status
}

// A Status describes what a Store serves.
type Status struct {
	Origin   string    // such as "https://example.com"
	Skills   int       // skills with verified files
	Checked  time.Time // when the origin last confirmed the index; zero if the store has no index
	Err      error     // of the last Refresh; nil after a Refresh without an error
	Problems []Problem // lost entries, and changes of the index that a person should see
}

// A Problem is a lost entry, or a change of the index.
type Problem struct{ Skill, Message string }

// A published is an index with its verified skills.
type published struct {
	page
	entries  []entry
	skills   map[string]*skill // by name
	lost     map[string]error  // the other entries
	problems []Problem
}

// Open returns a Store with the skills of an origin, such as "https://example.com". Use the origin
// as the name of the layer. Open reads the cache and then calls [Store.Refresh]. If Refresh fails,
// or ctx ends, Open returns the cached skills, and Status has the error. Without a cached index,
// Open returns the error.
func Open(ctx context.Context, origin string, opts Options) (*Store, error) {
	opts.setDefaults()
	at, err := url.Parse(origin)
	if err != nil || at.Host == "" || at.User != nil || strings.Trim(at.Path, "/") != "" || at.RawQuery != "" || at.Fragment != "" {
		return nil, fmt.Errorf("wellknown: invalid origin %.200q; write a scheme and a host, such as https://example.com", origin)
	}
	s := &Store{origin: &url.URL{Scheme: at.Scheme, Host: at.Host}, opts: opts, turn: make(chan struct{}, 1)}
	if !s.allowed(s.origin) {
		return nil, fmt.Errorf("wellknown: the origin %.200q is not https; http requires Options.Private and a loopback host", origin)
	}
	place := "/.well-known/agent-skills/"
	if opts.Version != "" {
		if !fs.ValidPath(opts.Version) || strings.Contains(opts.Version, "/") || opts.Version == "." {
			return nil, fmt.Errorf("wellknown: invalid Version %.200q; write a name such as v0.2.0", opts.Version)
		}
		place += url.PathEscape(opts.Version) + "/"
	}
	s.index = s.origin.JoinPath(place, "index.json")
	s.client = s.newClient()
	s.status.Origin = s.origin.String()
	s.Store = tree.NewStore(func(context.Context, *filetree.FS) (*filetree.FS, error) { return s.files.Load(), nil }, 0, nil)
	if s.cache, err = openCache(opts.Dir, s.index); err != nil {
		return nil, err
	}
	if kept, ok := s.cache.page(opts.MaxIndex); ok {
		s.status.Err = s.publish(ctx, kept, false)
	}
	err = errors.New("wellknown: the cache has no index of the origin; open the store without Offline once")
	if !opts.Offline && (opts.Version == "" || s.now == nil || len(s.now.skills) < len(s.now.entries)) {
		err = s.Refresh(ctx)
	}
	if s.now == nil {
		return nil, err
	}
	return s, nil
}

// Status returns the state of the store. The time since Checked is the age of the served index.
func (s *Store) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := s.status
	status.Problems = slices.Clone(status.Problems)
	return status
}

// Refresh asks the origin for the index, and requests the new and changed artifacts, 8 at a time.
// An unchanged index is one conditional request. If the index cannot be read, Refresh returns the
// error, and the store serves the last index. If ctx ends, Refresh returns its error, and a later
// Refresh continues with the cached artifacts. If the cache cannot be written, Refresh returns the
// error, and the store serves the new index. Calls wait for each other.
func (s *Store) Refresh(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	err := s.refresh(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Err = err
	return err
}

func (s *Store) refresh(ctx context.Context) error {
	next, err := s.page(ctx)
	if err == nil {
		err = s.publish(ctx, next, true)
	}
	if err != nil {
		return fmt.Errorf("wellknown: %s: %w", s.index, err)
	}
	s.cache.keep(next)
	s.cache.clean(s.now.entries)
	if err := s.cache.failed.Swap(nil); err != nil {
		return fmt.Errorf("wellknown: the cache cannot be written: %w", *err)
	}
	return nil
}

// publish loads the skills of an index and serves them. The artifacts come from memory, from the
// cache, or with online from the origin.
func (s *Store) publish(ctx context.Context, p page, online bool) error {
	next := &published{page: p}
	var err error
	if next.entries, next.problems, err = parse(p.Index, s.opts.MaxSkills); err != nil {
		return err
	}
	if err := s.load(ctx, next, online); err != nil {
		return err
	}
	if s.now != nil {
		next.problems = append(next.problems, changes(s.now.entries, next.entries)...)
	}
	files := s.filesOf(next)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = next
	s.files.Store(files)
	s.status.Skills, s.status.Checked, s.status.Problems = len(next.skills), p.Checked, next.problems
	return nil
}

// changes describes what an honest publisher does not do: an index that shrinks, and a new digest
// under the same version.
func changes(old, entries []entry) (all []Problem) {
	listed := map[string]entry{}
	for _, e := range entries {
		listed[e.Name] = e
	}
	for _, before := range old {
		if now, ok := listed[before.Name]; !ok {
			all = append(all, Problem{before.Name, "the index no longer lists the skill"})
		} else if before.Version != "" && before.Version == now.Version && before.Digest != now.Digest {
			all = append(all, Problem{before.Name, fmt.Sprintf("the digest has changed under the version %.100q", now.Version)})
		}
	}
	return all
}

// filesOf returns the filesystem of an index. Its version covers the index and the lost skills.
func (s *Store) filesOf(p *published) *filetree.FS {
	builder := filetree.NewBuilder(1<<62, nil) // load has the limits
	hash := sha256.New()
	hash.Write(p.Index)
	for _, e := range p.entries {
		found := p.skills[e.Name]
		if found == nil {
			fmt.Fprintf(hash, "\x00%s", e.Name)
			builder.Put(e.Name+"/SKILL.md", filetree.File{Mode: 0o644, Content: content(nil, p.lost[e.Name])})
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(found.files)) {
			data := found.files[name]
			builder.Put(e.Name+"/"+name, filetree.File{Size: int64(len(data)), Mode: 0o644, Version: e.Digest, Content: content(data, nil)})
		}
	}
	return builder.FS(fmt.Sprintf("%x", hash.Sum(nil)))
}
