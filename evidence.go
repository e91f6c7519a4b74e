package toolshelf

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/rank"
)

// maxEvidence is how many reports of a command are searched, in each folder.
const maxEvidence = 4

// evidence is what Search keeps of reports, for its third tier. It is made by
// newEvidence.
type evidence struct {
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

func newEvidence() *evidence {
	return &evidence{lock: semaphore.NewWeighted(1), kept: map[string]searchedReport{}}
}

// update ranks the newest reports of the commands of a snapshot as they are now.
// What cannot be read is left out. The error is that of ctx.
func (v *evidence) update(ctx context.Context, c *Catalog, s *searcher, snapshot *index.Snapshot) error {
	if err := v.lock.Acquire(ctx, 1); err != nil {
		return err
	}
	defer v.lock.Release(1)
	if v.generation < snapshot.Generation {
		v.generation, v.commands = snapshot.Generation, make(map[string]string, len(snapshot.Entries))
		v.checked = time.Time{} // a look that is broken off does not count
		for _, e := range snapshot.Entries {
			v.commands[reportStem(e.Name)] = e.Name
		}
	} else if !c.expired(v.checked) {
		return nil
	}
	now := c.config.now()
	seen := make(map[string]bool, len(v.kept))
	for _, folder := range []*reportFolder{&c.reports.shared, &c.reports.local} {
		if err := v.look(ctx, c, s, folder, seen); err != nil {
			return err
		}
	}
	for path := range v.kept {
		if !seen[path] {
			if err := s.change(ctx, func() { s.ranked.RemoveReport(path) }); err != nil {
				return err
			}
			delete(v.kept, path)
		}
	}
	v.checked = now
	return nil
}

// look brings the reports of one folder up to date, and adds to seen what is
// there.
func (v *evidence) look(ctx context.Context, c *Catalog, s *searcher, folder *reportFolder, seen map[string]bool) error {
	top, err := folder.open()
	if top == nil {
		if err != nil {
			c.config.logger.Debug("reports are not searched", "folder", folder.Name, "error", err)
		}
		return ctx.Err()
	}
	defer top.Close()
	var stems []string
	err = top.Each(ctx, func(stem string, _ fs.FileMode) error {
		if _, ok := v.commands[stem]; ok {
			stems = append(stems, stem)
		}
		return nil
	})
	if err != nil {
		c.config.logger.Debug("reports are not searched", "folder", folder.Name, "error", err)
	}
	for _, stem := range stems {
		if err := ctx.Err(); err != nil {
			return err
		}
		dir, err := top.OpenDir(stem)
		if err != nil {
			c.config.logger.Debug("reports are not searched", "folder", path.Join(folder.Name, stem), "error", err)
			continue
		}
		err = v.newest(ctx, s, folder, dir, stem, seen)
		dir.Close()
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// newest is look for the open folder of one command.
func (v *evidence) newest(ctx context.Context, s *searcher, folder *reportFolder, dir *confine.Dir, stem string, seen map[string]bool) error {
	type report struct {
		file string
		ReportInfo
	}
	var newest []report
	// What cannot be listed to its end is searched as far as it was.
	_ = folder.files(ctx, dir, stem, func(file string, r ReportInfo) error {
		i, _ := slices.BinarySearchFunc(newest, r, func(a report, b ReportInfo) int { return newestFirst(a.ReportInfo, b) })
		if i < maxEvidence {
			newest = slices.Insert(newest, i, report{file, r})
			newest = newest[:min(len(newest), maxEvidence)]
		}
		return nil
	})
	for _, r := range newest {
		info, err := dir.Lstat(r.file)
		if err != nil || !info.Mode.IsRegular() {
			continue
		}
		before, known := v.kept[r.Path]
		if known && before.settled && index.SameFile(before.info, info) {
			seen[r.Path] = true
			continue
		}
		now := time.Now()
		buf := make([]byte, min(info.Size, rank.MaxText))
		n, info, err := dir.ReadHead(r.file, buf)
		if err != nil {
			continue
		}
		document := rank.Document{Name: v.commands[stem], Body: string(buf[:n]), Report: true}
		if err := s.change(ctx, func() { s.ranked.Put(r.Path, document) }); err != nil {
			return err
		}
		seen[r.Path] = true
		v.kept[r.Path] = searchedReport{info, index.Settled(info, now)}
	}
	return ctx.Err()
}

// change changes what is ranked.
func (s *searcher) change(ctx context.Context, do func()) error {
	if err := s.lock.Acquire(ctx, readers); err != nil {
		return err
	}
	defer s.lock.Release(readers)
	do()
	return nil
}
