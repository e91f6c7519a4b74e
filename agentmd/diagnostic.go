package agentmd

import (
	"fmt"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// A Diagnostic describes a defect of a file that its author can correct.
//
// The suggestions "write FIELD" and "replace lines 3 to 5 by FIELD" contain a whole field of
// the frontmatter, up to the end of the suggestion. The field replaces the field in Line, or
// the named lines. In a FIELD, "⏎" stands for a line break, in JSON and in all other formats.
type Diagnostic struct {
	Code       DiagnosticCode `json:"code"`                 // kind of defect; does not change between versions
	Severity   Severity       `json:"severity"`             // SeverityError or SeverityWarning
	Path       string         `json:"path"`                 // path of the file; empty in the diagnostics of Parse. A catalog sets the layer as named in the options, and the path below the layer
	Line       int            `json:"line,omitempty"`       // 1-based; 0 means the whole file
	Column     int            `json:"column,omitempty"`     // 1-based, in characters; 0 means the whole line
	Key        string         `json:"key,omitempty"`        // frontmatter key; may be empty
	Message    string         `json:"message"`              // description of the defect, in one line
	Suggestion string         `json:"suggestion,omitempty"` // correction, in one line with ⏎ for a line break; empty if unknown
}

// A Severity is the effect of a defect.
type Severity string

const (
	// SeverityError means that the file is not served as its author wrote it, or
	// that other clients reject the file.
	SeverityError Severity = "error"
	// SeverityWarning means that the file is served as its author wrote it, or that
	// no list shows the file by rule, for example a file in a subdirectory.
	SeverityWarning Severity = "warning"
)

// A DiagnosticCode identifies a kind of defect. Codes do not change between versions. [Parse]
// reports each defect as a warning, because the file can be loaded. The comments of the constants
// state the severity that Lint of package toolshelf reports; the severity in parentheses applies to
// a SKILL.md.
type DiagnosticCode string

// The codes of headers. Package toolshelf has all codes of this package, and the codes of files and
// layers.
const (
	DiagNotUTF8                    DiagnosticCode = "NOT_UTF8"                      // warning (error): the file contains bytes that are not UTF-8
	DiagControlCharacter           DiagnosticCode = "CONTROL_CHARACTER"             // warning (error): the frontmatter contains a control character, such as NUL
	DiagDuplicateKey               DiagnosticCode = "DUPLICATE_KEY"                 // warning (error): the frontmatter contains a key twice
	DiagFrontmatterRecovered       DiagnosticCode = "FRONTMATTER_RECOVERED"         // warning (error): the frontmatter or a value is not valid YAML, or YAML reads text as a comment, and was read as the author meant
	DiagFrontmatterNotAMapping     DiagnosticCode = "FRONTMATTER_NOT_A_MAPPING"     // warning (error): the text between the fences contains no fields and is part of the content
	DiagFrontmatterUnterminated    DiagnosticCode = "FRONTMATTER_UNTERMINATED"      // error: the frontmatter has no closing fence, or is too long, and is part of the content
	DiagFrontmatterRefused         DiagnosticCode = "FRONTMATTER_REFUSED"           // error: the frontmatter is nested too deeply, or is too large after alias expansion
	DiagFrontmatterInvalid         DiagnosticCode = "FRONTMATTER_INVALID"           // error: the frontmatter is invalid TOML or JSON
	DiagFrontmatterAfterBlankLines DiagnosticCode = "FRONTMATTER_AFTER_BLANK_LINES" // warning (error): the frontmatter follows blank lines
	DiagFrontmatterUnknownFence    DiagnosticCode = "FRONTMATTER_UNKNOWN_FENCE"     // error: the first line only resembles a fence, and the fields are part of the content
	DiagFrontmatterValueCut        DiagnosticCode = "FRONTMATTER_VALUE_CUT"         // warning: YAML reads part of a value as a comment, an anchor or a tag
	DiagAllowedToolsUnbalanced     DiagnosticCode = "ALLOWED_TOOLS_UNBALANCED"      // warning: allowed-tools contains unbalanced parentheses
)

// The codes of ParseSkill, ParseCommand and ParseAgent, besides the codes of headers.
const (
	DiagInvisibleCharacter        DiagnosticCode = "INVISIBLE_CHARACTER"          // warning: the text contains characters that a model reads and a person does not see
	DiagNoDescription             DiagnosticCode = "NO_DESCRIPTION"               // warning: the frontmatter of a listed command or agent has no description
	DiagNoText                    DiagnosticCode = "NO_TEXT"                      // warning: the TOML file of a command has no prompt, so the text of the command is empty
	DiagFieldMisspelled           DiagnosticCode = "FIELD_MISSPELLED"             // warning: an unknown key of the frontmatter resembles a known key and has no effect
	DiagHintWithoutPlaceholder    DiagnosticCode = "HINT_WITHOUT_PLACEHOLDER"     // warning: the frontmatter has an argument-hint, and the text has no placeholder
	DiagPlaceholderBeyondHint     DiagnosticCode = "PLACEHOLDER_BEYOND_HINT"      // warning: the number of a placeholder exceeds the number of arguments in the frontmatter
	DiagPlaceholderMiscounted     DiagnosticCode = "PLACEHOLDER_MISCOUNTED"       // warning: a number stands for another argument in the client of the file
	DiagPlaceholderQuoted         DiagnosticCode = "PLACEHOLDER_QUOTED"           // warning: quotes of the author are around a placeholder that the client quotes for the shell
	DiagSkillByteOrderMark        DiagnosticCode = "SKILL_BYTE_ORDER_MARK"        // error: SKILL.md begins with a byte order mark
	DiagSkillFrontmatterMissing   DiagnosticCode = "SKILL_FRONTMATTER_MISSING"    // error: SKILL.md has no frontmatter
	DiagSkillFrontmatterNotYAML   DiagnosticCode = "SKILL_FRONTMATTER_NOT_YAML"   // error: the frontmatter is TOML or JSON, or begins with a line other than "---"
	DiagSkillFenceInField         DiagnosticCode = "SKILL_FENCE_IN_FIELD"         // warning: some clients end the frontmatter at a "---" inside a field; error if they reject the rest
	DiagSkillYAMLFlowStyle        DiagnosticCode = "SKILL_YAML_FLOW_STYLE"        // error: the frontmatter contains a list or mapping in brackets
	DiagSkillYAMLAnchor           DiagnosticCode = "SKILL_YAML_ANCHOR"            // error: the frontmatter contains an anchor or an alias
	DiagSkillYAMLTag              DiagnosticCode = "SKILL_YAML_TAG"               // error: the frontmatter contains a tag
	DiagSkillYAMLTab              DiagnosticCode = "SKILL_YAML_TAB"               // error: the frontmatter contains a tab outside quotes, blocks and comments
	DiagSkillYAMLIndentation      DiagnosticCode = "SKILL_YAML_INDENTATION"       // error: sibling mappings are indented differently
	DiagSkillFieldUnexpected      DiagnosticCode = "SKILL_FIELD_UNEXPECTED"       // error: the specification does not define the field
	DiagSkillNameMissing          DiagnosticCode = "SKILL_NAME_MISSING"           // error: the frontmatter has no name
	DiagSkillNameNotText          DiagnosticCode = "SKILL_NAME_NOT_TEXT"          // error: the name is empty, a list or a mapping
	DiagSkillNameTooLong          DiagnosticCode = "SKILL_NAME_TOO_LONG"          // error: the name is longer than 64 characters; this and the following codes apply to the name after NFKC normalization
	DiagSkillNameNotLowercase     DiagnosticCode = "SKILL_NAME_NOT_LOWERCASE"     // error: the name contains an uppercase letter
	DiagSkillNameHyphenAtEdge     DiagnosticCode = "SKILL_NAME_HYPHEN_AT_EDGE"    // error: the name begins or ends with a hyphen
	DiagSkillNameDoubleHyphen     DiagnosticCode = "SKILL_NAME_DOUBLE_HYPHEN"     // error: the name contains two consecutive hyphens
	DiagSkillNameCharacters       DiagnosticCode = "SKILL_NAME_CHARACTERS"        // error: the name contains a character other than letters, digits and hyphens
	DiagSkillNameNotASCII         DiagnosticCode = "SKILL_NAME_NOT_ASCII"         // warning: the name is valid, but some clients reject its letters outside a to z
	DiagSkillNameMismatch         DiagnosticCode = "SKILL_NAME_MISMATCH"          // error: the name differs from the directory name
	DiagSkillDescriptionMissing   DiagnosticCode = "SKILL_DESCRIPTION_MISSING"    // error: the frontmatter has no description
	DiagSkillDescriptionNotText   DiagnosticCode = "SKILL_DESCRIPTION_NOT_TEXT"   // error: the description is empty, a list or a mapping
	DiagSkillDescriptionTooLong   DiagnosticCode = "SKILL_DESCRIPTION_TOO_LONG"   // error: the description is longer than 1,024 characters
	DiagSkillCompatibilityNotText DiagnosticCode = "SKILL_COMPATIBILITY_NOT_TEXT" // error: the compatibility is a list or a mapping
	DiagSkillCompatibilityTooLong DiagnosticCode = "SKILL_COMPATIBILITY_TOO_LONG" // error: the compatibility is longer than 500 characters
	DiagSkillMetadataNotAMapping  DiagnosticCode = "SKILL_METADATA_NOT_A_MAPPING" // warning: the metadata is a text or a list
	DiagInvalidAgentName          DiagnosticCode = "INVALID_AGENT_NAME"           // error: the name of a file or directory, or in the frontmatter, is not a safe path element
	DiagToolRuleInvalid           DiagnosticCode = "TOOL_RULE_INVALID"            // warning: a rule in tools or disallowedTools cannot be read
	DiagFieldMissing              DiagnosticCode = "FIELD_MISSING"                // error: the client rejects a file without the field; an agent of a plugin needs no name
	DiagFieldTooLong              DiagnosticCode = "FIELD_TOO_LONG"               // error: the client rejects a longer text
	DiagDescriptionCut            DiagnosticCode = "DESCRIPTION_CUT"              // warning: the client shows a model only the beginning of the description
)

// String returns the diagnostic in the format of compilers:
// "path:line:column: severity: message; suggestion [CODE]". String omits an empty
// path, a line or column of 0, and an empty suggestion.
func (d Diagnostic) String() string {
	var b strings.Builder
	b.WriteString(d.Path)
	for _, n := range []int{d.Line, d.Column} {
		if n > 0 {
			fmt.Fprintf(&b, ":%d", n)
		}
	}
	fmt.Fprintf(&b, ": %s: %s", d.Severity, d.Message)
	if d.Suggestion != "" {
		b.WriteString("; " + d.Suggestion)
	}
	fmt.Fprintf(&b, " [%s]", d.Code)
	return strings.TrimLeft(b.String(), ": ") // without a path
}

// NewDiagnostic returns the Diagnostic of a problem. Only the packages of this module can call
// NewDiagnostic; [Parse] returns diagnostics.
func NewDiagnostic(p problem.Problem) Diagnostic {
	return Diagnostic{
		Code:       DiagnosticCode(p.Code),
		Severity:   Severity(p.Severity),
		Path:       p.Path,
		Line:       p.Line,
		Column:     p.Column,
		Key:        p.Key,
		Message:    p.Message,
		Suggestion: p.Suggestion,
	}
}
