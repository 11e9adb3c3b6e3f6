package bench

import (
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/internal/require"
)

// TestServiceSpeedup: a burst no longer than a call in process has no ratio.
func TestServiceSpeedup(t *testing.T) {
	for _, c := range []struct {
		call, burst float64
		want        string
	}{
		{40, 10, "a burst costs 0.25 of a call;"},
		{40, 0, "the boundary costs less than the scatter"},
		{40, -3, "the boundary costs less than the scatter"},
		{-1, -1, "the boundary costs less than the scatter"},
	} {
		var out strings.Builder
		r := serviceReport{Device: "cpu", Burst: speedup(c.call, c.burst)}
		require.NoError(t, printService(&cli.App{Out: &out}, &r))
		if s := out.String(); !strings.Contains(s, c.want) || strings.Contains(s, "/0.0") || strings.Contains(s, "Inf") {
			t.Errorf("overheads %v and %v: %s", c.call, c.burst, s)
		}
	}
}
