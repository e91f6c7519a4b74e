package trust_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/trust"
)

// gated returns a catalog with a Store, over files in memory.
func gated(t *testing.T, files map[string]string, opts ...toolshelf.Option) (afero.Fs, *toolshelf.Catalog, *trust.Store) {
	t.Helper()
	store, fsys := newStore(t), catalogtest.Memory(t, files)
	return fsys, catalogtest.Open(t, append([]toolshelf.Option{toolshelf.WithFs(fsys), toolshelf.WithRoot("/p"), toolshelf.WithHome(""), toolshelf.WithGate(store)}, opts...)...), store
}

func newStore(t *testing.T) *trust.Store {
	t.Helper()
	dir := t.TempDir()
	store, err := trust.Open(filepath.Join(dir, "trust"))
	must.Do(t, errors.Join(err, os.Chmod(dir, 0o700)))
	return store
}

// pending returns the refused entries of a catalog, by kind and name.
func pending(t *testing.T, c *toolshelf.Catalog) map[string]toolshelf.Pending {
	t.Helper()
	all := must.Get(c.Pending(t.Context()))(t)
	byName := map[string]toolshelf.Pending{}
	for _, p := range all {
		byName[string(p.Kind)+" "+p.Name] = p
	}
	return byName
}

// approve approves the refused entries, and returns them.
func approve(t *testing.T, c *toolshelf.Catalog, store *trust.Store) map[string]toolshelf.Pending {
	t.Helper()
	all := pending(t, c)
	must.Do(t, store.Approve(t.Context(), slices.Collect(maps.Values(all))...))
	return all
}

// expect compares the names of the refused entries.
func expect(t *testing.T, c *toolshelf.Catalog, want ...string) map[string]toolshelf.Pending {
	t.Helper()
	all := pending(t, c)
	must.Match(t, "pending", want, slices.Sorted(maps.Keys(all)))
	return all
}

func put(t *testing.T, fsys afero.Fs, name, text string) {
	t.Helper()
	must.Do(t, afero.WriteFile(fsys, name, []byte(text), 0o644))
}

// The hashed text of the old digest of a list is the content of the approved file.
func TestAnApprovalOfOneFileAllowsThatFileOnly(t *testing.T) {
	const evil = "description = \"E\"\nprompt = \"Evil.\"\n"
	line := func(text, name string) string { return fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(text)), name) }
	fsys, c, store := gated(t, map[string]string{
		"/p/.qwen/commands/deploy.md": line(evil, "deploy.toml"),
		"/p/CLAUDE.md":                line("@evil.md", "CLAUDE.md") + line("Evil.", "evil.md"),
	}, toolshelf.WithClient(client.Qwen()), toolshelf.WithInstructions(client.Claude()))
	first := approve(t, c, store)
	for name, p := range first {
		if !strings.HasPrefix(p.Digest, "sha256:") {
			t.Errorf("%s has the digest %s", name, p.Digest)
		}
	}
	must.Do(t, fsys.Remove("/p/.qwen/commands/deploy.md"))
	put(t, fsys, "/p/.qwen/commands/deploy.toml", evil)
	put(t, fsys, "/p/CLAUDE.md", "@evil.md")
	put(t, fsys, "/p/evil.md", "Evil.")
	if command, err := c.Get(t.Context(), "deploy"); !errors.Is(err, toolshelf.ErrCommandNotFound) {
		t.Errorf("got %q, %v", command.Content, err)
	}
	for hops := range 3 {
		must.Equal(t, `c.Instructions(t.Context(), ".", toolshelf.Imports(hops))`, 0,
			len(must.Get(c.Instructions(t.Context(), ".", toolshelf.Imports(hops)))(t)))
	}
	all := expect(t, c, "command deploy", "instruction CLAUDE.md")
	if got := all["command deploy"].Digest; !strings.HasPrefix(got, "list-sha256:") {
		t.Errorf("a command in TOML has the digest %s", got)
	}
	if got := all["instruction CLAUDE.md"].Digest; !strings.HasPrefix(got, "instruction-sha256:") {
		t.Errorf("an instruction with imports has the digest %s", got)
	}
	approve(t, c, store)
	put(t, fsys, "/p/.qwen/commands/deploy.md", first["command deploy"].New["deploy.md"])
	must.Do(t, fsys.Remove("/p/.qwen/commands/deploy.toml"))
	expect(t, c, "command deploy")
}

