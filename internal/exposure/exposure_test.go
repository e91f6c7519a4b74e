package exposure

import (
	"io/fs"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// readerOf returns a Reader of the settings of Claude Code and of Codex, whose home is /home.
func readerOf(t *testing.T, fsys afero.Fs) *Reader {
	t.Helper()
	return New([]client.Client{client.Claude(), client.Codex()}, func(time.Time) bool { return false }, func(s client.Switch) (*confine.FS, string) {
		dir := "/project"
		if s.Base == client.Home {
			dir = "/home"
		}
		confined := must.Get(confine.Over(fsys, dir))(t)
		return confined, s.File
	})
}

func refresh(t *testing.T, r *Reader) *Rules {
	t.Helper()
	rules, err := r.Refresh(t.Context())
	if err != nil || rules != r.Last() {
		t.Fatal(err)
	}
	return rules
}

// A skill is the skill x of a layer of /project, which declares the name "declared".
type skill struct{ layer, prefix string }

func (s skill) in(t *testing.T, r *Rules) Level {
	t.Helper()
	fsys := must.Get(confine.Over(afero.NewMemMapFs(), "/project"))(t)
	l := &index.Layer{Name: s.layer, FS: fsys, Dir: s.layer, Prefix: s.prefix}
	return r.Of(l, &index.Entry{Name: s.prefix + "x", Path: s.layer + "/x/SKILL.md"}, "declared", false)
}

const (
	local   = "/project/.claude/settings.local.json"
	project = "/project/.claude/settings.json"
	user    = "/home/.claude/settings.json"
	codex   = "/home/.codex/config.toml"
)

var (
	claudeSkill = skill{layer: ".claude/skills"}
	nestedSkill = skill{layer: "apps/site/.claude/skills", prefix: "apps/site:"}
	codexSkill  = skill{layer: ".agents/skills"}
)

// The expectations were observed with Claude Code 2.1.332 and Codex 0.171.0 on 2026-11-27, except
// for the sizes.
func TestSettings(t *testing.T) {
	long := strings.Repeat(" ", maxSize)
	for _, tt := range []struct {
		name  string
		files map[string]string
		skill skill
		want  Level
	}{
		{"no file", nil, claudeSkill, Full},
		{"a state", map[string]string{project: `{"skillOverrides":{"x":"name-only"}}`}, claudeSkill, Name},
		{"the local file before the file of the project", map[string]string{local: `{"skillOverrides":{"x":"on"}}`, project: `{"skillOverrides":{"x":"off"}}`}, claudeSkill, Full},
		{"the file of the project before the file of the user", map[string]string{project: `{"skillOverrides":{"x":"name-only"}}`, user: `{"skillOverrides":{"x":"off"}}`}, claudeSkill, Name},
		{"the user alone", map[string]string{local: "{}", user: `{"skillOverrides":{"x":"off"}}`}, claudeSkill, Off},
		{"another client", map[string]string{user: `{"skillOverrides":{"x":"off"}}`}, codexSkill, Full},
		{"the name in the header", map[string]string{user: `{"skillOverrides":{"declared":"off"}}`}, claudeSkill, Full},
		{"the name with the directory", map[string]string{user: `{"skillOverrides":{"apps/site:x":"off"}}`}, nestedSkill, Off},
		{"the name without the directory", map[string]string{user: `{"skillOverrides":{"x":"off"}}`}, nestedSkill, Off},
		{"another letter case", map[string]string{user: `{"skillOverrides":{"X":"off"}}`}, claudeSkill, Full},
		{"two members, the last counts", map[string]string{user: `{"skillOverrides":{"x":"off","x":"on"}}`}, claudeSkill, Full},
		{"an unknown state voids the object", map[string]string{user: `{"skillOverrides":{"x":"off","y":"hidden"}}`}, claudeSkill, Full},
		{"another type voids the object", map[string]string{user: `{"skillOverrides":{"x":"off","y":3}}`}, claudeSkill, Full},
		{"a list", map[string]string{user: `{"skillOverrides":["x"]}`}, claudeSkill, Full},
		{"comments", map[string]string{user: "{// c\n\"skillOverrides\":{\"x\":\"off\"}}"}, claudeSkill, Full},
		{"a byte order mark", map[string]string{user: "\ufeff{\"skillOverrides\":{\"x\":\"off\"}}"}, claudeSkill, Off},
		{"too large", map[string]string{user: `{"skillOverrides":{"x":"off"}}` + long}, claudeSkill, Full},
		{"too deep", map[string]string{user: `{"a":` + strings.Repeat("[", 400_000) + `,"skillOverrides":{"x":"off"}}`}, claudeSkill, Full},
		{"not text", map[string]string{user: "\x00\xff"}, claudeSkill, Full},
		{"null", map[string]string{user: `{"skillOverrides":null}`}, claudeSkill, Full},
		{"a disabled name", map[string]string{codex: "[[skills.config]]\nname = \"declared\"\nenabled = false\n"}, codexSkill, Off},
		{"the name of the directory", map[string]string{codex: "[[skills.config]]\nname = \"x\"\nenabled = false\n"}, codexSkill, Full},
		{"a disabled path", map[string]string{codex: "[[skills.config]]\npath = \"/project/.agents/skills/x/SKILL.md\"\nenabled = false\n"}, codexSkill, Off},
		{"the path of the directory", map[string]string{codex: "[[skills.config]]\npath = \"/project/.agents/skills/x\"\nenabled = false\n"}, codexSkill, Full},
		{"the last entry counts", map[string]string{codex: "[[skills.config]]\nname = \"declared\"\nenabled = false\n[[skills.config]]\npath = \"/project/.agents/skills/x/SKILL.md\"\nenabled = true\n"}, codexSkill, Full},
		{"an entry without enabled voids the list", map[string]string{codex: "[[skills.config]]\nname = \"declared\"\nenabled = false\n[[skills.config]]\nname = \"y\"\n"}, codexSkill, Full},
		{"both selectors", map[string]string{codex: "[[skills.config]]\nname = \"declared\"\npath = \"/x\"\nenabled = false\n"}, codexSkill, Full},
		{"a file of Codex with a deep key", map[string]string{codex: strings.Repeat("a.", 20_000) + "b = 1\n[[skills.config]]\nname = \"declared\"\nenabled = false\n"}, codexSkill, Full},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := afero.NewMemMapFs()
			for file, text := range tt.files {
				must.Do(t, afero.WriteFile(fsys, file, []byte(text), 0o644))
			}
			must.Equal(t, "level", tt.want, tt.skill.in(t, refresh(t, readerOf(t, fsys))))
		})
	}
}

