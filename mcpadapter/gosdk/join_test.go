package gosdk

import (
	"testing"

	"pgregory.net/rapid"
)

func TestIdentityDependsOnKindAndItems(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOfNDistinct(rapid.String(), 1, 300, rapid.ID[string]).Draw(t, "items")
		list, err := identify("tools", items)
		if err != nil {
			t.Fatal(err)
		}
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
