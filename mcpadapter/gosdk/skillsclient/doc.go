// Package skillsclient lets a Go host use the skills of an MCP server, by the extension
// io.modelcontextprotocol/skills (SEP-2640) and the official Go SDK,
// github.com/modelcontextprotocol/go-sdk.
//
// A [Host] makes the mcp.Client, and a [Server] reads the skills of one session:
//
//	var host skillsclient.Host
//	client, err := host.NewClient(&mcp.Implementation{Name: "me", Version: "1"}, nil)
//	…
//	session, err := client.Connect(ctx, transport, nil)
//	…
//	docs, err := host.Server("docs", session)
//	…
//	catalog, err := toolshelf.New(toolshelf.WithSkillsFS("docs", docs.FS(ctx)))
//
// # Skills beside local skills
//
// [Server.FS] is a layer for toolshelf.WithSkillsFS. The name of a skill in the catalog
// begins with the label of the server: skill://acme/refunds/SKILL.md of the server "docs"
// is docs.acme.refunds. Names of skills contain no dots, so a remote skill neither shadows
// nor replaces a local skill or a skill of another server, and the origin is visible to the
// model. If a local directory has such a name nevertheless, SkillInfo.Shadows reports the
// collision.
//
// # Requests
//
// Nothing reads a file before a caller asks for the file. A list costs skills/list, unless
// the last list is fresh. A list and a search of a catalog use the frontmatter of the
// entries; Catalog.GetSkill, Catalog.ReadSkillFile, Skill.FS and Catalog.Lint read files.
// [Server.FS] has the exact rules.
//
// After the notification list_changed, the next call lists again, and Catalog.OnChange
// reports the change. To hear of changes between calls, add toolshelf.WithFeed, with a feed
// that calls touch when the SDK calls the ResourceListChangedHandler of the
// mcp.ClientOptions.
//
// # Verification
//
// The client verifies the size and the digest of each file, and every field of the
// frontmatter of SKILL.md against the entry. Content that fails is an [Error], and is never
// returned. The client rejects entries with unsafe paths, duplicate files, other servers'
// files, more than 512 files or more than 16 MiB, and entries without digests ("dynamic").
// Every request ends after [Host.Timeout], and lists are bounded: [Server.List] has the
// limits. For HTTP, add [LimitResponses]; the other transports of the SDK bound the bytes of
// a message. With LimitResponses, a response needs at most four times its bytes and 128 MiB
// of memory until the call returns. If a server lies, stalls, closes or changes skills during
// a call, the result is an error. In a catalog, the error affects only the skills of this
// server.
//
// # Security
//
// Digests are not a trust anchor: the server that publishes the content publishes the
// digests too. A skill of a server is untrusted text for a model. The host decides about
// trust, and the specification requires of the host:
//
//   - ask the user before a skill causes the execution of code, and ignore allowed-tools
//     (SkillInfo.AllowedTools) and similar fields until the user has approved the skill;
//   - bind a stored approval to Skill.Server, Skill.URI and the digests of Skill.Files, and
//     ask again if any of them changes; an inner skill needs an approval of its own;
//   - never let a skill of one server read from another server: pass the [Skill] to
//     [Server.ReadFile] of its server, which refuses other skills;
//   - show the user and the model where a skill comes from.
//
// The client writes nothing to disk. A host that copies files to a disk must keep the copies
// away from the directories of local skills.
//
// See https://github.com/toolshelf-go/toolshelf for an overview of the library.
package skillsclient
