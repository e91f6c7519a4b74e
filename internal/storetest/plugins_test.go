package storetest

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
)

// A store fails during a read of the manifests. The list keeps the plugins, and the next call
// without a fault sees the change.
func TestAStoreThatFailsToReadManifests(t *testing.T) {
	reset := errors.New("connection reset")
	for _, failing := range []string{"plugins/.claude-plugin/marketplace.json", "plugins/a/.claude-plugin/plugin.json", "plugins/a/"} {
		for _, kind := range []string{"plain", "snapshots", "snapshots with versions", "a feed"} {
			if strings.HasSuffix(failing, "/") && kind != "plain" {
				continue // a snapshot lists no directory
			}
			t.Run(failing+", "+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newBucket()
					b.put("plugins/.claude-plugin/marketplace.json", `{"name": "m", "plugins": [{"name": "a", "source": "./a"}]}`)
					b.put("plugins/a/.claude-plugin/plugin.json", `{"name": "a", "version": "1"}`)
					b.put("plugins/a/commands/go.md", "Go.")
					b.tree = kind == "snapshots with versions"
					var store fs.FS = b.store("plugins/")
					if kind == "plain" {
						store = bucketFS{b, "plugins/"}
					}
					var feed testFeed
					options := []toolshelf.Option{toolshelf.WithCommandsDir(), toolshelf.WithSkillsDir(), toolshelf.WithPluginsFS("plugins", store)}
					if kind == "a feed" {
						options = append(options, feed.option(time.Hour))
					}
					c := catalogtest.Open(t, options...)
					synctest.Wait()
					answer := func() string {
						list, err := c.List(t.Context(), toolshelf.Page{})
						var all []string
						for _, row := range list.Commands {
							all = append(all, row.Name)
						}
						plugins, pluginsErr := c.Plugins(t.Context())
						for _, p := range plugins {
							all = append(all, p.Name+" "+p.Version)
						}
						if err := errors.Join(err, pluginsErr); err != nil {
							all = append(all, err.Error())
						}
						return strings.Join(all, ", ")
					}
					if got := answer(); got != "a:go, a 1" {
						t.Fatal(got)
					}
					if kind == "a feed" {
						feed.touch("a")
						synctest.Wait()
						if got := answer(); got != "a:go, a 1" {
							t.Fatal(got)
						}
					}
					b.put("plugins/.claude-plugin/marketplace.json", `{"name": "m", "plugins": [{"name": "a", "source": "./a"}], "description": "New."}`)
					b.put("plugins/a/.claude-plugin/plugin.json", `{"name": "a", "version": "2"}`)
					b.setFault(func(op, key string) error {
						if key == failing && op != "HEAD" {
							return reset
						}
						return nil
					})
					if kind == "a feed" {
						feed.touch("a")
						synctest.Wait()
					}
					for range 2 {
						if got := answer(); got != "a:go, a 1" {
							t.Errorf("during the fault: %q", got)
						}
					}
					lint, err := c.Lint(t.Context())
					if failed := func(d toolshelf.Diagnostic) bool { return d.Code == agentmd.DiagFileRead }; err != nil || !slices.ContainsFunc(lint, failed) {
						t.Errorf("%v, %v", lint, err)
					}
					b.setFault(nil)
					if got := answer(); got != "a:go, a 2" {
						t.Errorf("after the fault: %q", got)
					}
				})
			})
		}
	}
}
