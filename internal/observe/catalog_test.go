package observe_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/bridge"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// A recorder is an observer that keeps the events, and a gate that allows the names in allowed.
type recorder struct {
	mu      sync.Mutex
	all     []toolshelf.Event
	allowed sync.Map
}

func (r *recorder) observe(_ context.Context, e toolshelf.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, e)
}

func (r *recorder) Allowed(_ context.Context, i toolshelf.Item) bool {
	_, ok := r.allowed.Load(i)
	return ok
}

// events returns the events since the last call.
func (r *recorder) events() (all []toolshelf.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all, r.all = r.all, nil
	return all
}

// lines returns the events since the last call, each as one line.
func (r *recorder) lines() (lines []string) {
	for _, e := range r.events() {
		parts := []string{e.Action}
		for _, part := range []string{e.Reason, string(e.Kind), e.Name, e.Plugin, e.Layer, e.Path, string(e.Code)} {
			if part != "" {
				parts = append(parts, part)
			}
		}
		if e.Count > 0 {
			parts = append(parts, fmt.Sprint("count=", e.Count))
		}
		if e.Bytes > 0 {
			parts = append(parts, fmt.Sprint("bytes=", e.Bytes))
		}
		if _, sum, ok := strings.Cut(e.Digest, "sha256:"); e.Digest != "" && (!ok || len(sum) != 64) {
			parts = append(parts, "wrong digest "+e.Digest)
		}
		lines = append(lines, strings.Join(parts, " "))
	}
	return lines
}

// files are the files of a project with one entry of each kind.
var files = map[string]string{
	"commands/deploy.md":      "---\ndescription: Deploys.\n---\nDeploy $1.",
	"skills/pdf/SKILL.md":     "---\nname: pdf\ndescription: Reads PDF.\n---\nRun it.",
	"skills/pdf/scripts/x.sh": "echo safe",
	"agents/reviewer.md":      "---\nname: reviewer\ndescription: Reviews.\n---\nReview.",
	"AGENTS.md":               "Use tabs.",
	".cursor/rules/go.mdc":    "---\nalwaysApply: true\n---\nUse gofmt.",
}

func put(t *testing.T, fsys afero.Fs, name, text string) {
	t.Helper()
	must.Do(t, afero.WriteFile(fsys, "/host/p/"+name, []byte(text), 0o644))
}

func catalog(t *testing.T, f func(context.Context, toolshelf.Event), opts ...toolshelf.Option) (afero.Fs, *toolshelf.Catalog) {
	t.Helper()
	fsys := afero.NewMemMapFs()
	for name, text := range files {
		put(t, fsys, name, text)
	}
	c := must.Get(toolshelf.New(append([]toolshelf.Option{toolshelf.WithFs(fsys), toolshelf.WithRoot("/host/p"), toolshelf.WithAgentsDir("agents"), toolshelf.WithObserver(f)}, opts...)...))(t)
	t.Cleanup(func() { c.Close() })
	return fsys, c
}

