package cputimes

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/nnsoc/nnsoc/internal/doctable"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/refcpu/timing"
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
			if got := macs(t, m); !(math.Abs(got/n.mmacs-1) <= 0.02) {
				t.Errorf("%s: %.1f million multiply-accumulates, the source says %.0f", name, got, n.mmacs)
			}
		}
	}
	require.Fails(t, require.Err(model("mobilenet", true)), "an unknown network is built")
	require.Fails(t, require.Err(kernel("gemm", []uint32{1}, true)), "a kernel without its sizes is built")
	require.Fails(t, require.Err(specOf("m1")), "unknown cores are priced")
}

// macs are millions.
func macs(t *testing.T, m *nn.Model) float64 {
	g := require.V((*opspec.Table)(nil).Resolve(&m.Main))(t)
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
	if len(l) != 2 || l[0].Cores != "prime" || l[0].Checks != 0 || !(math.Abs(l[0].RMS-0.1) <= 1e-12) {
		t.Errorf("%+v", l)
	} else if g := l[1]; g.Rows != 2 || !(math.Abs(g.Mean-1) <= 1e-12) || !(math.Abs(g.RMS-math.Sqrt(1.25/2)) <= 1e-12) || g.CheckRMS != 1 || g.Worst != 0.5 {
		t.Errorf("%+v", g)
	}
}

// TestMeasured: the times of whole networks equal those measured on phones, within 10 % by the root of the mean square
// for each set of cores and type, and within 20 % each, but for groups on a Cortex-A55 (D-312). So do the rows that no
// key is derived from.
func TestMeasured(t *testing.T) {
	rows := require.V(Networks())(t)
	require.Same(t, 196, len(rows), "rows")
	for _, r := range rows {
		if !(math.Abs(r.Ratio-1) <= 0.2) && !(r.What == "regnetx_008" && r.Cores == "a55") {
			t.Errorf("%s %s on %s: %.2f ms, measured %.2f", r.What, r.Type, r.Cores, r.Ours, r.Ms)
		}
	}
	for _, g := range Groups(rows) {
		if g.RMS > 0.1 || g.CheckRMS > 0.1 || !(math.Abs(g.Mean-1) <= 0.05) {
			t.Errorf("%s on %s: rms %.1f %%, %.1f %% of the checks, mean %.3f", g.Type, g.Cores, 100*g.RMS, 100*g.CheckRMS, g.Mean)
		}
	}
	names := map[string]string{"gold2": "two gold", "gold3": "three gold", "prime+gold": "prime and gold", "a55": "Cortex-A55", "a75-9820": "Cortex-A75 (Exynos 9820)", "a75-710": "Cortex-A75 (Snapdragon 710)"}
	of := map[string]string{}
	for _, g := range Groups(rows) {
		of[g.Cores+g.Type] = fmt.Sprintf("%.2f | %.1f %%, %.1f %%", g.Mean, 100*g.RMS, 100*g.CheckRMS)
	}
	var doc []string
	for _, set := range coreSets {
		name := set.name
		if long := names[name]; long != "" {
			name = long
		}
		doc = append(doc, fmt.Sprintf("| %s | %s | %s |", name, of[set.name+"f32"], of[set.name+"i8"]))
	}
	doctable.Check(t, timePage, "| cores | float: mean | rms of the distance from 1, of the checks | 8 bits: mean | rms, of the checks |", doc)
}

const timePage = "../../docs/Time.md"

// TestIntercept: the time of MobileNet v1 of three widths on the prime core beside its multiply-accumulates, with the
// networks that were measured; docs/Time.md shows it.
func TestIntercept(t *testing.T) {
	rows := require.V(Networks())(t)
	for _, c := range []struct {
		typ, row  string
		published float64 // ms
	}{{"f32", "intercept of MobileNet v1", 1.99}, {"i8", "the same in 8 bits", 2.58}} {
		var x, published, ours []float64
		for _, r := range rows {
			if r.Type == c.typ && r.Cores == "prime" && strings.HasPrefix(r.What, "mobilenet_v1") {
				x, published, ours = append(x, networks[r.What].mmacs), append(published, r.Ms), append(ours, r.Ours)
			}
		}
		a, _ := stat.LinearRegression(x, published, nil, false)
		b, _ := stat.LinearRegression(x, ours, nil, false)
		const checks = "| what | published | here | test |"
		if have, want := doctable.Cell(t, timePage, checks, c.row, 1), fmt.Sprintf("%.0f", 1e3*c.published); have != want {
			t.Errorf("%s: published %s in docs, want %s", c.row, have, want)
		}
		if have, want := doctable.Cell(t, timePage, checks, c.row, 2), fmt.Sprintf("%.0f", 10*math.Round(100*b)); have != want {
			t.Errorf("%s: %s in docs, want %s", c.row, have, want)
		}
		if len(x) != 3 || !(math.Abs(a-c.published) <= 0.01) || !(math.Abs(b/a-1) <= 0.2) {
			t.Errorf("%s: %d networks, %.2f ms, measured %.2f", c.typ, len(x), b, a)
		}
	}
}

