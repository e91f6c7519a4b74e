package servers_test

import (
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

//go:embed testdata/projects.txt
var projects string

// TestProjects runs the steps of testdata/projects.txt, which describes the steps.
func TestProjects(t *testing.T) {
	p := new(steps)
	for q := range must.Questions(projects) {
		if q.Title != p.name {
			p = &steps{name: q.Title, files: map[string]string{}, given: map[string]string{}}
		}
		if !q.Asks {
			p.set(t, q.Query)
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			must.Equal(t, fmt.Sprintf("line %d: %s", q.Line, q.Query), q.Want, p.ask(t, q.Query, q.Want))
		})
		p.given = map[string]string{}
	}
}

// steps are a project after some of its steps.
type steps struct {
	name         string
	options      []toolshelf.Option
	files, given map[string]string
}

func (p *steps) set(t *testing.T, step string) {
	word, rest, _ := strings.Cut(step, " ")
	switch word {
	case "clients":
		var rows []client.Client
		for name := range strings.FieldsSeq(rest) {
			rows = append(rows, must.Get(client.Lookup(name))(t))
		}
		p.options = append(p.options, toolshelf.WithClient(rows...))
	case "root":
		p.options = append(p.options, toolshelf.WithRoot(rest), toolshelf.WithParents(""))
	case "plugins":
		p.options = append(p.options, toolshelf.WithPlugins(rest))
	case "file", "given":
		name, text, _ := strings.Cut(rest, " ")
		if below, ok := strings.CutPrefix(name, "~/"); ok {
			name = "/home/ann/" + below
		} else if name[0] != '/' {
			name = "/repo/" + name
		}
		if text[0] == '"' {
			text = must.Get(strconv.Unquote(text))(t)
		}
		map[string]map[string]string{"file": p.files, "given": p.given}[word][name] = text
	default:
		t.Fatal("unknown step", word)
	}
}

// entry gives the project a server.
func (p *steps) entry(text string) {
	p.given["/repo/.mcp.json"] = `{"mcpServers": {"s": {` + text + `}}}`
}

// ask returns the answer to a question.
func (p *steps) ask(t *testing.T, query, want string) string {
	word, rest, _ := strings.Cut(query, " ")
	switch word {
	case "resolve":
		name, text, _ := strings.Cut(rest, " ")
		return resolvedText(t, must.Get(client.Lookup(name))(t), text, want)
	case "unpinned":
		words := strings.Fields(rest)
		args := strings.ReplaceAll(fmt.Sprintf("%q", words[1:]), `" "`, `", "`)
		p.entry(fmt.Sprintf(`"command": %q, "args": %s`, words[0], args))
	case "masked":
		return masked(rest)
	case "lint", "uncovered", "covers":
		if rest != "" {
			p.entry(rest)
		}
	case "denied":
		p.given["/home/ann/.claude/settings.json"] =
			fmt.Sprintf(`{"deniedMcpServers": [{"serverUrl": %q}]}`, rest)
	}
	files := maps.Clone(p.files)
	maps.Copy(files, p.given)
	c := open(t, files, p.options...)
	switch word {
	case "list":
		return strings.Join(lines(list(t, c)), " | ")
	case "lint":
		var found []string
		for _, d := range must.Get(c.Lint(t.Context()))(t) {
			found = append(found, fmt.Sprintf("%s:%d %s", d.Path, d.Line, d.Code))
		}
		return strings.Join(found, ", ")
	case "unpinned":
		return fmt.Sprint(slices.Contains(codesOf(t, c), agentmd.DiagServerUnpinned))
	case "uncovered":
		return uncovered(t, files, want)
	case "covers":
		return strings.Join(covered(t, files), " ")
	case "resolved":
		var all []string
		for _, s := range list(t, c) {
			r := must.Get(s.Resolve(func(string) (string, bool) { return "", false }))(t)
			all = append(all, strings.TrimSpace(fmt.Sprint(s.Name, " ", s.Plugin, " ", r.Command, r.URL, r.Args, r.Dir)))
		}
		return strings.Join(all, " | ")
	}
	var names []string
	for _, s := range list(t, c) {
		if map[string]bool{"enabled": !s.Disabled, "disabled": s.Disabled, "denied": s.Disabled,
			"approved": s.Approved}[word] {
			names = append(names, s.Name)
		}
	}
	return strings.Join(names, " ")
}

// resolvedText returns the argument of a server after Resolve, or want if want is "error " and a
// part of the error.
func resolvedText(t *testing.T, row client.Client, text, want string) string {
	if row.Name == "claude" {
		row.Servers.Files = row.Servers.Files[2:3] // .mcp.json
	}
	args, err := resolved(t, row, text, map[string]string{"XV": "val", "XW": "${XV}", "E": "",
		"input:id": "in", "file:./k": "key"})
	part, fails := strings.CutPrefix(want, "error ")
	switch {
	case err == nil && len(args) == 2:
		return args[1]
	case fails && errors.Is(err, toolshelf.ErrInvalidArguments) && strings.Contains(err.Error(), part):
		return want
	}
	return fmt.Sprint(args, err)
}

// uncovered returns the findings of files that no digest covers, or want if they have the text.
func uncovered(t *testing.T, files map[string]string, want string) string {
	var got string
	for _, d := range pendingServer(t, files).Findings {
		if d.Code == agentmd.DiagUncoveredFiles {
			got += d.Message
		}
	}
	if want != "" && strings.Contains(got, want) {
		return want
	}
	return got
}

// covered returns the files that the digest of a server covers.
func covered(t *testing.T, files map[string]string) (names []string) {
	before := pendingServer(t, files)
	for _, name := range slices.Sorted(maps.Keys(before.New)) {
		changed := maps.Clone(files)
		if changed["/repo/"+name] += "changed"; name == ".mcp.json#s" {
			continue
		}
		if after := pendingServer(t, changed); after.Digest == before.Digest || before.Digest == "" {
			t.Errorf("the digest does not cover %s", name)
		}
		names = append(names, name)
	}
	return names
}

// masked returns an argument in the text of a server.
func masked(text string) string {
	s := toolshelf.MCPServer{Name: "s", Transport: "stdio", Command: "x", Args: []string{text}}
	got := strings.TrimPrefix(s.String(), "s (stdio): x ")
	if unquoted, err := strconv.Unquote(got); err == nil {
		return unquoted
	}
	return got
}
