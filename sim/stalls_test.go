package sim

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestStallTable: a table of cycles adds up, adds another, and has its largest reason, the earliest of equals.
func TestStallTable(t *testing.T) {
	var a, b StallTable
	for r := range NumReasons {
		a[r], b[r] = int64(r)+1, 100*int64(r)
	}
	n := int64(NumReasons)
	if got, want := a.Total(), n*(n+1)/2; got != want {
		t.Errorf("%d cycles in all, want %d", got, want)
	}
	require.Same(t, NumReasons-1, a.Largest(), "the largest is")
	a.Add(&b)
	for r := range NumReasons {
		if want := 101*int64(r) + 1; a[r] != want || b[r] != 100*int64(r) {
			t.Errorf("%v: %d and %d cycles, want %d and %d", r, a[r], b[r], want, 100*r)
		}
	}
	for _, c := range []struct {
		table StallTable
		want  Reason
	}{{StallTable{}, 0}, {StallTable{3: 5, 7: 5}, 3}, {StallTable{0: 4, 3: 5, 7: 4}, 3}, {StallTable{0: 5, 3: 5}, 0}} {
		require.Same(t, c.want, c.table.Largest(), c.table, "the largest is")
	}
	if Reason(NumReasons).String() != "?" || (NumReasons-1).String() != "weight_decode" {
		t.Error("names of reasons")
	}
}
