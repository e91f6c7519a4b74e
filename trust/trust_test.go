package trust

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"
	"go.uber.org/goleak"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

var _ toolshelf.Gate = (*Store)(nil)

// childTask is the environment variable with the task of a child process and its file.
const childTask = "TEST_TRUST_CHILD"

func TestMain(m *testing.M) {
	if task, file, ok := strings.Cut(os.Getenv(childTask), " "); ok {
		runChild(task, file)
		return
	}
	goleak.VerifyTestMain(m)
}

// runChild approves entries named after the task in calls of their own, and prints a line after
// each call. The task "forever" does not end.
func runChild(task, file string) {
	s, err := Open(file)
	for i := 0; err == nil && (task == "forever" || i < 1000); i += 50 {
		var pending []toolshelf.Pending
		for j := range 50 {
			pending = append(pending, entry(task+strconv.Itoa(i+j), fmt.Sprint("text ", i+j)))
		}
		err = s.Approve(context.Background(), pending...)
		fmt.Println("approved", i)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func child(t *testing.T, task, file string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), hosttest.Self(t))
	cmd.Env = append(os.Environ(), childTask+"="+task+" "+file)
	return cmd
}

func digest(text string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))) }

// entry returns a refused command with a text.
func entry(name, text string) toolshelf.Pending {
	return toolshelf.Pending{
		Item: toolshelf.Item{Kind: "command", Name: name, Layer: "/project/commands", Digest: digest(text)},
		New:  map[string]string{name + ".md": text},
	}
}

// storeFile returns the path of a missing file in a private directory.
func storeFile(t testing.TB) string {
	dir := t.TempDir()
	must.Do(t, os.Chmod(dir, 0o700))
	return filepath.Join(dir, "trust")
}

func open(t testing.TB, file string) *Store {
	t.Helper()
	return must.Get(Open(file))(t)
}

func approve(t testing.TB, s *Store, pending ...toolshelf.Pending) {
	t.Helper()
	must.Do(t, s.Approve(t.Context(), pending...))
}

// allowed returns the names of the entries that a store allows, after a call of Version.
func allowed(t testing.TB, s *Store, pending ...toolshelf.Pending) (names []string) {
	s.Version()
	for _, p := range pending {
		if s.Allowed(t.Context(), p.Item) {
			names = append(names, p.Name)
		}
	}
	return names
}

func TestApprovedReturnsTheTextsOfTheApproval(t *testing.T) {
	file := storeFile(t)
	binary := digest("\x00\xff")
	p := entry("pdf", "")
	p.Kind, p.New = "skill", map[string]string{
		"SKILL.md": "# PDF\n<&>\u2028\x00\x1b", "logo.png": binary, "copy.md": "# PDF\n<&>\u2028\x00\x1b", "empty": "", "n\xffame": "x",
		"bytes": "\xff", "large": strings.Repeat("x", maxText), "larger": strings.Repeat("x", maxText+1),
	}
	want := map[string]string{"bytes": digest("\xff"), "larger": digest(p.New["larger"])}
	for path, text := range p.New {
		if want[path] == "" {
			want[path] = text
		}
	}
	s := open(t, file)
	approve(t, s, p)
	for _, s := range []*Store{s, open(t, file)} {
		must.Match(t, "result", want, s.Approved(t.Context(), p.Item))
	}
	if got := s.Approved(t.Context(), entry("unknown", "").Item); got != nil {
		t.Errorf("an unknown entry has the texts %q", got)
	}
}

func TestNamesAndLayersThatAreNotUTF8StayApart(t *testing.T) {
	file := storeFile(t)
	s := open(t, file)
	var all []toolshelf.Pending
	for _, layer := range []string{"/p/\xff", "/p/\xfe", "/p/\ufffd", `/p/\xff`, "\x00\"/p/\\xff\"", `C:\p`} {
		p := entry("deploy", layer)
		p.Layer = layer
		all = append(all, p)
	}
	approve(t, s, all...)
	s = open(t, file)
	must.Equal(t, "the store allows", len(all), len(allowed(t, s, all...)))
}

