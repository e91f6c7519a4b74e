package main

import (
	"log"
	"os"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	if isReplica() {
		if err := serveReplica(); err != nil {
			log.Fatal(err)
		}
		return
	}
	os.Exit(m.Run())
}

func TestEachWalkerSeesEachStablePromptOnce(t *testing.T) {
	stable := 600
	if testing.Short() {
		stable = 200
	}
	var out strings.Builder
	err := run(t.Context(), &out, stable, 600)
	t.Log(out.String())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"replica 2: ", "killed replica 1 and stopped node-", "client 5", "a new prompt"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output does not contain %q", want)
		}
	}
}

func TestCheckReportsMissingAndRepeatedPrompts(t *testing.T) {
	for _, test := range []struct {
		names string
		ok    bool
	}{
		{"stable-0000 stable-0000-volatile stable-0001", true},
		{"stable-0000 stable-0001 stable-0001", false},
		{"stable-0000 other other stable-0001", false},
		{"stable-0000", false},
	} {
		w := walk{names: strings.Fields(test.names)}
		if others, err := w.check(2); (err == nil) != test.ok || err == nil && others != 1 {
			t.Errorf("check of %q: %d, %v", test.names, others, err)
		}
	}
}
