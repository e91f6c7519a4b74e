package agentmd_test

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func ExampleParseToolRules() {
	rules, err := agentmd.ParseToolRules("Bash(git diff:*), Read(./src/**) mcp__github__*")
	if err != nil {
		fmt.Println(err)
		return
	}
	allowed := func(tool, input string) bool {
		return slices.ContainsFunc(rules, func(r agentmd.ToolRule) bool { return r.Match(tool, input) })
	}
	fmt.Println(allowed("Bash", "git diff HEAD~1"), allowed("Bash", "git diff && rm -rf /"))
	fmt.Println(allowed("Read", "src/main.go"), allowed("Read", "src/../.env"))
	fmt.Println(allowed("mcp__github__get_issue", ""))
	_, err = agentmd.ParseToolRules("Read, Bash(git diff")
	fmt.Println(err)
	// Output:
	// true false
	// true false
	// true
	// tool rule "Bash(git diff" at character 7 has unbalanced parentheses; close each "(" before the next rule, as in "Bash(git:*) Read"
}

//go:embed testdata/texts.txt
var texts string

// TestTexts asks the questions of testdata/texts.txt, which describes the questions.
func TestTexts(t *testing.T) {
	must.Answer(t, texts, map[string]func(t *testing.T, a ...string) string{
		"parse": func(t *testing.T, a ...string) string {
			doc := agentmd.Parse([]byte(a[0]))
			var codes []string
			for _, d := range doc.Diagnostics {
				codes = append(codes, string(d.Code))
				must.Equal(t, "the path", "", d.Path)
				must.Equal(t, "the severity", agentmd.SeverityWarning, d.Severity)
			}
			format := doc.Frontmatter.Format
			return strings.TrimSpace(fmt.Sprintf("%q %q %s", format, doc.Body, strings.Join(codes, " ")))
		},
		"command": func(t *testing.T, a ...string) string {
			c := agentmd.ParseCommand(a[0], []byte(a[1]))
			found := strings.Join(codes(c.Diagnostics), ", ")
			return strings.TrimSpace(fmt.Sprintf("%q %q %q %s", c.Name, c.Description, c.Body, found))
		},
		"set": func(t *testing.T, a ...string) string {
			got, err := agentmd.Parse([]byte(a[0])).Set(a[1], a[2])
			if err != nil {
				must.Equal(t, "the file", "", string(got))
				return err.Error()
			}
			return strconv.Quote(string(got))
		},
		"rules": func(t *testing.T, a ...string) string {
			rules, err := agentmd.ParseToolRules(a[0])
			if err != nil {
				must.Match(t, "rules", []agentmd.ToolRule(nil), rules)
				return err.Error()
			}
			return fmt.Sprintf("%q", rules)
		},
		"match": func(t *testing.T, a ...string) string {
			rules := must.Get(agentmd.ParseToolRules(a[0]))(t)
			must.Equal(t, "the number of rules", 1, len(rules))
			var matches []bool
			for _, input := range a[2:] {
				matches = append(matches, rules[0].Match(a[1], input))
			}
			switch {
			case !slices.Contains(matches, false):
				return "all"
			case !slices.Contains(matches, true):
				return "none"
			}
			return fmt.Sprint(matches)
		},
	})
}

func TestTheZeroRuleAllowsNoCall(t *testing.T) {
	if (agentmd.ToolRule{}).Match("", "") || (agentmd.ToolRule{}).Match("Bash", "ls") {
		t.Error("the zero rule allows a call")
	}
}

func TestTheErrorOfALongRuleIsShort(t *testing.T) {
	_, err := agentmd.ParseToolRules("Bash(" + strings.Repeat("ä", 1e5))
	if err == nil || len(err.Error()) > 300 {
		t.Errorf("the error has %d bytes", len(err.Error()))
	}
}

