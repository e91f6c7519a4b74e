// Package sample holds a small project to try the library on: the commands,
// skills and source files of an invented company that sells ferry tickets.
package sample

import (
	"embed"
	"io/fs"
)

//go:embed all:project
var files embed.FS

// FS returns the project: commands/, skills/ and the files of its service.
func FS() fs.FS {
	project, err := fs.Sub(files, "project")
	if err != nil {
		panic(err) // only for a malformed constant
	}
	return project
}
