package mcpadapter_test

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spf13/afero"
	"go.yaml.in/yaml/v3"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// frontmatterOf parses the frontmatter of a SKILL.md with another parser than the
// library, and returns its fields in the form of decoded JSON.
func frontmatterOf(t testing.TB, text []byte) any {
	t.Helper()
	lines := bytes.SplitAfter(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\n"))
	if len(lines) == 0 || strings.TrimSpace(string(lines[0])) != "---" {
		t.Fatalf("no frontmatter: %.100q", text)
	}
	end := slices.IndexFunc(lines[1:], func(line []byte) bool { return strings.TrimRight(string(line), " \t\n") == "---" })
	if end < 0 {
		t.Fatalf("no end of the frontmatter: %.100q", text)
	}
	var fields any
	must.Do(t, yaml.Unmarshal(bytes.Join(lines[1:end+1], nil), &fields))
	raw := must.Get(json.Marshal(fields))(t)
	var decoded any
	must.Do(t, json.Unmarshal(raw, &decoded))
	return decoded
}

// sameFrontmatter compares the frontmatter of an entry with the frontmatter of a SKILL.md.
func sameFrontmatter(t testing.TB, e mcpadapter.SkillEntry, text []byte) {
	t.Helper()
	var got any
	must.Do(t, json.Unmarshal(e.Frontmatter, &got))
	must.Match(t, e.URI, frontmatterOf(t, text), got)
}

// Every public skill is served, and its entry describes the files on the disk.
func TestPublicSkillsAreServed(t *testing.T) {
	corpus := os.Getenv("TOOLSHELF_CORPUS")
	if corpus == "" {
		t.Skip("TOOLSHELF_CORPUS is not set; set the variable to a directory of public command and skill files")
	}
	for _, collection := range []string{"openai", "wshobson-agents"} {
		root := filepath.Join(corpus, "skills", collection)
		layers, onDisk := map[string]bool{}, map[string]string{} // the directories of skills by their digest
		must.Do(t, filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.Name() == "SKILL.md" {
				layers[filepath.Dir(filepath.Dir(name))] = true
				text, err := os.ReadFile(name)
				if err != nil {
					return err
				}
				onDisk[digest(text)] = filepath.Dir(name)
			}
			return err
		}))
		served := map[string]bool{}
		for layer := range layers { // layers of one catalog would shadow each other
			c := must.Get(toolshelf.New(toolshelf.WithSkillsDir(layer)))(t)
			a := adapterOf(t, c)
			must.Len(t, layer, 0, must.Get(a.SkillDiagnostics(ctx))(t))
			client := skillClients(t, a)["modern"]
			for _, e := range client.list() {
				i := slices.IndexFunc(e.Resources, func(r mcpadapter.SkillResource) bool { return r.URI == e.URI })
				dir := onDisk[e.Resources[i].Digest] // may differ from the declared name
				served[dir] = true
				checkEntry(t, client, e, dir)
			}
			c.Close()
		}
		for _, dir := range onDisk {
			if !served[dir] {
				t.Errorf("%s is not served", dir)
			}
		}
		t.Logf("%s: %d skills", collection, len(served))
	}
}

// checkEntry compares an entry with the files of a directory, and with the resources of
// the server.
func checkEntry(t *testing.T, c skillClient, e mcpadapter.SkillEntry, dir string) {
	t.Helper()
	want, got := map[string]string{}, map[string]string{}
	must.Do(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		below, _ := filepath.Rel(dir, name)
		want[filepath.ToSlash(below)] = fmt.Sprintf("%d %s", len(data), digest(data))
		if below == "SKILL.md" {
			sameFrontmatter(t, e, data)
		}
		return nil
	}))
	for _, r := range e.Resources {
		below := strings.TrimPrefix(r.URI, strings.TrimSuffix(e.URI, "SKILL.md"))
		got[strings.ReplaceAll(below, "%20", " ")] = fmt.Sprintf("%d %s", r.Size, r.Digest)
		data, _, err := c.read(r.URI)
		must.Do(t, err)
		must.Equal(t, r.URI, r.Digest, digest(data))
	}
	must.Match(t, e.URI, want, got)
}

// skillRounds returns the number of rounds of a test with a writer. The environment
// variable TOOLSHELF_SKILL_ROUNDS sets the number.
func skillRounds(t *testing.T) int {
	if text := os.Getenv("TOOLSHELF_SKILL_ROUNDS"); text != "" {
		return must.Get(strconv.Atoi(text))(t)
	}
	if testing.Short() {
		return 15
	}
	return 60
}

