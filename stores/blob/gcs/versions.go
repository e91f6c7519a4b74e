// Package gcs reads the versions of objects in buckets of gocloud.dev/blob/gcsblob.
//
// See https://github.com/toolshelf-go/toolshelf for an overview of the library.
package gcs

import (
	"strconv"

	"cloud.google.com/go/storage"

	"github.com/toolshelf-go/toolshelf/stores/blob"
)

// Versions uses the generations of objects, and the condition ifGenerationMatch in requests for
// objects. Each write of an object makes a new generation, also a write of the same content.
var Versions = blob.Versions{Of: generation, Match: match}

func generation(as func(any) bool) string {
	var attrs storage.ObjectAttrs // of a listing, or of a request for metadata
	var read *storage.Reader
	switch {
	case as(&attrs):
		return strconv.FormatInt(attrs.Generation, 10)
	case as(&read):
		return strconv.FormatInt(read.Attrs.Generation, 10)
	}
	return ""
}

func match(as func(any) bool, version string) {
	var object **storage.ObjectHandle
	generation, err := strconv.ParseInt(version, 10, 64)
	if err == nil && as(&object) {
		*object = (*object).If(storage.Conditions{GenerationMatch: generation})
	}
}
