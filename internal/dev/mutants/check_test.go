// Package mutants is the test of .ci/mutants: it changes one place of the code at a time, and lists
// the changes that no test notices.
//
// A fixed sample of the mutants of each package is built into one set of test programs, and an
// environment variable activates a mutant. The test first runs each test alone, to know the places
// that the test reaches. Then it runs these tests with each mutant: the tests of the package of the
// mutant, then the tests of the other packages, and last all slow tests. A failed test, a crash and
// a timeout kill the mutant.
//
// The table has the known survivors, one a line: the key of the mutant, a tab, the class, a tab, and
// the reason. The class is "equivalent", if no test can notice the mutant, "speed" or "text". A
// mutant in the table is not run. An equivalent mutant does not count, and the other survivors do.
package mutants

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolshelf-go/toolshelf/internal/dev/mutants/mutant"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

const module = "github.com/toolshelf-go/toolshelf/"

// A subject is a package with the size of its sample and the least share of killed mutants.
type subject struct {
	dir     string
	number  int
	percent int
}

var subjects = []subject{
	{"trust", 30, 95}, {"internal/gate", 15, 95}, {"confine", 30, 92}, {"internal/matter", 30, 92}, {"internal/markdown", 5, 92},
	{"internal/index", 45, 92}, {"internal/listing", 30, 92}, {"internal/template", 25, 92},
	{"internal/instruction", 20, 92}, {"internal/plugin", 20, 92}, {"agentmd", 15, 92},
	{"mcpadapter", 25, 92}, {"mcpadapter/internal/schema", 10, 92},
}

// others are the packages whose tests run for the mutants of all packages.
var others = []string{"internal/lint", "internal/storetest", "internal/filetest", "client", ".", "mcpadapter"}

var (
	only    = flag.String("package", "", "the `directories` of the packages, separated by commas")
	number  = flag.Int("n", 0, "the size of the sample, the same share for each package")
	table   = flag.String("table", "", "the `file` of the known survivors")
	workDir = flag.String("work", "", "an empty `directory` for the programs")
)

// .ci/mutants starts the test in the root directory.
func TestTheTestsNoticeMutants(t *testing.T) {
	if *workDir == "" {
		t.Skip("without -work")
	}
	log.SetFlags(0)
	chosen := subjects
	if *only != "" {
		chosen = nil
		for dir := range strings.SplitSeq(*only, ",") {
			i := slices.IndexFunc(subjects, func(s subject) bool { return s.dir == dir })
			if i < 0 {
				chosen = append(chosen, subject{dir, 20, 92})
			} else {
				chosen = append(chosen, subjects[i])
			}
		}
	}
	for i := range chosen {
		if *number > 0 {
			chosen[i].number = (*number + i) / len(chosen)
		}
	}
	for _, problem := range run(chosen, *table, *workDir) {
		t.Error(problem)
	}
}

// run returns the problems of the tests and of the table. Each other error ends the program.
func run(subjects []subject, table, work string) (problems []error) {
	known := must.Get(readTable(table))(must.Program)
	sample := make(map[string][]*change) // by directory; more than the sample until reach
	byNumber := []*change{nil}
	overlay := map[string]string{}
	for _, s := range subjects {
		all, sources := load(s.dir)
		exists := make(map[string]bool, len(all))
		for _, m := range all {
			exists[m.key] = true
		}
		for key := range known {
			if strings.HasPrefix(key, s.dir+" ") && !exists[key] {
				err := fmt.Errorf("%s: no code has the mutant %q; remove the line", table, key)
				problems = append(problems, err)
			}
		}
		byHash(all)
		all = all[:min(len(all), 2*s.number)]
		for _, m := range all {
			m.number = len(byNumber)
			byNumber = append(byNumber, m)
		}
		sample[s.dir] = all
		for _, source := range sources {
			elsewhere := func(m *change) bool { return m.position.Filename != source.name() }
			of := slices.DeleteFunc(slices.Clone(all), elsewhere)
			if len(of) == 0 {
				continue
			}
			file := filepath.Join(work, fmt.Sprintf("%d.go", len(overlay)))
			must.Do(must.Program, os.WriteFile(file, []byte(source.mutated(of)), 0o600))
			overlay[source.name()] = file
		}
	}
	programs := build(work, subjects, overlay)
	for _, p := range programs {
		problems = append(problems, p.reach(byNumber)...)
	}
	for _, s := range subjects {
		problems = append(problems, check(s, sample[s.dir], programs, known)...)
	}
	return problems
}

