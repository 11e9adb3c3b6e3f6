package hvx

import (
	"slices"
	"testing"
)

// TestWalks: what a value grows by in a loop adds up, apart for each loop, and those of what it is computed of are visited.
func TestWalks(t *testing.T) {
	inner := &Value{Op: ValueArg}
	inner.walk(3, 8)
	v := &Value{Op: ValuePlus, Of: [2]*Value{nil, inner}}
	for _, w := range []Walk{{1, 3}, {2, 5}, {1, 4}, {2, -7}} {
		v.walk(w.Loop, w.Step)
	}
	var got []Walk
	v.eachWalk(func(w Walk) { got = append(got, w) })
	if want := []Walk{{1, 7}, {2, -2}, {3, 8}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
