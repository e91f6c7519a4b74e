//go:build unix

package servertest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/stores/blob"
)

// requests counts the requests of calls.
type requests struct {
	*bucket
	catalog *toolshelf.Catalog
}

func (r requests) expect(name string, call func(context.Context, *toolshelf.Catalog) error, lists, gets, heads int) {
	r.t.Helper()
	var err error
	got := r.counted(func() { err = call(r.t.Context(), r.catalog) })
	if want := fmt.Sprintf("%d LIST, %d GET, %d HEAD", lists, gets, heads); err != nil || got != want {
		r.t.Errorf("%s: %s, %v; want %s", name, got, err, want)
	}
}

func list(ctx context.Context, cat *toolshelf.Catalog) error {
	_, err := cat.List(ctx, toolshelf.Page{})
	return err
}

func get(ctx context.Context, cat *toolshelf.Catalog) error {
	_, err := cat.Get(ctx, "c00007")
	return err
}

func getUnknown(ctx context.Context, cat *toolshelf.Catalog) error {
	_, err := cat.Get(ctx, "unknown")
	return want(err, toolshelf.ErrCommandNotFound)
}

func listPrompts(ctx context.Context, cat *toolshelf.Catalog) error {
	adapter, err := mcpadapter.New(cat)
	if err == nil {
		_, err = adapter.ListPrompts(ctx, nil)
	}
	return err
}

func listSkills(ctx context.Context, cat *toolshelf.Catalog) error {
	_, err := cat.ListSkills(ctx)
	return err
}

func getSkill(ctx context.Context, cat *toolshelf.Catalog) error {
	s, err := cat.GetSkill(ctx, "s0007")
	if err == nil && len(s.Files) != 2 {
		err = fmt.Errorf("files %v", s.Files)
	}
	return err
}

func search(ctx context.Context, cat *toolshelf.Catalog) error {
	_, err := cat.Search(ctx, "step", 10)
	return err
}

// fill writes commands, and skills with two files each.
func (b *bucket) fill(commands, skills int) {
	b.t.Helper()
	for i := range commands {
		b.place(fmt.Sprintf("commands/c%05d.md", i), command(fmt.Sprintf("Do step %d", i)))
	}
	for i := range skills {
		name := fmt.Sprintf("s%04d", i)
		b.place("skills/"+name+"/SKILL.md", skill(name, "Do the work"))
		b.place("skills/"+name+"/scripts/run.sh", "echo run")
	}
}

func TestRequestsOfACatalog(t *testing.T) {
	commands, skills := 10_000, 500
	if testing.Short() {
		commands, skills = 1_200, 60
	}
	b := newBucket(t)
	b.fill(commands, skills)
	pages := func(keys int) int { return (keys + 999) / 1000 }
	r := requests{b, b.catalog(blob.Options{})}
	r.expect("List", list, pages(commands), commands, 0)
	r.expect("List again", list, pages(commands), 0, 0)
	r.expect("Get", get, 0, 1, 0)
	r.expect("Get again", get, 0, 0, 1)
	r.expect("Get of an unknown name", getUnknown, pages(commands), 0, 0)
	r.expect("ListSkills", listSkills, pages(2*skills), skills, 0)
	r.expect("ListSkills again", listSkills, pages(2*skills), 0, 0)
	r.expect("a page of prompts", listPrompts, pages(commands)+pages(2*skills), 0, 0) // the lists have read the short files as a whole
	r.expect("GetSkill", getSkill, 1, 0, 0)
}

func TestRequestsOfASearch(t *testing.T) {
	b := newBucket(t)
	b.fill(200, 0)
	r := requests{b, b.catalog(blob.Options{})}
	r.expect("List", list, 1, 200, 0) // reads the short files as a whole
	r.expect("Search", search, 1, 0, 0)

	b.place("commands/c00007.md", command("Do step 7")+strings.Repeat("Do a long step.\n", 1000))
	r.expect("Search after a change of a long file", search, 1, 2, 0) // the beginning and the whole file
	r.expect("Search again", search, 1, 0, 0)
}

func TestRequestsWithAFeed(t *testing.T) {
	b := newBucket(t)
	b.fill(200, 20)
	connected, changed := make(chan struct{}), make(chan struct{})
	feed := func(ctx context.Context, touch func(...string)) error {
		touch()
		close(connected)
		select {
		case <-changed:
			touch("c00007.md")
			changed <- struct{}{}
		case <-ctx.Done():
		}
		<-ctx.Done()
		return nil
	}
	r := requests{b, b.catalog(blob.Options{}, toolshelf.WithFeed(time.Hour, feed))}
	<-connected
	for _, call := range []func(context.Context, *toolshelf.Catalog) error{list, get, listPrompts, listSkills, getSkill} {
		must.Do(t, call(t.Context(), r.catalog))
	}
	r.expect("List", list, 0, 0, 0)
	r.expect("Get", get, 0, 0, 0)
	r.expect("Get of an unknown name", getUnknown, 0, 0, 0)
	r.expect("a page of prompts", listPrompts, 0, 0, 0)
	r.expect("ListSkills", listSkills, 0, 0, 0)

	b.put("commands/c00007.md", command("Do step 8"))
	changed <- struct{}{}
	<-changed
	if c, err := r.catalog.Get(t.Context(), "c00007"); err != nil || c.Metadata.Description != "Do step 8" {
		t.Errorf("Get after a change: %q, %v", c.Metadata.Description, err)
	}
}
