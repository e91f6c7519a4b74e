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
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
	"github.com/toolshelf-go/toolshelf/internal/plugin"
	"github.com/toolshelf-go/toolshelf/internal/problem"
	"github.com/toolshelf-go/toolshelf/internal/watch"
)

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
	files    sync.Map     // each *file by its full path
	tops     sync.Map     // an open directory for each directory with plugins, by its full path
	opened   atomic.Int32 // number of tops
	covered  sync.Map     // each *Covered by its coveredFile
	read     atomic.Int64 // bytes of covered
	servers  map[string]*Server
	all      []*Server // in the order of precedence
	problems []problem.Problem
}

// A file is read once, also if several sources share the file.
type file struct {
	once sync.Once
	text []byte
	content
}

// A content is the value in a file, or the reason why there is none.
type content struct {
	json json.RawMessage
	err  error
}

// Find returns the servers of the files, and of further sources.
func (f *Finder) Find(ctx context.Context, further []*Source) (Result, error) {
	s := &search{Finder: f, look: f.Observer.Begin(), servers: map[string]*Server{}}
	sources := slices.Concat(f.sources, further)
	for _, l := range f.lists {
		sources = append(sources, l.Source)
	}
	contents := make([]content, len(sources))
	each := func(i int) { contents[i] = s.content(sources[i]) }
	err := parallel.Each(ctx, parallel.MaxReads, len(sources), each)
	s.tops.Range(func(_, top any) bool {
		if dir := top.(func() *confine.Dir)(); dir != nil {
			dir.Close()
		}
		return true
	})
	if err != nil {
		return Result{}, err
	}
	managed, before := "", true
	entries, lists := len(sources)-len(f.lists), contents[len(sources)-len(f.lists):]
	for i, source := range sources[:entries] {
		if managed == source.Row.Name || source.File.Fallback && before {
			continue
		}
		if before = !errors.Is(contents[i].err, fs.ErrNotExist); !before {
			continue
		}
		if source.File.Exclusive {
			managed = source.Row.Name
		}
		s.add(source, contents[i])
	}
	reasons := make([]string, len(s.all))
	err = parallel.Each(ctx, parallel.MaxReads, len(s.all), func(i int) {
		if reasons[i] = s.all[i].parse(); reasons[i] == "" {
			reasons[i] = s.all[i].seal(ctx, s)
		}
	})
	listed := s.all[:0]
	for i, server := range s.all {
		if reasons[i] == "" {
			listed = append(listed, server)
			continue
		}
		s.problems = append(s.problems, server.problem(problem.ServerInvalid, problem.Error,
			"the server is not listed: "+reasons[i], "correct the entry"))
	}
	s.apply(listed, lists)
	return Result{listed, s.problems}, err
}

// content returns the content of a file by the syntax of the client.
func (s *search) content(source *Source) content {
	if source.raw != nil {
		return content{source.raw, nil}
	}
	full := source.FS.Path(source.On)
	kept, _ := s.files.LoadOrStore(full, &file{})
	f := kept.(*file)
	f.once.Do(func() {
		if !source.store {
			s.look.File(full)
		}
		if f.text = s.readShort(source); f.text == nil {
			limit := int64(maxFile)
			if source.File.Base == client.Home {
				limit = maxHome
			}
			f.text, f.err = readAll(source.FS, source.On, limit)
		}
		if f.err == nil {
			f.json, f.err = decode(source.On, f.text, false, false)
		}
	})
	if r := source.Row.Servers; f.json == nil && f.text != nil && (r.Comments || r.Commas) {
		value, err := decode(source.On, f.text, r.Comments, r.Commas)
		return content{value, err}
	}
	return f.content
}

// maxTops bounds the open directories of a call.
const maxTops = 16

var buffers = sync.Pool{New: func() any { return new([4 << 10]byte) }}

// readShort reads a short file of a plugin with few system calls: the directory above the plugins
// stays open. For another file, the result is nil.
func (s *search) readShort(source *Source) []byte {
	parent, plugin := path.Split(source.Base.name)
	if source.outer == nil || plugin == "." || path.Dir(source.On) != source.Base.name {
		return nil
	}
	parent = path.Clean(parent)
	open := sync.OnceValue(func() *confine.Dir {
		if s.opened.Add(1) > maxTops {
			return nil
		}
		dir, _ := source.outer.OpenDir(parent)
		return dir
	})
	top, _ := s.tops.LoadOrStore(source.outer.Path(parent), open)
	dir := top.(func() *confine.Dir)()
	if dir == nil {
		return nil
	}
	text := buffers.Get().(*[4 << 10]byte)
	defer buffers.Put(text)
	n, _, err := dir.ReadHeadBelow(plugin, path.Base(source.On), text[:])
	if err != nil || n == len(text) {
		return nil
	}
	return slices.Clone(text[:n])
}

