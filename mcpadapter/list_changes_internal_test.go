package mcpadapter

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"testing/synctest"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestSubscribersMergeChanges(t *testing.T) {
	add, remove, change := toolshelf.Names{Added: []string{"x"}}, toolshelf.Names{Removed: []string{"x"}}, toolshelf.Names{Changed: []string{"x"}}
	var many []string
	for i := range 2000 {
		many = append(many, fmt.Sprintf("command-%04d", i))
	}
	var edits, moves []toolshelf.Names
	for i := range 280 {
		edits = append(edits, toolshelf.Names{Changed: many})
		moves = append(moves, toolshelf.Names{Added: []string{fmt.Sprint(i)}}, toolshelf.Names{Removed: []string{fmt.Sprint(i)}})
	}
	for _, tt := range []struct {
		name    string
		changes []toolshelf.Names
		want    []string
	}{
		{"added", []toolshelf.Names{add}, []string{"x"}},
		{"added and changed", []toolshelf.Names{add, change}, []string{"x"}},
		{"added and removed", []toolshelf.Names{add, remove}, nil},
		{"added, changed and removed", []toolshelf.Names{add, change, remove}, nil},
		{"added, removed and added", []toolshelf.Names{add, remove, add}, []string{"x"}},
		{"removed and added", []toolshelf.Names{remove, add}, []string{"x"}},
		{"removed, added and removed", []toolshelf.Names{remove, add, remove}, []string{"x"}},
		{"changed and removed", []toolshelf.Names{change, remove}, []string{"x"}},
		{"changed, and added and removed by the other kind", []toolshelf.Names{change, add, remove}, []string{"x"}},
		{"several names", []toolshelf.Names{{Added: []string{"c"}, Removed: []string{"b"}, Changed: []string{"a"}}, {Removed: []string{"d"}}}, []string{"a", "b", "c", "d"}},
		{"many edits of many files", edits, many},
		{"many new files that are removed", moves, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				told, next := make(chan []string), make(chan struct{})
				s := &subscriber{call: func(names []string) { told <- names; <-next }}
				s.collect(toolshelf.Names{Added: []string{"first"}})
				must.Match(t, "result", []string{"first"}, <-told)
				for _, change := range tt.changes { // while the function blocks
					s.collect(change)
				}
				must.Equal(t, "the subscriber holds", len(tt.want), len(s.pending))
				next <- struct{}{}
				must.Match(t, "result", tt.want, <-told)
				next <- struct{}{}
			})
		})
	}
}

func TestRootHiderShortensPathsInErrors(t *testing.T) {
	h := rootHiderOf("/srv/app")
	err := error(&toolshelf.Error{Code: toolshelf.CodeFileRead, Path: "/srv/app/x", Message: "/srv/app/x cannot be read", Err: fs.ErrPermission})
	h.error(&err)
	var ours *toolshelf.Error
	if !errors.As(err, &ours) || ours.Message != "x cannot be read" || ours.Path != "x" || !errors.Is(err, toolshelf.ErrFileRead) || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("got %#v", err)
	}
	err = invalidParams("there is no /srv/app/x")
	h.error(&err)
	if e := asRPCError(err); e.Message != "there is no x" || e.Code != CodeInvalidParams {
		t.Errorf("got %#v", e)
	}
	err = fs.ErrInvalid
	if h.error(&err); err != fs.ErrInvalid {
		t.Errorf("got %v", err)
	}
	err = nil
	if h.error(&err); err != nil {
		t.Errorf("got %v", err)
	}
}
