package mcpadapter

import (
	"path"
	"strings"
)

const markdown = "text/markdown"

// mediaTypes are the media types of frequent files of skills. The table of package mime
// depends on the host.
var mediaTypes = map[string]string{
	".css":  "text/css",
	".csv":  "text/csv",
	".gif":  "image/gif",
	".htm":  "text/html",
	".html": "text/html",
	".jpeg": "image/jpeg",
	".jpg":  "image/jpeg",
	".js":   "text/javascript",
	".json": "application/json",
	".md":   markdown,
	".mjs":  "text/javascript",
	".pdf":  "application/pdf",
	".png":  "image/png",
	".py":   "text/x-python",
	".sh":   "application/x-sh",
	".svg":  "image/svg+xml",
	".toml": "application/toml",
	".txt":  "text/plain",
	".webp": "image/webp",
	".xml":  "application/xml",
	".yaml": "application/yaml",
	".yml":  "application/yaml",
	".zip":  "application/zip",
}

// mediaType returns the media type of a file by the end of its name, or "".
func mediaType(name string) string { return mediaTypes[strings.ToLower(path.Ext(name))] }
