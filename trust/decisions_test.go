package trust

import (
	_ "embed"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

//go:embed testdata/decisions.txt
var decisions string

// TestDecisions runs the steps of testdata/decisions.txt, which describes the steps.
func TestDecisions(t *testing.T) {
	var s *steps
	title := ""
	for q := range must.Questions(decisions) {
		if q.Title != title {
			file := storeFile(t)
			title, s = q.Title, &steps{mine: open(t, file), other: open(t, file), seen: map[uint64]bool{}}
		}
		t.Run(title, func(t *testing.T) {
			must.Equal(t, fmt.Sprintf("line %d: %s", q.Line, q.Query), q.Want, s.run(t, q.Query, q.Want))
		})
	}
}

// steps are two stores of a file after some of the steps.
type steps struct {
	mine, other *Store
	before      os.FileInfo
	seen        map[uint64]bool // versions
}

// run runs a step, and returns the answer.
func (s *steps) run(t *testing.T, query, want string) string {
	store, ctx := s.mine, t.Context()
	if rest, ok := strings.CutPrefix(query, "other "); ok {
		store, query = s.other, rest
	}
	word, rest, _ := strings.Cut(query, " ")
	var all []toolshelf.Pending
	var items []toolshelf.Item
	for spec := range strings.FieldsSeq(rest) {
		p := pendingOf(spec)
		all, items = append(all, p), append(items, p.Item)
	}
	known := map[bool]string{true: "same", false: "new"}
	switch word {
	case "approve":
		return part(store.Approve(ctx, all...), want)
	case "first":
		return part(store.ApproveFirst(ctx, all...), want)
	case "revoke":
		return part(store.Revoke(ctx, items...), want)
	case "remove":
		must.Do(t, os.Remove(store.file))
	case "write":
		must.Do(t, os.WriteFile(store.file, []byte(rest), 0o600))
	case "holds":
		return fmt.Sprint(strings.Contains(string(must.Get(os.ReadFile(store.file))(t)), rest))
	case "text":
		return store.Approved(ctx, items[0])[all[0].Name+".md"]
	case "version":
		v := store.Version()
		defer func() { s.seen[v] = true }()
		must.Equal(t, "the version without a change", v, store.Version())
		return known[s.seen[v]]
	case "file":
		before := s.before
		now, err := os.Stat(store.file)
		if s.before = now; err != nil {
			return "none"
		}
		return known[before != nil && os.SameFile(now, before)]
	case "allowed", "revoked":
		fresh, _ := Open(store.file)
		answers := map[*Store][]string{}
		for _, store := range []*Store{store, fresh} {
			store.Version()
			for n, spec := range strings.Fields(rest) {
				if word == "allowed" && store.Allowed(ctx, items[n]) ||
					word == "revoked" && store.Revoked(ctx, items[n]) {
					answers[store] = append(answers[store], spec)
				}
			}
		}
		must.Match(t, "the answers of a new store", answers[store], answers[fresh])
		return strings.Join(answers[store], " ")
	default:
		t.Fatal("unknown step", word)
	}
	return ""
}

// part returns want if the error has the text, and otherwise the error.
func part(err error, want string) string {
	switch {
	case err == nil:
		return ""
	case want != "" && strings.Contains(err.Error(), want):
		return want
	}
	return err.Error()
}

// pendingOf returns an entry such as deploy=one,kind=skill.
func pendingOf(spec string) toolshelf.Pending {
	first, rest, _ := strings.Cut(spec, ",")
	name, text, _ := strings.Cut(first, "=")
	p := entry(name, text)
	sum := strings.NewReplacer("*", p.Digest, "#", strings.TrimPrefix(p.Digest, filePrefix))
	fields := map[string]*string{"kind": (*string)(&p.Kind), "layer": &p.Layer, "plugin": &p.Plugin,
		"rules": &p.Rules, "file": &p.File, "digest": &p.Digest}
	for field := range strings.SplitSeq(rest, ",") {
		if key, value, ok := strings.Cut(field, "="); ok {
			*fields[key] = sum.Replace(value)
		}
	}
	return p
}
