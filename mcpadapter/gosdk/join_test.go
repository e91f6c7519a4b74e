package gosdk

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestIdentityDependsOnKindAndItems(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOfNDistinct(rapid.String(), 1, 300, rapid.ID[string]).Draw(t, "items")
		list := must.Get(identify("tools", items))(t)
		if again, _ := identify("tools", items); again != list {
			t.Fatal("the same list has another identity")
		}
		if shorter, _ := identify("tools", items[1:]); shorter == list {
			t.Fatal("a shorter list has the same identity")
		}
		if prompts, _ := identify("prompts", items); prompts == list {
			t.Fatal("a list of another kind has the same identity")
		}
	})
}
