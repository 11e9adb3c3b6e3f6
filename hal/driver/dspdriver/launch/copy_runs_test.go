package launch

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestRagged: runs of a vector and more are permuted where many vectors of the result share a pattern: into rows of
// vectors two patterns serve all runs, into bytes side by side each position has its own.
func TestRagged(t *testing.T) {
	runs := func(count, n, to, from int) *runList {
		r := new(runList)
		for i := range count {
			r.add(uint32(i*to), uint32(1<<20+i*from), n)
		}
		return r
	}
	for _, c := range []struct {
		count, n, to, from int
		want               bool
	}{
		{64, 129, 256, 129, false},   // two patterns
		{64, 129, 129, 256, true},    // as many as vectors
		{5000, 129, 129, 256, true},  // 128 of some forty vectors each, too few
		{6000, 129, 129, 256, false}, // of more
		{200, 160, 160, 256, false},  // five patterns
		{64, 127, 127, 256, false},   // shorter than a vector: always permuted
		{64, 192, 192, 256, false},   // long: always copied
	} {
		require.Same(t, c.want, runs(c.count, c.n, c.to, c.from).ragged(), c)
	}
}
