package footprint

import (
	"slices"
	"testing"
)

// TestSet: lines are returned in order, each once, whichever page they are on.
func TestSet(t *testing.T) {
	var s Set
	if len(s.Lines()) != 0 {
		t.Error("an empty set has lines")
	}
	for _, line := range []uint64{5, 1 << 40, 63, 64, 5, pageLines, pageLines - 1, 0} {
		s.Add(line)
	}
	if got, want := s.Lines(), []uint64{0, 5, 63, 64, pageLines - 1, pageLines, 1 << 40}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
