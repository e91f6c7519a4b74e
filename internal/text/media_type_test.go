package text

import (
	"net/http"
	"strings"
	"testing"
)

// TestMediaTypesAgreeWithHTTP compares the media type of each signature with
// http.DetectContentType.
func TestMediaTypesAgreeWithHTTP(t *testing.T) {
	for _, s := range signatures {
		// The first four bytes of an MP4 file are the length of the first box.
		begin := strings.Replace(s.begin, "....ftyp", "\x00\x00\x00\x18ftyp", 1)
		head := []byte(begin + strings.Repeat("\x00", 30))
		if got, want := MediaType(head), http.DetectContentType(head); got != want {
			t.Errorf("%q: got %s, want %s", s.begin, got, want)
		}
		if got := MediaType([]byte(begin)[:len(begin)-1]); got != "application/octet-stream" {
			t.Errorf("%q without the last byte: got %s", s.begin, got)
		}
	}
}

func TestUnknownMediaTypeIsOctetStream(t *testing.T) {
	for _, head := range []string{"", "\x00", "\xff\xfe\x00\x00a\x00\x00\x00", "<html>\x00", " \x89PNG\r\n\x1a\n"} {
		if got := MediaType([]byte(head)); got != "application/octet-stream" {
			t.Errorf("%q: got %s", head, got)
		}
	}
}
