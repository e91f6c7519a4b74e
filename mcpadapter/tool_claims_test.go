package mcpadapter_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// Each text of a tool for a model is a claim. This file quotes each text beside a check of the
// tool's behavior, so a changed text needs a changed check.

// claimed is the project of the checks: 101 commands, and files with the example names of the
// texts.
func claimed() map[string]string {
	files := map[string]string{
		"commands/analyze_zoom_speech_sdk_log.md":          "---\ndescription: Analyze a log\n---\n# Log\n",
		"commands/proxy-slow-meeting-analysis-command.md":  "Analysis of a slow meeting.\n",
		"commands/review-pr.md":                            "---\ndescription: Review a pull request\n---\nRead it.\n",
		"skills/pdf-processing/SKILL.md":                   "---\nname: pdf-processing\ndescription: Read PDF files.\n---\nRead references/guide.md.\n",
		"skills/pdf-processing/references/guide.md":        "# Guide\n",
		"skills/pdf-processing/scripts/run.py":             "print()\n",
		"skills/pdf-processing/logo.png":                   "\x89PNG",
		"skills/pdf-processing/most.txt":                   strings.Repeat("x", 1<<20),
		"skills/pdf-processing/more.txt":                   strings.Repeat("x", 1<<20+1),
		"skills/Review/SKILL.md":                           "---\ndescription: Review a pull request\n---\n",
		"agents/team/review.md":                            "---\nname: reviewer\ndescription: Reviews a pull request\ntools: Read, Grep\nmodel: opus\n---\nReview it.\n",
		"files/a.md":                                       "1",
		"files/b.md":                                       "333",
		"files/sub/a.go":                                   "22",
		"files/sub/a_test.go":                              "22",
		"files/.hidden.md":                                 "1",
		"src/block.go":                                     "package f\n\nfunc f() {\n\tg()\n}\n",
		"files/c/error.log":                                "1",
		"files/node_modules/x/x.js":                        "1",
		"src/x/x_test.go":                                  "1",
		"ignoring/.git/HEAD":                               "1",
		"ignoring/.gitignore":                              "*.tmp\nout/\nnode_modules/\n",
		"ignoring/a.tmp":                                   "1",
		"ignoring/a.txt":                                   "1",
		"ignoring/node_modules/x/x.js":                     "1",
		"ignoring/node_modules/x.js":                       "1",
		"ignoring/out/x.txt":                               "1",
		".cursor/rules/go.mdc":                             "---\nglobs: instructed/**/*.md\n---\nGo.\n",
		".cursor/rules/ask.mdc":                            "---\ndescription: Migrations\n---\nMigrate.\n",
		"instructed/AGENTS.md":                             "Far.\n",
		"instructed/near/AGENTS.md":                        "Near.\n",
		"instructed/long/AGENTS.md":                        strings.Repeat("x", 30_000),
		"references/guide.md":                              "one\ntwo\nthree\n",
		"references/most.txt":                              strings.Repeat("x", 256<<10) + "\nend\n",
		"deep" + strings.Repeat("/d", 120) + "/bottom.txt": "1",
	}
	for i := range 98 {
		files[fmt.Sprintf("commands/plain%02d.md", i)] = "A plain command.\n"
	}
	for i := range 1001 {
		files[fmt.Sprintf("many/%04d.txt", i)] = "1"
	}
	for i := range 11 {
		files[fmt.Sprintf("skills/zeta-%02d/SKILL.md", i)] = "---\ndescription: A plain skill.\n---\n"
	}
	return files
}

// exampleNames are example names of files that look like names of tools.
var exampleNames = map[string]bool{"node_modules": true}

// A caller calls a tool and fails the test if the result is not the expected result.
type caller struct {
	t       *testing.T
	tool    mcpadapter.Tool
	program mcpadapter.Tool // with structured content
}

func (c caller) succeeds(arguments string) (text string, structured map[string]any) {
	c.t.Helper()
	got, err := c.tool.Call(ctx, json.RawMessage(arguments))
	text = got.Text
	if err == nil && got.Structured == nil {
		got, err = c.program.Call(ctx, json.RawMessage(arguments))
	}
	if err != nil || got.IsError {
		c.t.Fatalf("%s(%s): %.300s, %v", c.tool.Name, arguments, got.Text, err)
	}
	if err := json.Unmarshal(got.Structured, &structured); err != nil {
		c.t.Fatal(err)
	}
	return text, structured
}

func (c caller) refuses(arguments string, code toolshelf.Code) {
	c.t.Helper()
	got, err := c.tool.Call(ctx, json.RawMessage(arguments))
	var failed struct{ Error struct{ Code toolshelf.Code } }
	if err == nil {
		err = json.Unmarshal(got.Structured, &failed)
	}
	if err != nil || !got.IsError || failed.Error.Code != code {
		c.t.Errorf("%s(%.200s): %.300s, %v; want %s", c.tool.Name, arguments, got.Text, err, code)
	}
}

func (c caller) same(x, y string) {
	c.t.Helper()
	first, _ := c.succeeds(x)
	second, _ := c.succeeds(y)
	if first != second {
		c.t.Errorf("%s(%s) and %s(%s) differ:\n%s\n%s", c.tool.Name, x, c.tool.Name, y, first, second)
	}
}

func (c caller) holds(arguments string, texts ...string) {
	c.t.Helper()
	got, _ := c.succeeds(arguments)
	for _, text := range texts {
		if !strings.Contains(got, text) {
			c.t.Errorf("%s(%s): no %q in %.600s", c.tool.Name, arguments, text, got)
		}
	}
}

func (c caller) lacks(arguments string, texts ...string) {
	c.t.Helper()
	got, _ := c.succeeds(arguments)
	for _, text := range texts {
		if strings.Contains(got, text) {
			c.t.Errorf("%s(%s): %q in %.600s", c.tool.Name, arguments, text, got)
		}
	}
}

// ordered fails the test unless the result contains the texts in this order.
func (c caller) ordered(arguments string, texts ...string) {
	c.t.Helper()
	got, _ := c.succeeds(arguments)
	rest := got
	for _, text := range texts {
		_, after, ok := strings.Cut(rest, text)
		if !ok {
			c.t.Fatalf("%s(%s): want %q in this order in\n%s", c.tool.Name, arguments, texts, got)
		}
		rest = after
	}
}

func (c caller) length(arguments, member string, want int) {
	c.t.Helper()
	_, structured := c.succeeds(arguments)
	if list, _ := structured[member].([]any); len(list) != want {
		c.t.Errorf("%s(%s): %d %s, want %d", c.tool.Name, arguments, len(list), member, want)
	}
}

// A claim is a text and the check of the text. The parameter is "" for the description of the tool.
type claim struct {
	tool, parameter, text string
	check                 func(c caller)
}

const (
	findText = " by 5 to 8 keywords that the name or description would contain, with synonyms and the technical term. " +
		"Best matches first. "
	excludeText  = `Globs to omit, such as "node_modules" or "**/*.log"`
	directoryArg = "Directory path (relative to project root)"

	gitignoreText    = "Omit entries that .gitignore files ignore (default true)"
	dependenciesText = "Enter .git, node_modules and similar directories (default false)"
	sizesText        = "Show the sizes of files (default true)"
	limitText        = "Maximum number of entries (default 1000)"
	sizeText         = "Maximum number of characters (default 20000)"
)

