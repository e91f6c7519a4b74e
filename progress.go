package toolshelf

import (
	"context"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/toolshelf-go/toolshelf/internal/parallel"
)

// A Progress is the state of a call that has not ended, or that has just ended.
//
// ListDir, Tree, FindFiles and Grep count all entries of the directories that they read,
// including entries that the options omit. Search, SearchSkills and Lint first scan the
// directories of commands or skills, and count the new and the changed files as Entries. Then
// they read the texts, and count the texts as Files. A Search reads only new and changed texts,
// and Lint reads all texts. The files that concurrent calls read count, because calls share
// their results.
type Progress struct {
	Entries int  `json:"entries"`         // number of entries seen so far
	Files   int  `json:"files,omitempty"` // number of files searched or checked so far, by Grep, Search, SearchSkills and Lint
	Done    bool `json:"done,omitempty"`  // the call ends without an error; no further report follows
}

// A SearchOption is an option for one call of Search or SearchSkills. The only option is
// [WithProgress]. Other options are [ErrInvalidOption]. A nil SearchOption has no effect.
type SearchOption = DirOption

// A LintOption is an option for one call of Lint. The only option is [WithProgress]. Other
// options are [ErrInvalidOption]. A nil LintOption has no effect.
type LintOption = DirOption

// progressInterval is the time between two reports. A delayed report and the last report can
// follow another report immediately, so a second has at most nine reports.
const progressInterval = time.Second / 6

// WithProgress reports the progress of a call to f. The method calls f about six times a
// second, never more than ten times, and once at the end if the method returns no error. A
// short call therefore reports only its end. The numbers never decrease.
//
// The method calls f on the goroutine of its caller, so f needs no lock for the data of the
// caller. The method continues its work during f, and returns after f. If f panics, the method
// panics and ends its work. f may call all methods of the catalog. With WithProgress, the work
// runs on another goroutine, which costs some microseconds. A nil f has no effect. Accepted by
// ListDir, Tree, FindFiles, Grep, Search, SearchSkills and Lint.
func WithProgress(f func(Progress)) DirOption {
	return func(o *dirOptions) { o.progress = f }
}

// onlyProgress returns the function of WithProgress. Other options are an error.
func onlyProgress(op string, opts []DirOption) (func(Progress), error) {
	if len(opts) == 0 {
		return nil, nil
	}
	var o dirOptions
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	f := o.progress
	if o.progress = nil; !reflect.ValueOf(o).IsZero() {
		return nil, inOp(op, invalidOption(op+" accepts no option except WithProgress; omit the other options"))
	}
	return f, nil
}

// A reporter reports the progress of a call. A nil reporter makes no reports.
type reporter struct {
	f              func(Progress)
	count          func() (entries, files int64)
	entries, files int64 // the counts before the call
	ticker         *time.Ticker
}

// newReporter returns a reporter, or nil if f is nil. count returns numbers that never
// decrease.
func newReporter(f func(Progress), count func() (entries, files int64)) *reporter {
	if f == nil {
		return nil
	}
	r := &reporter{f: f, count: count, ticker: time.NewTicker(progressInterval)}
	r.entries, r.files = count()
	return r
}

func (r *reporter) report(done bool) {
	entries, files := r.count()
	r.f(Progress{Entries: int(entries - r.entries), Files: int(files - r.files), Done: done})
}

// end ends the reports. Without an error, end makes the last report.
func (r *reporter) end(err error) {
	if r == nil {
		return
	}
	r.ticker.Stop()
	if err == nil {
		r.report(true)
	}
}

// reporter returns the reporter of a call with WithProgress.
func (o *dirOptions) reporter() *reporter {
	seen, searched := new(atomic.Int64), new(atomic.Int64)
	o.seen, o.searched = seen, searched
	return newReporter(o.progress, func() (entries, files int64) { return seen.Load(), searched.Load() })
}

// reported returns the result of do, and makes reports in the meantime. Without a reporter,
// do runs on the goroutine of the caller.
func reported[T any](ctx context.Context, r *reporter, do func(context.Context) (T, error)) (T, error) {
	if r == nil {
		return do(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // if f panics
	done := parallel.Go(func() (T, error) { return do(ctx) })
	for {
		select {
		case o := <-done:
			return o.Result()
		case <-r.ticker.C:
			if len(done) == 0 { // after a slow report, the work may have ended too
				r.report(false)
			}
		}
	}
}