// readTable returns the classes of the known survivors by their keys.
func readTable(name string) (map[string]string, error) {
	text, err := os.ReadFile(name)
	classes, known := []string{"equivalent", "speed", "text"}, map[string]string{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 3 || !slices.Contains(classes, fields[1]) || fields[2] == "" {
			return nil, fmt.Errorf("%s: the line is not KEY, CLASS and REASON: %q", name, line)
		}
		known[fields[0]] = fields[1]
	}
	return known, err
}

// load returns all mutants and files of a package.
func load(dir string) (mutants []*change, sources []*source) {
	const format = `{{.ImportPath}}	{{.Dir}}	{{.Export}}	{{join .GoFiles " "}}`
	output := command("", "go", "list", "-export", "-deps", "-f", format, "./"+dir)
	exports := map[string]string{}
	var last []string // the package follows its dependencies
	for line := range strings.Lines(string(output)) {
		last = strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		exports[last[0]] = last[2]
	}
	var files []string
	for name := range strings.FieldsSeq(last[3]) {
		files = append(files, filepath.Join(last[1], name))
	}
	export := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	sources = parse(dir, last[0], files, export)
	for _, s := range sources {
		s.find()
		mutants = append(mutants, s.mutants...)
	}
	return mutants, sources
}

// A program is a test program with the mutants.
type program struct {
	dir, file string
	tests     []test
}

// A test is a test, an example, or the seeds of a fuzz target.
type test struct {
	name    string
	time    time.Duration
	reaches map[int]bool // numbers of mutants
}

// build builds the test programs of the packages, and of others that import one of the packages.
func build(work string, subjects []subject, overlay map[string]string) (programs []*program) {
	text := must.Get(json.Marshal(map[string]any{"Replace": overlay}))(must.Program)
	replaced := filepath.Join(work, "overlay.json")
	must.Do(must.Program, os.WriteFile(replaced, text, 0o600))
	var dirs []string
	for _, s := range subjects {
		dirs = append(dirs, s.dir)
	}
	imported := func(path string) bool { return slices.Contains(dirs, strings.TrimPrefix(path, module)) }
	for _, dir := range others {
		deps := command("", "go", "list", "-test", "-deps", "./"+dir)
		if !slices.Contains(dirs, dir) && slices.ContainsFunc(strings.Fields(string(deps)), imported) {
			dirs = append(dirs, dir)
		}
	}
	for i, dir := range dirs {
		p := &program{dir: dir, file: filepath.Join(work, fmt.Sprintf("%d.test", i))}
		command("", "go", "test", "-c", "-vet=off", "-overlay", replaced, "-o", p.file, "./"+dir)
		programs = append(programs, p)
	}
	return programs
}

// run runs the tests that match a pattern.
func (p *program) run(pattern, value string, limit time.Duration) (output []byte, err error) {
	temp := must.Get(os.MkdirTemp("", "mutant"))(must.Program)
	defer os.RemoveAll(temp)
	must.Do(must.Program, os.Chmod(temp, 0o755)) // for tests that run a program as another user
	ctx, cancel := context.WithTimeout(context.Background(), limit+10*time.Second)
	defer cancel()
	c := exec.CommandContext(ctx, p.file, "-test.short", "-test.failfast", "-test.run="+pattern,
		"-test.timeout="+limit.String())
	c.Env = append(os.Environ(), mutant.Variable+"="+value, "TMPDIR="+temp)
	c.Dir, c.WaitDelay = p.dir, time.Second
	return c.CombinedOutput()
}