func TestRefreshKeepsTheRulesWhileNothingChanges(t *testing.T) {
	fsys := afero.NewMemMapFs()
	r := readerOf(t, fsys)
	first := refresh(t, r)
	write := func(text string) *Rules {
		must.Do(t, afero.WriteFile(fsys, user, []byte(text), 0o644))
		return refresh(t, r)
	}
	must.Equal(t, "refresh(t, r)", first, refresh(t, r))
	second := write(`{"skillOverrides":{"x":"off"}}`)
	if second == first || claudeSkill.in(t, second) != Off || claudeSkill.in(t, first) != Full {
		t.Errorf("level %d after the change, %d before", claudeSkill.in(t, second), claudeSkill.in(t, first))
	}
	if write(`{"model":"x","skillOverrides":{"x":"off"}}`) != second {
		t.Error("other rules after a change of another key")
	}
	must.Do(t, fsys.Remove(user))
	must.Equal(t, "claudeSkill.in(t, refresh(t, r))", Full, claudeSkill.in(t, refresh(t, r)))
}

// The race detector finds a Refresh that changes what Rules read.
func TestRulesAreReadDuringARefresh(t *testing.T) {
	fsys := afero.NewMemMapFs()
	must.Do(t, afero.WriteFile(fsys, user, []byte(`{"skillOverrides":{"x":"off"}}`), 0o644))
	r := readerOf(t, fsys)
	rules := refresh(t, r)
	var refreshes sync.WaitGroup
	refreshes.Go(func() {
		for range 100 {
			_, _ = r.Refresh(t.Context())
		}
	})
	for range 100 {
		must.Equal(t, "level", Off, claudeSkill.in(t, rules))
	}
	refreshes.Wait()
}

// A failingFs is a filesystem whose files cannot be opened.
type failingFs struct {
	afero.Fs
	fails bool
}

func (f *failingFs) Open(name string) (afero.File, error) {
	if f.fails {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EIO}
	}
	return f.Fs.Open(name)
}

func TestAfterAFaultTheLastSettingsCount(t *testing.T) {
	fsys := &failingFs{Fs: afero.NewMemMapFs()}
	must.Do(t, afero.WriteFile(fsys, user, []byte(`{"skillOverrides":{"x":"off"}}`), 0o644))
	r := readerOf(t, fsys)
	before := refresh(t, r)
	fsys.fails = true
	if got := claudeSkill.in(t, refresh(t, r)); got != Off || claudeSkill.in(t, before) != Off {
		t.Errorf("level %d after the fault", got)
	}
	fsys.fails = false
	must.Do(t, afero.WriteFile(fsys, user, []byte(`{}`), 0o644))
	must.Equal(t, "level", Full, claudeSkill.in(t, refresh(t, r)))
}