// While a writer edits, replaces, adds, removes and renames files, a client that verifies
// each file finds no mismatch: it reads the bytes of its entry, or an error that asks for
// a fresh entry.
func TestClientsNeverReceiveOtherBytesThanTheirEntry(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "skills")
	for _, name := range []string{"edited", "nested", "nested/inner"} {
		full := filepath.Join(dir, filepath.FromSlash(name))
		must.Do(t, errors.Join(os.MkdirAll(full, 0o755), os.WriteFile(filepath.Join(full, "SKILL.md"), []byte(skillText(filepath.Base(full))), 0o644)))
	}
	c := must.Get(toolshelf.New(toolshelf.WithRoot(root), toolshelf.WithSkillDepth(3)))(t)
	defer c.Close()
	a := adapterOf(t, c)

	stop, called, done := make(chan struct{}), make(chan struct{}), sync.WaitGroup{}
	done.Go(func() { editSkills(dir, stop, called) })
	var reads, refused atomic.Int64
	kinds := map[string]func() skillClient{
		"legacy":                func() skillClient { return skillClients(t, a)["legacy"] },
		"modern":                func() skillClient { return skillClients(t, a)["modern"] },
		"a session per request": nil,
	}
	rounds := max(1, skillRounds(t)/len(kinds))
	for kind, newClient := range kinds {
		fresh := func() skillClient { return skillClient{t, a.NewSession(), true} }
		if newClient != nil {
			one := newClient()
			fresh = func() skillClient { return one }
		}
		client := func() skillClient {
			select {
			case called <- struct{}{}: // the writer waits for calls
			default:
			}
			return fresh()
		}
		for round := 0; round < rounds || reads.Load() == 0 || refused.Load() == 0; round++ {
			for _, e := range client().list() {
				if rand.IntN(2) == 0 { // an entry of the list, or a fresh entry
					var fresh struct{ Skill mcpadapter.SkillEntry }
					if err := client().send("skills/get", uri(e.URI), &fresh); err != nil {
						wantChanged(t, kind, e.URI, err)
						continue
					}
					e = fresh.Skill
				}
				for _, r := range e.Resources {
					data, _, err := client().read(r.URI)
					if err != nil {
						refused.Add(1)
						wantChanged(t, kind, r.URI, err)
						continue
					}
					if reads.Add(1); digest(data) != r.Digest || int64(len(data)) != r.Size {
						t.Errorf("%s: %s: the bytes differ from the entry", kind, r.URI)
					} else if r.URI == e.URI {
						sameFrontmatter(t, e, data)
					}
				}
			}
			if t.Failed() {
				break
			}
		}
	}
	close(stop)
	done.Wait()
	t.Logf("%d reads, %d refused", reads.Load(), refused.Load())
	if reads.Load() == 0 || refused.Load() == 0 {
		t.Error("the writer and the client do not meet")
	}
}

// wantChanged checks that an error asks the client for a fresh entry, or reports a skill
// that is not published at the moment.
func wantChanged(t *testing.T, kind, at string, err error) {
	t.Helper()
	e := rpcError(t, err)
	fresh := e.Code == mcpadapter.CodeInternalError && strings.Contains(e.Message, "fresh entr")
	gone := e.Code == mcpadapter.CodeInvalidParams && strings.HasPrefix(e.Message, "No ")
	if !fresh && !gone {
		t.Errorf("%s: %s: %v", kind, at, err)
	}
}

// editSkills edits the skills of the test until stop is closed. After some edits, editSkills waits
// for calls of the client, so that a slow client also reads complete skills.
func editSkills(dir string, stop, called <-chan struct{}) {
	path := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	write := func(name, content string) { _ = os.WriteFile(path(name), []byte(content), 0o644) }
	replace := func(name, content string) {
		write(name+".new", content)
		_ = os.Rename(path(name+".new"), path(name))
	}
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		default:
		}
		version := fmt.Sprintf("%04d", i%1000) // the same size in each version
		switch i % 8 {
		case 0:
			write("edited/notes.md", "Version "+version+"\n")
		case 1:
			replace("edited/notes.md", "Version "+version+"\n")
		case 2:
			replace("edited/SKILL.md", "---\nname: edited\ndescription: Version "+version+".\n---\n")
		case 3:
			write("nested/inner/SKILL.md", skillText("inner")+version+"\n")
		case 4:
			write("nested/extra-"+version[3:]+".txt", strings.Repeat(version, i%50))
		case 5:
			_ = os.Remove(path("nested/extra-" + version[2:3] + ".txt"))
		case 6:
			if i%80 == 6 { // a skill without a SKILL.md for a moment
				_ = os.Rename(path("edited/SKILL.md"), path("edited/moved.md"))
				_ = os.Rename(path("edited/moved.md"), path("edited/SKILL.md"))
			}
		case 7:
			for range i / 8 % 8 {
				select {
				case <-called:
				case <-stop:
				}
			}
		}
	}
}