func readAll(fsys *confine.FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.OpenRegular(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		return nil, fmt.Errorf("the file has more than %d bytes", limit)
	}
	return text, err
}

// add adds the entries of a source.
func (s *search) add(source *Source, read content) {
	report := func(code problem.Code, severity problem.Severity, message, suggestion string) {
		s.problems = append(s.problems, source.problem(code, severity, message, suggestion))
	}
	none := func(reason, suggestion string) {
		report(problem.ServerInvalid, problem.Error, "no server of the file is listed: "+reason,
			suggestion)
	}
	switch {
	case source.foreign != nil && source.foreign(source.On):
		report(problem.DirectoryOfOtherUser, problem.Warning,
			"the file belongs to another user and is not read", "change the owner of the file")
		return
	case errors.Is(read.err, confine.ErrEscape), errors.Is(read.err, confine.ErrSymlink):
		report(problem.LinkNotFollowed, problem.Error, "the link leads outside",
			"replace the link by the file")
		return
	case read.err != nil:
		none(escape.Reason(read.err), "correct the file")
		return
	}
	table, closed := lookup(read.json, source.keys...), source.Row.Servers.Closed
	if table == nil && source.Plugin != "" && !closed {
		table = read.json // a file of a plugin may have the entries at the top
	}
	const schema = "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json"
	switch {
	case closed && !hasSchema(read.json, schema):
		none("the file does not have $schema and mcpServers only", `write "$schema": "`+schema+`"`)
		return
	case table != nil && string(table) != "null" && table[0] != '{':
		none("the servers are no object", "correct the file")
	}
	names, entries, repeated := plugin.Members(table)
	if len(names) > maxServers {
		report(problem.ServerInvalid, problem.Error, fmt.Sprintf("the file has more than %d servers; "+
			"the others are not listed", maxServers), "remove servers")
		names = names[:maxServers]
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(repeated))) {
		report(problem.DuplicateKey, problem.Warning,
			"two servers have the name "+quoted(name)+"; the last counts", "remove one of the servers")
	}
	at, line := max(bytes.Index(read.json, table), 0), 1
	line += bytes.Count(read.json[:at], []byte("\n"))
	hasLines := source.raw == nil && !strings.HasSuffix(source.On, ".toml")
	for _, name := range names {
		e := &Server{Source: source, Name: name, Bare: name, entry: entries[name]}
		if n := bytes.Index(read.json[at:], e.entry); n >= 0 && hasLines {
			line, at = line+bytes.Count(read.json[at:at+n], []byte("\n")), at+n
			e.line = line
		}
		s.entry(e)
	}
}

// hasSchema reports whether an object has the $schema and mcpServers only.
func hasSchema(object json.RawMessage, schema string) bool {
	_, values, _ := plugin.Members(object)
	given, _ := plugin.Text(values["$schema"])
	return given == schema && len(values) == 2 && values["mcpServers"] != nil
}

// entry adds an entry, or joins the entry with an entry of a higher precedence.
func (s *search) entry(e *Server) {
	if e.Plugin != "" {
		e.Name = e.Plugin + ":" + e.Bare
	}
	first := s.servers[e.Name]
	switch {
	case e.Bare == "" || len(e.Bare) > 255 || strings.ContainsFunc(e.Bare, escape.UnsafeRune):
		s.problems = append(s.problems, e.problem(problem.ServerInvalid, problem.Error,
			"the server is not listed: the name is empty, too long or not printable", "rename the server"))
	case first == nil:
		s.servers[e.Name] = e
		s.all = append(s.all, e)
	case first.Row.Name != e.Row.Name && first.Place == e.Place && slices.Equal(first.keys, e.keys):
		// Several clients read the file.
	case first.Row.Name == e.Row.Name && e.Row.Servers.Joined && e.Plugin == "":
		if first.entry = join(first.entry, e.entry); e.Gated && !first.Gated {
			source := *first.Source
			source.Gated, first.Source = true, &source
		}
	default:
		s.problems = append(s.problems, e.problem(problem.Shadowed, problem.Warning,
			"the server in "+first.Place+" has precedence", "rename or remove one of the servers"))
	}
}
