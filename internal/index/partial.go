package index

import "time"

// A file that seems half written is read again, up to rereads times, with a
// pause of rereadAfter before each read. Editors and programs that write in
// place need well under a millisecond.
const (
	rereads     = 3
	rereadAfter = 5 * time.Millisecond
)

// retryPartial reads a file, and reads the file again if the first read seems to
// fall between two writes: known is good, the new contents are empty or broken,
// and the file has just changed. If the file is still changing after the last
// read, retryPartial returns known.
func (s *scan) retryPartial(known *Entry, read func() (*Entry, error)) (*Entry, error) {
	e, err := read()
	if known == nil || known.Broken() != nil {
		return e, err
	}
	changing := false
	for range rereads {
		if err != nil || !halfWritten(known, e) {
			return e, err
		}
		select {
		case <-time.After(rereadAfter):
		case <-s.Context.Done():
			return known, nil // the scan ends with an error
		}
		before := e.Stamp
		if e, err = read(); err == nil {
			changing = !e.Stamp.Same(before)
		}
	}
	if err == nil && changing && halfWritten(known, e) {
		return known, nil
	}
	return e, err
}

// halfWritten reports whether the entry e may show a moment between two writes.
func halfWritten(known, e *Entry) bool {
	version := e.get().version
	return e != known && version.recent &&
		(version.short || e.Stamp.Size == 0 && known.Stamp.Size > 0 || len(e.Problems()) > len(known.Problems()))
}
