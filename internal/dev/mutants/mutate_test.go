package mutants

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// A change is a mutant: one change of a place in the code.
type change struct {
	key      string // see source.add
	position token.Position
	end      int // offset of the end of the place

	covered bool // a test reaches the place
	number  int
	wrap    func(number int, original string) string // returns the code with both versions
}

// A source is a file of a package.
type source struct {
	*ast.File
	text    string
	dir     string // of the package, below the module
	fset    *token.FileSet
	info    *types.Info
	keys    map[string]int // number of mutants of the package with the same key
	mutants []*change
}

// parse reads the files of a package. The function export opens the export data of an import.
func parse(dir, path string, names []string, export importer.Lookup) (sources []*source) {
	fset, keys := token.NewFileSet(), map[string]int{}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	var files []*ast.File
	for _, name := range names {
		text := must.Get(os.ReadFile(name))(must.Program)
		file := must.Get(parser.ParseFile(fset, name, text, parser.SkipObjectResolution))(must.Program)
		files = append(files, file)
		s := &source{File: file, text: string(text), dir: dir, fset: fset, info: info, keys: keys}
		sources = append(sources, s)
	}
	c := types.Config{Importer: importer.ForCompiler(fset, "gc", export)}
	must.Get(c.Check(path, fset, files, info))(must.Program)
	return sources
}

// name returns the path of the file.
func (s *source) name() string { return s.fset.Position(s.Package).Filename }

func (s *source) offset(p token.Pos) int  { return s.fset.Position(p).Offset }
func (s *source) of(n ast.Node) string    { return s.text[s.offset(n.Pos()):s.offset(n.End())] }
func (s *source) isConst(e ast.Expr) bool { return s.info.Types[e].Value != nil }
func (s *source) basic(e ast.Expr) types.BasicInfo {
	if b, ok := s.info.TypeOf(e).Underlying().(*types.Basic); ok {
		return b.Info()
	}
	return 0
}

var blanks = regexp.MustCompile(`\s+`)

// add adds a mutant. The key consists of the package, the function, the operator and the code, so
// changes elsewhere keep the key. A number distinguishes equal code of a function.
func (s *source) add(function, operator string, n ast.Node, wrap func(int, string) string) {
	code := []rune(blanks.ReplaceAllString(s.of(n), " "))
	key := fmt.Sprintf("%s %s %s: %s", s.dir, function, operator, string(code[:min(len(code), 70)]))
	if s.keys[key]++; s.keys[key] > 1 {
		key += fmt.Sprintf(" #%d", s.keys[key])
	}
	m := &change{key: key, position: s.fset.Position(n.Pos()), end: s.offset(n.End()), wrap: wrap}
	s.mutants = append(s.mutants, m)
}

// find adds the mutants of all functions of the file.
func (s *source) find() {
	for _, decl := range s.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		name := f.Name.Name
		if f.Recv != nil {
			receiver, _, _ := strings.Cut(s.of(f.Recv.List[0].Type), "[")
			name = strings.TrimPrefix(receiver, "*") + "." + name
		}
		s.function(name, f.Type, f.Body)
	}
}

// function adds the mutants of the body of a function.
func (s *source) function(name string, signature *ast.FuncType, body *ast.BlockStmt) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			s.function(name, n.Type, n.Body)
			return false
		case *ast.BlockStmt:
			s.statements(name, signature, n.List)
		case *ast.CaseClause:
			s.statements(name, signature, n.Body)
		case *ast.CommClause:
			s.statements(name, signature, n.Body)
		case *ast.IfStmt:
			s.condition(name, n.Cond)
		case *ast.ForStmt:
			s.condition(name, n.Cond)
		case *ast.SwitchStmt:
			for _, c := range n.Body.List {
				for _, e := range c.(*ast.CaseClause).List {
					if n.Tag == nil {
						s.condition(name, e)
					}
				}
			}
		case *ast.BinaryExpr:
			s.binary(name, n)
		}
		if s.changesNothing(n) {
			return false
		}
		if e, ok := n.(ast.Expr); ok && s.isConst(e) {
			s.constant(name, e)
			return false
		}
		return true
	})
}

// changesNothing reports whether no test can notice a mutant of a node.
func (s *source) changesNothing(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok == token.CONST
	case *ast.ArrayType:
		return true
	case *ast.ReturnStmt: // callers ignore a number beside an error
		return len(n.Results) > 1 && slices.ContainsFunc(n.Results, s.isConst)
	case *ast.CallExpr: // a capacity changes no result
		f, ok := n.Fun.(*ast.Ident)
		return ok && f.Name == "make"
	}
	return false
}

// condition adds the negation of a condition that is no comparison, which binary negates.
func (s *source) condition(function string, e ast.Expr) {
	if e == nil || s.isConst(e) || !isBool(s.info.TypeOf(e)) {
		return
	}
	if _, ok := ast.Unparen(e).(*ast.BinaryExpr); !ok {
		s.add(function, "negate", e, negate)
	}
}

func isBool(t types.Type) bool {
	return t == types.Typ[types.Bool] || t == types.Typ[types.UntypedBool]
}

func negate(number int, original string) string {
	return fmt.Sprintf("(mutant.On(%d) != (%s))", number, original)
}

var (
	boundaries = map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">"}
	logic      = map[token.Token]string{token.LAND: "||", token.LOR: "&&"}
)

