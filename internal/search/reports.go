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
)

// maxReports is how many reports of a command are searched, in each folder.
const maxReports = 4

// A reportSource is what Search keeps of reports, for its third tier. It is made by
// newReportSource.
type reportSource struct {
	lock       *semaphore.Weighted // of 1, for what follows; waiting for it ends with a context
	generation uint64
	commands   map[string]string         // of this generation, by the name of the folder of their reports
	kept       map[string]searchedReport // by path
	checked    time.Time
}

// A searchedReport is what a report was like when it was read.
type searchedReport struct {
	info    confine.Info
	settled bool // its file cannot change without a change of info
}

func newReportSource() *reportSource {
	return &reportSource{lock: semaphore.NewWeighted(1), kept: map[string]searchedReport{}}
}

// update ranks the newest reports of the commands of a snapshot as they are now.
// What cannot be read is left out. The error is that of ctx.
func (r *reportSource) update(ctx context.Context, s *Searcher, snapshot *index.Snapshot) error {
	if err := r.lock.Acquire(ctx, 1); err != nil {
		return err
	}
	defer r.lock.Release(1)
	if r.generation < snapshot.Generation {
		r.generation, r.commands = snapshot.Generation, make(map[string]string, len(snapshot.Entries))
		r.checked = time.Time{} // a look that is broken off does not count
		for _, e := range snapshot.Entries {
			r.commands[reports.Stem(e.Name)] = e.Name
		}
	} else if !s.expired(r.checked) {
		return nil
	}
	now := s.config.Now()
	seen := make(map[string]bool, len(r.kept))
	for _, directory := range s.config.Reports {
		if err := r.look(ctx, s, directory, seen); err != nil {
			return err
		}
	}
	for path := range r.kept {
		if !seen[path] {
			if err := s.change(ctx, func() { s.ranked.RemoveReport(path) }); err != nil {
				return err
			}
			delete(r.kept, path)
		}
	}
	r.checked = now
	return nil
}

// look brings the reports of one directory up to date, and adds to seen what is
// there.
func (r *reportSource) look(ctx context.Context, s *Searcher, directory *reports.Directory, seen map[string]bool) error {
	known := func(stem string) bool { _, ok := r.commands[stem]; return ok }
	for report, err := range directory.Newest(ctx, maxReports, known) {
		var failed *reports.DirectoryError
		if errors.As(err, &failed) {
			s.config.Logger.Debug("reports are not searched", "folder", failed.Name, "error", failed.Err)
			continue
		}
		before, known := r.kept[report.Path]
		if known && before.settled && index.SameFile(before.info, report.Stat) {
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
		if err := s.change(ctx, func() { s.ranked.Put(report.Path, document) }); err != nil {
			return err
		}
		seen[report.Path] = true
		r.kept[report.Path] = searchedReport{info, index.Settled(info, now)}
	}
	return ctx.Err()
}

// change changes what is ranked.
func (s *Searcher) change(ctx context.Context, do func()) error {
	if err := s.lock.Acquire(ctx, readers); err != nil {
		return err
	}
	defer s.lock.Release(readers)
	do()
	return nil
}
