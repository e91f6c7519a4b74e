package changes

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
)

// patience is how long a test waits for an event.
const patience = 20 * time.Second

// A project has the lists of commands and skills of a filesystem in memory. The scans of the
// lists notify the Hub.
type project struct {
	Hub
	t                *testing.T
	files            afero.Fs
	commands, skills *index.Index
	ended            atomic.Bool
	beforeNotify     func() // called after a scan with a change, if not nil
}

// newProject returns a project with the command a, whose commands are known.
func newProject(t *testing.T) *project {
	t.Helper()
	p := &project{t: t, files: afero.NewMemMapFs()}
	p.write("commands/a.md")
	root, err := confine.Over(p.files, "/")
	if err != nil {
		t.Fatal(err)
	}
	config := func(dir string, changed func(before *index.Snapshot)) index.Config {
		return index.Config{
			Layers: []index.Layer{{Name: dir, FS: root, Dir: dir}}, MaxFileSize: 1 << 20, Valid: names.Plain,
			Changed: func(before, _ *index.Snapshot) {
				if p.beforeNotify != nil {
					p.beforeNotify()
				}
				changed(before)
			},
		}
	}
	if p.commands, err = index.New(client.Commands, config("commands", func(s *index.Snapshot) { p.Notify(0, s) })); err != nil {
		t.Fatal(err)
	}
	if p.skills, err = index.New(client.Skills, config("skills", func(s *index.Snapshot) { p.Notify(1, s) })); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.commands.Close(); p.skills.Close(); root.Close() })
	p.scan(p.commands)
	return p
}

func (p *project) write(file string) {
	p.t.Helper()
	if err := afero.WriteFile(p.files, file, nil, 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// scan reads a list.
func (p *project) scan(x *index.Index) {
	p.t.Helper()
	if _, err := x.Snapshot(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
}

// subscriber returns a Subscriber of all entries.
func (p *project) subscriber(call func(Change)) *Subscriber {
	all := func(s *index.Snapshot) *index.Snapshot { return s }
	return &Subscriber{
		Lists: []List{{Index: p.commands, Shown: all}, {Index: p.skills, Shown: all}}, Ended: &p.ended, Call: call,
		Exited: func(exit *parallel.Exit) { p.t.Errorf("exit: %v", exit) },
	}
}

func (h *Hub) subscribers() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.all)
}

// eventually waits until the function returns "", which is the reason to wait.
func eventually(t *testing.T, reason func() string) {
	t.Helper()
	for end := time.Now().Add(patience); ; runtime.Gosched() {
		why := reason()
		if why == "" {
			return
		}
		if time.Now().After(end) {
			t.Fatal(why)
		}
	}
}

func TestASlowSubscriberDelaysNothingElse(t *testing.T) {
	p := newProject(t)
	entered, leave := make(chan bool), make(chan bool)
	var slow []string
	done := make(chan bool)
	p.Subscribe(p.subscriber(func(change Change) {
		entered <- true
		<-leave
		if slow = append(slow, change[0].Added...); len(slow) == 10 {
			close(done)
		}
	}))
	var quick atomic.Int64
	p.Subscribe(p.subscriber(func(change Change) { quick.Add(int64(len(change[0].Added))) }))
	for i := range 10 {
		p.write(fmt.Sprintf("commands/n%d.md", i))
		p.scan(p.commands)
		if i == 0 {
			<-entered // and blocks
		}
	}
	eventually(t, func() string {
		if n := quick.Load(); n != 10 {
			return fmt.Sprintf("the other subscriber received %d", n)
		}
		return ""
	})
	leave <- true
	<-entered // one change with all names since the first
	leave <- true
	<-done
}

func TestOnChangeEndsWithTheGoroutineOfItsFunction(t *testing.T) {
	p := newProject(t)
	exited := make(chan struct{})
	stop := p.Subscribe(p.subscriber(func(Change) {
		defer close(exited)
		runtime.Goexit()
	}))
	must.Do(t, p.files.Remove("commands/a.md"))
	p.scan(p.commands)
	<-exited
	eventually(t, func() string {
		if p.subscribers() > 0 {
			return "the subscription has not ended"
		}
		return ""
	})
	stop()
}

// A subscriber without a snapshot of the skills gets the snapshot before the first change, even
// if another change wakes the subscriber between this change and its Notify.
func TestTheFirstSnapshotIsNotAChange(t *testing.T) {
	p := newProject(t)
	changes := make(chan Change, 10)
	p.Subscribe(p.subscriber(func(change Change) { changes <- change }))
	p.write("skills/first/SKILL.md")
	p.scan(p.skills)
	p.beforeNotify = func() {
		p.beforeNotify = nil
		p.write("commands/b.md")
		p.scan(p.commands)
		must.Match(t, "change", Change{{Added: []string{"b"}}, {}}, <-changes)
	}
	p.write("skills/second/SKILL.md")
	p.scan(p.skills)
	must.Match(t, "change", Change{{}, {Added: []string{"second"}}}, <-changes)
}

// After an exit, the names stay unknown to the subscriber.
func TestAChangeAfterAnExitOfAFilterHasAllNames(t *testing.T) {
	for want, exit := range map[string]func(){"runtime.Goexit": runtime.Goexit, "panic: of a filter": func() { panic("of a filter") }} {
		t.Run(want, func(t *testing.T) {
			p := newProject(t)
			var exits atomic.Bool
			exited, changes := make(chan string, 1), make(chan Change, 1)
			s := p.subscriber(func(change Change) { changes <- change })
			s.Exited = func(exit *parallel.Exit) { exited <- exit.String() }
			s.Lists[0].Shown = func(s *index.Snapshot) *index.Snapshot {
				if exits.Load() {
					exit()
				}
				return s
			}
			p.Subscribe(s)
			exits.Store(true)
			p.write("commands/b.md")
			p.scan(p.commands)
			must.Equal(t, "exit", want, <-exited)
			exits.Store(false)
			p.write("commands/c.md")
			p.scan(p.commands)
			must.Match(t, "change", Change{{Added: []string{"b", "c"}}, {}}, <-changes)
		})
	}
}

func TestASubscriptionEndsOnceAndIsRefusedAfterTheEnd(t *testing.T) {
	for name, end := range map[string]func(*project){
		"End":   func(p *project) { p.ended.Store(true); p.End(&p.ended) },
		"Close": func(p *project) { p.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			call := func(change Change) { t.Errorf("called with %v", change) }
			stop := p.Subscribe(p.subscriber(call))
			other := p.subscriber(call)
			other.Ended = new(atomic.Bool)
			p.Subscribe(other)
			p.End(other.Ended)
			must.Equal(t, "p.subscribers()", 1, p.subscribers())
			end(p)
			stop()
			p.Subscribe(p.subscriber(call))
			must.Equal(t, "p.subscribers()", 0, p.subscribers())
			p.write("commands/b.md")
			p.scan(p.commands)
		})
	}
}
