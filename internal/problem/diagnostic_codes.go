package problem

// Codes of problems of all files.
const (
	DirectoryNotFound          Code = "DIRECTORY_NOT_FOUND"
	FilesystemTopEmpty         Code = "FILESYSTEM_TOP_EMPTY"
	FileRead                   Code = "FILE_READ_ERROR"
	FileTooLarge               Code = "FILE_TOO_LARGE"
	LinkNotFollowed            Code = "LINK_NOT_FOLLOWED"
	DirectoryUnreadable        Code = "FOLDER_UNREADABLE"
	DirectoryOfOtherUser       Code = "DIRECTORY_OF_OTHER_USER"
	NotAFile                   Code = "NOT_A_FILE"
	Shadowed                   Code = "SHADOWED"
	NameDiffersInCase          Code = "NAME_DIFFERS_IN_CASE"
	NotUTF8                    Code = "NOT_UTF8"
	ControlCharacter           Code = "CONTROL_CHARACTER"
	InvisibleCharacter         Code = "INVISIBLE_CHARACTER"
	DuplicateKey               Code = "DUPLICATE_KEY"
	FrontmatterRecovered       Code = "FRONTMATTER_RECOVERED"
	FrontmatterNotAMapping     Code = "FRONTMATTER_NOT_A_MAPPING"
	FrontmatterUnterminated    Code = "FRONTMATTER_UNTERMINATED"
	FrontmatterRefused         Code = "FRONTMATTER_REFUSED"
	FrontmatterInvalid         Code = "FRONTMATTER_INVALID"
	FrontmatterAfterBlankLines Code = "FRONTMATTER_AFTER_BLANK_LINES"
	FrontmatterUnknownFence    Code = "FRONTMATTER_UNKNOWN_FENCE"
	FrontmatterValueCut        Code = "FRONTMATTER_VALUE_CUT"
	FrontmatterRequired        Code = "FRONTMATTER_REQUIRED"
	FrontmatterNotKept         Code = "FRONTMATTER_NOT_KEPT"
	AllowedToolsUnbalanced     Code = "ALLOWED_TOOLS_UNBALANCED"
)

// Codes of problems of commands.
const (
	InvalidCommandName     Code = "INVALID_COMMAND_NAME"
	TooDeep                Code = "TOO_DEEP"
	SubdirectoryNotRead    Code = "SUBDIRECTORY_NOT_READ"
	ExtensionNotRead       Code = "EXTENSION_NOT_READ"
	NoDescription          Code = "NO_DESCRIPTION"
	NoText                 Code = "NO_TEXT"
	ReferenceNotFound      Code = "REFERENCE_NOT_FOUND"
	FieldMisspelled        Code = "FIELD_MISSPELLED"
	HintWithoutPlaceholder Code = "HINT_WITHOUT_PLACEHOLDER"
	PlaceholderBeyondHint  Code = "PLACEHOLDER_BEYOND_HINT"
	PlaceholderMiscounted  Code = "PLACEHOLDER_MISCOUNTED"
	PlaceholderQuoted      Code = "PLACEHOLDER_QUOTED"
)

// Codes of the rules of a client for all files.
const (
	FieldMissing   Code = "FIELD_MISSING"
	FieldTooLong   Code = "FIELD_TOO_LONG"
	DescriptionCut Code = "DESCRIPTION_CUT"
)

// Codes of problems of agents.
const (
	InvalidAgentName Code = "INVALID_AGENT_NAME"
	ToolRuleInvalid  Code = "TOOL_RULE_INVALID"
)

// Codes of problems of instructions.
const (
	InvalidRuleName   Code = "INVALID_RULE_NAME"
	RuleGlobInvalid   Code = "RULE_GLOB_INVALID"
	ImportNotFollowed Code = "IMPORT_NOT_FOLLOWED"
	ImportCycle       Code = "IMPORT_CYCLE"
	InstructionCut    Code = "INSTRUCTION_CUT"
)

