package launch

import "testing"

// TestChoose: the fewest packets that fit, the first of equal ones.
func TestChoose(t *testing.T) {
	list := func() []candidate[string] {
		return []candidate[string]{{"slow", 9}, {"first", 5}, {"second", 5}, {"no registers", 1}}
	}
	for _, c := range []struct {
		except string
		want   string
	}{{"no registers", "first"}, {"none", "no registers"}} {
		if got, ok := choose(list(), func(k string) bool { return k != c.except }); !ok || got != c.want {
			t.Errorf("without %q: %q, want %q", c.except, got, c.want)
		}
	}
	if got, ok := choose(list(), func(string) bool { return false }); ok {
		t.Errorf("%q is chosen, which does not fit", got)
	}
}
