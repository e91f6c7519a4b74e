package toolshelf_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/bridge"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// A file that exists and cannot be read has another code than a file that does not
// exist, also if the cause of both is fs.ErrNotExist.
func TestABrokenLinkIsAFileThatCannotBeRead(t *testing.T) {
	root := diskOf(t, map[string]string{
		"commands/good.md": "Good.", "skills/good/SKILL.md": skillFile("good"), "skills/broken/notes.txt": "notes", "skills/empty/notes.txt": "notes",
	})
	hosttest.Symlink(t, "nothing.md", filepath.Join(root, "commands", "broken.md"))
	hosttest.Symlink(t, "nothing.md", filepath.Join(root, "skills", "broken", "SKILL.md"))
	for name, options := range map[string][]toolshelf.Option{
		"without a snapshot": nil,
		"cached":             {toolshelf.WithCacheTTL(time.Hour)},
		"filtered": {
			toolshelf.WithCommandFilter(func(toolshelf.CommandInfo) bool { return true }),
			toolshelf.WithSkillFilter(func(toolshelf.SkillInfo) bool { return true }),
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := catalog(t, append(options, toolshelf.WithRoot(root))...)
			for range 2 {
				for method, get := range map[string]func(name string) error{
					"Get":           func(name string) error { _, err := c.Get(t.Context(), name); return err },
					"GetSkill":      func(name string) error { _, err := c.GetSkill(t.Context(), name); return err },
					"ReadSkillFile": func(name string) error { _, err := c.ReadSkillFile(t.Context(), name, "SKILL.md"); return err },
				} {
					must.Is(t, method, nil, get("good"))
					if err := get("broken"); !errors.Is(err, toolshelf.ErrFileRead) || !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), root) {
						t.Errorf("%s: %v, want ErrFileRead with the cause fs.ErrNotExist", method, err)
					}
					if err := get("empty"); !errors.Is(err, toolshelf.ErrSkillNotFound) && !errors.Is(err, toolshelf.ErrCommandNotFound) {
						t.Errorf("%s: %v, want a name that is not found", method, err)
					}
				}
			}
		})
	}
}

func codes(diagnostics []toolshelf.Diagnostic) (all []toolshelf.DiagnosticCode) {
	for _, d := range diagnostics {
		all = append(all, d.Code)
	}
	return all
}

// listedAgain returns the SkillInfo and the text of each skill from ListSkills and GetSkill.
func listedAgain(t *testing.T, c *toolshelf.Catalog) []toolshelf.Skill {
	t.Helper()
	list := must.Get(c.ListSkills(t.Context()))(t)
	var all []toolshelf.Skill
	for _, info := range list {
		skill := toolshelf.Skill{SkillInfo: info}
		if info.Loadable {
			skill = must.Get(c.GetSkill(t.Context(), info.Name))(t)
		}
		skill.Raw, skill.Files, skill.FilesTruncated = nil, nil, info.Loadable
		all = append(all, skill)
	}
	return all
}

// collected returns the values of a range. An error ends the test.
func collected[T any](t *testing.T, all iter.Seq2[T, error]) []T {
	t.Helper()
	var values []T
	for v, err := range all {
		must.Do(t, err)
		values = append(values, v)
	}
	return values
}

func TestSkillsAgreeWithGetSkill(t *testing.T) {
	onEveryFilesystem(t, func(t *testing.T, open func(...toolshelf.Option) *toolshelf.Catalog) {
		want := listedAgain(t, open())
		c := open()
		for range 2 { // of a new catalog, and after a scan
			must.Match(t, "-GetSkill +Skills", want, collected(t, c.Skills(t.Context())),
				cmpopts.IgnoreFields(toolshelf.SkillInfo{}, "Frontmatter"))
		}
	})
}

// A list reads the beginning of a file. The text of a skill comes with the problems of the whole
// file.
func TestASkillHasTheProblemsOfItsWholeFile(t *testing.T) {
	long := strings.Repeat("key: value\n", 1000)
	files := fstest.MapFS{
		"latin/SKILL.md": {Data: []byte(skillFile("latin") + long + "caf\xe9\n")},
		"plain/SKILL.md": {Data: []byte("Text.\n\n" + long + "caf\xe9\n")},
		"fence/SKILL.md": {Data: []byte("----\nname: fence\n\n" + long + "----\n")},
	}
	want := map[string][]toolshelf.DiagnosticCode{
		"latin": {"NOT_UTF8"}, "plain": {"NOT_UTF8"}, "fence": {"FRONTMATTER_UNKNOWN_FENCE"},
	}
	c := catalog(t, toolshelf.WithSkillsFS("files", files))
	for _, from := range []string{"the scan", "the file"} {
		for _, skill := range collected(t, c.Skills(t.Context())) {
			must.Match(t, from, want[skill.Name], codes(skill.Diagnostics))
		}
	}
	for name := range want {
		must.Match(t, "GetSkill", want[name],
			codes(must.Get(c.GetSkill(t.Context(), name))(t).Diagnostics))
	}
}

func TestCommandsAgreeWithGet(t *testing.T) {
	onEveryFilesystem(t, func(t *testing.T, open func(...toolshelf.Option) *toolshelf.Catalog) {
		c := open(toolshelf.WithNestedCommands())
		var want []toolshelf.Command
		for info, err := range open(toolshelf.WithNestedCommands()).All(t.Context()) {
			must.Do(t, err)
			command := must.Get(c.Get(t.Context(), info.Name))(t)
			must.Equal(t, "command.Loadable", true, command.Loadable)
			want = append(want, command)
		}
		for range 2 {
			must.Match(t, "-Get +Commands", want, collected(t, open(toolshelf.WithNestedCommands()).Commands(t.Context())), cmpopts.IgnoreFields(toolshelf.Command{}, "Frontmatter"))
		}
	})
}

// Skills, Commands and Agents of a new catalog open each file once.
func TestEachTextIsReadOnce(t *testing.T) {
	files := map[string]string{}
	for i := range 100 {
		body := strings.Repeat("x", i*600)
		files[fmt.Sprintf("skills/s%d/SKILL.md", i)] = skillFile(fmt.Sprintf("s%d", i)) + body
		files[fmt.Sprintf("commands/c%d.md", i)] = body
		files[fmt.Sprintf("agents/a%d.md", i)] = body
	}
	root := diskOf(t, files)
	old := time.Now().Add(-time.Minute) // see stamp.Settled
	for file := range files {
		must.Do(t, os.Chtimes(filepath.Join(root, file), old, old))
	}
	for where, fsys := range map[string]afero.Fs{"memory": memoryOf(t, files), "disk": afero.NewBasePathFs(afero.NewOsFs(), root)} {
		t.Run(where, func(t *testing.T) {
			opens := new(opened)
			c := catalog(t, toolshelf.WithFs(onOpen(fsys, opens.add)), toolshelf.WithAgentsDir("agents"))
			for i, skill := range collected(t, c.Skills(t.Context())) {
				if want := files[path.Join("skills", skill.Name, "SKILL.md")]; !strings.HasSuffix(want, "---\n"+skill.Content) {
					t.Errorf("skill %d has %d bytes, want the end of %d", i, len(skill.Content), len(want))
				}
			}
			for i, command := range collected(t, c.Commands(t.Context())) {
				must.Equal(t, i, string(command.Raw), files["commands/"+command.Name+".md"])
			}
			for i, agent := range collected(t, c.Agents(t.Context())) {
				must.Equal(t, i, string(agent.Raw), files["agents/"+agent.Name+".md"])
			}
			for file, n := range opens.files() {
				must.Equal(t, file, 1, n)
			}
		})
	}
}

