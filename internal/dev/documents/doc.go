// Package documents has the tests that compare the documents with the repository, and the tests of
// the imports, the modules and the size of the root. The tests run in the root directory of the
// repository.
package documents
