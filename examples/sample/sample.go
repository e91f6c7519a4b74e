// Package sample contains a sample project: the commands, skills and source files of a
// fictional company that sells ferry tickets.
package sample

import (
	"embed"
	"io/fs"
)

//go:embed all:project
var files embed.FS

// FS returns the project with commands/, skills/ and the files of a service.
func FS() fs.FS {
	project, err := fs.Sub(files, "project")
	if err != nil {
		panic(err) // only if the constant is malformed
	}
	return project
}