func TestTheBytesOfARangeBelongToTheCaller(t *testing.T) {
	files := fstest.MapFS{"a/SKILL.md": {Data: []byte(skillFile("a"))}, "a.md": {Data: []byte("text")}}
	c := catalog(t, toolshelf.WithSkillsFS("files", toolshelf.Immutable(files)), toolshelf.WithCommandsFS("files", toolshelf.Immutable(files)))
	for range 2 { // from the scan, and from the cache
		for _, s := range collected(t, c.Skills(t.Context())) {
			clear(s.Raw)
		}
		for _, s := range collected(t, c.Commands(t.Context())) {
			clear(s.Raw)
		}
		skill, err := c.GetSkill(t.Context(), "a")
		command, err2 := c.Get(t.Context(), "a")
		if string(skill.Raw) != skillFile("a") || string(command.Raw) != "text" || errors.Join(err, err2) != nil {
			t.Errorf("%q, %q, %v, %v", skill.Raw, command.Raw, err, err2)
		}
	}
}

// A catalog that closes makes no skill unreadable.
func TestCloseEndsARangeBeforeTheNextSkill(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("skills/s%d/SKILL.md", i)] = skillFile("s")
	}
	fsys := memoryOf(t, files)
	for i := range 20 {
		c := catalog(t, toolshelf.WithFs(fsys))
		if _, err := c.ListSkills(t.Context()); err != nil { // the range reads the files ahead of its consumer
			t.Fatal(err)
		}
		n, failed := 0, error(nil)
		for s, err := range c.Skills(t.Context()) {
			if failed = err; err == nil && !s.Loadable {
				t.Fatal(s.Diagnostics)
			}
			if n++; n == i+1 {
				c.Close()
			}
		}
		must.Is(t, n, toolshelf.ErrClosed, failed)
	}
}

// A scan that panics leaves no trace: later lists read only the beginning of files.
func TestAPanicEndsTheCollectionOfTexts(t *testing.T) {
	files := &counting{Fs: memoryOf(t, map[string]string{"skills/a/SKILL.md": skillFile("a") + strings.Repeat("x", 50_000)})}
	var calm atomic.Bool
	c := catalog(t, toolshelf.WithFs(onOpen(files, func(name string) {
		if strings.HasSuffix(name, "SKILL.md") && !calm.Load() {
			panic("open")
		}
	})))
	func() {
		defer func() { _ = recover() }()
		for range c.Skills(t.Context()) {
		}
		t.Error("no panic")
	}()
	calm.Store(true)
	if _, err := c.ListSkills(t.Context()); err != nil || files.read.Load() > 10_000 {
		t.Errorf("a list reads %d bytes, %v", files.read.Load(), err)
	}
}

func TestSkillsAndCommandsKeepWhatCannotBeLoaded(t *testing.T) {
	files := map[string]string{"skills/bare/x.py": "", "skills/large/SKILL.md": strings.Repeat("x", 200), "skills/good/SKILL.md": skillFile("good"),
		"commands/large.md": strings.Repeat("x", 200), "commands/good.md": "text", "commands/hidden.md": "---\nis_dependency: true\n---\n"}
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithMaxFileSize(100))
	var got []string
	for _, s := range collected(t, c.Skills(t.Context())) {
		got = append(got, fmt.Sprintln(s.Name, s.Loadable, s.Description != "", codes(s.Diagnostics)))
	}
	for _, s := range collected(t, c.Commands(t.Context())) {
		got = append(got, fmt.Sprintln(s.Name, s.Loadable, len(s.Raw) > 0, codes(s.Diagnostics), s.Layer, s.Metadata.Size))
	}
	want := []string{"bare false false [SKILL_FILE_MISSING]", "good true true []", "large false false [FILE_TOO_LARGE]",
		"good true true [] commands 4", "large false false [FILE_TOO_LARGE] commands 200"}
	must.Match(t, "result", strings.Join(want, "\n")+"\n", strings.Join(got, ""))
}

// A change during the range is a new text, another diagnostic, or nothing, but no error.
func TestChangesDuringSkills(t *testing.T) {
	files := map[string]string{}
	for i := range 8 {
		files[fmt.Sprintf("skills/s%d/SKILL.md", i)] = skillFile(fmt.Sprintf("s%d", i))
	}
	fsys := memoryOf(t, files)
	c := catalog(t, toolshelf.WithFs(fsys), bridge.WithMaxReads(1).(toolshelf.Option), toolshelf.WithSkillFilter(func(s toolshelf.SkillInfo) bool { return s.Description != "secret" }))
	if _, err := c.ListSkills(t.Context()); err != nil { // the range reads the files ahead of its consumer only
		t.Fatal(err)
	}
	var got []string
	for s, err := range c.Skills(t.Context()) {
		must.Do(t, err)
		if s.Name == "s1" {
			must.Do(t, errors.Join(afero.WriteFile(fsys, "skills/s4/SKILL.md", []byte("---\ndescription: secret\n---\n"), 0o644),
				afero.WriteFile(fsys, "skills/s5/SKILL.md", []byte("---\ndescription: new\n---\nnew"), 0o644), fsys.Remove("skills/s6/SKILL.md")))
		}
		got = append(got, s.Name+" "+s.Description)
	}
	want := []string{"s0 d", "s1 d", "s2 d", "s3 d", "s5 new", "s7 d"}
	must.Match(t, "result", want, got)
}