func TestEachUseOfACatalogHasItsEvents(t *testing.T) {
	r := new(recorder)
	_, c := catalog(t, r.observe)
	ctx := t.Context()
	command, _ := c.Get(ctx, "deploy")
	skill, _ := c.GetSkill(ctx, "pdf")
	b := bridge.Open(c).(bridge.Catalog[toolshelf.SkillInfo, toolshelf.SkillFile])
	r.events()
	for name, test := range map[string]struct {
		call func()
		want []string
	}{
		"List":               {func() { c.List(ctx, toolshelf.Page{}) }, []string{"listed command count=1"}},
		"ListSkills":         {func() { c.ListSkills(ctx) }, []string{"listed skill count=1"}},
		"ListAgents":         {func() { c.ListAgents(ctx) }, []string{"listed agent count=1"}},
		"Plugins":            {func() { c.Plugins(ctx) }, nil},
		"Instructions":       {func() { c.Instructions(ctx, ".") }, []string{"loaded instruction AGENTS.md . bytes=9", "listed instruction . count=1"}},
		"InstructionsPrompt": {func() { c.InstructionsPrompt(ctx, ".") }, []string{"loaded instruction AGENTS.md . bytes=9", "listed instruction . count=1"}},
		"SkillsPrompt":       {func() { c.SkillsPrompt(ctx) }, []string{"listed skill count=1 bytes=122"}},
		"Get":                {func() { c.Get(ctx, "deploy.md") }, []string{"loaded command deploy commands bytes=40"}},
		"GetSkill":           {func() { c.GetSkill(ctx, "pdf") }, []string{"loaded skill pdf skills bytes=49"}},
		"GetAgent":           {func() { c.GetAgent(ctx, "reviewer") }, []string{"loaded agent reviewer agents bytes=52"}},
		"Expand":             {func() { c.Expand(ctx, "/deploy x") }, []string{"loaded command deploy commands bytes=40", "rendered command deploy commands bytes=9"}},
		"Expand of a skill":  {func() { c.Expand(ctx, "/pdf") }, []string{"loaded skill pdf skills bytes=49", "rendered skill pdf skills bytes=7"}},
		"Render":             {func() { command.Render("x") }, []string{"rendered command deploy commands bytes=9"}},
		"Skill.Render":       {func() { skill.Render() }, []string{"rendered skill pdf skills bytes=7"}},
		"ReadSkillFile":      {func() { c.ReadSkillFile(ctx, "pdf", "scripts/x.sh") }, []string{"read skill pdf skills scripts/x.sh bytes=9"}},
		"Skill.FS":           {func() { fs.ReadFile(skill.FS(), "scripts/x.sh") }, []string{"read skill pdf skills scripts/x.sh bytes=9"}},
		"Open":               {func() { skill.FS().Open("scripts/x.sh") }, []string{"read skill pdf skills scripts/x.sh bytes=9"}},
		"ReadDir":            {func() { fs.ReadDir(skill.FS(), "scripts") }, []string{"listed skill pdf skills scripts"}},
		"ReadFile":           {func() { c.ReadFile(ctx, "AGENTS.md") }, []string{"read AGENTS.md bytes=9"}},
		"Grep":               {func() { c.Grep(ctx, ".", "Deploy") }, []string{"searched . count=2"}},
		"ListDir":            {func() { c.ListDir(ctx, "agents") }, []string{"listed agents count=1"}},
		"Search":             {func() { c.Search(ctx, "deploy", 0) }, []string{"searched command count=1"}},
		"SearchSkills":       {func() { c.SearchSkills(ctx, "pdf", 0) }, []string{"searched skill count=1"}},
		"All": {func() {
			for range c.All(ctx) {
			}
		}, []string{"listed command count=1"}},
		"Commands": {func() {
			for range c.Commands(ctx) {
			}
		}, []string{"listed command count=1", "loaded command deploy commands bytes=40"}},
		"Skills": {func() {
			for range c.Skills(ctx) {
				break
			}
		}, []string{"listed skill count=1", "loaded skill pdf skills bytes=49"}},
		"Agents": {func() {
			for range c.Agents(ctx) {
			}
		}, []string{"listed agent count=1", "loaded agent reviewer agents bytes=52"}},
		"a list of prompts":           {func() { b.ListUsage(ctx, 0, "", nil) }, []string{"listed command count=1", "listed skill count=1"}},
		"a prompt":                    {func() { b.Invoked(ctx, "deploy") }, []string{"loaded command deploy commands bytes=40"}},
		"an unknown name":             {func() { c.Get(ctx, "none") }, []string{"loaded command none COMMAND_NOT_FOUND"}},
		"an invalid name":             {func() { c.GetSkill(ctx, "../x") }, []string{"loaded skill ../x INVALID_SKILL_NAME"}},
		"an invalid command":          {func() { c.Get(ctx, "../x") }, []string{"loaded command ../x INVALID_COMMAND_NAME"}},
		"an unknown line":             {func() { c.Expand(ctx, "/none at all") }, []string{"loaded command none COMMAND_NOT_FOUND"}},
		"a path outside":              {func() { c.ReadFile(ctx, "../x") }, []string{"refused link ../x OUTSIDE_ROOT"}},
		"a list outside":              {func() { c.ListDir(ctx, "../x") }, []string{"refused link ../x OUTSIDE_ROOT"}},
		"instructions outside":        {func() { c.Instructions(ctx, "../x") }, []string{"refused link instruction ../x OUTSIDE_ROOT"}},
		"a path outside of the skill": {func() { c.ReadSkillFile(ctx, "pdf", "../x") }, []string{"refused link skill pdf skills ../x OUTSIDE_ROOT"}},
		"an invalid argument":         {func() { c.Search(ctx, "", 0) }, nil},
		"metadata":                    {func() { c.CompleteName(ctx, "d", 0) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			test.call()
			must.Match(t, "result", test.want, r.lines())
		})
	}
}

