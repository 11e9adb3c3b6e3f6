package plan

import (
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/npu/layout"
)

// TestPassing: bytes on chip beside steps 3 to 5 are those of values alive at one of them and at another, but for
// what only the steps hand on, what lies off chip, what has a place and what nobody uses.
func TestPassing(t *testing.T) {
	for _, c := range []struct {
		what        string
		first, last int
		far, fixed  bool
		counts      bool
	}{
		{"before", 1, 2, false, false, false},
		{"until the first", 1, 3, false, false, true},
		{"until the last", 2, 5, false, false, true},
		{"all along", 0, 9, false, false, true},
		{"from the first", 3, 6, false, false, true},
		{"from the last", 5, 6, false, false, true},
		{"behind", 6, 7, false, false, false},
		{"between first and last", 3, 5, false, false, false},
		{"of one step", 4, 4, false, false, false},
		{"of the last", 5, 5, false, false, false},
		{"far", 0, 9, true, false, false},
		{"fixed", 0, 9, false, true, false},
		{"unused", -1, 4, false, false, false},
	} {
		const before = 100 // of a value that counts
		k := &cascades{
			far:   []bool{false, c.far},
			lives: []layout.Value{{Bytes: before, First: 0, Last: 9}, {Bytes: 1000, First: c.first, Last: c.last, Fixed: c.fixed}},
		}
		want := layout.Align(before)
		if c.counts {
			want += layout.Align(1000)
		}
		if got := k.passing(3, 5); got != want {
			t.Errorf("%s: %d bytes, want %d", c.what, got, want)
		}
	}
}