// A plugin without a manifest has the rules of Claude Code, so the removal of a manifest turns a
// text into a directive.
func TestARemovedManifestNeedsAnotherApprovalOfTheFiles(t *testing.T) {
	for _, manifest := range []string{"/p/shop/x/.cursor-plugin/plugin.json", "/p/shop/x/.github/plugin/plugin.json", "/p/shop/.cursor-plugin/marketplace.json", "/p/shop/.github/plugin/marketplace.json"} {
		text := `{"name": "x"}`
		if strings.HasSuffix(manifest, "marketplace.json") {
			text = `{"plugins": [{"name": "x", "source": "./x"}]}`
		}
		fsys, c, store := gated(t, map[string]string{manifest: text, "/p/shop/x/commands/go.md": "Run !`id`.", "/p/shop/x/skills/s/SKILL.md": "---\nname: s\ndescription: S.\n---\nRun !`id`."}, toolshelf.WithPlugins("shop"))
		first := approve(t, c, store)
		if x, err := c.Expand(t.Context(), "/x:go"); err != nil || strings.Contains(manifest, "cursor") && len(x.Directives) != 0 || len(first) != 3 {
			t.Fatalf("%s: %+v, %v", manifest, x, err)
		}
		must.Do(t, fsys.Remove(manifest))
		for _, line := range []string{"/x:go", "/x:s"} {
			if x, err := c.Expand(t.Context(), line); !errors.Is(err, toolshelf.ErrCommandNotFound) {
				t.Errorf("%s: %s has %d directives, %v", manifest, line, len(x.Directives), err)
			}
		}
		for name, p := range expect(t, c, "command x:go", "skill x:s") {
			if p.Rules != ".claude-plugin/plugin.json" || p.Rules == first[name].Rules || p.Digest != first[name].Digest {
				t.Errorf("%s: %+v", manifest, p.Item)
			}
			if err := store.ApproveFirst(t.Context(), p); err != nil {
				t.Error(err)
			}
		}
		expect(t, c, "command x:go", "skill x:s")
	}
}

// The rules of a directory that several clients read are those of the first client.
func TestAnotherClientNeedsAnotherApproval(t *testing.T) {
	files := map[string]string{"/p/.claude/skills/s/SKILL.md": "---\nname: s\ndescription: S.\n---\nRun !`id`."}
	fsys, c, store := gated(t, files, toolshelf.WithClient(client.Claude(), client.Amp()))
	if got := approve(t, c, store)["skill s"]; got.Rules != "claude" || got.File != "s/SKILL.md" {
		t.Errorf("the item is %+v", got.Item)
	}
	for clients, want := range map[*[]client.Client][]string{{client.Claude()}: nil, {client.Amp(), client.Claude()}: {"skill s"}} {
		expect(t, catalogtest.Open(t, toolshelf.WithFs(fsys), toolshelf.WithRoot("/p"), toolshelf.WithHome(""), toolshelf.WithClient(*clients...), toolshelf.WithGate(store)), want...)
	}
}

// A file that a header names can move, so the approval covers its path.
func TestAMovedFileNeedsAnotherApproval(t *testing.T) {
	const agent = "---\nname: a\ndescription: A.\n---\nA."
	fsys, c, store := gated(t, map[string]string{"/p/agents/a.md": agent}, toolshelf.WithAgentsDir("agents"))
	approve(t, c, store)
	must.Do(t, fsys.Rename("/p/agents/a.md", "/p/agents/b.md"))
	must.Equal(t, "the item", "b.md", expect(t, c, "agent a")["agent a"].File)
}