// TestKernels: kernels of other libraries that work as TensorFlow Lite's do, products of
// matrices and streams of weights, are within 40 %.
func TestKernels(t *testing.T) {
	rows := require.V(Kernels())(t)
	n := 0
	for _, r := range rows {
		switch name, _, _ := strings.Cut(r.What, " "); name {
		case "gemm", "fc", "conv", "softmax":
			if n++; !(math.Abs(r.Ratio-1) <= 0.4) {
				t.Errorf("%s: %.3f ms, measured %.3f", r.What, r.Ours, r.Ms)
			}
		}
	}
	require.Same(t, 11, n, "kernels")
}

// TestKeysAreFitted: a tenth more or less of a key that is derived from the rows of role fit
// makes them no better by more than a hundredth of their rms.
func TestKeysAreFitted(t *testing.T) {
	type row struct {
		Row
		works []opspec.Work
	}
	keys := map[string]func(s *timing.CPUSpec, f float64){"thread_dispatch_cycles": func(s *timing.CPUSpec, f float64) { s.ThreadDispatchCycles *= f }}
	each := func(name string, field func(k *timing.KernelSpec) *float64) {
		keys[name] = func(s *timing.CPUSpec, f float64) {
			for i := range s.Cores {
				*field(&s.Cores[i].Kernels) *= f
			}
		}
	}
	each("conv_f32", func(k *timing.KernelSpec) *float64 { return &k.Efficiency[opspec.KernelConv][timing.PrecisionF32] })
	each("conv_i8", func(k *timing.KernelSpec) *float64 { return &k.Efficiency[opspec.KernelConv][timing.PrecisionI8] })
	each("depthwise_f32", func(k *timing.KernelSpec) *float64 {
		return &k.Efficiency[opspec.KernelDepthwise][timing.PrecisionF32]
	})
	each("depthwise_i8", func(k *timing.KernelSpec) *float64 {
		return &k.Efficiency[opspec.KernelDepthwise][timing.PrecisionI8]
	})
	each("elementwise", func(k *timing.KernelSpec) *float64 { return &k.Efficiency[opspec.KernelNone][timing.PrecisionI8] })
	each("elementwise of floats", func(k *timing.KernelSpec) *float64 {
		return &k.Efficiency[opspec.KernelNone][timing.PrecisionF32]
	})
	each("grouped_cycles", func(k *timing.KernelSpec) *float64 { return &k.GroupedCycles })
	each("patch_bytes_per_cycle", func(k *timing.KernelSpec) *float64 { return &k.PatchBytes })
	each("scalar_cycles", func(k *timing.KernelSpec) *float64 { return &k.ScalarCycles })
	each("operation_cycles", func(k *timing.KernelSpec) *float64 { return &k.OperationCycles })
	all := require.V(Networks())(t)
	for _, sets := range [][]string{{"prime", "gold", "gold2", "gold3", "prime+gold"}, {"a55"}, {"a75-9820"}, {"a75-710"}} {
		var rows []row
		for _, r := range all {
			if r.Role == "fit" && slices.Contains(sets, r.Cores) {
				rows = append(rows, row{r, works(t, r)})
			}
		}
		rms := func(key string, f float64) float64 {
			sum := 0.
			for _, set := range sets {
				s := require.V(specOf(set))(t)
				if key != "" {
					keys[key](s, f)
				}
				for _, r := range rows {
					if r.Cores != set {
						continue
					}
					m := require.V(s.NewMeter(len(r.works)))(t)
					for i := range r.works {
						m.Add(i, &r.works[i])
					}
					off := math.Log(float64(m.Timing().TimeFs) / 1e12 / r.Ms)
					sum += off * off
				}
			}
			return math.Sqrt(sum / float64(len(rows)))
		}
		now := rms("", 1)
		for key := range keys {
			for _, f := range []float64{0.9, 1.1} {
				if r := rms(key, f); r < now-0.01 {
					t.Errorf("%v: rms %.2f %%, with %s x %.1f %.2f %%", sets, 100*now, key, f, 100*r)
				}
			}
		}
	}
}

// works is the work of a row's operations.
func works(t *testing.T, r Row) (l []opspec.Work) {
	m := require.V(model(r.What, r.Type == "f32"))(t)
	g := require.V((*opspec.Table)(nil).Resolve(&m.Main))(t)
	v := (*opspec.Table)(nil).ModelView(g)
	for i := range g.Operations {
		w := require.V(v.Work(&g.Operations[i]))(t)
		l = append(l, w)
	}
	return l
}
