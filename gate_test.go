package toolshelf_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// approvals is a gate that allows the given items.
type approvals struct{ items sync.Map }

func (a *approvals) Allowed(_ context.Context, i toolshelf.Item) bool {
	_, ok := a.items.Load(i)
	return ok
}

// approve allows all pending entries, and returns their names.
func (a *approvals) approve(t *testing.T, c *toolshelf.Catalog) (names []string) {
	t.Helper()
	for _, p := range must.Get(c.Pending(t.Context()))(t) {
		a.items.Store(p.Item, true)
		names = append(names, string(p.Kind)+" "+p.Name)
	}
	return names
}

// gatedFiles are the files of a project with one entry of each kind.
var gatedFiles = map[string]string{
	"/p/commands/deploy.md":      "---\ndescription: Deploys.\n---\nDeploy $1.",
	"/p/skills/pdf/SKILL.md":     "---\nname: pdf\ndescription: Reads PDF.\n---\nRun scripts/run.sh.",
	"/p/skills/pdf/scripts/x.sh": "echo safe",
	"/p/agents/reviewer.md":      "---\nname: reviewer\ndescription: Reviews.\n---\nReview.",
}

func gatedCatalog(t *testing.T, files map[string]string, opts ...toolshelf.Option) (afero.Fs, *toolshelf.Catalog, *approvals) {
	t.Helper()
	fsys, g := afero.NewMemMapFs(), new(approvals)
	for name, text := range files {
		putFile(t, fsys, name, text)
	}
	c := must.Get(toolshelf.New(append([]toolshelf.Option{toolshelf.WithFs(fsys), toolshelf.WithRoot("/p"), toolshelf.WithAgentsDir("agents"), toolshelf.WithGate(g)}, opts...)...))(t)
	t.Cleanup(func() { c.Close() })
	return fsys, c, g
}

// visible returns the names and the texts that a catalog shows in each way.
func visible(t *testing.T, c *toolshelf.Catalog) string {
	t.Helper()
	ctx, all := t.Context(), new(strings.Builder)
	add := func(parts ...string) { all.WriteString(strings.Join(parts, " ") + "\n") }
	for _, row := range must.Get(c.List(ctx, toolshelf.Page{}))(t).Commands {
		add("list", row.Name, row.Description)
	}
	for row, err := range c.Commands(ctx) {
		add("commands", row.Name, row.Content, errorText(err))
	}
	for _, row := range must.Get(c.ListSkills(ctx))(t) {
		add("skills", row.Name, row.Description)
	}
	for row, err := range c.Skills(ctx) {
		add("all skills", row.Name, row.Content, errorText(err))
	}
	for _, row := range must.Get(c.ListAgents(ctx))(t) {
		add("agents", row.Name, row.Description)
	}
	if command, err := c.Get(ctx, "deploy"); err == nil {
		add("get", command.Content)
	} else if !errors.Is(err, toolshelf.ErrCommandNotFound) {
		t.Error(err)
	}
	if skill, err := c.GetSkill(ctx, "pdf"); err == nil {
		add("skill", skill.Content)
		script, err := fs.ReadFile(skill.FS(), "scripts/x.sh")
		add("file", string(script), errorText(err))
	} else if !errors.Is(err, toolshelf.ErrSkillNotFound) {
		t.Error(err)
	}
	if script, err := c.ReadSkillFile(ctx, "pdf", "scripts/x.sh"); err == nil {
		add("script", string(script))
	}
	if agent, err := c.GetAgent(ctx, "reviewer"); err == nil {
		add("agent", agent.Content)
	}
	for _, search := range []func(context.Context, string, int, ...toolshelf.SearchOption) (toolshelf.SearchResults, error){c.Search, c.SearchSkills} {
		for _, hit := range must.Get(search(ctx, "deploy pdf scripts", 0))(t).Results {
			add("found", hit.Name, hit.Description)
		}
	}
	for _, name := range must.Get(c.CompleteName(ctx, "", 10))(t) {
		add("complete", name.Name)
	}
	for _, prompt := range []func(context.Context, ...toolshelf.PromptOption) (toolshelf.PromptList, error){c.CommandsPrompt, c.SkillsPrompt, c.AgentsPrompt} {
		for _, name := range must.Get(prompt(ctx))(t).Included {
			add("prompt", name)
		}
	}
	return all.String()
}

