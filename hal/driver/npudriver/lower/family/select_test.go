package family

import (
	"fmt"
	"slices"
	"testing"
)

// TestRuns: progressions of indices worked out by hand, and interleaved ones up to the most that are looked for.
func TestRuns(t *testing.T) {
	for _, c := range []struct {
		index []int
		want  string
	}{
		{nil, "[]"},
		{[]int{5}, "[{0 1 1 5 0}]"},
		{[]int{2, 3, 4}, "[{0 1 3 2 1}]"},
		{[]int{3, 3, 3}, "[{0 1 3 3 0}]"},
		{[]int{0, 4, 8, 9}, "[{0 1 3 0 4} {3 1 1 9 0}]"},
		{[]int{1, 0}, "[{0 1 1 1 0} {1 1 1 0 0}]"},
		{[]int{0, 0, 1, 1, 2, 2}, "[{0 2 3 0 1} {1 2 3 0 1}]"},
		{[]int{0, 1, 2, 1, 2, 3}, "[{0 1 3 0 1} {3 1 3 1 1}]"}, // not three, of two
		{[]int{9, 4, 8, 3}, "[{0 1 1 9 0} {1 1 2 4 4} {3 1 1 3 0}]"},
	} {
		if got := fmt.Sprint(runs(c.index)); got != c.want {
			t.Errorf("%v: %s, want %s", c.index, got, c.want)
		}
	}
	for phases := 1; phases < 12; phases++ {
		index := make([]int, 3*phases)
		for i := range index {
			index[i] = i/phases + 100*(phases-i%phases)
		}
		list := runs(index)
		if (len(list) == phases) != (phases <= mostPhases) {
			t.Errorf("%d runs of %d phases", len(list), phases)
		}
		for _, x := range list {
			for i := range x.n {
				index[x.at+i*x.every] -= x.from + i*x.step
			}
		}
		if slices.Max(index) != 0 || slices.Min(index) != 0 {
			t.Errorf("%d phases: %v is off by %v", phases, list, index)
		}
	}
}

// TestFactor: a feature map of all elements within the extents, where there is one.
func TestFactor(t *testing.T) {
	for n, want := range map[int][3]int{1: {1, 1, 1}, 257: {1, 257, 1}, 1 << 18: {1, 1024, 256}, 1 << 34: {1 << 16, 1024, 256}, 3 << 33: {0, 1024, 256}, 65537: {0, 1, 1}, 65521: {65521, 1, 1}} {
		if h, w, c := factor(n); [3]int{h, w, c} != want {
			t.Errorf("%d elements: %dx%dx%d, want %v", n, h, w, c, want)
		}
	}
}
