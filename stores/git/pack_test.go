package git_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-git/go-billy/v5"
	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/client"
	"github.com/go-git/go-git/v5/plumbing/transport/server"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/stores/git"
	"github.com/toolshelf-go/toolshelf/stores/internal/hostiletest"
)

// A packer writes a pack.
type packer struct {
	t     *testing.T
	raw   []byte
	count uint32
}

func newPacker(t *testing.T) *packer {
	return &packer{t, []byte("PACK\x00\x00\x00\x02\x00\x00\x00\x00"), 0}
}

// add adds an object or a delta and returns the offset. The size is the size that the pack
// declares.
func (p *packer) add(typ plumbing.ObjectType, reference []byte, size int, raw []byte) int {
	offset := len(p.raw)
	first := byte(typ)<<4 | byte(size&15)
	if size >>= 4; size > 0 {
		p.raw = binary.AppendUvarint(append(p.raw, first|0x80), uint64(size))
	} else {
		p.raw = append(p.raw, first)
	}
	b := bytes.NewBuffer(append(p.raw, reference...))
	w := zlib.NewWriter(b)
	if _, err := w.Write(raw); err != nil {
		p.t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		p.t.Fatal(err)
	}
	p.raw = b.Bytes()
	p.count++
	return offset
}

func (p *packer) blob(content []byte) int {
	return p.add(plumbing.BlobObject, nil, len(content), content)
}

// delta adds a delta of the object at an offset.
func (p *packer) delta(base int, delta []byte) int {
	back := len(p.raw) - base
	reference := []byte{byte(back & 0x7f)}
	for back >>= 7; back > 0; back >>= 7 {
		back--
		reference = append([]byte{0x80 | byte(back&0x7f)}, reference...)
	}
	return p.add(plumbing.OFSDeltaObject, reference, len(delta), delta)
}

// deltaOf adds a delta of the object with a hash.
func (p *packer) deltaOf(base plumbing.Hash, delta []byte) int {
	return p.add(plumbing.REFDeltaObject, base[:], len(delta), delta)
}

func (p *packer) pack() []byte {
	binary.BigEndian.PutUint32(p.raw[8:], p.count)
	sum := sha1.Sum(p.raw)
	return append(bytes.Clone(p.raw), sum[:]...)
}

// blobs adds a pack with a blob and with blobs that are deltas, each of the blob before. Without a
// base, the only blob is a delta of itself. The function returns the last blob.
func (r *repository) blobs(base []byte, deltas ...[]byte) plumbing.Hash {
	r.t.Helper()
	var index idxfile.Writer
	p := newPacker(r.t)
	content := base
	at := 0
	if base == nil {
		content = []byte("self")
		at = p.deltaOf(plumbing.ComputeHash(plumbing.BlobObject, content), delta(4, 4, 1))
	} else {
		at = p.blob(base)
	}
	hash := plumbing.ComputeHash(plumbing.BlobObject, content)
	index.Add(hash, uint64(at), 0)
	for _, delta := range deltas {
		at = p.delta(at, delta)
		content = apply(r.t, content, delta)
		hash = plumbing.ComputeHash(plumbing.BlobObject, content)
		index.Add(hash, uint64(at), 0)
	}
	pack := p.pack()
	sum := plumbing.Hash(pack[len(pack)-20:])
	var b bytes.Buffer
	if err := index.OnFooter(sum); err != nil {
		r.t.Fatal(err)
	}
	encoded, err := index.Index()
	if err == nil {
		_, err = idxfile.NewEncoder(&b).Encode(encoded)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	name := filepath.Join(r.dir, "objects", "pack", "pack-"+sum.String())
	for ext, content := range map[string][]byte{".pack": pack, ".idx": b.Bytes()} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(name+ext, content, 0o644); err != nil {
			r.t.Fatal(err)
		}
	}
	return hash
}

func apply(t *testing.T, base, delta []byte) []byte {
	t.Helper()
	return must.Get(packfile.PatchDelta(base, delta))(t)
}

// delta returns a delta that copies the first size bytes of a base count times.
func delta(base, size, count int) []byte {
	d := binary.AppendUvarint(nil, uint64(base))
	d = binary.AppendUvarint(d, uint64(size*count))
	return append(d, bytes.Repeat([]byte{0xff, 0, 0, 0, 0, byte(size), byte(size >> 8), byte(size >> 16)}, count)...)
}

