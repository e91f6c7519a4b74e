package servers

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
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
	for _, server := range all {
		server.forLists()
	}
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
		for _, t := range all {
			if l.concerns(t) && (whole || slices.ContainsFunc(items, t.is)) {
				t.Disabled = t.Disabled || l.Effect == client.Disables
				t.Approved = t.Approved || l.Effect == client.Approves
			}
		}
	}
	for _, t := range all {
		if items := p.allowed[t.Row.Name]; items != nil && !t.allowed(items) {
			t.Disabled = true
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
	if items = l.itemsOf(value); !broken && len(items) <= maxServers {
		return items, string(value) == "true", value != nil
	}
	reason := fmt.Sprintf("a list has more than %d servers", maxServers)
	if broken {
		reason = escape.Reason(read.err)
	}
	s.problems = append(s.problems, l.problem(problem.FileRead, problem.Warning,
		"the lists of servers cannot be read: "+reason, "make the file readable"))
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

	matches func(*url.URL) bool
}

func (l list) itemsOf(value json.RawMessage) (items []item) {
	if len(value) == 0 || value[0] != '[' {
		return nil
	}
	of := Server{Source: l.Source}
	plugin.Each(value, func(part json.RawMessage) {
		var i item
		if name, ok := plugin.Text(part); ok {
			i.Name = name
		} else if json.Unmarshal(part, &i) != nil || len(items) > maxServers {
			return
		}
		for n, word := range i.Command {
			i.Command[n] = of.withDefaults(word)
		}
		i.matches = urlPattern(of.withDefaults(i.URL))
		items = append(items, i)
	})
	return items
}

// withDefaults returns a text in which a variable has its default or stays, because a list of
// servers knows no values.
func (s *Server) withDefaults(text string) string {
	var r filling
	if filled := s.fill(text, unset, &r); r.missing == nil && r.problem == "" {
		return filled
	}
	return text
}

// forLists sets what the items of lists are compared with.
func (s *Server) forLists() {
	if s.Transport != "stdio" {
		s.address, _ = url.Parse(s.withDefaults(s.URL))
		return
	}
	for _, word := range append([]string{s.Command}, s.Args...) {
		s.words = append(s.words, s.withDefaults(word))
	}
}

// allowed reports whether a list of the only servers has the server. With a command in the list, a
// name allows no other command, and with a URL no other URL.
func (s *Server) allowed(items []item) bool {
	strict := slices.ContainsFunc(items, func(i item) bool {
		if s.words != nil {
			return i.Command != nil
		}
		return i.URL != ""
	})
	counts := func(i item) bool { return s.is(i) && (i.Name == "" || !strict) }
	return slices.ContainsFunc(items, counts)
}

// is reports whether an item is the server.
func (s *Server) is(i item) bool {
	switch prefix := s.Row.Servers.Plugins; {
	case i.Command != nil:
		return slices.Equal(s.words, i.Command)
	case i.URL != "":
		return s.address != nil && i.matches(s.address)
	case s.Plugin != "" && prefix != "":
		return i.Name == prefix+s.Name
	}
	return i.Name == s.Bare
}

// urlPattern returns a function that reports whether a pattern matches a URL. The letter case of a
// host, and a dot at its end, do not matter. A pattern without a path, a query or a port matches
// each path, each query or the usual port.
func urlPattern(pattern string) func(*url.URL) bool {
	scheme, rest, _ := strings.Cut(pattern, "://")
	host, below, hasPath := strings.Cut(rest, "/")
	host = hostEnd.ReplaceAllString(strings.ToLower(host), "$1")
	schemes, hosts, paths := wildcard(scheme), wildcard(host), wildcard("/"+below)
	return func(u *url.URL) bool {
		at := cmp.Or(u.EscapedPath(), "/")
		if strings.Contains(below, "?") && u.RawQuery != "" {
			at += "?" + u.RawQuery
		}
		usual := usualPorts[u.Scheme]
		place, port := strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), cmp.Or(u.Port(), usual)
		if port != usual || hasPort.MatchString(host) {
			place += ":" + port
		}
		return schemes(u.Scheme) && hosts(place) && (!hasPath || paths(at))
	}
}

var usualPorts = map[string]string{"http": "80", "ws": "80", "https": "443", "wss": "443"}

var (
	hostEnd = regexp.MustCompile(`\.(:|$)`)
	hasPort = regexp.MustCompile(`:[^\]]*$`)
)

// wildcard returns a function that reports whether a pattern with "*" matches a text.
func wildcard(pattern string) func(text string) bool {
	quoted := strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, `.*`)
	re, err := regexp.Compile(`(?s)^` + quoted + `$`)
	return func(text string) bool { return err == nil && re.MatchString(text) }
}