func putFile(t *testing.T, fsys afero.Fs, name, text string) {
	t.Helper()
	must.Do(t, afero.WriteFile(fsys, name, []byte(text), 0o644))
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestARefusedEntryIsNowhere(t *testing.T) {
	_, c, g := gatedCatalog(t, gatedFiles)
	must.Equal(t, "before the approval", "", visible(t, c))
	must.Match(t, "pending", []string{"command deploy", "skill pdf", "agent reviewer"},
		g.approve(t, c))
	got := visible(t, c)
	for _, want := range []string{"list deploy Deploys.", "commands deploy Deploy $1.", "skills pdf", "all skills pdf Run", "agents reviewer", "get Deploy $1.", "skill Run scripts/run.sh.",
		"file echo safe", "script echo safe", "agent Review.", "found deploy", "found pdf", "complete deploy", "complete pdf", "prompt deploy", "prompt pdf", "prompt reviewer"} {
		must.Contain(t, "got", got, want)
	}
	must.Len(t, "pending after the approval", 0, g.approve(t, c))
}

func TestAChangedFileNeedsAnotherApproval(t *testing.T) {
	for _, tt := range []struct{ file, pending, hidden string }{
		{"/p/commands/deploy.md", "command deploy", "deploy"},
		{"/p/skills/pdf/SKILL.md", "skill pdf", "pdf"},
		{"/p/skills/pdf/scripts/x.sh", "skill pdf", "pdf"},
		{"/p/skills/pdf/scripts/new.sh", "skill pdf", "pdf"},
		{"/p/agents/reviewer.md", "agent reviewer", "reviewer"},
	} {
		t.Run(tt.file, func(t *testing.T) {
			fsys, c, g := gatedCatalog(t, gatedFiles)
			g.approve(t, c)
			visible(t, c) // every cache has the approved texts
			putFile(t, fsys, tt.file, "curl evil.example")
			got := visible(t, c)
			must.NotContain(t, "visible", got, "evil", tt.hidden+" ")
			must.Match(t, "pending", []string{tt.pending}, g.approve(t, c))
			putFile(t, fsys, tt.file, gatedFiles[tt.file])
			if gatedFiles[tt.file] == "" {
				return
			}
			must.Contain(t, "visible", visible(t, c), tt.hidden)
		})
	}
}

// A scan compares the beginning and the time of a long file, and the digest of the whole file.
func TestAChangeAfterTheBeginningOfAFileNeedsAnotherApproval(t *testing.T) {
	text := func(end string) string {
		return "---\ndescription: Deploys.\n---\n" + strings.Repeat("Deploy. ", 4096) + end
	}
	fsys, c, g := gatedCatalog(t, map[string]string{"/p/commands/deploy.md": text("good")})
	info := must.Get(fsys.Stat("/p/commands/deploy.md"))(t)
	g.approve(t, c)
	list := must.Get(c.List(t.Context(), toolshelf.Page{}))(t)
	must.Len(t, "list.Commands", 1, list.Commands)
	putFile(t, fsys, "/p/commands/deploy.md", text("evil"))
	must.Do(t, fsys.Chtimes("/p/commands/deploy.md", info.ModTime(), info.ModTime()))
	list = must.Get(c.List(t.Context(), toolshelf.Page{}))(t)
	pending := must.Get(c.Pending(t.Context()))(t)
	must.Len(t, "list.Commands", 0, list.Commands)
	must.Len(t, "pending", 1, pending)
}

// A directory that cannot be read can have more files than Pending counts.
func TestTheNumberOfUncoveredFilesIsAtLeastTheReadableFiles(t *testing.T) {
	files := map[string]string{"/p/skills/s/SKILL.md": "---\nname: s\ndescription: S.\n---\n"}
	for _, name := range []string{"a/1.js", "c/2.js"} {
		files["/p/skills/s/node_modules/"+name] = "x"
	}
	for unreadable, want := range map[string]string{"": " 2 files", "a": " 1 or more files", "c": " 1 or more files"} {
		fsys := catalogtest.Faulty{Fs: memoryOf(t, files), Opens: map[string]error{unreadable: fs.ErrPermission}}
		c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithRoot("/p"), toolshelf.WithGate(new(approvals)))
		pending := must.Get(c.Pending(t.Context()))(t)
		found := fmt.Sprint(pending[0].Findings)
		must.Len(t, unreadable, 1, pending)
		must.Contain(t, unreadable, found, want)
	}
}