func TestErrorsOfSkillsCommandsAndAgents(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("skills/s%d/SKILL.md", i)] = skillFile("s")
		files[fmt.Sprintf("commands/c%d.md", i)] = "text"
		files[fmt.Sprintf("agents/a%d.md", i)] = "text"
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for _, tt := range []struct {
		name string
		ctx  context.Context
		fsys afero.Fs
		stop func(c *toolshelf.Catalog, end func()) // after the third value
		want error
	}{
		{"no directory", t.Context(), afero.NewMemMapFs(), nil, toolshelf.ErrDirectoryNotFound},
		{"an ended context", ended, memoryOf(t, files), nil, context.Canceled},
		{"a context that ends", t.Context(), memoryOf(t, files), func(_ *toolshelf.Catalog, end func()) { end() }, context.Canceled},
		{"a catalog that closes", t.Context(), memoryOf(t, files), func(c *toolshelf.Catalog, _ func()) { c.Close() }, toolshelf.ErrClosed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for kind, all := range map[string]func(context.Context, *toolshelf.Catalog) iter.Seq2[string, error]{
				"skills": func(ctx context.Context, c *toolshelf.Catalog) iter.Seq2[string, error] {
					return named(c.Skills(ctx), func(s toolshelf.Skill) string { return s.Name })
				},
				"commands": func(ctx context.Context, c *toolshelf.Catalog) iter.Seq2[string, error] {
					return named(c.Commands(ctx), func(s toolshelf.Command) string { return s.Name })
				},
				"agents": func(ctx context.Context, c *toolshelf.Catalog) iter.Seq2[string, error] {
					return named(c.Agents(ctx), func(a toolshelf.Agent) string { return a.Name })
				},
			} {
				c := catalog(t, toolshelf.WithFs(tt.fsys), toolshelf.WithAgentsDir("agents"))
				ctx, end := context.WithCancel(tt.ctx)
				n, failed := 0, error(nil)
				for name, err := range all(ctx, c) {
					if failed != nil {
						t.Errorf("%s: %q after an error", kind, name)
					}
					if err != nil {
						failed = err
						must.Equal(t, kind, "", name)
						continue
					}
					if n++; n == 3 && tt.stop != nil {
						tt.stop(c, end)
					}
				}
				end()
				if !errors.Is(failed, tt.want) || tt.stop != nil && n == 300 {
					t.Errorf("%s: %d values, %v, want %v", kind, n, failed, tt.want)
				}
			}
		})
	}
}

func named[T any](all iter.Seq2[T, error], name func(T) string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for v, err := range all {
			if !yield(name(v), err) {
				return
			}
		}
	}
}

// shop is a project. Names that begin with "admin" are restricted.
func shop() map[string]string {
	files := map[string]string{
		"commands/admin-drop.md": "---\ndescription: drops it\n---\n", "commands/buy.md": "---\ndescription: buys it\n---\n", "commands/sell.md": "---\ndescription: sells it\n---\n",
		"commands/admin-part.md": "---\nis_dependency: true\n---\n", "commands/part.md": "---\nis_dependency: true\n---\n",
		"more/admin-drop.md": "---\ndescription: shadowed\n---\n", "more/buy.md": "---\ndescription: shadowed\n---\n",
	}
	for _, name := range []string{"admin-tools", "cart", "stock"} {
		files["skills/"+name+"/SKILL.md"] = "---\nname: " + name + "\ndescription: It " + name + "s.\n---\n"
		files["agents/"+name+".md"] = "---\ndescription: It " + name + "s.\n---\n"
	}
	return files
}

func withoutAdmin() []toolshelf.Filter {
	return []toolshelf.Filter{
		toolshelf.WithCommandFilter(func(i toolshelf.CommandInfo) bool { return !strings.HasPrefix(i.Name, "admin") }),
		toolshelf.WithSkillFilter(func(i toolshelf.SkillInfo) bool { return !strings.HasPrefix(i.Name, "admin") }),
		toolshelf.WithAgentFilter(func(i toolshelf.AgentInfo) bool { return !strings.HasPrefix(i.Name, "admin") }),
	}
}

// everything returns what each method of a catalog shows.
func everything(t *testing.T, c *toolshelf.Catalog) map[string][]string {
	t.Helper()
	shown := map[string][]string{"All": names(t, c)}
	for _, command := range collected(t, c.Commands(t.Context())) {
		shown["Commands"] = append(shown["Commands"], command.Name)
	}
	for _, skill := range collected(t, c.Skills(t.Context())) {
		shown["Skills"] = append(shown["Skills"], skill.Name)
	}
	for _, name := range []string{"admin-drop", "buy", "sell", "admin-part", "part"} {
		for range 2 { // first read from the file, then cached
			command, err := c.Get(t.Context(), name)
			switch {
			case err == nil && command.Metadata.Description != "shadowed":
				shown["Get"] = append(shown["Get"], name)
			case !errors.Is(err, toolshelf.ErrCommandNotFound):
				t.Errorf("Get(%q): %v, %v", name, command, err)
			}
		}
	}
	for _, name := range []string{"admin-tools", "cart", "stock"} {
		for range 2 {
			if _, err := c.GetSkill(t.Context(), name); err == nil {
				shown["GetSkill"] = append(shown["GetSkill"], name)
			} else if !errors.Is(err, toolshelf.ErrSkillNotFound) {
				t.Error(err)
			}
		}
		if _, err := c.ReadSkillFile(t.Context(), name, "SKILL.md"); err == nil {
			shown["ReadSkillFile"] = append(shown["ReadSkillFile"], name)
		} else if !errors.Is(err, toolshelf.ErrSkillNotFound) {
			t.Error(err)
		}
	}
	for _, a := range must.Get(c.ListAgents(t.Context()))(t) {
		shown["ListAgents"] = append(shown["ListAgents"], a.Name)
	}
	for _, name := range []string{"admin-tools", "cart", "stock"} {
		for range 2 {
			if _, err := c.GetAgent(t.Context(), name); err == nil {
				shown["GetAgent"] = append(shown["GetAgent"], name)
			} else if !errors.Is(err, toolshelf.ErrAgentNotFound) || strings.Count(err.Error(), "admin") > strings.Count(name, "admin") {
				t.Error(err)
			}
		}
	}
	for _, a := range collected(t, c.Agents(t.Context())) {
		shown["Agents"] = append(shown["Agents"], a.Name)
	}
	shown["AgentsPrompt"] = must.Get(c.AgentsPrompt(t.Context()))(t).Included
	list := must.Get(c.List(t.Context(), toolshelf.Page{Size: 1}))(t)
	shown["List"] = []string{fmt.Sprint(list.Pagination.Total)}
	shown["ListSkills"] = slices.Sorted(maps.Keys(skillsOf(t, c)))
	results := must.Get(c.Search(t.Context(), "it", 0))(t)
	skills := must.Get(c.SearchSkills(t.Context(), "it", 0))(t)
	for _, r := range append(results.Results, skills.Results...) {
		shown["Search"] = append(shown["Search"], r.Name)
	}
	slices.Sort(shown["Search"])
	skillsPrompt := must.Get(c.SkillsPrompt(t.Context()))(t)
	commandsPrompt := must.Get(c.CommandsPrompt(t.Context()))(t)
	shown["prompts"] = append(skillsPrompt.Included, commandsPrompt.Included...)
	for _, row := range completed(t, c, "", 0) {
		shown["CompleteName"] = append(shown["CompleteName"], row.Name)
	}
	for _, name := range []string{"admin-drop", "admin-part", "admin-tools", "buy", "cart", "part", "sell", "stock"} {
		if x, err := c.Expand(t.Context(), "/"+name); err == nil {
			shown["Expand"] = append(shown["Expand"], x.Name)
		} else if !errors.Is(err, toolshelf.ErrCommandNotFound) || strings.Contains(err.Error(), "admin") && !strings.Contains(name, "admin") {
			t.Error(err)
		}
	}
	return shown
}

