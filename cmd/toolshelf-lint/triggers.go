package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf"
	table "github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/rank"
)

// The flag -triggers ranks the requests of users by the words of the names and descriptions of
// skills, as far as a model sees them before it chooses a skill. A model also understands other
// words, so a good rank is no promise, and a bad rank a reason to look.

// requests are the requests of the file of -triggers.
type requests struct {
	file string
	all  []request
}

func readRequests(file string) (*requests, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	all, err := parseRequests(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", displayed(file), err)
	}
	return &requests{file, all}, nil
}

// check adds the findings of the requests to the result of a directory.
func (r *requests) check(
	ctx context.Context, catalog *toolshelf.Catalog, dir string, c client, checked *result,
) error {
	full, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	var skills []candidate
	for s, err := range catalog.Skills(ctx) {
		if err != nil && toolshelf.CodeOf(err) != toolshelf.CodeDirectoryNotFound {
			return err
		}
		shows := s.Exposure == toolshelf.ExposeFull || s.Exposure == toolshelf.ExposeName
		if err != nil || !s.Loadable || !shows {
			continue // no model sees the skill
		}
		shown := candidate{Name: s.Name, Content: s.Content, Path: encodePath(displayed(s.Path))}
		if below, err := filepath.Rel(full, s.Path); err == nil && filepath.IsLocal(below) {
			shown.Path = encodePath(path.Join(displayed(dir), filepath.ToSlash(below)))
		}
		if s.Exposure == toolshelf.ExposeFull {
			shown.Description = strings.TrimSpace(s.Description + " " + s.Frontmatter.Text("when_to_use"))
		}
		skills = append(skills, shown)
	}
	found, first, err := rankRequests(ctx, skills, encodePath(displayed(r.file)), r.all, c.cuts())
	checked.diagnostics = append(checked.diagnostics, found...)
	checked.requests, checked.first = len(r.all), first
	return err
}

// cuts returns the beginnings of descriptions that the client shows a model, or without a client
// all clients.
func (c client) cuts() (all []cut) {
	rows := []table.Client{c.Client}
	if c.Name == "" {
		rows = table.All()
	}
	for _, row := range rows {
		for _, f := range row.Fields {
			if f.Name == "description" && f.Cut > 0 && f.In(table.Skills) {
				all = append(all, cut{Client: row.Title, Characters: f.Cut})
			}
		}
	}
	return all
}

// The codes of the findings.
const (
	diagTriggerMissed    toolshelf.DiagnosticCode = "TRIGGER_MISSED"    // error: no word of a request is in the name and the description of the expected skill
	diagTriggerNotFirst  toolshelf.DiagnosticCode = "TRIGGER_NOT_FIRST" // warning: the words of a request rank another skill before the expected skill
	diagTriggerUnwanted  toolshelf.DiagnosticCode = "TRIGGER_UNWANTED"  // warning: the words of a request without an expected skill find a skill
	diagTriggerCut       toolshelf.DiagnosticCode = "TRIGGER_CUT"       // warning: the words for which a request finds the skill are beyond the beginning of the description that a client shows
	diagTriggersCollide  toolshelf.DiagnosticCode = "TRIGGERS_COLLIDE"  // warning: the descriptions of two skills answer the same requests
	diagTriggerUnrelated toolshelf.DiagnosticCode = "TRIGGER_UNRELATED" // warning: no request from the first sentences of the text finds the skill
)

// A candidate is a skill that a model may choose.
type candidate struct {
	Name, Description, Content string
	Path                       string // of the diagnostics
}

// A request is a line of a file of requests.
type request struct {
	Text, Skill string // without an expected skill, Skill is ""
	Line        int
}

// A cut is the number of characters of a description that a client shows.
type cut struct {
	Client     string
	Characters int
}

// none is the expected skill of a request for which no skill is right.
const none = "none"