// No list runs between the change and the call, so the call itself has to compare the script.
func TestACallByNameSeesAChangedScriptOfASkill(t *testing.T) {
	for name, call := range map[string]func(*toolshelf.Catalog) error{
		"GetSkill": func(c *toolshelf.Catalog) error { _, err := c.GetSkill(t.Context(), "pdf"); return err },
		"Expand":   func(c *toolshelf.Catalog) error { _, err := c.Expand(t.Context(), "/pdf"); return err },
		"Skills": func(c *toolshelf.Catalog) error {
			for range c.Skills(t.Context()) {
				return nil
			}
			return toolshelf.ErrSkillNotFound
		},
	} {
		t.Run(name, func(t *testing.T) {
			root, g := t.TempDir(), new(approvals)
			script := filepath.Join(root, "skills", "pdf", "scripts", "x.sh")
			put := func(file, text string) {
				must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)))
			}
			put(filepath.Join(root, "skills", "pdf", "SKILL.md"), skillFile("pdf"))
			put(script, "echo safe")
			c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithGate(g))
			g.approve(t, c)
			must.Do(t, call(c))
			put(script, "echo evil") // of the same size, in place
			if err := call(c); !errors.Is(err, toolshelf.ErrSkillNotFound) && !errors.Is(err, toolshelf.ErrCommandNotFound) {
				t.Errorf("after a change of the script: %v", err)
			}
			put(script, "echo safe")
			must.Do(t, call(c))
		})
	}
}

func TestPendingHasTheTextsOfAllFiles(t *testing.T) {
	files := maps.Clone(gatedFiles)
	files["/p/skills/pdf/image.png"] = "\xff\xfe"
	_, c, _ := gatedCatalog(t, files)
	for _, p := range must.Get(c.Pending(t.Context()))(t) {
		if p.Kind != toolshelf.KindSkill {
			continue
		}
		want := map[string]string{"SKILL.md": files["/p/skills/pdf/SKILL.md"], "scripts/x.sh": "echo safe",
			"image.png": "sha256:b31edb7bf4c60e90d9a1c56d4e8e7ca1fb8e9f83d9dde4bf8b7c3e6ac4f2d6f2"}
		got := maps.Clone(p.New)
		if !strings.HasPrefix(got["image.png"], "sha256:") || len(got["image.png"]) != len(want["image.png"]) {
			t.Errorf("the text of a binary file is %q", got["image.png"])
		}
		got["image.png"] = want["image.png"]
		if !maps.Equal(got, want) || len(p.Old) != 0 || p.Layer != "/p/skills" || p.Path != "/p/skills/pdf/SKILL.md" {
			t.Errorf("got %+v", p)
		}
		return
	}
	t.Error("the skill is not pending")
}

func TestPendingIgnoresMissingDirectories(t *testing.T) {
	_, c, g := gatedCatalog(t, map[string]string{"/p/commands/a.md": "A."})
	must.Match(t, "pending without the directory of agents", []string{"command a"}, g.approve(t, c))
}

// A replacer replaces a file by a directory before the answer about an item.
type replacer struct {
	name string
	file string
}

func (r *replacer) Allowed(_ context.Context, i toolshelf.Item) bool {
	if i.Name == r.name && os.Remove(r.file) == nil {
		_ = os.Mkdir(r.file, 0o755)
	}
	return false
}

func TestPendingOmitsAFileThatIsReplacedDuringTheCall(t *testing.T) {
	root := t.TempDir()
	must.Do(t, os.Mkdir(filepath.Join(root, "commands"), 0o755))
	for _, name := range []string{"a.md", "b.md"} {
		putFile(t, afero.NewOsFs(), filepath.Join(root, "commands", name), "Text.")
	}
	c := must.Get(toolshelf.New(toolshelf.WithRoot(root), toolshelf.WithGate(&replacer{name: "a", file: filepath.Join(root, "commands", "a.md")})))(t)
	t.Cleanup(func() { c.Close() })
	if pending, err := c.Pending(t.Context()); err != nil || len(pending) != 1 || pending[0].Name != "b" {
		t.Errorf("pending: %+v, %v", pending, err)
	}
}

func TestAFileBesideTheDigestOfASkillDoesNotExist(t *testing.T) {
	fsys, c, g := gatedCatalog(t, gatedFiles)
	putFile(t, fsys, "/p/skills/pdf/.git/config", "secret")
	g.approve(t, c)
	skill := must.Get(c.GetSkill(t.Context(), "pdf"))(t)
	for name, read := range map[string]func() error{
		"ReadSkillFile": func() error { _, err := c.ReadSkillFile(t.Context(), "pdf", ".git/config"); return err },
		"ReadFile":      func() error { _, err := fs.ReadFile(skill.FS(), ".git/config"); return err },
		"Open":          func() error { _, err := skill.FS().Open(".git/config"); return err },
		"Stat":          func() error { _, err := fs.Stat(skill.FS(), ".git/config"); return err },
		"ReadDir":       func() error { _, err := fs.ReadDir(skill.FS(), ".git"); return err },
	} {
		must.Is(t, name, toolshelf.ErrNotFound, read())
	}
}