func twice(names ...string) (all []string) {
	for _, n := range names {
		all = append(all, n, n)
	}
	return all
}

func TestAFilterHidesEntriesFromEveryMethod(t *testing.T) {
	whole := map[string][]string{
		"All": {"admin-drop", "buy", "sell"}, "Commands": {"admin-drop", "buy", "sell"}, "List": {"3"}, "Get": twice("admin-drop", "buy", "sell", "admin-part", "part"),
		"ListSkills": {"admin-tools", "cart", "stock"}, "Skills": {"admin-tools", "cart", "stock"}, "GetSkill": twice("admin-tools", "cart", "stock"), "ReadSkillFile": {"admin-tools", "cart", "stock"},
		"Search": {"admin-drop", "admin-tools", "buy", "cart", "sell", "stock"}, "prompts": {"admin-tools", "cart", "stock", "admin-drop", "buy", "sell"},
		"CompleteName": {"admin-drop", "admin-tools", "buy", "cart", "sell", "stock"}, "Expand": {"admin-drop", "admin-tools", "buy", "cart", "sell", "stock"},
		"ListAgents": {"admin-tools", "cart", "stock"}, "Agents": {"admin-tools", "cart", "stock"}, "GetAgent": twice("admin-tools", "cart", "stock"), "AgentsPrompt": {"admin-tools", "cart", "stock"},
	}
	filtered := map[string][]string{
		"All": {"buy", "sell"}, "Commands": {"buy", "sell"}, "List": {"2"}, "Get": twice("buy", "sell", "part"),
		"ListSkills": {"cart", "stock"}, "Skills": {"cart", "stock"}, "GetSkill": twice("cart", "stock"), "ReadSkillFile": {"cart", "stock"},
		"Search": {"buy", "cart", "sell", "stock"}, "prompts": {"cart", "stock", "buy", "sell"},
		"CompleteName": {"buy", "cart", "sell", "stock"}, "Expand": {"buy", "cart", "sell", "stock"},
		"ListAgents": {"cart", "stock"}, "Agents": {"cart", "stock"}, "GetAgent": twice("cart", "stock"), "AgentsPrompt": {"cart", "stock"},
	}
	root := toolshelf.WithRoot(diskOf(t, shop()))
	layers, agents := toolshelf.WithCommandsDir("commands", "more"), toolshelf.WithAgentsDir("agents")
	owner := catalog(t, root, layers, agents)
	view := must.Get(owner.View(withoutAdmin()...))(t)
	both := must.Get(must.Get(owner.View(withoutAdmin()[0]))(t).View(withoutAdmin()[1:]...))(t)
	for name, tt := range map[string]struct {
		catalog *toolshelf.Catalog
		want    map[string][]string
	}{
		"no filter":            {owner, whole},
		"filters of New":       {catalog(t, root, withoutAdmin()[0], layers, agents, withoutAdmin()[1], withoutAdmin()[2]), filtered},
		"filters of a view":    {view, filtered},
		"a view of a view":     {both, filtered},
		"no filter, once more": {owner, whole},
	} {
		t.Run(name, func(t *testing.T) {
			must.Match(t, "shown", tt.want, everything(t, tt.catalog))
		})
	}
}

func TestAFilterReceivesTheInfoOfAList(t *testing.T) {
	var commands, skills []string
	c := catalog(t, toolshelf.WithFs(memoryOf(t, shop())),
		toolshelf.WithCommandFilter(func(i toolshelf.CommandInfo) bool { return i.Description == "buys it" && i.Size > 0 }),
		toolshelf.WithSkillFilter(func(i toolshelf.SkillInfo) bool {
			return i.Frontmatter.Text("description") == "It stocks." && i.Layer == "skills"
		}))
	commands, skills = names(t, c), slices.Collect(maps.Keys(skillsOf(t, c)))
	must.Match(t, "commands", []string{"buy"}, commands)
	must.Match(t, "skills", []string{"stock"}, skills)
}

func TestAFilterIsCalledAgainForAChangedFile(t *testing.T) {
	root := diskOf(t, shop())
	var asked atomic.Int64
	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithCommandFilter(func(i toolshelf.CommandInfo) bool {
		asked.Add(1)
		return i.Description == "buys it"
	}))
	for range 3 {
		must.Match(t, "names", []string{"buy"}, names(t, c))
	}
	must.Equal(t, "the filter was called", 5, asked.Load())
	must.Get(c.Get(t.Context(), "buy"))(t)
	write := func(name, description string) {
		t.Helper()
		must.Do(t, os.WriteFile(filepath.Join(root, "commands", name), []byte("---\ndescription: "+description+"\n---\n"), 0o644))
	}
	write("buy.md", "bought it")
	must.Fail(c.Get(t.Context(), "buy"))(t, "a command that the filter now refuses", toolshelf.ErrCommandNotFound)
	write("sell.md", "buys it")
	must.Get(c.Get(t.Context(), "sell"))(t)
	must.Match(t, "names", []string{"sell"}, names(t, c))
}

func TestAFilterReceivesTheCurrentSkill(t *testing.T) {
	root := diskOf(t, shop())
	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithSkillFilter(func(i toolshelf.SkillInfo) bool { return !i.DisableModelInvocation }))
	must.Get(c.GetSkill(t.Context(), "cart"))(t)
	must.Do(t, os.WriteFile(filepath.Join(root, "skills", "cart", "SKILL.md"), []byte("---\ndescription: d\ndisable-model-invocation: true\n---\n"), 0o644))
	must.Fail(c.GetSkill(t.Context(), "cart"))(t, "GetSkill", toolshelf.ErrSkillNotFound)
	must.Fail(c.ReadSkillFile(t.Context(), "cart", "SKILL.md"))(t, "ReadSkillFile", toolshelf.ErrSkillNotFound)
}

// With a cache TTL, the filter has seen an older version of the file. The catalog
// does not show a new version that the filter refuses.
func TestAFilterIsAppliedToANewVersionDespiteTheCache(t *testing.T) {
	root := diskOf(t, map[string]string{
		"commands/note.md":     "---\ndescription: note\n---\nNothing yet.\n",
		"skills/zed/SKILL.md":  "---\nname: zed\ndescription: d\n---\n",
		"skills/zed/notes.txt": "notes",
	})
	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithCacheTTL(time.Hour),
		toolshelf.WithSkillFilter(func(i toolshelf.SkillInfo) bool { return i.License != "private" }),
		toolshelf.WithCommandFilter(func(i toolshelf.CommandInfo) bool { return i.Description != "private" }))
	names(t, c)
	must.Get(c.ReadSkillFile(t.Context(), "zed", "notes.txt"))(t)
	for name, text := range map[string]string{
		"skills/zed/SKILL.md": "---\nname: zed\ndescription: d\nlicense: private\n---\n", "skills/zed/notes.txt": "secret",
		"commands/note.md": "---\ndescription: private\n---\nThe secret.\n",
	} {
		must.Do(t, os.WriteFile(filepath.Join(root, filepath.FromSlash(name)), []byte(text), 0o644))
	}
	for _, file := range []string{"notes.txt", "SKILL.md", "none"} {
		if got, err := c.ReadSkillFile(t.Context(), "zed", file); !errors.Is(err, toolshelf.ErrSkillNotFound) || strings.Contains(err.Error(), "declares this name") {
			t.Errorf("%s: %q, %v", file, got, err)
		}
	}
	if results, err := c.Search(t.Context(), "secret", 0); err != nil || results.TotalFound > 0 {
		t.Errorf("found %+v, %v", results, err)
	}
}

