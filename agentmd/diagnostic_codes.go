package agentmd

// Codes of commands and skills. [Parse], [ParseSkill], [ParseCommand] and [ParseAgent] report codes of
// texts only; the other codes are those of a catalog.
const (
	DiagDirectoryNotFound          DiagnosticCode = "DIRECTORY_NOT_FOUND"           // warning: none of the directories given to the program exists, or a directory of plugins is missing
	DiagFilesystemTopEmpty         DiagnosticCode = "FILESYSTEM_TOP_EMPTY"          // warning: the commands or skills are in a directory, not at the top, of a filesystem that the program passes
	DiagFileRead                   DiagnosticCode = "FILE_READ_ERROR"               // error: the file cannot be read; warning for another file or subdirectory of a skill
	DiagFileTooLarge               DiagnosticCode = "FILE_TOO_LARGE"                // error: the file is larger than the program allows
	DiagLinkNotFollowed            DiagnosticCode = "LINK_NOT_FOLLOWED"             // error: a symbolic link is broken, not allowed, or leads outside the root; warning for a cycle or a link below a skill
	DiagDirectoryUnreadable        DiagnosticCode = "FOLDER_UNREADABLE"             // error: a subdirectory cannot be read; warning for a directory in the home directory or above the root
	DiagDirectoryOfOtherUser       DiagnosticCode = "DIRECTORY_OF_OTHER_USER"       // warning: a directory above the project belongs to another user and is not read
	DiagNotAFile                   DiagnosticCode = "NOT_A_FILE"                    // warning: a directory has the name of a command, or a pipe or device is in a skill
	DiagShadowed                   DiagnosticCode = "SHADOWED"                      // warning: another file with the same name, or another instruction file of the directory, has precedence
	DiagNameDiffersInCase          DiagnosticCode = "NAME_DIFFERS_IN_CASE"          // warning: two names differ only in letter case
	DiagNotUTF8                    DiagnosticCode = "NOT_UTF8"                      // warning (error): the file contains bytes that are not UTF-8
	DiagControlCharacter           DiagnosticCode = "CONTROL_CHARACTER"             // warning (error): the frontmatter contains a control character, such as NUL
	DiagInvisibleCharacter         DiagnosticCode = "INVISIBLE_CHARACTER"           // warning: the text contains characters that a model reads and a person does not see
	DiagDuplicateKey               DiagnosticCode = "DUPLICATE_KEY"                 // warning (error): the frontmatter contains a key twice
	DiagFrontmatterRecovered       DiagnosticCode = "FRONTMATTER_RECOVERED"         // warning (error): the frontmatter or a value is not valid YAML, or YAML reads text as a comment, and was read as the author meant
	DiagFrontmatterNotAMapping     DiagnosticCode = "FRONTMATTER_NOT_A_MAPPING"     // warning (error): the text between the fences contains no fields and is part of the content
	DiagFrontmatterUnterminated    DiagnosticCode = "FRONTMATTER_UNTERMINATED"      // error: the frontmatter has no closing fence, or is too long, and is part of the content
	DiagFrontmatterRefused         DiagnosticCode = "FRONTMATTER_REFUSED"           // error: the frontmatter is nested too deeply, or is too large after alias expansion
	DiagFrontmatterInvalid         DiagnosticCode = "FRONTMATTER_INVALID"           // error: the frontmatter is invalid TOML or JSON
	DiagFrontmatterAfterBlankLines DiagnosticCode = "FRONTMATTER_AFTER_BLANK_LINES" // warning (error): the frontmatter follows blank lines
	DiagFrontmatterUnknownFence    DiagnosticCode = "FRONTMATTER_UNKNOWN_FENCE"     // error: the first line only resembles a fence, and the fields are part of the content
	DiagFrontmatterValueCut        DiagnosticCode = "FRONTMATTER_VALUE_CUT"         // warning: YAML reads part of a value as a comment, an anchor or a tag
	DiagFrontmatterRequired        DiagnosticCode = "FRONTMATTER_REQUIRED"          // warning: the file lacks the name or the description that makes the file a command, a skill or an agent, and is not listed
	DiagFrontmatterNotKept         DiagnosticCode = "FRONTMATTER_NOT_KEPT"          // warning: lists omit part of the frontmatter, because the large frontmatters of the catalog exceed 32 MiB
	DiagAllowedToolsUnbalanced     DiagnosticCode = "ALLOWED_TOOLS_UNBALANCED"      // warning: allowed-tools contains unbalanced parentheses
)

// Codes of commands.
const (
	DiagInvalidCommandName     DiagnosticCode = "INVALID_COMMAND_NAME"     // error: the name of the file or directory is not a valid command name
	DiagTooDeep                DiagnosticCode = "TOO_DEEP"                 // warning: a directory is nested too deeply and is not scanned
	DiagSubdirectoryNotRead    DiagnosticCode = "SUBDIRECTORY_NOT_READ"    // warning: Markdown files are in a subdirectory, and the program reads no subdirectories
	DiagExtensionNotRead       DiagnosticCode = "EXTENSION_NOT_READ"       // warning: a file resembles a command and does not end in .md
	DiagNoDescription          DiagnosticCode = "NO_DESCRIPTION"           // warning: the frontmatter of a listed command or agent has no description
	DiagNoText                 DiagnosticCode = "NO_TEXT"                  // warning: the TOML file of a command has no prompt, so the text of the command is empty
	DiagReferenceNotFound      DiagnosticCode = "REFERENCE_NOT_FOUND"      // warning: the content refers to a command or a linked file that does not exist
	DiagFieldMisspelled        DiagnosticCode = "FIELD_MISSPELLED"         // warning: an unknown key of the frontmatter resembles a known key and has no effect
	DiagHintWithoutPlaceholder DiagnosticCode = "HINT_WITHOUT_PLACEHOLDER" // warning: the frontmatter has an argument-hint, and the text has no placeholder
	DiagPlaceholderBeyondHint  DiagnosticCode = "PLACEHOLDER_BEYOND_HINT"  // warning: the number of a placeholder exceeds the number of arguments in the frontmatter
	DiagPlaceholderMiscounted  DiagnosticCode = "PLACEHOLDER_MISCOUNTED"   // warning: a number stands for another argument in the client of the file
	DiagPlaceholderQuoted      DiagnosticCode = "PLACEHOLDER_QUOTED"       // warning: quotes of the author are around a placeholder that the client quotes for the shell
)