func TestWithGateRefusesAnUnknownLayer(t *testing.T) {
	for _, tt := range []struct {
		name string
		opts []toolshelf.Option
	}{
		{"unknown layer", []toolshelf.Option{toolshelf.WithGate(new(approvals), "comands")}},
		{"nil gate", []toolshelf.Option{toolshelf.WithGate(nil)}},
		{"two gates", []toolshelf.Option{toolshelf.WithGate(new(approvals)), toolshelf.WithGate(new(approvals))}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			must.Fail(toolshelf.New(tt.opts...))(t, "error", toolshelf.ErrInvalidOption)
		})
	}
}

func TestOnlyTheNamedLayersHaveAGate(t *testing.T) {
	_, c, _ := gatedCatalog(t, gatedFiles)
	c.Close()
	fsys := afero.NewMemMapFs()
	for name, text := range gatedFiles {
		putFile(t, fsys, name, text)
	}
	c = must.Get(toolshelf.New(toolshelf.WithFs(fsys), toolshelf.WithRoot("/p"), toolshelf.WithAgentsDir("agents"), toolshelf.WithGate(new(approvals), "skills")))(t)
	defer c.Close()
	if got := visible(t, c); strings.Contains(got, "pdf") || !strings.Contains(got, "list deploy") || !strings.Contains(got, "agents reviewer") {
		t.Errorf("got:\n%s", got)
	}
}

// A program exchanges two states of a skill, of which one is approved, while readers use every way
// to the content.
func TestNoUnapprovedByteOfAnExchangedSkillIsRead(t *testing.T) {
	exchanges := catalogtest.Rounds(10_000, 100_000)
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		full := filepath.Join(dir, name)
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o644)))
	}
	for _, state := range []string{"good", "evil"} {
		write(state+"/SKILL.md", "---\nname: s\ndescription: A "+state+" skill.\n---\nDo "+state+" work.")
		write(state+"/run.sh", "echo "+state)
	}
	write("commands/c.md", "A good command.")
	move := func(from, to string) {
		must.Do(t, os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)))
	}
	must.Do(t, os.Mkdir(filepath.Join(dir, "skills"), 0o755))
	move("good", "skills/s")
	g := new(approvals)
	c := must.Get(toolshelf.New(toolshelf.WithRoot(dir), toolshelf.WithGate(g)))(t)
	defer c.Close()
	g.approve(t, c)

	ctx, stop := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	wait.Go(func() {
		defer stop()
		for i := range exchanges {
			switch i % 4 {
			case 0:
				move("skills/s", "good")
				move("evil", "skills/s")
			case 1:
				move("skills/s", "evil")
				move("good", "skills/s")
			case 2: // in place, without another directory
				_ = os.WriteFile(filepath.Join(dir, "skills/s/run.sh"), []byte("echo evil"), 0o644)
				_ = os.WriteFile(filepath.Join(dir, "commands/c.md"), []byte("An evil command."), 0o644)
			case 3:
				_ = os.WriteFile(filepath.Join(dir, "skills/s/run.sh"), []byte("echo good"), 0o644)
				_ = os.WriteFile(filepath.Join(dir, "commands/c.md"), []byte("A good command."), 0o644)
			}
		}
	})
	var read [13]atomic.Int64
	use := func(way int, text string) {
		if strings.Contains(text, "evil") {
			t.Errorf("way %d: got %q", way, text)
			stop()
		}
		if text != "" {
			read[way].Add(1)
		}
	}
	reader := func() {
		for ctx.Err() == nil {
			if list, err := c.ListSkills(ctx); err == nil && len(list) > 0 {
				use(0, list[0].Description)
			}
			if s, err := c.GetSkill(ctx, "s"); err == nil {
				use(1, s.Content+s.Description+string(s.Raw))
				if script, err := fs.ReadFile(s.FS(), "run.sh"); err == nil {
					use(2, string(script))
				}
			}
			if script, err := c.ReadSkillFile(ctx, "s", "run.sh"); err == nil {
				use(3, string(script))
			}
			for s, err := range c.Skills(ctx) {
				if err == nil {
					use(4, s.Content+s.Description)
				}
			}
			if p, err := c.SkillsPrompt(ctx); err == nil {
				use(5, p.Text)
			}
			if e, err := c.Expand(ctx, "/s"); err == nil {
				use(6, e.Text)
			}
			if command, err := c.Get(ctx, "c"); err == nil {
				text, _ := command.Render()
				use(7, command.Content)
				use(8, text)
			}
			if list, err := c.List(ctx, toolshelf.Page{}); err == nil && len(list.Commands) > 0 {
				use(9, list.Commands[0].Description)
			}
			for command, err := range c.Commands(ctx) {
				if err == nil {
					use(10, command.Content)
				}
			}
			if p, err := c.CommandsPrompt(ctx); err == nil {
				use(11, p.Text)
			}
			if found, err := c.SearchSkills(ctx, "work", 1); err == nil && len(found.Results) > 0 {
				use(12, fmt.Sprint(found.Results[0]))
			}
		}
	}
	for range 2 {
		wait.Go(reader)
	}
	wait.Wait()
	for way := range read {
		if read[way].Load() == 0 && !testing.Short() {
			t.Errorf("way %d has never returned the approved text", way)
		}
	}
}