// Version 1 approved a digest without rules and a file, and the digest of several files had the
// form of the digest of a file.
func TestOldApprovalsAreOfOneFile(t *testing.T) {
	sum := func(text string) string { return strings.TrimPrefix(digest(text), "sha256:") }
	item := func(kind toolshelf.Kind, name, plugin, text string) toolshelf.Item {
		return toolshelf.Item{Kind: kind, Name: name, Layer: "/p", Plugin: plugin, Digest: digest(text)}
	}
	line := func(i toolshelf.Item, files string) string {
		plugin := ""
		if i.Plugin != "" {
			plugin = `"plugin":"` + i.Plugin + `",`
		}
		return `{"kind":"` + string(i.Kind) + `","name":"` + i.Name + `","layer":"/p",` + plugin + `"digest":"` + i.Digest + `"` + files + "}\n"
	}
	list := sum("a") + "  CLAUDE.md\n" + sum("b") + "  more.md\n"
	one, gone, toml := item("command", "one", "", "1"), item("agent", "gone", "", "2"), item("command", "toml", "", sum("1")+"  toml.toml\n")
	imports, plugged := item("instruction", "CLAUDE.md", "", list), item("command", "p:x", "p", "1")
	content := oldLine + line(one, `,"files":{"one.md":"`+sum("1")+`"}`) + line(gone, "") + line(toml, `,"files":{"toml.toml":"`+sum("1")+`"}`) +
		line(imports, `,"files":{"CLAUDE.md":"`+sum("a")+`","more.md":"`+digest("b")+`"}`) + line(plugged, `,"files":{"x.md":"`+sum("1")+`"}`) +
		lineOf(textLine{sum("1"), "1"}) + lineOf(textLine{sum("a"), "a"})
	file := storeFile(t)
	must.Do(t, os.WriteFile(file, []byte(content+lastLine(content)), 0o600))
	check := func(s *Store) {
		t.Helper()
		for i, want := range map[toolshelf.Item]bool{one: true, gone: true, toml: false, imports: false, plugged: false} {
			i.Rules, i.File = "claude", "a/file.md"
			must.Equal(t, fmt.Sprintf("%s %s: allowed", i.Kind, i.Name), want,
				s.Allowed(t.Context(), i))
		}
	}
	check(open(t, file))
	approve(t, open(t, file), entry("other", "")) // writes version 2
	check(open(t, file))
	s := open(t, file)
	if err := s.ApproveFirst(t.Context(), toolshelf.Pending{Item: plugged}); err != nil || s.Allowed(t.Context(), plugged) {
		t.Errorf("ApproveFirst replaces an old approval: %v", err)
	}
	if got := s.Approved(t.Context(), imports); got["CLAUDE.md"] != "a" || s.Revoked(t.Context(), imports) {
		t.Errorf("the texts of an old approval are %q", got)
	}
}

func TestOpenCreatesNothing(t *testing.T) {
	file := filepath.Join(filepath.Dir(storeFile(t)), "new", "trust")
	s := open(t, file)
	s.Version()
	s.Allowed(t.Context(), entry("deploy", "one").Item)
	if err := s.ApproveFirst(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Dir(file)); !isMissing(err) {
		t.Errorf("the directory exists before an approval: %v", err)
	}
	approve(t, s, entry("deploy", "one"))
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

// A change within a tick of the clock can leave the metadata as before. The test sets the metadata
// of the load, because many kernels give each change a time of its own.
func TestAChangeWithoutANewTimeIsSeen(t *testing.T) {
	file := storeFile(t)
	s, other := open(t, file), open(t, file)
	for range 1000 {
		approve(t, other, entry("deploy", "a"))
		soon := time.Now().Add(time.Minute) // without change times, the modification time decides
		must.Do(t, os.Chtimes(file, soon, soon))
		s.Version()
		before := *s.last.Load()
		if before.settled {
			continue // the load was much later than the change
		}
		approve(t, other, entry("deploy", "b"))
		info := must.Get(s.dir.Lstat(s.name))(t)
		before.stamp = stamp.Of(known(info))
		s.last.Store(&before)
		if got := allowed(t, s, entry("deploy", "a"), entry("deploy", "b")); len(got) != 1 || !s.Allowed(t.Context(), entry("deploy", "b").Item) {
			t.Error("the store answers from the old file")
		}
		return
	}
	t.Error("each load just after a change counts as settled")
}

func TestAnUnchangedFileIsReadOnce(t *testing.T) {
	p := entry("deploy", "one")
	for name, open := range map[string]func(t *testing.T) *Store{
		"disk": func(t *testing.T) *Store {
			s := open(t, storeFile(t))
			approve(t, s, p)
			return s
		},
		"without change times": func(t *testing.T) *Store {
			s, memory := open(t, storeFile(t)), afero.NewMemMapFs()
			content := (&book{}).with([]decision{{p.Item, p.New}}).encode()
			dir, err := confine.Over(memory, "/")
			must.Do(t, errors.Join(err, afero.WriteFile(memory, "/trust", []byte(content), 0o600), memory.Chtimes("/trust", time.Time{}, time.Now().Add(-time.Hour))))
			s.dir = dir
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			catalogtest.Eventually(t, func() string {
				if s.Version(); !s.last.Load().settled {
					return "the file is not settled"
				}
				return ""
			})
			before := s.last.Load()
			if s.Version(); s.last.Load() != before {
				t.Error("Version reads the unchanged file")
			}
			if !s.Allowed(t.Context(), p.Item) {
				t.Error("the approved entry is refused")
			}
		})
	}
}

