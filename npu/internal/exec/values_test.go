package exec

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/ethosu"
)

// TestRescaleValues runs testdata/rescale.txt: the scaling of every output stage.
func TestRescaleValues(t *testing.T) {
	b := require.V(os.ReadFile("testdata/rescale.txt"))(t)
	rows := 0
	for i, line := range strings.Split(string(b), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		var v, want [3]int64
		require.NoError(t, require.Err(fmt.Sscanf(line, "%d %d %d | %d %d %d", &v[0], &v[1], &v[2], &want[0], &want[1], &want[2])), "line", i+1)
		for k, mode := range []int{ethosu.RoundDouble, ethosu.RoundTruncate, ethosu.RoundNatural} {
			if got := rescale(v[0], uint32(v[1]), uint8(v[2]), mode); got != want[k] {
				t.Errorf("line %d: mode %d gives %d, want %d", i+1, mode, got, want[k])
			}
		}
		// What a convolution makes of an accumulator with the same record.
		if v[0] >= -1<<31 && v[0] < 1<<31 {
			rec := ethosu.ScaleRecord{Scale: uint32(v[1]), Shift: uint8(v[2])}
			require.Same(t, want[0], convScale(v[0], rec, ethosu.RoundDouble, false), "line", i+1, "a convolution gives")
			require.Same(t, want[2], convScale(v[0], rec, ethosu.RoundDouble, true), "line", i+1, "a convolution that rounds once gives")
		}
		rows++
	}
	if rows < 200 {
		t.Errorf("%d rows", rows)
	}
}
