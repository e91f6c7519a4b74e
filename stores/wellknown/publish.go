package wellknown

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/client"
)

// NewHandler returns a handler for GET and HEAD requests below /.well-known/agent-skills/: the
// index of the skills of a catalog, and their artifacts. A skill with a SKILL.md alone is the file,
// and a skill with further files is a zip archive.
//
// The handler publishes the skills that the specification of Agent Skills accepts; the command
// toolshelf-lint with the flag -well-known names the others. Each request sees the current files:
// an index costs the cost of ListSkills and of GetSkill for each skill, and reads all files of
// skills with further files. Archives have neither times nor permissions, so equal files have equal
// digests. The program skills 1.7.4 of npm installs all skills of the handler (tried on
// 2026-11-27).
func NewHandler(catalog *toolshelf.Catalog) http.Handler {
	p, mux := publisher{catalog}, http.NewServeMux()
	mux.HandleFunc("GET /.well-known/agent-skills/index.json", p.index)
	mux.HandleFunc("GET /.well-known/agent-skills/{name}/SKILL.md", p.artifact)
	mux.HandleFunc("GET /.well-known/agent-skills/{archive}", p.artifact)
	return mux
}

type publisher struct{ catalog *toolshelf.Catalog }

func (p publisher) index(w http.ResponseWriter, r *http.Request) {
	skills, err := p.catalog.ListSkills(r.Context())
	index := struct {
		Schema string  `json:"$schema"`
		Skills []entry `json:"skills"`
	}{schema, []entry{}}
	for _, info := range skills {
		if e, _, failed := p.skill(r.Context(), info.Name); failed == nil {
			index.Skills = append(index.Skills, e)
		}
	}
	data, failed := json.Marshal(index)
	if err != nil || failed != nil || r.Context().Err() != nil {
		http.Error(w, "the skills cannot be listed", http.StatusInternalServerError)
		return
	}
	serve(w, r, "application/json", data)
}

func (p publisher) artifact(w http.ResponseWriter, r *http.Request) {
	name, packed := strings.CutSuffix(r.PathValue("archive")+r.PathValue("name"), ".zip")
	e, data, err := p.skill(r.Context(), name)
	if err != nil || packed != (e.Type == typeArchive) {
		http.NotFound(w, r)
		return
	}
	serve(w, r, map[string]string{typeFile: "text/markdown; charset=utf-8", typeArchive: "application/zip"}[e.Type], data)
}

// skill returns the entry and the artifact of a skill, or an error if the skill cannot be
// published.
func (p publisher) skill(ctx context.Context, name string) (e entry, data []byte, err error) {
	s, err := p.catalog.GetSkill(ctx, name)
	if err != nil {
		return e, nil, err
	}
	if err := agentmd.ParseSkill(s.Name, s.Raw).Check(client.AgentSkills()); err != nil || s.FilesTruncated {
		return e, nil, fmt.Errorf("the skill cannot be published: %w", err)
	}
	e = entry{Name: s.Name, Type: typeFile, Description: s.Description, URL: s.Name + "/SKILL.md"}
	if data = s.Raw; len(s.Files) > 1 {
		e.Type, e.URL = typeArchive, s.Name+".zip"
		if data, err = p.pack(ctx, s); err != nil {
			return e, nil, err
		}
	}
	e.Digest = digestOf(data)
	return e, data, nil
}

// pack returns a zip archive of the files of a skill.
func (p publisher) pack(ctx context.Context, s toolshelf.Skill) ([]byte, error) {
	var packed bytes.Buffer
	to := zip.NewWriter(&packed)
	for _, file := range s.Files {
		content, err := p.catalog.ReadSkillFile(ctx, s.Name, file.Path)
		if err != nil {
			return nil, err
		}
		w, err := to.CreateHeader(&zip.FileHeader{Name: file.Path, Method: zip.Deflate})
		if err == nil {
			_, err = w.Write(content)
		}
		if err != nil {
			return nil, err
		}
	}
	err := to.Close()
	return packed.Bytes(), err
}

// serve answers with the digest as ETag, so that a client asks again by a conditional request.
func serve(w http.ResponseWriter, r *http.Request, kind string, data []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", `"`+digestOf(data)+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}
