package bench

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/bridge"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// counted selects the counts of the benchmarks of .ci/costs: allocations; calls, the system calls
// between marks for strace; or blocks, whose runs are the difference to the profile of nothing.
var counted = flag.String("counted", "allocations", "allocations, calls, blocks or nothing")

// blockCalls is the number of calls of which .ci/costs counts the runs of blocks.
const blockCalls = 20

// An operation is a call whose costs .ci/costs counts.
type operation struct {
	name  string
	calls int // of a sample of the allocations
	call  func() error
}

// count runs operations as benchmarks.
func count(b *testing.B, operations ...operation) {
	for _, o := range operations {
		b.Run(o.name, func(b *testing.B) { o.count(b) })
	}
}

// count runs an operation without the garbage collector, which empties pools.
func (o operation) count(b *testing.B) {
	calls := func(n int) {
		for range n {
			must.Do(b, o.call())
		}
	}
	calls(2) // fill the caches
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer runtime.GC()
	b.ReportMetric(0, "ns/op")
	switch *counted {
	case "allocations":
		allocs, bytes := allocations(func() { calls(1) }, func() { calls(o.calls) })
		b.ReportMetric(float64(allocs)/float64(o.calls), "allocs/op")
		b.ReportMetric(float64(bytes)/float64(o.calls), "B/op")
	case "calls":
		// The sum of the sections, divided by -2 and 2, is the count of a call.
		mark(b.Name() + " -2")
		calls(1)
		mark(b.Name() + " 2")
		calls(3)
		mark("")
	case "blocks":
		calls(blockCalls)
	}
}

// allocations returns the least of some samples, because a goroutine in the background only adds
// allocations.
func allocations(fillPools, do func()) (allocs, bytes uint64) {
	for sample := range 5 {
		var before, after runtime.MemStats
		runtime.GC()
		fillPools()
		runtime.ReadMemStats(&before)
		do()
		runtime.ReadMemStats(&after)
		a, n := after.Mallocs-before.Mallocs, after.TotalAlloc-before.TotalAlloc
		if sample == 0 {
			allocs, bytes = a, n
		}
		allocs, bytes = min(allocs, a), min(bytes, n)
	}
	return allocs, bytes
}

// mark makes a system call that the output of strace shows.
func mark(text string) { unix.Open("costs: "+text, unix.O_RDONLY, 0) }

// settle waits until the change times prove that the files are unchanged: see stamp.Settled.
func settle() { time.Sleep(50 * time.Millisecond) }

// place moves a directory of a benchmark, because the length of a path of TempDir is random.
func place(b *testing.B, dir, name string) string {
	to := filepath.Join(os.TempDir(), name)
	must.Do(b, os.Rename(dir, to))
	b.Cleanup(func() { os.RemoveAll(to) })
	return to
}

// exact is an option: the number of goroutines does not depend on the speed of the files.
func exact() toolshelf.Option { return bridge.WithMaxReads(1).(toolshelf.Option) }

// failure drops the first result of a method.
func failure[T any](_ T, err error) error { return err }

