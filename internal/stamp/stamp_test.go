package stamp

import (
	"io/fs"
	"testing"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
)

var written = time.Date(2025, 11, 20, 10, 30, 0, 5, time.UTC)

func TestSameFile(t *testing.T) {
	info := confine.Info{Size: 1, Mode: 0o644, Modified: written, Changed: written, Accessed: written, Dev: 1, Ino: 2}
	for name, tt := range map[string]struct {
		change func(i *confine.Info)
		same   bool
	}{
		"nothing":               {func(i *confine.Info) {}, true},
		"access time":           {func(i *confine.Info) { i.Accessed = i.Accessed.Add(1) }, true},
		"location of the times": {func(i *confine.Info) { i.Modified, i.Changed = i.Modified.Local(), i.Changed.Local() }, true},
		"size":                  {func(i *confine.Info) { i.Size++ }, false},
		"mode":                  {func(i *confine.Info) { i.Mode |= fs.ModeSymlink }, false},
		"modification time":     {func(i *confine.Info) { i.Modified = i.Modified.Add(1) }, false},
		"change time":           {func(i *confine.Info) { i.Changed = i.Changed.Add(1) }, false},
		"device":                {func(i *confine.Info) { i.Dev++ }, false},
		"inode":                 {func(i *confine.Info) { i.Ino++ }, false},
		"version":               {func(i *confine.Info) { i.Version = "1" }, false},
	} {
		other := info
		tt.change(&other)
		if got := SameFile(info, other); got != tt.same {
			t.Errorf("another %s: SameFile is %t", name, got)
		}
	}
}

// A version decides before size and times, except that a directory is never the same as
// a file.
func TestSameFileWithVersions(t *testing.T) {
	info := confine.Info{Size: 1, Mode: 0o644, Modified: written, Version: "1"}
	for name, tt := range map[string]struct {
		change func(i *confine.Info)
		same   bool
	}{
		"modification time": {func(i *confine.Info) { i.Modified = i.Modified.Add(1) }, true},
		"version":           {func(i *confine.Info) { i.Version = "2" }, false},
		"unknown version":   {func(i *confine.Info) { i.Version = "" }, false},
		"type":              {func(i *confine.Info) { i.Mode |= fs.ModeDir }, false},
	} {
		other := info
		tt.change(&other)
		if got := SameFile(info, other); got != tt.same || SameFile(other, info) != tt.same {
			t.Errorf("another %s: SameFile is %t", name, got)
		}
	}
}

// Results show the modification time, so a Stamp keeps every time that a
// filesystem can report.
func TestStampKeepsTheModificationTime(t *testing.T) {
	for _, want := range []time.Time{{}, written, time.Unix(-1, 1), time.Unix(1<<40, 999_999_999), time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)} {
		if got := Of(confine.Info{Modified: want}).Modified(); !got.Equal(want) || got.IsZero() != want.IsZero() {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

// A file is settled once its change time is older than the granularity of the
// filesystem's times: 20 ms, or 2 s for times in whole seconds.
func TestSettled(t *testing.T) {
	whole, exact := time.Unix(1_600_000_000, 0), time.Unix(1_600_000_000, 5)
	for _, tt := range []struct {
		name            string
		info            confine.Info
		age             time.Duration // since the change time, or else the modification time
		settled, recent bool
	}{
		{"changed just now", confine.Info{Changed: exact}, 0, false, true},
		{"changed 20 ms ago", confine.Info{Changed: exact}, 20 * time.Millisecond, false, true},
		{"changed more than 20 ms ago", confine.Info{Changed: exact}, 20*time.Millisecond + 1, true, false},
		{"changed 2 s ago, in whole seconds", confine.Info{Changed: whole}, 2 * time.Second, false, true},
		{"changed more than 2 s ago, in whole seconds", confine.Info{Changed: whole}, 2*time.Second + 1, true, false},
		{"changed in the future", confine.Info{Changed: exact}, -time.Hour, false, true},
		{"no change time, modified just now", confine.Info{Modified: exact}, 0, false, true},
		{"no change time, modified long ago", confine.Info{Modified: exact}, time.Hour, false, false},
		{"no times", confine.Info{}, 0, false, true},
		{"a version, changed just now", confine.Info{Changed: exact, Version: "1"}, 0, true, false},
		{"a version and no times", confine.Info{Version: "1"}, 0, true, false},
	} {
		at := tt.info.Changed
		if at.IsZero() {
			at = tt.info.Modified
		}
		now := at.Add(tt.age)
		if got := Settled(tt.info, now); got != tt.settled {
			t.Errorf("%s: Settled is %t", tt.name, got)
		}
		if got := Recent(tt.info, now); got != tt.recent {
			t.Errorf("%s: recent is %t", tt.name, got)
		}
	}
}