// TestAPatternAllowsNoSecondCommand appends commands to an allowed line in each way that a shell
// knows.
func TestAPatternAllowsNoSecondCommand(t *testing.T) {
	for _, rule := range []string{"git:*", "git *", "git*", "* x", "git status:*"} {
		for _, line := range []string{
			"git status && rm x", "git status || rm x", "git status; rm x", "git status;rm x", "git status | rm x", "git status |& rm x", "git status & rm x", "git status &rm x",
			"git status\nrm x", "git status\r\nrm x", "git status \\\nrm x", "git status $(rm x) x", "git status `rm x` x", `git status "$(rm x)" x`, "git status \"`rm x`\" x",
			"git status ${x@P} x", "git status $'a' x", "git status $[a] x", "git status <(rm x) x", "git status > x", "git status 2>&1 x", "git status >& x", "git status << x",
			"git status # 'a\nrm x", "git status #\" \nrm x \" x", "git status 'a' ; rm x", `git status \\; rm x`, `git status "\\"; rm x`, `git status 'a\'; rm x`, `git status "a x`, "git status 'a x", `git status x \`, "git status \"\\\x00\" x",
			"git status \x00 x", "git status \x1b[A x", "(git status x)", "git status (x) x", "git status\n#\nrm x",
		} {
			if (agentmd.ToolRule{Tool: "Bash", Specifier: rule}).Match("Bash", line) {
				t.Errorf("Bash(%s) allows %q", rule, line)
			}
		}
	}
}

// TestAShellRunsOneCommandForAnAllowedLine runs random lines that a pattern allows, with a shell
// function in place of git and no other program.
func TestAShellRunsOneCommandForAnAllowedLine(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	pieces := strings.Split("git |'|\"|\\|`|$|(|)|;|&|\n|x|#|{|}| |~|*|!|=|<|>|\t|a b|[|]|?|\r|^|,|-|é", "|")
	pieces = append(pieces, "|", "||", "&&", " x", " ", "'x'", "\"x\"")
	random := rand.New(rand.NewPCG(1, 2))
	rule := agentmd.ToolRule{Tool: "Bash", Specifier: "git:*"}
	var lines strings.Builder
	count := 0
	for count < 3000 {
		line := "git "
		for range 1 + random.IntN(12) {
			line += pieces[random.IntN(len(pieces))]
		}
		if strings.ContainsAny(line, "'\"\\#{*") && rule.Match("Bash", line) {
			lines.WriteString(line + "\x00")
			count++
		}
	}
	const script = `n=0
git() { n=$((n+1)); }
command_not_found_handle() { printf '%q runs %q\n' "$line" "$1"; }
while IFS= read -r -d '' line; do
	before=$n
	eval "$line"
	[ $n -eq $((before+1)) ] || printf '%q runs git %d times\n' "$line" $((n-before))
done
echo $n`
	cmd := exec.CommandContext(t.Context(), bash, "-c", script)
	cmd.Dir, cmd.Env, cmd.Stdin = t.TempDir(), []string{"PATH="}, strings.NewReader(lines.String())
	out, err := cmd.CombinedOutput()
	if want := fmt.Sprintln(count); err != nil || string(out) != want {
		t.Errorf("%v, the output of the shell is %.2000s", err, out)
	}
	if files, err := os.ReadDir(cmd.Dir); err != nil || len(files) > 0 {
		t.Errorf("the lines wrote %v, %v", files, err)
	}
}

func TestAPatternAllowsNoLongInput(t *testing.T) {
	for rule, input := range map[string]string{"Bash(git:*)": "git ", "Read(**)": "a", "WebFetch(domain:*)": "https://a/"} {
		rules, _ := agentmd.ParseToolRules(rule)
		tool := rules[0].Tool
		if !rules[0].Match(tool, input+strings.Repeat("a", 9000)) || rules[0].Match(tool, input+strings.Repeat("a", 10_000)) {
			t.Errorf("%s: the limit is not 10,000 bytes", rule)
		}
	}
}

func FuzzToolRules(f *testing.F) {
	for _, text := range []string{"", "Bash(git:*) Read", "Read(./src/**), mcp__a__*", "Bash(a (b) c)", "WebFetch(domain:*.a.b) Skill(a *)", "Bash(*a*b*)", "Read(**/a?/**)"} {
		for _, input := range []string{"git diff", "git diff; rm x", "src/a/b", "https://x.a.b/", `git 'a"b' "c\"d" \e`} {
			f.Add(text, input)
		}
	}
	f.Fuzz(func(t *testing.T, text, input string) {
		rules, err := agentmd.ParseToolRules(text)
		if err != nil {
			if rules != nil || strings.ContainsAny(err.Error(), "\r\n") {
				t.Errorf("%q: %v, %v", text, rules, err)
			}
			return
		}
		for _, r := range rules {
			if again, err := agentmd.ParseToolRules(r.String()); err != nil || !slices.Equal(again, []agentmd.ToolRule{r}) {
				t.Errorf("%q: the rule %q becomes %v, %v", text, r, again, err)
			}
			if r.Match(r.Tool+"x", input) && !strings.Contains(r.Tool, "*") && !strings.HasPrefix(r.Tool, "mcp__") {
				t.Errorf("%q allows another tool", r)
			}
			if !r.Match(r.Tool, input) || r.Specifier == "" || r.Specifier == "*" {
				continue
			}
			switch trimmed := strings.Trim(input, " \t\n"); {
			case r.Tool == "Bash" && trimmed != strings.Trim(r.Specifier, " \t\n"):
				if !strings.ContainsAny(trimmed, `'"\`) && strings.ContainsAny(trimmed, ";&|<>`$()\n") {
					t.Errorf("%q allows %q", r, input)
				}
			case r.Tool == "Read" && (strings.HasPrefix(input, "../") || strings.Contains(input, "/../")):
				t.Errorf("%q allows %q", r, input)
			}
		}
	})
}
