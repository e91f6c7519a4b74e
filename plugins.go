package toolshelf

import (
	"context"
	"encoding/json"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/layers"
	"github.com/toolshelf-go/toolshelf/internal/plugin"
)

// WithPlugins reads the commands, the skills and the agents of plugins. Each directory is a
// marketplace, a plugin, or a directory of plugins. A relative directory is below the root. The
// document docs/plugins.md has the formats and the rules.
//
// Names begin with the name of the plugin, as in "deploy:rollback". [Catalog.Get],
// [Catalog.GetSkill], [Catalog.GetAgent] and [Catalog.Expand] also find the name "rollback" if
// exactly one plugin has the name; otherwise the error is [ErrAmbiguousName]. Plugins have the
// lowest precedence, the first plugin first. The default directories stay.
//
// No path of a manifest and no link leads out of its plugin, unless [WithSymlinks] trusts the
// target. The catalog executes and fetches nothing. A call of a list also reads the directory of
// each plugin.
func WithPlugins(dirs ...string) Option {
	return optionFunc(func(c *config) {
		c.check(c.plugins.AddDirs("WithPlugins", dirs, index.Place{}))
	})
}

// WithPluginsFS reads the plugins at the top of fsys, as [WithPlugins] does. The name identifies
// fsys in the field Layer, and is the name of a plugin at the top without a manifest. The rules of
// [WithCommandsFS] for fsys apply.
func WithPluginsFS(name string, fsys fs.FS) Option {
	return optionFunc(func(c *config) { c.check(c.plugins.AddFS("WithPluginsFS", name, fsys)) })
}

// addPlugins adds the layers of plugins below all other layers.
func (c *config) addPlugins() {
	for i := range c.plugins.All {
		c.plugins.All[i].Named = false // a missing directory has no plugins
		c.plugins.All[i].Plugins = &index.Plugins{Options: plugin.Options{Manifests: c.manifests, MaxSize: min(c.maxFileSize, plugin.MaxSize),
			Only: strings.TrimPrefix(c.plugins.All[i].Place.Pattern, "*/")}}
	}
	for _, list := range []*layers.List{&c.commands, &c.skills, &c.agents} {
		list.All = append(list.All, c.plugins.All...)
	}
}

// namePlugins names the plugin that each layer is if the plugin has no manifest with a name: as the
// filesystem or the directory.
func (c *Catalog) namePlugins() {
	for _, l := range c.config.plugins.All {
		if l.Plugins.Options.Name = l.Name; l.FS == nil {
			l.Plugins.Options.Name = filepath.Base(c.at.Absolute(l.Name))
		}
	}
}

// A Plugin describes a plugin of [WithPlugins].
type Plugin struct {
	Name        string `json:"name"`
	DisplayName string `json:"display_name,omitempty"` // for a user; "" means Name
	Version     string `json:"version,omitempty"`
	Description string `json:"description,omitempty"`
	Author      struct {
		Name  string `json:"name,omitempty"`
		Email string `json:"email,omitempty"`
		URL   string `json:"url,omitempty"`
	} `json:"author,omitzero"`
	Homepage   string   `json:"homepage,omitempty"`
	Repository string   `json:"repository,omitempty"`
	License    string   `json:"license,omitempty"`
	Keywords   []string `json:"keywords,omitempty"`

	Layer       string `json:"layer"`                 // the directory or the FS name, as given to the option
	Marketplace string `json:"marketplace,omitempty"` // the name of the marketplace that lists the plugin
	Path        string `json:"path"`                  // full path of the directory on its filesystem; "" for a remote source
	Manifest    string `json:"manifest,omitempty"`    // full path of the manifest; "" without a manifest

	// Source is the place of the plugin in a marketplace. A plugin with another Kind than
	// "relative" and "local" is not on the filesystem, and has no commands, skills and agents.
	Source struct {
		Kind string `json:"kind"` // "relative", "local", "github", "url", "git-subdir", "npm", "archive", "command", or another word of the marketplace; "" without a marketplace

		// The fields of the kind, as written; "" without a value.
		Path     string `json:"path,omitempty"`
		Repo     string `json:"repo,omitempty"`
		URL      string `json:"url,omitempty"`
		Ref      string `json:"ref,omitempty"`
		SHA      string `json:"sha,omitempty"`
		Package  string `json:"package,omitempty"`
		Version  string `json:"version,omitempty"`
		Registry string `json:"registry,omitempty"`
		SHA256   string `json:"sha256,omitempty"`
		Command  string `json:"command,omitempty"`
		Mode     string `json:"mode,omitempty"`
	} `json:"source,omitzero"`

	// Hooks and MCPServers are the values of the manifest and of the marketplace, as written. The
	// files, as full paths, hold further values. The catalog reads no such file, and a file may be
	// missing.
	Hooks          []json.RawMessage `json:"hooks,omitempty"`
	MCPServers     []json.RawMessage `json:"mcp_servers,omitempty"`
	HookFiles      []string          `json:"hook_files,omitempty"`
	MCPServerFiles []string          `json:"mcp_server_files,omitempty"`

	// Diagnostics are the defects of the manifest and of the entry of the marketplace. Only Lint
	// reports the defects of the files, the declared paths that do not exist, and the plugins that
	// are not listed.
	Diagnostics []Diagnostic `json:"diagnostics,omitempty"`
}

