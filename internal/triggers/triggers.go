// Package triggers ranks the requests of users by the words of the names and descriptions of
// skills, as far as a model sees them before it chooses a skill. A model also understands other
// words, so a good rank is no promise, and a bad rank a reason to look.
package triggers

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/rank"
)

// The codes of the findings.
const (
	DiagTriggerMissed    agentmd.DiagnosticCode = "TRIGGER_MISSED"    // error: no word of a request is in the name and the description of the expected skill
	DiagTriggerNotFirst  agentmd.DiagnosticCode = "TRIGGER_NOT_FIRST" // warning: the words of a request rank another skill before the expected skill
	DiagTriggerUnwanted  agentmd.DiagnosticCode = "TRIGGER_UNWANTED"  // warning: the words of a request without an expected skill find a skill
	DiagTriggerCut       agentmd.DiagnosticCode = "TRIGGER_CUT"       // warning: the words for which a request finds the skill are beyond the beginning of the description that a client shows
	DiagTriggersCollide  agentmd.DiagnosticCode = "TRIGGERS_COLLIDE"  // warning: the descriptions of two skills answer the same requests
	DiagTriggerUnrelated agentmd.DiagnosticCode = "TRIGGER_UNRELATED" // warning: no request from the first sentences of the text finds the skill
)

// A Skill is a skill that a model may choose.
type Skill struct {
	Name, Description, Content string
	Path                       string // of the diagnostics
}

// A Request is a line of a file of requests.
type Request struct {
	Text, Skill string // without an expected skill, Skill is ""
	Line        int
}

// A Cut is the number of characters of a description that a client shows.
type Cut struct {
	Client     string
	Characters int
}

// none is the expected skill of a request for which no skill is right.
const none = "none"

// Parse returns the requests of a file: lines such as "ship the website => deploy", and "=> none"
// if no skill is right. Parse ignores empty lines and lines that begin with "#".
func Parse(text string) (all []Request, err error) {
	for i, line := range strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		at := strings.LastIndex(line, "=>")
		r := Request{Line: i + 1}
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

// A check has the skills in the order of their names, by words.
type check struct {
	skills []Skill
	ranked rank.Corpus
	found  []agentmd.Diagnostic
}

// limit is the number of hits that a check looks at.
const limit = 100

// Check returns the findings, of the requests in their order and then of the skills in the order of
// their names, and the number of the requests whose expected skill is the first. The file of the
// requests has a path.
func Check(
	ctx context.Context, skills []Skill, file string, requests []Request, cuts []Cut,
) (found []agentmd.Diagnostic, first int, err error) {
	byName := func(a, b Skill) int { return strings.Compare(a.Name, b.Name) }
	c := &check{skills: slices.SortedFunc(slices.Values(skills), byName)}
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

// report reports a warning, or for DiagTriggerMissed an error. The line 0 is the description of a
// skill.
func (c *check) report(
	code agentmd.DiagnosticCode, path string, line int, suggestion, format string, args ...any,
) {
	d := agentmd.Diagnostic{Code: code, Severity: agentmd.SeverityWarning, Path: path, Line: line,
		Message: fmt.Sprintf(format, args...), Suggestion: suggestion}
	if code == DiagTriggerMissed {
		d.Severity = agentmd.SeverityError
	}
	if line == 0 {
		d.Key = "description"
	}
	c.found = append(c.found, d)
}

// position returns the place of a skill among the hits, from 1, or 0.
func position(hits []rank.Hit, name string) int {
	return 1 + slices.IndexFunc(hits, func(h rank.Hit) bool { return h.Name == name })
}

// request reports the defects of a request, and whether the expected skill is the first.
func (c *check) request(
	ctx context.Context, file string, r Request, cuts []Cut,
) (first bool, err error) {
	result, err := c.ranked.Search(ctx, r.Text, limit, nil, nil)
	if err != nil {
		return false, err
	}
	at, text, quoted := position(result.Hits, r.Skill), shown(r.Text), strconv.Quote(r.Skill)
	best := rank.Hit{}
	if len(result.Hits) > 0 {
		best = result.Hits[0]
	}
	i := slices.IndexFunc(c.skills, func(s Skill) bool { return s.Name == r.Skill })
	switch {
	case r.Skill == "":
		if first = result.Weak || len(result.Hits) == 0; !first {
			c.report(DiagTriggerUnwanted, file, r.Line,
				"say in the description of the skill when it does not apply, or remove the words",
				"the request %s finds the skill %s by %s, and no skill is expected",
				text, strconv.Quote(best.Name), best.Reason)
		}
		return first, nil
	case i < 0:
		c.report(DiagTriggerMissed, file, r.Line, "correct the name, or let a model see the skill",
			"a model sees no skill %s", quoted)
	case at == 0:
		c.report(DiagTriggerMissed, file, r.Line, "add words of the request to the description",
			"the request %s does not find the skill %s: no word, or many skills with more words",
			text, quoted)
	case at > 1:
		c.report(DiagTriggerNotFirst, file, r.Line,
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
func (c *check) cut(ctx context.Context, r Request, s Skill, cuts []Cut) error {
	for _, cut := range cuts {
		if utf8.RuneCountInString(s.Description) <= cut.Characters {
			continue
		}
		beginning := s
		beginning.Description = string([]rune(s.Description)[:cut.Characters])
		c.ranked.Put(s.Name, rank.Document{Name: s.Name, Description: beginning.Description})
		result, err := c.ranked.Search(ctx, r.Text, limit, nil, nil)
		c.ranked.Put(s.Name, rank.Document{Name: s.Name, Description: s.Description})
		if err != nil {
			return err
		}
		if position(result.Hits, s.Name) != 1 {
			c.report(DiagTriggerCut, s.Path, 0, "move the words to the beginning",
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
func (c *check) collisions(ctx context.Context) error {
	near, number := make([][]string, len(c.skills)), map[string]int{}
	for i, s := range c.skills {
		number[s.Name] = i
		request, _, _ := strings.Cut(strings.TrimSpace(s.Description), ". ")
		result, err := c.ranked.Search(ctx, request, collidingRank, nil, nil)
		if err != nil {
			return err
		}
		own := position(result.Hits, s.Name)
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
				c.report(DiagTriggersCollide, s.Path, 0,
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
func (c *check) unrelated(ctx context.Context) error {
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
			finds = finds || position(result.Hits, s.Name) > 0
		}
		if requests > 0 && !finds {
			c.report(DiagTriggerUnrelated, s.Path, 0,
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
