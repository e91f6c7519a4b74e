// Package azure reads the versions of objects in buckets of gocloud.dev/blob/azureblob.
//
// See https://github.com/toolshelf-go/toolshelf for an overview of the library.
package azure

import (
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	azblobblob "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/toolshelf-go/toolshelf/stores/blob"
)

// Versions uses the ETags of objects, and the header If-Match in requests for objects. Each
// write of an object makes a new ETag, also a write of the same content.
var Versions = blob.Versions{Of: etag, Match: match}

func etag(as func(any) bool) string {
	var tag *azcore.ETag
	var listed container.BlobItem
	var read azblobblob.DownloadStreamResponse
	var head azblobblob.GetPropertiesResponse
	switch {
	case as(&listed) && listed.Properties != nil:
		tag = listed.Properties.ETag
	case as(&read):
		tag = read.ETag
	case as(&head):
		tag = head.ETag
	}
	if tag == nil {
		return ""
	}
	return strings.Trim(string(*tag), `"`) // a listing has no quotation marks
}

func match(as func(any) bool, version string) {
	var request *azblob.DownloadStreamOptions
	if as(&request) {
		tag := azcore.ETag(`"` + version + `"`)
		request.AccessConditions = &azblobblob.AccessConditions{ModifiedAccessConditions: &azblobblob.ModifiedAccessConditions{IfMatch: &tag}}
	}
}
