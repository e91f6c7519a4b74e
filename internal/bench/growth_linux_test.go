package bench

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// BenchmarkGetAgents gets each of 2,000 and of 4,000 agents whose headers have the names. The floor
// reads the 2,000 files.
func BenchmarkGetAgents(b *testing.B) {
	run := map[string]func(){}
	for _, n := range []int{2000, 4000} {
		root := b.TempDir()
		var files []string
		for i := range n {
			files = append(files, filepath.Join(root, "agents", fmt.Sprintf("agent-%d.md", i)))
			text := fmt.Sprintf("---\nname: reviewer-%d\ndescription: Reviews.\n---\n", i)
			catalogtest.Write(b, text, files[i])
		}
		settle()
		c := catalogtest.Open(b, toolshelf.WithRoot(root), toolshelf.WithAgentsDir("agents"))
		run[fmt.Sprint(n)] = func() {
			for i := range n {
				must.Get(c.GetAgent(b.Context(), fmt.Sprint("reviewer-", i)))(b)
			}
		}
		if n == 2000 {
			run["floor"] = func() { wholeFloor(b, files) }
		}
	}
	catalogtest.Compare(b, []string{"4000", "2000", "floor"}, run)
}

// BenchmarkGlobs asks for the instructions of a file that none of 200 rules of 1,000 globs matches,
// and of 200 rules of one glob.
func BenchmarkGlobs(b *testing.B) {
	run := map[string]func(){}
	for _, n := range []int{1, 1000} {
		root := b.TempDir()
		var globs []string
		for i := range n {
			globs = append(globs, fmt.Sprintf(`"src/part-%d/**/*.{go,mod}"`, i))
		}
		rule := "---\npaths: [" + strings.Join(globs, ", ") + "]\n---\nFormat the files.\n"
		for i := range 200 {
			catalogtest.Write(b, rule, root, ".claude", "rules", fmt.Sprintf("%d.md", i))
		}
		settle()
		rules := toolshelf.WithInstructions(client.Claude())
		c := catalogtest.Open(b, toolshelf.WithRoot(root), rules)
		run[fmt.Sprint(n)] = func() {
			must.Get(c.Instructions(b.Context(), "src/main.rs"))(b)
		}
	}
	catalogtest.Compare(b, []string{"1000", "1"}, run)
}
