package index

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"path"
	"reflect"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/access"
)

// The optional interfaces of Layer.Store, which docs/stores.md documents.
type (
	snapshotFS interface {
		fs.FS
		Snapshot(ctx context.Context) (fs.FS, error)
	}
	contextFS interface {
		fs.FS
		WithContext(ctx context.Context) fs.FS
	}
	versionedFS interface {
		fs.FS
		Version() string
	}
	staleFS interface {
		fs.FS
		Stale() error
	}
)

// An advisedError is an error of a store that knows the next step.
type advisedError interface {
	error
	Advice() string
}

// A view is the filesystem of a layer during one call.
type view struct {
	fs      *confine.FS
	refused *confine.FS // has the files that fs refuses to read, because they have changed; nil if fs is no snapshot
	version string      // of the whole filesystem; "" if unknown
	stale   error       // why fs is the last good snapshot of the store; nil if the store has answered
}

// FS returns the filesystem of a layer. On a contextFS, the calls end with ctx.
func (x *Index) FS(ctx context.Context, layer int) *confine.FS {
	l := x.config.Layers[layer]
	if store, ok := l.Store.(contextFS); ok {
		return overStore(store.WithContext(ctx))
	}
	return l.FS
}

// FSOf returns the filesystem for reads of the file of an entry. No link leads out of the plugin of
// the entry. On a contextFS, the calls end with ctx.
func (x *Index) FSOf(ctx context.Context, e *Entry) *confine.FS {
	return x.fsIn(ctx, e.Layer(), e.Part())
}

// fsIn is FSOf for a file in a plugin, or with a nil part in a layer.
func (x *Index) fsIn(ctx context.Context, layer int, in *Part) *confine.FS {
	fsys := x.FS(ctx, layer)
	if in != nil {
		return fsys.Within(in.PluginDir)
	}
	return fsys
}

// Remote reports whether the filesystem of the layer has one of the optional interfaces of
// a store. The files of a store can change without a report of the operating system.
func (l Layer) Remote() bool {
	switch l.Store.(type) {
	case snapshotFS, contextFS:
		return true
	}
	return l.Store != nil && l.FS.KnowsHeads()
}

// ReadAdvice returns the suggestion for a file or a directory of the layer that err prevents from
// being read.
func (l Layer) ReadAdvice(err error) string {
	var advised advisedError
	switch {
	case errors.As(err, &advised):
		return advised.Advice()
	case l.Remote() && access.MayHaveChanged(err):
		return checkStore
	case errors.Is(err, fs.ErrInvalid):
		return access.RenameFile
	}
	return "check its type and permissions"
}

const checkStore = "check the connection to the store"

func overStore(store fs.FS) *confine.FS {
	fsys, err := confine.Over(afero.FromIOFS{FS: store}, ".")
	if err != nil {
		panic(err) // only options can be wrong
	}
	return fsys
}

// view returns the filesystem that a scan of a layer reads.
func (x *Index) view(ctx context.Context, layer int) (view, error) {
	live := x.FS(ctx, layer)
	store, ok := x.config.Layers[layer].Store.(snapshotFS)
	if !ok {
		return view{fs: live}, nil
	}
	v, err := takeSnapshot(ctx, store)
	v.refused = live
	return v, err
}

// takeSnapshot returns a consistent view of a store.
func takeSnapshot(ctx context.Context, store snapshotFS) (v view, err error) {
	snapshot, err := store.Snapshot(ctx)
	switch {
	case err != nil:
		return view{}, err
	case snapshot == nil:
		return view{}, errors.New("Snapshot returned no filesystem; return an error instead")
	}
	if versioned, ok := snapshot.(versionedFS); ok {
		v.version = versioned.Version()
	}
	if last, ok := snapshot.(staleFS); ok {
		v.stale = last.Stale()
	}
	if c, ok := snapshot.(contextFS); ok {
		snapshot = c.WithContext(ctx)
	}
	v.fs = overStore(snapshot)
	return v, nil
}

// viewSkill sets the filesystem of a SkillDir. A store whose directories are snapshotFS can
// list all files of the skill in one request.
func (x *Index) viewSkill(ctx context.Context, d *SkillDir) error {
	dirPath := path.Dir(d.Entry.Path)
	store := x.config.Layers[d.Entry.layer].Store
	if sub, ok := store.(fs.SubFS); ok && dirPath != "." {
		below, err := sub.Sub(dirPath)
		if err != nil {
			return err
		}
		if snapshots, ok := below.(snapshotFS); ok {
			v, err := takeSnapshot(ctx, snapshots)
			d.FS, d.At, d.snapshot, d.stale = v.fs, ".", true, v.stale != nil
			return err
		}
	}
	d.FS, d.At = x.FSOf(ctx, d.Entry), dirPath
	return nil
}

// IsFault is access.IsFault.
func IsFault(err error) bool { return access.IsFault(err) }

// subFS is the type of most results of fs.Sub, which has no exported name.
var subFS = func() reflect.Type {
	sub, err := fs.Sub(embed.FS{}, "sub")
	if err != nil {
		panic(err) // the name is valid
	}
	return reflect.TypeOf(sub)
}()

// IsEmbedded reports whether fsys is an embed.FS, or an fs.Sub of an embed.FS. If
// fs.Sub changes its representation, IsEmbedded reports false, and each call
// reads the files.
func IsEmbedded(fsys fs.FS) bool {
	if _, ok := fsys.(embed.FS); ok {
		return true
	}
	v := reflect.ValueOf(fsys)
	if v.Type() != subFS || v.Kind() != reflect.Pointer {
		return false
	}
	v = v.Elem()
	if v.Kind() != reflect.Struct {
		return false
	}
	outer := v.FieldByName("fsys")
	return outer.IsValid() && outer.Kind() == reflect.Interface && !outer.IsNil() &&
		outer.Elem().Type() == reflect.TypeFor[embed.FS]()
}
