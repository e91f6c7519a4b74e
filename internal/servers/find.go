package servers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/paths"
	"github.com/toolshelf-go/toolshelf/internal/plugin"
	"github.com/toolshelf-go/toolshelf/internal/problem"
	"github.com/toolshelf-go/toolshelf/internal/watch"
)

// A Source is a file with servers, or a value of a plugin.
type Source struct {
	Client string // of a plugin too: the client of the rules
	Rules  *client.ServerRules
	Of     string            // the name of the client, or in a plugin the manifest of the format
	File   client.ServerFile // without ProjectKey
	FS     *confine.FS
	On     string          // the path of the file on FS
	Raw    json.RawMessage // if not nil, the value in the file
	Layer  string          // the directory of the file for a reader
	At     string          // the full path of the directory
	Below  string          // the path of the file below At
	Place  string          // the path of the file for problems
	Plugin string
	Gated  bool
	Store  bool // FS is no filesystem of the system

	Foreign func(file string) bool // reports whether the file belongs to another user; may be nil

	// The directory of the plugin or of the project: on Base, and the full path.
	Base              *confine.FS
	BaseName, BaseDir string
	Known             map[client.ServerDir]string
}

// A list is a list of enabled or disabled servers.
type list struct {
	client.ServerList
	client string
	fs     *confine.FS
	name   string
}

// A Finder finds the servers of a catalog. The fields are set once.
type Finder struct {
	Dirs     []string        // the full paths of the directories of files
	Observer *watch.Observer // nil without a watch

	rows    []client.Client
	of      map[client.Base]place
	parents []place
	known   map[client.ServerDir]string
	gates   func(ofProject bool, names ...string) bool
	sources []*Source // in the order of precedence
	lists   []list
}

// A Result is the servers in the order of precedence, and the problems of entries without a server.
type Result struct {
	Servers  []*Server
	Problems []problem.Problem
}

// Check returns the problems that the authors can correct.
func (r Result) Check() []problem.Problem {
	found := r.Problems
	for _, s := range r.Servers {
		found = slices.Concat(found, s.Problems, s.Check())
	}
	return found
}

// A search is a call of Find.
type search struct {
	*Finder
	look     *watch.Look
	files    map[string]*file // by the full path and the syntax
	servers  map[string]*Server
	all      []*Server // in the order of precedence
	problems []problem.Problem
}

type file struct {
	json    json.RawMessage
	err     error
	missing bool
	fault   bool // the file cannot be read, and can have any content
}

// Find returns the servers of the files, and of further sources.
func (f *Finder) Find(ctx context.Context, further []*Source) (Result, error) {
	s := &search{Finder: f, look: f.Observer.Begin(), files: map[string]*file{}, servers: map[string]*Server{}}
	managed, before := "", true
	for _, source := range slices.Concat(f.sources, further) {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		if managed == source.Client && source.Plugin == "" || source.File.Fallback && before {
			continue
		}
		read := s.read(source)
		if before = !read.missing; before && source.File.Exclusive {
			managed = source.Client
		}
		s.add(source, read)
	}
	listed := s.all[:0]
	for _, server := range s.all {
		reason := server.parse()
		if reason == "" {
			reason = server.seal(ctx)
		}
		if reason != "" {
			s.problems = append(s.problems, server.problem(problem.ServerInvalid, problem.Error,
				"the server is not listed: "+reason, "correct the entry"))
			continue
		}
		listed = append(listed, server)
	}
	s.apply(listed)
	return Result{listed, s.problems}, ctx.Err()
}

// read returns a file, which several sources can share.
func (s *search) read(source *Source) *file {
	if source.Raw != nil {
		return &file{json: source.Raw}
	}
	full := source.FS.Path(source.On)
	key := fmt.Sprint(full, source.Rules.Comments, source.Rules.Commas)
	if s.files[key] == nil {
		if !source.Store {
			s.look.File(full)
		}
		text, err := readAll(source.FS, source.On, maxFile)
		read := &file{err: err, missing: errors.Is(err, fs.ErrNotExist), fault: index.IsFault(err)}
		if err == nil {
			read.json, read.err = decode(source.On, text, source.Rules)
		}
		s.files[key] = read
	}
	return s.files[key]
}

func readAll(fsys *confine.FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.OpenRegular(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("the file has more than %d bytes", limit)
	}
	return text, err
}

