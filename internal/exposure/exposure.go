// Package exposure reads the settings in which the user of a client states what the client shows of
// a skill.
package exposure

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/access"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// A Level states what is shown of a skill. A higher level shows less.
type Level int

const (
	Full Level = iota
	Name       // the name without the description
	User       // only for the user
	Off
)

// maxSize is the size of the largest settings file that a Reader reads, in bytes.
const maxSize = 1 << 20

// A settingsFile is the settings file of a client. Only the reading changes.
type settingsFile struct {
	client.Switch
	fs     *confine.FS
	path   string // below fs
	client int    // the position in the list of the clients
	reading
}

// A reading is the content of a file at the time of a stamp.
type reading struct {
	stamp   stamp.Stamp
	settled bool
	content *content
}

// A Reader reads settings files again after a change. A nil Reader has no settings.
type Reader struct {
	clients []client.Client
	files   []*settingsFile // of each client the highest precedence first
	fresh   func(read time.Time) bool

	mu   sync.Mutex // guards read, and the contents of files
	read time.Time
	last atomic.Pointer[Rules]
}

// New returns a Reader of the settings of the clients, or nil without settings. The function open
// returns the filesystem and the path of a file; without a filesystem, the file is missing. Refresh
// reads no file as long as fresh returns true for the time of the last Refresh.
func New(clients []client.Client, fresh func(read time.Time) bool, open func(client.Switch) (fsys *confine.FS, file string)) *Reader {
	r := &Reader{clients: clients, fresh: fresh}
	for n, row := range clients {
		for _, s := range row.Switches {
			if fsys, file := open(s); fsys != nil {
				f := &settingsFile{Switch: s, fs: fsys, path: file, client: n}
				r.files = append(r.files, f)
			}
		}
	}
	if r.files == nil {
		return nil
	}
	return r
}

// A content is what a file says about skills. The zero content says nothing.
type content struct {
	names, paths map[string]statement
}

// A statement is the level of a name or a path. The last statement of a file about a skill counts.
type statement struct {
	level Level
	place int
}

// Rules are the settings at the time of a call. Rules are immutable. Nil Rules show everything.
type Rules struct {
	*Reader
	contents []*content // by file
}

// Last returns the Rules of the last Refresh. As long as no file has changed, the result is the
// same pointer.
func (r *Reader) Last() *Rules {
	if r == nil {
		return nil
	}
	return r.last.Load()
}

// Refresh stats the files, and reads the files that have changed. A file that is missing or not
// valid says nothing, as in the clients. After a fault of a file, the last content counts.
func (r *Reader) Refresh(context.Context) (*Rules, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if r.last.Load() != nil && r.fresh(r.read) {
		return r.last.Load(), nil
	}
	changed := r.last.Load() == nil
	for _, f := range r.files {
		changed = f.update(now) || changed
	}
	if r.read = now; changed {
		rules := &Rules{Reader: r}
		for _, f := range r.files {
			rules.contents = append(rules.contents, f.content)
		}
		r.last.Store(rules)
	}
	return r.last.Load(), nil
}

// update reads the file if the file has changed, and reports whether the content is another
// content.
func (f *settingsFile) update(now time.Time) bool {
	info, err := f.fs.Info(f.path)
	if err == nil && f.settled && stamp.Of(info).Same(f.stamp) {
		return false
	}
	before, read := f.content, reading{}
	if err == nil {
		read, err = f.load(now)
	}
	if index.IsFault(err) {
		f.settled = false
		return false // the file can still hide skills
	}
	f.reading = read
	if c := f.content; before != nil && c != nil &&
		maps.Equal(before.names, c.names) && maps.Equal(before.paths, c.paths) {
		f.content = before
	}
	return before != f.content
}

func (f *settingsFile) load(now time.Time) (r reading, err error) {
	opened, err := f.fs.OpenRegular(f.path)
	if err != nil {
		return r, err
	}
	defer opened.Close()
	data, err := access.ReadOpen(context.Background(), opened, maxSize)
	if err != nil {
		return r, err
	}
	info := opened.Info()
	return reading{stamp.Of(info), stamp.Settled(info, now), parse(f.Switch, data)}, nil
}

// parse returns the content of a file, or nil.
func parse(s client.Switch, data []byte) *content {
	if strings.HasSuffix(s.File, ".toml") {
		doc, _ := matter.ParseFile(s.File, data, true)
		keys := strings.Split(s.Key, ".")
		value, _ := doc.Get(keys[0])
		for _, key := range keys[1:] {
			value = member(value, key)
		}
		return parseList(value)
	}
	value := json.RawMessage(bytes.TrimPrefix(data, []byte("\ufeff")))
	for key := range strings.SplitSeq(s.Key, ".") {
		var object map[string]json.RawMessage
		if json.Unmarshal(value, &object) != nil || object[key] == nil {
			return nil
		}
		value = object[key]
	}
	var words map[string]string
	if json.Unmarshal(value, &words) != nil {
		return nil
	}
	c := &content{names: make(map[string]statement, len(words))}
	for name, word := range words {
		level := slices.Index(s.Words[:], word)
		if level < 0 {
			return nil // the client ignores the whole object
		}
		c.names[name] = statement{level: Level(level)}
	}
	return c
}

// parseList returns the content of a list of objects with name or path, and enabled.
func parseList(list matter.Value) *content {
	c := &content{names: map[string]statement{}, paths: map[string]statement{}}
	for i, item := range list.Items() {
		name, file := strings.TrimSpace(member(item, "name").String()), member(item, "path").String()
		enabled, said := member(item, "enabled").Bool()
		switch s := (statement{Off, i}); {
		case !said:
			return nil // the client ignores the whole list
		case (name == "") == (file == ""):
		default:
			if enabled {
				s.level = Full
			}
			if name != "" {
				c.names[name] = s
			} else {
				c.paths[filepath.Clean(file)] = s
			}
		}
	}
	return c
}

// member returns a member of a mapping, or the zero Value.
func member(v matter.Value, key string) matter.Value {
	for _, f := range v.Fields() {
		if f.Key == key {
			return f.Value
		}
	}
	return matter.Value{}
}

// Of returns the level of a skill: the highest level by the header and by the clients that read the
// place of the layer.
func (r *Rules) Of(l *index.Layer, e *index.Entry, declared string, userOnly bool) (level Level) {
	if userOnly {
		level = User
	}
	if r == nil || l.Store != nil || e.Part() != nil {
		return level
	}
	for n, row := range r.clients {
		if slices.ContainsFunc(row.Skills, func(p client.Place) bool { return l.Name == p.Path() || strings.HasSuffix(l.Name, "/"+p.Dir) }) {
			level = max(level, r.ofClient(n, l, e, declared))
		}
	}
	return level
}

// ofClient returns the level by the settings of a client. The name with the directory has more
// weight than the name alone.
func (r *Rules) ofClient(n int, l *index.Layer, e *index.Entry, declared string) Level {
	for _, name := range slices.Compact([]string{e.Name, strings.TrimPrefix(e.Name, l.Prefix)}) {
		for i, f := range r.files {
			if f.client != n || r.contents[i] == nil {
				continue
			}
			if f.Name == client.FromHeader {
				name = cmp.Or(declared, name)
			}
			if found, ok := r.contents[i].of(name, l.FS.Path(e.Spelled())); ok {
				return found
			}
		}
	}
	return Full
}

// of returns the level of the last statement about a name or a path.
func (c *content) of(name, file string) (Level, bool) {
	named, ok := c.names[name]
	if at, listed := c.paths[file]; listed && (!ok || at.place > named.place) {
		return at.level, true
	}
	return named.level, ok
}
