package index

import (
	"cmp"
	"errors"
	"math"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/problem"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// An Entry is one command or skill, and is immutable. A catalog keeps an Entry for
// each file, so an Entry is small: the parts that few entries have are in details.
type Entry struct {
	Name       string
	Path       string      // path of the file, relative to the layer's FS
	text       string      // Description, and then Hint
	Stamp      stamp.Stamp // of the file at the time of the read; of the target if the file is a link
	layer      uint16
	hint       uint16 // bytes of Hint
	Linked     bool   // the file is a link
	Dependency bool   // served by name only
	UserOnly   bool   // models must not choose the entry: disable-model-invocation
	settled    bool   // a later change of the file changes Stamp; see Settled; only scans use the field, one after the other
	details    *details
}

// details are the parts of an Entry that few commands have. An Entry without
// details has the zero value of each.
type details struct {
	header    matter.Frontmatter // skills only: the frontmatter
	problems  []problem.Problem  // the problems of the file
	broken    error              // why the file cannot be loaded
	version   version
	body      int    // skills only: the offset of the body in the file
	modelOnly bool   // skills only: see ModelOnly
	spelled   string // the path with the spelling of the directory, if Path has another letter case
	shared    int64  // bytes that the entry takes from sharedMemory; see limitMemory
	seal      *Seal  // in a layer with Layer.Sealed
	part      *Part  // the place in a plugin; nil in a layer without plugins
	missing   int64  // bytes that the whole entry needs if limitMemory has cut the entry; otherwise 0
}

var noDetails details

// get returns the details for reading.
func (e *Entry) get() *details {
	if e.details == nil {
		return &noDetails
	}
	return e.details
}

// set returns the details of a new entry for writing.
func (e *Entry) set() *details {
	if e.details == nil {
		e.details = new(details)
	}
	return e.details
}

// Spelled returns Path with the file's name as the directory spells the name. Both differ only on a
// filesystem that ignores letter case.
func (e *Entry) Spelled() string { return cmp.Or(e.get().spelled, e.Path) }

// Layer returns the index of the entry's layer in Config.Layers.
func (e *Entry) Layer() int { return int(e.layer) }

// Part returns the place of the file in a plugin, or nil.
func (e *Entry) Part() *Part { return e.get().part }

// Plugin returns the name of the plugin of the entry, or "".
func (e *Entry) Plugin() string {
	if p := e.Part(); p != nil {
		return p.Plugin
	}
	return ""
}

// Bare returns the name without the name of the plugin.
func (e *Entry) Bare() string {
	if p := e.Part(); p != nil {
		return strings.TrimPrefix(e.Name, p.Prefix)
	}
	return e.Name
}

// Header returns the frontmatter of a skill.
func (e *Entry) Header() matter.Frontmatter { return e.get().header }

// Body returns the offset of the text of a skill in its file.
func (e *Entry) Body() int { return e.get().body }

// ModelOnly reports whether users must not invoke a skill: user-invocable: false.
func (e *Entry) ModelOnly() bool { return e.get().modelOnly }

// Problems returns the problems of the file. The slice is not a copy.
func (e *Entry) Problems() []problem.Problem { return e.get().problems }

// Broken returns the reason why the file cannot be loaded, or nil. A broken entry
// still claims its name.
func (e *Entry) Broken() error { return e.get().broken }

// A Rejection is Entry.Broken for a file that Config.Judge does not accept. The Problems of the
// entry begin with the reasons.
type Rejection struct{ Reasons []problem.Problem }

// Error returns the first reason, and the number of the others.
func (r *Rejection) Error() string { return problem.Summary(r.Reasons) }

// Rejected returns the reasons of Config.Judge, or nil.
func (e *Entry) Rejected() []problem.Problem {
	if r, ok := e.Broken().(*Rejection); ok {
		return r.Reasons
	}
	return nil
}

// unread reports whether the entry has no content of its file.
func (e *Entry) unread() bool {
	return e.Broken() != nil && e.Broken() != ErrNotListed && e.Rejected() == nil
}

// Unread returns the failure of the filesystem because of which the entry has no content, or no
// digest of a sealed skill, or nil.
func (e *Entry) Unread() error {
	switch seal := e.Seal(); {
	case seal != nil && seal.Problem != nil && seal.Problem.Code == problem.FileRead:
		return errors.New(seal.Problem.Message)
	case e.unread() && !isBare(e) && IsFault(e.Broken()):
		return e.Broken()
	}
	return nil
}

// Description returns the author's description, unchanged, or else the first paragraph.
func (e *Entry) Description() string { return e.text[:len(e.text)-int(e.hint)] }

// Hint returns the field argument-hint of a command. A hint of 64 KiB is cut.
func (e *Entry) Hint() string { return e.text[len(e.text)-int(e.hint):] }

// setText sets the description and the hint to copies.
func (e *Entry) setText(description, hint string) {
	if len(hint) > math.MaxUint16 {
		hint = shorten(hint)
	}
	if e.text = description + hint; len(e.text) == len(description) || len(e.text) == len(hint) {
		e.text = strings.Clone(e.text) // a sum with an empty text is the other text
	}
	e.hint = uint16(len(hint))
}