// add adds the entries of a source.
func (s *search) add(source *Source, read *file) {
	report := func(code problem.Code, severity problem.Severity, message, suggestion string) {
		s.problems = append(s.problems, problem.Problem{Code: code, Severity: severity, Path: source.Place,
			Message: message, Suggestion: suggestion})
	}
	switch {
	case read.missing:
		return
	case source.Foreign != nil && source.Foreign(source.On):
		report(problem.DirectoryOfOtherUser, problem.Warning, "the file belongs to another user and is not read", "change the owner of the file")
		return
	case errors.Is(read.err, confine.ErrEscape), errors.Is(read.err, confine.ErrSymlink):
		report(problem.LinkNotFollowed, problem.Error, "the link leads outside", "replace the link by the file")
		return
	case read.err != nil:
		report(problem.ServerInvalid, problem.Error, "no server of the file is listed: "+escape.Reason(read.err), "correct the file")
		return
	}
	table := lookup(read.json, source.File.Table...)
	if table == nil && source.Plugin != "" && !source.Rules.Closed {
		table = read.json // a file of a plugin may have the entries at the top
	}
	if source.Rules.Closed && source.Plugin != "" {
		const schema = "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json"
		if all, _ := members(read.json); len(all) != 2 || canonical(lookup(read.json, "$schema")) != `"`+schema+`"` || table == nil {
			report(problem.ServerInvalid, problem.Error, "no server of the file is listed: the file does not have $schema and mcpServers only",
				`write "$schema": "`+schema+`"`)
			return
		}
	}
	all, repeated := members(table)
	if table != nil && string(table) != "null" && table[0] != '{' {
		report(problem.ServerInvalid, problem.Error, "no server of the file is listed: the servers are no object", "correct the file")
	}
	if len(all) > maxServers {
		report(problem.ServerInvalid, problem.Error, fmt.Sprintf("the file has more than %d servers; the others are not listed", maxServers), "remove servers")
		all = all[:maxServers]
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(repeated))) {
		report(problem.DuplicateKey, problem.Warning, "two servers have the name "+quoted(name)+"; the last counts", "remove one of the servers")
	}
	for _, m := range all {
		s.entry(&Server{Source: source, Name: m.key, Bare: m.key, entry: m.value, line: lineOf(read.json, m.value, source)})
	}
}

// lineOf returns the line of an entry, or 0 if the text is not the text of the file.
func lineOf(text, entry json.RawMessage, source *Source) int {
	at := bytes.Index(text, entry)
	if at < 0 || source.Raw != nil || strings.HasSuffix(source.On, ".toml") {
		return 0
	}
	return 1 + bytes.Count(text[:at], []byte("\n"))
}

// entry adds an entry, or joins the entry with an entry of a higher precedence.
func (s *search) entry(e *Server) {
	if e.Plugin != "" {
		e.Name = e.Plugin + ":" + e.Bare
	}
	first := s.servers[e.Name]
	switch {
	case e.Bare == "" || len(e.Bare) > 255 || strings.ContainsFunc(e.Bare, escape.UnsafeRune):
		s.problems = append(s.problems, e.problem(problem.ServerInvalid, problem.Error, "the server is not listed: the name is empty, too long or not printable", "rename the server"))
	case first == nil:
		s.servers[e.Name] = e
		s.all = append(s.all, e)
	case first.Client != e.Client && first.Place == e.Place && slices.Equal(first.File.Table, e.File.Table):
		// Several clients read the file.
	case first.Client == e.Client && e.Rules.Joined && e.Plugin == "":
		if first.entry = join(first.entry, e.entry); e.Gated && !first.Gated {
			source := *first.Source
			source.Gated, first.Source = true, &source
		}
	default:
		s.problems = append(s.problems, e.problem(problem.Shadowed, problem.Warning,
			"the server in "+first.Place+" has precedence", "rename or remove one of the servers"))
	}
}

// apply applies the lists of enabled and disabled servers.
func (s *search) apply(all []*Server) {
	only := map[string][]string{}
	for _, l := range s.lists {
		read := s.read(&Source{FS: l.fs, On: l.name, Rules: &client.ServerRules{Comments: true, Commas: true}})
		value := lookup(read.json, l.Table...)
		if read.fault {
			s.problems = append(s.problems, problem.Problem{Code: problem.FileRead, Severity: problem.Warning, Path: l.name,
				Message: "the lists of servers cannot be read: " + escape.Reason(read.err), Suggestion: "make the file readable"})
		}
		if value == nil && (!read.fault || l.Effect == client.Approves) {
			continue
		}
		names, whole := namesOf(value), read.fault || string(value) == "true" // an unreadable list can have each name
		if l.Effect == client.Only {
			only[l.client] = append(only[l.client], append(names, "")...) // an empty list allows no server
		}
		for _, server := range all {
			name := server.Bare
			if server.Plugin != "" {
				name = "plugin:" + server.Name
			}
			if server.Client != l.client || l.Shared && (server.Plugin != "" || server.File.Base != client.Project) || !whole && !slices.Contains(names, name) {
				continue
			}
			server.Disabled = server.Disabled || l.Effect == client.Disables
			server.Approved = server.Approved || l.Effect == client.Approves
		}
	}
	for _, server := range all {
		if names := only[server.Client]; names != nil && server.Plugin == "" && !slices.Contains(names, server.Bare) {
			server.Disabled = true
		}
	}
}