var claims = []claim{
	{"list_commands", "", "List all available commands in the system with pagination support. " +
		"Returns command names with basic metadata, useful for browsing available commands when a specific search query is not known. " +
		"Pass a name to get_command to read the command.", func(c caller) {
		c.holds(`{}`, `"name":"analyze_zoom_speech_sdk_log"`, `"description":"Analyze a log"`, `"size":`, `"last_modified":`, `"total":101`, `"has_next":true`)
	}},
	{"list_commands", "page", "Page number (1-indexed)", func(c caller) {
		c.same(`{}`, `{"page":1}`)
		c.refuses(`{"page":0}`, "INVALID_PAGE")
		c.length(`{"page":3}`, "commands", 1)
	}},
	{"list_commands", "page_size", "Number of items per page", func(c caller) {
		c.length(`{}`, "commands", 50)
		c.length(`{"page_size":1}`, "commands", 1)
		c.length(`{"page_size":100}`, "commands", 100)
		c.refuses(`{"page_size":101}`, "INVALID_PAGE_SIZE")
	}},

	{"search_commands", "", "Find commands" + findText + "Pass a name to get_command.", func(c caller) {
		searchClaim(c, "review-pr")
		weakClaim(c)
	}},
	{"search_commands", "query", "Search text, 1 to 500 characters", queryClaim},
	{"search_commands", "max_results", "Maximum number of results", func(c caller) { resultsClaim(c, "plain", 10, 98) }},
	{"search_skills", "", "Find skills" + findText + "Pass a name to get_skill.", func(c caller) {
		searchClaim(c, "Review")
		weakClaim(c)
	}},
	{"search_skills", "query", "Search text, 1 to 500 characters", queryClaim},
	{"search_skills", "max_results", "Maximum number of results", func(c caller) { resultsClaim(c, "plain", 10, 11) }},

	{"get_command", "", "Get the complete definition of a command by its name. Returns the full Markdown content, metadata, and execution hints. " +
		"Use a name that list_commands or search_commands has returned. Then follow the content and, if present, next_steps.", func(c caller) {
		c.holds(`{"command_name":"analyze_zoom_speech_sdk_log"}`, `"content":"# Log\n"`, `"metadata":{"path":`, `"next_steps":`)
	}},
	{"get_command", "command_name", "Name of the command to retrieve (with or without .md extension)", func(c caller) {
		c.same(`{"command_name":"review-pr"}`, `{"command_name":"review-pr.md"}`)
	}},

	{"list_skills", "", "List all available skills in the skills folder. Returns skill names as a JSON array. " +
		"The object has the array skills, and descriptions of the names.", func(c caller) {
		c.holds(`{}`, `"skills":["pdf-processing","Review","zeta-00",`, `"descriptions":{"Review":"Review a pull request","pdf-processing":"Read PDF files.",`)
	}},
	{"get_skill", "", "Load a skill by its name. Returns SKILL.md and the list of files. " +
		"Use a name that list_skills or search_skills has returned. Then follow the instructions. " +
		"Read other files with read_skill_file.", func(c caller) {
		c.holds(`{"skill_name":"pdf-processing"}`, "\n---\nRead references/guide.md.\n\n", "\ndescription: Read PDF files.\n", "\n  references/guide.md (")
	}},
	{"list_skills", "path", "File to work on", func(c caller) {
		if got := workingOn(c, `{"path":"packages/web/a.ts"}`); !strings.Contains(got, `"skills":["deploy","packages/web:deploy","lint"]`) || !strings.Contains(got, `"lint":"Checks styles"`) {
			c.t.Errorf("for a file: %s", got)
		}
		if got := workingOn(c, `{}`); !strings.Contains(got, `"skills":["deploy"]`) {
			c.t.Errorf("without a file: %s", got)
		}
	}},
	{"get_skill", "path", "File to work on", func(c caller) {
		for _, name := range []string{"lint", "packages/web:lint"} {
			got := workingOn(c, `{"skill_name":"`+name+`","path":"packages/web/a.ts"}`)
			if !strings.HasPrefix(got, "Skill: packages/web:lint\nPath: packages/web/.claude/skills/lint/SKILL.md\n") {
				c.t.Errorf("%s: %s", name, got)
			}
		}
	}},
	{"get_skill", "skill_name", "Name of the skill", func(c caller) { c.refuses(`{"skill_name":"../x"}`, "INVALID_SKILL_NAME") }},
	{"list_agents", "", "List all available agents: agents is the array of the names, and descriptions explains the names.", func(c caller) {
		c.holds(`{}`, `"agents":["reviewer"]`, `"descriptions":{"reviewer":"Reviews a pull request"}`)
	}},
	{"get_agent", "", "Get the definition of an agent by its name: its tools, model and instructions. Use a name that list_agents has returned.", func(c caller) {
		c.holds(`{"agent_name":"reviewer"}`, "Agent: reviewer\n", "\ntools: Read, Grep\nmodel: opus\n---\nReview it.")
	}},
	{"get_agent", "agent_name", "Name of the agent", func(c caller) { c.refuses(`{"agent_name":"../x"}`, "INVALID_AGENT_NAME") }},
	{"get_instructions", "", "Get the instructions of the project for a file or directory, such as AGENTS.md files and rules; the nearest text is the last. " +
		"Call this tool before you change a file or add a file. Of a rule on request, the result has only the description: if the description fits the task, read the path of the rule with read_file.", func(c caller) {
		c.ordered(`{"path":"instructed/near/new.md"}`, `path="instructed/AGENTS.md"`, "\nFar.\n", `path="instructed/near/AGENTS.md"`, "\nNear.\n", `path=".cursor/rules/go.mdc"`, "\nGo.\n", `path=".cursor/rules/ask.mdc"`, "\nMigrations\n")
		c.lacks(`{"path":"."}`, "Migrate.", "Go.", "Far.")
	}},
	{"get_instructions", "path", "File or directory path (relative to project root); the file may be missing", func(c caller) {
		c.same(`{"path":"instructed/near"}`, `{"path":"instructed/near/missing.txt"}`)
		c.refuses(`{"path":"../x"}`, "OUTSIDE_ROOT")
	}},
	{"get_instructions", "max_characters", sizeText, func(c caller) {
		c.holds(`{"path":"instructed/long/x.txt"}`, "the budget omits 1 of the more general files and shortens 1", "\n\nCut at max_characters; raise the limit to read the whole texts")
		for arguments, most := range map[string]int{`{"path":"instructed/long/x.txt"}`: 20_000, `{"path":"instructed/long/x.txt","max_characters":1000}`: 1000} {
			if text, _ := c.succeeds(arguments); utf8.RuneCountInString(text) > most || utf8.RuneCountInString(text) < most*9/10 {
				c.t.Errorf("%s: %d characters", arguments, utf8.RuneCountInString(text))
			}
		}
		c.refuses(`{"path":".","max_characters":999}`, "INVALID_OPTION")
	}},
	{"read_skill_file", "", "Read one file of a skill, such as references/guide.md. " +
		"Use a path from the list of files that get_skill returns. " +
		"Returns UTF-8 text unchanged, and other content in Base64. Refuses a file of more than 1 MiB.", func(c caller) {
		c.holds(`{"skill_name":"pdf-processing","path":"references/guide.md"}`, "# Guide\n")
		c.holds(`{"skill_name":"pdf-processing","path":"scripts/run.py"}`, "print()\n")
		c.holds(`{"skill_name":"pdf-processing","path":"logo.png"}`, "Base64 of logo.png", "\niVBORw==")
		c.succeeds(`{"skill_name":"pdf-processing","path":"most.txt"}`)
		c.refuses(`{"skill_name":"pdf-processing","path":"more.txt"}`, "FILE_TOO_LARGE")
	}},
	{"read_skill_file", "skill_name", "Name of the skill", func(c caller) {
		c.refuses(`{"skill_name":"nothing","path":"SKILL.md"}`, "SKILL_NOT_FOUND")
	}},
	{"read_skill_file", "path", "Path relative to the skill's directory", func(c caller) {
		c.refuses(`{"skill_name":"pdf-processing","path":"skills/pdf-processing/SKILL.md"}`, "NOT_FOUND")
	}},

	{"list_directory", "", "List files and subdirectories in a directory. Returns names, types, and sizes.", func(c caller) {
		c.holds(`{"path":"files"}`, "[DIR]  sub/", "[FILE] b.md  (3 B)")
	}},
	{"list_directory", "path", directoryArg, func(c caller) { c.holds(`{"path":"files/sub"}`, "Directory: files/sub/") }},
	{"list_directory", "show_hidden", "Include hidden files (default false)", func(c caller) {
		c.same(`{"path":"files"}`, `{"path":"files","show_hidden":false}`)
		c.lacks(`{"path":"files"}`, ".hidden.md")
		c.holds(`{"path":"files","show_hidden":true}`, ".hidden.md")
	}},
	{"list_directory", "sort_by", "Sort by: name, size, modified (default: name)", func(c caller) {
		c.same(`{"path":"files"}`, `{"path":"files","sort_by":"name"}`)
		c.ordered(`{"path":"files"}`, "a.md", "b.md")
		c.ordered(`{"path":"files","sort_by":"size"}`, "b.md", "a.md")
		c.succeeds(`{"path":"files","sort_by":"modified"}`)
		c.refuses(`{"path":"files","sort_by":"type"}`, "INVALID_SORT")
	}},
	{"list_directory", "gitignore", "Omit entries that .gitignore files ignore (default false)", func(c caller) {
		c.same(`{"path":"ignoring"}`, `{"path":"ignoring","gitignore":false}`)
		c.holds(`{"path":"ignoring"}`, "a.tmp", "out/")
		c.lacks(`{"path":"ignoring","gitignore":true}`, "a.tmp", "out/")
	}},
	{"list_directory", "show_sizes", sizesText, func(c caller) {
		c.same(`{"path":"files"}`, `{"path":"files","show_sizes":true}`)
		c.holds(`{"path":"files"}`, "[FILE] a.md  (1 B)")
		c.lacks(`{"path":"files","show_sizes":false}`, "(1 B)")
	}},
	{"list_directory", "limit", limitText, limitClaim(`"path":"many"`, "entries")},
	{"list_directory", "max_characters", sizeText, sizeClaim(`"path":"many"`)},
	{"list_directory", "cursor", "The next cursor of the previous page (default: first page)", func(c caller) {
		c.same(`{"path":"many"}`, `{"path":"many","cursor":""}`)
		first, _ := c.succeeds(`{"path":"many","max_characters":30000}`)
		_, next, _ := strings.Cut(first, "1000 of 1001 entries shown; the next cursor is ")
		c.holds(`{"path":"many","cursor":"`+next+`"}`, "[FILE] 1000.txt")
		c.lacks(`{"path":"many","cursor":"`+next+`"}`, "0999.txt", "next cursor")
		c.refuses(`{"path":"files","cursor":"`+next+`"}`, "INVALID_CURSOR")
	}},

	{"directory_tree", "", "Show a directory and all entries below as an indented tree, directories first, with the sizes of files. " +
		"Use this tool to learn the layout of a project. A large tree shows README, manifests and entry points first, and the number of omitted entries.", func(c caller) {
		c.lacks(`{"path":"ignoring"}`, "a.tmp", "out", "HEAD", "x.js")
		c.ordered(`{"max_characters":1000,"exclude_patterns":["deep"]}`, "[DIR]  commands/\n  [FILE] analyze_zoom_speech_sdk_log.md", "  … and ", " more\n",
			"[DIR]  many/\n  [FILE] 0000.txt (1 B)\n", "  … and ", " more\n", "[DIR]  src/")
		c.ordered(`{"path":"files"}`, "[DIR]  sub/\n  [FILE] a.go (2 B)\n", "[FILE] a.md (1 B)")
	}},
	{"directory_tree", "path", directoryArg, func(c caller) {
		c.same(`{"max_depth":1}`, `{"path":".","max_depth":1}`)
		c.holds(`{"path":"files/sub"}`, "Directory tree: files/sub/")
	}},
	{"directory_tree", "exclude_patterns", excludeText, excludeClaim(`"path":"files","show_dependencies":true`)},
	{"directory_tree", "show_hidden", "Include hidden files (default true)", func(c caller) {
		c.same(`{"path":"files"}`, `{"path":"files","show_hidden":true}`)
		c.holds(`{"path":"files"}`, ".hidden.md")
		c.lacks(`{"path":"files","show_hidden":false}`, ".hidden.md")
	}},
	{"directory_tree", "max_depth", "Maximum number of levels to show (default 100; higher values count as 100)", func(c caller) {
		for arguments, want := range map[string]int{`{"path":"deep"}`: 100, `{"path":"deep","max_depth":100}`: 100, `{"path":"deep","max_depth":110}`: 100, `{"path":"deep","max_depth":3}`: 3} {
			if text, _ := c.succeeds(arguments); strings.Count(text, "[DIR]") != want {
				c.t.Errorf("%s: %d levels, want %d", arguments, strings.Count(text, "[DIR]"), want)
			}
		}
	}},

	{"directory_tree", "gitignore", gitignoreText, gitignoreClaim(`"path":"ignoring"`)},
	{"directory_tree", "show_dependencies", dependenciesText, func(c caller) {
		c.same(`{"path":"ignoring"}`, `{"path":"ignoring","show_dependencies":false}`)
		c.holds(`{"path":"ignoring"}`, "[DIR]  .git/ (1 entry)", "[DIR]  node_modules/ (2 entries)")
		c.lacks(`{"path":"ignoring"}`, "x.js", "HEAD")
		c.holds(`{"path":"ignoring","show_dependencies":true,"gitignore":false}`, "x.js", "HEAD")
	}},
	{"directory_tree", "show_sizes", sizesText, func(c caller) {
		c.same(`{"path":"files"}`, `{"path":"files","show_sizes":true}`)
		c.holds(`{"path":"files"}`, "[FILE] a.md (1 B)")
		c.lacks(`{"path":"files","show_sizes":false}`, "(1 B)")
	}},
	{"directory_tree", "limit", limitText, limitClaim(`"path":"many"`, "children")},
	{"directory_tree", "max_characters", sizeText, sizeClaim(`"path":"many"`)},

	{"get_file_info", "", "Get the type, size, times and permissions of one file, directory or symbolic link, without reading the content.", func(c caller) {
		c.holds(`{"path":"files/b.md"}`, "Type: file", "Size: 3 B", "Modified: ", "Readable: Yes", "Writable: Yes")
		c.holds(`{"path":"files"}`, "Type: directory")
	}},
	{"get_file_info", "path", "File path (relative to project root)", func(c caller) { c.holds(`{"path":"files/b.md"}`, "File: files/b.md") }},

	{"search_files", "", "Find files by glob, below a directory. A pattern may contain *, **, ?, [a-z] and {a,b}. " +
		"A pattern without a slash matches file names at any depth, and a pattern with a slash matches paths relative to the directory. " +
		"Returns paths relative to the project root.", func(c caller) {
		for pattern, want := range map[string][]any{
			"*.md":           {"files/a.md", "files/b.md"},
			"**/a.*":         {"files/sub/a.go", "files/a.md"},
			"?.go":           {"files/sub/a.go"},
			"[b-z].md":       {"files/b.md"},
			"{a,b}.md":       {"files/a.md", "files/b.md"},
			"a,b.md":         {},
			"sub/*.go":       {"files/sub/a.go", "files/sub/a_test.go"},
			"files/sub/*":    {},
			".hidden.md":     {},
			"error.{go,log}": {"files/c/error.log"},
			"x.js":           {},
		} {
			_, got := c.succeeds(`{"path":"files","pattern":"` + pattern + `"}`)
			must.Match(c.t, pattern, want, got["files"])
		}
	}},
	{"search_files", "pattern", `Glob to match, such as "**/*.go"`, func(c caller) {
		c.holds(`{"pattern":"**/*.go"}`, "\nfiles/sub/a.go")
		c.holds(`{"pattern":"*.md"}`, "\nfiles/a.md")
		c.holds(`{"pattern":"src/**/*_test.go"}`, "\nsrc/x/x_test.go")
	}},
	{"search_files", "path", directoryArg, func(c caller) { c.same(`{"pattern":"*.go"}`, `{"pattern":"*.go","path":"."}`) }},
	{"search_files", "exclude_patterns", excludeText, excludeClaim(`"path":"files","pattern":"*","show_dependencies":true`)},
	{"search_files", "show_hidden", "Include hidden files (default false)", func(c caller) {
		c.same(`{"pattern":"*.md","path":"files"}`, `{"pattern":"*.md","path":"files","show_hidden":false}`)
		c.lacks(`{"pattern":"*.md","path":"files"}`, ".hidden.md")
		c.holds(`{"pattern":".hidden.md","path":"files"}`, "set show_hidden")
		c.holds(`{"pattern":".hidden.md","path":"files","show_hidden":true}`, "\nfiles/.hidden.md")
	}},
	{"search_files", "gitignore", gitignoreText, gitignoreClaim(`"path":"ignoring","pattern":"*"`)},
	{"search_files", "show_dependencies", dependenciesText, func(c caller) {
		c.same(`{"pattern":"x.js"}`, `{"pattern":"x.js","show_dependencies":false}`)
		c.lacks(`{"pattern":"x.js"}`, "node_modules")
		c.holds(`{"pattern":"x.js"}`, "not searched (see show_dependencies)")
		c.holds(`{"pattern":"x.js","show_dependencies":true}`, "\nfiles/node_modules/x/x.js")
		c.holds(`{"path":"files/node_modules","pattern":"x.js"}`, "\nfiles/node_modules/x/x.js")
	}},
	{"search_files", "sort_by", "Order of all files; newest or largest first (default: path)", func(c caller) {
		c.same(`{"pattern":"*.md","path":"files"}`, `{"pattern":"*.md","path":"files","sort_by":"path"}`)
		c.ordered(`{"pattern":"*","path":"files","sort_by":"size"}`, "3 B  files/b.md", "2 B  files/sub/a.go", "1 B  files/c/error.log")
		c.succeeds(`{"pattern":"*","path":"files","sort_by":"modified"}`)
		c.refuses(`{"pattern":"*","sort_by":"name"}`, "INVALID_SORT")
	}},
	{"search_files", "limit", limitText, limitClaim(`"path":"many","pattern":"*"`, "files")},
	{"search_files", "max_characters", sizeText, sizeClaim(`"path":"many","pattern":"*"`)},

	{"search_text", "", "Find lines in text files, below a directory or in a single file. The pattern is a regular expression (RE2), or a plain text with literal. " +
		"Returns the lines by file, with their numbers; of many matches, returns the first matches of each file. " +
		"Pass a path and a line number to read_file to read the lines around a match.", func(c caller) {
		c.holds(`{"pattern":"t[wh]"}`, "\n\nreferences/guide.md\n2:two\n3:three")
		c.holds(`{"pattern":"e","path":"skills/pdf-processing","files":["SKILL.md","guide.md"],"limit":2}`, "guide.md\n1:# Guide\n", "name: pdf-processing\n… and 2 more\n\n… and 2 more lines beyond 2 lines;")
		c.holds(`{"pattern":"t[wh]","path":"references/guide.md"}`, "\n\nreferences/guide.md\n2:two\n3:three")
		c.lacks(`{"pattern":".","path":"ignoring"}`, "/.gitignore", "a.tmp", "out", "x.js")
	}},
	{"search_text", "pattern", "Regular expression to find within a line (RE2)", func(c caller) {
		c.lacks(`{"pattern":"one.two","path":"references"}`, "guide.md")
		c.refuses(`{"pattern":"("}`, "INVALID_PATTERN")
		c.refuses(`{"pattern":"(?=x)"}`, "INVALID_PATTERN")
	}},
	{"search_text", "path", "Directory or file to search (relative to project root)", func(c caller) {
		c.same(`{"pattern":"three"}`, `{"pattern":"three","path":"."}`)
		c.lacks(`{"pattern":"three","path":"files"}`, "guide.md")
	}},
	{"search_text", "literal", "Find the pattern as plain text (default false)", func(c caller) {
		c.same(`{"pattern":"t..ee","path":"references"}`, `{"pattern":"t..ee","path":"references","literal":false}`)
		c.holds(`{"pattern":"t..ee","path":"references"}`, "guide.md")
		c.lacks(`{"pattern":"t..ee","path":"references","literal":true}`, "guide.md")
	}},
	{"search_text", "ignore_case", "Ignore the letter case (default false)", func(c caller) {
		c.same(`{"pattern":"THREE"}`, `{"pattern":"THREE","ignore_case":false}`)
		c.lacks(`{"pattern":"THREE"}`, "guide.md")
		c.holds(`{"pattern":"THREE","ignore_case":true}`, "guide.md")
	}},
	{"search_text", "whole_words", "Find whole words only (default false)", func(c caller) {
		c.same(`{"pattern":"thre","path":"references"}`, `{"pattern":"thre","path":"references","whole_words":false}`)
		c.holds(`{"pattern":"thre","path":"references"}`, "guide.md")
		c.lacks(`{"pattern":"thre","path":"references","whole_words":true}`, "guide.md")
		c.holds(`{"pattern":"three","path":"references","whole_words":true}`, "guide.md")
	}},
	{"search_text", "files", `Globs of the files to search, such as "*.go" or "src/**" (default: all files)`, func(c caller) {
		c.holds(`{"pattern":"2|3"}`, "files/sub/a.go", "files/b.md")
		c.lacks(`{"pattern":"2|3","files":["*.go"]}`, "files/b.md")
		c.holds(`{"pattern":"2|3|1","files":["*.go","src/**"]}`, "files/sub/a.go", "src/x/x_test.go")
		c.refuses(`{"pattern":"2","files":["["]}`, "INVALID_PATTERN")
	}},
	{"search_text", "exclude_patterns", excludeText, excludeClaim(`"path":"files","pattern":".","show_dependencies":true`)},
	{"search_text", "context_lines", "Lines to show before and after each match (default 0)", func(c caller) {
		c.same(`{"pattern":"two"}`, `{"pattern":"two","context_lines":0}`)
		c.holds(`{"pattern":"two","context_lines":1}`, "\n\nreferences/guide.md\n1-one\n2:two\n3-three")
		c.succeeds(`{"pattern":"two","context_lines":20}`)
		c.refuses(`{"pattern":"two","context_lines":21}`, "INVALID_OPTION")
	}},
	{"search_text", "show_hidden", "Include hidden files (default false)", func(c caller) {
		c.same(`{"pattern":".","path":"files"}`, `{"pattern":".","path":"files","show_hidden":false}`)
		c.lacks(`{"pattern":".","path":"files"}`, ".hidden.md")
		c.holds(`{"pattern":".","path":"files","show_hidden":true}`, ".hidden.md")
	}},
	{"search_text", "gitignore", gitignoreText, gitignoreClaim(`"path":"ignoring","pattern":"."`)},
	{"search_text", "show_dependencies", dependenciesText, func(c caller) {
		c.same(`{"pattern":".","path":"files"}`, `{"pattern":".","path":"files","show_dependencies":false}`)
		c.lacks(`{"pattern":".","path":"files"}`, "x.js")
		c.holds(`{"pattern":".","path":"files","show_dependencies":true}`, "x.js")
	}},
	{"search_text", "output", "Lines, only paths, or paths and numbers of lines (default: content)", func(c caller) {
		c.same(`{"pattern":"t[wh]"}`, `{"pattern":"t[wh]","output":"content"}`)
		c.holds(`{"pattern":"t[wh]","output":"files"}`, "Found 1 file:\n\nreferences/guide.md")
		c.holds(`{"pattern":"t[wh]","output":"count"}`, "\n\nreferences/guide.md:2")
		c.refuses(`{"pattern":"t[wh]","output":"lines"}`, "INVALID_OPTION")
	}},
	{"search_text", "limit", "Maximum number of matching lines (default 100)", func(c caller) {
		c.length(`{"pattern":".","path":"many"}`, "matches", 100)
		c.length(`{"pattern":".","path":"many","limit":1}`, "matches", 1)
		c.length(`{"pattern":".","path":"many","limit":1000,"max_characters":1000000}`, "matches", 1000)
		c.refuses(`{"pattern":".","path":"many","limit":1001}`, "INVALID_OPTION")
	}},
	{"search_text", "max_characters", sizeText, sizeClaim(`"path":"many","pattern":".","limit":1000`)},

	{"read_file", "", "Read a text file, or some of its lines, or several files. Returns each line with its number. " +
		"If a file has more than max_bytes, the result ends with the line to continue with. " +
		"Use a path that directory_tree or search_files has returned.", func(c caller) {
		c.holds(`{"path":"references/guide.md"}`, "1\tone\n2\ttwo\n3\tthree")
		c.holds(`{"path":"references/guide.md","max_bytes":8}`, "1\tone\n2\ttwo\n… and 1 more line; continue with line 3")
		c.refuses(`{"path":"references"}`, "FILE_READ_ERROR")
	}},
	{"read_file", "path", "File path (relative to project root)", func(c caller) {
		c.holds(`{"path":"files/sub/a.go"}`, "1\t22")
	}},
	{"read_file", "paths", "Several files, which share max_bytes", func(c caller) {
		c.holds(`{"paths":["files/b.md","files/nothing","files/sub/a.go"]}`,
			"==> files/b.md <==\n1\t333\n\n==> files/nothing <==\nError: File 'files/nothing' not found", "\n\n==> files/sub/a.go <==\n1\t22")
		c.holds(`{"paths":["references/guide.md","references/guide.md"],"max_bytes":10}`, "==> references/guide.md <==\n1\tone\n… and 2 more lines; continue with line 2\n\n==> references/guide.md <==\n1\tone\n… and")
		c.holds(`{"path":"files/b.md","paths":["references/guide.md"],"start_line":-1}`, "==> files/b.md <==\n1\t333\n\n==> references/guide.md <==\n3\tthree")
		c.refuses(`{"paths":["files/nothing"],"start_line":3,"end_line":2}`, "INVALID_OPTION")
		c.refuses(`{"paths":["files/nothing","files"]}`, "NOT_FOUND")
		c.refuses(`{"start_line":2}`, "INVALID_ARGUMENTS")
		c.refuses(`{"paths":[]}`, "INVALID_ARGUMENTS")
	}},
	{"read_file", "around", "Return the function, type or other block around this line", func(c caller) {
		c.holds(`{"path":"src/block.go","around":4}`, "3\tfunc f() {\n4\t\tg()\n5\t}")
		c.refuses(`{"path":"src/block.go","around":4,"start_line":2}`, "INVALID_OPTION")
		c.refuses(`{"path":"src/block.go","around":0}`, "INVALID_OPTION")
	}},
	{"read_file", "start_line", "First line to read, from 1; a negative number counts from the end: -1 is the last line", func(c caller) {
		c.same(`{"path":"references/guide.md"}`, `{"path":"references/guide.md","start_line":1}`)
		c.holds(`{"path":"references/guide.md","start_line":2}`, "2\ttwo\n3\tthree")
		c.same(`{"path":"references/guide.md","start_line":-1}`, `{"path":"references/guide.md","start_line":3}`)
	}},
	{"read_file", "end_line", "Last line to read, inclusive; a negative number counts from the end", func(c caller) {
		c.same(`{"path":"references/guide.md"}`, `{"path":"references/guide.md","end_line":-1}`)
		c.holds(`{"path":"references/guide.md","end_line":2}`, "1\tone\n2\ttwo\n")
		c.lacks(`{"path":"references/guide.md","end_line":2}`, "three")
		c.lacks(`{"path":"references/guide.md","end_line":-2}`, "three")
		c.refuses(`{"path":"references/guide.md","start_line":3,"end_line":2}`, "INVALID_OPTION")
	}},
	{"read_file", "start_column", "Number of bytes of the first line to skip, to continue within a long line", func(c caller) {
		c.holds(`{"path":"references/most.txt"}`, "continue with line 1, column 65536")
		c.ordered(`{"path":"references/most.txt","start_line":1,"start_column":262143}`, "1\t…x\n2\tend")
		c.same(`{"path":"references/guide.md"}`, `{"path":"references/guide.md","start_column":0}`)
	}},
	{"read_file", "max_bytes", "Maximum size of the text in bytes (default 65536); a longer text ends at the end of a line", func(c caller) {
		c.same(`{"path":"references/most.txt"}`, `{"path":"references/most.txt","max_bytes":65536}`)
		c.holds(`{"path":"references/most.txt","max_bytes":262144}`, "continue with line 1, column 262144")
		c.refuses(`{"path":"references/most.txt","max_bytes":262145}`, "INVALID_OPTION")
	}},

	{"report_feedback", "", "Save the report that an analysis command produced. Call this tool when the command has finished. " +
		"With user_wants_upload true, the report is saved in a shared directory: ask the user first, " +
		"and send true only if the user agrees. With false, the report is kept on this machine.", func(c caller) {
		c.holds(`{"command_name":"review-pr","report_content":"x","user_wants_upload":true}`, `"report_path":"reports/`, `"action_taken":"uploaded"`)
		c.holds(`{"command_name":"review-pr","report_content":"x","user_wants_upload":false}`, `"report_path":"local/`, `"action_taken":"saved_locally"`)
	}},
	{"report_feedback", "command_name", "Name of the command that produced the report", func(c caller) {
		c.refuses(`{"command_name":"nothing","report_content":"x","user_wants_upload":true}`, "COMMAND_NOT_FOUND")
	}},
	{"report_feedback", "report_content", "The whole report, as Markdown; at most 10 MiB", func(c caller) {
		for size, want := range map[int]toolshelf.Code{0: "EMPTY_CONTENT", 10 << 20: "", 10<<20 + 1: "SIZE_LIMIT_EXCEEDED"} {
			arguments := `{"command_name":"review-pr","report_content":"` + strings.Repeat("x", size) + `","user_wants_upload":true}`
			if want != "" {
				c.refuses(arguments, want)
			} else {
				c.succeeds(arguments)
			}
		}
	}},
	{"report_feedback", "user_wants_upload", "Whether the user has agreed to share the report", func(c caller) {
		c.refuses(`{"command_name":"review-pr","report_content":"x"}`, "INVALID_ARGUMENTS")
	}},
	{"report_feedback", "report_name", `Short name of the report: letters, digits, "_" and "-" (default "report")`, func(c caller) {
		const most = `{"command_name":"review-pr","report_content":"x","user_wants_upload":true`
		c.holds(most+`}`, `"report_name":"report"`)
		c.holds(most+`,"report_name":"Äb_1-"}`, `"report_name":"Äb_1-"`)
		c.succeeds(most + `,"report_name":"` + strings.Repeat("n", 100) + `"}`)
		c.refuses(most+`,"report_name":"`+strings.Repeat("n", 101)+`"}`, "INVALID_REPORT_NAME")
		c.refuses(most+`,"report_name":"a b"}`, "INVALID_REPORT_NAME")
	}},
}