func TestAFilterMayCallACatalogWithoutTheFilter(t *testing.T) {
	owner := catalog(t, toolshelf.WithFs(memoryOf(t, shop())), toolshelf.WithAgentsDir("agents"))
	view := must.Get(owner.View(
		toolshelf.WithAgentFilter(func(i toolshelf.AgentInfo) bool {
			agent, err := owner.GetAgent(t.Context(), i.Name)
			return err == nil && agent.Description != "It carts."
		}),
		toolshelf.WithCommandFilter(func(i toolshelf.CommandInfo) bool {
			command, err := owner.Get(t.Context(), i.Name)
			return err == nil && !command.Dependency && len(names(t, owner)) == 3 && i.Name != "sell"
		}),
		toolshelf.WithSkillFilter(func(i toolshelf.SkillInfo) bool {
			skill, err := owner.GetSkill(t.Context(), i.Name)
			return err == nil && len(skill.Files) == 1 && i.Name != "cart"
		})))(t)
	want := map[string][]string{
		"All": {"admin-drop", "buy"}, "Commands": {"admin-drop", "buy"}, "List": {"2"}, "Get": twice("admin-drop", "buy"),
		"ListSkills": {"admin-tools", "stock"}, "Skills": {"admin-tools", "stock"}, "GetSkill": twice("admin-tools", "stock"), "ReadSkillFile": {"admin-tools", "stock"},
		"Search": {"admin-drop", "admin-tools", "buy", "stock"}, "prompts": {"admin-tools", "stock", "admin-drop", "buy"},
		"CompleteName": {"admin-drop", "admin-tools", "buy", "stock"}, "Expand": {"admin-drop", "admin-tools", "buy", "stock"},
		"ListAgents": {"admin-tools", "stock"}, "Agents": {"admin-tools", "stock"}, "GetAgent": twice("admin-tools", "stock"), "AgentsPrompt": {"admin-tools", "stock"},
	}
	must.Match(t, "shown", want, everything(t, view))
}

func TestANilFilterIsAnInvalidOption(t *testing.T) {
	for _, filter := range []toolshelf.Filter{toolshelf.WithCommandFilter(nil), toolshelf.WithSkillFilter(nil), toolshelf.WithAgentFilter(nil)} {
		must.Fail(toolshelf.New(filter))(t, "New", toolshelf.ErrInvalidOption)
		must.Fail(catalog(t).View(filter))(t, "View", toolshelf.ErrInvalidOption)
	}
}

// A panic of a filter reaches the caller, with any context.
func TestPanicOfAFilterReachesTheCaller(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, shop())),
		toolshelf.WithSkillFilter(func(i toolshelf.SkillInfo) bool { panic("no " + i.Name) }))
	for _, ctx := range []context.Context{context.Background(), t.Context()} {
		for range 2 {
			func() {
				defer func() {
					if recover() == nil {
						t.Error("no panic")
					}
				}()
				c.GetSkill(ctx, "cart")
			}()
		}
	}
}

func TestUnknownNamesWithArgumentsOrSwappedLettersAreAnsweredWithTheName(t *testing.T) {
	c := catalog(t, toolshelf.WithLooseNames(), toolshelf.WithFs(memoryOf(t, map[string]string{
		"commands/review.md": "", "skills/pdf/SKILL.md": "---\nname: pdf\ndescription: d\n---\n",
	})))
	_, err := c.Get(t.Context(), "review 417")
	must.Is(t, "Get", toolshelf.ErrCommandNotFound, err, `did you mean "review"?`)
	for _, name := range []string{"PDF extract the text", "pfd"} {
		must.Fail(c.GetSkill(t.Context(), name))(t, "GetSkill", toolshelf.ErrSkillNotFound,
			`did you mean "pdf"?`)
	}
}

func TestGetExplainsANestedNameWithoutNestedCommands(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"commands/frontend/component.md": ""})))
	must.Fail(c.Get(t.Context(), "frontend:component"))(t, "Get", toolshelf.ErrInvalidCommandName,
		"WithNestedCommands")
}

// terminal is a project with commands and skills for a user.
func terminal() map[string]string { return filesOf("terminal") }

func completed(t testing.TB, c *toolshelf.Catalog, prefix string, limit int, kinds ...toolshelf.Kind) []toolshelf.Completion {
	t.Helper()
	return must.Get(c.CompleteName(t.Context(), prefix, limit, kinds...))(t)
}

func TestCompleteNameReturnsTenRowsWithoutALimit(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, busyProject(30))))
	must.Equal(t, "result", 10, len(completed(t, c, "", 0)))
	must.Equal(t, "result", 60, len(completed(t, c, "", 1000)))
}

func TestErrorsOfCompleteName(t *testing.T) {
	for _, tt := range []struct {
		name  string
		opts  []toolshelf.Option
		limit int
		kinds []toolshelf.Kind
		want  error
	}{
		{name: "no directory of the options", opts: []toolshelf.Option{toolshelf.WithFs(memory(t, ".")), toolshelf.WithSkillsDir(), toolshelf.WithCommandsDir()}},
		{name: "no default directory", opts: []toolshelf.Option{toolshelf.WithFs(memory(t, "."))}},
		{name: "a missing directory of an option", opts: []toolshelf.Option{toolshelf.WithFs(memoryOf(t, shop())), toolshelf.WithSkillsDir("none")}, want: toolshelf.ErrDirectoryNotFound},
		{name: "a missing directory of another kind", opts: []toolshelf.Option{toolshelf.WithFs(memoryOf(t, shop())), toolshelf.WithSkillsDir("none")}, kinds: []toolshelf.Kind{toolshelf.KindCommand}},
		{name: "a negative limit", limit: -1, want: toolshelf.ErrInvalidQuery},
		{name: "an unknown kind", kinds: []toolshelf.Kind{"skills"}, want: toolshelf.ErrInvalidOption},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rows, err := catalog(t, tt.opts...).CompleteName(t.Context(), "none of them", tt.limit, tt.kinds...)
			must.Is(t, rows, tt.want, err)
			must.Equal(t, rows, err != nil, rows == nil)
		})
	}
}