func TestAnExpansionThatCannotBeReadHasTheEventOfTheSkill(t *testing.T) {
	r := new(recorder)
	fsys, c := catalog(t, r.observe, toolshelf.WithMaxFileSize(100))
	put(t, fsys, "skills/large/SKILL.md", strings.Repeat("x", 101))
	c.Expand(t.Context(), "/large")
	must.Match(t, "result", []string{"loaded skill large skills FILE_TOO_LARGE"}, r.lines())
}

// slow is a filesystem on which each open lasts longer than a tick of the clock, which is half a
// millisecond and more on Windows.
type slow struct{ afero.Fs }

func (s slow) Open(name string) (afero.File, error) {
	for start := time.Now(); time.Since(start) <= 0; {
		runtime.Gosched()
	}
	return s.Fs.Open(name)
}

func TestADurationIsOfTheCall(t *testing.T) {
	r := new(recorder)
	fsys := afero.NewMemMapFs()
	for name, text := range files {
		put(t, fsys, name, text)
	}
	_, c := catalog(t, r.observe, toolshelf.WithFs(slow{fsys}))
	must.Get(c.GetSkill(t.Context(), "pdf"))(t)
	if got := r.events(); len(got) != 1 || got[0].Duration <= 0 {
		t.Errorf("got %+v", got)
	}
}

func sum(text string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))) }

func TestADigestIsOfTheReturnedFile(t *testing.T) {
	r := new(recorder)
	_, c := catalog(t, r.observe)
	ctx := t.Context()
	calls := map[string]func() error{
		"commands/deploy.md":      func() error { _, err := c.Expand(ctx, "/deploy"); return err },
		"skills/pdf/SKILL.md":     func() error { _, err := c.GetSkill(ctx, "pdf"); return err },
		"skills/pdf/scripts/x.sh": func() error { _, err := c.ReadSkillFile(ctx, "pdf", "scripts/x.sh"); return err },
		"agents/reviewer.md":      func() error { _, err := c.GetAgent(ctx, "reviewer"); return err },
		"AGENTS.md":               func() error { _, err := c.Instructions(ctx, "."); return err },
	}
	for _, state := range []string{"new", "cached"} {
		for file, call := range calls {
			must.Do(t, call())
			for _, e := range r.events() {
				if want := sum(files[file]); e.Action != toolshelf.EventListed && e.Digest != want {
					t.Errorf("%s, %s: the event is %+v, want the digest %s", file, state, e, want)
				}
			}
		}
		for range c.Commands(ctx) {
		}
		for range c.Skills(ctx) {
		}
		for range c.Agents(ctx) {
		}
		var digests []string
		for _, e := range r.events() {
			if e.Action == toolshelf.EventLoaded {
				digests = append(digests, e.Digest)
			}
		}
		if diff := cmp.Diff([]string{sum(files["commands/deploy.md"]), sum(files["skills/pdf/SKILL.md"]), sum(files["agents/reviewer.md"])}, digests); diff != "" {
			t.Error(state, diff)
		}
	}
}

func TestARefusedNameHasItsReason(t *testing.T) {
	for _, reason := range []string{"filter", "gate"} {
		r := new(recorder)
		option := toolshelf.WithGate(r)
		if reason == "filter" {
			option = toolshelf.Filter(toolshelf.WithSkillFilter(func(toolshelf.SkillInfo) bool { return false }))
		}
		_, c := catalog(t, r.observe, option)
		c.GetSkill(t.Context(), "pdf")
		c.ReadSkillFile(t.Context(), "pdf", "SKILL.md")
		c.Expand(t.Context(), "/pdf")
		all := r.events()
		r.all = slices.Clone(all)
		must.Match(t, "result", []string{"refused " + reason + " skill pdf skills SKILL_NOT_FOUND",
			"refused " + reason + " skill pdf skills SKILL.md SKILL_NOT_FOUND",
			"refused " + reason + " skill pdf skills COMMAND_NOT_FOUND"}, r.lines())
		for _, e := range all {
			if (e.Digest != "") != (reason == "gate") {
				t.Errorf("%s: the digest is %q", reason, e.Digest)
			}
		}
	}
}