// reach runs each test alone, and records the mutants whose places the test reaches. A test that
// fails is no test of the program.
func (p *program) reach(byNumber []*change) (failed []error) {
	output := command(p.dir, p.file, "-test.list=.")
	log := filepath.Join(filepath.Dir(p.file), "reached")
	for name := range strings.FieldsSeq(string(output)) {
		if strings.HasPrefix(name, "Benchmark") {
			continue
		}
		must.Do(must.Program, errors.Join(os.WriteFile(log, nil, 0o600), os.Chmod(log, 0o666)))
		begin := time.Now()
		if output, err := p.run("^"+name+"$", log, 10*time.Minute); err != nil {
			err = fmt.Errorf("%s: %s fails without a mutant: %w\n%s", p.dir, name, err, output)
			failed = append(failed, err)
			continue
		}
		t := test{name, time.Since(begin), map[int]bool{}}
		numbers := must.Get(os.ReadFile(log))(must.Program)
		for number := range strings.FieldsSeq(string(numbers)) {
			n := must.Get(strconv.Atoi(number))(must.Program)
			t.reaches[n], byNumber[n].covered = true, true
		}
		p.tests = append(p.tests, t)
	}
	return failed
}

// check runs the tests with each mutant of the sample of a package, and prints the survivors.
func check(s subject, sample []*change, all []*program, known map[string]string) (problems []error) {
	sample = slices.DeleteFunc(sample, func(m *change) bool { return !m.covered })
	sample = sample[:min(len(sample), s.number)]
	slices.SortStableFunc(all, func(a, b *program) int { // the tests of the package first
		switch s.dir {
		case a.dir:
			return -1
		case b.dir:
			return 1
		}
		return 0
	})
	killed, equivalent := 0, 0
	for _, m := range sample {
		switch class := known[m.key]; {
		case class == "equivalent":
			equivalent++
		case class != "":
		case slices.ContainsFunc(all, func(p *program) bool { return p.kills(m, true) }),
			slices.ContainsFunc(all, func(p *program) bool { return p.kills(m, false) }):
			killed++
		default:
			file := s.dir + "/" + filepath.Base(m.position.Filename)
			fmt.Printf("%s:%d: %s\n", file, m.position.Line, m.key)
			err := fmt.Errorf("no test notices %q; add a test, or a line to the table", m.key)
			problems = append(problems, err)
		}
	}
	counted := len(sample) - equivalent
	fmt.Printf("%s: %d of %d mutants killed (%.1f %%), %d equivalent\n",
		s.dir, killed, counted, 100*float64(killed)/float64(max(1, counted)), equivalent)
	if 100*killed < s.percent*counted {
		problems = append(problems, fmt.Errorf("%s: less than %d %% are killed", s.dir, s.percent))
	}
	return problems
}

// kills reports whether a quick or a slow test that reaches the mutant fails with the mutant.
func (p *program) kills(m *change, quick bool) bool {
	var names []string
	limit := 20 * time.Second
	for _, t := range p.tests {
		if t.reaches[m.number] && t.time < time.Second == quick {
			names = append(names, regexp.QuoteMeta(t.name))
			limit += 3 * t.time
		}
	}
	if len(names) == 0 {
		return false
	}
	_, err := p.run("^("+strings.Join(names, "|")+")$", strconv.Itoa(m.number), limit)
	return err != nil
}

// command returns the standard output of a command.
func command(dir, name string, arguments ...string) []byte {
	c := exec.Command(name, arguments...)
	c.Dir, c.Stderr = dir, os.Stderr
	output, err := c.Output()
	if err != nil {
		log.Fatalf("%s %s: %v", name, strings.Join(arguments, " "), err)
	}
	return output
}