// parseRequests returns the requests of a file: lines such as "ship the website => deploy", and "=>
// none" if no skill is right. parseRequests ignores empty lines and lines that begin with "#".
func parseRequests(text string) (all []request, err error) {
	for i, line := range strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		at := strings.LastIndex(line, "=>")
		r := request{Line: i + 1}
		if at >= 0 {
			r.Text, r.Skill = strings.TrimSpace(line[:at]), strings.TrimSpace(line[at+2:])
		}
		if r.Text == "" || r.Skill == "" {
			return nil, fmt.Errorf(`line %d is %q; write a request and the skill, as in `+
				`"ship the website => deploy", or "=> none"`, r.Line, line)
		}
		if r.Skill == none {
			r.Skill = ""
		}
		all = append(all, r)
	}
	return all, nil
}

// A ranking has the skills in the order of their names, by words.
type ranking struct {
	skills []candidate
	ranked rank.Corpus
	found  []toolshelf.Diagnostic
}

// maxHits is the number of hits that a ranking looks at.
const maxHits = 100

// rankRequests returns the findings, of the requests in their order and then of the skills in the
// order of their names, and the number of the requests whose expected skill is the first. The file
// of the requests has a path.
func rankRequests(
	ctx context.Context, skills []candidate, file string, requests []request, cuts []cut,
) (found []toolshelf.Diagnostic, first int, err error) {
	byName := func(a, b candidate) int { return strings.Compare(a.Name, b.Name) }
	c := &ranking{skills: slices.SortedFunc(slices.Values(skills), byName)}
	for _, s := range c.skills {
		c.ranked.Put(s.Name, rank.Document{Name: s.Name, Description: s.Description})
	}
	for _, r := range requests {
		ok, err := c.request(ctx, file, r, cuts)
		if err != nil {
			return nil, 0, err
		}
		if ok {
			first++
		}
	}
	for _, find := range []func(context.Context) error{c.collisions, c.unrelated} {
		if err := find(ctx); err != nil {
			return nil, 0, err
		}
	}
	return c.found, first, nil
}

// report reports a warning, or for diagTriggerMissed an error. The line 0 is the description of a
// skill.
func (c *ranking) report(
	code toolshelf.DiagnosticCode, path string, line int, suggestion, format string, args ...any,
) {
	d := toolshelf.Diagnostic{Code: code, Severity: toolshelf.SeverityWarning, Path: path, Line: line,
		Message: fmt.Sprintf(format, args...), Suggestion: suggestion}
	if code == diagTriggerMissed {
		d.Severity = toolshelf.SeverityError
	}
	if line == 0 {
		d.Key = "description"
	}
	c.found = append(c.found, d)
}

// placeOf returns the place of a skill among the hits, from 1, or 0.
func placeOf(hits []rank.Hit, name string) int {
	return 1 + slices.IndexFunc(hits, func(h rank.Hit) bool { return h.Name == name })
}

// request reports the defects of a request, and whether the expected skill is the first.
func (c *ranking) request(
	ctx context.Context, file string, r request, cuts []cut,
) (first bool, err error) {
	result, err := c.ranked.Search(ctx, r.Text, maxHits, nil, nil)
	if err != nil {
		return false, err
	}
	at, text, quoted := placeOf(result.Hits, r.Skill), shown(r.Text), strconv.Quote(r.Skill)
	best := rank.Hit{}
	if len(result.Hits) > 0 {
		best = result.Hits[0]
	}
	i := slices.IndexFunc(c.skills, func(s candidate) bool { return s.Name == r.Skill })
	switch {
	case r.Skill == "":
		if first = result.Weak || len(result.Hits) == 0; !first {
			c.report(diagTriggerUnwanted, file, r.Line,
				"say in the description of the skill when it does not apply, or remove the words",
				"the request %s finds the skill %s by %s, and no skill is expected",
				text, strconv.Quote(best.Name), best.Reason)
		}
		return first, nil
	case i < 0:
		c.report(diagTriggerMissed, file, r.Line, "correct the name, or let a model see the skill",
			"a model sees no skill %s", quoted)
	case at == 0:
		c.report(diagTriggerMissed, file, r.Line, "add words of the request to the description",
			"the request %s does not find the skill %s: no word, or many skills with more words",
			text, quoted)
	case at > 1:
		c.report(diagTriggerNotFirst, file, r.Line,
			"add words of the request to the description, or remove them from the other",
			"the request %s ranks the skill %s as number %d, after %s (%s)",
			text, quoted, at, strconv.Quote(best.Name), best.Reason)
	}
	if at != 1 {
		return false, nil
	}
	return true, c.cut(ctx, r, c.skills[i], cuts)
}

