// Command toolshelf-lint checks the commands, skills, agents and instructions of a project, for
// editors and CI systems.
//
//	go run ./cmd/toolshelf-lint [flags] [DIR…]
//
// Each DIR is the root of a project, or a directory of skills. The default is the working
// directory. Flags may follow a DIR, and all arguments after "--" are directories. The flags are
//
//	-client NAME    check the directories of one client of docs/authors.md, such as claude or vscode
//	-commands DIR   also check the commands in this directory of each project
//	-skills DIR     also check the skills in this directory of each project
//	-agents DIR     also check the agents in this directory of each project
//	-plugins DIR    also check the marketplace, the plugin or the plugins in this directory of each project
//	-triggers FILE  also rank the requests of the file by the words of the skills
//	-well-known DIR check whether the skills in this directory can be published, and nothing else
//	-format FORMAT  print text, json, sarif or github
//	-strict         let warnings fail the check
//	-version        print the version
//
// The exit status is 0 if no diagnostic is an error, 1 if a diagnostic is an error, and 2 if
// the check is impossible or a flag is invalid. With -strict, a warning also gives 1. The
// command "go run" replaces every other status than 0 by 1. "go install" keeps the status.
//
// toolshelf-lint prints the number of checked files, errors and warnings to the standard
// error.
//
// # Clients
//
// Without -client, toolshelf-lint checks commands and .claude/commands, skills, .claude/skills and
// .agents/skills, and agents and .claude/agents. Skills may be up to four directory levels deep.
// With -client, toolshelf-lint checks the directories in which the client looks, to the depth to
// which the client looks, by the rules of the client: an error is a file that the client does not
// load, and a warning is a value that the client ignores or changes, such as the description and
// when_to_use beyond 1,536 characters in Claude Code. Without -client, the rules for skills are the
// rules of the reference validator of Agent Skills. The client agentskills has these rules and the
// directories that toolshelf-lint checks without -client. toolshelf-lint does not read the home
// directory.
//
// toolshelf-lint checks the instructions of the client, such as AGENTS.md and .cursor/rules, in all
// directories of the project; see docs/instructions.md. Without -client, toolshelf-lint checks the
// instructions of all clients, and reports only files that no client reads.
//
// If DIR has none of these directories, and a subdirectory of DIR has a SKILL.md, DIR is a
// directory of skills, as with -skills.
//
// -commands, -skills, -agents and -plugins add directories, and may occur several times. The
// directory is relative to the root of each project. A project without the directory is an error,
// so that a wrong name does not pass the check.
//
// -well-known checks the directories of skills in one directory by the specification of Agent
// Skills. A publication at /.well-known/agent-skills/ omits a skill with an error.
//
// # Triggers
//
// Each line of the file of -triggers has a request of a user and the skill that a model should
// choose, or none:
//
//	ship the website to production => deploy
//	what is the weather => none
//
// toolshelf-lint ranks each request by the words of the names and descriptions of the skills that a
// model may choose, with the field when_to_use, as [toolshelf.Catalog.SearchSkills] ranks words. The
// summary has the number of requests with the expected result. The findings are
//
//   - TRIGGER_MISSED, an error: a request does not find its skill;
//   - TRIGGER_NOT_FIRST: a request ranks another skill first;
//   - TRIGGER_UNWANTED: a request finds a skill where none is expected;
//   - TRIGGER_CUT: the client cuts off the words for which a request finds its skill;
//   - TRIGGERS_COLLIDE: the descriptions of two skills answer the same requests;
//   - TRIGGER_UNRELATED: no request from the first sentences of its text finds the skill.
//
// The rank shows which words the descriptions share with the requests and with each other, without a
// model, and each time the same. The rank does not show what a model chooses: a model also
// understands other words, sees the conversation, and can choose no skill.
//
// # Formats
//
// Paths in the output are relative to the working directory if DIR is below the working
// directory, and have slashes on every system. The order is the order of the arguments, and
// then of [toolshelf.Catalog.Lint]. A diagnostic of a whole file has the position 1:1, except
// in JSON. Columns count Unicode code points. The formats text and json escape unusual
// characters of a path as in Go, for example a line break as \n. The formats sarif and github
// encode the path of the file.
//
// The corrections "write FIELD" and "replace lines 3 to 5 by FIELD" contain a whole field of
// the frontmatter. In a FIELD, "⏎" stands for a line break, in every format.
//
//   - text has a line "path:line:column: severity: message [CODE]" for each diagnostic.
//   - json is an array of [toolshelf.Diagnostic] values.
//   - sarif is a SARIF 2.1.0 log for code scanning. The output has no fingerprints, because
//     the action upload-sarif computes them from the files.
//   - github is a list of workflow commands, such as
//     "::error file=commands/a.md,line=2,col=1,title=CODE::message". GitHub shows up to ten
//     errors and ten warnings of a step as annotations of the files.
//
// # GitHub Actions
//
// After the first release of the library, this workflow annotates the files of a pull request:
//
//	on: [push, pull_request]
//	jobs:
//	  lint:
//	    runs-on: ubuntu-latest
//	    steps:
//	      - uses: actions/checkout@v5
//	      - uses: actions/setup-go@v6
//	        with: {go-version: stable}
//	      - run: go run github.com/toolshelf-go/toolshelf/cmd/toolshelf-lint@latest -format github
//
// To show all diagnostics as alerts of code scanning instead, upload a SARIF file:
//
//	permissions: {contents: read, security-events: write}
//	jobs:
//	  lint:
//	    runs-on: ubuntu-latest
//	    steps:
//	      - uses: actions/checkout@v5
//	      - uses: actions/setup-go@v6
//	        with: {go-version: stable}
//	      - run: go run github.com/toolshelf-go/toolshelf/cmd/toolshelf-lint@latest -format sarif >lint.sarif
//	      - uses: github/codeql-action/upload-sarif@v4
//	        if: always()
//	        with: {sarif_file: lint.sarif}
//
// Run both in the root of the repository, because GitHub takes the paths as relative to this
// directory. Use a version instead of "latest" to keep the rules of a workflow unchanged.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf"
	table "github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// The exit statuses.
