package plugins

import (
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// A counted filesystem counts the opened files and directories, and the bytes that the caller
// reads.
type counted struct {
	fs.FS
	opens, bytes *atomic.Int64
}

func (c counted) Open(name string) (fs.File, error) {
	f, err := c.FS.Open(name)
	c.opens.Add(1)
	if dir, ok := f.(fs.ReadDirFile); ok {
		return dir, err
	}
	return countedFile{f, c.bytes}, err
}

type countedFile struct {
	fs.File
	bytes *atomic.Int64
}

func (f countedFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.bytes.Add(int64(n))
	return n, err
}

// cost lists the commands of a new catalog, and returns the opened files, the bytes read and the
// bytes allocated.
func cost(t *testing.T, files fstest.MapFS, want int, opts func(fs.FS) []toolshelf.Option) (opens, read, allocated int64) {
	t.Helper()
	var opened, bytes atomic.Int64
	fsys := counted{files, &opened, &bytes}
	c := must.Get(toolshelf.New(append(opts(fsys), toolshelf.WithRoot(t.TempDir()))...))(t)
	defer c.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	l, err := c.List(t.Context(), toolshelf.Page{})
	runtime.ReadMemStats(&after)
	if err != nil || l.Pagination.Total != want {
		t.Fatalf("%d commands, %v; want %d", l.Pagination.Total, err, want)
	}
	return opened.Load(), bytes.Load(), int64(after.TotalAlloc - before.TotalAlloc)
}

// TestHostilePluginsCostLessThanTwiceTheFiles compares many plugins with layers of the same
// commands, and a large manifest with a small one.
func TestHostilePluginsCostLessThanTwiceTheFiles(t *testing.T) {
	const n = 2000
	text := []byte("---\ndescription: Text.\n---\n" + strings.Repeat("Text of a command.\n", 100))
	files, plain := fstest.MapFS{}, fstest.MapFS{}
	var entries []string
	for i := range n {
		name := fmt.Sprintf("p%04d", i)
		entries = append(entries, fmt.Sprintf(`{"name": %q, "source": "./%s"}`, name, name))
		files[name+"/commands/a.md"] = &fstest.MapFile{Data: text}
		files[name+"/.claude-plugin/plugin.json"] = &fstest.MapFile{Data: []byte(`{"name": "` + name + `"}`)}
		plain[name+"/commands/a-"+name+".md"] = &fstest.MapFile{Data: text}
		plain[name+"/manifest/plugin-"+name+".md"] = &fstest.MapFile{Data: []byte(`{"name": "` + name + `"}`)}
	}
	files[".claude-plugin/marketplace.json"] = &fstest.MapFile{Data: []byte(`{"plugins": [` + strings.Join(entries, ",\n") + `]}`)}
	ofPlugins := func(fsys fs.FS) []toolshelf.Option { return []toolshelf.Option{toolshelf.WithPluginsFS("x", fsys)} }
	ofLayers := func(fsys fs.FS) (all []toolshelf.Option) {
		for i := range n {
			for _, dir := range []string{"commands", "manifest"} {
				sub := must.Get(fs.Sub(fsys, fmt.Sprintf("p%04d/%s", i, dir)))(t)
				all = append(all, toolshelf.WithCommandsFS(fmt.Sprint(dir, i), sub))
			}
		}
		return all
	}
	opens, read, allocated := cost(t, files, n, ofPlugins)
	opens2, read2, allocated2 := cost(t, plain, 2*n, ofLayers)
	t.Logf("%d plugins: %d opens, %d bytes read, %d bytes allocated; as layers: %d, %d, %d", n, opens, read, allocated, opens2, read2, allocated2)
	if opens > 2*opens2 || read > 2*read2 || 4*allocated > 9*allocated2 {
		t.Error("the plugins cost more than twice the layers, or 2.25 times their bytes of memory")
	}

	files["p0000/.claude-plugin/plugin.json"] = &fstest.MapFile{Data: []byte(`{"name": "p0000", "description": "` + strings.Repeat("x", 50<<20) + `"}`)}
	opens3, read3, allocated3 := cost(t, files, n-1, ofPlugins)
	t.Logf("with a manifest of 50 MB: %d, %d, %d", opens3, read3, allocated3)
	if opens3 > opens || read3 > read || allocated3 > 2*allocated {
		t.Error("a manifest of 50 MB is read")
	}
}