func TestTheNameOfAPlaceConcernsTheDirectoriesAboveTheRoot(t *testing.T) {
	fsys, g := memoryOf(t, map[string]string{"/repo/.claude/skills/up/SKILL.md": skillFile("up"), "/repo/.claude/commands/up.md": "Up.", "/repo/.claude/agents/up.md": "---\nname: up\ndescription: Up.\n---\nUp.",
		"/repo/app/main.go": "package main"}), new(approvals)
	c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithRoot("/repo/app"), toolshelf.WithClient(client.Claude()), toolshelf.WithParents("/repo"),
		toolshelf.WithGate(g, ".claude/skills", ".claude/commands", ".claude/agents"))
	must.Len(t, "before the approval", 0, pluginRows(t, c))
	must.Match(t, "pending", []string{"command up", "skill up", "agent up"}, g.approve(t, c))
	must.Len(t, "after the approval", 3, pluginRows(t, c))
}

// A gate decides by the content: the changed command is refused until the next approval.
func ExampleWithGate() {
	files := project(map[string]string{"commands/deploy.md": "Deploy to staging.\n"})
	gate := new(approvals)
	catalog := open(toolshelf.WithFs(files), toolshelf.WithGate(gate))
	defer catalog.Close()
	ctx := context.Background()
	review := func() { // asks the user, and here allows everything
		pending, err := catalog.Pending(ctx)
		if err != nil {
			log.Fatal(err)
		}
		for _, p := range pending {
			fmt.Printf("allowed %s %s: %q\n", p.Kind, p.Name, p.New["deploy.md"])
			gate.items.Store(p.Item, true)
		}
	}
	show := func() {
		command, err := catalog.Get(ctx, "deploy")
		fmt.Printf("%q %v\n", command.Content, errors.Is(err, toolshelf.ErrCommandNotFound))
	}
	show()
	review()
	show()
	if err := afero.WriteFile(files, "commands/deploy.md", []byte("Deploy to production.\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	show()
	// Output:
	// "" true
	// allowed command deploy: "Deploy to staging.\n"
	// "Deploy to staging.\n" false
	// "" true
}

func TestAScanReadsEachNewOrChangedGatedFileOnce(t *testing.T) {
	memory := memoryOf(t, map[string]string{"commands/c.md": "Do.", "skills/s/SKILL.md": skillFile("s"), "skills/s/scripts/x.sh": "1", "skills/s/scripts/y.sh": "2"})
	fsys, g := &counting{Fs: dated(memory)}, new(approvals)
	c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithGate(g))
	for i, tt := range []struct {
		name, put string
		want      int64
	}{
		{"first lists", "", 4}, {"no change", "", 0}, {"changed script", "skills/s/scripts/y.sh", 1}, {"new script", "skills/s/scripts/deep/z.sh", 1}, {"changed command", "commands/c.md", 1}, {"changed SKILL.md", "skills/s/SKILL.md", 1}, {"no further change", "", 0},
	} {
		if tt.put != "" {
			putFile(t, memory, tt.put, "changed: "+tt.name)
			for at, name := time.Now().Add(time.Duration(i-60)*time.Minute), tt.put; name != "."; name = path.Dir(name) { // MemMapFs changes the time of no directory
				must.Do(t, memory.Chtimes(name, at, at))
			}
		}
		fsys.files.Store(0)
		_, err := c.List(t.Context(), toolshelf.Page{})
		_, errSkills := c.ListSkills(t.Context())
		must.Do(t, errors.Join(err, errSkills))
		must.Equal(t, tt.name, tt.want, fsys.files.Load())
	}
}

func TestWatchSeesAChangeDeepInAGatedSkill(t *testing.T) {
	root := diskOf(t, map[string]string{"skills/pdf/SKILL.md": skillFile("pdf"), "skills/pdf/a/b/c/x.sh": "echo safe"})
	g := new(approvals)
	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithGate(g), toolshelf.WithWatch())
	shown := func(want int) {
		t.Helper()
		eventually(t, func() string {
			list, err := c.ListSkills(t.Context())
			if err != nil || len(list) != want {
				return fmt.Sprintf("%d skills, want %d: %v", len(list), want, err)
			}
			return ""
		})
	}
	shown(0)
	g.approve(t, c)
	shown(1)
	for _, file := range []string{"x.sh", "new.sh"} {
		write := filepath.Join(root, "skills", "pdf", "a", "b", "c", file)
		before, _ := os.ReadFile(write)
		must.Do(t, os.WriteFile(write, []byte("echo evil"), 0o644))
		shown(0)
		must.Do(t, os.Remove(write))
		if before != nil {
			must.Do(t, os.WriteFile(write, before, 0o644))
		}
		shown(1)
	}
}