func searchClaim(c caller, best string) {
	c.t.Helper()
	_, found := c.succeeds(`{"query":"review a pull request"}`)
	last := 1.0
	for i, result := range found["results"].([]any) {
		r := result.(map[string]any)
		score := r["score"].(float64)
		if score < 0 || score > last || r["match_reason"] == "" || i == 0 && r["name"] != best {
			c.t.Errorf("result %d is %v", i, r)
		}
		last = score
	}
}

func weakClaim(c caller) {
	c.t.Helper()
	_, found := c.succeeds(`{"query":"xyzzy"}`)
	if words, _ := found["words"].([]any); found["weak"] != true || len(words) == 0 {
		c.t.Errorf("a query without a match has %v", found)
	}
}

func queryClaim(c caller) {
	c.t.Helper()
	c.succeeds(`{"query":"x"}`)
	c.succeeds(`{"query":"` + strings.Repeat("é", 500) + `"}`)
	c.refuses(`{"query":""}`, "INVALID_QUERY")
	c.refuses(`{"query":"`+strings.Repeat("é", 501)+`"}`, "INVALID_QUERY")
}

// resultsClaim takes the number of results by default and with the largest max_results.
func resultsClaim(c caller, query string, standard, all int) {
	c.t.Helper()
	c.length(`{"query":"`+query+`"}`, "results", standard)
	c.length(`{"query":"`+query+`","max_results":1}`, "results", 1)
	c.length(`{"query":"`+query+`","max_results":100}`, "results", all)
	c.refuses(`{"query":"`+query+`","max_results":101}`, "INVALID_QUERY")
}

