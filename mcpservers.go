package toolshelf

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/gate"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/observe"
	"github.com/toolshelf-go/toolshelf/internal/plugin"
	"github.com/toolshelf-go/toolshelf/internal/servers"
	"github.com/toolshelf-go/toolshelf/internal/watch"
)

// An MCPServer is a server of the Model Context Protocol, as a file of a client or a plugin states
// the server. The fields have the texts of the file, with variables; [MCPServer.Resolve] fills in
// the values. The catalog starts no server and connects to none. The methods String, Format,
// LogValue and MarshalJSON write the names of the variables of Env and of the Headers without their
// values, and mask other texts that look like secrets; the fields hold the values.
type MCPServer struct {
	Name   string // of the entry; in a plugin after the name of the plugin, as in "deploy:github"
	Layer  string // the directory of the file, as in ".", ".cursor", ".." and "~"; or as in Plugin
	Plugin string // the name of the plugin, or ""
	Path   string // full path of the file on its filesystem
	Client string // the Name of the client whose rules apply

	Transport string            // "stdio", "http" (streamable HTTP), "sse" or "ws"
	Command   string            // of stdio
	Args      []string          // of stdio, without Command
	Env       map[string]string // of stdio, in addition to the environment of the program
	EnvFile   string            // of stdio: the path of a file with variables, which no call reads
	Dir       string            // of stdio: the working directory below the root; "" is the root
	URL       string            // of the other transports
	Headers   map[string]string // of the other transports

	Disabled     bool         // the entry, or a list of the client, disables the server
	Approved     bool         // a list of the client approves the server, which the gate ignores
	AllowedTools []string     // the only tools to offer; nil means all
	DeniedTools  []string     // the tools not to offer
	Diagnostics  []Diagnostic // defects of the entry; see DiagnosticCode

	StartTimeout, CallTimeout time.Duration // 0 means the default of the client

	found *servers.Server
	shown *servers.Values // of the result of Resolve: the texts before
}

// WithMCPServerFilter shows only the servers for which keep returns true. The other rules of
// [WithCommandFilter] apply, except that each call calls keep for each server.
func WithMCPServerFilter(keep func(MCPServer) bool) Filter {
	return func(f *filterFuncs) error {
		return addFilter(&f.servers, keep, "WithMCPServerFilter", "servers")
	}
}

// MCPServers returns the servers of the files of the clients of [WithClient], then of the plugins,
// in the order of precedence. Of several servers with a name, the first counts. The list has the
// disabled servers, and no entry that the client cannot use, which [Catalog.Lint] reports, or that
// the gate of [WithGate] refuses. Without such files and plugins, the list is empty.
//
// The errors are those of [Catalog.Plugins] for unreadable directories. Each call reads the files.
// See docs/servers.md.
func (c *Catalog) MCPServers(ctx context.Context) ([]MCPServer, error) {
	if err := c.begin(ctx, "MCPServers"); err != nil {
		return nil, err
	}
	o := c.observer.Begin(ctx)
	list, err := c.listServers(ctx, "MCPServers", o)
	o.Send(Event{Action: EventListed, Kind: KindMCPServer, Count: len(list)}, err)
	return list, err
}

// listServers returns the servers that the gate and the filters show.
func (c *Catalog) listServers(ctx context.Context, op string,
	o observe.Call[Event]) (list []MCPServer, err error) {
	var snapshot *index.Snapshot
	if len(c.config.plugins.All) > 0 {
		if snapshot, err = c.commands.Snapshot(ctx); snapshot == nil {
			return nil, c.commands.layerError(op, err)
		}
	}
	found, err := c.findServers(ctx, op, snapshot, nil)
	if err != nil {
		return nil, err
	}
	list = []MCPServer{}
	states := map[string]string{}
	for _, s := range found.Servers {
		e := Event{Action: EventLoaded, Kind: KindMCPServer, Name: s.Name, Layer: s.Layer,
			Plugin: s.Plugin, Digest: s.Digest}
		v := s.Values.Clone()
		m := MCPServer{Name: s.Name, Layer: s.Layer, Plugin: s.Plugin, Path: s.Path(), Client: s.Row.Name,
			Transport: s.Transport, Disabled: s.Disabled, Approved: s.Approved,
			AllowedTools: slices.Clone(s.Allowed), DeniedTools: slices.Clone(s.Denied),
			StartTimeout: s.Start, CallTimeout: s.Call, Diagnostics: newDiagnostics(s.Problems), found: s,
			Command: v.Command, Args: v.Args, Env: v.Env, EnvFile: v.EnvFile, Dir: v.Dir, URL: v.URL,
			Headers: v.Headers}
		switch {
		case !c.allowsServer(ctx, s):
			e.Action, e.Reason = EventRefused, "gate"
		case !keeps(c.keep.servers, m):
			e.Action, e.Reason, e.Digest = EventRefused, "filter", ""
		default:
			list, states[s.Name] = append(list, m), s.State()
		}
		o.Send(e, nil)
	}
	if c.servers.Asked.Set(states) {
		c.notifyServers()
	}
	return list, nil
}