func TestSlashesSeparateDirectoriesOfNamesOfSeveralWords(t *testing.T) {
	files := map[string]string{"commands/my team/big page.md": "Page $ARGUMENTS."}
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithNestedCommands(), toolshelf.WithLooseNames())
	for _, line := range []string{"/my team:big page a/b", "/my team/big page a/b"} {
		if x, err := c.Expand(t.Context(), line); x.Name != "my team:big page" || x.Text != "Page a/b." || err != nil {
			t.Errorf("%s is %q: %q, %v", line, x.Name, x.Text, err)
		}
	}
}

// TestNames asks the questions of testdata/names.txt, which describes the questions.
func TestNames(t *testing.T) {
	empty := toolshelf.WithFs(afero.NewMemMapFs())
	catalogs := map[string]*toolshelf.Catalog{
		"strict": catalog(t, empty, toolshelf.WithCommandsDir("./a", ".claude/commands/", "lib/prompts")),
		"nested": catalog(t, empty, toolshelf.WithNestedCommands()),
		"loose":  catalog(t, empty, toolshelf.WithLooseNames()),
	}
	commands := memoryOf(t, map[string]string{
		"commands/review.md": "", "commands/fix.md": "", "commands/frontend/component.md": "",
		"commands/secretive.md":     "---\nis_dependency: true\n---\n",
		"commands/private-notes.md": "",
	})
	public := func(i toolshelf.CommandInfo) bool { return i.Name != "private-notes" }
	similar := catalog(t, toolshelf.WithNestedCommands(), toolshelf.WithFs(commands),
		toolshelf.WithCommandFilter(public))
	skills := catalog(t, toolshelf.WithMaxFileSize(1000), toolshelf.WithFs(memoryOf(t, map[string]string{
		"skills/good/SKILL.md":     "---\nname: good\ndescription: d\n---\n",
		"skills/empty/notes.txt":   "",
		"skills/large/SKILL.md":    strings.Repeat("x", 1001),
		"skills/renamed/SKILL.md":  "---\nname: declared\ndescription: d\n---\n",
		"skills/node_modules/x.js": "",
	})))
	files := terminal()
	typed := catalog(t, toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithNestedCommands())
	files["skills/my/SKILL.md"] = "---\nname: my\n---\nMine: $ARGUMENTS"
	files["skills/my own skill/SKILL.md"] = "---\nname: own\n---\nOwn: $ARGUMENTS"
	files["skills/big skill/SKILL.md"] = "---\nname: big\n---\nBig: $ARGUMENTS"
	files["skills/big skill of mine/SKILL.md"] = "---\nname: mine\n---\nOf mine: $ARGUMENTS"
	expanded := catalog(t, toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithNestedCommands())
	kinds := func(words []string) (all []toolshelf.Kind) {
		for _, word := range words {
			all = append(all, toolshelf.Kind(word))
		}
		return all
	}
	questions := string(must.Get(os.ReadFile("testdata/names.txt"))(t))
	must.Answer(t, questions, map[string]func(t *testing.T, a ...string) string{
		"invalid": func(t *testing.T, a ...string) string {
			_, err := catalogs[a[0]].Get(t.Context(), a[1])
			before := fmt.Sprintf("toolshelf: Get: invalid command name %q; ", a[1])
			text := strings.TrimPrefix(err.Error(), before)
			return strings.TrimSuffix(text, " (INVALID_COMMAND_NAME)")
		},
		"similar": func(t *testing.T, a ...string) string {
			_, err := similar.Get(t.Context(), a[0])
			_, text, _ := strings.Cut(err.Error(), "; ")
			return strings.TrimSuffix(text, " (COMMAND_NOT_FOUND)")
		},
		"skill": func(t *testing.T, a ...string) string {
			_, err := skills.GetSkill(t.Context(), a[0])
			_, fileErr := skills.ReadSkillFile(t.Context(), a[0], "SKILL.md")
			code := string(toolshelf.CodeOf(err))
			text := strings.TrimPrefix(err.Error(), "toolshelf: GetSkill: ")
			text = strings.TrimSuffix(text, " ("+code+")")
			must.Equal(t, a[0], "toolshelf: ReadSkillFile: "+text+" ("+code+")", fileErr.Error())
			return code + " " + text
		},
		"complete": func(t *testing.T, a ...string) string {
			var got []string
			limit := must.Get(strconv.Atoi(a[1]))(t)
			for _, row := range completed(t, typed, a[0], limit, kinds(a[2:])...) {
				got = append(got, string(row.Kind)+" "+row.Name)
			}
			return strings.Join(got, ", ")
		},
		"expand": func(t *testing.T, a ...string) (answer string) {
			for range 2 { // first read from the files, then cached
				x, err := expanded.Expand(t.Context(), a[0], kinds(a[1:])...)
				answer = fmt.Sprintf("%s %s: %q", x.Kind, x.Name, x.Text)
				if !cmp.Equal(x, toolshelf.Expansion{}) {
					must.Do(t, err)
					continue
				}
				answer = ""
				must.Equal(t, a[0], toolshelf.CodeCommandNotFound, toolshelf.CodeOf(err))
				must.Equal(t, a[0], false, errors.Is(err, toolshelf.ErrInvalidCommandName))
			}
			return answer
		},
	})
}

func TestCompletionsHaveTheHintAndTheDescription(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, terminal())), toolshelf.WithNestedCommands())
	const command, skill = toolshelf.KindCommand, toolshelf.KindSkill
	want := []toolshelf.Completion{
		{Kind: skill, Name: "pdf", Hint: "<file>", Description: "Reads PDF files.\nWrites none.", Layer: "skills"},
		{Kind: command, Name: "review", Hint: "<number> [priority]", Description: "Reviews a pull request.", Layer: "commands"},
	}
	must.Match(t, "rows", want, append(completed(t, c, "pdf", 1), completed(t, c, "review", 1)...))
}

func TestAnExpansionHasTheEntryAndTheArguments(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, terminal())))
	command := must.Get(c.Get(t.Context(), "review"))(t)
	skill := must.Get(c.GetSkill(t.Context(), "pdf"))(t)
	for line, want := range map[string]toolshelf.Expansion{
		"/review 417 'very high'": {Rendering: toolshelf.Rendering{Text: "Review #417 as very high."}, Kind: toolshelf.KindCommand, Name: "review",
			Args: toolshelf.Args{Line: "417 'very high'", List: []string{"417", "very high"}}, Frontmatter: command.Frontmatter, Command: &command},
		"/pdf  a b": {Rendering: toolshelf.Rendering{Text: "Read a."}, Kind: toolshelf.KindSkill, Name: "pdf",
			Args: toolshelf.Args{Line: "a b", List: []string{"a", "b"}}, Frontmatter: skill.Frontmatter, Skill: &skill},
	} {
		got, err := c.Expand(t.Context(), line)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(toolshelf.Frontmatter{})); diff != "" || err != nil {
			t.Errorf("Expand(%q): %v, (-want +got):\n%s", line, err, diff)
		}
	}
}

