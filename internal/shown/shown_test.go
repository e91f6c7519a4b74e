package shown

import "testing"

func TestSizes(t *testing.T) {
	for _, tt := range []struct {
		size int64
		want string
	}{
		{-1, "?"},
		{0, "0 B"},
		{1, "1 B"},
		{102, "102 B"},
		{103, "0.1 KB"},
		{307, "0.3 KB"},
		{1024, "1.0 KB"},
		{4301, "4.2 KB"},
		{1048524, "1023.9 KB"},
		{1048525, "1.0 MB"},
		{1 << 20, "1.0 MB"},
		{1<<30 - 1<<15, "1.0 GB"},
		{1<<30 - 1<<17, "1023.9 MB"},
		{1 << 30, "1.0 GB"},
		{5 << 40, "5120.0 GB"},
		{1<<63 - 1, "8589934592.0 GB"},
	} {
		if got := Size(tt.size); got != tt.want {
			t.Errorf("Size(%d) = %q, want %q", tt.size, got, tt.want)
		}
	}
}
