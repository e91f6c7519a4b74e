package documents

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// sharedPackages serve every kind of files by the rows of tables. A further kind is a row, and no
// function.
var sharedPackages = []string{"internal/index", "internal/search", "internal/promptblock", "internal/lint"}

// namesOfKinds are the functions whose names contain a kind although their package serves every
// kind. A change may only remove a name.
var namesOfKinds = []string{
	"index.Index.OpenSkill", "index.Index.viewSkill",
	"index.Layer.skillName", "index.Snapshot.HasSkill", "index.describesSkill", "index.hasSkillFile",
	"index.lookout.hasSkillFile", "index.lookout.holdsSkill", "index.lookout.ownSkillClaims",
	"index.scan.nestedSkills", "index.scan.ownSkill", "index.scan.skill", "index.scan.skillSource", "index.scan.skills", "index.scan.skillsIn", "index.scanSkills",
	"index.skillClaims",
	"lint.Commands.AddSkill", "lint.Profile.Skill", "lint.newSkill",
}

func TestNoFurtherFunctionIsForOneKind(t *testing.T) {
	found := map[string]bool{}
	for _, dir := range sharedPackages {
		files, err := filepath.Glob(dir + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatal(dir, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file := must.Get(parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution))(t)
			for _, d := range file.Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok || !slices.ContainsFunc([]string{"agent", "command", "skill", "instruction"}, func(kind string) bool { return strings.Contains(strings.ToLower(f.Name.Name), kind) }) {
					continue
				}
				full := path.Base(dir) + "." + f.Name.Name
				if f.Recv != nil {
					full = path.Base(dir) + "." + receiver(f.Recv.List[0].Type) + "." + f.Name.Name
				}
				found[full] = true
				must.Has(t, name, namesOfKinds, full)
			}
		}
	}
	for _, name := range namesOfKinds {
		if !found[name] {
			t.Errorf("there is no %s; remove the name from namesOfKinds, which may only shrink", name)
		}
	}
	t.Logf("%d functions of %v are for one kind", len(found), sharedPackages)
}
