package servers

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/plugin"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// apply applies the lists of enabled, disabled, allowed and denied servers. A list that cannot be
// read can have each server, and allows none.
func (s *search) apply(all []*Server, contents []content) {
	p := policy{map[string][]item{}, map[string]client.Base{}, map[string]bool{}}
	for i, l := range s.lists {
		items, whole, ok := s.items(l, contents[i])
		if !ok || !p.counts(l) {
			continue
		}
		switch name := l.Row.Name; l.Effect {
		case client.Trusts:
			p.trusted[name] = whole
		case client.Locks:
			if whole {
				p.locked[name] = l.ServerList.Base
			}
		case client.Only:
			p.allowed[name] = append(p.allowed[name], append(items, item{})...) // also an empty list
		}
		for _, server := range all {
			if l.concerns(server) && (whole || slices.ContainsFunc(items, server.is)) {
				server.Disabled = server.Disabled || l.Effect == client.Disables
				server.Approved = server.Approved || l.Effect == client.Approves
			}
		}
	}
	for _, server := range all {
		if items := p.allowed[server.Row.Name]; items != nil && !server.allowed(items) {
			server.Disabled = true
		}
	}
}

// A policy is the lists of servers before another list, by the names of the clients.
type policy struct {
	allowed map[string][]item
	locked  map[string]client.Base
	trusted map[string]bool
}

// counts reports whether a list has an effect after the lists before.
func (p policy) counts(l list) bool {
	switch l.Effect {
	case client.Approves:
		ofProject := l.ServerList.Base == client.Project || strings.Contains(l.Table, client.ProjectKey)
		return !ofProject || p.trusted[l.Row.Name]
	case client.Only:
		base, locked := p.locked[l.Row.Name]
		return !locked || base == l.ServerList.Base
	}
	return true
}

// items returns the items of a list, or reports that the list has all servers.
func (s *search) items(l list, read content) (items []item, whole, ok bool) {
	value := lookup(read.json, l.keys...)
	broken := index.IsFault(read.err)
	if l.ServerList.Base == client.System { // the client does not start
		broken = read.err != nil && !errors.Is(read.err, fs.ErrNotExist)
	}
	if !broken {
		return itemsOf(value), string(value) == "true", value != nil
	}
	s.problems = append(s.problems, l.problem(problem.FileRead, problem.Warning,
		"the lists of servers cannot be read: "+escape.Reason(read.err), "make the file readable"))
	return nil, true, l.Effect != client.Approves && l.Effect != client.Trusts
}

func (l list) concerns(s *Server) bool {
	shared := s.Plugin == "" && s.File.Base == client.Project
	return s.Row.Name == l.Row.Name && (shared || !l.Shared)
}

// An item of a list has one of the fields.
type item struct {
	Name    string   `json:"serverName"`
	Command []string `json:"serverCommand"` // with all arguments
	URL     string   `json:"serverUrl"`     // with "*" for any text
}

func itemsOf(value json.RawMessage) (items []item) {
	if len(value) == 0 || value[0] != '[' {
		return nil
	}
	plugin.Each(value, func(part json.RawMessage) {
		var i item
		if name, ok := plugin.Text(part); ok {
			i.Name = name
		} else if json.Unmarshal(part, &i) != nil {
			return
		}
		items = append(items, i)
	})
	return items
}

// allowed reports whether a list of the only servers has the server. With a command in the list, a
// name allows no other command, and with a URL no other URL.
func (s *Server) allowed(items []item) bool {
	strict := slices.ContainsFunc(items, func(i item) bool {
		if s.Transport == "stdio" {
			return i.Command != nil
		}
		return i.URL != ""
	})
	counts := func(i item) bool { return s.is(i) && (i.Name == "" || !strict) }
	return slices.ContainsFunc(items, counts)
}

// is reports whether an item is the server: by the texts of the entry, in which a variable has its
// default or stays.
func (s *Server) is(i item) bool {
	text := func(text string) string {
		var r filling
		if filled := s.fill(text, unset, &r); r.missing == nil && r.problem == "" {
			return filled
		}
		return text
	}
	switch {
	case i.Command != nil:
		words := append([]string{s.Command}, s.Args...)
		same := func(a, b string) bool { return text(a) == text(b) }
		return s.Transport == "stdio" && slices.EqualFunc(words, i.Command, same)
	case i.URL != "":
		return s.URL != "" && matchURL(text(i.URL), text(s.URL))
	case s.Plugin != "" && s.Row.Servers.Plugins != "":
		return i.Name == s.Row.Servers.Plugins+s.Name
	}
	return i.Name == s.Bare
}

// matchURL reports whether a pattern matches a URL. The letter case of a host, and a dot at its
// end, do not matter. A pattern without a path, a query or a port matches each path, each query or
// the usual port.
func matchURL(pattern, address string) bool {
	scheme, rest, _ := strings.Cut(pattern, "://")
	host, below, hasPath := strings.Cut(rest, "/")
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	at := cmp.Or(u.EscapedPath(), "/")
	if strings.Contains(below, "?") && u.RawQuery != "" {
		at += "?" + u.RawQuery
	}
	usual := map[string]string{"http": "80", "ws": "80", "https": "443", "wss": "443"}[u.Scheme]
	place, port := strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), cmp.Or(u.Port(), usual)
	host = hostEnd.ReplaceAllString(strings.ToLower(host), "$1")
	if port != usual || hasPort.MatchString(host) {
		place += ":" + port
	}
	return wildcard(scheme, u.Scheme) && wildcard(host, place) && (!hasPath || wildcard("/"+below, at))
}

var (
	hostEnd = regexp.MustCompile(`\.(:|$)`)
	hasPort = regexp.MustCompile(`:[^\]]*$`)
)

func wildcard(pattern, text string) bool {
	quoted := strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, `.*`)
	re, err := regexp.Compile(`(?s)^` + quoted + `$`)
	return err == nil && re.MatchString(text)
}