// addition returns a delta that adds a byte to a base.
func addition(base int, b byte) []byte {
	d := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(base)), uint64(base)+1)
	return append(d, 0xf0, byte(base), byte(base>>8), byte(base>>16), 1, b)
}

// The bases of random deltas are before or after the deltas.
func TestAnIndexHasAllObjectsOfAPack(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 0))
		type blob struct {
			content, delta []byte
			base, offset   int
			byHash         bool
		}
		var blobs []blob
		for i := range 1 + r.IntN(60) {
			b := blob{content: fmt.Appendf(nil, "%064d", i), base: -1}
			if i > 0 && r.IntN(5) > 0 {
				b.base, b.byHash = r.IntN(i), r.IntN(3) == 0
				base := blobs[b.base].content
				b.delta = addition(len(base), byte(i))
				b.content = apply(t, base, b.delta)
			}
			blobs = append(blobs, b)
		}
		p := newPacker(t)
		var add func(i int)
		add = func(i int) {
			b := &blobs[i]
			switch {
			case b.offset > 0:
			case b.base < 0:
				b.offset = p.blob(b.content)
			case b.byHash:
				b.offset = p.deltaOf(plumbing.ComputeHash(plumbing.BlobObject, blobs[b.base].content), b.delta)
			default:
				add(b.base)
				b.offset = p.delta(blobs[b.base].offset, b.delta)
			}
		}
		for _, i := range r.Perm(len(blobs)) {
			add(i)
		}
		pack := p.pack()
		index, err := git.Index(t.Context(), pack, 1<<20)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if n, err := index.Count(); n != int64(len(blobs)) {
			t.Errorf("seed %d: %d objects, %v; want %d", seed, n, err, len(blobs))
		}
		ends := []int{len(pack) - 20}
		for _, b := range blobs {
			ends = append(ends, b.offset)
		}
		slices.Sort(ends)
		for _, b := range blobs {
			hash := plumbing.ComputeHash(plumbing.BlobObject, b.content)
			offset, err := index.FindOffset(hash)
			if err != nil || offset != int64(b.offset) {
				t.Errorf("seed %d: %s is at %d, %v; want %d", seed, b.content, offset, err, b.offset)
			}
			end := ends[slices.Index(ends, b.offset)+1]
			if crc, err := index.FindCRC32(hash); crc != crc32.ChecksumIEEE(pack[b.offset:end]) {
				t.Errorf("seed %d: checksum of %s: %x, %v", seed, b.content, crc, err)
			}
		}
	}
}

