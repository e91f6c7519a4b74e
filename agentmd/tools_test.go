package agentmd_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/agentmd"
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

func TestToolRulesAreSeparatedByBlanksAndCommas(t *testing.T) {
	for text, want := range map[string][]string{
		"":                          nil,
		" ,\n\t":                    nil,
		"Bash":                      {"Bash"},
		"Bash(git:*) Read":          {"Bash(git:*)", "Read"},
		"Read,Edit , Write\nGrep":   {"Read", "Edit", "Write", "Grep"},
		"Bash(git add:*),Bash(a,b)": {"Bash(git add:*)", "Bash(a,b)"},
		"Bash(echo (a b) c) Read":   {"Bash(echo (a b) c)", "Read"},
		"mcp__a__* server/* WebFetch(domain:*.example.com)": {"mcp__a__*", "server/*", "WebFetch(domain:*.example.com)"},
		"search/codebase github.vscode/x":                   {"search/codebase", "github.vscode/x"},
	} {
		rules, err := agentmd.ParseToolRules(text)
		var got []string
		for _, r := range rules {
			got = append(got, r.String())
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestAnInvalidToolRuleHasAnErrorWithItsPlace(t *testing.T) {
	for text, want := range map[string]string{
		"Bash(git":          `"Bash(git" at character 1 has unbalanced parentheses`,
		"Read Bash(a Edit":  `"Bash(a Edit" at character 6 has unbalanced parentheses`,
		"é) Read":           `"é)" at character 1 has unbalanced parentheses`,
		"äö Bash(a))":       `"Bash(a))" at character 4 has unbalanced parentheses`,
		"Read (Bash)":       `"(Bash)" at character 6 has no valid tool name`,
		"[Read, Edit]":      `"[Read" at character 1 has no valid tool name`,
		`"Read"`:            `"\"Read\"" at character 1 has no valid tool name`,
		"Bash(a)Read":       `"Bash(a)Read" at character 1 has text after the parentheses`,
		"Bash()":            `"Bash()" at character 1 has empty parentheses; write "Bash"`,
		"Bash( )":           `"Bash( )" at character 1 has empty parentheses`,
		"Read\xff":          "is not UTF-8",
		"Bash(a\nb\x1b[31m": `"Bash(a\nb\x1b[31m" at character 1`,
	} {
		rules, err := agentmd.ParseToolRules(text)
		if err == nil || !strings.Contains(err.Error(), want) || rules != nil || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%q: got %v, %v; want %s", text, rules, err, want)
		}
	}
	if _, err := agentmd.ParseToolRules("Bash(" + strings.Repeat("ä", 1e5)); err == nil || len(err.Error()) > 300 {
		t.Errorf("the error has %d bytes", len(err.Error()))
	}
}

// TestMatch has the cases of code.claude.com/docs/en/permissions, 2026-08-22, and of the rules of
// Claude Code 2.1.330, unless a comment says otherwise.
func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		rule, tool string
		yes, no    []string
	}{
		{"Bash", "Bash", []string{"", "ls", "a && b; c $(d)"}, nil},
		{"Bash(*)", "Bash", []string{"", "ls", "a && b"}, nil},
		{"Bash", "bash", nil, []string{"ls"}},
		{"Edit", "Write", nil, []string{"a"}},
		{"Bash(npm run build)", "Bash", []string{"npm run build", " npm run build\n"}, []string{"npm run build x", "npm run", "npm run build && x", ""}},
		{"Bash(a && b)", "Bash", []string{"a && b"}, []string{"a", "b", "a && b && c"}},
		{"Bash(git :*)", "Bash", []string{"git", "git diff"}, []string{"gitk"}},
		{"Bash(git:*)", "Bash", []string{"git", "git diff", "git\tdiff", `git commit -m "a; b & c"`, `git commit -m 'a $(b) "c'`, "git commit -m \"a\nb\"", `git log \; x`, "git log a#b", "git add *.go"},
			[]string{"gitk", "git-x", "/usr/bin/git", "x git", "sudo git", "FOO=1 git", "timeout 3 git", `"git" diff`, `g\it`, ""}},
		{"Bash(git *)", "Bash", []string{"git", "git log --oneline --all"}, []string{"gitk"}},
		{"Bash(git diff:*)", "Bash", []string{"git diff", "git diff HEAD"}, []string{"git difftool", "git  diff", "git"}},
		{"bash(git:*)", "bash", []string{"git diff"}, []string{"git diff; x"}},   // opencode.ai/docs/permissions, 2026-11
		{"shell(git:*)", "shell", []string{"git diff"}, []string{"git diff; x"}}, // docs.github.com, Copilot CLI, allowing tools, 2026-11
		{"Bash(ls*)", "Bash", []string{"ls -la", "lsof", "ls --sort=size"}, []string{"ls; rm x", "ls=1 rm x", "ls+=1 rm x"}},
		{"Bash(git * main)", "Bash", []string{"git push origin main", "git merge main"}, []string{"git main", "git merge mainx"}},
		{"Bash(* --version)", "Bash", []string{"node --version"}, []string{"--version", "node --version x", "LD_PRELOAD=x node --version"}},
		{"Bash(X=1 npm * test)", "Bash", []string{"X=1 npm run test"}, []string{"X=1 rm test"}},
		{"Bash(git:* push)", "Bash", nil, []string{"git push", "git x push"}},
		{`Bash(echo \*)`, "Bash", nil, []string{`echo \x`, "echo *"}},
		{"Bash(find:*)", "Bash", []string{"find . -name '*.go'"}, []string{"find . -delete", "find . -exec rm {} +", `find . -e"xec" rm x`, `find . -\ok rm x`, "find . -{exec,ls}", "find . -e*", "find . -execdir x", "find . \"-de\\\nlete\""}},
		{"Bash(watch:*)", "Bash", nil, []string{"watch ls"}},
		{"Bash(watch ls)", "Bash", []string{"watch ls"}, []string{"watch rm x"}},

		{"Read(./.env)", "Read", []string{".env", "./.env"}, []string{"a/.env", "/.env", "../.env"}},
		{"Read(.env)", "Read", []string{".env", "a/b/.env"}, []string{"/a/.env", "a/../.env", "a/.env.b", "~/.env", "~root/.env", "C:/a/.env", "a\x00/.env"}},
		{"Read(*.ts)", "Read", []string{"a.ts", "a/b.ts"}, []string{"a.tsx", "../a.ts"}},
		{"Read(./src/**)", "Read", []string{"src/a", "./src/a/b"}, []string{"src", "a/src/b", "src/../x", "src//a", "/src/a", "src/./a", `src/a\..\..\x`, "", "~/src/a"}},
		{"Edit(src/**)", "Edit", []string{"src/a"}, []string{"vendor/src/a"}},
		{"Edit(**/src/**)", "Edit", []string{"src/a", "vendor/pkg/src/lib.js"}, []string{"src", "vendor/a"}},
		{"Edit(/src/**/*.ts)", "Edit", []string{"src/a.ts", "src/a/b.ts"}, []string{"/src/a.ts", "src/a.js"}},
		{"Read(//tmp/*/a)", "Read", []string{"/tmp/x/a"}, []string{"tmp/x/a", "/tmp/x/y/a", "/tmp/../a"}},
		{"Read(~/Documents/*.pdf)", "Read", []string{"~/Documents/a.pdf"}, []string{"Documents/a.pdf", "~/Documents/a/b.pdf"}},
		{"Read(**)", "Read", []string{"a", "a/b"}, []string{"/a", "../a", "~/a", "C:/a", "c:a"}},
		{"Read(a?c)", "Read", []string{"abc", "x/aöc"}, []string{"ac", "abbc"}},
		{"Read(*?b*c?)", "Read", []string{"xbcd", "abbcccd"}, []string{"bcd", "xbc"}},
		{"Read([a-c])", "Read", nil, []string{"a", "[a-c]"}},
		{"Read(!a)", "Read", nil, []string{"b", "!a"}},

		{"WebFetch", "WebFetch", []string{"https://example.com"}, nil},
		{"WebFetch(domain:example.com)", "WebFetch", []string{"https://example.com/a", "http://EXAMPLE.com.:8080"},
			[]string{"https://a.example.com", "https://example.com@evil.com", "https://user@example.com", "https://evil.com/example.com", "https://evil.com\\@example.com", "ftp://example.com", "example.com", "https:example.com", "", "https://example.com /"}},
		{"WebFetch(domain:*.example.com)", "WebFetch", []string{"https://a.example.com", "https://a.b.example.com"}, []string{"https://example.com", "https://evilexample.com", "https://example.com.evil.org", "https://evil.org／.example.com", "https://evil.org%E2%84%80.example.com"}},
		{"WebFetch(domain:bücher.example)", "WebFetch", []string{"https://bücher.example/"}, []string{"https://a.bücher.example"}},
		{"WebFetch(domain:example.*)", "WebFetch", []string{"https://example.org"}, []string{"https://example.evil.com", "https://example.evil。com"}},
		{"WebFetch(domain:*)", "WebFetch", []string{"https://a.b"}, []string{"file:///etc/passwd"}},
		{"WebFetch(example.com)", "WebFetch", nil, []string{"https://example.com"}},
		{"WebFetch(https://example.com)", "WebFetch", nil, []string{"https://example.com"}},

		{"mcp__puppeteer", "mcp__puppeteer__navigate", []string{""}, nil},
		{"mcp__puppeteer__*", "mcp__puppeteer__navigate", []string{""}, nil},
		{"mcp__puppeteer__nav*", "mcp__puppeteer__navigate", []string{""}, nil},
		{"mcp__puppeteer__navigate", "mcp__puppeteer__navigate", []string{"x"}, nil},
		{"mcp__puppeteer__get_*", "mcp__puppeteer__navigate", nil, []string{""}},
		{"mcp__pup", "mcp__puppeteer__navigate", nil, []string{""}},
		{"mcp__*", "mcp__puppeteer__navigate", nil, []string{""}},
		{"mcp__p*__x", "mcp__puppeteer__x", nil, []string{""}},
		{"mcp__puppeteer(a)", "mcp__puppeteer__x", nil, []string{"a"}},
		{"*", "Bash", nil, []string{"ls"}},
		{"B*", "Bash", nil, []string{"ls"}},
		{"github/*", "github/create_issue", []string{""}, nil}, // code.visualstudio.com, custom agents, 2026-11
		{"github/*", "githubx/create_issue", nil, []string{""}},
		{"my-server(create_issue)", "my-server", []string{"create_issue"}, []string{"create", ""}}, // docs.github.com, Copilot CLI, allowing tools, 2026-11

		{"Skill(commit)", "Skill", []string{"commit"}, []string{"commit x", "commits"}},
		{"Skill(review-pr *)", "Skill", []string{"review-pr", "review-pr 12"}, []string{"review-prs"}}, // code.claude.com/docs/en/skills, 2026-08
		{"Agent(Explore)", "Agent", []string{"Explore"}, []string{"Plan", "Explore2"}},
		{"Foo(a:*)", "Foo", nil, []string{"a", "a b"}},
	} {
		rules, err := agentmd.ParseToolRules(tt.rule)
		if err != nil || len(rules) != 1 {
			t.Fatalf("%s: %v, %v", tt.rule, rules, err)
		}
		for _, input := range tt.yes {
			if !rules[0].Match(tt.tool, input) {
				t.Errorf("%s does not allow %s %q", tt.rule, tt.tool, input)
			}
		}
		for _, input := range tt.no {
			if rules[0].Match(tt.tool, input) {
				t.Errorf("%s allows %s %q", tt.rule, tt.tool, input)
			}
		}
	}
	if (agentmd.ToolRule{}).Match("", "") || (agentmd.ToolRule{}).Match("Bash", "ls") {
		t.Error("the zero rule allows a call")
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