// An openCounter is a filesystem that counts the opened files, without directories.
type openCounter struct {
	afero.Fs
	files atomic.Int64
}

func (f *openCounter) Open(name string) (afero.File, error) { return f.OpenFile(name, os.O_RDONLY, 0) }

func (f *openCounter) OpenFile(name string, flag int, mode os.FileMode) (afero.File, error) {
	file, err := f.Fs.OpenFile(name, flag, mode)
	if err == nil {
		if info, statErr := file.Stat(); statErr == nil && !info.IsDir() {
			f.files.Add(1)
		}
	}
	return file, err
}

// manySkills returns an adapter of n skills with three files each on the disk, after the
// caches have all files. opened counts the opened files.
func manySkills(t testing.TB, n int) (root string, a *mcpadapter.Adapter, opened *atomic.Int64) {
	t.Helper()
	catalogtest.NeedsChangeTimes(t)
	root = t.TempDir()
	for i := range n {
		name := fmt.Sprintf("s%03d", i)
		for file, content := range map[string]string{"SKILL.md": skillText(name), "a.txt": name, "references/b.md": strings.Repeat("b", 4000)} {
			full := filepath.Join(root, "skills", name, filepath.FromSlash(file))
			must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(content), 0o644)))
		}
	}
	disk := &openCounter{Fs: afero.NewOsFs()}
	a = adapterOf(t, catalog(t, disk, toolshelf.WithRoot(root)), mcpadapter.WithPageSize(100))
	for deadline := time.Now().Add(20 * time.Second); ; {
		before := disk.files.Load()
		listAll(t, a.NewSession())
		if disk.files.Load() == before {
			return root, a, &disk.files
		}
		if time.Now().After(deadline) {
			t.Fatal("after 20 s: files are still read")
		}
	}
}

// listAll lists all pages of skills.
func listAll(t testing.TB, s *mcpadapter.Session) (n int) {
	t.Helper()
	for cursor := (*string)(nil); ; {
		list := must.Get(s.ListSkills(ctx, cursor))(t)
		n += len(list.Skills)
		if cursor = &list.NextCursor; *cursor == "" {
			return n
		}
	}
}

func TestWarmListsOfSkillsReadNoFile(t *testing.T) {
	const n = 120
	_, a, opened := manySkills(t, n)
	opened.Store(0)
	for range 3 {
		s := a.NewSession()
		must.Equal(t, "listAll(t, s)", n, listAll(t, s))
		must.Get(s.GetSkill(ctx, "skill://s007/SKILL.md"))(t)
		must.Get(s.ListResources(ctx, nil))(t)
		must.Get(s.ReadDirectory(ctx, "skill://s007", nil))(t)
	}
	must.Equal(t, "opened.Load()", 0, opened.Load())
	must.Get(a.NewSession().ReadResource(ctx, "skill://s007/a.txt"))(t)
	must.Equal(t, "files that a read opened", 1, opened.Load())
}

// The headers of a skill. "dmi" is disable-model-invocation, and "noui" is user-invocable: false.
var exposureHeaders = map[string]string{"plain": "", "dmi": "disable-model-invocation: true\n", "noui": "user-invocable: false\n",
	"both": "disable-model-invocation: true\nuser-invocable: false\n"}

//go:embed testdata/states.txt
var observedStates string

func put(t *testing.T, file, text string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
	must.Do(t, os.WriteFile(file, []byte(text), 0o644))
}

