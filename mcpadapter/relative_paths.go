package mcpadapter

import (
	"errors"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/paths"
)

// WithRelativePaths shows paths relative to the root of the catalog instead of
// full paths, in the results and errors of the library's tools and prompts:
// metadata.path of get_command; path, layer, shadows and diagnostics of get_skill and get_agent;
// report_path of report_feedback; and the directories in messages. The root itself is
// ".". For a layer outside the root, the path of a file begins with the name that the
// option of the catalog gives to the layer.
//
// The default is full paths, as the tool contracts require. The tools for files always
// show relative paths.
//
// WithRelativePaths does not change the texts of commands, skills and their files, and agents, the
// patterns in the results of search_files and search_text, and the results of extra tools.
func WithRelativePaths() Option {
	return func(c *config) error { c.relativePaths = true; return nil }
}

// A rootHider replaces the full path of the root in the messages of the library.
// The zero rootHider replaces nothing.
type rootHider struct{ paths.Hider }

func rootHiderOf(root string) rootHider { return rootHider{paths.HiderOf(root)} }

// diagnostics replaces the paths in diagnostics by relative paths.
func (h rootHider) diagnostics(all []toolshelf.Diagnostic) {
	for i := range all {
		d := &all[i]
		d.Path, d.Message, d.Suggestion = h.Text(d.Path), h.Text(d.Message), h.Text(d.Suggestion)
	}
}

// error replaces an error of the catalog or of the protocol by an error with
// relative paths and without advice for the programmer. The causes stay in the chain.
func (h rootHider) error(err *error) {
	if *err == nil {
		return
	}
	var ours *toolshelf.Error
	var rpc *RPCError
	switch {
	case errors.As(*err, &rpc):
		shown := *rpc
		shown.Message = h.Text(rpc.Message)
		*err = &shown
	case errors.As(*err, &ours):
		shown := *ours
		shown.Message, shown.Path = h.Text(withoutGo(ours)), h.Text(ours.Path)
		*err = &shown
	}
}