const (
	exitPassed = iota
	exitFailed
	exitUnchecked
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run checks the directories of the arguments and returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("toolshelf-lint", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the errors of Parse contain arguments without escapes
	usage := func() {
		fmt.Fprintln(stderr, "usage: toolshelf-lint [flags] [DIR…]    checks the commands, skills, agents and instructions of the projects (default: the working directory)")
		flags.SetOutput(stderr)
		flags.PrintDefaults()
		fmt.Fprintln(stderr, `In the corrections "write FIELD" and "replace lines 3 to 5 by FIELD", ⏎ stands for a line break.`)
	}
	// unchecked reports why the check is impossible.
	unchecked := func(err error) int {
		fmt.Fprintln(stderr, "toolshelf-lint:", escape.Line(err.Error()))
		return exitUnchecked
	}
	checked, write := anyClient, formats["text"]
	clients := []string{table.AgentSkills().Name}
	for _, c := range table.All() {
		clients = append(clients, c.Name)
	}
	flags.Func("client", "check the directories of the client `NAME`: "+strings.Join(clients, ", "), func(name string) (err error) {
		checked, err = lookup(name)
		return err
	})
	var named further
	for name, dirs := range map[string]*[]string{"commands": &named.commands, "skills": &named.skills, "agents": &named.agents, "plugins": &named.plugins} {
		flags.Func(name, "also check the "+name+" in the directory `DIR` of each project; may occur several times", func(dir string) error {
			if dir == "" {
				return errors.New("the name of the directory is empty")
			}
			*dirs = append(*dirs, dir)
			return nil
		})
	}
	var triggers *requests
	flags.Func("triggers", "also rank the requests in `FILE`, lines such as \"ship the website => deploy\", by the words of the skills", func(file string) (err error) {
		triggers, err = readRequests(file)
		return err
	})
	wellKnown := ""
	flags.StringVar(&wellKnown, "well-known", "", "check whether the skills in the directory `DIR` can be published below /.well-known/agent-skills/, and nothing else")
	formatNames := strings.Join(slices.Sorted(maps.Keys(formats)), ", ")
	flags.Func("format", "print the diagnostics as `FORMAT`: "+formatNames+" (default text)", func(name string) error {
		if write = formats[name]; write == nil {
			return fmt.Errorf("use one of %s", formatNames)
		}
		return nil
	})
	strict := flags.Bool("strict", false, "let warnings fail the check")
	printVersion := flags.Bool("version", false, "print the version")
	switch dirs, err := parse(flags, args); {
	case errors.Is(err, flag.ErrHelp):
		usage()
		return exitPassed
	case err != nil:
		usage()
		return unchecked(err)
	case *printVersion:
		fmt.Fprintln(stdout, "toolshelf-lint", version())
		return exitPassed
	default:
		if checked = checked.with(named); wellKnown != "" {
			dirs, checked = []string{wellKnown}, published
		}
		checked.triggers = triggers
		result, err := check(ctx, dirs, checked)
		if err == nil {
			err = write(stdout, result.diagnostics)
		}
		if err != nil {
			return unchecked(err)
		}
		fmt.Fprintln(stderr, "toolshelf-lint:", result)
		if result.count(toolshelf.SeverityError) > 0 || *strict && len(result.diagnostics) > 0 {
			return exitFailed
		}
		return exitPassed
	}
}

// parse sets the flags and returns the directories. Flags and directories may alternate.
// All arguments after "--" are directories.
func parse(flags *flag.FlagSet, args []string) (dirs []string, err error) {
	for len(args) > 0 {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		rest := flags.Args()
		if n := len(args) - len(rest); n > 0 && args[n-1] == "--" {
			dirs = append(dirs, rest...)
			break
		}
		if args = rest; len(rest) > 0 {
			dirs, args = append(dirs, rest[0]), rest[1:]
		}
	}
	if len(dirs) == 0 {
		return []string{"."}, nil
	}
	return dirs, nil
}

// version returns the version of the module, or "(devel)" for a build in a clone.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
