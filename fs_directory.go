package toolshelf

import "context"

// inDirectory resolves a path and calls do with its name below the root. The function within
// applies the budget to the result, on the goroutine of the caller.
func inDirectory[T any](ctx context.Context, c *Catalog, op, path string, opts []DirOption,
	within func(result T, ctx context.Context, o *dirOptions) (T, error), do func(ctx context.Context, name string, o dirOptions) (T, error)) (T, error) {
	var none T
	if err := c.begin(ctx, op); err != nil {
		return none, err
	}
	options, err := newDirOptions(op, opts)
	if err != nil {
		return none, err
	}
	var progress *reporter
	if options.progress != nil {
		progress = options.reporter()
	}
	inRoot := func(ctx context.Context) (T, error) {
		name, err := c.rootRelative(op, path)
		if err != nil {
			return none, err
		}
		value, err := do(ctx, name, options)
		switch {
		case err == nil:
			return value, nil
		case ctx.Err() != nil:
			return none, ctx.Err()
		case CodeOf(err) != "":
			return none, err
		default:
			return none, c.dirError(ctx, op, path, name, err, options.showHidden)
		}
	}
	value, err := reported(ctx, progress, func(ctx context.Context) (T, error) { return awaitRoot(ctx, c, inRoot) })
	if err == nil {
		value, err = within(value, ctx, &options)
	}
	progress.end(err)
	return value, c.methodError(op, err)
}