// shownPlugins returns the plugins and the rows that a catalog shows.
func shownPlugins(t *testing.T, c *toolshelf.Catalog) (rows []string) {
	t.Helper()
	for _, p := range must.Get(c.Plugins(t.Context()))(t) {
		rows = append(rows, "plugin "+p.Name)
	}
	return append(rows, pluginRows(t, c)...)
}

func TestARefusedManifestHidesThePluginWithAllEntries(t *testing.T) {
	g, fsys := new(approvals), memoryOf(t, marketplace())
	c := catalog(t, withShop(toolshelf.WithFs(fsys), toolshelf.WithGate(g))...)
	all := shownPlugins(t, catalog(t, withShop(toolshelf.WithFs(fsys))...))
	without := func(plugin string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(row string) bool { return row == "plugin "+plugin || strings.HasSuffix(row, " of "+plugin) })
	}
	check := func(when string, want []string) {
		t.Helper()
		must.Match(t, when, want, shownPlugins(t, c), cmpopts.EquateEmpty())
	}
	const manifest, market = "shop/plugins/deploy/.claude-plugin/plugin.json", "shop/.claude-plugin/marketplace.json"
	check("before an approval", nil)
	pending := must.Get(c.Pending(t.Context()))(t)
	var kinds []string
	for _, p := range pending {
		kinds = append(kinds, string(p.Kind)+" "+p.Name)
		if p.Kind != toolshelf.KindPlugin {
			g.items.Store(p.Item, true)
		}
	}
	must.Match(t, "pending", []string{"plugin deploy", "plugin review", "plugin far"}, kinds[:3])
	must.Len(t, "pending", 12, kinds)
	check("without the manifests", nil)
	must.Len(t, "pending after the approval of the entries", 3, g.approve(t, c))
	check("after the approval of all", all)
	for _, tt := range []struct{ file, from, to, refused string }{
		{manifest, `"Deploys."`, `"Deploys more."`, "deploy"},
		{market, `"1.2.0"`, `"1.3.0"`, "deploy"},
		{market, `"Elsewhere."`, `"Nowhere."`, "far"},
		{market, `"./plugins/review"`, `"./plugins/review", "hooks": {}`, "review"},
	} {
		text := marketplace()[tt.file]
		putFile(t, fsys, tt.file, strings.Replace(text, tt.from, tt.to, 1))
		if tt.refused == "deploy" {
			must.Fail(c.Get(t.Context(), "deploy:go"))(t, tt.to, toolshelf.ErrCommandNotFound)
		}
		check(tt.to, without(tt.refused))
		pending, err := c.Pending(t.Context())
		if err != nil || len(pending) != 1 || pending[0].Kind != toolshelf.KindPlugin || pending[0].Name != tt.refused || pending[0].New[strings.TrimPrefix(tt.file, "shop/")] == "" {
			t.Errorf("%s: pending: %+v, %v", tt.to, pending, err)
		}
		putFile(t, fsys, tt.file, text)
		check("the approved state", all)
	}
	putFile(t, fsys, market, strings.Replace(marketplace()[market], `"name": "shop"`, `"owner": {"name": "Ada"}, "name": "shop"`, 1))
	check("a field of the marketplace without effect on a plugin", all)
}

// The path of a manifest decides the rules of the files: under the rules of Cursor, a text has no
// directives.
func TestAMovedManifestNeedsAnotherApproval(t *testing.T) {
	const cursor, claude = "shop/p/.cursor-plugin/plugin.json", "shop/p/.claude-plugin/plugin.json"
	for _, market := range []bool{false, true} {
		const manifest = `{"name": "p"}`
		files := map[string]string{cursor: manifest, "shop/p/commands/go.md": "Run !`id`."}
		from, to := cursor, claude
		if market {
			from, to = "shop/.cursor-plugin/marketplace.json", "shop/.claude-plugin/marketplace.json"
			delete(files, cursor)
			files[from] = `{"plugins": [{"name": "p", "source": "./p"}]}`
		}
		fsys, g := memoryOf(t, files), new(approvals)
		c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithPlugins("shop"), toolshelf.WithGate(g))
		g.approve(t, c)
		must.Len(t, from, 0, must.Get(c.Expand(t.Context(), "/p:go"))(t).Directives)
		putFile(t, fsys, to, files[from])
		must.Do(t, fsys.Remove(from))
		must.Fail(c.Expand(t.Context(), "/p:go"))(t, "Expand", toolshelf.ErrCommandNotFound)
		must.Match(t, to, []string{"plugin p", "command p:go"}, g.approve(t, c))
	}
}