// A full tree of deltas needs several bases at a time, and a chain with deltas at its sides needs
// one.
func TestAnIndexKeepsFewBases(t *testing.T) {
	const size = 1 << 16
	content := make([]byte, size)
	chain, full := newPacker(t), newPacker(t)
	for i, base := 0, chain.blob(content); i < 40; i++ {
		next := chain.delta(base, delta(size, size, 1))
		chain.delta(base, addition(size, 'a'))
		base = next
	}
	level := []int{full.blob(content)}
	for range 5 {
		var next []int
		for _, base := range level {
			next = append(next, full.delta(base, delta(size, size, 1)), full.delta(base, delta(size, size, 1)))
		}
		level = next
	}
	for name, test := range map[string]struct {
		pack []byte
		room int
		ok   bool
	}{
		"a chain":              {chain.pack(), size, true},
		"a full tree":          {full.pack(), 5 * size, true},
		"a full tree in half":  {full.pack(), 2 * size, false},
		"a base without space": {chain.pack(), size - 1, false},
	} {
		if _, err := git.Index(t.Context(), test.pack, test.room); (err == nil) != test.ok || err != nil && !strings.Contains(err.Error(), "clone the repository") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A remote that sends a pack of its own.
type sending struct {
	transport.Transport
	pack io.Reader
}

func (s *sending) NewUploadPackSession(e *transport.Endpoint, auth transport.AuthMethod) (transport.UploadPackSession, error) {
	session, err := s.Transport.NewUploadPackSession(e, auth)
	return sendingSession{session, s.pack}, err
}

type sendingSession struct {
	transport.UploadPackSession
	pack io.Reader
}

func (s sendingSession) UploadPack(_ context.Context, request *packp.UploadPackRequest) (*packp.UploadPackResponse, error) {
	return packp.NewUploadPackResponseWithPackfile(request, io.NopCloser(s.pack)), nil
}

// fetch fetches a pack that a remote sends, and returns the packs of the repository.
func fetch(ctx context.Context, t *testing.T, pack io.Reader) ([]string, error) {
	repo := newRepository(t)
	repo.write(map[string]string{"a.md": "one"})
	client.InstallProtocol("remote", &sending{newRemote(t, repo).Transport, pack})
	clone := newClone(t)
	_, err := newStore(t, clone, "refs/remotes/origin/main", git.Options{Fetch: &gogit.FetchOptions{}}).Snapshot(ctx)
	files, globErr := filepath.Glob(filepath.Join(clone.Storer.(*filesystem.Storage).Filesystem().Root(), "objects", "pack", "*"))
	if globErr != nil {
		t.Fatal(globErr)
	}
	return files, err
}

// The packs of a few kilobytes end a program, or take hundreds of megabytes, if the indexer trusts
// the numbers.
func TestAFetchOfAHostilePackIsAnError(t *testing.T) {
	count := newPacker(t)
	count.count = 1<<32 - 1
	declared := newPacker(t)
	for i, at := 0, declared.blob([]byte("text")); i < 100; i++ {
		at = declared.add(plumbing.OFSDeltaObject, []byte{byte(len(declared.raw) - at)}, 1<<30, delta(4, 4, 1))
	}
	expands := newPacker(t)
	expands.delta(expands.blob(make([]byte, 1<<16)), delta(1<<16, 1<<16, 1<<13))
	circle := newPacker(t)
	self := plumbing.ComputeHash(plumbing.BlobObject, []byte("self"))
	circle.deltaOf(self, delta(4, 4, 1))
	unknown := newPacker(t)
	unknown.add(5, nil, 4, []byte("text"))
	wrong := newPacker(t)
	wrong.delta(wrong.blob([]byte("text")), delta(4, 5, 1))
	whole := newPacker(t)
	whole.blob([]byte("text"))
	for name, test := range map[string]struct {
		pack []byte
		want string
	}{
		"many objects without objects": {count.pack(), "clone the repository with git"},
		"sizes that are not true":      {declared.pack(), "malformed PACK file"},
		"an object of 512 MB":          {expands.pack(), "clone the repository with git"},
		"a delta of itself":            {circle.pack(), "delta not found"},
		"an unknown type":              {unknown.pack(), "malformed PACK file"},
		"bytes after the base":         {wrong.pack(), "invalid delta"},
		"no pack":                      {nil, "empty packfile"},
		"half a pack":                  {expands.pack()[:100], "EOF"},
		"bytes after the pack":         {append(whole.pack(), "more"...), "malformed PACK file"},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			var files []string
			allocated := catalogtest.CostOf(func() { files, err = fetch(t.Context(), t, bytes.NewReader(test.pack)) }).Bytes
			if err == nil || !strings.Contains(err.Error(), "git: fetch: ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Snapshot: %v", err)
			}
			must.Len(t, "files of the repository", 0, files)
			if allocated > 8<<20 {
				t.Errorf("a pack of %d bytes allocates %d bytes", len(test.pack), allocated)
			}
		})
	}
}

func TestReadsEndWithTheContext(t *testing.T) {
	const size = 16 << 20
	content := make([]byte, size)
	p := newPacker(t)
	p.delta(p.blob(content), delta(size, 1<<16, 200))
	pack := p.pack()
	repo := newRepository(t)
	deltified := repo.blobs(content, delta(size, 1<<16, 200))
	repo.commit(repo.trees([]object.TreeEntry{
		{Name: "delta.md", Mode: filemode.Regular, Hash: deltified},
		{Name: "loose.md", Mode: filemode.Regular, Hash: repo.blob(string(content[1:]))},
	}))
	read := func(name string) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			store := newStore(t, repo.open(), main, git.Options{})
			files := snapshot(t, store).(interface {
				WithContext(context.Context) fs.FS
			})
			_, err := fs.ReadFile(files.WithContext(ctx), name)
			return err
		}
	}
	for name, call := range map[string]func(context.Context) error{
		"a delta":             read("delta.md"),
		"a loose object":      read("loose.md"),
		"the pack of a fetch": func(ctx context.Context) error { _, err := git.Index(ctx, pack, 1<<30); return err },
	} {
		all := &hostiletest.Context{Context: t.Context(), Last: 1 << 30}
		if err := call(all); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if all.Asked < size>>16 {
			t.Errorf("%s asks the context %d times, want once in 64 KiB", name, all.Asked)
		}
		for _, last := range []int{0, 1, all.Asked / 3, all.Asked / 2, all.Asked - 1} {
			ctx := &hostiletest.Context{Context: t.Context(), Last: last}
			if err := call(ctx); !errors.Is(err, context.Canceled) || ctx.Asked > last+2 {
				t.Errorf("%s: the context ends after %d questions: %v, %d questions", name, last, err, ctx.Asked)
			}
		}
	}
}

