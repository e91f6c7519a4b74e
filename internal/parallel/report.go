package parallel

import (
	"context"
	"time"
)

// interval is the time between two reports. A delayed report and the last report can
// follow another report immediately, so a second has at most nine reports.
const interval = time.Second / 6

// A Reporter reports the progress of a call. A nil Reporter makes no reports.
type Reporter struct {
	report         func(entries, files int, done bool)
	count          func() (entries, files int64)
	entries, files int64 // the counts before the call
	ticker         *time.Ticker
}

// NewReporter returns a Reporter that calls report with the increase of the numbers of count. The
// numbers never decrease.
func NewReporter(report func(entries, files int, done bool),
	count func() (entries, files int64)) *Reporter {
	r := &Reporter{report: report, count: count, ticker: time.NewTicker(interval)}
	r.entries, r.files = count()
	return r
}

func (r *Reporter) now(done bool) {
	entries, files := r.count()
	r.report(int(entries-r.entries), int(files-r.files), done)
}

// End ends the reports. Without an error, End makes the last report.
func (r *Reporter) End(err error) {
	if r == nil {
		return
	}
	r.ticker.Stop()
	if err == nil {
		r.now(true)
	}
}

// Reported returns the result of do, and makes reports in the meantime. Without a Reporter,
// do runs on the goroutine of the caller.
func Reported[T any](ctx context.Context, r *Reporter,
	do func(context.Context) (T, error)) (T, error) {
	if r == nil {
		return do(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // if f panics
	done := Go(func() (T, error) { return do(ctx) })
	for {
		select {
		case o := <-done:
			return o.Result()
		case <-r.ticker.C:
			if len(done) == 0 { // after a slow report, the work may have ended too
				r.now(false)
			}
		}
	}
}
