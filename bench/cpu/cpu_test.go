package cpu

import (
	"math"
	"testing"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// TestNetworks: the definitions have the multiply-accumulates that the source counts.
func TestNetworks(t *testing.T) {
	for name, n := range networks {
		for _, float := range []bool{true, false} {
			m, err := model(name, float)
			if err != nil {
				t.Error(err)
				continue
			}
			if got := macs(t, m); math.Abs(got/n.mmacs-1) > 0.02 {
				t.Errorf("%s: %.1f million multiply-accumulates, the source says %.0f", name, got, n.mmacs)
			}
		}
	}
	if _, err := model("mobilenet", true); err == nil {
		t.Error("an unknown network is built")
	}
	if _, err := kernel("gemm", []uint32{1}, true); err == nil {
		t.Error("a kernel without its sizes is built")
	}
	if _, err := Spec("m1"); err == nil {
		t.Error("unknown cores are priced")
	}
}

// macs are millions.
func macs(t *testing.T, m *nn.Model) float64 {
	g, err := (*opspec.Table)(nil).Resolve(&m.Main)
	if err != nil {
		t.Fatal(err)
	}
	v := (*opspec.Table)(nil).ModelView(g)
	var n int64
	for i := range g.Operations {
		n += v.MACs(&g.Operations[i])
	}
	return float64(n) / 1e6
}

// TestGroups: means and distances of made-up rows.
func TestGroups(t *testing.T) {
	l := Groups([]Row{
		{Cores: "gold", Type: "i8", Role: "fit", Ratio: 0.5}, {Cores: "prime", Type: "f32", Role: "fit", Ratio: 1.1},
		{Cores: "gold", Type: "i8", Role: "check", Ratio: 2},
	})
	if len(l) != 2 || l[0].Cores != "prime" || l[0].Checks != 0 || math.Abs(l[0].RMS-0.1) > 1e-12 {
		t.Errorf("%+v", l)
	} else if g := l[1]; g.Rows != 2 || math.Abs(g.Mean-1) > 1e-12 || math.Abs(g.RMS-math.Sqrt(1.25/2)) > 1e-12 || g.CheckRMS != 1 || g.Worst != 0.5 {
		t.Errorf("%+v", g)
	}
}