// docs/trust.md promises what this test asserts.
func TestAnApprovalCoversTheDirectoriesOfDependenciesAndNotTheirFiles(t *testing.T) {
	const skill = "/p/skills/s"
	fsys, c, store := gated(t, map[string]string{skill + "/SKILL.md": "---\nname: s\ndescription: S.\n---\n", skill + "/run.js": "require('x')", skill + "/lib/a.js": "a"})
	read := func(name string) string {
		t.Helper()
		text, err := c.ReadSkillFile(t.Context(), "s", name)
		if err != nil && toolshelf.CodeOf(err) == "" {
			t.Fatal(err)
		}
		return string(text)
	}
	approve(t, c, store)
	for _, dir := range []string{"node_modules", "lib/node_modules", ".git"} {
		at := skill + "/" + dir
		put(t, fsys, at+"/hooks/x.js", "1")
		put(t, fsys, at+"/hooks/node_modules/y.js", "1")
		if _, err := c.GetSkill(t.Context(), "s"); !errors.Is(err, toolshelf.ErrSkillNotFound) {
			t.Errorf("%s: a skill with a new directory: %v", dir, err)
		}
		found := slices.DeleteFunc(expect(t, c, "skill s")["skill s"].Findings, func(d toolshelf.Diagnostic) bool { return d.Code != agentmd.DiagUncoveredFiles })
		if len(found) != 1 || found[0].Path != "skills/s/"+dir || !strings.Contains(found[0].Message, " 2 files") {
			t.Errorf("%s: %v", dir, found)
		}
		approve(t, c, store)
		put(t, fsys, at+"/hooks/x.js", "2") // not covered
		put(t, fsys, at+"/more.js", "3")
		expect(t, c)
		must.Equal(t, fmt.Sprintf("%s: read", dir), "require('x')", read("run.js"))
		must.Equal(t, fmt.Sprintf("%s: a file that the digest does not cover is read", dir), "",
			read(dir+"/hooks/x.js"))
		must.Do(t, fsys.RemoveAll(at))
		if _, err := c.GetSkill(t.Context(), "s"); !errors.Is(err, toolshelf.ErrSkillNotFound) {
			t.Errorf("%s: a skill without the approved directory: %v", dir, err)
		}
		expect(t, c, "skill s")
		approve(t, c, store)
	}
}

func TestTheNumberOfUncoveredFilesIsBounded(t *testing.T) {
	files := map[string]string{"/p/skills/s/SKILL.md": "---\nname: s\ndescription: S.\n---\n"}
	for i := range 10_100 {
		files[fmt.Sprintf("/p/skills/s/node_modules/%d/%d.js", i%100, i)] = ""
	}
	_, c, _ := gated(t, files)
	found := pending(t, c)["skill s"].Findings
	if !slices.ContainsFunc(found, func(d toolshelf.Diagnostic) bool {
		return d.Code == agentmd.DiagUncoveredFiles && strings.Contains(d.Message, " 10000 or more files")
	}) {
		t.Errorf("findings: %v", found)
	}
}

// A script of the skill can follow a link that the list of files omits.
func TestAnApprovalCoversTheLinksThatASkillOmits(t *testing.T) {
	dir := catalogtest.Disk(t, map[string]string{"skills/s/SKILL.md": "---\nname: s\ndescription: S.\n---\n", "skills/s/run.sh": ". lib/x.sh", "skills/s/a/x.sh": "a", "skills/s/b/x.sh": "b", "other/x.sh": "evil"})
	store := newStore(t)
	c := catalogtest.Open(t, toolshelf.WithRoot(dir), toolshelf.WithGate(store))
	approve(t, c, store)
	link := filepath.Join(dir, "skills", "s", "lib")
	for _, target := range []string{"a", "b", "../../other", "../../..", "none", "node_modules"} {
		_ = os.Remove(link)
		if err := os.Symlink(filepath.FromSlash(target), link); err != nil {
			t.Skip(err)
		}
		if _, err := c.GetSkill(t.Context(), "s"); !errors.Is(err, toolshelf.ErrSkillNotFound) {
			t.Errorf("a link to %s: %v", target, err)
		}
		expect(t, c, "skill s")
		approve(t, c, store)
		expect(t, c)
	}
}

// An embedder records the texts of the files.
type embedder struct {
	mu    sync.Mutex
	texts []string
}

func (e *embedder) ID() string { return "test" }