// Codes of agents.
const (
	DiagInvalidAgentName DiagnosticCode = "INVALID_AGENT_NAME" // error: the name of a file or directory, or in the frontmatter, is not a safe path element
	DiagToolRuleInvalid  DiagnosticCode = "TOOL_RULE_INVALID"  // warning: a rule in tools or disallowedTools cannot be read
)

// Codes of instructions.
const (
	DiagInvalidRuleName   DiagnosticCode = "INVALID_RULE_NAME"   // error: the name of a file or directory of rules is not a safe path element
	DiagRuleGlobInvalid   DiagnosticCode = "RULE_GLOB_INVALID"   // warning: a glob of a rule is malformed or leads outside, or the globs are missing, and the rule matches no file; error: the globs of the rules of a call take too many steps
	DiagImportNotFollowed DiagnosticCode = "IMPORT_NOT_FOLLOWED" // warning: an import leads nowhere, leads outside, or exceeds a limit, and stays as text
	DiagImportCycle       DiagnosticCode = "IMPORT_CYCLE"        // warning: an import leads to a file that contains the import, and stays as text
	DiagInstructionCut    DiagnosticCode = "INSTRUCTION_CUT"     // warning: the instructions of the project exceed the limit of the client, which reads only their beginning
)

// Codes of skills.
const (
	DiagInvalidSkillName          DiagnosticCode = "INVALID_SKILL_NAME"           // error: the directory name is not a safe path element
	DiagTooManyDirectories        DiagnosticCode = "TOO_MANY_FOLDERS"             // warning: a directory of skills has too many subdirectories, and some are not searched for skills
	DiagTooManyFiles              DiagnosticCode = "TOO_MANY_FILES"               // warning: the list of the skill's files is truncated, or a project has too many instruction files
	DiagSkillFileMissing          DiagnosticCode = "SKILL_FILE_MISSING"           // error: the directory has no SKILL.md; warning for skills one directory deeper
	DiagSkillNotADirectory        DiagnosticCode = "SKILL_NOT_A_DIRECTORY"        // warning: a Markdown file with the frontmatter of a skill is not in a directory of its own
	DiagSkillFileUnused           DiagnosticCode = "SKILL_FILE_UNUSED"            // warning: a SKILL.md beside the directories of skills is unused
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
)

// Codes of the rules of a client for commands, skills and agents; see [LintFor].
const (
	DiagFieldMissing   DiagnosticCode = "FIELD_MISSING"   // error: the client rejects a file without the field; an agent of a plugin needs no name
	DiagFieldTooLong   DiagnosticCode = "FIELD_TOO_LONG"  // error: the client rejects a longer text
	DiagDescriptionCut DiagnosticCode = "DESCRIPTION_CUT" // warning: the client shows a model only the beginning of the description
)

// Codes of plugins and of MCP servers.
const (
	DiagPluginInvalid      DiagnosticCode = "PLUGIN_INVALID"       // error: a marketplace, an entry of a marketplace, or a manifest is not valid, and the plugin is not listed
	DiagPluginFieldIgnored DiagnosticCode = "PLUGIN_FIELD_IGNORED" // warning: a field of a manifest, or a manifest of an unknown format, has no effect
	DiagPluginPathInvalid  DiagnosticCode = "PLUGIN_PATH_INVALID"  // error: a path of a manifest or of a marketplace leads outside, or to a file instead of a directory, or to a plugin that cannot be read; warning for a declared path that does not exist

	DiagServerInvalid      DiagnosticCode = "SERVER_INVALID"       // error: the client cannot use the file or the entry of an MCP server, and the server is not listed
	DiagServerFieldIgnored DiagnosticCode = "SERVER_FIELD_IGNORED" // warning: a field of an MCP server has no effect in the client
	DiagServerSecret       DiagnosticCode = "SERVER_SECRET"        // warning: a text of an MCP server looks like a secret
	DiagServerUnpinned     DiagnosticCode = "SERVER_UNPINNED"      // warning: a package runner starts an MCP server in a version that can change
	DiagServerInsecure     DiagnosticCode = "SERVER_INSECURE"      // warning: the URL of an MCP server on another computer has no encryption
)

// Codes of Pending.Findings. No method of a list and no Lint reports the codes.
const (
	DiagRunsCommand DiagnosticCode = "RUNS_COMMAND" // warning: some clients run a shell command of the text, or the programs of a field such as hooks
	DiagAllowsTools DiagnosticCode = "ALLOWS_TOOLS" // warning: a field grants tools
	DiagURL         DiagnosticCode = "URL"          // warning: the text has URLs
	DiagScript      DiagnosticCode = "SCRIPT"       // warning: a file of a skill is a program

	DiagUncoveredFiles DiagnosticCode = "UNCOVERED_FILES" // warning: a skill has a directory such as node_modules, or an MCP server names or loads files, which no approval covers

	DiagServerVariable DiagnosticCode = "SERVER_VARIABLE" // warning: the command line, the directory or the URL of an MCP server gets a value after the approval
)