func excludeClaim(others string) func(caller) {
	return func(c caller) {
		c.t.Helper()
		c.holds(`{`+others+`}`, "x.js", "error.log")
		c.lacks(`{`+others+`,"exclude_patterns":["node_modules"]}`, "x.js")
		c.lacks(`{`+others+`,"exclude_patterns":["**/*.log"]}`, "error.log")
		list := strings.TrimSuffix(strings.Repeat(`"*.log",`, 101), ",")
		c.refuses(`{`+others+`,"exclude_patterns":[`+list+`]}`, "INVALID_PATTERN")
		c.lacks(`{`+others+`,"exclude_patterns":[`+strings.TrimSuffix(list, `,"*.log"`)+`]}`, "error.log")
	}
}

func gitignoreClaim(others string) func(caller) {
	return func(c caller) {
		c.t.Helper()
		c.same(`{`+others+`}`, `{`+others+`,"gitignore":true}`)
		c.holds(`{`+others+`}`, "a.txt")
		c.lacks(`{`+others+`}`, "a.tmp", "out")
		c.holds(strings.ReplaceAll(`{`+others+`}`, `"ignoring"`, `"ignoring/out"`), "x.txt")
		c.holds(`{`+others+`,"gitignore":false}`, "a.txt", "a.tmp", "out")
	}
}