// A canceling reader ends a context.
type cancelingReader struct {
	io.Reader
	cancel context.CancelFunc
	after  int
}

func (c *cancelingReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.cancel()
	c.after += n
	return n, err
}

func TestAFetchEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	pack := &cancelingReader{bytes.NewReader(make([]byte, 64<<20)), cancel, 0}
	if files, err := fetch(ctx, t, pack); !errors.Is(err, context.Canceled) || len(files) > 0 {
		t.Errorf("Snapshot: %v, files %s", err, files)
	}
	if pack.after > 128<<10 {
		t.Errorf("%d bytes are read after the end of the context", pack.after)
	}
}

// A remote serves a repository in this process, for URLs with the scheme remote.
type remote struct {
	transport.Transport
	listings, packs atomic.Int64 // requests
	fail            atomic.Pointer[error]
	hang            atomic.Bool
}

var errDown = errors.New("connection refused")

func newRemote(t *testing.T, repo *repository) *remote {
	endpoint := must.Get(transport.NewEndpoint("remote://host/repo"))(t)
	r := &remote{Transport: server.NewServer(server.MapLoader{endpoint.String(): repo.Storer})}
	client.InstallProtocol("remote", r)
	t.Cleanup(func() { client.InstallProtocol("remote", nil) })
	return r
}

func (r *remote) NewUploadPackSession(e *transport.Endpoint, auth transport.AuthMethod) (transport.UploadPackSession, error) {
	s, err := r.Transport.NewUploadPackSession(e, auth)
	return &session{s, r}, err
}

type session struct {
	transport.UploadPackSession
	remote *remote
}

func (s *session) AdvertisedReferencesContext(ctx context.Context) (*packp.AdvRefs, error) {
	s.remote.listings.Add(1)
	if s.remote.hang.Load() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if err := s.remote.fail.Load(); err != nil {
		return nil, *err
	}
	return s.UploadPackSession.AdvertisedReferencesContext(ctx)
}

func (s *session) UploadPack(ctx context.Context, request *packp.UploadPackRequest) (*packp.UploadPackResponse, error) {
	s.remote.packs.Add(1)
	return s.UploadPackSession.UploadPack(ctx, request)
}

// newClone returns an empty clone. The first snapshot fetches the files.
func newClone(t *testing.T) *gogit.Repository {
	t.Helper()
	clone := newRepository(t).open()
	must.Get(clone.CreateRemote(&config.RemoteConfig{Name: "origin", URLs: []string{"remote://host/repo"}}))(t)
	return clone
}

func TestASnapshotFetches(t *testing.T) {
	repo := newRepository(t)
	repo.write(map[string]string{"a.md": "one"})
	remote := newRemote(t, repo)
	store := newStore(t, newClone(t), "refs/remotes/origin/main", git.Options{Fetch: &gogit.FetchOptions{}})
	for _, content := range []string{"one", "two"} {
		repo.write(map[string]string{"a.md": content})
		remote.listings.Store(0)
		remote.packs.Store(0)
		files := snapshot(t, store)
		must.Equal(t, "a.md", content, read(t, files, "a.md"))
		must.Equal(t, "the version", version(t, files),
			version(t, snapshot(t, store)))
		must.Equal(t, "listings of two snapshots", 2, remote.listings.Load())
		must.Equal(t, "packs of two snapshots", 1, remote.packs.Load())
	}
}

func TestACommitThatTheRepositoryHasIsNotFetched(t *testing.T) {
	repo := newRepository(t)
	commit := repo.write(map[string]string{"a.md": "one"})
	repo.write(map[string]string{"a.md": "two"})
	remote := newRemote(t, repo)
	store := newStore(t, newClone(t), commit.String(), git.Options{Fetch: &gogit.FetchOptions{}})
	for range 3 {
		must.Equal(t, "a.md", "one", read(t, snapshot(t, store), "a.md"))
	}
	must.Equal(t, "remote.listings.Load()", 1, remote.listings.Load())
}