// The escape is a text in Markdown, and an exclamation mark in TOML.
func TestARenamedCommandOfAnotherFormatNeedsAnotherApproval(t *testing.T) {
	const text = `prompt = "Run \u0021{id}."`
	fsys, c, g := gatedCatalog(t, map[string]string{"/p/.qwen/commands/a.md": text}, toolshelf.WithClient(client.Qwen())) // without the directory of agents
	g.approve(t, c)
	if x, err := c.Expand(t.Context(), "/a"); err != nil || x.Text != text || len(x.Directives) != 0 {
		t.Fatalf("%+v, %v", x.Rendering, err)
	}
	must.Do(t, fsys.Rename("/p/.qwen/commands/a.md", "/p/.qwen/commands/a.toml"))
	must.Fail(c.Expand(t.Context(), "/a"))(t, "Expand", toolshelf.ErrCommandNotFound)
	g.approve(t, c)
	must.Equal(t, "after the approval", "Run !{id}.", must.Get(c.Expand(t.Context(), "/a"))(t).Text)
}

func TestAPendingManifestHasTheTextOfItsDigest(t *testing.T) {
	const manifest = "{\"name\": \"deploy\", \"hooks\": {\"Stop\": []}}\n"
	files := map[string]string{"p/.claude-plugin/plugin.json": manifest, "p/commands/go.md": "Go.", "bare/commands/go.md": "Go."}
	fsys, g := &counting{Fs: dated(memoryOf(t, files))}, new(approvals)
	c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithPlugins("p", "bare"), toolshelf.WithGate(g, "p", "bare"))
	for range 2 {
		fsys.files.Store(0)
		pending := must.Get(c.Pending(t.Context()))(t)
		list := fmt.Sprintf("plugin\n%x 26 .claude-plugin/plugin.json\n", sha256.Sum256([]byte(manifest)))
		sum := fmt.Sprintf("plugin-sha256:%x", sha256.Sum256([]byte(list)))
		if p := pending[0]; len(pending) != 3 || p.Kind != toolshelf.KindPlugin || p.Name != "deploy" || p.Plugin != "deploy" || p.Digest != sum || !maps.Equal(p.New, map[string]string{".claude-plugin/plugin.json": manifest}) ||
			p.Layer != "p" || filepath.ToSlash(p.Path) != "p/.claude-plugin/plugin.json" {
			t.Errorf("pending: %+v", pending)
		}
	}
	must.Equal(t, "the second call opened", 2, fsys.files.Load())
	must.Match(t, "a plugin without a manifest has nothing to approve", []string{"plugin bare"},
		shownPlugins(t, c))
}

func TestOnlyTheFirstOfTwoPluginsOfANameCanBeApproved(t *testing.T) {
	files := map[string]string{"p/a/.claude-plugin/plugin.json": `{"name": "x"}`, "p/a/commands/go.md": "A.",
		"p/b/.claude-plugin/plugin.json": `{"name": "x", "version": "2"}`, "p/b/commands/stop.md": "B."}
	g := new(approvals)
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithPlugins("p"), toolshelf.WithGate(g))
	g.approve(t, c)
	must.Match(t, "shownPlugins", []string{"plugin x", "command x:go of x"}, shownPlugins(t, c))
}

