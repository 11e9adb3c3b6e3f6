package limittest

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nnsoc/nnsoc/internal/require"
)

func TestAround(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		at          float64
		whole       bool
		accepts     func(float64) bool
		least, most float64
	}{
		{5, true, func(x float64) bool { return x >= 3 && x <= 1000 }, 3, 1000},
		{5, true, func(x float64) bool { return x >= 0 }, 0, inf},
		{0, true, func(x float64) bool { return x >= -7 && x < 9 }, -7, 8},
		{-5, true, func(x float64) bool { return x >= -6 && x <= 1 }, -6, 1},
		{8, true, func(x float64) bool { n := int(x); return n > 1 && n <= 100 && n&(n-1) == 0 }, 2, 64},
		{1, false, func(x float64) bool { return x >= 0.25 && x <= 3 }, 0.25, 3},
		{0.5, false, func(x float64) bool { return x >= 0 && x <= 1 }, 0, 1},
		{1, true, func(x float64) bool { return true }, -inf, inf},
		{4, true, func(x float64) bool { return x == 4 }, 4, 4},
	} {
		least, most := Bounds(c.at, c.whole, c.accepts)
		near := func(a, b float64) bool { return a == b || math.Abs(a-b) < 1e-5 }
		require.Check(t, near(least, c.least) && near(most, c.most), "about %v: %v to %v, want %v to %v", c.at, least, most, c.least, c.most)
	}
}

func TestFields(t *testing.T) {
	type part struct{ Ways int }
	c := struct {
		Name  string
		Bytes int64
		Share float64
		Any   float64
		Place uint8
		Parts []part
		More  *part
	}{"c", 64, 0.5, 7, 128, []part{{2}, {4}}, &part{1}}
	before, more := c, *c.More
	got := Fields(&c, func() bool {
		return c.Bytes >= 16 && c.Bytes <= 96 && c.Share >= 0 && c.Share <= 1 && c.Place%64 == 0 && c.Parts[0].Ways > 0 && c.Parts[0].Ways < c.Parts[1].Ways &&
			c.More.Ways < 4
	})
	want := []string{"Bytes 16 96", "Share 0 1", "Place 64 192", "Parts[0].Ways 1 3", "Parts[1].Ways 3 +Inf", "More.Ways -Inf 3"}
	require.Equal(t, want, got)
	if diff := cmp.Diff(before, c); diff != "" || *c.More != more {
		t.Errorf("the configuration is changed: %s", diff)
	}
}
