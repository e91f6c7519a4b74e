package main

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

var (
	jsonBlock = regexp.MustCompile("(?s)```json\n(.*?)```")
	// A flag is in backquotes, in a command line or among the args of a configuration.
	flagName = regexp.MustCompile("[`\" \\[](-[a-z]{2,}(?:-[a-z]+)*)[`\" \\]]")
)

// documented lists the texts that describe how to start the server.
func documented(t *testing.T) map[string]string {
	t.Helper()
	texts := make(map[string]string)
	for _, file := range []string{"docs/guide.md", "README.md"} {
		text := must.Get(os.ReadFile("../../" + file))(t)
		texts[file] = string(text)
	}
	return texts
}

func TestConfigurationsOfTheGuideAreJSON(t *testing.T) {
	for file, text := range documented(t) {
		blocks := jsonBlock.FindAllStringSubmatch(text, -1)
		if len(blocks) == 0 && file == "docs/guide.md" {
			t.Errorf("%s has no configuration", file)
		}
		for _, block := range blocks {
			if !json.Valid([]byte(block[1])) {
				t.Errorf("%s: not JSON:\n%s", file, block[1])
			}
		}
	}
}

func TestGuideDocumentsEveryFlag(t *testing.T) {
	p := newProcess(t, "-help")
	p.start()
	p.wantEnd(0)
	section, _, _ := strings.Cut(documented(t)["docs/guide.md"], "## Clients")
	_, section, _ = strings.Cut(section, "## The MCP server")
	told := make(map[string]bool)
	for _, m := range flagName.FindAllStringSubmatch(strings.ReplaceAll(section, " ", "  "), -1) {
		told[m[1]] = true
	}
	for line := range strings.Lines(p.stderr.String()) {
		if name, ok := strings.CutPrefix(line, "  -"); ok {
			name = "-" + strings.Fields(name)[0]
			if !told[name] {
				t.Errorf("the guide does not document %s", name)
			}
			delete(told, name)
		}
	}
	for name := range told {
		t.Errorf("the guide tells of %s, which the server does not have", name)
	}
}
