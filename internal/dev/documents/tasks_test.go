package documents

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

var (
	lineNumber = regexp.MustCompile(`(?m)^\s*(?:\S*:)?(\d+):`)
	lineTerm   = regexp.MustCompile(`LINE(?:\+(\d+))?`)
)

// An agentTask is a row of the table of internal/dev/documents/tasks.md.
type agentTask struct {
	name            string
	commands, calls []string // in order; LINE is the first line number in the output of the step before
}

func agentTasks(t *testing.T) []agentTask {
	page := must.Get(os.ReadFile("internal/dev/documents/tasks.md"))(t)
	spans := func(cell string) (all []string) {
		for _, span := range codeSpan.FindAllStringSubmatch("`"+strings.Trim(cell, "`")+"`", -1) {
			all = append(all, strings.ReplaceAll(span[1], `\|`, "|"))
		}
		return all
	}
	var tasks []agentTask
	for _, row := range tableRows(t, string(page), "Tasks of a coding agent") {
		if strings.HasPrefix(row[0], "---") || row[0] == "total" {
			continue
		}
		tasks = append(tasks, agentTask{row[0], spans(row[1]), spans(row[3])})
	}
	return tasks
}

// outputs runs the steps of a task, and returns the number of characters of all outputs.
func outputs(t *testing.T, steps []string, run func(step string) string) int {
	t.Helper()
	characters, line := 0, 0
	for _, step := range steps {
		step = lineTerm.ReplaceAllStringFunc(step, func(term string) string {
			more, _ := strconv.Atoi(strings.TrimPrefix(term[len("LINE"):], "+"))
			return strconv.Itoa(line + more)
		})
		text := run(step)
		if match := lineNumber.FindStringSubmatch(text); match != nil {
			line, _ = strconv.Atoi(match[1])
		}
		characters += utf8.RuneCountInString(text)
	}
	return characters
}

// TestTasksOfACodingAgent compares the texts of the tools with the outputs of the commands, over
// the files of Go.
func TestTasksOfACodingAgent(t *testing.T) {
	if testing.Short() {
		t.Skip("reads all files of Go several times")
	}
	out := must.Get(exec.Command("go", "env", "GOROOT").Output())(t)
	root := strings.TrimSpace(string(out))
	if _, err := os.Stat(filepath.Join(root, "src", "net", "http", "server.go")); err != nil {
		t.Skipf("GOROOT has no sources: %v", err)
	}
	shell := func(line string) ([]byte, error) {
		c := exec.Command("sh", "-c", line)
		c.Dir = root
		return c.CombinedOutput()
	}
	if out, err := shell("find src/bufio -printf '%s' && sed -n '1,+1p' VERSION && grep -rc --include='*.go' bufio src/bufio"); err != nil {
		t.Skipf("the commands of the table need find, grep and sed of GNU: %s", out)
	}
	adapter := must.Get(mcpadapter.New(catalogtest.Open(t, toolshelf.WithRoot(root))))(t)
	command := func(line string) string {
		out, err := shell(line)
		if err != nil || len(out) == 0 {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
		return string(out)
	}
	call := func(step string) string {
		name, arguments, _ := strings.Cut(step, " ")
		text, isError := adapter.Answer(t.Context(), name, json.RawMessage(arguments))
		if isError {
			t.Fatalf("%s: %s", step, text)
		}
		return text
	}
	tasks := agentTasks(t)
	if len(tasks) != 15 {
		t.Fatalf("%d tasks in the table, want 15", len(tasks))
	}
	var commands, calls, ofCommands, ofCalls int
	var report strings.Builder
	for _, task := range tasks {
		x, y := outputs(t, task.commands, command), outputs(t, task.calls, call)
		fmt.Fprintf(&report, "\n%-26s %d commands %6d characters, %d calls %6d characters, ratio %.2f", task.name, len(task.commands), x, len(task.calls), y, float64(y)/float64(x))
		commands, calls, ofCommands, ofCalls = commands+len(task.commands), calls+len(task.calls), ofCommands+x, ofCalls+y
	}
	t.Logf("%s\n%-25s %2d commands %6d characters, %d calls %6d characters, ratio %.2f", report.String(), "total", commands, ofCommands, calls, ofCalls, float64(ofCalls)/float64(ofCommands))
	if most := 1.3; calls > commands || float64(ofCalls) > most*float64(ofCommands) {
		t.Errorf("%d calls, want at most %d; %d characters, want at most %.1f × %d", calls, commands, ofCalls, most, ofCommands)
	}
}
