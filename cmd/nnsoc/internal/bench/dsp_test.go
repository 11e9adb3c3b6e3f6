package bench

import (
	"math"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/internal/require"
)

// TestAnchorInputs: the measurement reproduces a figure that the preset is built from; every row has its source and the
// reason why ours differs.
func TestAnchorInputs(t *testing.T) {
	for _, name := range []string{"pixel4", "sd888"} {
		x := require.V(newAnchorRun(&cli.App{SoC: name}))(t)
		for i := range anchors {
			row := &anchors[i].row
			if row.Source == "" || row.Reason == "" || row.Unit == "" || row.Published <= 0 {
				t.Errorf("%s: %+v", row.Figure, *row)
			}
			if row.Role == "check" {
				continue
			}
			got := require.V(anchors[i].measure(x))(t)
			require.Check(t, math.Abs(got/row.Published-1) <= 0.1, "%s: %s: %.4g, published %.4g", name, row.Figure, got, row.Published)
		}
	}
}

func TestSignificant(t *testing.T) {
	for v, want := range map[float64]string{512: "512", 1234.5: "1234", 6: "6.00", 0.0405: "0.0405", 38.14: "38.1", 0: "0.0000"} {
		require.Same(t, want, significant(v), v)
	}
}

// TestCheckRatio: a ratio above 1 is slower, of rates too; inputs and bounds are no part of the mean.
func TestCheckRatio(t *testing.T) {
	rows := []anchorRow{
		{Role: "check", Published: 8, Measured: 4}, {Role: "check", Rate: true, Published: 8, Measured: 4},
		{Role: "input", Published: 1, Measured: 9}, {Role: "check", Published: 1, Measured: 7, AtMost: true},
	}
	for i := range rows {
		rows[i].compare()
	}
	require.Check(t, rows[0].Ratio == 0.5 && rows[1].Ratio == 2, "ratios %v and %v, want 0.5 and 2", rows[0].Ratio, rows[1].Ratio)
	if got := checkRatio(rows); got < 0.999999 || got > 1.000001 {
		t.Errorf("ratio of the checks %v, want 1", got)
	}
	seen := map[string]bool{}
	for i := range anchors {
		r := &anchors[i].row
		if seen[r.Figure] || r.Rate != strings.Contains(r.Unit, "/packet") && r.Rate != (r.Unit == "MAC/cycle" || r.Unit == "per packet") {
			t.Errorf("%s in %s: rate %v, or twice", r.Figure, r.Unit, r.Rate)
		}
		seen[r.Figure] = true
	}
}