// TestSurfacesFollowTheStatesOfClients asks the questions of testdata/states.txt, which describes the
// questions.
func TestSurfacesFollowTheStatesOfClients(t *testing.T) {
	surfaces := func(t *testing.T, of client.Client, dir, header, file, config string) string {
		root, home := t.TempDir(), t.TempDir()
		put(t, filepath.Join(root, dir, "deploy/SKILL.md"), "---\nname: deploy\ndescription: Ships releases.\n"+exposureHeaders[header]+"---\nRun it.\n")
		put(t, filepath.Join(root, dir, "other/SKILL.md"), "---\nname: other\ndescription: Something else.\n---\nText.\n")
		if config != "" {
			put(t, filepath.Join(map[bool]string{true: home, false: root}[of.Name == "codex"], file), config)
		}
		c := must.Get(toolshelf.New(toolshelf.WithRoot(root), toolshelf.WithHome(home), toolshelf.WithClient(of)))(t)
		defer c.Close()
		return strings.TrimSpace(surfacesOf(t, c, "deploy"))
	}
	must.Answer(t, observedStates, map[string]func(t *testing.T, a ...string) string{
		"claude": func(t *testing.T, a ...string) string {
			config := ""
			if a[1] != "" {
				config = `{"model": "x", "skillOverrides": {"deploy": "` + a[1] + `"}}`
			}
			return surfaces(t, client.Claude(), ".claude/skills", a[0], ".claude/settings.json", config)
		},
		"codex": func(t *testing.T, a ...string) string {
			config := ""
			if a[1] != "" {
				config = "model = \"x\"\n[[skills.config]]\nname = \"deploy\"\nenabled = " + a[1] + "\n"
			}
			return surfaces(t, client.Codex(), ".agents/skills", a[0], ".codex/config.toml", config)
		},
	})
}

// surfacesOf describes what each surface shows of a skill, and checks that the methods of Go keep
// the skill.
func surfacesOf(t *testing.T, c *toolshelf.Catalog, name string) string {
	t.Helper()
	ctx := t.Context()
	a := adapterOf(t, c)
	skills, err := c.ListSkills(ctx)
	if err != nil || !slices.ContainsFunc(skills, func(s toolshelf.SkillInfo) bool { return s.Name == name }) {
		t.Fatalf("ListSkills: %v, %v", skills, err)
	}
	if found, err := c.SearchSkills(ctx, name, 1); err != nil || len(found.Results) != 1 || found.Results[0].Description == "" {
		t.Errorf("SearchSkills: %+v, %v", found, err)
	}
	must.Get(c.GetSkill(ctx, name))(t)
	prompt := must.Get(c.SkillsPrompt(ctx))(t)
	listed := ""
	if slices.Contains(prompt.Included, name) {
		listed = "full"
		if slices.Contains(prompt.Named, name) {
			listed = "name"
		}
	}
	must.Equal(t, listed, strings.Contains(prompt.Text, "Ships"), listed == "full")
	text := func(tool, arguments string) (string, bool) {
		r := must.Get(a.Call(ctx, tool, json.RawMessage(arguments)))(t)
		return r.Text, !r.IsError
	}
	list, _ := text("list_skills", "{}")
	must.Equal(t, listed, listed != "", strings.Contains(list, `"`+name+`"`))
	must.Equal(t, listed, listed == "full", strings.Contains(list, "Ships"))
	_, tool := text("get_skill", `{"skill_name":"`+name+`"}`)
	if _, read := text("read_skill_file", `{"skill_name":"`+name+`","path":"SKILL.md"}`); read != tool {
		t.Errorf("get_skill %v, read_skill_file %v", tool, read)
	}
	results, _ := text("search_skills", `{"query":"`+name+` ships releases"}`)
	must.Equal(t, listed, listed == "full", strings.Contains(results, "Ships"))
	entries := must.Get(a.NewSession().ListSkills(ctx, nil))(t)
	resource := slices.ContainsFunc(entries.Skills, func(e mcpadapter.SkillEntry) bool {
		return strings.Contains(e.URI, "/"+name+"/") || strings.HasPrefix(e.URI, "skill://"+name+"/")
	})
	if _, err := a.NewSession().ReadResource(ctx, "skill://"+name+"/SKILL.md"); (err == nil) != resource {
		t.Errorf("resource %v, read %v", resource, err)
	}
	completions := must.Get(c.CompleteName(ctx, name, 0))(t)
	_, lineErr := c.Expand(ctx, "/"+name)
	prompts := must.Get(a.Prompts(ctx))(t)
	offered := slices.ContainsFunc(prompts, func(p mcpadapter.Prompt) bool { return p.Name == name })
	return fmt.Sprintf("%s tool=%v search=%v resource=%v completed=%v line=%v prompt=%v", listed, tool, strings.Contains(results, `"`+name+`"`), resource, len(completions) == 1, lineErr == nil, offered)
}
