package main

import (
	"context"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestTheProgramPrintsSpansAndMetrics(t *testing.T) {
	var out strings.Builder
	must.Do(t, run(context.Background(), strings.NewReader("/incident-response\n/none\n"), &out, "../sample/project"))
	for _, want := range []string{`"Name":"execute_tool load_skill`, `"toolshelf.events"`, `there is no`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in %s", want, out.String()[:min(2000, out.Len())])
		}
	}
}
