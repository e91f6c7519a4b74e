package toolshelf

import (
	"cmp"
	"context"
	"errors"
	"io/fs"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/budget"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/lifetime"
	"github.com/toolshelf-go/toolshelf/internal/listing"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
	"github.com/toolshelf-go/toolshelf/internal/paths"
	"github.com/toolshelf-go/toolshelf/internal/text"
)

// A fileCall is a call of a method that reads files below the root: ListDir, Tree, FindFiles, Grep,
// Stat or ReadFile.
type fileCall struct {
	catalog  *Catalog
	op, path string // as given
	dir      bool   // the path is the path of a directory
	dirOptions
	lines text.Request // of ReadFile
	name  string       // of the path below the root, set by run

	action       string // of the event; "" means EventListed
	count, bytes int    // of the event, set by fit
}

// A fileResult is the result of a fileCall.
type fileResult[T any] interface {
	*T
	read(ctx context.Context, f *fileCall) error // fills the result, in await
	fit(ctx context.Context, f *fileCall) error  // reduces the result to the budget, on the goroutine of the caller
}

// run checks the options of a call, reads the files of its path, and returns the result within the
// budget. After an error, a filesystem that hangs may still change the result.
func run[T any, P fileResult[T]](ctx context.Context, call fileCall, result T) (T, error) {
	c, f := call.catalog, &fileRun[T, P]{call, result}
	if err := cmp.Or(c.begin(ctx, f.op), f.check(f.op)); err != nil {
		return *new(T), inOp(f.op, err)
	}
	progress, o := f.reporter(), c.observer.Begin(ctx)
	var err error
	switch {
	case progress != nil:
		_, err = parallel.Reported(ctx, progress, func(ctx context.Context) (*T, error) { return awaitRoot(ctx, c, true, f.do) })
	case c.onDisk(): // the method needs no allocation
		_, err = lifetime.Direct(ctx, c.lifetime, f.do)
	default:
		_, err = await(ctx, c, f.do)
	}
	if err == nil {
		err = f.failure(ctx, P(&f.result).fit(ctx, &f.fileCall))
	}
	progress.End(err)
	e := Event{Action: cmp.Or(f.action, EventListed), Path: f.path}
	if err != nil {
		err = c.methodError(f.op, err)
		o.Send(e, err)
		return *new(T), err
	}
	e.Count, e.Bytes = f.count, f.bytes
	o.Send(e, nil)
	return f.result, nil
}

// A fileRun is the work of a fileCall, and its result.
type fileRun[T any, P fileResult[T]] struct {
	fileCall
	result T
}

func (f *fileRun[T, P]) do(ctx context.Context) (*T, error) {
	err := f.resolve()
	if err == nil {
		err = P(&f.result).read(ctx, &f.fileCall)
	}
	return &f.result, f.failure(ctx, err)
}

// resolve sets the name below the root. resolve resolves ".." in the text of the path. If the path
// leads above the root, resolve returns ErrOutsideRoot. Opening the name checks each directory of
// the path.
func (f *fileCall) resolve() error {
	name, ok := f.catalog.at.Relative(f.path)
	if !ok {
		return f.outsideRoot()
	}
	f.name = name
	return nil
}

// Root is documented at bridge.Catalog.
func (c bridged) Root() string { return c.at.Dir }

// RelativePath is documented at bridge.Catalog.
func (c bridged) RelativePath(layer, full string) string {
	if full == "" {
		return ""
	}
	if layer == "" {
		for _, d := range c.reports.Named() {
			if relative, ok := c.files.Relative(d.FS, d.Path, d.Name, full); ok {
				return relative
			}
		}
		return full
	}
	for _, x := range c.indexes {
		for _, l := range x.Layers() {
			if relative, ok := c.files.Relative(l.FS, l.Dir, l.Name, full); ok && l.Name == layer {
				return relative
			}
		}
	}
	if relative, ok := paths.Below(c.at.Dir, ".", full); ok && c.below.Has(layer) {
		return relative
	}
	return full
}

// outsideRoot returns the error for a path that leads out of the root. The error must not depend on
// the files outside the root.
func (f *fileCall) outsideRoot() error {
	return &Error{Code: CodeOutsideRoot, Op: f.op, Path: f.path,
		Message: "Path '" + escape.Path(f.path) + "' is outside project root"}
}

// failure converts an error of a call.
func (f *fileCall) failure(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var small *budget.TooSmallError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case CodeOf(err) != "":
		return err
	case errors.Is(err, confine.ErrEscape):
		return f.outsideRoot()
	case errors.As(err, &small):
		option := "Budget: "
		if small.Budget.Count != nil {
			option = "Tokens: "
		}
		return invalidOption(option + small.Error())
	}
	c := f.catalog
	why := listing.Explain(ctx, c.root, listing.Subject{Name: f.name, Path: f.path, Dir: f.dir, Hidden: f.showHidden}, err)
	if why.Missing && !c.files.RootIsTop() {
		if _, missing := c.root.Lstat("."); errors.Is(missing, fs.ErrNotExist) || errors.Is(missing, confine.ErrNotDir) {
			return rootNotFound(f.op, c.config.root, missing)
		}
	}
	return &Error{Code: Code(why.Code), Op: f.op, Path: f.path, Err: err, Message: why.Message}
}