func TestExpandFollowsTheRulesOfTheLayer(t *testing.T) {
	files := map[string]string{
		".claude/commands/move.md":       "Move $0 to $1: $ARGUMENTS",
		".claude/skills/draw/SKILL.md":   "---\nname: draw\n---\nDraw $0 with ${CLAUDE_SKILL_DIR}/pen.",
		".opencode/commands/team/ask.md": "Ask $1 about $2.",
		"commands/move.md":               "Another $1.",
	}
	claude := catalog(t, toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithClient(client.Claude(), client.OpenCode()), toolshelf.WithHome(""))
	for line, want := range map[string]string{
		`/move "a b" c`:             `Move a b to c: "a b" c`,
		"/draw lines":               "Draw lines with .claude/skills/draw/pen.",
		"/team/ask ada the release": "Ask ada about the release.",
	} {
		must.Equal(t, line, want, filepath.ToSlash(must.Get(claude.Expand(t.Context(), line))(t).Text))
	}
}

// The example of the README writes $1 for the first argument, as in most clients.
func TestExpandReportsNumbersThatStandForAnotherArgument(t *testing.T) {
	files := map[string]string{
		".claude/commands/first.md":    "---\ndescription: d\n---\nReview\nchange $1.",
		".claude/commands/right.md":    "Review change $0 with $1.",
		".claude/commands/quiet.md":    "Review change $ARGUMENTS.",
		".claude/skills/draw/SKILL.md": "---\nname: draw\n---\nDraw $1.",
		".gemini/commands/other.toml":  "prompt = 'Review {{args}} for $1.'",
	}
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithClient(client.Claude(), client.Gemini()), toolshelf.WithHome(""))
	want := toolshelf.Diagnostic{Code: agentmd.DiagPlaceholderMiscounted, Severity: toolshelf.SeverityWarning, Line: 5, Column: 8,
		Message:    "the placeholder $1 stands for argument 2: by the rules of the client, $0 is the first argument",
		Suggestion: "write $0 for argument 1, or use $ARGUMENTS"}
	ofSkill := want
	ofSkill.Line, ofSkill.Column = 4, 6
	for line, want := range map[string][]toolshelf.Diagnostic{"/first 417": {want}, "/draw lines": {ofSkill}, "/right 417": nil, "/quiet 417": nil, "/other 417": nil} {
		x, err := c.Expand(t.Context(), line)
		if diff := cmp.Diff(want, x.Diagnostics); diff != "" || err != nil {
			t.Errorf("Expand(%q): %v, diagnostics (-want +got):\n%s", line, err, diff)
		}
	}
	plain := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"commands/first.md": "Review change $1."})))
	if x, err := plain.Expand(t.Context(), "/first 417"); x.Text != "Review change 417." || x.Diagnostics != nil || err != nil {
		t.Errorf("got %+v, %v", x, err)
	}
}

func TestExpandReturnsTheEntryThatNeedsArguments(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{".codex/prompts/open.md": "Open $FILE."})), toolshelf.WithClient(client.Codex()), toolshelf.WithHome(""))
	x, err := c.Expand(t.Context(), "/prompts:open TO=x")
	if !errors.Is(err, toolshelf.ErrInvalidArguments) || x.Kind != toolshelf.KindCommand || x.Name != "prompts:open" || x.Args.Line != "TO=x" || x.Text != "" || x.Command == nil {
		t.Fatalf("got %+v, %v", x, err)
	}
	arguments, err := toolshelf.Renderer{Rules: x.Command.Rules}.Arguments(t.Context(), *x.Command)
	if err != nil || len(arguments) != 1 || arguments[0].Name != "FILE" || !arguments[0].Required {
		t.Errorf("got %+v, %v", arguments, err)
	}
}

func TestExpandAndCompleteAgents(t *testing.T) {
	agent := func(name string) string {
		return "---\nname: " + name + "\ndescription: Does " + name + ".\n---\nYou are " + name + ".\n"
	}
	files := map[string]string{".opencode/agents/r.md": agent("reviewer"), ".opencode/agents/w.md": agent("tech writer"), ".opencode/agents/x.md": agent("agent-x"), ".opencode/agents/h.md": "---\nname: hid\nuser-invocable: false\n---\n",
		".claude/agents/a.md": agent("x"), ".qwen/agents/q.md": agent("q"), ".opencode/commands/reviewer.md": "The command."}
	for _, tt := range []struct {
		clients    []client.Client
		line, name string // "" without an agent
		task       string
		kinds      []toolshelf.Kind
	}{
		{[]client.Client{client.OpenCode()}, " @reviewer check this\n", "reviewer", "check this", nil},
		{[]client.Client{client.OpenCode()}, "@tech writer write  it", "tech writer", "write  it", nil},
		{[]client.Client{client.OpenCode()}, "@src/main.go explain", "", "", nil},
		{[]client.Client{client.OpenCode()}, "@hid x", "", "", nil},
		{[]client.Client{client.OpenCode()}, "@reviewer", "", "", []toolshelf.Kind{toolshelf.KindCommand}},
		{[]client.Client{client.Claude()}, "@agent-x go", "x", "go", nil},
		{[]client.Client{client.Claude()}, "@x go", "", "", nil},
		{[]client.Client{client.OpenCode(), client.Claude()}, "@agent-x go", "agent-x", "go", nil},
		{[]client.Client{client.Qwen()}, "@q go", "", "", nil},
		{[]client.Client{client.Qwen()}, "q go", "q", "go", []toolshelf.Kind{toolshelf.KindAgent}},
	} {
		c := catalog(t, toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithHome(""), toolshelf.WithClient(tt.clients...))
		x, err := c.Expand(t.Context(), tt.line, tt.kinds...)
		switch {
		case tt.name == "" && !errors.Is(err, toolshelf.ErrCommandNotFound):
			t.Errorf("%q: %+v, %v", tt.line, x, err)
		case tt.name != "" && (err != nil || x.Kind != toolshelf.KindAgent || x.Name != tt.name || x.Text != tt.task || x.Agent == nil || x.Agent.Content == ""):
			t.Errorf("%q: %+v, %v", tt.line, x, err)
		}
	}
	for _, tt := range []struct {
		client client.Client
		prefix string
		want   []string
		kinds  []toolshelf.Kind
	}{
		{client.OpenCode(), "@", []string{"agent-x", "reviewer", "tech writer"}, nil},
		{client.OpenCode(), "@Rev", []string{"reviewer"}, nil},
		{client.OpenCode(), "rev", []string{"reviewer"}, []toolshelf.Kind{toolshelf.KindAgent}},
		{client.Claude(), "@ag", []string{"x"}, nil},
		{client.Claude(), "@agent-x", []string{"x"}, nil},
		{client.Claude(), "@x", []string{"x"}, nil},
		{client.Qwen(), "@q", nil, nil},
	} {
		c := catalog(t, toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithHome(""), toolshelf.WithClient(tt.client))
		rows, err := c.CompleteName(t.Context(), tt.prefix, 0, tt.kinds...)
		var got []string
		for _, r := range rows {
			must.Equal(t, tt.prefix, toolshelf.KindAgent, r.Kind)
			must.Equal(t, tt.prefix, "Does "+r.Name+".", r.Description)
			got = append(got, r.Name)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%s %q: %v (-want +got):\n%s", tt.client.Name, tt.prefix, err, diff)
		}
	}
}