// Codes of problems of skills.
const (
	InvalidSkillName          Code = "INVALID_SKILL_NAME"
	TooManyDirectories        Code = "TOO_MANY_FOLDERS"
	TooManyFiles              Code = "TOO_MANY_FILES"
	SkillFileMissing          Code = "SKILL_FILE_MISSING"
	SkillNotADirectory        Code = "SKILL_NOT_A_DIRECTORY"
	SkillFileUnused           Code = "SKILL_FILE_UNUSED"
	SkillByteOrderMark        Code = "SKILL_BYTE_ORDER_MARK"
	SkillFrontmatterMissing   Code = "SKILL_FRONTMATTER_MISSING"
	SkillFrontmatterNotYAML   Code = "SKILL_FRONTMATTER_NOT_YAML"
	SkillFenceInField         Code = "SKILL_FENCE_IN_FIELD"
	SkillYAMLFlowStyle        Code = "SKILL_YAML_FLOW_STYLE"
	SkillYAMLAnchor           Code = "SKILL_YAML_ANCHOR"
	SkillYAMLTag              Code = "SKILL_YAML_TAG"
	SkillYAMLTab              Code = "SKILL_YAML_TAB"
	SkillYAMLIndentation      Code = "SKILL_YAML_INDENTATION"
	SkillFieldUnexpected      Code = "SKILL_FIELD_UNEXPECTED"
	SkillNameMissing          Code = "SKILL_NAME_MISSING"
	SkillNameNotText          Code = "SKILL_NAME_NOT_TEXT"
	SkillNameTooLong          Code = "SKILL_NAME_TOO_LONG"
	SkillNameNotLowercase     Code = "SKILL_NAME_NOT_LOWERCASE"
	SkillNameHyphenAtEdge     Code = "SKILL_NAME_HYPHEN_AT_EDGE"
	SkillNameDoubleHyphen     Code = "SKILL_NAME_DOUBLE_HYPHEN"
	SkillNameCharacters       Code = "SKILL_NAME_CHARACTERS"
	SkillNameMismatch         Code = "SKILL_NAME_MISMATCH"
	SkillNameNotASCII         Code = "SKILL_NAME_NOT_ASCII"
	SkillDescriptionMissing   Code = "SKILL_DESCRIPTION_MISSING"
	SkillDescriptionNotText   Code = "SKILL_DESCRIPTION_NOT_TEXT"
	SkillDescriptionTooLong   Code = "SKILL_DESCRIPTION_TOO_LONG"
	SkillCompatibilityNotText Code = "SKILL_COMPATIBILITY_NOT_TEXT"
	SkillCompatibilityTooLong Code = "SKILL_COMPATIBILITY_TOO_LONG"
	SkillMetadataNotAMapping  Code = "SKILL_METADATA_NOT_A_MAPPING"
)

// Codes of problems of plugins.
const (
	PluginInvalid      Code = "PLUGIN_INVALID"
	PluginFieldIgnored Code = "PLUGIN_FIELD_IGNORED"
	PluginPathInvalid  Code = "PLUGIN_PATH_INVALID"
)

// Codes of problems of MCP servers.
const (
	ServerInvalid      Code = "SERVER_INVALID"
	ServerFieldIgnored Code = "SERVER_FIELD_IGNORED"
	ServerSecret       Code = "SERVER_SECRET"
	ServerUnpinned     Code = "SERVER_UNPINNED"
	ServerInsecure     Code = "SERVER_INSECURE"
	ServerVariable     Code = "SERVER_VARIABLE"
)

// Codes of the parts of a file that a person has to see before an approval.
const (
	RunsCommand Code = "RUNS_COMMAND"
	AllowsTools Code = "ALLOWS_TOOLS"
	URL         Code = "URL"
	Script      Code = "SCRIPT"

	UncoveredFiles Code = "UNCOVERED_FILES"
)
