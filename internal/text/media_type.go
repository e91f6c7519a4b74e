package text

// signatures are the first bytes of common files that are not text. A dot stands for any
// byte. The media types are those of http.DetectContentType; importing net/http would add
// the network to every program that imports the library.
var signatures = []struct{ begin, mediaType string }{
	{"\x89PNG\r\n\x1a\n", "image/png"},
	{"\xff\xd8\xff", "image/jpeg"},
	{"GIF87a", "image/gif"},
	{"GIF89a", "image/gif"},
	{"RIFF....WEBPVP", "image/webp"},
	{"BM", "image/bmp"},
	{"\x00\x00\x01\x00", "image/x-icon"},
	{"%PDF-", "application/pdf"},
	{"PK\x03\x04", "application/zip"},
	{"\x1f\x8b\x08", "application/x-gzip"},
	{"Rar!\x1a\x07\x00", "application/x-rar-compressed"},
	{"\x00asm", "application/wasm"},
	{"wOFF", "font/woff"},
	{"wOF2", "font/woff2"},
	{"\x00\x01\x00\x00", "font/ttf"},
	{"OTTO", "font/otf"},
	{"ID3", "audio/mpeg"},
	{"RIFF....WAVE", "audio/wave"},
	{"OggS\x00", "application/ogg"},
	{"RIFF....AVI ", "video/avi"},
	{"....ftypmp4", "video/mp4"},
	{"\x1a\x45\xdf\xa3", "video/webm"},
}

// MediaType returns the type of a file that is not text, such as "image/png", from the
// first bytes of the file. For an unknown type, MediaType returns
// "application/octet-stream".
func MediaType(head []byte) string {
	for _, s := range signatures {
		if hasSignature(head, s.begin) {
			return s.mediaType
		}
	}
	return "application/octet-stream"
}

func hasSignature(head []byte, begin string) bool {
	if len(head) < len(begin) {
		return false
	}
	for i := range len(begin) {
		if begin[i] != '.' && begin[i] != head[i] {
			return false
		}
	}
	return true
}
