package main

import (
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestEachUseIsAJSONLine(t *testing.T) {
	var out, audit strings.Builder
	must.Do(t, run(t.Context(), strings.NewReader("/invoice-pdf 7\n/none\n"), &out, &audit, "../sample/project"))
	text := regexp.MustCompile(`"(micros|bytes|time|digest)":("[^"]*"|\d+),?`).ReplaceAllString(audit.String(), "")
	want := `{"action":"loaded","kind":"skill","name":"invoice-pdf","layer":"skills",}
{"action":"rendered","kind":"skill","name":"invoice-pdf","layer":"skills",}
{"action":"loaded","kind":"command","name":"none","code":"COMMAND_NOT_FOUND"}
`
	must.Match(t, "result", want, text)
	if !strings.Contains(out.String(), "there is no command or skill") {
		t.Errorf("the output is %s", out.String())
	}
}

func TestANameCannotForgeALine(t *testing.T) {
	var audit strings.Builder
	a := Audit{To: &audit, Now: time.Now}
	c, err := toolshelf.New(toolshelf.WithCommandsFS("team", fstest.MapFS{}), toolshelf.WithObserver(a.Observe))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	name := "x\n{\"action\":\"loaded\",\"name\":\"forged\"}\u2028"
	_, _ = c.Get(t.Context(), name)
	lines := strings.Split(strings.TrimSuffix(audit.String(), "\n"), "\n")
	var r record
	if err := json.Unmarshal([]byte(lines[0]), &r); err != nil || len(lines) != 1 || r.Name != name {
		t.Errorf("the audit is %q, %v", audit.String(), err)
	}
}

func TestNoTextFollowsAFailedAudit(t *testing.T) {
	full := errors.New("no space left")
	reader, writer := io.Pipe()
	reader.CloseWithError(full)
	var out strings.Builder
	if err := run(t.Context(), strings.NewReader("/invoice-pdf 7\n"), &out, writer, "../sample/project"); !errors.Is(err, full) || out.Len() > 0 {
		t.Errorf("the error is %v, the output is %q", err, out.String())
	}
}
