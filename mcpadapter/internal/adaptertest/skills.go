package adaptertest

import (
	"testing"

	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// TestSkills compares the skills and their resources with the responses of a session.
func TestSkills(t *testing.T, connect Connect) {
	const calculator = "skill://calculator/SKILL.md"
	compare(t, connect, []request{
		{"project", "skills/list", ``, 0},
		{"project", "skills/list", `"cursor":"5"`, mcpadapter.CodeInvalidParams},
		{"project", "skills/get", `"uri":"` + calculator + `"`, 0},
		{"project", "skills/get", `"uri":"skill://none/SKILL.md"`, mcpadapter.CodeInvalidParams},
		{"project", "skills/get", ``, mcpadapter.CodeInvalidParams},
		{"project", "resources/list", ``, 0},
		{"project", "resources/list", `"cursor":"5"`, mcpadapter.CodeInvalidParams},
		{"project", "resources/templates/list", ``, 0},
		{"project", "resources/read", `"uri":"` + calculator + `"`, 0},
		{"project", "resources/read", `"uri":"skill://calculator/references/table.md"`, 0},
		{"project", "resources/read", `"uri":"skill://calculator/logo.png"`, 0},
		{"project", "resources/read", `"uri":"skill://calculator/none"`, mcpadapter.CodeInvalidParams},
		{"project", "resources/read", `"uri":"skill://calculator/../weather/SKILL.md"`, mcpadapter.CodeInvalidParams},
		{"project", "resources/read", `"uri":"SKILL://calculator/SKILL.md"`, mcpadapter.CodeInvalidParams},
		{"project", "resources/read", `"uri":"skill:announcer"`, mcpadapter.CodeInvalidParams},
		{"project", "resources/read", `"uri":"file:///etc/passwd"`, mcpadapter.CodeInvalidParams},
		{"project", "resources/directory/read", `"uri":"skill://calculator"`, 0},
		{"project", "resources/directory/read", `"uri":"skill://calculator/references"`, 0},
		{"project", "resources/directory/read", `"uri":"` + calculator + `"`, mcpadapter.CodeInvalidParams},
		{"project", "resources/directory/read", `"uri":"skill://calculator","cursor":"5"`, mcpadapter.CodeInvalidParams},
		{"empty", "skills/list", ``, mcpadapter.CodeMethodNotFound},
		{"empty", "skills/get", `"uri":"` + calculator + `"`, mcpadapter.CodeMethodNotFound},
		{"empty", "resources/directory/read", `"uri":"skill://calculator"`, mcpadapter.CodeMethodNotFound},
		{"denied", "skills/list", ``, mcpadapter.CodeInternalError},
		{"denied", "skills/get", `"uri":"` + calculator + `"`, mcpadapter.CodeInternalError},
		{"denied", "resources/list", ``, mcpadapter.CodeInternalError},
		{"denied", "resources/read", `"uri":"` + calculator + `"`, mcpadapter.CodeInternalError},
	})
}