func (e *embedder) Embed(_ context.Context, texts []string, query bool) (vectors [][]float32, _ error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for range texts {
		vectors = append(vectors, []float32{1, 2})
	}
	if !query {
		e.texts = append(e.texts, texts...)
	}
	return vectors, nil
}

// taken returns the texts since the last call.
func (e *embedder) taken() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	slices.Sort(e.texts)
	all := strings.Join(e.texts, "\n")
	e.texts = nil
	return all
}

func TestTheEmbedderReceivesNoTextOfARefusedEntry(t *testing.T) {
	e := new(embedder)
	fsys, c, store := gated(t, map[string]string{"/p/commands/a.md": "---\ndescription: first\n---\n", "/p/commands/b.md": "---\ndescription: second\n---\n"}, toolshelf.WithEmbedder(e))
	search := func(want string, names ...string) {
		t.Helper()
		found, err := c.Search(t.Context(), "first second third", 0)
		var got []string
		for _, r := range found.Results {
			got = append(got, r.Name)
		}
		if slices.Sort(got); err != nil || !slices.Equal(got, names) || found.Semantic != (names != nil) {
			t.Errorf("found %+v, %v, want %q", found, err, names)
		}
		must.Equal(t, "the embedder", want, e.taken())
	}
	search("")
	all := pending(t, c)
	must.Do(t, store.Approve(t.Context(), all["command a"]))
	search("a first", "a")
	search("", "a")
	put(t, fsys, "/p/commands/a.md", "---\ndescription: third\n---\n")
	search("")
	must.Do(t, store.Approve(t.Context(), all["command b"]))
	put(t, fsys, "/p/commands/c.md", "C.")
	search("b second", "b")
	must.Do(t, store.Approve(t.Context(), pending(t, c)["command a"]))
	search("a third", "a", "b")
	must.Do(t, store.Revoke(t.Context(), all["command b"].Item))
	search("", "a")
}

func TestPendingTellsRevokedEntries(t *testing.T) {
	_, c, store := gated(t, map[string]string{"/p/commands/new.md": "N.", "/p/commands/old.md": "O."})
	must.Do(t, store.Revoke(t.Context(), pending(t, c)["command old"].Item))
	if all := pending(t, c); !all["command old"].Revoked || all["command new"].Revoked {
		t.Errorf("pending: %+v", all)
	}
}

func TestPendingHasTheTextsBeforeAndAfterAChange(t *testing.T) {
	fsys, c, store := gated(t, map[string]string{
		"/p/commands/deploy.md": "One.", "/p/sub/CLAUDE.md": "One.",
		"/p/more/CLAUDE.md": "@one.md", "/p/more/one.md": "One.",
	}, toolshelf.WithInstructions(client.Claude()))
	approve(t, c, store)
	for _, name := range []string{"commands/deploy.md", "sub/CLAUDE.md", "more/one.md"} {
		put(t, fsys, "/p/"+name, "Two.")
	}
	all := expect(t, c, "command deploy", "instruction more/CLAUDE.md", "instruction sub/CLAUDE.md")
	for name, want := range map[string][2]map[string]string{
		"command deploy":             {{"deploy.md": "One."}, {"deploy.md": "Two."}},
		"instruction sub/CLAUDE.md":  {{"CLAUDE.md": "One."}, {"CLAUDE.md": "Two."}},
		"instruction more/CLAUDE.md": {{"more/CLAUDE.md": "@one.md", "more/one.md": "One."}, {"more/CLAUDE.md": "@one.md", "more/one.md": "Two."}},
	} {
		must.Match(t, name, want, [2]map[string]string{all[name].Old, all[name].New})
	}
}

func TestPendingOfAMissingRootHasACode(t *testing.T) {
	for _, opts := range [][]toolshelf.Option{nil, {toolshelf.WithCommandsDir(), toolshelf.WithSkillsDir()}} {
		dir := filepath.Join(t.TempDir(), "p")
		c := catalogtest.Open(t, append([]toolshelf.Option{toolshelf.WithRoot(dir), toolshelf.WithGate(newStore(t))}, opts...)...)
		if all, err := c.Pending(t.Context()); !errors.Is(err, toolshelf.ErrDirectoryNotFound) {
			t.Errorf("got %v, %v", all, err)
		}
	}
}