// limitClaim takes arguments with 1,001 results in a member.
func limitClaim(others, member string) func(caller) {
	return func(c caller) {
		c.t.Helper()
		others += `,"max_characters":1000000`
		c.length(`{`+others+`}`, member, 1000)
		c.length(`{`+others+`,"limit":1}`, member, 1)
		c.length(`{`+others+`,"limit":10000}`, member, 1001)
		c.refuses(`{`+others+`,"limit":0}`, "INVALID_OPTION")
		c.refuses(`{`+others+`,"limit":10001}`, "INVALID_OPTION")
	}
}

// sizeClaim takes arguments with a result of more than 20,000 characters.
func sizeClaim(others string) func(caller) {
	return func(c caller) {
		c.t.Helper()
		c.same(`{`+others+`}`, `{`+others+`,"max_characters":20000}`)
		for _, size := range []int{1000, 5000, 20_000} {
			arguments := fmt.Sprintf(`{%s,"max_characters":%d}`, others, size)
			text, structured := c.succeeds(arguments)
			if n := utf8.RuneCountInString(text); n > size || n < size/2 {
				c.t.Errorf("%s(%s): %d characters", c.tool.Name, arguments, n)
			}
			if n := len(encoded(c.t, structured)); n > 10*len(text) {
				c.t.Errorf("%s(%s): %d bytes of structured content for %d bytes of text", c.tool.Name, arguments, n, len(text))
			}
		}
		c.succeeds(`{` + others + `,"max_characters":1000000}`)
		c.refuses(`{`+others+`,"max_characters":999}`, "INVALID_OPTION")
		c.refuses(`{`+others+`,"max_characters":1000001}`, "INVALID_OPTION")
	}
}

