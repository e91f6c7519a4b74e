package storetest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
)

// A missingStore is a store without a snapshot.
type missingStore struct {
	fstest.MapFS
	err error
}

func (s missingStore) Snapshot(context.Context) (fs.FS, error) { return nil, s.err }

// If the error of a store says more than fs.ErrNotExist, the message contains the reason.
func TestTheMessageHasTheReasonOfAStore(t *testing.T) {
	revision := fmt.Errorf("git: revision %q: %w: create or fetch the reference", "nosuchbranch", fs.ErrNotExist)
	const reason = ` (git: revision "nosuchbranch": file does not exist: create or fetch the reference)`
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"plain", fs.ErrNotExist, ""},
		{"of the operating system", &fs.PathError{Op: "open", Path: "/srv/.git", Err: syscall.ENOENT}, ""},
		{"a reason", revision, reason},
		{"a reason with a path", &fs.PathError{Op: "list", Path: "/srv", Err: revision}, reason},
		{"two lines", fmt.Errorf("a\nb: %w", fs.ErrNotExist), ` (a\nb: file does not exist)`},
	} {
		t.Run(test.name, func(t *testing.T) {
			store := missingStore{err: test.err}
			c := catalogtest.Open(t, toolshelf.WithCommandsDir(), toolshelf.WithCommandsFS("repo", store), toolshelf.WithSkillsDir(), toolshelf.WithSkillsFS("repo", store))
			_, list := c.List(t.Context(), toolshelf.Page{})
			_, skills := c.ListSkills(t.Context())
			_, get := c.Get(t.Context(), "deploy")
			for _, got := range []struct {
				err  error
				want string
			}{
				{list, "Commands folder not found at path: repo" + test.want},
				{skills, "Skills folder not found at path: repo" + test.want},
				{get, `there is no command "deploy", because no directory of commands exists` + test.want + "; check the configuration"},
			} {
				var e *toolshelf.Error
				if !errors.As(got.err, &e) || e.Message != got.want || !errors.Is(e, toolshelf.ErrDirectoryNotFound) && !errors.Is(e, toolshelf.ErrCommandNotFound) {
					t.Errorf("error %v\nwant  %s", got.err, got.want)
				}
			}
		})
	}
}