func TestAllowedAloneSeesARevocation(t *testing.T) {
	file := storeFile(t)
	mine, other := open(t, file), open(t, file)
	p := entry("deploy", "one")
	approve(t, mine, p)
	must.Do(t, other.Revoke(t.Context(), p.Item))
	mine.checked.Store(-int64(rarely)) // the last look is long ago
	if mine.Allowed(t.Context(), p.Item) {
		t.Error("Allowed answers from the old file")
	}
}

func TestAllowedReadsMemoryOnly(t *testing.T) {
	hosttest.NeedsOptimization(t)
	s := open(t, storeFile(t))
	p := entry("deploy", "one")
	approve(t, s, p)
	s.Version()
	s.loading.Lock() // a load would wait
	defer s.loading.Unlock()
	if n := testing.AllocsPerRun(100, func() {
		if !s.Allowed(t.Context(), p.Item) {
			t.Error("refused")
		}
	}); n != 0 {
		t.Errorf("Allowed allocates %v times", n)
	}
}

func TestGoroutinesShareAStore(t *testing.T) {
	s := open(t, storeFile(t))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 10 {
				p := entry(fmt.Sprintf("c%d-%d", i, j), "x")
				if err := s.Approve(t.Context(), p); err != nil || !s.Allowed(t.Context(), p.Item) {
					t.Errorf("%s: %v", p.Name, err)
				}
				s.Version()
				s.Approved(t.Context(), p.Item)
			}
		})
	}
	wg.Wait()
	must.Equal(t, "the store", 80, len(s.last.Load().book.records))
}