// input has the fields of an input schema for the tests.
type input struct {
	Properties map[string]struct {
		Type, Description string
		Default           json.RawMessage
		Examples          []json.RawMessage
	}
	Required []string
}

func inputOf(t *testing.T, tool mcpadapter.Tool) (schema input) {
	t.Helper()
	must.Do(t, json.Unmarshal(tool.InputSchema, &schema))
	return schema
}

// workingOn calls the tool of a claim over a project with a skill to deploy, and with skills of the
// directory packages/web.
func workingOn(c caller, arguments string) string {
	c.t.Helper()
	files := map[string]string{".claude/skills/deploy/SKILL.md": "---\ndescription: Deploys\n---\n",
		"packages/web/.claude/skills/deploy/SKILL.md": "---\ndescription: Deploys the website\n---\n",
		"packages/web/.claude/skills/lint/SKILL.md":   "---\ndescription: Checks styles\n---\n"}
	a := adapterOf(c.t, catalog(c.t, memory(c.t, files), toolshelf.WithClient(client.Claude())), mcpadapter.WithRelativePaths())
	got, err := a.Call(ctx, c.tool.Name, json.RawMessage(arguments))
	if err != nil || got.IsError {
		c.t.Errorf("%s(%s): %s, %v", c.tool.Name, arguments, got.Text, err)
	}
	return got.Text
}