// BenchmarkCosts counts the costs of the rows of .ci/costs.txt.
func BenchmarkCosts(b *testing.B) {
	const n = 1000
	ctx := b.Context()
	commands := PublicCommands(b, n,
		PublicCommandHeaders, PublicCommandSizes)
	skills := PublicSkills(b, n,
		PublicSkillHeaders, PublicSkillSizes)
	some := PublicCommands(b, 100,
		PublicCommandHeaders, PublicCommandSizes)
	commandDir, skillDir := place(b, commands.Root, "commands"), place(b, skills.Root, "skills")
	ten, thousand := place(b, flat(b, 10), "ten"), place(b, flat(b, n), "thousand")
	project := place(b, some.Root, "project")
	for _, file := range [][2]string{
		{"AGENTS.md", "# Rules\n\nRun the tests.\n"},
		{".claude/rules/go.md", "---\npaths: [\"*.go\", \"src/**\"]\n---\nFormat the files.\n"},
		{"src/main.go", "package main\n\nfunc main() {}\n"},
		{"skills/form/SKILL.md", "---\nname: form\ndescription: Fills forms.\n---\nFill $1.\n"},
		{"skills/form/fields.md", "Fields.\n"},
		{"agents/review.md", "---\nname: reviewer\ndescription: Reviews.\n---\nReview.\n"},
		{"commands/review-all.md", "---\nmodel: fast\n---\nReview $1 in @src/main.go.\n"},
	} {
		catalogtest.Write(b, file[1], project, file[0])
	}
	writePlugins(b, project, 20)
	settle()

	open := func(root string, options ...toolshelf.Option) *toolshelf.Catalog {
		return catalogtest.Open(b, append(options, toolshelf.WithRoot(root), exact())...)
	}
	c, skilled, watched := open(commandDir), open(skillDir), open(commandDir, toolshelf.WithWatch())
	awaitWatched(b, watched, n)
	gated := open(skillDir, toolshelf.WithGate(versioned{}))
	fsys := toolshelf.Immutable(os.DirFS(filepath.Join(commandDir, "commands")))
	immutable := open(project, toolshelf.WithCommandsDir(), toolshelf.WithCommandsFS("fs", fsys))
	whole := open(project, toolshelf.WithPlugins("plugins"), toolshelf.WithAgentsDir("agents"),
		toolshelf.WithInstructions(client.Claude()))
	lister := map[string]*toolshelf.Catalog{ten: open(ten), thousand: open(thousand)}

	cold := func(root string, first func(c *toolshelf.Catalog) error) func() error {
		return func() error {
			layer := toolshelf.WithPlugins("plugins")
			c, err := toolshelf.New(toolshelf.WithRoot(root), layer, exact())
			if err != nil {
				return err
			}
			return errors.Join(first(c), c.Close())
		}
	}
	listDir := func(dir string) func() error {
		return func() error { return failure(lister[dir].ListDir(ctx, ".")) }
	}
	list := func(c *toolshelf.Catalog) error { return failure(c.List(ctx, toolshelf.Page{})) }
	listSkills := func(c *toolshelf.Catalog) error { return failure(c.ListSkills(ctx)) }
	get := func(c *toolshelf.Catalog, name string) func() error {
		return func() error { return failure(c.Get(ctx, name)) }
	}
	search := func(c *toolshelf.Catalog, query string) func() error {
		return func() error { return failure(c.Search(ctx, query, 10)) }
	}
	name, skill := commands.Names[n/2], skills.Names[n/2]
	command := must.Get(whole.Get(ctx, "review-all"))(b)
	render := func() error {
		r, args := toolshelf.Renderer{}, toolshelf.ParseArgs("main --force")
		return failure(r.Render(ctx, command, args))
	}
	adapter := must.Get(mcpadapter.New(whole))(b)
	call := func(tool, arguments string) operation {
		return operation{"tool/" + tool, 20, func() error {
			result, err := adapter.Call(ctx, tool, json.RawMessage(arguments))
			if err == nil && result.IsError {
				err = errors.New(result.Text)
			}
			return err
		}}
	}
	count(b,
		operation{"ListDir/10", 100, listDir(ten)},
		operation{"ListDir/1000", 10, listDir(thousand)},
		operation{"Get/OS", 100, get(c, name)},
		operation{"Get/immutable", 100, get(immutable, name)},
		operation{"Get/plugin", 20, get(whole, "plugin-7:deploy-7")},
		operation{"Get/plugin,bare", 20, get(whole, "deploy-7")},
		operation{"List/OS", 10, func() error { return list(c) }},
		operation{"List/watched", 100, func() error { return list(watched) }},
		operation{"List/immutable", 100, func() error { return list(immutable) }},
		operation{"List/cold", 2, cold(commandDir, list)},
		operation{"List/cold,plugins", 5, cold(project, list)},
		operation{"ListSkills/OS", 5, func() error { return listSkills(skilled) }},
		operation{"ListSkills/gated", 5, func() error { return listSkills(gated) }},
		operation{"ListSkills/cold", 2, cold(skillDir, listSkills)},
		operation{"GetSkill", 20, func() error { return failure(skilled.GetSkill(ctx, skill)) }},
		operation{"GetAgent", 20, func() error { return failure(whole.GetAgent(ctx, "reviewer")) }},
		operation{"Search/first", 2, cold(project, func(c *toolshelf.Catalog) error {
			return search(c, "analyze")()
		})},
		operation{"Search/hit", 20, search(watched, name)},
		operation{"Search/typo", 20, search(watched, "analyzw")},
		operation{"Search/beginning", 20, search(watched, "analy")},
		operation{"Search/nothing", 20, search(watched, "zirconium quarterly")},
		operation{"Render", 100, render},
		operation{"Expand", 20, func() error {
			return failure(whole.Expand(ctx, "/review-all main"))
		}},
		operation{"CompleteName", 20, func() error {
			return failure(whole.CompleteName(ctx, "/ana", 0))
		}},
		operation{"Instructions", 20, func() error {
			return failure(whole.Instructions(ctx, "src/main.go"))
		}},
		call("list_commands", `{}`),
		call("get_command", `{"command_name": "review-all"}`),
		call("search_commands", `{"query": "review"}`),
		call("list_skills", `{}`),
		call("get_skill", `{"skill_name": "form"}`),
		call("list_agents", `{}`),
		call("list_directory", `{"path": "src"}`),
		call("read_file", `{"path": "src/main.go"}`),
		call("search_text", `{"path": "src", "pattern": "main"}`),
		call("get_instructions", `{"path": "src/main.go"}`),
	)
}

