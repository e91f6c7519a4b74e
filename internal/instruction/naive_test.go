package instruction_test

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// naive returns the paths of the instructions for a path, without the rules of a budget, of copies
// and of links. The keys of files are full paths. The header of a rule is "key: globs" in one line.
func naive(files map[string]string, rows []client.Client, root, name string, parents []string) (all []string) {
	type dir struct{ full, shown string }
	var above, below []dir
	for i, p := range slices.Backward(parents) {
		above = append(above, dir{p, strings.TrimSuffix(strings.Repeat("../", i+1), "/")})
	}
	above = append(above, dir{root, "."})
	at := root
	for elem := range strings.SplitSeq(name, "/") {
		at = path.Join(at, elem)
		isDir := false
		for file := range files {
			isDir = isDir || strings.HasPrefix(file, at+"/")
		}
		if !isDir || elem == "." {
			break
		}
		below = append(below, dir{at, strings.TrimPrefix(at, root+"/")})
	}
	add := func(shown string) {
		if !slices.Contains(all, shown) {
			all = append(all, shown)
		}
	}
	has := func(full string) bool { return strings.TrimSpace(files[full]) != "" }
	single := func(row client.Client, d dir, want func(client.Place) bool) {
		taken := false
		for _, p := range row.Instructions {
			full := path.Join(d.full, p.Dir, p.Pattern)
			if strings.Contains(p.Pattern, "*") || !want(p) || !has(full) || taken && p.Fallback != client.NoFallback {
				continue
			}
			if p.Fallback == client.InProject && slices.ContainsFunc(above, func(a dir) bool {
				return slices.ContainsFunc(row.Instructions, func(q client.Place) bool {
					return q.Base == client.Project && !strings.Contains(q.Pattern, "*") && q.Fallback == client.NoFallback && (a.full == root || q.Parents) && has(path.Join(a.full, q.Dir, q.Pattern))
				})
			}) {
				continue
			}
			taken = true
			add(path.Join(d.shown, p.Dir, p.Pattern))
		}
	}
	var matched, requested []string
	rules := func(d dir, want func(client.Place) bool, asked string) {
		seen := map[string]bool{}
		for _, row := range rows {
			for _, p := range row.Instructions {
				dirPath := path.Join(d.full, p.Dir) + "/"
				for _, file := range slices.Sorted(maps.Keys(files)) {
					rest, ok := strings.CutPrefix(file, dirPath)
					if ok && strings.Contains(p.Pattern, "*") && want(p) && !seen[file] {
						if ok, _ := doublestar.Match(p.Pattern, rest); !ok {
							continue
						}
						seen[file] = true
						header := map[string]string{}
						if head, _, ok := strings.Cut(strings.TrimPrefix(files[file], "---\n"), "\n---\n"); ok {
							for line := range strings.SplitSeq(head, "\n") {
								key, value, _ := strings.Cut(line, ": ")
								header[key] = value
							}
						}
						shown := path.Join(d.shown, p.Dir, rest)
						anyDepth := slices.ContainsFunc(rows, func(row client.Client) bool { // of one of the clients
							return slices.ContainsFunc(row.Instructions, func(q client.Place) bool { return q.Path() == p.Path() && q.AnyDepth })
						})
						match := false
						for glob := range strings.SplitSeq(header[p.Globs], ", ") {
							ok, _ := doublestar.Match(glob, asked)
							if anyDepth && !strings.Contains(glob, "/") {
								ok, _ = doublestar.Match(glob, path.Base(asked))
							}
							match = match || ok && glob != ""
						}
						when := header[p.When]
						switch {
						case when == "true" || when == "always" || when == "always_on":
							add(shown)
						case when == "manual" || when == "auto" || when == "model_decision":
							requested = append(requested, shown)
						case header[p.Globs] != "" || when == "glob" || when == "fileMatch":
							if match {
								matched = append(matched, shown)
							}
						case p.OnRequest:
							requested = append(requested, shown)
						default:
							add(shown)
						}
					}
				}
			}
		}
	}
	for _, row := range rows {
		single(row, dir{"/home/me", "~"}, func(p client.Place) bool { return p.Base == client.Home })
	}
	rules(dir{"/home/me", "~"}, func(p client.Place) bool { return p.Base == client.Home }, name)
	for _, d := range above {
		up := func(p client.Place) bool { return p.Base == client.Project && (d.full == root || p.Parents) }
		for _, row := range rows {
			single(row, d, up)
		}
		rules(d, up, path.Join(strings.TrimPrefix(strings.TrimPrefix(root, d.full), "/"), name))
	}
	for _, d := range below {
		down := func(p client.Place) bool { return p.Base == client.Project && p.Below }
		for _, row := range rows {
			single(row, d, down)
		}
		rules(d, down, path.Join(".", strings.TrimPrefix(name, d.shown)))
	}
	return slices.Concat(all, matched, requested)
}

