package budget

import (
	"context"
	"slices"

	"github.com/toolshelf-go/toolshelf/internal/shown"
)

// Listing returns the first entries of a listing whose text is within the budget, and adds the
// warning about entries without metadata. The function entry returns an entry for a text, and end
// returns the cursor and the hint of a listing that ends with an entry before the last.
func Listing[E any](ctx context.Context, b Budget, l shown.Listing[E], entry func(*E) shown.Entry,
	end func(*E) (cursor, hint string)) (shown.Listing[E], error) {
	entries, ofListing, next, hint := l.Entries, l.Warnings, l.NextCursor, l.Hint
	at := func(n, last int, warnings []string) shown.Listing[E] {
		l.Entries, l.NextCursor, l.Hint, l.Warnings = entries[:n:n], next, hint, warnings
		if n < len(entries) {
			l.NextCursor, l.Hint = end(&entries[last])
		}
		return l
	}
	c := cut[shown.Listing[E]]{
		least: min(1, len(entries)), // the cursor names an entry
		most:  len(entries),
		at:    func(n int, warnings []string) shown.Listing[E] { return at(n, n-1, warnings) },
		text:  func(l shown.Listing[E]) string { return l.Text(entry) },
		warnings: func(l shown.Listing[E]) []string {
			unknown := 0
			for i := range l.Entries {
				if entry(&l.Entries[i]).Unknown(l.NoSizes) {
					unknown++
				}
			}
			return shown.WithUnknown(slices.Clip(ofListing), unknown)
		},
	}
	// A listing with more entries can have a shorter cursor. In a draft, the longest of the cursors
	// stands for the cursor.
	c.draft = func(n int) shown.Listing[E] {
		longest, length := 0, 0
		for i := range entries[:n] {
			if size := len(entry(&entries[i]).Name); size > length {
				longest, length = i, size
			}
		}
		return at(n, longest, b.reserved())
	}
	return c.fit(ctx, b)
}

// Files returns the first files whose text is within the budget. Hint is empty if Hint exceeds the
// budget.
func Files(ctx context.Context, b Budget, m shown.Files) (shown.Files, error) {
	files, sizes, modified, warnings, hint := m.Files, m.Sizes, m.Modified, m.Warnings, m.Hint
	m.Hint = ""
	c := cut[shown.Files]{
		most: len(files),
		at: func(n int, warnings []string) shown.Files {
			m.Files, m.Warnings = files[:n:n], warnings
			if sizes != nil {
				m.Sizes = sizes[:n:n]
			}
			if modified != nil {
				m.Modified = modified[:n:n]
			}
			return m
		},
		text:     shown.Files.String,
		warnings: func(shown.Files) []string { return warnings },
	}
	found, err := c.fit(ctx, b)
	if found.Hint = hint; err != nil || hint != "" && !b.fits(found.String()) {
		found.Hint = ""
	}
	return found, err
}