func TestTwoProcessesApproveAtTheSameTime(t *testing.T) {
	file := storeFile(t)
	var wg sync.WaitGroup
	for _, task := range []string{"first", "second"} {
		wg.Go(func() {
			if out, err := child(t, task, file).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wg.Wait()
	s := open(t, file)
	n := 0
	for i := range 1000 {
		n += len(allowed(t, s, entry("first"+strconv.Itoa(i), fmt.Sprint("text ", i)), entry("second"+strconv.Itoa(i), fmt.Sprint("text ", i))))
	}
	must.Equal(t, "n", 2000, n)
}

func TestAKilledProcessLeavesAReadableStore(t *testing.T) {
	file := storeFile(t)
	for round := range 20 {
		cmd := child(t, "forever", file)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		// The process is in one of the steps of the next approval when the signal arrives.
		lines := bufio.NewScanner(out)
		for range 1 + round%5 {
			if !lines.Scan() || !strings.HasPrefix(lines.Text(), "approved") {
				t.Fatalf("round %d: the child prints %q", round, lines.Text())
			}
		}
		must.Do(t, cmd.Process.Kill())
		cmd.Wait()
		s := open(t, file)
		p := entry("after"+strconv.Itoa(round), "x")
		approve(t, s, p, entry("forever0", "other")) // a lock of the killed process would block for ever
		if got := allowed(t, s, p, entry("forever49", "text 49")); len(got) != 2 {
			t.Fatalf("round %d: the store allows %q", round, got)
		}
	}
}

func TestAWaitForTheLockEndsWithTheContext(t *testing.T) {
	file := storeFile(t)
	holder, waiter := open(t, file), open(t, file)
	unlock := must.Get(holder.lock(t.Context()))(t)
	ctx, cancel := context.WithCancel(t.Context())
	results := make(chan error)
	for range 2 { // one waits for the lock of the file, one for the other
		go func() { results <- waiter.Approve(ctx, entry("deploy", "one")) }()
	}
	if waiter.Allowed(t.Context(), entry("deploy", "one").Item) { // reads do not wait
		t.Error("the store allows an entry before the approval")
	}
	waiter.Version()
	cancel()
	for range 2 {
		must.Is(t, "Approve", context.Canceled, <-results)
	}
	unlock()
	approve(t, waiter, entry("deploy", "one"))
	must.Is(t, "Approve with an ended context", context.Canceled, waiter.Approve(ctx, entry("deploy", "two")))
}

func TestABrokenFileAllowsNothing(t *testing.T) {
	p := entry("deploy", "one")
	good := func() string {
		return (&book{}).with([]decision{{p.Item, p.New}, {item: keyOf(entry("x", "").Item)}}).encode()
	}()
	sealed := func(lines string) string { return lines + lastLine(lines) }
	body := strings.TrimPrefix(good[:strings.LastIndex(strings.TrimSuffix(good, "\n"), "\n")+1], firstLine)
	for name, tt := range map[string]struct {
		content string
		want    error
	}{
		"empty":                   {"", ErrBroken},
		"another file":            {"{}\n", ErrBroken},
		"no end":                  {firstLine + body, ErrBroken},
		"cut":                     {good[:len(good)-1], ErrBroken},
		"a changed byte":          {strings.Replace(good, "deploy", "destro", 1), ErrBroken},
		"more after the end":      {good + "\n", ErrBroken},
		"a line twice":            {sealed(firstLine + body + body), ErrBroken},
		"a decision twice":        {sealed(firstLine + strings.Repeat(strings.SplitAfter(body, "\n")[1], 2)), ErrBroken},
		"an unknown line":         {sealed(firstLine + "{}\n"), ErrBroken},
		"an approval and revoked": {sealed(firstLine + strings.Replace(body, `"digest"`, `"revoked":true,"digest"`, 1)), ErrBroken},
		"a missing text":          {sealed(firstLine + strings.SplitAfter(body, "\n")[0]), ErrBroken},
		"a name without quotes":   {sealed(firstLine + strings.Replace(body, `"deploy"`, `"\u0000deploy"`, 1)), ErrBroken},
		"a path without quotes":   {sealed(firstLine + strings.Replace(body, `"deploy.md"`, `"\u0000deploy.md"`, 1)), ErrBroken},
		"no kind":                 {sealed(firstLine + strings.Replace(body, `"command"`, `""`, 1)), ErrBroken},
		"no digest":               {sealed(firstLine + strings.Replace(body, `"digest":"sha256:`, `"digest":"md5:`, 1)), ErrBroken},
		"a newer version":         {strings.Replace(good, `"version":2`, `"version":3,"more":{}`, 1), ErrNewer},
	} {
		t.Run(name, func(t *testing.T) {
			file := storeFile(t)
			running := open(t, file)
			approve(t, running, p)
			must.Do(t, os.WriteFile(file, []byte(tt.content), 0o600))
			s, err := Open(file)
			if !errors.Is(err, tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("Open returns %v", err)
			}
			for _, s := range []*Store{s, running} {
				if got := allowed(t, s, p); got != nil {
					t.Errorf("the store allows %q", got)
				}
				for what, err := range map[string]error{
					"Approve": s.Approve(t.Context(), p), "ApproveFirst": s.ApproveFirst(t.Context(), p), "Revoke": s.Revoke(t.Context(), p.Item),
				} {
					must.Is(t, what, tt.want, err)
				}
			}
			must.Equal(t, "os.ReadFile(file)", tt.content, string(must.Get(os.ReadFile(file))(t)))
			must.Do(t, os.WriteFile(file, []byte(good), 0o600))
			if got := allowed(t, s, p); got == nil {
				t.Error("the store refuses the approved entry of the repaired file")
			}
		})
	}
}

func TestADamagedLineIsNamedByItsNumber(t *testing.T) {
	for lines, want := range map[string]string{
		firstLine + "{}\n":             "line 2: the line is not a decision",
		firstLine + textPrefix + "x\n": "line 2: the line is not a text",
	} {
		if _, err := parse(lines+lastLine(lines), new(book)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestAnInvalidPathAllowsNothing(t *testing.T) {
	for file, want := range map[string]string{"": "the path of the store is empty", t.TempDir(): "pass the path of a regular file"} {
		s, err := Open(file)
		if s == nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("%q: Open returns %v, %v", file, s, err)
		}
		if got := allowed(t, s, entry("deploy", "one")); got != nil {
			t.Errorf("%q: the store allows %q", file, got)
		}
		if err := s.Approve(t.Context(), entry("deploy", "one")); err == nil {
			t.Errorf("%q: Approve returns no error", file)
		}
	}
}

func TestAHugeFileIsNotRead(t *testing.T) {
	file := storeFile(t)
	f := must.Get(os.Create(file))(t)
	if err := errors.Join(f.Chmod(0o600), f.Truncate(1<<40), f.Close()); err != nil {
		t.Skip(err) // the filesystem has no sparse files
	}
	if _, err := Open(file); !errors.Is(err, ErrBroken) || !strings.Contains(err.Error(), "more than 64 MiB") {
		t.Errorf("Open returns %v", err)
	}
}

func TestTheTextsOfTheOldestApprovalsAreForgotten(t *testing.T) {
	file := storeFile(t)
	s := open(t, file)
	skill := func(name string) toolshelf.Pending {
		p := entry(name, name)
		p.New = map[string]string{}
		for i := range 100 { // 6.25 MiB
			path := fmt.Sprintf("%02d", i)
			p.New[path] = name + path + strings.Repeat("x", maxText-20)
		}
		return p
	}
	var all []toolshelf.Pending
	for i := range 10 {
		all = append(all, skill(fmt.Sprint("skill", i)))
	}
	approve(t, s, all...)
	must.Equal(t, "the store allows", len(all), len(allowed(t, s, all...)))
	if info, err := os.Stat(file); err != nil || info.Size() > maxTexts+1<<20 {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
	if texts := s.Approved(t.Context(), all[0].Item); texts != nil {
		t.Errorf("the oldest approval has %d texts", len(texts))
	}
	last := s.Approved(t.Context(), all[9].Item)
	if last["00"] != all[9].New["00"] || last["99"] != digest(all[9].New["99"]) {
		t.Error("the last approval does not have texts up to the limit of an item, and digests beyond")
	}
}

func TestASharedTextCountsOnce(t *testing.T) {
	s := open(t, storeFile(t))
	var all []toolshelf.Pending
	for i := range maxTexts/maxItem + 1 {
		p := entry(fmt.Sprint("skill", i), "")
		p.New = map[string]string{}
		for j := range maxItem / maxText {
			p.New[fmt.Sprint("shared", j)] = strings.Repeat(string(rune('!'+j)), maxText) // by all entries
		}
		all = append(all, p)
		p.Name, p.New = fmt.Sprint("copies", i), map[string]string{}
		for j := range maxItem / maxText {
			p.New[fmt.Sprint("copy", j)] = fmt.Sprint(i, strings.Repeat("x", maxText-10))
		}
		all = append(all, p)
	}
	approve(t, s, all...)
	for _, p := range all {
		must.Match(t, fmt.Sprintf("%s has other texts", p.Name), p.New,
			s.Approved(t.Context(), p.Item))
	}
}

func TestAFullStoreStaysAsBefore(t *testing.T) {
	if testing.Short() {
		t.Skip("a long text on one goroutine")
	}
	s := open(t, storeFile(t))
	p := entry("deploy", "one")
	approve(t, s, p)
	huge := entry(strings.Repeat("x", maxFile), "")
	must.Is(t, "Approve", ErrFull, s.Approve(t.Context(), huge))
	if got := allowed(t, s, p); got == nil {
		t.Error("the full store refuses the approved entry")
	}
}

func BenchmarkStoreOf10000(b *testing.B) {
	for _, size := range []int{0, 3000} {
		var all []toolshelf.Pending
		for i := range 10_000 {
			all = append(all, entry(strconv.Itoa(i), strconv.Itoa(i)+strings.Repeat("line of text\n", size/13)))
		}
		file := storeFile(b)
		s := open(b, file)
		approve(b, s, all...)
		info := must.Get(os.Stat(file))(b)
		mib := float64(info.Size()) / (1 << 20)
		b.Run(fmt.Sprintf("Open/%d", size), func(b *testing.B) {
			for b.Loop() {
				open(b, file)
			}
			b.ReportMetric(mib, "MiB")
		})
		b.Run(fmt.Sprintf("Approve/%d", size), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				approve(b, s, entry("0", strconv.Itoa(i)))
			}
		})
		b.Run(fmt.Sprintf("Allowed/%d", size), func(b *testing.B) {
			for b.Loop() {
				s.Allowed(b.Context(), all[1].Item)
			}
		})
		b.Run(fmt.Sprintf("Version/%d", size), func(b *testing.B) {
			for b.Loop() {
				s.Version()
			}
		})
	}
}