// binary adds the mutants of a comparison, and of && and ||.
func (s *source) binary(function string, e *ast.BinaryExpr) {
	if s.isConst(e) || !isBool(s.info.TypeOf(e)) {
		return
	}
	operator, other := "boundary", boundaries[e.Op]
	if other == "" {
		operator, other = "swap", logic[e.Op]
	}
	if operator == "swap" && other != "" {
		s.condition(function, e.X)
		s.condition(function, e.Y)
	} else {
		s.add(function, "negate", e, negate)
	}
	if other != "" {
		changed := fmt.Sprintf("(%s) %s (%s)", s.of(e.X), other, s.of(e.Y))
		s.add(function, operator, e, func(number int, original string) string {
			const both = "(mutant.On(%d) && (%s) || !mutant.On(%[1]d) && (%[3]s))"
			return fmt.Sprintf(both, number, changed, original)
		})
	}
}

// constant adds the mutants of a constant integer with a literal.
func (s *source) constant(function string, e ast.Expr) {
	literal := false
	ast.Inspect(e, func(n ast.Node) bool {
		l, ok := n.(*ast.BasicLit)
		literal = literal || ok && l.Kind == token.INT
		return true
	})
	t := types.Unalias(types.Default(s.info.TypeOf(e)))
	if named, ok := t.(*types.Named); ok && named.Obj().Pkg().Name() != s.Name.Name {
		return // the file may not import the package of the type
	}
	if !literal || s.basic(e)&types.IsInteger == 0 || s.info.Types[e].Value.Kind() != constant.Int {
		return
	}
	name := types.TypeString(t, func(*types.Package) string { return "" })
	for _, delta := range []int{1, -1} {
		s.add(function, fmt.Sprintf("%+d", delta), e, func(number int, original string) string {
			return fmt.Sprintf("mutant.Add(%d, %d, %s(%s))", number, delta, name, original)
		})
	}
}

// statements adds the mutants that remove a call or an assignment, or return zero values. A lock
// that is not taken fails no test without the race detector.
func (s *source) statements(function string, signature *ast.FuncType, list []ast.Stmt) {
	for _, statement := range list {
		remove := false
		switch n := statement.(type) {
		case *ast.AssignStmt:
			remove = n.Tok != token.DEFINE && !strings.HasPrefix(s.of(n), "_ =")
		case *ast.IncDecStmt:
			remove = true
		case *ast.ExprStmt:
			call, ok := n.X.(*ast.CallExpr)
			remove = ok && !skippedCall.MatchString(s.of(call.Fun))
		case *ast.ReturnStmt:
			s.result(function, signature, n)
		}
		if remove {
			s.add(function, "remove", statement, func(number int, original string) string {
				return fmt.Sprintf("if !mutant.On(%d) { %s }", number, original)
			})
		}
	}
}

// A removed Grow changes no result.
var skippedCall = regexp.MustCompile(`^panic$|\.(R?Lock|R?Unlock|Grow)$`)

var zeros = regexp.MustCompile(`^(nil|0|""|false|[\w.]+\{\})$`)

// result adds the mutants of a return statement.
func (s *source) result(function string, signature *ast.FuncType, n *ast.ReturnStmt) {
	var values []string
	zero := true
	for _, e := range n.Results {
		zero = zero && zeros.MatchString(s.of(e))
		s.condition(function, e)
	}
	if zero || len(n.Results) == 1 && isBool(s.info.TypeOf(n.Results[0])) {
		return
	}
	for _, field := range signature.Results.List {
		for range max(1, len(field.Names)) {
			values = append(values, "*new("+s.of(field.Type)+")")
		}
	}
	s.add(function, "zero", n, func(number int, original string) string {
		all := strings.Join(values, ", ")
		return fmt.Sprintf("if mutant.On(%d) { return %s }; %s", number, all, original)
	})
}

// mutated returns the text of the file with mutants.
func (s *source) mutated(mutants []*change) string {
	slices.SortStableFunc(mutants, func(a, b *change) int { // the outer place first
		return cmp.Or(a.position.Offset-b.position.Offset, b.end-a.end)
	})
	name := s.offset(s.Name.End())
	return s.text[:name] + `; import "` + module + `internal/dev/mutants/mutant"` + s.rewrite(name, len(s.text), mutants)
}

// rewrite returns a part of the text with the mutants in this part.
func (s *source) rewrite(begin, end int, mutants []*change) string {
	var b strings.Builder
	for len(mutants) > 0 {
		m := mutants[0]
		inner := 1
		for inner < len(mutants) && mutants[inner].position.Offset < m.end {
			inner++
		}
		b.WriteString(s.text[begin:m.position.Offset])
		b.WriteString(m.wrap(m.number, s.rewrite(m.position.Offset, m.end, mutants[1:inner])))
		begin, mutants = m.end, mutants[inner:]
	}
	return b.String() + s.text[begin:end]
}

// byHash sorts mutants by the hashes of their keys, so a change elsewhere keeps a sample.
func byHash(mutants []*change) {
	slices.SortFunc(mutants, func(a, b *change) int {
		x, y := sha256.Sum256([]byte(a.key)), sha256.Sum256([]byte(b.key))
		return slices.Compare(x[:], y[:])
	})
}
