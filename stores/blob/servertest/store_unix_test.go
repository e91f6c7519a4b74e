//go:build unix

package servertest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/stores/blob"
	"github.com/toolshelf-go/toolshelf/stores/blob/s3"
)

// store returns the store of a bucket, with conditional requests.
func (b *bucket) store(opts blob.Options) *blob.Store {
	b.t.Helper()
	opts.Versions = s3.Versions
	return must.Get(blob.New(b.open(), opts))(b.t)
}

func snapshot(t *testing.T, s *blob.Store) fs.FS {
	t.Helper()
	return must.Get(s.Snapshot(t.Context()))(t)
}

// version returns the version of an FS or of a FileInfo.
func version(v any) string { return v.(interface{ Version() string }).Version() }

func stat(t *testing.T, fsys fs.FS, name string) fs.FileInfo {
	t.Helper()
	return must.Get(fs.Stat(fsys, name))(t)
}

func TestStoreAndSnapshotAreFilesystems(t *testing.T) {
	b := newBucket(t)
	b.put("team/commands/deploy.md", "Deploy.")
	b.put("team/commands/frontend/component.md", "Build a component.")
	b.put("team/commands/empty.md", "")
	s := b.store(blob.Options{Dir: "team"})
	for name, fsys := range map[string]fs.FS{"store": s, "snapshot": snapshot(t, s)} {
		t.Run(name, func(t *testing.T) {
			if err := fstest.TestFS(fsys, "commands/deploy.md", "commands/frontend/component.md", "commands/empty.md"); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRequests(t *testing.T) {
	b := newBucket(t)
	for i := range 1001 {
		b.place(fmt.Sprintf("commands/c%04d.md", i), strings.Repeat("x", 10_000))
	}
	s := b.store(blob.Options{Dir: "commands"})
	view := snapshot(t, s)
	file := must.Get(view.Open("c0000.md"))(t)
	defer file.Close()
	for _, test := range []struct {
		call string
		do   func() error
		want string
	}{
		{"Snapshot", func() error { _, err := s.Snapshot(t.Context()); return err }, "2 LIST, 0 GET, 0 HEAD"},
		{"Snapshot.ReadDir", func() error { _, err := fs.ReadDir(view, "."); return err }, "0 LIST, 0 GET, 0 HEAD"},
		{"Snapshot.Stat", func() error { _, err := fs.Stat(view, "c0000.md"); return err }, "0 LIST, 0 GET, 0 HEAD"},
		{"Snapshot.Stat of an unknown name", func() error { _, err := fs.Stat(view, "x.md"); return want(err, fs.ErrNotExist) }, "0 LIST, 0 GET, 0 HEAD"},
		{"Snapshot.Open and File.Stat", func() error { _, err := file.Stat(); return err }, "0 LIST, 0 GET, 0 HEAD"},
		{"ReadAt of a file of a snapshot", func() error { _, err := file.(io.ReaderAt).ReadAt(make([]byte, 4096), 0); return err }, "0 LIST, 1 GET, 0 HEAD"},
		{"Read of a file of a snapshot", func() error { _, err := io.ReadAll(file); return err }, "0 LIST, 1 GET, 0 HEAD"},
		{"Store.Stat", func() error { _, err := s.Stat("c0000.md"); return err }, "0 LIST, 0 GET, 1 HEAD"},
		{"Store.Stat of the top", func() error { _, err := s.Stat("."); return err }, "0 LIST, 0 GET, 0 HEAD"},
		{"Store.Stat of an unknown name", func() error { _, err := s.Stat("x.md"); return want(err, fs.ErrNotExist) }, "2 LIST, 0 GET, 1 HEAD"},
		{"Store.Open, File.Stat and Read", func() error { _, err := fs.ReadFile(s, "c0000.md"); return err }, "0 LIST, 1 GET, 0 HEAD"},
	} {
		got := b.counted(func() { must.Do(t, test.do()) })
		must.Equal(t, test.call, test.want, got)
	}
}

// want returns an error unless err is the wanted error.
func want(err, wanted error) error {
	if errors.Is(err, wanted) {
		return nil
	}
	return fmt.Errorf("error %v; want %v", err, wanted)
}

func TestReadAtRequestsOnlyTheBytes(t *testing.T) {
	b := newBucket(t)
	b.put("deploy.md", "0123456789")
	var ranges []string
	b.intercept(func(r *http.Request) (*http.Response, error) {
		if isObject(r) {
			ranges = append(ranges, r.Header.Get("Range"))
		}
		return nil, nil
	})
	file := must.Get(snapshot(t, b.store(blob.Options{})).Open("deploy.md"))(t)
	defer file.Close()
	for _, test := range []struct {
		offset int64
		size   int
		want   string
		err    error
	}{
		{0, 4, "0123", nil},
		{8, 2, "89", nil},
		{8, 4, "89", io.EOF},
		{10, 4, "", io.EOF},
		{100, 4, "", io.EOF},
		{3, 0, "", nil},
	} {
		buf := make([]byte, test.size)
		n, err := file.(io.ReaderAt).ReadAt(buf, test.offset)
		if got := string(buf[:n]); got != test.want || err != test.err {
			t.Errorf("ReadAt(%d bytes, %d) = %q, %v; want %q, %v", test.size, test.offset, got, err, test.want, test.err)
		}
	}
	must.Match(t, "requested", []string{"bytes=0-3", "bytes=8-9", "bytes=8-9"}, ranges)
}

func TestAChangeAfterTheListingIsAnError(t *testing.T) {
	b := newBucket(t)
	b.put("deploy.md", "Deploy slowly.")
	s := b.store(blob.Options{})
	listed := snapshot(t, s)
	before := stat(t, listed, "deploy.md")
	b.put("deploy.md", "Deploy faster.") // the same size, and usually the same second

	must.Fail(fs.ReadFile(listed, "deploy.md"))(t, "error", blob.ErrChanged)
	file := must.Get(listed.Open("deploy.md"))(t)
	defer file.Close()
	must.Fail(file.(io.ReaderAt).ReadAt(make([]byte, 4), 0))(t, "ReadAt", blob.ErrChanged)

	now := snapshot(t, s)
	if text, err := fs.ReadFile(now, "deploy.md"); string(text) != "Deploy faster." {
		t.Errorf("a new snapshot has %q, %v", text, err)
	}
	if after := stat(t, now, "deploy.md"); version(after) == version(before) || version(now) == version(listed) {
		t.Errorf("the version %s of the file or %s of the snapshot has not changed", version(after), version(now))
	}
}

func TestAServerMayIgnoreConditions(t *testing.T) {
	b := newBucket(t)
	b.put("deploy.md", "Deploy slowly.")
	s := must.Get(blob.New(b.open(), blob.Options{Versions: blob.Versions{Of: s3.Versions.Of}}))(t)
	listed := snapshot(t, s)
	b.put("deploy.md", "Deploy faster.")
	must.Fail(fs.ReadFile(listed, "deploy.md"))(t, "error", blob.ErrChanged)
}

func TestVersionsOfListingsAndObjectsAreEqual(t *testing.T) {
	b := newBucket(t)
	b.put("deploy.md", "Deploy.")
	s := b.store(blob.Options{})
	listed := version(stat(t, snapshot(t, s), "deploy.md"))
	file := must.Get(s.Open("deploy.md"))(t)
	defer file.Close()
	opened := must.Get(file.Stat())(t)
	if head := version(stat(t, s, "deploy.md")); listed == "" || listed != head || listed != version(opened) {
		t.Errorf("versions %q in the listing, %q of Stat, %q of the open file", listed, head, version(opened))
	}
}

func TestADeletionAfterTheListingIsNotExist(t *testing.T) {
	b := newBucket(t)
	b.put("deploy.md", "Deploy.")
	listed := snapshot(t, b.store(blob.Options{}))
	b.delete("deploy.md")
	must.Fail(fs.ReadFile(listed, "deploy.md"))(t, "error", fs.ErrNotExist)
}

func TestEqualListingsHaveEqualVersions(t *testing.T) {
	b := newBucket(t)
	b.put("commands/deploy.md", "Deploy.")
	s := b.store(blob.Options{Dir: "commands"})
	before := version(snapshot(t, s))
	b.put("skills/pdf/SKILL.md", "outside the directory")
	if now := version(snapshot(t, s)); before == "" || now != before {
		t.Errorf("version %q, and %q without a change of the directory", before, now)
	}
	for _, change := range []func(){
		func() { b.put("commands/review.md", "Review.") },
		func() { b.delete("commands/deploy.md") },
		func() { b.put("commands/deploy.md", "Deplo!.") },
	} {
		change()
		now := version(snapshot(t, s))
		if now == before {
			t.Error("a change has not changed the version")
		}
		before = now
	}
}

func TestHalfAListingIsAnError(t *testing.T) {
	b := newBucket(t)
	for i := range 1500 {
		b.place(fmt.Sprintf("c%04d.md", i), "Deploy.")
	}
	lost := errors.New("connection lost")
	b.intercept(func(r *http.Request) (*http.Response, error) {
		if r.URL.Query().Has("continuation-token") {
			return nil, lost
		}
		return nil, nil
	})
	must.Fail(b.store(blob.Options{}).Snapshot(t.Context()))(t, "Snapshot", lost)
}

func TestAnUnreachableBucket(t *testing.T) {
	b := newBucket(t)
	b.put("deploy.md", "Deploy.")
	unreachable, refused := errors.New("unreachable"), errors.New("the snapshot is too old")
	fail := func(*http.Request) (*http.Response, error) { return nil, unreachable }
	var ages []time.Duration
	for _, test := range []struct {
		name  string
		stale func(error, time.Duration) error
		want  error
	}{
		{"without Stale", nil, unreachable},
		{"Stale accepts the snapshot", func(err error, age time.Duration) error { ages = append(ages, age); return want(err, unreachable) }, nil},
		{"Stale refuses the snapshot", func(error, time.Duration) error { return refused }, refused},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := b.store(blob.Options{Stale: test.stale})
			b.intercept(fail)
			must.Fail(s.Snapshot(t.Context()))(t, "error", unreachable)
			b.intercept(nil)
			good := snapshot(t, s)
			b.intercept(fail)
			last, err := s.Snapshot(t.Context())
			if !errors.Is(err, test.want) {
				t.Errorf("Snapshot: error %v; want %v", err, test.want)
			}
			must.Fail(s.Stat("deploy.md"))(t, "Stat", test.want)
			if test.want == nil && version(last) != version(good) {
				t.Errorf("version %s; want the version %s of the last good snapshot", version(last), version(good))
			}
			b.intercept(nil)
			b.put("deploy.md", "Deploy again after "+test.name)
			if now := snapshot(t, s); version(now) == version(good) {
				t.Error("the old version after the end of the outage")
			}
		})
	}
	if len(ages) != 2 || ages[0] <= 0 || ages[1] < ages[0] {
		t.Errorf("ages %v; want two increasing ages", ages)
	}
}

func TestRefusals(t *testing.T) {
	b := newBucket(t)
	b.put("deploy.md", "Deploy.")
	s := b.store(blob.Options{Stale: func(err error, _ time.Duration) error { return err }})
	snapshot(t, s)
	for _, test := range []struct {
		status int
		code   string
		want   error
	}{
		{http.StatusForbidden, "AccessDenied", fs.ErrPermission},
		{http.StatusNotFound, "NoSuchBucket", fs.ErrNotExist},
	} {
		b.intercept(func(r *http.Request) (*http.Response, error) {
			body := "<Error><Code>" + test.code + "</Code></Error>"
			return &http.Response{StatusCode: test.status, Body: io.NopCloser(strings.NewReader(body)), Header: http.Header{}, Request: r}, nil
		})
		must.Fail(s.Snapshot(t.Context()))(t, test.code, test.want)
		must.Fail(s.Open("deploy.md"))(t, test.code, test.want)
	}
}

func TestRequestsEndWithTheContext(t *testing.T) {
	b := newBucket(t)
	b.put("deploy.md", "Deploy.")
	s := b.store(blob.Options{Stale: func(error, time.Duration) error { return nil }})
	view := snapshot(t, s)
	bound := func(ctx context.Context, fsys fs.FS) fs.FS {
		return fsys.(interface{ WithContext(context.Context) fs.FS }).WithContext(ctx)
	}
	for name, call := range map[string]func(context.Context) error{
		"Snapshot":             func(ctx context.Context) error { _, err := s.Snapshot(ctx); return err },
		"Open":                 func(ctx context.Context) error { _, err := bound(ctx, s).Open("deploy.md"); return err },
		"Stat":                 func(ctx context.Context) error { _, err := fs.Stat(bound(ctx, s), "deploy.md"); return err },
		"ReadDir":              func(ctx context.Context) error { _, err := fs.ReadDir(bound(ctx, s), "."); return err },
		"a file of a snapshot": func(ctx context.Context) error { _, err := fs.ReadFile(bound(ctx, view), "deploy.md"); return err },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		b.intercept(func(r *http.Request) (*http.Response, error) {
			cancel() // while the server works
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		must.Is(t, name, context.Canceled, call(ctx))
		cancel()
	}
}

func TestSubKeepsTheMethods(t *testing.T) {
	b := newBucket(t)
	b.put("team/commands/deploy.md", "Deploy.")
	b.put("other.md", "Other.")
	sub := must.Get(fs.Sub(b.store(blob.Options{Dir: "team"}), "commands"))(t)
	view := must.Get(sub.(*blob.Store).Snapshot(t.Context()))(t)
	must.Match(t, "the directory", []string{"deploy.md"}, must.Get(fs.Glob(view, "*"))(t))
}
