package toolshelf_test

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/bridge"
)

// refusing records and refuses each change of a filesystem.
type refusing struct {
	afero.Fs
	mu      sync.Mutex
	changes []string
}

func (r *refusing) refuse(change, name string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes = append(r.changes, change+" "+name)
	return &fs.PathError{Op: change, Path: name, Err: fs.ErrPermission}
}

func (r *refusing) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	if flag != os.O_RDONLY {
		return nil, r.refuse("open for writing", name)
	}
	return r.Fs.OpenFile(name, flag, perm)
}

func (r *refusing) Create(name string) (afero.File, error)    { return nil, r.refuse("create", name) }
func (r *refusing) Mkdir(name string, _ fs.FileMode) error    { return r.refuse("mkdir", name) }
func (r *refusing) MkdirAll(name string, _ fs.FileMode) error { return r.refuse("mkdir", name) }
func (r *refusing) Remove(name string) error                  { return r.refuse("remove", name) }
func (r *refusing) RemoveAll(name string) error               { return r.refuse("remove", name) }
func (r *refusing) Rename(name, _ string) error               { return r.refuse("rename", name) }
func (r *refusing) Chmod(name string, _ fs.FileMode) error    { return r.refuse("chmod", name) }
func (r *refusing) Chown(name string, _, _ int) error         { return r.refuse("chown", name) }
func (r *refusing) Chtimes(name string, _, _ time.Time) error { return r.refuse("chtimes", name) }

// otherMethods calls each exported method of a catalog, a skill and a command that
// everyMethod does not call. A new method needs a row.
func otherMethods() map[string]func(context.Context, *toolshelf.Catalog) error {
	onSkill := func(call func(toolshelf.Skill) error) func(context.Context, *toolshelf.Catalog) error {
		return func(ctx context.Context, c *toolshelf.Catalog) error {
			s, err := c.GetSkill(ctx, "s00")
			if err != nil {
				return err
			}
			return call(s)
		}
	}
	onCommand := func(call func(toolshelf.Command) error) func(context.Context, *toolshelf.Catalog) error {
		return func(ctx context.Context, c *toolshelf.Catalog) error {
			command, err := c.Get(ctx, "c00")
			if err != nil {
				return err
			}
			return call(command)
		}
	}
	return map[string]func(context.Context, *toolshelf.Catalog) error{
		"Close": func(_ context.Context, c *toolshelf.Catalog) error { return c.Close() },
		"OnChange": func(_ context.Context, c *toolshelf.Catalog) error {
			c.OnChange(func(toolshelf.Change) {})()
			return nil
		},
		"View": func(_ context.Context, c *toolshelf.Catalog) error { _, err := c.View(); return err },
		"Root": func(_ context.Context, c *toolshelf.Catalog) error { c.Root(); return nil },
		"RelativePath": func(_ context.Context, c *toolshelf.Catalog) error {
			c.RelativePath("commands", "commands/c00.md")
			return nil
		},
		"SkillLayers": func(_ context.Context, c *toolshelf.Catalog) error { bridgeOf(c).SkillLayers(); return nil },
		"SkillManifests": func(ctx context.Context, c *toolshelf.Catalog) error {
			for _, err := range bridgeOf(c).SkillManifests(ctx, nil) {
				return err
			}
			return nil
		},
		"SkillSubdir": func(_ context.Context, c *toolshelf.Catalog) error {
			bridgeOf(c).SkillSubdir(toolshelf.SkillInfo{Layer: "skills", Path: "skills/s00/SKILL.md"})
			return nil
		},
		"ReportsConfigured": func(_ context.Context, c *toolshelf.Catalog) error { bridgeOf(c).ReportsConfigured(); return nil },

		"Skill.FS":          onSkill(func(s toolshelf.Skill) error { _, err := fs.ReadFile(s.FS(), "SKILL.md"); return err }),
		"Skill.MarshalJSON": onSkill(func(s toolshelf.Skill) error { _, err := s.MarshalJSON(); return err }),
		"Skill.Prompt":      onSkill(func(s toolshelf.Skill) error { s.Prompt(); return nil }),

		"Command.Arguments":   onCommand(func(c toolshelf.Command) error { c.Arguments(); return nil }),
		"Command.Render":      onCommand(func(c toolshelf.Command) error { _, err := c.Render("x"); return err }),
		"Command.RenderNamed": onCommand(func(c toolshelf.Command) error { _, err := c.RenderNamed(map[string]string{"x": "y"}); return err }),
	}
}

// exportedMethods returns the calls of all exported methods, by name, and fails for a method
// without a call.
func exportedMethods(t *testing.T) map[string]func(context.Context, *toolshelf.Catalog) error {
	t.Helper()
	all := everyMethod()
	maps.Copy(all, otherMethods())
	for of, prefix := range map[reflect.Type]string{
		reflect.TypeFor[*toolshelf.Catalog]():                                       "",
		reflect.TypeFor[bridge.Catalog[toolshelf.SkillInfo, toolshelf.SkillFile]](): "",
		reflect.TypeFor[*toolshelf.Skill]():                                         "Skill.",
		reflect.TypeFor[*toolshelf.Command]():                                       "Command.",
	} {
		for i := range of.NumMethod() {
			if name := prefix + of.Method(i).Name; all[name] == nil {
				t.Errorf("no test calls the method %s; add a row to everyMethod or otherMethods", name)
			}
		}
	}
	return all
}

func TestOnlySaveReportWritesToAFilesystem(t *testing.T) {
	files := busyProject()
	for name, call := range exportedMethods(t) {
		fsys := &refusing{Fs: memoryOf(t, files)}
		c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithReports("reports", "state"))
		err := call(t.Context(), c)
		if name == "SaveReport" {
			if err == nil || len(fsys.changes) == 0 {
				t.Errorf("SaveReport: %v and no change; does the filesystem record changes?", err)
			}
		} else if err != nil || len(fsys.changes) > 0 {
			t.Errorf("%s: %v, and the changes %q", name, err, fsys.changes)
		}
	}
}

// state returns the mode, time and content of each file and directory below a directory.
func state(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content := ""
		if !d.IsDir() {
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			content = string(data)
		}
		all[strings.TrimPrefix(name, dir)] = info.Mode().String() + " " + info.ModTime().String() + " " + content
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestOnlySaveReportWritesToTheDisk(t *testing.T) {
	root := diskOf(t, busyProject())
	all := exportedMethods(t)
	save := all["SaveReport"]
	delete(all, "SaveReport")
	before := state(t, root)
	for name, call := range all {
		c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithReports("reports", "state"))
		if err := call(t.Context(), c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if diff := cmp.Diff(before, state(t, root)); diff != "" {
		t.Errorf("files and directories (-before +after):\n%s", diff)
	}
	if err := save(t.Context(), catalog(t, toolshelf.WithRoot(root), toolshelf.WithReports("reports", "state"))); err != nil || cmp.Equal(before, state(t, root)) {
		t.Errorf("SaveReport: %v, and the test finds no change", err)
	}
}
