package toolshelf

import (
	"embed"
	"io/fs"
	"reflect"
)

// Immutable marks a filesystem whose files never change, such as a zip.Reader,
// for [WithCommandsFS] and [WithSkillsFS]. A catalog scans the filesystem once,
// and reads a file again only if the file is no longer in the catalog's memory.
// An embed.FS, and an fs.Sub of an embed.FS, need no mark.
//
// The result opens the files of fsys. With a nil fsys, the option returns
// [ErrInvalidOption]. If a file changes nevertheless, a method may serve the old or the
// new content.
func Immutable(fsys fs.FS) fs.FS { return immutable{fsys} }

type immutable struct{ fs.FS }

// subFS is the type of most results of fs.Sub, which has no exported name.
var subFS = func() reflect.Type {
	sub, err := fs.Sub(embed.FS{}, "sub")
	if err != nil {
		panic(err) // the name is valid
	}
	return reflect.TypeOf(sub)
}()

// isEmbedded reports whether fsys is an embed.FS, or an fs.Sub of an embed.FS. If
// fs.Sub changes its representation, isEmbedded reports false, and the catalog
// reads the files in each call.
func isEmbedded(fsys fs.FS) bool {
	if _, ok := fsys.(embed.FS); ok {
		return true
	}
	v := reflect.ValueOf(fsys)
	if v.Type() != subFS || v.Kind() != reflect.Pointer {
		return false
	}
	v = v.Elem()
	if v.Kind() != reflect.Struct {
		return false
	}
	outer := v.FieldByName("fsys")
	return outer.IsValid() && outer.Kind() == reflect.Interface && !outer.IsNil() && outer.Elem().Type() == reflect.TypeFor[embed.FS]()
}