func claimedCatalog(t *testing.T) *toolshelf.Catalog {
	t.Helper()
	return catalog(t, memory(t, claimed()), toolshelf.WithAgentsDir("agents"), toolshelf.WithInstructions(client.Cursor()), toolshelf.WithReports("reports", "local"))
}

func TestDescriptionsMatchTheBehavior(t *testing.T) {
	c := claimedCatalog(t)
	a, programs := adapterOf(t, c), adapterOf(t, c, mcpadapter.WithStructuredContent())
	want, got := map[string]string{}, map[string]string{}
	for _, tool := range a.Tools() {
		got[tool.Name+"/"] = tool.Description
		for name, p := range inputOf(t, tool).Properties {
			got[tool.Name+"/"+name] = p.Description
		}
	}
	for _, claim := range claims {
		key := claim.tool + "/" + claim.parameter
		want[key] = claim.text
		t.Run(key, func(t *testing.T) {
			tool, ok := a.Lookup(claim.tool)
			must.Equal(t, "the tool exists", true, ok)
			program, _ := programs.Lookup(claim.tool)
			claim.check(caller{t, tool, program})
		})
	}
	must.Match(t, "got", want, got)
}

// A tool accepts the examples in its schema and in its errors.
func TestToolsAcceptTheExamplesOfTheirSchemas(t *testing.T) {
	a := adapterOf(t, claimedCatalog(t), mcpadapter.WithStructuredContent())
	working := map[string]json.RawMessage{
		"command_name": json.RawMessage(`"review-pr"`), "skill_name": json.RawMessage(`"pdf-processing"`), "agent_name": json.RawMessage(`"reviewer"`), "path": json.RawMessage(`"references/guide.md"`),
		"report_content": json.RawMessage(`"x"`), "user_wants_upload": json.RawMessage(`true`), "pattern": json.RawMessage(`"x"`), "query": json.RawMessage(`"x"`),
	}
	examples := 0
	for _, tool := range a.Tools() {
		schema := inputOf(t, tool)
		check := compiled(t, tool.InputSchema)
		for name, p := range schema.Properties {
			for _, example := range append(p.Examples, p.Default) {
				if example == nil {
					continue
				}
				examples++
				arguments := map[string]json.RawMessage{}
				for _, other := range schema.Required {
					arguments[other] = working[other]
				}
				switch tool.Name {
				case "list_directory":
					arguments["path"] = json.RawMessage(`"."`)
				case "read_file": // needs path or paths
					arguments["path"] = working["path"]
				}
				arguments[name] = example
				raw := must.Get(json.Marshal(arguments))(t)
				must.Is(t, tool.Name, nil, validate(t, check, raw))
				caller{t, tool, tool}.succeeds(string(raw))
			}
		}
		refused := must.Get(tool.Call(ctx, json.RawMessage(`[]`)))(t)
		var body struct{ Error any }
		must.Do(t, json.Unmarshal(refused.Structured, &body))
		message, ok := body.Error.(string)
		if !ok {
			message = body.Error.(map[string]any)["message"].(string)
		}
		_, example, _ := strings.Cut(message, "such as ")
		must.Is(t, tool.Name, nil, validate(t, check, []byte(example)))
	}
	if examples < 15 {
		t.Errorf("%d examples", examples)
	}
}

// A tool accepts the arguments that its errors suggest.
func TestToolsAcceptTheSuggestionsOfTheirErrors(t *testing.T) {
	a := adapterOf(t, claimedCatalog(t), mcpadapter.WithStructuredContent())
	for _, tt := range []struct {
		tool, refused, says string
		accepted            []string
	}{
		{"list_commands", `{"page":0}`, "send a whole number of 1 or more", []string{`{"page":1}`, `{"page":9007199254740991}`}},
		{"list_commands", `{"page_size":101}`, "send a whole number from 1 to 100", []string{`{"page_size":1}`, `{"page_size":100}`}},
		{"search_commands", `{"query":"x","max_results":0}`, "send a whole number from 1 to 100", []string{`{"query":"x","max_results":1}`, `{"query":"x","max_results":100}`}},
		{"search_commands", `{"query":""}`, "use at least one word", []string{`{"query":"word"}`}},
		{"list_directory", `{"path":7}`, `send a string, "." for the project root`, []string{`{"path":"."}`}},
		{"list_directory", `{"path":".","sort_by":"type"}`, "send one of name, size, modified", []string{`{"path":".","sort_by":"name"}`, `{"path":".","sort_by":"size"}`, `{"path":".","sort_by":"modified"}`}},
		{"list_directory", `{"path":".","show_hidden":"yes"}`, "send true or false", []string{`{"path":".","show_hidden":true}`, `{"path":".","show_hidden":false}`}},
		{"directory_tree", `{"path":"files","max_depth":0}`, "send a whole number of 1 or more", []string{`{"path":"files","max_depth":1}`}},
		{"search_files", `{"pattern":"*","exclude_patterns":"x"}`, `send an array of at most 100 strings, such as ["node_modules", "*.log"]`, []string{`{"pattern":"*","exclude_patterns":["node_modules", "*.log"]}`}},
		{"list_directory", `{"path":"filse"}`, "did you mean 'files/'?", []string{`{"path":"files/"}`}},
		{"get_file_info", `{"path":"files/bb.md"}`, "did you mean 'files/b.md'?", []string{`{"path":"files/b.md"}`}},
		{"get_command", `{"command_name":"review-rp"}`, `did you mean \"review-pr\"?`, []string{`{"command_name":"review-pr"}`}},
		{"get_agent", `{"agent_name":"agents/reviewer.md"}`, `write \"reviewer\"`, []string{`{"agent_name":"reviewer"}`}},
		{"get_skill", `{"skill_name":"review"}`, `did you mean \"Review\"?`, []string{`{"skill_name":"Review"}`}},
	} {
		tool, _ := a.Lookup(tt.tool)
		got := must.Get(tool.Call(ctx, json.RawMessage(tt.refused)))(t)
		must.Equal(t, tt.tool, true, got.IsError)
		must.Contain(t, tt.tool, got.Text, tt.says)
		for _, arguments := range tt.accepted {
			caller{t, tool, tool}.succeeds(arguments)
		}
	}
}