func TestAnUnreachableRemote(t *testing.T) {
	repo := newRepository(t)
	repo.write(map[string]string{"a.md": "one"})
	remote := newRemote(t, repo)
	var ages []time.Duration
	errStale := errors.New("too old")
	opts := git.Options{Fetch: &gogit.FetchOptions{}}
	strict := newStore(t, newClone(t), "refs/remotes/origin/main", opts)
	opts.Stale = func(err error, age time.Duration) error {
		must.Is(t, "Stale", errDown, err)
		if ages = append(ages, age); len(ages) == 3 {
			return errStale
		}
		return nil
	}
	lenient := newStore(t, newClone(t), "refs/remotes/origin/main", opts)

	remote.fail.Store(&errDown)
	must.Fail(lenient.Snapshot(t.Context()))(t, "first snapshot", errDown)
	remote.fail.Store(nil)
	snapshot(t, strict)
	files := snapshot(t, lenient)

	remote.fail.Store(&errDown)
	must.Fail(strict.Snapshot(t.Context()))(t, "without Stale", errDown)
	for range 2 {
		if last := snapshot(t, lenient); version(t, last) != version(t, files) || read(t, last, "a.md") != "one" {
			t.Error("not the last good snapshot")
		}
	}
	must.Fail(lenient.Snapshot(t.Context()))(t, "Stale returned an", errStale)
	if len(ages) != 3 || ages[0] <= 0 || ages[1] <= ages[0] {
		t.Errorf("ages: %v", ages)
	}
	remote.fail.Store(nil)
	repo.write(map[string]string{"a.md": "two"})
	must.Equal(t, "after the failure: a.md", "two", read(t, snapshot(t, lenient), "a.md"))
}

func TestARemoteThatHangs(t *testing.T) {
	repo := newRepository(t)
	repo.write(map[string]string{"a.md": "one"})
	remote := newRemote(t, repo)
	stale := 0
	store := newStore(t, newClone(t), "refs/remotes/origin/main", git.Options{
		Fetch: &gogit.FetchOptions{}, Timeout: time.Millisecond * 50,
		Stale: func(err error, _ time.Duration) error { stale++; return nil },
	})
	remote.hang.Store(true)
	must.Fail(store.Snapshot(t.Context()))(t, "with a timeout", context.DeadlineExceeded)
	remote.hang.Store(false)
	for { // on a busy machine, 50 ms can be too short
		if _, err := store.Snapshot(t.Context()); err == nil {
			break
		} else if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
	}
	remote.hang.Store(true)
	must.Equal(t, "a.md", "one", read(t, snapshot(t, store), "a.md"))
	must.Equal(t, "stale", 1, stale)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Fail(fs.ReadFile(store.WithContext(ctx), "a.md"))(t, "with a canceled context", context.Canceled)
}

// A counting filesystem counts the opens of indexes.
type counting struct {
	billy.Filesystem
	indexes atomic.Int64
}

func (c *counting) Open(name string) (billy.File, error) {
	if strings.HasSuffix(name, ".idx") {
		c.indexes.Add(1)
	}
	return c.Filesystem.Open(name)
}

// Each reference of the remote that is new asks for an object that the clone does not have.
func TestAFetchOfManyReferencesLoadsTheIndexesAFewTimes(t *testing.T) {
	repo := newRepository(t)
	newRemote(t, repo)
	disk := &counting{Filesystem: newClone(t).Storer.(*filesystem.Storage).Filesystem()}
	clone := must.Get(gogit.Open(filesystem.NewStorage(disk, cache.NewObjectLRUDefault()), nil))(t)
	store := newStore(t, clone, "refs/remotes/origin/main", git.Options{Fetch: &gogit.FetchOptions{}})
	for _, content := range []string{"one", "two"} {
		commit := repo.write(map[string]string{"a.md": content})
		for i := range 50 {
			name := plumbing.NewBranchReferenceName(fmt.Sprint(content, i))
			must.Do(t, repo.Storer.SetReference(plumbing.NewHashReference(name, commit)))
		}
		must.Equal(t, "a.md", content, read(t, snapshot(t, store), "a.md"))
	}
	if got := disk.indexes.Load(); got > 10 {
		t.Errorf("%d indexes are opened", got)
	}
}

