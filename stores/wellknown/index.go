package wellknown

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"sync"

	"github.com/toolshelf-go/toolshelf/internal/archive"
	"github.com/toolshelf-go/toolshelf/internal/filetree"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
)

// schema is the only known value of $schema.
const schema = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"

const typeFile, typeArchive = "skill-md", "archive" // of artifacts

// atOnce is the number of artifacts that a store requests at the same time.
const atOnce = 8

// An entry is a skill of an index.
type entry struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description"`
	URL         string `json:"url"`
	Digest      string `json:"digest"`
	Version     string `json:"version,omitempty"`
}

// A skill has the verified files of an artifact, by path.
type skill struct {
	digest string
	files  map[string][]byte
	size   int64
}

var digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// parse reads an index. An entry that cannot be used is a problem.
func parse(data []byte, limit int) (entries []entry, problems []Problem, err error) {
	var index struct {
		Schema string            `json:"$schema"`
		Skills []json.RawMessage `json:"skills"`
	}
	if err := json.Unmarshal(data, &index); err != nil {
		return nil, nil, fmt.Errorf("the index is not valid JSON: %w", err)
	}
	if index.Schema != schema {
		return nil, nil, fmt.Errorf("the index has the schema %.200q; only %s is known", index.Schema, schema)
	}
	if len(index.Skills) > limit {
		return nil, nil, fmt.Errorf("the index has %d skills, more than Options.MaxSkills (%d)", len(index.Skills), limit)
	}
	seen := map[string]bool{}
	for _, raw := range index.Skills {
		var e entry
		problem := ""
		switch err := json.Unmarshal(raw, &e); {
		case err != nil:
			problem = "the entry is not valid: " + err.Error()
		case !names.Loose(e.Name) || len(e.Name) > 255 || e.Name == "node_modules":
			problem = "the name is not a name of a directory of skills"
		case seen[e.Name]:
			problem = "the index lists the name twice; the first entry counts"
		case e.Type != typeFile && e.Type != typeArchive:
			problem = fmt.Sprintf("the type %.100q is unknown", e.Type)
		case !digestForm.MatchString(e.Digest):
			problem = `the digest is not "sha256:" and 64 lowercase hexadecimal digits`
		case e.URL == "":
			problem = "the entry has no url"
		}
		if problem != "" {
			problems = append(problems, Problem{fmt.Sprintf("%.255s", e.Name), problem})
			continue
		}
		seen[e.Name] = true
		entries = append(entries, e)
	}
	return entries, problems, nil
}

// load fills the skills of an index. The end of ctx is the only error; other errors lose a skill.
func (s *Store) load(ctx context.Context, next *published, online bool) error {
	next.skills, next.lost = map[string]*skill{}, map[string]error{}
	var mu sync.Mutex
	left := s.opts.MaxSize
	err := parallel.Do(ctx, atOnce, len(next.entries), func(i int) error {
		e := next.entries[i]
		found, err := s.skill(ctx, e, online)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		mu.Lock()
		defer mu.Unlock()
		if err == nil && found.size > left {
			err = fmt.Errorf("the skills have more than Options.MaxSize (%d bytes)", s.opts.MaxSize)
		}
		if err != nil {
			next.lost[e.Name] = err
			return nil
		}
		left -= found.size
		next.skills[e.Name] = found
		return nil
	})
	for _, name := range slices.Sorted(maps.Keys(next.lost)) {
		next.problems = append(next.problems, Problem{name, next.lost[name].Error()})
	}
	return err
}

// skill returns the verified files of an entry.
func (s *Store) skill(ctx context.Context, e entry, online bool) (*skill, error) {
	if s.now != nil {
		if kept := s.now.skills[e.Name]; kept != nil && kept.digest == e.Type+e.Digest {
			return kept, nil
		}
	}
	data, cached := s.cache.artifact(e.Digest, s.opts.MaxArtifact)
	if !cached {
		err := errors.New("the cache does not have the artifact; call Refresh")
		if online {
			data, err = s.fetch(ctx, e)
		}
		if err != nil {
			return nil, err
		}
		if digest := digestOf(data); digest != e.Digest {
			return nil, fmt.Errorf("the artifact has the digest %s, and the index has %s", digest, e.Digest)
		}
	}
	files, size, err := s.unpack(e, data)
	if err != nil {
		return nil, err
	}
	if !cached {
		s.cache.write(fileOf(e.Digest), data)
	}
	return &skill{e.Type + e.Digest, files, size}, nil
}

// unpack returns the files of a verified artifact, within the limit of a skill.
func (s *Store) unpack(e entry, data []byte) (files map[string][]byte, size int64, err error) {
	if e.Type == typeFile {
		return map[string][]byte{"SKILL.md": data}, int64(len(data)), nil
	}
	packed, err := archive.Open(data, s.opts.MaxUnpacked)
	if err != nil {
		return nil, 0, fmt.Errorf("the archive cannot be used: %w", err)
	}
	files = map[string][]byte{}
	err = fs.WalkDir(packed, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		file, err := packed.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		content, err := io.ReadAll(io.LimitReader(file, s.opts.MaxUnpacked-size+1))
		if size += filetree.Entry + int64(len(name)+len(content)); err == nil && size > s.opts.MaxUnpacked {
			err = fmt.Errorf("the files have more than Options.MaxUnpacked (%d bytes)", s.opts.MaxUnpacked)
		}
		files[name] = content
		return err
	})
	if err == nil && files["SKILL.md"] == nil {
		err = errors.New("the archive has no SKILL.md at the top")
	}
	return files, size, err
}

// content returns a function that returns the bytes of a file, or an error.
func content(data []byte, err error) func(context.Context) (io.ReaderAt, error) {
	return func(context.Context) (io.ReaderAt, error) { return bytes.NewReader(data), err }
}