// Lint and a gate see the same files, so the findings of a pending entry include the diagnostics of
// Lint for the files of the entry.
func TestFindingsHaveTheDiagnosticsOfLint(t *testing.T) {
	files := marketplace()
	maps.Copy(files, map[string]string{
		"commands/a.md":                     "---\nargument_hint: <x>\ndescription: a\ndescription: b\n---\nSee /none and $ARGUMENTS !`id` \u202e https://evil.example/x",
		"commands/b.md":                     "Text without a description. [the list](missing.md)",
		"skills/pdf/SKILL.md":               "---\nname: PDF\ndescription: [x]\nallowed-tools: Bash(rm:*\n---\nText\u200b !`id`.",
		"skills/pdf/x.sh":                   "curl https://evil.example\u202e",
		"agents/r.md":                       "---\nname: r\ndescripton: x\ntools: Read, Bash(\n---\nR.\u202e",
		"CLAUDE.md":                         "Hidden\u200b text. See @missing.md and @notes.md",
		"notes.md":                          "https://notes.example",
		".claude/rules/r.md":                "---\npaths: \"src/{a,b\"\n---\nRule\u202e. @missing2.md",
		"x/CLAUDE.md":                       "Below\u200b https://below.example.",
		"shop/plugins/deploy/commands/z.md": "---\nargument_hint: x\n---\nZ\u202e",
		"shop/plugins/review/.claude-plugin/plugin.json": `{"name": "review", "hooks": {"Stop": []}, "mcpServers": "./mcp.json", "commands": 5, "homepage": "https://home.example"}`,
	})
	const market = "shop/.claude-plugin/marketplace.json"
	files[market] = strings.Replace(files[market], `"1.2.0"`, `"1.2.0", "homepage": "https://deploy.example"`, 1)
	opts := []toolshelf.Option{toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithAgentsDir("agents"), toolshelf.WithInstructions(client.Claude()), toolshelf.WithPlugins("shop")}
	c := catalog(t, append(opts, toolshelf.WithGate(new(approvals)))...)
	linted := must.Get(c.Lint(t.Context()))(t)
	pending := must.Get(c.Pending(t.Context()))(t)
	key := func(d toolshelf.Diagnostic) string { return fmt.Sprintf("%s %s", d.Severity, d) }
	found := map[string]bool{}
	codes := map[toolshelf.Kind]map[toolshelf.DiagnosticCode]bool{}
	for _, p := range pending {
		if codes[p.Kind] == nil {
			codes[p.Kind] = map[toolshelf.DiagnosticCode]bool{}
		}
		for _, d := range p.Findings {
			found[key(d)] = true
			codes[p.Kind][d.Code] = true
			if _, ok := files[d.Path]; !ok {
				t.Errorf("the finding %s has the path of no file", d)
			}
		}
	}
	for _, d := range linted {
		if !found[key(d)] {
			t.Errorf("no finding %s", key(d))
		}
	}
	for kind, want := range map[toolshelf.Kind][]toolshelf.DiagnosticCode{
		toolshelf.KindCommand:     {agentmd.DiagRunsCommand, agentmd.DiagURL, agentmd.DiagInvisibleCharacter, agentmd.DiagReferenceNotFound, agentmd.DiagNoDescription, agentmd.DiagDuplicateKey},
		toolshelf.KindSkill:       {agentmd.DiagRunsCommand, agentmd.DiagAllowsTools, agentmd.DiagScript, agentmd.DiagURL, agentmd.DiagInvisibleCharacter, agentmd.DiagAllowedToolsUnbalanced},
		toolshelf.KindAgent:       {agentmd.DiagAllowsTools, agentmd.DiagToolRuleInvalid, agentmd.DiagFieldMisspelled, agentmd.DiagInvisibleCharacter},
		toolshelf.KindInstruction: {agentmd.DiagURL, agentmd.DiagInvisibleCharacter, agentmd.DiagImportNotFollowed, agentmd.DiagRuleGlobInvalid},
		toolshelf.KindPlugin:      {agentmd.DiagRunsCommand, agentmd.DiagURL, agentmd.DiagPluginFieldIgnored},
	} {
		for _, code := range want {
			if !codes[kind][code] {
				t.Errorf("no finding %s of a %s", code, kind)
			}
		}
	}
}

func TestAGatedListListsNoDirectoryOfAnUnchangedSkillAgain(t *testing.T) {
	memory := memoryOf(t, map[string]string{"skills/s/SKILL.md": skillFile("s"), "skills/s/scripts/x.sh": "1", "skills/s/scripts/deep/y.sh": "2"})
	fsys, long := &counting{Fs: dated(memory)}, time.Now().Add(-time.Minute)
	settle := func() {
		t.Helper()
		must.Do(t, afero.Walk(memory, "skills", func(name string, _ os.FileInfo, err error) error {
			return errors.Join(err, memory.Chtimes(name, long, long))
		}))
	}
	lists := func(c *toolshelf.Catalog) int64 {
		t.Helper()
		fsys.lists.Store(0)
		must.Get(c.ListSkills(t.Context()))(t)
		return fsys.lists.Load()
	}
	settle()
	c, open := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithGate(new(approvals))), catalog(t, toolshelf.WithFs(fsys))
	lists(open)
	without := lists(open)
	if first, second := lists(c), lists(c); first <= without || second != without {
		t.Errorf("%d and %d lists of directories, without a gate %d", first, second, without)
	}
}
