// Package s3 reads the versions of objects in buckets of gocloud.dev/blob/s3blob.
//
// See https://github.com/toolshelf-go/toolshelf for an overview of the library.
package s3

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/toolshelf-go/toolshelf/stores/blob"
)

// Versions uses the ETags of objects, and the header If-Match in requests for objects. S3 and
// compatible servers report the same ETag in listings and with the object. Two versions of an
// object with the same content may have the same ETag.
var Versions = blob.Versions{Of: etag, Match: match}

func etag(as func(any) bool) string {
	var listed types.Object
	var read s3.GetObjectOutput
	var head s3.HeadObjectOutput
	switch {
	case as(&listed):
		return aws.ToString(listed.ETag)
	case as(&read):
		return aws.ToString(read.ETag)
	case as(&head):
		return aws.ToString(head.ETag)
	}
	return ""
}

func match(as func(any) bool, version string) {
	var request *s3.GetObjectInput
	if as(&request) {
		request.IfMatch = &version
	}
}