func TestErrorsOfExpand(t *testing.T) {
	files := terminal()
	for _, tt := range []struct {
		name, line string
		opts       []toolshelf.Option
		kinds      []toolshelf.Kind
		want       error
		message    string
	}{
		{name: "a similar name", line: "/reveiw 1", want: toolshelf.ErrCommandNotFound, message: `there is no command or skill "reveiw"; did you mean "review"?`},
		{name: "a similar name of a skill", line: "/repiar 1", want: toolshelf.ErrCommandNotFound, message: `there is no command or skill "repiar"; did you mean "repair"?`},
		{name: "a similar name of another kind", line: "/repiar", kinds: []toolshelf.Kind{toolshelf.KindCommand}, want: toolshelf.ErrCommandNotFound, message: `there is no command "repiar"; list the commands and the skills for the names`},
		{name: "a name without its directory", line: "/Page x", opts: []toolshelf.Option{toolshelf.WithNestedCommands()}, want: toolshelf.ErrCommandNotFound, message: `there is no command or skill "Page"; did you mean "frontend:page"?`},
		{name: "a similar name with a slash", line: "/frontend/pge x", opts: []toolshelf.Option{toolshelf.WithNestedCommands()}, want: toolshelf.ErrCommandNotFound, message: `there is no command or skill "frontend/pge"; did you mean "frontend:page"?`},
		{name: "a path", line: "/usr/bin/x fails", opts: []toolshelf.Option{toolshelf.WithNestedCommands()}, want: toolshelf.ErrCommandNotFound, message: `there is no command or skill "usr/bin/x"; list the commands and the skills for the names`},
		{name: "no name", line: "/", want: toolshelf.ErrCommandNotFound, message: `there is no command or skill ""; write a name after the slash, as in /review`},
		{name: "a skill for models only", line: "/secret", want: toolshelf.ErrCommandNotFound, message: `only a model invokes the skill "secret", because its frontmatter has user-invocable: false; remove the field to invoke the skill`},
		{name: "no directory", line: "/review", opts: []toolshelf.Option{toolshelf.WithFs(memory(t, "."))}, want: toolshelf.ErrCommandNotFound},
		{name: "an unknown kind", line: "/review", kinds: []toolshelf.Kind{"plugin"}, want: toolshelf.ErrInvalidOption},
		{name: "a long text", line: strings.Repeat("x", 1<<20), want: toolshelf.ErrCommandNotFound},
		{name: "a skill that is too large", line: "/pdf 1", opts: []toolshelf.Option{toolshelf.WithMaxFileSize(40)}, want: toolshelf.ErrFileTooLarge},
		{name: "too much text", line: "/Release " + strings.Repeat("x", 65<<20), want: toolshelf.ErrSizeLimitExceeded},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := catalog(t, append([]toolshelf.Option{toolshelf.WithFs(memoryOf(t, files))}, tt.opts...)...)
			if _, err := c.CompleteName(t.Context(), "", 0); err != nil { // reads the names
				t.Fatal(err)
			}
			_, err := c.Expand(t.Context(), tt.line, tt.kinds...)
			var e *toolshelf.Error
			if !errors.Is(err, tt.want) || !errors.As(err, &e) || e.Op != "Expand" || tt.message != "" && e.Message != tt.message || len(err.Error()) > 1500 {
				t.Errorf("got %.2000v, want %v", err, tt.want)
			}
		})
	}
}

// An unreadable directory of skills may have a skill of the name.
func TestExpandRunsNoCommandInPlaceOfAnUnreadableSkill(t *testing.T) {
	dir := diskOf(t, terminal())
	c := catalog(t, toolshelf.WithRoot(dir), toolshelf.WithSkillsFS("remote", unanswering{}))
	if _, err := c.Expand(t.Context(), "/review 1"); err == nil || errors.Is(err, toolshelf.ErrCommandNotFound) {
		t.Errorf("got %v", err)
	}
	must.Equal(t, "Name", "review",
		must.Get(c.Expand(t.Context(), "/review 1", toolshelf.KindCommand))(t).Name)
}

// unanswering is a filesystem that does not answer.
type unanswering struct{}

func (unanswering) Open(string) (fs.File, error) { return nil, errors.New("no answer") }

func TestANameThatNoEntryCanHaveNeverReachesTheFilesystem(t *testing.T) {
	var touched []string
	c := catalog(t, toolshelf.WithFs(recording(memory(t, "."), &touched)))
	for _, line := range []string{"/usr/bin/x fails", "/../secret", "", "/", "//", `/a\b`, "/.hidden", "/..", "/nul\x00 x", strings.Repeat("/", 5000)} {
		must.Fail(c.Expand(t.Context(), line))(t, line, toolshelf.ErrCommandNotFound)
	}
	must.Len(t, "the filesystem received", 0, touched)
}

// The name of an entry is the beginning of the line, and the arguments are the rest.
func FuzzExpand(f *testing.F) {
	for _, seed := range []string{"/review 417 high", "pdf a", "/frontend/page x", "/usr/bin/x fails", "/Résumé writer a", " /repair\t'a b' ", "/", "", "/review.md 1", "/secret", "/part", "//pdf", "/pdf\xff"} {
		f.Add(seed)
	}
	c := catalog(f, toolshelf.WithFs(memoryOf(f, terminal())), toolshelf.WithNestedCommands())
	f.Fuzz(func(t *testing.T, line string) {
		x, err := c.Expand(t.Context(), line)
		if err != nil {
			if toolshelf.CodeOf(err) != toolshelf.CodeCommandNotFound || strings.ContainsAny(err.Error(), "\r\n") {
				t.Errorf("Expand(%q): %v", line, err)
			}
			return
		}
		typed := strings.TrimPrefix(strings.Trim(line, " \t\r\n"), "/")
		rest, ok := strings.CutPrefix(strings.Replace(typed, "frontend/", "frontend:", 1), x.Name)
		rest = strings.TrimPrefix(rest, ".md")
		if args := strings.Trim(rest, " \t\r\n"); !ok || args != x.Args.Line || rest != "" && args == rest || !slices.Equal(x.Args.List, toolshelf.ParseArgs(args).List) {
			t.Errorf("Expand(%q) is %s with %+v", line, x.Name, x.Args)
		}
		if rows := completed(t, c, x.Name, 1); len(rows) != 1 || rows[0].Name != x.Name || rows[0].Kind != x.Kind {
			t.Errorf("Expand(%q) is the %s %s, completed as %+v", line, x.Kind, x.Name, rows)
		}
	})
}
