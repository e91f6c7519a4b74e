package toolshelf_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
)

// A recorder is an observer that keeps the events.
type recorder struct {
	mu  sync.Mutex
	all []toolshelf.Event
}

func (r *recorder) observe(_ context.Context, e toolshelf.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, e)
}

// take returns the events since the last call, each as one line.
func (r *recorder) take() (lines []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.all {
		parts := []string{e.Action}
		for _, part := range []string{e.Reason, string(e.Kind), e.Name, e.Layer, e.Path, string(e.Code)} {
			if part != "" {
				parts = append(parts, part)
			}
		}
		if e.Count > 0 {
			parts = append(parts, fmt.Sprint("count=", e.Count))
		}
		lines = append(lines, strings.Join(parts, " "))
	}
	r.all = nil
	return lines
}

func observedCatalog(t *testing.T, opts ...toolshelf.Option) (afero.Fs, *toolshelf.Catalog, *recorder) {
	t.Helper()
	fsys, r := afero.NewMemMapFs(), new(recorder)
	for name, text := range gatedFiles {
		putFile(t, fsys, name, text)
	}
	c, err := toolshelf.New(append([]toolshelf.Option{toolshelf.WithFs(fsys), toolshelf.WithRoot("/p"), toolshelf.WithAgentsDir("agents"), toolshelf.WithObserver(r.observe)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return fsys, c, r
}

func TestEachUseOfACatalogHasOneEvent(t *testing.T) {
	_, c, r := observedCatalog(t)
	ctx := t.Context()
	commands, skills, agents := filepath.FromSlash("/p/commands"), filepath.FromSlash("/p/skills"), filepath.FromSlash("/p/agents")
	command, _ := c.Get(ctx, "deploy")
	skill, _ := c.GetSkill(ctx, "pdf")
	r.take()
	for name, test := range map[string]struct {
		call func()
		want []string
	}{
		"List":          {func() { c.List(ctx, toolshelf.Page{}) }, []string{"listed command count=1"}},
		"ListSkills":    {func() { c.ListSkills(ctx) }, []string{"listed skill count=1"}},
		"ListAgents":    {func() { c.ListAgents(ctx) }, []string{"listed agent count=1"}},
		"Plugins":       {func() { c.Plugins(ctx) }, []string{"listed plugin"}},
		"Instructions":  {func() { c.Instructions(ctx, ".") }, []string{"listed instruction ."}},
		"SkillsPrompt":  {func() { c.SkillsPrompt(ctx) }, []string{"listed skill count=1"}},
		"Get":           {func() { c.Get(ctx, "deploy.md") }, []string{"loaded command deploy " + commands}},
		"GetSkill":      {func() { c.GetSkill(ctx, "pdf") }, []string{"loaded skill pdf " + skills}},
		"GetAgent":      {func() { c.GetAgent(ctx, "reviewer") }, []string{"loaded agent reviewer " + agents}},
		"Expand":        {func() { c.Expand(ctx, "/deploy x") }, []string{"loaded command deploy " + commands, "rendered command deploy " + commands}},
		"Render":        {func() { command.Render("x") }, []string{"rendered command deploy " + commands}},
		"Skill.Render":  {func() { skill.Render("x") }, []string{"rendered skill pdf " + skills}},
		"ReadSkillFile": {func() { c.ReadSkillFile(ctx, "pdf", "scripts/x.sh") }, []string{"read skill pdf " + skills + " scripts/x.sh"}},
		"Skill.FS":      {func() { fs.ReadFile(skill.FS(), "scripts/x.sh") }, []string{"read skill pdf " + skills + " scripts/x.sh"}},
		"Open":          {func() { skill.FS().Open("scripts/x.sh") }, []string{"read skill pdf " + skills + " scripts/x.sh"}},
		"ReadFile":      {func() { c.ReadFile(ctx, "agents/reviewer.md") }, []string{"read agents/reviewer.md"}},
		"Search":        {func() { c.Search(ctx, "deploy", 0) }, []string{"searched command count=1"}},
		"SearchSkills":  {func() { c.SearchSkills(ctx, "pdf", 0) }, []string{"searched skill count=1"}},
		"Grep":          {func() { c.Grep(ctx, ".", "Deploy") }, []string{"searched . count=2"}},
		"All": {func() {
			for range c.All(ctx) {
			}
		}, []string{"listed command count=1"}},
		"Commands": {func() {
			for range c.Commands(ctx) {
			}
		}, []string{"loaded command deploy " + commands, "listed command count=1"}},
		"Skills": {func() {
			for range c.Skills(ctx) {
				break
			}
		}, []string{"loaded skill pdf " + skills, "listed skill count=1"}},
		"unknown name":  {func() { c.Get(ctx, "none") }, []string{"loaded command none COMMAND_NOT_FOUND"}},
		"unknown line":  {func() { c.Expand(ctx, "/none") }, []string{"loaded command none COMMAND_NOT_FOUND"}},
		"path outside":  {func() { c.ReadFile(ctx, "../x") }, []string{"refused link ../x OUTSIDE_ROOT"}},
		"path of skill": {func() { c.ReadSkillFile(ctx, "pdf", "../x") }, []string{"refused link skill pdf " + skills + " ../x OUTSIDE_ROOT"}},
	} {
		t.Run(name, func(t *testing.T) {
			test.call()
			if diff := cmp.Diff(test.want, r.take()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnEventHasTheDigestAndTheSizeOfTheBytes(t *testing.T) {
	_, c, r := observedCatalog(t)
	command, err := c.Get(t.Context(), "deploy")
	if err != nil {
		t.Fatal(err)
	}
	e := r.all[len(r.all)-1]
	if want := fmt.Sprintf("sha256:%x", sha256.Sum256(command.Raw)); e.Digest != want || e.Bytes != len(command.Raw) || e.Duration <= 0 {
		t.Errorf("the event is %+v, want the digest %s and %d bytes", e, want, len(command.Raw))
	}
}

func TestARefusedNameHasItsReason(t *testing.T) {
	g := new(approvals)
	for _, test := range []struct {
		reason string
		option toolshelf.Option
	}{
		{"filter", toolshelf.WithSkillFilter(func(toolshelf.SkillInfo) bool { return false })},
		{"gate", toolshelf.WithGate(g)},
	} {
		_, c, r := observedCatalog(t, test.option)
		skills := filepath.FromSlash("/p/skills")
		c.GetSkill(t.Context(), "pdf")
		c.ReadSkillFile(t.Context(), "pdf", "SKILL.md")
		c.Expand(t.Context(), "/pdf")
		if diff := cmp.Diff([]string{"refused " + test.reason + " skill pdf " + skills + " SKILL_NOT_FOUND",
			"refused " + test.reason + " skill pdf " + skills + " SKILL.md SKILL_NOT_FOUND",
			"refused " + test.reason + " skill pdf " + skills + " COMMAND_NOT_FOUND"}, r.take()); diff != "" {
			t.Error(diff)
		}
	}
}

func TestASkillOfAGatedLayerHasTheDigestOfItsItem(t *testing.T) {
	g := new(approvals)
	_, c, r := observedCatalog(t, toolshelf.WithGate(g))
	pending, err := c.Pending(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	g.approve(t, c)
	if _, err := c.GetSkill(t.Context(), "pdf"); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(pending, func(p toolshelf.Pending) bool { return p.Kind == toolshelf.KindSkill })
	if e := r.all[len(r.all)-1]; e.Digest != pending[i].Digest || e.Layer != pending[i].Layer {
		t.Errorf("the event has %s of %s, want %s of %s", e.Digest, e.Layer, pending[i].Digest, pending[i].Layer)
	}
}

func TestTheChangesOfAScanPrecedeTheEventOfTheCall(t *testing.T) {
	fsys, c, r := observedCatalog(t)
	c.List(t.Context(), toolshelf.Page{})
	r.take()
	commands := filepath.FromSlash("/p/commands")
	putFile(t, fsys, "/p/commands/new.md", "New.")
	c.List(t.Context(), toolshelf.Page{})
	if diff := cmp.Diff([]string{"changed command new " + commands, "listed command count=2"}, r.take()); diff != "" {
		t.Error(diff)
	}
	if err := fsys.Remove("/p/commands/new.md"); err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		putFile(t, fsys, fmt.Sprintf("/p/commands/n%d.md", i), "New.")
	}
	c.List(t.Context(), toolshelf.Page{})
	if lines := r.take(); len(lines) != 258 || lines[256] != "changed count=45" {
		t.Errorf("%d events, and the event after the names is %q", len(lines), lines[min(256, len(lines)-1)])
	}
}

func TestAnObserverMayCallTheCatalog(t *testing.T) {
	var c *toolshelf.Catalog
	var events []string
	inside := false
	_, c, _ = observedCatalogWith(t, func(ctx context.Context, e toolshelf.Event) {
		events = append(events, e.Action)
		if inside {
			return
		}
		inside = true
		defer func() { inside = false }()
		c.List(ctx, toolshelf.Page{})
		c.GetSkill(ctx, "pdf")
		c.Search(ctx, "deploy", 0)
	})
	c.ReadSkillFile(t.Context(), "pdf", "SKILL.md")
	if diff := cmp.Diff([]string{"read", "listed", "loaded", "searched"}, events); diff != "" {
		t.Error(diff)
	}
}

func observedCatalogWith(t *testing.T, f func(context.Context, toolshelf.Event), opts ...toolshelf.Option) (afero.Fs, *toolshelf.Catalog, error) {
	t.Helper()
	fsys := afero.NewMemMapFs()
	for name, text := range gatedFiles {
		putFile(t, fsys, name, text)
	}
	c, err := toolshelf.New(append([]toolshelf.Option{toolshelf.WithFs(fsys), toolshelf.WithRoot("/p"), toolshelf.WithObserver(f)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return fsys, c, nil
}

func TestAPanicOfTheObserverEndsNothing(t *testing.T) {
	var log bytes.Buffer
	_, c, _ := observedCatalogWith(t, func(context.Context, toolshelf.Event) { panic("broken") }, toolshelf.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	if _, err := c.Get(t.Context(), "deploy"); err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), "panic: broken") {
		t.Errorf("the log is %q", log.String())
	}
}

func TestTheObserverGetsTheContextOfTheCaller(t *testing.T) {
	type key struct{}
	var got []any
	_, c, _ := observedCatalogWith(t, func(ctx context.Context, _ toolshelf.Event) { got = append(got, ctx.Value(key{})) })
	ctx := context.WithValue(t.Context(), key{}, "span")
	c.Expand(ctx, "/deploy")
	if diff := cmp.Diff([]any{"span", "span"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestWithObserverRejectsAnUnusableFunction(t *testing.T) {
	f := toolshelf.WithObserver(func(context.Context, toolshelf.Event) {})
	for name, opts := range map[string][]toolshelf.Option{"nil": {toolshelf.WithObserver(nil)}, "two": {f, f}} {
		if _, err := toolshelf.New(opts...); !errors.Is(err, toolshelf.ErrInvalidOption) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

func TestAnObserverThatDoesNothingAllocatesNothingFurther(t *testing.T) {
	allocations := func(opts ...toolshelf.Option) float64 {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "commands"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "commands", "deploy.md"), []byte("Deploy."), 0o644); err != nil {
			t.Fatal(err)
		}
		c, err := toolshelf.New(append(opts, toolshelf.WithRoot(dir), toolshelf.WithCacheTTL(1<<40))...)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		ctx := context.Background()
		return testing.AllocsPerRun(100, func() {
			if _, err := c.List(ctx, toolshelf.Page{}); err != nil {
				t.Fatal(err)
			}
		})
	}
	without, with := allocations(), allocations(toolshelf.WithObserver(func(context.Context, toolshelf.Event) {}))
	if with > without {
		t.Errorf("%v allocations with an observer, %v without", with, without)
	}
}

func ExampleWithObserver() {
	files := project(map[string]string{"commands/deploy.md": "Deploy to $1.\n"})
	catalog := open(toolshelf.WithFs(files), toolshelf.WithObserver(func(_ context.Context, e toolshelf.Event) {
		fmt.Printf("%s %s %q, %d entries, %d bytes %q\n", e.Action, e.Kind, e.Name, e.Count, e.Bytes, e.Code)
	}))
	defer catalog.Close()
	ctx := context.Background()
	if _, err := catalog.List(ctx, toolshelf.Page{}); err != nil {
		fmt.Println(err)
	}
	if _, err := catalog.Expand(ctx, "/deploy staging"); err != nil {
		fmt.Println(err)
	}
	if _, err := catalog.Get(ctx, "release"); !errors.Is(err, toolshelf.ErrCommandNotFound) {
		fmt.Println(err)
	}
	// Output:
	// listed command "", 1 entries, 0 bytes ""
	// loaded command "deploy", 0 entries, 14 bytes ""
	// rendered command "deploy", 0 entries, 19 bytes ""
	// loaded command "release", 0 entries, 0 bytes "COMMAND_NOT_FOUND"
}

func BenchmarkObserver(b *testing.B) {
	files := map[string]string{}
	for i := range 100 {
		files[fmt.Sprintf("commands/c%d.md", i)] = strings.Repeat("Deploy to staging. ", 100)
	}
	for name, opts := range map[string][]toolshelf.Option{"without": nil, "with": {toolshelf.WithObserver(func(context.Context, toolshelf.Event) {})}} {
		dir := b.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "commands"), 0o755); err != nil {
			b.Fatal(err)
		}
		for file, text := range files {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
				b.Fatal(err)
			}
		}
		c := open(append(opts, toolshelf.WithRoot(dir))...)
		defer c.Close()
		ctx := context.Background()
		for method, call := range map[string]func() error{
			"List":   func() error { _, err := c.List(ctx, toolshelf.Page{}); return err },
			"Get":    func() error { _, err := c.Get(ctx, "c7"); return err },
			"Search": func() error { _, err := c.Search(ctx, "staging", 0); return err },
		} {
			b.Run(method+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := call(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