// identifier matches names in the notation of tools and arguments.
var identifier = regexp.MustCompile(`[A-Za-z0-9.-]*[a-z0-9](?:_[A-Za-z0-9.-]+)+`)

// misnamed returns the identifiers in a text that are not among the known names.
func misnamed(text string, known map[string]bool) (foreign []string) {
	for _, name := range identifier.FindAllString(text, -1) {
		if name = strings.Trim(name, "."); !known[name] && !exampleNames[name] {
			foreign = append(foreign, name)
		}
	}
	return foreign
}

// walkSchema calls property with the name of each property, and text with each description.
func walkSchema(schema any, property, text func(string)) {
	switch s := schema.(type) {
	case map[string]any:
		if d, ok := s["description"].(string); ok {
			text(d)
		}
		if properties, ok := s["properties"].(map[string]any); ok {
			for name := range properties {
				property(name)
			}
		}
		for _, below := range s {
			walkSchema(below, property, text)
		}
	case []any:
		for _, below := range s {
			walkSchema(below, property, text)
		}
	}
}

// For all sets and names of tools, a text names only offered tools, and the arguments and results
// of its own tool.
func TestTextsNameOnlyExistingToolsAndArguments(t *testing.T) {
	c := claimedCatalog(t)
	all := adapterOf(t, c).Tools()
	optionSets := [][]mcpadapter.Option{nil, {mcpadapter.WithNamespace("my_x")}, {mcpadapter.WithNamespace("a.b")}, {mcpadapter.WithNamespace("a.b"), mcpadapter.WithSeparator("_")}}
	for _, tool := range all {
		optionSets = append(optionSets, []mcpadapter.Option{mcpadapter.WithTools(tool.Name)}, []mcpadapter.Option{mcpadapter.WithTools(tool.Name), mcpadapter.WithNamespace("x")})
	}
	for _, options := range optionSets {
		a := adapterOf(t, c, append(options, mcpadapter.WithStructuredContent())...)
		tools := map[string]bool{}
		for _, tool := range a.Tools() {
			tools[tool.Name] = true
		}
		for _, tool := range a.Tools() {
			known := maps.Clone(tools)
			var texts []string
			for _, raw := range []json.RawMessage{tool.InputSchema, tool.OutputSchema} {
				walkSchema(decoded(t, raw), func(name string) { known[name] = true }, func(text string) { texts = append(texts, text) })
			}
			names := slices.Collect(maps.Keys(inputOf(t, tool).Properties))
			for _, bad := range append(names, "nothing") { // each argument with a wrong value, and an unknown argument
				raw := must.Get(json.Marshal(map[string]any{bad: map[string]any{}}))(t)
				got := must.Get(tool.Call(ctx, raw))(t)
				must.Equal(t, tool.Name, true, got.IsError)
				if !strings.HasPrefix(got.Text, "{") {
					texts = append(texts, got.Text)
					continue
				}
				texts = append(texts, fmt.Sprint(decoded(t, []byte(got.Text))))
			}
			for _, text := range append(texts, tool.Description) {
				if foreign := misnamed(text, known); foreign != nil {
					t.Errorf("with %d tools, %s says %q; there is no %q", len(tools), tool.Name, text, foreign)
				}
			}
		}
		if tool, ok := a.Lookup("get_command"); ok {
			_, got := caller{t, tool, tool}.succeeds(`{"command_name":"analyze_zoom_speech_sdk_log"}`)
			hint, _ := got["next_steps"].(string)
			if foreign := misnamed(hint, tools); foreign != nil {
				t.Errorf("with %d tools, next_steps is %q; there is no %q", len(tools), hint, foreign)
			}
		}
		_, err := a.Call(ctx, "nothing", nil)
		var rpc *mcpadapter.RPCError
		if !errors.As(err, &rpc) || misnamed(rpc.Message, tools) != nil {
			t.Errorf("%v", err)
		}
	}
}

// misnamed finds unknown names.
func TestMisnamedFindsUnknownNames(t *testing.T) {
	known := map[string]bool{"x.get_command": true, "page_size": true}
	for text, want := range map[string][]string{
		"Pass it to x.get_command.":        nil,
		"Pass it to get_command.":          {"get_command"},
		"Set page_size, or page_number":    {"page_number"},
		"names: x.get_command, list_shoes": {"list_shoes"},
	} {
		must.Match(t, text, want, misnamed(text, known))
	}
}

// The description of report_feedback names only directories that exist.
func TestReportFeedbackDescribesTheDirectoriesThatExist(t *testing.T) {
	for _, tt := range []struct {
		shared, local string
		says, omits   []string
	}{
		{"reports", "local", []string{"ask the user first", "kept on this machine"}, nil},
		{"reports", "", []string{"ask the user first"}, []string{"kept on this machine"}},
		{"", "local", []string{"kept on this machine"}, []string{"user_wants_upload true"}},
	} {
		a := adapterOf(t, catalog(t, memory(t, claimed()), toolshelf.WithAgentsDir("agents"), toolshelf.WithReports(tt.shared, tt.local)))
		tool, _ := a.Lookup("report_feedback")
		must.Contain(t, tt.shared, tool.Description, tt.says...)
		must.NotContain(t, tt.shared, tool.Description, tt.omits...)
		for upload, ok := range map[string]bool{"true": tt.shared != "", "false": tt.local != ""} {
			got, err := tool.Call(ctx, json.RawMessage(`{"command_name":"review-pr","report_content":"x","user_wants_upload":`+upload+`}`))
			if err != nil || got.IsError == ok {
				t.Errorf("reports %q and %q, upload %s: %s, %v", tt.shared, tt.local, upload, got.Text, err)
			}
		}
	}
}
