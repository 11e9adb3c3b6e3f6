package bench

import (
	"math"
	"testing"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
)

// TestAnchorInputs: a figure that the preset is built from comes out of the
// measurement again; every row says where it is from and why ours differs.
func TestAnchorInputs(t *testing.T) {
	for _, name := range []string{"pixel4", "sd888"} {
		x, err := newAnchorRun(&cli.App{SoC: name})
		if err != nil {
			t.Fatal(err)
		}
		for i := range anchors {
			row := &anchors[i].row
			if row.Source == "" || row.Reason == "" || row.Unit == "" || row.Published <= 0 {
				t.Errorf("%s: %+v", row.Figure, *row)
			}
			if row.Role == "check" {
				continue
			}
			got, err := anchors[i].measure(x)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(got/row.Published-1) > 0.1 {
				t.Errorf("%s: %s: %.4g, published %.4g", name, row.Figure, got, row.Published)
			}
		}
	}
}

func TestSignificant(t *testing.T) {
	for v, want := range map[float64]string{512: "512", 1234.5: "1234", 6: "6.00", 0.0405: "0.0405", 38.14: "38.1", 0: "0.0000"} {
		if got := significant(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}
