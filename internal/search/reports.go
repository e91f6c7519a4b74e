package search

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/rank"
	"github.com/toolshelf-go/toolshelf/internal/reports"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// maxReports is the number of reports of a command that Find searches in each
// directory.
const maxReports = 4

// A reportSource keeps the newest reports of all commands in Finder.ranked. Hits
// in reports are the third tier. Use newReportSource to create a reportSource.
type reportSource struct {
	lock       *semaphore.Weighted       // of 1; guards the fields below
	generation uint64                    // of the snapshot of commands
	commands   map[string]string         // command names by reports.Stem
	kept       map[string]searchedReport // by File.Path
	checked    time.Time                 // the last complete update
}

// A searchedReport is the metadata of a report at the time of its read.
type searchedReport struct {
	info    confine.Info
	settled bool // every later change of the file changes its metadata
}

func newReportSource() *reportSource {
	return &reportSource{lock: semaphore.NewWeighted(1), kept: map[string]searchedReport{}}
}

// update puts the newest reports of the commands of a snapshot into s.ranked.
// update omits reports that cannot be read. The error is ctx.Err().
func (r *reportSource) update(ctx context.Context, s *Finder, snapshot *index.Snapshot) error {
	if err := r.lock.Acquire(ctx, 1); err != nil {
		return err
	}
	defer r.lock.Release(1)
	if r.generation < snapshot.Generation {
		r.generation, r.commands = snapshot.Generation, make(map[string]string, len(snapshot.Entries))
		r.checked = time.Time{} // until this update completes
		for _, e := range snapshot.Entries {
			r.commands[reports.Stem(e.Name)] = e.Name
		}
	} else if !s.expired(r.checked) {
		return nil
	}
	now := s.config.Now()
	seen := make(map[string]bool, len(r.kept))
	for _, directory := range s.config.Reports {
		if err := r.updateDirectory(ctx, s, directory, seen); err != nil {
			return err
		}
	}
	for path := range r.kept {
		if !seen[path] {
			s.change(func() { s.ranked.RemoveReport(path) })
			delete(r.kept, path)
		}
	}
	r.checked = now
	return nil
}

// updateDirectory is update for a single directory. updateDirectory adds the paths of the
// current reports to seen.
func (r *reportSource) updateDirectory(
	ctx context.Context, s *Finder, directory *reports.Directory, seen map[string]bool,
) error {
	known := func(stem string) bool { _, ok := r.commands[stem]; return ok }
	for report, err := range directory.Newest(ctx, maxReports, known) {
		var failed *reports.DirectoryError
		if errors.As(err, &failed) {
			s.config.Logger.Debug("reports are not searched", "directory", failed.Name, "error", failed.Err)
			continue
		}
		if err != nil {
			return err
		}
		before, known := r.kept[report.Path]
		if known && before.settled && stamp.SameFile(before.info, report.Stat) {
			seen[report.Path] = true
			continue
		}
		now := time.Now()
		buf := make([]byte, min(report.Stat.Size, rank.MaxText))
		n, info, err := report.ReadHead(buf)
		if err != nil {
			continue
		}
		document := rank.Document{Name: r.commands[report.Stem], Body: string(buf[:n]), Report: true}
		s.change(func() { s.ranked.Put(report.Path, document) })
		seen[report.Path] = true
		r.kept[report.Path] = searchedReport{info, stamp.Settled(info, now)}
	}
	return ctx.Err()
}

// change calls do, which changes s.ranked.
func (s *Finder) change(do func()) {
	s.lock.Lock()
	defer s.lock.Unlock()
	do()
}
