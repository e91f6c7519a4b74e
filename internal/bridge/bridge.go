// Package bridge gives package mcpadapter the methods and options of a catalog that serve only its
// tools and the Model Context Protocol: lists of prompts, the places and the digests of skills, the
// tools to offer, and paths and lists for a model. The linter shows the same paths.
//
// The methods are not exported by package toolshelf, because a program gets their results from an
// adapter, and each exported method is a promise. The package knows no type of package toolshelf;
// type parameters stand for these types.
package bridge

import (
	"context"
	"iter"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/template"
	"github.com/toolshelf-go/toolshelf/internal/usage"
)

// Package toolshelf sets these functions.
var (
	Open         func(catalog any) any // returns the Catalog of a *toolshelf.Catalog
	ForModel     func(catalog any) any // returns the *toolshelf.Catalog of the skills that a model may see, which ends with Close of a *toolshelf.Catalog
	WithMaxReads func(n int) any       // returns a toolshelf.Option: a call reads at most n files of a slow filesystem at the same time; for tests

	// WithElements is a toolshelf.PromptOption: a budget drops an entry instead of the description
	// alone.
	WithElements any

	// WithoutSizes is a toolshelf.DirOption that omits the sizes and times of the entries: Size is
	// -1 for files, Modified is zero, and the text has no sizes. In the order ByName, the method
	// does not read the metadata of files and directories, and saves a system call for each.
	// Vanished then does not count the entries that are removed during the call. Other orders read
	// the metadata. Accepted by ListDir and Tree.
	WithoutSizes any
)

// Of returns the bridge to a *toolshelf.Catalog. Skill is toolshelf.SkillInfo, and File is
// toolshelf.SkillFile.
func Of[Skill, File any](catalog any) Catalog[Skill, File] {
	return Open(catalog).(Catalog[Skill, File])
}

