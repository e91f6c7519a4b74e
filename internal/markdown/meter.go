package markdown

import "context"

// A Meter counts the bytes that a scan examines, and ends the scan when a context
// ends. All scanners of a text share a Meter. A test can then compare the count with
// the length of the text. The zero value never ends a scan.
type Meter struct {
	ctx   context.Context
	steps int
	check int // the count at which Add reads the context's error
	err   error
}

// CheckEvery is the number of bytes between two readings of the context's error.
const CheckEvery = 64 << 10

// NewMeter returns a Meter that ends scans as soon as ctx ends.
func NewMeter(ctx context.Context) *Meter {
	return &Meter{ctx: ctx, check: CheckEvery, err: ctx.Err()}
}

// Add counts n bytes and reports whether the scan continues.
func (m *Meter) Add(n int) bool {
	if m.steps += n; m.steps >= m.check {
		m.readContext()
	}
	return m.err == nil
}

func (m *Meter) readContext() {
	m.check = m.steps + CheckEvery
	if m.ctx != nil && m.err == nil {
		m.err = m.ctx.Err()
	}
}

// Steps returns the number of bytes counted.
func (m *Meter) Steps() int { return m.steps }

// Err returns the context's error, or nil if the Meter has ended no scan.
func (m *Meter) Err() error { return m.err }
