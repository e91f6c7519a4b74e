package catalogtest

import "testing"

// The shares of a table must be complete.
func TestHeaderSharesAreComplete(t *testing.T) {
	for name, classes := range map[string][]HeaderClass{"commands": PublicCommandHeaders, "skills": PublicSkillHeaders} {
		sum := 0
		for _, class := range classes {
			sum += class.share
		}
		if sum != 1000 {
			t.Errorf("%s: the shares are %d thousandths", name, sum)
		}
	}
}
