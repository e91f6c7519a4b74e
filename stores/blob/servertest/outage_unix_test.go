//go:build unix

package servertest

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/stores/blob"
	"github.com/toolshelf-go/toolshelf/stores/internal/outagetest"
)

// With Options.Stale, a catalog serves what the catalog has listed, as far as the bytes are in
// memory: files of at most 4 KB after a list, longer commands and SKILL.md files after a Get.
func TestMethodsDuringAnOutage(t *testing.T) {
	unreachable := errors.New("unreachable")
	stale := func(err error, age time.Duration) error {
		if !errors.Is(err, unreachable) || age <= 0 {
			t.Errorf("Stale receives %v and the age %v", err, age)
		}
		return nil
	}
	feed := func(ctx context.Context, touch func(...string)) error {
		touch()
		<-ctx.Done()
		return nil
	}
	lists := []string{"List", "ListSkills"}
	notListed := []string{"Get of a long command", "GetSkill of a long SKILL.md", "ReadSkillFile of a script"}
	for _, test := range []struct {
		name    string
		stale   func(error, time.Duration) error
		options []toolshelf.Option
		before  []string // the calls before the outage
		fail    []string // the calls that fail during the outage
	}{
		{"without Stale", nil, nil, outagetest.Names(), outagetest.Names()},
		{"nothing listed", stale, nil, nil, outagetest.Names()},
		{"listed", stale, nil, lists, notListed},
		{"listed, with a feed", stale, []toolshelf.Option{toolshelf.WithFeed(time.Hour, feed)}, lists, notListed},
		{"read", stale, nil, outagetest.Names(), []string{"ReadSkillFile of a script"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBucket(t)
			for key, content := range outagetest.Files {
				b.put(key, content)
			}
			cat := b.catalog(blob.Options{Stale: test.stale}, test.options...)
			outagetest.Prepare(t, cat, test.before...)
			b.intercept(func(*http.Request) (*http.Response, error) { return nil, unreachable })
			for range 2 {
				outagetest.Check(t, cat, unreachable, test.fail...)
			}
			b.intercept(nil)
			if len(test.options) > 0 {
				return // the feed reports no change
			}
			b.put("commands/deploy.md", command("Deploy again"))
			b.put("skills/pdf/SKILL.md", skill("pdf", "Read PDF files again"))
			if c, err := cat.Get(t.Context(), "deploy"); err != nil || c.Metadata.Description != "Deploy again" {
				t.Errorf("Get after the outage: %q, %v", c.Metadata.Description, err)
			}
			if s, err := cat.GetSkill(t.Context(), "pdf"); err != nil || s.Description != "Read PDF files again" {
				t.Errorf("GetSkill after the outage: %q, %v", s.Description, err)
			}
		})
	}
}