// Catalog has the methods of a catalog for package mcpadapter.
type Catalog[Skill, File any] interface {
	// Prompting returns a Catalog whose methods Invocable, ListUsage and Invoked have no commands
	// or no skills. A skill that the methods do not have hides no command.
	Prompting(commands, skills bool) Catalog[Skill, File]

	// Invocable returns the entries that a user may invoke. Missing directories are empty, unless
	// the directories of the commands and of the skills are missing. The other errors are those of
	// List and ListSkills.
	Invocable(ctx context.Context) (Invocable, error)

	// ListUsage returns a page of the entries of Invocable, the commands before the skills, with
	// the arguments of each entry: the result of Renderer.Listed by rules, or by the rules of the
	// layer of each entry. The size has no maximum; 0 is the default.
	//
	// A slow file does not delay other files. ListUsage reads 1,000 files of a page concurrently.
	// If no read completes for half a second, ListUsage returns the remaining entries without
	// arguments, and their reads continue. Later calls do not wait for these reads, and return the
	// arguments after the reads complete.
	//
	// ListUsage returns the errors of Invocable. In addition to the cost of List and ListSkills,
	// ListUsage reads the files that are new or have changed, at most 64 KiB of each. ListUsage
	// caches up to 16 MiB of arguments of each kind. On a filesystem without change times,
	// ListUsage reads all files of the page, and parses the changed files only.
	ListUsage(ctx context.Context, size int, cursor string, rules *client.Rules) (UsageList, error)

	// Invoked returns the toolshelf.Skill or the toolshelf.Command that a user invokes by a name:
	// the skill of GetSkill if a user may invoke the skill, or else the command of Get, unless the
	// command is a dependency. The errors are those of Get.
	Invoked(ctx context.Context, name string) (any, error)

	// SkillLayers returns the names of the layers of skills, as given to the options, in order of
	// precedence. A missing directory that no option names is omitted, and after Close every such
	// directory. SkillLayers stats the directories that no option names.
	SkillLayers() []string

	// SkillSubdir returns the directory of a listed skill below its layer, with slashes, as in
	// "tools/pdf". For a skill that is the layer itself, SkillSubdir returns ".". For a skill
	// without a SKILL.md, or of another catalog, SkillSubdir returns "". SkillSubdir reads nothing,
	// and works after Close.
	SkillSubdir(s Skill) string

	// SkillManifests ranges over the manifests of skills. SkillManifests lists the skills, as
	// ListSkills does, and calls choose with the list. choose returns the names of the skills whose
	// manifests follow, in this order. A nil choose chooses all skills that can be loaded.
	//
	// Each manifest is computed when the range reaches the manifest. A file without a digest, such as
	// a file beyond WithMaxFileSize, has a diagnostic. Catalog.GetSkill describes the files.
	//
	// If a skill cannot be read, SkillManifests yields the error of GetSkill with a manifest that
	// contains only the name, and continues with the next name. If the skills cannot be listed, or
	// when ctx ends, SkillManifests yields the error once with a zero Manifest, and ends the range.
	//
	// A range costs as much as one call of ListSkills. Each manifest also costs two reads of each
	// directory of the skill and two stats of each file. SkillManifests reads a file only if the
	// cache has no digest of the file, and SKILL.md also if the list of skills does not contain its
	// current frontmatter.
	SkillManifests(ctx context.Context, choose func(skills []Skill) (names []string)) iter.Seq2[Manifest[Skill, File], error]

	// Root returns the full path of the root on the catalog's filesystem. On the operating system's
	// filesystem the path is absolute, and symbolic links in the path are not resolved. Root reads
	// nothing, and works after Close.
	Root() string

	// RelativePath converts the full path of a file to a path without directories of the host. For
	// a file below the root, the result is relative to the root, with slashes. For a layer outside
	// the root, the result is the name of the layer and the path below the layer.
	//
	// For a Command, pass Layer and Metadata.Path. For a SkillInfo and an AgentInfo, pass Layer and
	// Path. For a SavedReport or a ReportInfo, pass the layer "" and Path. RelativePath returns any
	// other path unchanged. RelativePath reads nothing, and works after Close.
	RelativePath(layer, full string) string

	// Configured reports whether the catalog has layers of commands, of skills and of agents, with
	// or without a directory, whether WithInstructions names a client, and which directories
	// WithReports names: the shared directory, for reports with Upload, and the local directory,
	// for all others. A catalog has no layers of commands if WithCommandsDir names no directory and
	// no other option adds a layer.
	Configured() (commands, skills, agents, instructions, shared, local bool)
}

// A Usage describes a command or a skill that a user may invoke, and the arguments that the entry
// expects.
type Usage struct {
	Name        string
	Description string

	// Arguments is nil if the entry expects no arguments, if the file cannot be read, or if the
	// read takes too long.
	Arguments []template.Parameter
}

// A UsageList is one page of entries with their arguments.
type UsageList struct {
	Rows       []Usage
	NextCursor string

	Invocable // of all pages
}

// Invocable has the commands and the skills of a catalog for a user.
type Invocable = usage.Invocable

// The limits of the digests in a Manifest. The specification of skills over the Model Context
// Protocol (SEP-2640) has the same limits.
const (
	MaxManifestFiles = 512      // files of a skill
	MaxManifestBytes = 16 << 20 // sum of the sizes of the files, in bytes
)

// A Manifest lists the files of a skill, with their digests and the frontmatter of SKILL.md. All
// parts describe one state of the skill's directory, as far as the filesystem reports changes.
type Manifest[Skill, File any] struct {
	Skill     Skill
	Files     []File   // the files of Skill.Files; if the skill is within the limits, with their digests
	Dirs      []string // the subdirectories that contain Files and the empty subdirectories, relative to the skill's directory, with slashes and sorted
	Truncated bool     // Files is incomplete; see Skill.FilesTruncated
	Bytes     int64    // sum of the sizes of Files
}

// Oversized reports whether the skill exceeds MaxManifestFiles or MaxManifestBytes, or whether
// Files is incomplete. The files of an oversized skill have no digests.
func (m Manifest[Skill, File]) Oversized() bool {
	return m.Truncated || len(m.Files) > MaxManifestFiles || m.Bytes > MaxManifestBytes
}