// writePlugins writes n plugins with a command each.
func writePlugins(b *testing.B, root string, n int) {
	for i := range n {
		plugin := filepath.Join(root, "plugins", fmt.Sprintf("plugin-%d", i))
		manifest := fmt.Sprintf(`{"name": "plugin-%d"}`, i)
		catalogtest.Write(b, manifest, plugin, ".claude-plugin", "plugin.json")
		catalogtest.Write(b, "Deploy.\n", plugin, "commands", fmt.Sprintf("deploy-%d.md", i))
	}
}

// BenchmarkGrowth counts the costs of operations at two numbers of entries. An operation below
// "each" calls a method for four of the entries, and stands for a call for each of the entries.
func BenchmarkGrowth(b *testing.B) {
	each := func(n int, call func(i int) error) func() error {
		return func() error { return errors.Join(call(0), call(n/4), call(n/2), call(n-1)) }
	}
	for _, of := range []struct {
		name         string
		small, large int
		operation    func(b *testing.B, ctx context.Context, n int) func() error
	}{
		{"Search/rare", 1000, 8000, func(b *testing.B, ctx context.Context, n int) func() error {
			return searches(b, ctx, n, true)
		}},
		{"Search/none", 1000, 8000, func(b *testing.B, ctx context.Context, n int) func() error {
			return searches(b, ctx, n, false)
		}},
		{"each/GetAgent", 200, 400, func(b *testing.B, ctx context.Context, n int) func() error {
			root := b.TempDir()
			for i := range n {
				text := fmt.Sprintf("---\nname: reviewer-%d\ndescription: Reviews.\n---\n", i)
				catalogtest.Write(b, text, root, "agents", fmt.Sprintf("agent-%d.md", i))
			}
			layer := toolshelf.WithAgentsDir("agents")
			c := catalogtest.Open(b, toolshelf.WithRoot(root), layer, exact())
			return each(n, func(i int) error {
				return failure(c.GetAgent(ctx, fmt.Sprint("reviewer-", i)))
			})
		}},
		{"each/Get", 100, 400, func(b *testing.B, ctx context.Context, n int) func() error {
			root := b.TempDir()
			writePlugins(b, root, n)
			layer := toolshelf.WithPlugins("plugins")
			c := catalogtest.Open(b, toolshelf.WithRoot(root), layer, exact())
			return each(n, func(i int) error {
				return failure(c.Get(ctx, fmt.Sprint("deploy-", i)))
			})
		}},
		{"Instructions", 100, 1000, func(b *testing.B, ctx context.Context, n int) func() error {
			root := b.TempDir()
			var globs []string
			for i := range n {
				globs = append(globs, fmt.Sprintf(`"src/part-%d/**/*.{go,mod}"`, i))
			}
			rule := "---\npaths: [" + strings.Join(globs, ", ") + "]\n---\nFormat the files.\n"
			for i := range 10 {
				catalogtest.Write(b, rule, root, ".claude", "rules", fmt.Sprintf("%d.md", i))
			}
			rules := toolshelf.WithInstructions(client.Claude())
			c := catalogtest.Open(b, toolshelf.WithRoot(root), rules, exact())
			return func() error { return failure(c.Instructions(ctx, "src/main.rs")) }
		}},
	} {
		for _, size := range []string{"small", "large"} {
			b.Run(of.name+"/"+size, func(b *testing.B) {
				n := of.small
				if size == "large" {
					n = of.large
				}
				call := of.operation(b, b.Context(), n)
				settle()
				operation{calls: 5, call: call}.count(b)
				b.ReportMetric(float64(n), "entries")
			})
		}
	}
}