// cut reports a skill that the words of a request find only beyond the beginning of the
// description.
func (c *ranking) cut(ctx context.Context, r request, s candidate, cuts []cut) error {
	for _, cut := range cuts {
		if utf8.RuneCountInString(s.Description) <= cut.Characters {
			continue
		}
		beginning := s
		beginning.Description = string([]rune(s.Description)[:cut.Characters])
		c.ranked.Put(s.Name, rank.Document{Name: s.Name, Description: beginning.Description})
		result, err := c.ranked.Search(ctx, r.Text, maxHits, nil, nil)
		c.ranked.Put(s.Name, rank.Document{Name: s.Name, Description: s.Description})
		if err != nil {
			return err
		}
		if placeOf(result.Hits, s.Name) != 1 {
			c.report(diagTriggerCut, s.Path, 0, "move the words to the beginning",
				"the request %s finds the skill by words after the first %d characters of the "+
					"description, which %s does not show", shown(r.Text), cut.Characters, cut.Client)
		}
	}
	return nil
}

// A skill collides with another skill if each ranks among the first skills for the request that the
// description of the other makes, with at least this share of the score.
const (
	collidingRank  = 3
	collidingShare = 0.9
)

// collisions reports the pairs of skills whose descriptions answer the same requests.
func (c *ranking) collisions(ctx context.Context) error {
	near, number := make([][]string, len(c.skills)), map[string]int{}
	for i, s := range c.skills {
		number[s.Name] = i
		request, _, _ := strings.Cut(strings.TrimSpace(s.Description), ". ")
		result, err := c.ranked.Search(ctx, request, collidingRank, nil, nil)
		if err != nil {
			return err
		}
		own := placeOf(result.Hits, s.Name)
		for at, h := range result.Hits {
			if own == 0 || at+1 < own || h.Score >= collidingShare*result.Hits[own-1].Score {
				near[i] = append(near[i], h.Name)
			}
		}
		slices.Sort(near[i])
	}
	for i, s := range c.skills {
		for _, other := range near[i] {
			if j := number[other]; j < i && slices.Contains(near[j], s.Name) {
				c.report(diagTriggersCollide, s.Path, 0,
					"say in each description what the other skill does not do, or join the skills",
					"the descriptions of the skills %s and %s answer the same requests",
					strconv.Quote(other), strconv.Quote(s.Name))
			}
		}
	}
	return nil
}

// The requests from the text of a skill.
const (
	maxSentences  = 3
	minWords      = 4
	unrelatedRank = 5 // a request finds the skills up to this place
)

// unrelated reports the skills that no request from the beginning of their texts finds.
func (c *ranking) unrelated(ctx context.Context) error {
	for _, s := range c.skills {
		paragraph, _ := matter.Description(matter.Document{}, []byte(s.Content))
		requests, finds := 0, false
		paragraph = strings.NewReplacer("? ", ". ", "! ", ". ").Replace(paragraph)
		for sentence := range strings.SplitSeq(paragraph, ". ") {
			if len(strings.Fields(sentence)) < minWords || requests == maxSentences {
				continue
			}
			requests++
			result, err := c.ranked.Search(ctx, sentence, unrelatedRank, nil, nil)
			if err != nil {
				return err
			}
			finds = finds || placeOf(result.Hits, s.Name) > 0
		}
		if requests > 0 && !finds {
			c.report(diagTriggerUnrelated, s.Path, 0,
				"write in the description what the text does, in the words of the text",
				"no request from the first sentences of the text finds the skill by its name and description")
		}
	}
	return nil
}

// shown returns a request for a message.
func shown(text string) string {
	if runes := []rune(text); len(runes) > 80 {
		text = string(runes[:79]) + "…"
	}
	return strconv.Quote(text)
}
