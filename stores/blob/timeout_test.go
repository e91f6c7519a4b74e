package blob_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolshelf-go/toolshelf"
	gocloud "gocloud.dev/blob"
	"gocloud.dev/blob/driver"
	"gocloud.dev/gcerrors"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/stores/blob"
)

// A hanging is a driver whose requests wait for the end of their context while hangs is set.
type hanging struct {
	driver.Bucket
	objects    map[string]string
	hangs      atomic.Bool
	list, read atomic.Int64 // requests
}

func (b *hanging) wait(ctx context.Context) error {
	if !b.hangs.Load() {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

func (b *hanging) ListPaged(ctx context.Context, opts *driver.ListOptions) (*driver.ListPage, error) {
	b.list.Add(1)
	page := new(driver.ListPage)
	for _, key := range slices.Sorted(maps.Keys(b.objects)) {
		if strings.HasPrefix(key, opts.Prefix) {
			page.Objects = append(page.Objects, &driver.ListObject{Key: key, Size: int64(len(b.objects[key])), AsFunc: none})
		}
	}
	return page, b.wait(ctx)
}

func (b *hanging) Attributes(ctx context.Context, key string) (*driver.Attributes, error) {
	b.read.Add(1)
	return &driver.Attributes{Size: int64(len(b.objects[key])), AsFunc: none}, b.wait(ctx)
}

func (b *hanging) NewRangeReader(ctx context.Context, key string, offset, length int64, opts *driver.ReaderOptions) (driver.Reader, error) {
	b.read.Add(1)
	text := b.objects[key]
	r := strings.NewReader(text[offset:])
	if length >= 0 {
		r = strings.NewReader(text[offset : offset+length])
	}
	return &content{r, int64(len(text)), func() error { return b.wait(ctx) }}, nil
}

func (*hanging) ErrorCode(error) gcerrors.ErrorCode { return gcerrors.Unknown }
func (*hanging) Close() error                       { return nil }

func none(any) bool { return false }

// A content hangs after the header of the response.
type content struct {
	*strings.Reader
	size int64
	wait func() error
}

func (c *content) Read(p []byte) (int, error) {
	if err := c.wait(); err != nil {
		return 0, err
	}
	return c.Reader.Read(p)
}

func (c *content) Attributes() *driver.ReaderAttributes {
	return &driver.ReaderAttributes{Size: c.size}
}
func (*content) As(any) bool  { return false }
func (*content) Close() error { return nil }

// With Options.Timeout and Options.Stale, a catalog serves the last good snapshot of a bucket
// that hangs, although the contexts of the calls do not end.
func TestABucketThatHangs(t *testing.T) {
	versions := blob.Versions{Of: func(func(any) bool) string { return "1" }}
	type call struct{ name, result string }
	for _, test := range []struct {
		name  string
		stale func(error, time.Duration) error
		calls []call // during the outage, with the listings and the requests for files
	}{
		{"without Stale", nil, []call{{"List", "error after 5s, 1+0 requests"}, {"List", "error after 5s, 1+0 requests"}}},
		{"with Stale", func(error, time.Duration) error { return nil }, []call{
			{"List", "ok after 5s, 1+0 requests"}, {"List", "ok after 0s, 0+0 requests"}, {"Get", "ok after 0s, 0+0 requests"},
			{"a second", "ok after 1s, 0+0 requests"}, {"Get", "ok after 10s, 1+1 requests"}, {"Get", "ok after 0s, 0+0 requests"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &hanging{objects: map[string]string{"commands/deploy.md": "Deploy."}}
				bucket := gocloud.NewBucket(b)
				defer bucket.Close()
				s := must.Get(blob.New(bucket, blob.Options{Versions: versions, Timeout: 5 * time.Second, Stale: test.stale}))(t)
				commands := must.Get(s.Sub("commands"))(t)
				cat := must.Get(toolshelf.New(toolshelf.WithCommandsDir(), toolshelf.WithCommandsFS("bucket", commands)))(t)
				defer cat.Close()
				do := map[string]func() error{
					"List":     func() error { _, err := cat.List(t.Context(), toolshelf.Page{}); return err },
					"Get":      func() error { _, err := cat.Get(t.Context(), "deploy"); return err },
					"a second": func() error { time.Sleep(time.Second); return nil },
				}
				for _, name := range []string{"List", "Get"} {
					must.Do(t, do[name]())
				}
				b.hangs.Store(true)
				for i, call := range test.calls {
					lists, reads, begin, result := b.list.Load(), b.read.Load(), time.Now(), "ok"
					if err := do[call.name](); err != nil {
						result = "error"
						if !errors.Is(err, toolshelf.ErrFileRead) || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "no answer within 5s") {
							t.Errorf("call %d, %s: %v", i, call.name, err)
						}
					}
					result += fmt.Sprintf(" after %v, %d+%d requests", time.Since(begin), b.list.Load()-lists, b.read.Load()-reads)
					if result != call.result {
						t.Errorf("call %d, %s: %s, want %s", i, call.name, result, call.result)
					}
				}
				b.hangs.Store(false)
				b.objects["commands/review.md"] = "Review."
				time.Sleep(time.Second)
				page, err := cat.List(t.Context(), toolshelf.Page{})
				if err != nil || page.Pagination.Total != 2 {
					t.Errorf("after the outage: %d commands, %v", page.Pagination.Total, err)
				}
			})
		})
	}
}

func TestTheTimeoutLimitsEachRequestForAFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &hanging{objects: map[string]string{"deploy.md": "Deploy."}}
		bucket := gocloud.NewBucket(b)
		defer bucket.Close()
		s := must.Get(blob.New(bucket, blob.Options{Timeout: 5 * time.Second}))(t)
		view := must.Get(s.Snapshot(t.Context()))(t)
		b.hangs.Store(true)
		begin := time.Now()
		if _, err := fs.ReadFile(view, "deploy.md"); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != 5*time.Second {
			t.Errorf("error %v after %v", err, time.Since(begin))
		}
	})
}