// searches returns queries for rare words, which one of n immutable commands has, or for words that
// no command has.
func searches(b *testing.B, ctx context.Context, n int, rare bool) func() error {
	letters := func(i int, alphabet string) string { // a word of the letters of i
		word := []byte("quzxjw")
		for range 4 {
			word = append(word, alphabet[i%len(alphabet)])
			i /= len(alphabet)
		}
		return string(word)
	}
	writer, random := NewPublicWriter(1), rand.New(rand.NewPCG(5, 6))
	files := fstest.MapFS{}
	for i, class := range ClassSequence(PublicCommandHeaders, n, random) {
		name := fmt.Sprintf("%s-%s-%05d", writer.Word(), writer.Word(), i)
		text := writer.File(class, name, 500) + "\n" + letters(i, "bcdfghjklm") + "\n"
		files[name+".md"] = &fstest.MapFile{Data: []byte(text)}
	}
	layer := toolshelf.WithCommandsFS("fs", toolshelf.Immutable(files))
	c := catalogtest.Open(b, toolshelf.WithCommandsDir(), layer, exact())
	firstSearch(b, c)
	return func() error {
		for i := range 20 {
			query, want := letters(i*n/20, "bcdfghjklm"), 1
			if !rare {
				query, want = letters(i, "bcdfghjklm")[4:]+letters(i, "npqrstvwxz")[5:], 0
			}
			if found, err := c.Search(ctx, query, 10); err != nil || found.TotalFound != want {
				return fmt.Errorf("%q: %d results, %w", query, found.TotalFound, err)
			}
		}
		return nil
	}
}

// compare times the functions in turn, and reports the median of each function and the ratio of the
// first function to each other function. The ratios of the medians stay valid if the speed of the
// machine drifts.
func compare(b *testing.B, order []string, run map[string]func()) {
	b.Helper()
	times := map[string][]float64{}
	for b.Loop() {
		for _, name := range order {
			begin := time.Now()
			run[name]()
			times[name] = append(times[name], float64(time.Since(begin).Nanoseconds()))
		}
	}
	median := func(name string) float64 {
		slices.Sort(times[name])
		return times[name][len(times[name])/2]
	}
	ours := median(order[0])
	b.ReportMetric(ours, "ns/"+order[0])
	for _, name := range order[1:] {
		b.ReportMetric(median(name), "ns/"+name)
		b.ReportMetric(ours/median(name), order[0]+"/"+name)
	}
}
