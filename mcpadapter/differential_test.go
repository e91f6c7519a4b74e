package mcpadapter_test

import (
	"testing"

	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/adaptertest"
)

func TestSessionServesWhatTheToolsPermit(t *testing.T) {
	adaptertest.TestWithTools(t, adaptertest.Session, true)
}

func TestSessionReturnsTheResultsOfCall(t *testing.T) { adaptertest.TestCalls(t, adaptertest.Session) }

func TestSessionReturnsTheSameListsPromptsAndCompletionsInEachEra(t *testing.T) {
	adaptertest.TestLists(t, adaptertest.Session, mcpadapter.CodeInvalidParams)
}

func BenchmarkCallGetCommandInASession(b *testing.B) {
	adaptertest.BenchmarkGetCommand(b, adaptertest.Session)
}