const (
	main  = "refs/heads/main"
	skill = "---\nname: review\ndescription: Reviews a change.\n---\nLook at the diff.\n"
)

// A repository is a bare repository on disk. The tests write its objects.
type repository struct {
	t *testing.T
	*gogit.Repository
	dir string
}

func newRepository(t *testing.T) *repository {
	dir := t.TempDir()
	repo := must.Get(gogit.PlainInitWithOptions(dir, &gogit.PlainInitOptions{Bare: true, InitOptions: gogit.InitOptions{DefaultBranch: main}}))(t)
	return &repository{t, repo, dir}
}

// open returns a handle of its own, as another process has.
func (r *repository) open() *gogit.Repository {
	repo, err := gogit.PlainOpen(r.dir)
	if err != nil {
		r.t.Fatal(err)
	}
	return repo
}

func (r *repository) put(o interface {
	Encode(plumbing.EncodedObject) error
}) plumbing.Hash {
	encoded := r.Storer.NewEncodedObject()
	if err := o.Encode(encoded); err != nil {
		r.t.Fatal(err)
	}
	hash, err := r.Storer.SetEncodedObject(encoded)
	if err != nil {
		r.t.Fatal(err)
	}
	return hash
}

func (r *repository) blob(content string) plumbing.Hash {
	encoded := r.Storer.NewEncodedObject()
	encoded.SetType(plumbing.BlobObject)
	w, err := encoded.Writer()
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := w.Write([]byte(content)); err != nil {
		r.t.Fatal(err)
	}
	hash, err := r.Storer.SetEncodedObject(encoded)
	if err != nil {
		r.t.Fatal(err)
	}
	return hash
}

// tree writes the files as trees. A content that begins with "->" is the target of a symbolic link.
func (r *repository) tree(files map[string]string) plumbing.Hash {
	below := map[string]map[string]string{}
	var entries []object.TreeEntry
	for name, content := range files {
		if dir, rest, ok := strings.Cut(name, "/"); ok {
			if below[dir] == nil {
				below[dir] = map[string]string{}
			}
			below[dir][rest] = content
			continue
		}
		mode := filemode.Regular
		if target, ok := strings.CutPrefix(content, "->"); ok {
			mode, content = filemode.Symlink, target
		}
		entries = append(entries, object.TreeEntry{Name: name, Mode: mode, Hash: r.blob(content)})
	}
	for dir, files := range below {
		entries = append(entries, object.TreeEntry{Name: dir, Mode: filemode.Dir, Hash: r.tree(files)})
	}
	return r.trees(entries)
}

func (r *repository) trees(entries []object.TreeEntry) plumbing.Hash {
	sort.Sort(object.TreeEntrySorter(entries))
	return r.put(&object.Tree{Entries: entries})
}

// commit sets main to a new commit with the tree. All commits have the same time.
func (r *repository) commit(tree plumbing.Hash) plumbing.Hash {
	who := object.Signature{Name: "A", Email: "a@example.com", When: time.Unix(1_700_000_000, 0)}
	commit := &object.Commit{Author: who, Committer: who, Message: fmt.Sprint("change ", tree), TreeHash: tree}
	if ref, err := r.Reference(main, true); err == nil {
		commit.ParentHashes = []plumbing.Hash{ref.Hash()}
	}
	hash := r.put(commit)
	if err := r.Storer.SetReference(plumbing.NewHashReference(main, hash)); err != nil {
		r.t.Fatal(err)
	}
	return hash
}

func (r *repository) write(files map[string]string) plumbing.Hash { return r.commit(r.tree(files)) }

// pack moves all objects to a new pack.
func (r *repository) pack() {
	if err := r.RepackObjects(&gogit.RepackConfig{}); err != nil {
		r.t.Fatal(err)
	}
}

// damage replaces the content of a loose object.
func (r *repository) damage(hash plumbing.Hash, typ plumbing.ObjectType, content string) {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	fmt.Fprintf(w, "%s %d\x00%s", typ, len(content), content)
	if err := w.Close(); err != nil {
		r.t.Fatal(err)
	}
	file := filepath.Join(r.dir, "objects", hash.String()[:2], hash.String()[2:])
	if err := os.Remove(file); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o444); err != nil {
		r.t.Fatal(err)
	}
}
