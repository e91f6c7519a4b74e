package toolshelf_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/toolshelf-go/toolshelf"
)

func ExampleCatalog_Search() {
	catalog := open(toolshelf.WithFs(project(map[string]string{
		"commands/analyze-slow-meeting.md": "---\ndescription: Find out what delays a meeting\n---\nDraw a timeline.\n",
		"commands/deploy.md":               "---\ndescription: Ship a release\n---\nWatch the proxies, and the timeline of errors.\n",
	})))
	defer catalog.Close()

	for _, query := range []string{"slow meeting", "timelnie of a proxy", "haiku"} {
		found, err := catalog.Search(context.Background(), query, 5)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %d\n", query, found.TotalFound)
		for _, r := range found.Results {
			fmt.Printf("  %s %s: %s\n", r.Name, r.Tier, r.MatchReason)
		}
	}
	// Output:
	// slow meeting: 1
	//   analyze-slow-meeting tier1: name matches "slow meeting"
	// timelnie of a proxy: 2
	//   deploy tier2: body matches "proxy"; body matches "timelnie" nearly
	//   analyze-slow-meeting tier2: body matches "timelnie" nearly
	// haiku: 0
}

func ExampleCatalog_SearchSkills() {
	catalog := open(toolshelf.WithFs(project(map[string]string{
		"skills/pdf-tools/SKILL.md": "---\nname: pdf-tools\ndescription: Read and fill forms\n---\n# Encrypted files\n\nAsk for the password.\n",
		"skills/sql-style/SKILL.md": "---\nname: sql-style\ndescription: Write readable queries\n---\nOne clause, one line.\n",
	})))
	defer catalog.Close()

	found, err := catalog.SearchSkills(context.Background(), "query in an encrypted form", 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("found:", found.TotalFound)
	for _, r := range found.Results {
		fmt.Printf("%s: %s\n", r.Name, r.MatchReason)
	}
	// Output:
	// found: 2
	// pdf-tools: description matches "form"; headings match "encrypted"
}

// A contains is a Searcher that finds the commands whose names contain the query. A program
// uses an engine such as Bleve instead.
type contains []string

func (c contains) Search(ctx context.Context, query string, limit int) ([]toolshelf.Hit, int, error) {
	var hits []toolshelf.Hit
	for _, name := range c {
		if strings.Contains(name, query) {
			hits = append(hits, toolshelf.Hit{Name: name, Score: float64(len(query)) / float64(len(name)), Reason: "name contains " + query})
		}
	}
	return hits[:min(limit, len(hits))], len(hits), ctx.Err()
}

func ExampleWithSearcher() {
	engine := contains{"deploy", "deploy-docs", "removed-deploy"}
	catalog := open(
		toolshelf.WithFs(project(map[string]string{
			"commands/deploy.md":      "Ship a release.\n",
			"commands/deploy-docs.md": "Publish the documentation.\n",
		})),
		toolshelf.WithSearcher(engine, nil),
	)
	defer catalog.Close()

	found, err := catalog.Search(context.Background(), "deploy", 5)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range found.Results {
		fmt.Printf("%s %.2f: %s\n", r.Name, r.Score, r.MatchReason)
	}
	// Output:
	// deploy 1.00: name contains deploy
	// deploy-docs 0.55: name contains deploy
}