func TestARefusedInstructionHasItsReason(t *testing.T) {
	for _, reason := range []string{"filter", "gate"} {
		r := new(recorder)
		option := toolshelf.WithGate(r)
		if reason == "filter" {
			option = toolshelf.Filter(toolshelf.WithInstructionFilter(func(toolshelf.Instruction) bool { return false }))
		}
		_, c := catalog(t, r.observe, option)
		c.InstructionsPrompt(t.Context(), ".")
		want := []string{"refused " + reason + " instruction AGENTS.md .", "listed instruction ."}
		must.Match(t, "result", want, r.lines())
	}
}

func TestALinkThatLeadsOutsideHasItsReason(t *testing.T) {
	for _, gated := range []bool{false, true} {
		root, r := catalogtest.Disk(t, map[string]string{"out/a.md": "Out.", "p/commands/in.md": "In.", "p/skills/s/x": ""}), new(recorder)
		for _, name := range []string{"p/commands/deploy.md", "p/skills/s/SKILL.md", "p/AGENTS.md"} {
			if err := os.Symlink(filepath.Join(root, "out", "a.md"), filepath.Join(root, name)); err != nil {
				t.Skip(err)
			}
		}
		opts := []toolshelf.Option{toolshelf.WithRoot(filepath.Join(root, "p")), toolshelf.WithObserver(r.observe)}
		codes := []string{"FILE_READ_ERROR", "FILE_READ_ERROR", " FILE_READ_ERROR"}
		if gated {
			opts, codes = append(opts, toolshelf.WithGate(r)), []string{"COMMAND_NOT_FOUND", "SKILL_NOT_FOUND", ""}
		}
		c := catalogtest.Open(t, opts...)
		c.Get(t.Context(), "deploy")
		c.GetSkill(t.Context(), "s")
		c.Instructions(t.Context(), ".")
		lines := r.lines()
		want := []string{"refused link command deploy commands " + codes[0], "refused link skill s skills " + codes[1], "refused link instruction AGENTS.md ." + codes[2]}
		must.Match(t, gated, want, lines[:3])
	}
}

func TestAnInstructionThatCannotBeReadHasTheCodeOfItsError(t *testing.T) {
	fsys := afero.NewMemMapFs()
	put(t, fsys, "AGENTS.md", "Use tabs.")
	for code, option := range map[toolshelf.Code]toolshelf.Option{toolshelf.CodeFileTooLarge: toolshelf.WithMaxFileSize(4), toolshelf.CodeFileRead: toolshelf.WithFs(unreadable{fsys})} {
		r := new(recorder)
		c := catalogtest.Open(t, toolshelf.WithFs(fsys), toolshelf.WithRoot("/host/p"), toolshelf.WithObserver(r.observe), option)
		all, err := c.Instructions(t.Context(), ".")
		want := []string{"loaded instruction AGENTS.md . " + string(code), "listed instruction . count=1"}
		if diff := cmp.Diff(want, r.lines()); diff != "" || err != nil || len(all) != 1 {
			t.Errorf("%v, %v: %s", all, err, diff)
		}
	}
}

// An unreadable filesystem opens no AGENTS.md.
type unreadable struct{ afero.Fs }

func (u unreadable) Open(name string) (afero.File, error) {
	if filepath.Base(name) == "AGENTS.md" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return u.Fs.Open(name)
}

func TestAnAllowedEntryHasTheDigestOfItsItem(t *testing.T) {
	r := new(recorder)
	_, c := catalog(t, r.observe, toolshelf.WithGate(r))
	ctx := t.Context()
	pending := must.Get(c.Pending(ctx))(t)
	want := map[toolshelf.Kind]string{}
	for _, p := range pending {
		r.allowed.Store(p.Item, true)
		want[p.Kind] = p.Digest
	}
	r.events()
	c.Get(ctx, "deploy")
	c.GetSkill(ctx, "pdf")
	c.GetAgent(ctx, "reviewer")
	c.Instructions(ctx, ".")
	for range c.Skills(ctx) {
	}
	for _, e := range r.events() {
		if e.Action == toolshelf.EventLoaded && e.Digest != want[e.Kind] || e.Code != "" {
			t.Errorf("the event is %+v, want the digest %s", e, want[e.Kind])
		}
	}
	c.ReadSkillFile(ctx, "pdf", "scripts/x.sh")
	must.Equal(t, "the digest of a file", sum("echo safe"), r.events()[0].Digest)
}

