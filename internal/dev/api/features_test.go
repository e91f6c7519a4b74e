package api

import (
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// exported returns the features of the packages of the workspace that other modules can import.
func exported(t *testing.T) (all []string) {
	t.Helper()
	const format = "{{.ImportPath}}\t{{.Name}}\t{{.Export}}\t{{if not .Standard}}{{.Module.Main}}{{end}}"
	list := exec.Command("go", "list", "-export", "-deps", "-f", format, "work")
	list.Stderr = os.Stderr
	files := map[string]string{} // the files of export data, by import path
	var ours []string
	for line := range strings.Lines(string(must.Get(list.Output())(t))) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		path, name := fields[0], fields[1]
		files[path] = fields[2]
		if fields[3] == "true" && name != "main" && fields[2] != "" { // not only tests
			ours = append(ours, path)
		}
	}
	hidden := regexp.MustCompile("/(internal|examples)/")
	export := func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }
	packages := importer.ForCompiler(token.NewFileSet(), "gc", export)
	for _, path := range ours {
		pkg := must.Get(packages.Import(path))(t)
		must.Equal(t, path+": a field that shadows a field of an embedded struct", "", shadowing(pkg))
		if !hidden.MatchString(path) {
			all = append(all, features(pkg)...)
		}
	}
	return all
}

// shadowing returns an exported field that shadows a field of an embedded struct, or "". Such a field
// is a trap: the field and the promoted field have the same name and different values.
func shadowing(pkg *types.Package) string {
	for _, name := range pkg.Scope().Names() {
		declared, ok := pkg.Scope().Lookup(name).Type().Underlying().(*types.Struct)
		if !ok {
			continue
		}
		for field := range declared.Fields() {
			for embedded := range declared.Fields() {
				if !embedded.Embedded() || !field.Exported() || field == embedded {
					continue
				}
				below, _, _ := types.LookupFieldOrMethod(embedded.Type(), true, pkg, field.Name())
				if _, ok := below.(*types.Var); ok {
					return name + "." + field.Name()
				}
			}
		}
	}
	return ""
}

// features returns a line for each exported identifier of a package. A change that can break a
// program changes or removes a line.
func features(pkg *types.Package) (lines []string) {
	f := &lister{pkg: pkg}
	for _, name := range pkg.Scope().Names() {
		object := pkg.Scope().Lookup(name)
		if !object.Exported() {
			continue
		}
		switch object := object.(type) {
		case *types.Const:
			f.add(name, "const %s = %s", f.typeString(object.Type()), object.Val().ExactString())
		case *types.Var:
			f.add(name, "var %s", f.typeString(object.Type()))
		case *types.Func:
			f.add(name, "%s", f.typeString(object.Type()))
		case *types.TypeName:
			f.typeName(object)
		}
	}
	return f.lines
}

type lister struct {
	pkg   *types.Package
	lines []string
}

func (f *lister) add(name, format string, args ...any) {
	f.lines = append(f.lines, f.pkg.Name()+"."+name+": "+fmt.Sprintf(format, args...))
}

func (f *lister) typeName(object *types.TypeName) {
	name := object.Name()
	if object.IsAlias() {
		f.add(name, "type = %s", f.typeString(types.Unalias(object.Type())))
		return
	}
	named := object.Type().(*types.Named)
	parameters := f.typeParameters(named.TypeParams())
	switch underlying := named.Underlying().(type) {
	case *types.Interface:
		f.interfaceType(name, parameters, underlying)
		return
	case *types.Struct:
		f.add(name, "type%s struct", parameters)
		for i := range underlying.NumFields() {
			field := underlying.Field(i)
			if !field.Exported() {
				continue
			}
			kind := "field"
			if field.Embedded() {
				kind = "embedded"
			}
			f.add(name+"."+field.Name(), "%s", strings.TrimSpace(kind+" "+f.typeString(field.Type())+" "+underlying.Tag(i)))
		}
	default:
		f.add(name, "type%s %s", parameters, f.typeString(underlying))
	}
	if types.Comparable(named) {
		f.add(name, "comparable")
	}
	ofValues := types.NewMethodSet(named)
	for method := range types.NewMethodSet(types.NewPointer(named)).Methods() {
		if !method.Obj().Exported() {
			continue
		}
		receiver := "*" + name
		if ofValues.Lookup(f.pkg, method.Obj().Name()) != nil {
			receiver = name
		}
		f.add(name+"."+method.Obj().Name(), "method (%s) %s", receiver, f.typeString(method.Type()))
	}
}

// interfaceType lists an interface. An additional method breaks programs that implement the
// interface, so the methods are part of the line of the type. Other packages cannot implement an
// interface with an unexported method.
func (f *lister) interfaceType(name, parameters string, t *types.Interface) {
	var methods []string
	sealed := false
	for method := range t.Methods() {
		sealed = sealed || !method.Exported()
		if method.Exported() {
			methods = append(methods, method.Name()+strings.TrimPrefix(f.typeString(method.Type()), "func"))
		}
	}
	for embedded := range t.EmbeddedTypes() {
		if _, isInterface := embedded.Underlying().(*types.Interface); !isInterface {
			methods = append(methods, f.typeString(embedded)) // a type set
		}
	}
	if !sealed {
		f.add(name, "type%s interface{%s}", parameters, strings.Join(methods, "; "))
		return
	}
	f.add(name, "type%s interface, with unexported methods", parameters)
	for _, method := range methods {
		method, signature, _ := strings.Cut(method, "(")
		f.add(name+"."+method, "method (%s) func(%s", name, signature)
	}
}

// typeString is the source of a type. Other packages have their import path.
func (f *lister) typeString(t types.Type) string {
	s, ok := t.(*types.Signature)
	if !ok {
		return types.TypeString(t, types.RelativeTo(f.pkg))
	}
	bare := strings.TrimPrefix(types.TypeString(unnamed(s), types.RelativeTo(f.pkg)), "func")
	return "func" + f.typeParameters(s.TypeParams()) + bare
}

// unnamed returns a signature without the names of parameters, because a new name of a parameter
// breaks no program.
func unnamed(s *types.Signature) *types.Signature {
	tuple := func(named *types.Tuple) *types.Tuple {
		var all []*types.Var
		for v := range named.Variables() {
			t := v.Type()
			if callback, ok := t.(*types.Signature); ok {
				t = unnamed(callback)
			}
			all = append(all, types.NewParam(token.NoPos, nil, "", t))
		}
		return types.NewTuple(all...)
	}
	return types.NewSignatureType(nil, nil, nil, tuple(s.Params()), tuple(s.Results()), s.Variadic())
}

func (f *lister) typeParameters(list *types.TypeParamList) string {
	var parameters []string
	for parameter := range list.TypeParams() {
		parameters = append(parameters, parameter.Obj().Name()+" "+f.typeString(parameter.Constraint()))
	}
	if len(parameters) == 0 {
		return ""
	}
	return "[" + strings.Join(parameters, ", ") + "]"
}
