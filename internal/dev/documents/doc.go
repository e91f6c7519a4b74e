// Package documents has the tests that compare the documents with the repository, and the tests of the imports and the
// modules of the repository. The tests run in the root directory of the repository.
package documents
