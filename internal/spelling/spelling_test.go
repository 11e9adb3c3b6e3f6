package spelling

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/nnsoc/nnsoc/internal/require"
)

func TestClosest(t *testing.T) {
	known := []string{"cpu", "gpu", "dsp", "npu", "devices", "device", "partition"}
	for _, c := range []struct{ name, want string }{
		{"dps", "dsp"}, {"dsp1", "dsp"}, {"tpu", "cpu"}, {"devise", "device"}, {"partiton", "partition"}, {"partitoin", "partition"},
		{"xyz", ""}, {"", ""}, {"dsp", ""}, {"parting", ""},
	} {
		require.Same(t, c.want, Closest(c.name, known), c.name)
	}
	if got := DidYouMean("gpuu", known); got != `; did you mean "gpu"?` {
		t.Error(got)
	}
}

// TestDistance: the distance is a metric, and one edit apart is a distance of 1.
func TestDistance(t *testing.T) {
	require.Same(t, 3, Distance([]byte("kitten"), []byte("sitting")), "kitten to sitting")
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SliceOfN(rapid.IntRange(0, 2), 0, 12)
		a, b, c := word.Draw(t, "a"), word.Draw(t, "b"), word.Draw(t, "c")
		ab, ba := Distance(a, b), Distance(b, a)
		switch {
		case ab != ba, (ab == 0) != slices.Equal(a, b), ab > max(len(a), len(b)), ab < max(len(a)-len(b), len(b)-len(a)):
			t.Errorf("%v to %v: %d, back %d", a, b, ab, ba)
		case Distance(a, c) > ab+Distance(b, c):
			t.Errorf("the way over %v is shorter", b)
		}
		if len(a) > 0 {
			i := rapid.IntRange(0, len(a)-1).Draw(t, "i")
			require.Same(t, 1, Distance(a, slices.Delete(slices.Clone(a), i, i+1)), "one deletion is", "edits")
		}
	})
}
