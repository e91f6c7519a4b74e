package documents

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// instructionTable returns the table of docs/instructions.md for the clients of package client.
func instructionTable() string {
	var table strings.Builder
	table.WriteString("| Client | Single files | Rules | Imports | Limit |\n|---|---|---|---|---|\n")
	for _, c := range client.All() {
		if len(c.Instructions) == 0 {
			continue
		}
		single, rules := "", ""
		for _, p := range c.Instructions {
			shown := p.Path()
			if p.Single() {
				if shown += "/" + p.Pattern; p.Path() == "." {
					shown = p.Pattern
				}
				if shown = "`" + shown + "`"; p.Parents {
					shown += " ↑"
				}
				if p.Below {
					shown += " ↓"
				}
				switch {
				case single == "":
				case p.Fallback == client.InDirectory:
					single += ", else "
				case p.Fallback == client.InProject:
					single += ", in a project without them "
				default:
					single += ", "
				}
				single += shown
				continue
			}
			shown = "`" + shown + "/" + p.Pattern + "`"
			if p.Parents {
				shown += " ↑"
			}
			if p.Below {
				shown += " ↓"
			}
			var keys []string
			for _, key := range []string{p.Globs, p.When} {
				if key != "" {
					keys = append(keys, "`"+key+"`")
				}
			}
			if keys != nil {
				shown += " (" + strings.Join(keys, ", ") + ")"
			}
			if rules != "" {
				rules += ", "
			}
			rules += shown
		}
		hops, limit := "–", "–"
		if c.ImportHops > 0 {
			hops = fmt.Sprint(c.ImportHops)
		}
		if c.InstructionBytes > 0 {
			limit = fmt.Sprint(c.InstructionBytes>>10, " KiB")
		}
		if rules == "" {
			rules = "–"
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %s | %s |\n", c.Title, single, rules, hops, limit)
	}
	return table.String()
}

func TestInstructionsDocumentHasTheTableOfClients(t *testing.T) {
	page := must.Get(os.ReadFile("docs/instructions.md"))(t)
	if want := instructionTable(); !strings.Contains(strings.ReplaceAll(string(page), "\r\n", "\n"), want) {
		t.Errorf("docs/instructions.md does not contain the table of package client; write:\n%s", want)
	}
}