func (c *Catalog) notifyServers() { c.changes.Notify(len(c.indexes), c.commands.Last()) }

// Resolve returns the server with the values of its variables, by the rules of the client. The
// function lookup returns the value of an environment variable, as os.LookupEnv, or of a name such
// as "input:token" and "file:key.txt". No value is searched for variables, also not by a second
// call.
//
// A variable without a value, a command of a shell, and a text of more than 1 MiB are
// [ErrInvalidArguments]; the message has no value. The relative command and Dir of a plugin become
// absolute; a path that leads out of the plugin is [ErrOutsideRoot].
func (s MCPServer) Resolve(lookup func(name string) (value string, ok bool)) (MCPServer, error) {
	if s.shown != nil {
		return s, nil
	}
	before := s.texts()
	v, code, reason := s.found.Resolve(before, lookup)
	if code != "" {
		err := &Error{Code: Code(code), Op: "MCPServer.Resolve", Path: s.Name, Message: reason}
		return MCPServer{}, err
	}
	s.Command, s.Args, s.Env, s.EnvFile = v.Command, v.Args, v.Env, v.EnvFile
	s.Dir, s.URL, s.Headers, s.shown = v.Dir, v.URL, v.Headers, &before
	return s, nil
}

// texts returns the fields in which variables can be, without the values that Resolve has filled
// in.
func (s *MCPServer) texts() servers.Values {
	if s.shown != nil {
		return *s.shown
	}
	return servers.Values{Command: s.Command, Args: s.Args, Env: s.Env, EnvFile: s.EnvFile, Dir: s.Dir,
		URL: s.URL, Headers: s.Headers}
}

// String returns a line such as `github (stdio): npx -y server; env TOKEN`.
func (s MCPServer) String() string { return servers.Describe(s.Name, s.Transport, s.texts()) }

// Format writes String for each verb.
func (s MCPServer) Format(f fmt.State, verb rune) { fmt.Fprint(f, s.String()) }

// LogValue returns String.
func (s MCPServer) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalJSON returns an object with the name, the place and the transport of the server, its
// command line or URL, and the names in Env and Headers.
func (s MCPServer) MarshalJSON() ([]byte, error) {
	shown := servers.Shown{Name: s.Name, Layer: s.Layer, Plugin: s.Plugin, Path: s.Path,
		Client: s.Client, Transport: s.Transport, Disabled: s.Disabled}
	return shown.JSON(s.texts())
}

// findServers returns the servers of the files of clients, and of the plugins in a snapshot of the
// commands. The rows of further clients come first.
func (c *Catalog) findServers(ctx context.Context, op string, s *index.Snapshot,
	further []client.Client) (servers.Result, error) {
	finder := c.servers.With(further)
	if finder == nil {
		return servers.Result{}, nil
	}
	// The gate is a function of the caller.
	allowed := finder.Plugins(c.commands.Index, s, func(l index.Layer, p *plugin.Plugin) bool {
		return c.commands.filter.Guard.AllowsPlugin(ctx, l, p.Name, p.Format, p.Digest)
	})
	find := func(ctx context.Context) (servers.Result, error) { return finder.Find(ctx, allowed) }
	found, err := await(ctx, c, find)
	return found, c.methodError(op, err)
}

func (c *Catalog) allowsServer(ctx context.Context, s *servers.Server) bool {
	return !s.Gated || s.Digest != "" &&
		c.config.gate.Allowed(ctx, newItem(gate.ServerItem(string(KindMCPServer), s)))
}

// openServers sets the finder of the servers, which follow the indexes in the lists of OnChange.
func (c *Catalog) openServers(user userDirs) {
	rows := c.config.placed
	if !servers.HasFiles(rows) && len(c.config.plugins.All) == 0 {
		return
	}
	c.servers.Finder = servers.Open(servers.Config{Rows: rows, Root: c.at, FS: c.root,
		Parents: c.parents, Home: user[client.Home], Config: user[client.Config],
		Confine: c.files.Confine, Locate: c.files.Locate, Gates: c.config.gates, Of: c.files.FS()})
	if c.config.watch && c.at.OnOS {
		c.servers.Observer = watch.NewObserver(c.servers.Dirs, c.notifyServers)
	}
}