// Plugins returns the plugins of [WithPlugins] in the order of precedence. Remote plugins, which a
// marketplace only names, have a Source and no Path. Filters have no effect; the gate of [WithGate]
// omits the refused plugins. Without plugins, the list is empty.
//
// Plugins returns [ErrDirectoryNotFound] if every directory of plugins is missing, which is no
// error for the lists, and the other errors of [Catalog.List] for unreadable directories. The cost
// is the cost of List.
func (c *Catalog) Plugins(ctx context.Context) ([]Plugin, error) {
	const op = "Plugins"
	if err := c.begin(ctx, op); err != nil || len(c.config.plugins.All) == 0 {
		return []Plugin{}, err
	}
	o := c.observer.Begin(ctx)
	list, err := c.listPlugins(ctx, op)
	o.Send(Event{Action: EventListed, Kind: KindPlugin, Count: len(list)}, err)
	return list, err
}

func (c *Catalog) listPlugins(ctx context.Context, op string) ([]Plugin, error) {
	list := []Plugin{}
	snapshot, err := c.commands.Snapshot(ctx)
	if snapshot == nil { // missing directories of commands are no error
		return nil, c.commands.layerError(op, err)
	}
	found, missing := false, error(nil)
	for i, l := range c.commands.Layers() {
		switch {
		case l.Plugins == nil:
			continue
		case !snapshot.Missing(i):
			found = true
		case l.Plugins.Options.Only == "" && missing == nil:
			missing = directoryError(op, l.Name, "plugins", fs.ErrNotExist, l)
		}
		for _, p := range c.commands.PluginsOf(snapshot, i) {
			if c.commands.filter.Guard.AllowsPlugin(ctx, l, p.Name, p.Format, p.Digest) {
				list = append(list, newPlugin(l, p))
			}
		}
	}
	if !found && missing != nil {
		return nil, missing
	}
	return list, nil
}

func newPlugin(l index.Layer, found *plugin.Plugin) Plugin {
	p := Plugin{Name: found.Name, DisplayName: found.DisplayName, Version: found.Version, Description: found.Description, Homepage: found.Homepage, Repository: found.Repository,
		License: found.License, Keywords: slices.Clone(found.Keywords), Layer: l.Name, Marketplace: found.Marketplace, Path: found.Dir, Manifest: found.Manifest,
		Source: found.Source, Hooks: slices.Clone(found.Hooks), MCPServers: slices.Clone(found.MCPServers),
		HookFiles: found.HookFiles, MCPServerFiles: found.MCPServerFiles, Diagnostics: newDiagnostics(found.Problems)}
	p.Author.Name, p.Author.Email, p.Author.URL = found.Author.Name, found.Author.Email, found.Author.URL
	return p
}