// namesOf returns the names of a list of texts or of objects with a serverName.
func namesOf(value json.RawMessage) (names []string) {
	if len(value) > 0 && value[0] == '[' {
		plugin.Each(value, func(part json.RawMessage) {
			if object := lookup(part, "serverName"); object != nil {
				part = object
			}
			if name, ok := plugin.Text(part); ok {
				names = append(names, name)
			}
		})
	}
	return names
}

// The limits of the files of a digest.
const (
	maxFiles = 64
	maxBytes = 64 << 20
)

// seal sets the digest of a server. The reason for a path that leads out of a plugin is not "".
func (s *Server) seal(ctx context.Context) (reason string) {
	texts := map[string]string{"": s.Of + "\n" + canonical(s.entry)}
	s.Files = map[string]string{}
	total, complete := int64(0), true
	for i, text := range append([]string{s.Command, s.Dir}, s.Args...) {
		if !s.Gated && (s.Plugin == "" || i > 1) {
			break
		}
		if i == 0 && !strings.ContainsAny(text, `/\`) {
			continue // a name in PATH
		}
		for _, name := range s.named(text) {
			info, err := s.Base.Info(path.Join(s.BaseName, name))
			switch {
			case name == "" || errors.Is(err, confine.ErrEscape) || errors.Is(err, confine.ErrSymlink):
				if s.Plugin != "" && i <= 1 && !filepath.IsAbs(text) {
					return fmt.Sprintf("the path %s leads out of the plugin", quoted(text))
				}
				s.findings = append(s.findings, s.problem(problem.UncoveredFiles, problem.Warning,
					"the digest does not cover "+quoted(mask(text))+", which is outside", "approve the server only if nobody else writes the file"))
			case index.IsFault(err):
				complete = false
			case err == nil && info.Mode.IsDir() && name != "." && i != 1:
				s.findings = append(s.findings, s.problem(problem.UncoveredFiles, problem.Warning,
					"the digest covers no file of the directory "+quoted(name), "approve the server only if nobody else writes into the directory"))
			case err == nil && info.Mode.IsRegular() && s.Gated && texts[name] == "":
				raw, err := readAll(s.Base, path.Join(s.BaseName, name), maxBytes-total)
				if total += int64(len(raw)); err != nil || len(texts) > maxFiles || ctx.Err() != nil {
					complete = false
					continue
				}
				texts[name], s.Files[name] = string(raw)+"\x00", string(raw)
			}
		}
	}
	if complete {
		s.Digest = index.SealOf(index.ServerList, index.Sums{}.Files(texts)).Digest
	}
	return ""
}

// named returns the paths below the base that a text of the command line can name: the text, the
// part after "=", and both below the working directory. The path of a file outside is "".
func (s *Server) named(text string) (names []string) {
	if _, value, ok := strings.Cut(text, "="); ok {
		names = s.named(value)
	}
	text, unset, _ := s.expand(text, func(string) (string, bool) { return "", false })
	if text == "" || len(unset) > 0 || len(text) > 4096 || text[0] == '-' || strings.Contains(text, "://") {
		return names
	}
	slashed := filepath.ToSlash(text)
	dir, _, _ := s.expand(s.Dir, func(string) (string, bool) { return "", false })
	add := func(p string) {
		if path.IsAbs(p) || filepath.IsAbs(p) {
			below, ok := paths.Below(s.BaseDir, ".", p)
			if p = below; !ok {
				p = ""
			}
		} else if p = path.Clean(p); !fs.ValidPath(p) {
			p = ""
		}
		if !slices.Contains(names, p) {
			names = append(names, p)
		}
	}
	if add(slashed); dir != "" && !path.IsAbs(slashed) && !filepath.IsAbs(text) && text != dir {
		add(path.Join(filepath.ToSlash(dir), slashed))
	}
	return names
}
