package listing

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// TestLinks finds links to files and never enters linked directories.
func TestLinks(t *testing.T) {
	home := t.TempDir()
	for name, content := range map[string]string{
		"proj/real.md": "12", "proj/dir/x.md": "", "proj/sub/y.md": "", "outside/secret.md": "", "trusted/t.md": "",
	} {
		full := filepath.Join(home, name)
		must.Do(t, os.MkdirAll(filepath.Dir(full), 0o755))
		must.Do(t, os.WriteFile(full, []byte(content), 0o644))
	}
	root := filepath.Join(home, "proj")
	for name, target := range map[string]string{
		"inside.md":       "real.md",
		"sub/up.md":       "../real.md",
		"sub/chain.md":    "../inside.md",
		"sub/absolute.md": filepath.Join(root, "real.md"),
		"outside.md":      "../outside/secret.md",
		"trusted.md":      "../trusted/t.md",
		"dangling.md":     "nowhere.md",
		"loop.md":         "loop.md",
		"to-dir.md":       "dir",
		"linked":          "dir",
		"real.txt":        "real.md",
	} {
		hosttest.Symlink(t, target, filepath.Join(root, name))
	}
	regular := []string{"dir/x.md", "sub/y.md", "real.md"}
	inside := []string{"dir/x.md", "sub/absolute.md", "sub/chain.md", "sub/up.md", "sub/y.md", "inside.md", "real.md"}
	for name, tt := range map[string]struct {
		opts []confine.Option
		want []string
	}{
		"inside":  {nil, inside},
		"denied":  {[]confine.Option{confine.DenySymlinks()}, regular},
		"trusted": {[]confine.Option{confine.TrustDirs(filepath.Join(home, "trusted"))}, append(slices.Clone(inside), "trusted.md")},
	} {
		f := confined(t)(confine.New(root, tt.opts...))
		got, err := find(t, f, ".", "*.md", Options{})
		if err != nil || !slices.Equal(pathsOf(got), tt.want) || got.Total != len(tt.want) {
			t.Errorf("%s: %q of %d, %v; want %q", name, pathsOf(got), got.Total, err, tt.want)
		}
	}
	f := confined(t)(confine.New(root))
	page := must.Get(List(t.Context(), f, ".", Options{}, same))(t)
	targets := map[string]string{}
	for _, r := range page.Entries {
		if r.Kind == KindLink {
			targets[r.Name] = r.Target
			if r.Outside {
				targets[r.Name] = "outside"
			}
		}
	}
	for name, want := range map[string]string{
		"inside.md": "real.md", "outside.md": "outside", "trusted.md": "outside", "dangling.md": "nowhere.md", "linked": "dir", "loop.md": "loop.md",
	} {
		if targets[name] != want {
			t.Errorf("%s leads to %q, want %q", name, targets[name], want)
		}
	}
	if report, nodes := tree(t, f, "sub", Options{}); len(report.Warnings) > 0 || !slices.Contains(nodes, "link up.md") {
		t.Errorf("Tree: %q, %q", nodes, report.Warnings)
	}
}
