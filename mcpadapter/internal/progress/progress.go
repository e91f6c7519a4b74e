// Package progress checks progress tokens.
package progress

import "math"

// IsToken reports whether a JSON value that an SDK has decoded is a progress token: a
// string or an integer. An integer of 2^53 or more is no token, because the SDK may have
// rounded the integer.
func IsToken(v any) bool {
	switch v := v.(type) {
	case string:
		return true
	case float64:
		return v == math.Trunc(v) && math.Abs(v) < 1<<53
	}
	return false
}
