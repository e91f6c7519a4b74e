//go:build unix

package wellknown_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/toolshelf-go/toolshelf/stores/wellknown"
)

// TestMain is the program that refreshes a store until the program is killed, if the environment
// names an origin.
func TestMain(m *testing.M) {
	origin := os.Getenv("WELLKNOWN_ORIGIN")
	if origin == "" {
		os.Exit(m.Run())
	}
	if os.Getenv("WELLKNOWN_FULL") != "" {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 10, Max: 10}); err != nil {
			panic(err)
		}
	}
	store, err := wellknown.Open(context.Background(), origin, wellknown.Options{Dir: os.Getenv("WELLKNOWN_DIR"), Private: true})
	fmt.Println("open", err)
	for store != nil {
		err := store.Refresh(context.Background())
		fmt.Println(store.Status().Skills, "skills,", err)
	}
	os.Exit(1)
}

// refresher starts the program of TestMain, and returns the lines of its output.
func refresher(t *testing.T, origin, dir string, env ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	program := exec.Command(os.Args[0])
	program.Env = append(os.Environ(), append(env, "WELLKNOWN_ORIGIN="+origin, "WELLKNOWN_DIR="+dir)...)
	out, err := program.StdoutPipe()
	if err == nil {
		err = program.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Process.Kill(); program.Wait() })
	return program, bufio.NewScanner(out)
}

// Two processes write the same cache while the index changes, and one of them is killed at a
// request.
func TestAKilledProcessLeavesTheOldOrTheNewIndex(t *testing.T) {
	s, dir := newSite(t), t.TempDir()
	publish := func(text string) {
		s.publish(t, s.skill("a", "a-"+text+".md", skillFile("a", text)), s.skill("b", "b-"+text+".md", skillFile("b", text)))
	}
	publish("0")
	open(t, s, wellknown.Options{Dir: dir})
	_, other := refresher(t, s.URL, dir)
	other.Scan()
	for round := 1; round <= 10; round++ {
		program, lines := refresher(t, s.URL, dir)
		lines.Scan()
		publish(fmt.Sprint(round))
		for range round % 4 {
			lines.Scan()
		}
		program.Process.Kill()
		program.Wait()
		got := shown(t, open(t, s, wellknown.Options{Dir: dir, Offline: true}))
		var a, b int
		if n, err := fmt.Sscanf(got, "a=%d b=%d", &a, &b); n != 2 || err != nil || a != b || a > round {
			t.Fatalf("round %d: %q", round, got)
		}
	}
}

func TestAFullDiskLosesNoSkill(t *testing.T) {
	s, dir := newSite(t), t.TempDir()
	s.publish(t, s.skill("a", "a.md", skillFile("a", "One.")))
	_, lines := refresher(t, s.URL, dir, "WELLKNOWN_FULL=1")
	for lines.Scan() && !strings.Contains(lines.Text(), "skills,") {
	}
	if got := lines.Text(); !strings.HasPrefix(got, "1 skills, wellknown: the cache cannot be written: ") {
		t.Error(got)
	}
}