func TestTheChangesOfAScanPrecedeTheEventOfTheCall(t *testing.T) {
	r := new(recorder)
	fsys, c := catalog(t, r.observe)
	c.List(t.Context(), toolshelf.Page{})
	r.events()
	put(t, fsys, "commands/new.md", "New.")
	c.List(t.Context(), toolshelf.Page{})
	must.Match(t, "result", []string{"changed command new commands", "listed command count=2"}, r.lines())
	must.Do(t, fsys.Remove("/host/p/commands/new.md"))
	c.List(t.Context(), toolshelf.Page{})
	must.Match(t, "result", []string{"changed command new commands", "listed command count=1"}, r.lines())
}

func TestTheNumberOfChangesIsBounded(t *testing.T) {
	r := new(recorder)
	fsys, c := catalog(t, r.observe)
	c.List(t.Context(), toolshelf.Page{})
	for i := range 300 {
		put(t, fsys, fmt.Sprintf("commands/n%d.md", i), "New.")
	}
	r.events()
	c.List(t.Context(), toolshelf.Page{})
	if lines := r.lines(); len(lines) != 258 || lines[256] != "changed count=44" {
		t.Errorf("%d events, and the event after the names is %q", len(lines), lines[min(256, len(lines)-1)])
	}
}

func TestAnObserverMayCallTheCatalog(t *testing.T) {
	var c *toolshelf.Catalog
	var events []string
	inside := false
	_, c = catalog(t, func(ctx context.Context, e toolshelf.Event) {
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
	must.Match(t, "result", []string{"read", "listed", "loaded", "searched"}, events)
}

func TestAPanicOfTheObserverEndsNothing(t *testing.T) {
	var log bytes.Buffer
	_, c := catalog(t, func(context.Context, toolshelf.Event) { panic("broken") }, toolshelf.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	if _, err := c.Get(t.Context(), "deploy"); err != nil {
		t.Error(err)
	}
	must.Contain(t, "the log", log.String(), "panic: broken")
}

func TestAMethodThatPanicsHasNoEvent(t *testing.T) {
	r := new(recorder)
	_, c := catalog(t, r.observe, toolshelf.Filter(toolshelf.WithSkillFilter(func(toolshelf.SkillInfo) bool { panic("filter") })))
	func() {
		defer func() { recover() }()
		c.ListSkills(t.Context())
	}()
	if lines := r.lines(); lines != nil {
		t.Errorf("the events are %q", lines)
	}
}

func TestTheObserverGetsTheContextOfTheCaller(t *testing.T) {
	type key struct{}
	var got []any
	_, c := catalog(t, func(ctx context.Context, _ toolshelf.Event) { got = append(got, ctx.Value(key{})) })
	ctx := context.WithValue(t.Context(), key{}, "span")
	c.Expand(ctx, "/deploy")
	must.Match(t, "result", []any{"span", "span"}, got)
}

func TestAViewHasTheObserverOfTheCatalog(t *testing.T) {
	r := new(recorder)
	_, c := catalog(t, r.observe)
	view := must.Get(c.View(toolshelf.WithSkillFilter(func(toolshelf.SkillInfo) bool { return false })))(t)
	view.GetSkill(t.Context(), "pdf")
	must.Match(t, "result", []string{"refused filter skill pdf skills SKILL_NOT_FOUND"}, r.lines())
}

func TestAnEventHasNoPathOfTheHostAndNoText(t *testing.T) {
	r := new(recorder)
	fsys, c := catalog(t, r.observe, toolshelf.WithGate(r, "commands"), toolshelf.WithCommandsFS("store", fstest.MapFS{"x.md": {Data: []byte("SECRET")}}))
	ctx := t.Context()
	put(t, fsys, "skills/pdf/secret.txt", "SECRET")
	put(t, fsys, "commands/secret.md", "SECRET")
	c.List(ctx, toolshelf.Page{})
	put(t, fsys, "commands/secret.md", "SECRET again")
	c.Get(ctx, "secret")
	c.Get(ctx, "x")
	c.GetSkill(ctx, "pdf")
	c.GetAgent(ctx, "none")
	c.ReadSkillFile(ctx, "pdf", "secret.txt")
	c.ReadFile(ctx, "skills/pdf/secret.txt")
	c.Instructions(ctx, ".")
	c.Search(ctx, "SECRET", 0)
	for _, e := range r.events() {
		text := fmt.Sprintf("%+v", e)
		must.NotContain(t, "the event", text, filepath.FromSlash("/host"), "SECRET")
	}
}

func TestWithObserverRejectsAnUnusableFunction(t *testing.T) {
	f := toolshelf.WithObserver(func(context.Context, toolshelf.Event) {})
	for name, opts := range map[string][]toolshelf.Option{"nil": {toolshelf.WithObserver(nil)}, "two": {f, f}} {
		must.Fail(toolshelf.New(opts...))(t, name, toolshelf.ErrInvalidOption)
	}
}

func TestAnObserverThatDoesNothingAllocatesNothingFurther(t *testing.T) {
	if testing.Short() {
		t.Skip("counts allocations without -short, because the race detector empties pools")
	}
	later := time.Now().Add(time.Hour)
	synctest.Test(t, func(t *testing.T) {
		calls := func(opts ...toolshelf.Option) map[string]func() error {
			_, c := catalogOnDisk(t, opts...)
			ctx := context.Background()
			command := must.Get(c.Get(ctx, "deploy"))(t)
			return map[string]func() error{
				"List":         func() error { _, err := c.List(ctx, toolshelf.Page{}); return err },
				"ListSkills":   func() error { _, err := c.ListSkills(ctx); return err },
				"Get":          func() error { _, err := c.Get(ctx, "deploy"); return err },
				"GetSkill":     func() error { _, err := c.GetSkill(ctx, "pdf"); return err },
				"GetAgent":     func() error { _, err := c.GetAgent(ctx, "reviewer"); return err },
				"Expand":       func() error { _, err := c.Expand(ctx, "/deploy x"); return err },
				"Render":       func() error { _, err := command.Render("x"); return err },
				"Search":       func() error { _, err := c.Search(ctx, "deploy", 0); return err },
				"SkillsPrompt": func() error { _, err := c.SkillsPrompt(ctx); return err },
				"ReadFile":     func() error { _, err := c.ReadFile(ctx, "AGENTS.md"); return err },
				"Grep":         func() error { _, err := c.Grep(ctx, "agents", "Review"); return err },
				"ListDir":      func() error { _, err := c.ListDir(ctx, "agents"); return err },
				"Instructions": func() error { _, err := c.Instructions(ctx, "."); return err },
			}
		}
		without, with := calls(), calls(toolshelf.WithObserver(func(context.Context, toolshelf.Event) {}))
		// In the bubble, the clock begins before the files were written. The caches keep the files
		// an hour later.
		time.Sleep(time.Until(later))
		for name := range without {
			// The least of single calls: a collection empties pools, and maps differ in size with
			// their seed.
			count := func(call func() error) float64 {
				least := math.Inf(1)
				for range 50 {
					least = min(least, testing.AllocsPerRun(1, func() {
						must.Do(t, call())
					}))
				}
				return least
			}
			if a, b := count(without[name]), count(with[name]); b > a {
				t.Errorf("%s: %v allocations with an observer, %v without", name, b, a)
			}
		}
	})
}

// catalogOnDisk returns a catalog of the files on the disk, and their directory.
func catalogOnDisk(t testing.TB, opts ...toolshelf.Option) (string, *toolshelf.Catalog) {
	t.Helper()
	dir := t.TempDir()
	disk := afero.NewBasePathFs(afero.NewOsFs(), dir)
	for name, text := range files {
		must.Do(t, disk.MkdirAll(filepath.Dir(name), 0o755))
		must.Do(t, afero.WriteFile(disk, name, []byte(text), 0o644))
	}
	c := must.Get(toolshelf.New(append(opts, toolshelf.WithRoot(dir), toolshelf.WithAgentsDir("agents"))...))(t)
	t.Cleanup(func() { c.Close() })
	return dir, c
}
