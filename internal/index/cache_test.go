package index

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func named(name string) File { return File{Path: name} }

func cached(name string, size int64) *Cached[string] {
	return &Cached[string]{File: named(name), Value: "of " + name, Size: size}
}

// kept returns the names in the cache, the least recently used first.
func kept(c *Cache[string]) (names []string) {
	for e := c.order.Back(); e != nil; e = e.Prev() {
		names = append(names, e.Value.(*Cached[string]).File.Path)
	}
	return names
}

func TestCacheReplacesTheValueOfAFile(t *testing.T) {
	c := Cache[string]{Max: 1 << 20}
	c.Put(cached("a", 1000))
	c.Put(&Cached[string]{File: named("a"), Info: confine.Info{Size: 7}, Value: "new", Size: 10})
	c.Put(&Cached[string]{File: File{Layer: 1, Path: "a"}, Value: "of another layer"})
	if got := c.Get(named("a")); got == nil || got.Value != "new" || got.Info.Size != 7 {
		t.Errorf("got %+v", got)
	}
	must.Equal(t, "the values take", cached("a", 10).memory()+cached("a", 0).memory(), c.size)
}

func TestAZeroCacheHasTheDefaultMaximum(t *testing.T) {
	var c Cache[string]
	c.Put(cached("a", maxCache-1_000))
	if c.Get(named("a")) == nil {
		t.Error("the cache does not keep a value of the maximum")
	}
	c.Put(cached("b", maxCache))
	if got := kept(&c); got != nil {
		t.Errorf("the cache has %q", got)
	}
}

// The model of a Cache is a list of files, the least recently used first.
func TestCacheIsAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Cache[string]{Max: rapid.Int64Range(1, 5000).Draw(t, "max")}
		var model []*Cached[string]
		find := func(name string) int {
			return slices.IndexFunc(model, func(v *Cached[string]) bool { return v.File == named(name) })
		}
		name := rapid.StringMatching(`[a-f]`)
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				v := cached(name.Draw(t, "name"), rapid.Int64Range(0, 3000).Draw(t, "size"))
				c.Put(v)
				model = append(slices.DeleteFunc(model, func(old *Cached[string]) bool { return old.File == v.File }), v)
				total := int64(0)
				for _, v := range model {
					total += v.memory()
				}
				for ; total > c.Max; model = model[1:] {
					total -= model[0].memory()
				}
			},
			"get": func(t *rapid.T) {
				n := name.Draw(t, "name")
				got, i := c.Get(named(n)), find(n)
				if (got != nil) != (i >= 0) {
					t.Fatalf("%s: %+v; the model has the index %d", n, got, i)
				}
				if i >= 0 {
					must.Equal(t, "the value", "of "+n, got.Value)
					model = append(slices.Delete(slices.Clone(model), i, i+1), got)
				}
			},
			"retain": func(t *rapid.T) {
				n := name.Draw(t, "name")
				c.Retain(func(f File) bool { return f != named(n) })
				model = slices.DeleteFunc(model, func(v *Cached[string]) bool { return v.File == named(n) })
			},
			"": func(t *rapid.T) {
				var want []string
				size := int64(0)
				for _, v := range model {
					want = append(want, v.File.Path)
					size += v.memory()
				}
				must.Equal(t, "the size of the cache", size, c.size)
				if got := kept(&c); !slices.Equal(got, want) {
					t.Fatalf("the cache has %q, want %q", got, want)
				}
			},
		})
	})
}

// heap returns the number of bytes in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// The bound is useful only if the cache counts most of the memory of small values.
func TestCacheCountsItsMemory(t *testing.T) {
	const n = 20_000
	before := heap()
	c := Cache[string]{Max: 1 << 30}
	for i := range n {
		c.Put(cached(fmt.Sprintf("directory/file-%d.md", i), 24))
	}
	held := heap() - before
	if c.size < held/2 || c.size > 3*held {
		t.Errorf("%d values need about %d bytes and count as %d", n, held, c.size)
	}
	runtime.KeepAlive(&c)
}
