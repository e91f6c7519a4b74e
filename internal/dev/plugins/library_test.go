package plugins

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// library returns the entries and the plugins of a catalog. The paths are relative to the
// directory, or to the filesystem if the directory is "".
func library(t *testing.T, dir string, opts ...toolshelf.Option) (got []Entry, listed map[string]bool) {
	t.Helper()
	c := must.Get(toolshelf.New(append(opts, toolshelf.WithRoot(t.TempDir()))...))(t)
	defer c.Close()
	ctx := context.Background()
	add := func(kind, plugin, name, path string, shadows []string, loadable bool) {
		if len(shadows) > 0 {
			t.Errorf("the %s %s at %s shadows %q", kind, name, path, shadows)
		}
		if !strings.HasPrefix(name, plugin+":") {
			t.Errorf("the %s %s of the plugin %q has no prefix", kind, name, plugin)
		}
		if !loadable {
			return
		}
		if dir != "" {
			below, err := filepath.Rel(dir, path)
			if err != nil {
				t.Error(err)
			}
			path = filepath.ToSlash(below)
		}
		got = append(got, Entry{kind, plugin, name, path})
	}
	for info, err := range c.All(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		add("command", info.Plugin, info.Name, info.Path, nil, true)
	}
	skills := must.Get(c.ListSkills(ctx))(t)
	for _, info := range skills {
		add("skill", info.Plugin, info.Name, info.Path, info.Shadows, info.Loadable)
	}
	agents := must.Get(c.ListAgents(ctx))(t)
	for _, info := range agents {
		add("agent", info.Plugin, info.Name, info.Path, info.Shadows, info.Loadable)
	}
	plugins := must.Get(c.Plugins(ctx))(t)
	problems := must.Get(c.Lint(ctx))(t)
	for _, p := range problems {
		if p.Code == agentmd.DiagShadowed && !strings.HasSuffix(p.Path, "marketplace.json") { // a repeated entry
			t.Errorf("shadowed: %v", p)
		}
	}
	listed = map[string]bool{}
	for _, p := range plugins {
		listed[p.Name] = p.Path != ""
	}
	return got, listed
}

// compare reports the differences between the library and the reader.
func compare(t *testing.T, want Set, got []Entry, listed map[string]bool) {
	t.Helper()
	lines := func(entries []Entry) (all []string) {
		for _, e := range entries {
			all = append(all, e.Line())
		}
		slices.Sort(all)
		return all
	}
	if diff := cmp.Diff(lines(want.Entries), lines(got)); diff != "" {
		t.Errorf("entries (-reader +library):\n%s", diff)
	}
	known := map[string]bool{}
	for _, name := range want.Plugins {
		known[name] = true
	}
	for _, name := range want.Remote {
		known[name] = false
	}
	if diff := cmp.Diff(known, listed); diff != "" {
		t.Errorf("plugins (-reader +library):\n%s", diff)
	}
}

// TestLibraryReadsTheFixture compares the library with the list of entries and with the reader.
func TestLibraryReadsTheFixture(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		got, listed := library(t, "", toolshelf.WithPluginsFS("fixture", Memory()))
		compare(t, Read(Memory(), "."), got, listed)
		var lines []string
		for _, e := range got {
			lines = append(lines, e.Line())
		}
		slices.Sort(lines)
		want := Want()
		slices.Sort(want)
		if diff := cmp.Diff(want, lines); diff != "" {
			t.Errorf("entries (-list +library):\n%s", diff)
		}
	})
	t.Run("disk", func(t *testing.T) {
		market, err := Write(t.TempDir())
		if err != nil {
			t.Skip(err) // a system without links
		}
		got, listed := library(t, market, toolshelf.WithPlugins(market))
		compare(t, Read(os.DirFS(market), "."), got, listed)
	})
}

// TestLibraryReadsPublicRepositories compares the library with the reader on the directories of
// TOOLSHELF_PLUGINS. Each directory is a repository with a marketplace.
func TestLibraryReadsPublicRepositories(t *testing.T) {
	top := os.Getenv("TOOLSHELF_PLUGINS")
	if top == "" {
		t.Skip("TOOLSHELF_PLUGINS names no directory of repositories with plugins")
	}
	repositories := must.Get(os.ReadDir(top))(t)
	for _, r := range repositories {
		t.Run(r.Name(), func(t *testing.T) {
			dir := filepath.Join(top, r.Name())
			var fsys fs.FS = os.DirFS(dir)
			want := Read(fsys, ".")
			got, listed := library(t, dir, toolshelf.WithPlugins(dir))
			compare(t, want, got, listed)
			count := map[string]int{}
			for _, e := range got {
				count[e.Kind]++
			}
			t.Logf("%d plugins, %d commands, %d skills, %d agents, %d remote", len(want.Plugins), count["command"], count["skill"], count["agent"], len(want.Remote))
		})
	}
}
