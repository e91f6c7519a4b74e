package changes

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// maxAsked bounds the questions of an Asked. An Observer watches fewer directories.
const maxAsked = 2000

// An Asked has the answers to the questions that calls have asked, as first returned: a subscriber
// hears of the directories that a call has asked for. A call looks at the files even if no change
// was reported, because the system may report a change later. The zero value is empty. An Asked is
// safe for concurrent use.
type Asked[Question comparable, Answer any] struct {
	mu    sync.Mutex
	first map[Question]Answer
}

// Add adds an answer, unless an answer to the question is known.
func (a *Asked[Question, Answer]) Add(q Question, answer Answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.first == nil {
		a.first = map[Question]Answer{}
	}
	if _, known := a.first[q]; !known && len(a.first) < maxAsked {
		a.first[q] = answer
	}
}

// Follow returns a function that asks each question again, and adds the differences since its last
// call. The function states returns the states of the names in an answer. A question that was added
// since the last call has the first answer as its last answer.
func (a *Asked[Question, Answer]) Follow(
	ask func(Question) (Answer, error), states func(Answer) map[string]string,
) (since func(*Names)) {
	first := func() map[Question]map[string]string {
		a.mu.Lock()
		answers := maps.Clone(a.first)
		a.mu.Unlock()
		all := map[Question]map[string]string{}
		for q, answer := range answers {
			all[q] = states(answer)
		}
		return all
	}
	again := func(last map[Question]map[string]string) map[Question]map[string]string {
		all := maps.Clone(last)
		for q := range last {
			if answer, err := ask(q); err == nil {
				all[q] = states(answer)
			}
		}
		return all
	}
	seen := again(first())
	return func(n *Names) {
		last := first()
		maps.Copy(last, seen)
		current := again(last)
		Add(n, joined(last), joined(current))
		seen = current // not after a panic of a filter
	}
}

// joined returns the states of each name in the answers to all questions.
func joined[Question comparable](all map[Question]map[string]string) map[string]string {
	states := map[string][]string{}
	for _, answer := range all {
		for name, state := range answer {
			states[name] = append(states[name], state)
		}
	}
	joined := make(map[string]string, len(states))
	for name, of := range states {
		slices.Sort(of)
		joined[name] = strings.Join(slices.Compact(of), "\x00")
	}
	return joined
}