// TestInstructionsAgreeWithANaiveImplementation draws trees, clients and paths.
func TestInstructionsAgreeWithANaiveImplementation(outer *testing.T) {
	var rows []client.Client
	for _, row := range client.All() {
		if len(row.Instructions) > 0 && row.Name != "opencode" && row.Name != "amp" { // places of another base of the user
			row.InstructionBytes = 0
			rows = append(rows, row)
		}
	}
	elems := rapid.SampledFrom([]string{"a", "b", "c", "d.go"})
	rapid.Check(outer, func(t *rapid.T) {
		files := map[string]string{"/repo/.git/HEAD": "x", "/repo/p/x": "x"}
		chosen := rapid.SliceOfNDistinct(rapid.SampledFrom(rows), 1, 2, func(r client.Client) string { return r.Name }).Draw(t, "rows")
		dirs := []string{"/repo", "/repo/p", "/repo/p/r"}
		for _, tail := range rapid.SliceOfN(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 4), 0, 5).Draw(t, "dirs") {
			dirs = append(dirs, path.Join("/repo/p/r", path.Join(tail...)))
		}
		files["/repo/p/r/x"] = "x"
		for i, d := range dirs {
			files[path.Join(d, "x")] = "x"
			for _, row := range chosen {
				for j, p := range row.Instructions {
					if !rapid.Bool().Draw(t, "exists") {
						continue
					}
					at := path.Join(d, p.Dir)
					if p.Base == client.Home {
						at = path.Join("/home/me", p.Dir)
					}
					unique := strings.Repeat("i", i+1) + strings.Repeat("j", j+1) + row.Name // no copies
					if p.Single() {
						files[path.Join(at, p.Pattern)] = rapid.SampledFrom([]string{unique + "\n", unique, " \n"}).Draw(t, "text")
						continue
					}
					if d == "/repo/p/r" || d == "/repo" || d == "/repo/p" || p.Below {
						header := "---\nx: y\n"
						if globs := rapid.SampledFrom([]string{"", "**/*.go", "*.go", "a/**", "p/r/a/**, b/*", "c/*/d.go", "r/**"}).Draw(t, "globs"); globs != "" && p.Globs != "" {
							header += p.Globs + ": " + globs + "\n"
						}
						if when := rapid.SampledFrom([]string{"", "true", "always", "manual", "glob", "fileMatch", "model_decision", "false"}).Draw(t, "when"); when != "" && p.When != "" {
							header += p.When + ": " + when + "\n"
						}
						file := strings.Replace(path.Base(p.Pattern), "*", rapid.SampledFrom([]string{"one", "two"}).Draw(t, "name"), 1)
						if strings.HasPrefix(p.Pattern, "**") && rapid.Bool().Draw(t, "nested") {
							file = "sub/" + file
						}
						files[path.Join(at, file)] = header + "---\n" + unique
					}
				}
			}
		}
		options := []toolshelf.Option{toolshelf.WithFs(catalogtest.Memory(outer, files)), toolshelf.WithRoot("/repo/p/r"), toolshelf.WithHome("/home/me"), toolshelf.WithInstructions(chosen...)}
		var parents []string
		if rapid.Bool().Draw(t, "parents") {
			options, parents = append(options, toolshelf.WithParents("")), []string{"/repo/p", "/repo"}
		}
		c := must.Get(toolshelf.New(options...))(t)
		defer c.Close()
		for range 3 {
			name := path.Join(rapid.SliceOfN(elems, 0, 5).Draw(t, "path")...)
			name = path.Clean(name)
			list := must.Get(c.Instructions(t.Context(), name))(t)
			var got []string
			for _, i := range list {
				got = append(got, i.Path)
			}
			if diff := cmp.Diff(naive(files, chosen, "/repo/p/r", name, parents), got); diff != "" {
				t.Fatalf("%s: -naive +got\n%s", name, diff)
			}
		}
	})
}
