package soc

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// changedBy loads pixel4 with changes as --set has them.
func changedBy(t *testing.T, texts ...string) *Config {
	t.Helper()
	var list []Change
	for _, s := range texts {
		list = append(list, require.V(ParseChange(s))(t))
	}
	return require.V(LoadChanged("pixel4", list...))(t)
}

// TestAliases: an alias writes what its numbers written one by one do.
func TestAliases(t *testing.T) {
	before := require.V(Load("pixel4"))(t)
	for _, e := range []struct {
		name string
		of   func(c *Config) *Clock
	}{
		{"cpu", func(c *Config) *Clock { return &c.CPU.Clusters[0].Clock }}, {"gpu", func(c *Config) *Clock { return &c.GPU.Clock }},
		{"dsp", func(c *Config) *Clock { return &c.DSP.Clock }}, {"npu", func(c *Config) *Clock { return &c.NPU.Clock }},
	} {
		for _, factor := range []string{"0.8", "1.5"} {
			now, was := e.of(changedBy(t, e.name+".clock=*"+factor)), e.of(before)
			by := map[string]float64{"0.8": 0.8, "1.5": 1.5}[factor]
			near := func(a, b float64) bool { return math.Abs(a-b*by) < 1e-6*b }
			ok := near(now.FastMHz, was.FastMHz) && near(now.SustainedMHz, was.SustainedMHz) && near(now.LowPowerMHz, was.LowPowerMHz)
			for i := range was.OPPs {
				ok = ok && near(now.OPPs[i].MHz, was.OPPs[i].MHz)
			}
			require.Check(t, ok, "%s.clock=*%s: %+v", e.name, factor, now)
		}
	}
	require.Same(t, 600.0, changedBy(t, "npu.clock=600").NPU.Clock.FastMHz, "npu.clock=600")
	a := changedBy(t, "npu.array=32x32").NPU
	require.Check(t, a.Ublock == [3]int{2, 4, 32} && a.IFMDepth == before.NPU.IFMDepth, "npu.array=32x32: %v, %d", a.Ublock, a.IFMDepth)
	require.Same(t, before.NPU.Ublock, changedBy(t, "npu.array=64x64").NPU.Ublock, "the array of pixel4")
	require.Same(t, 2133.0, changedBy(t, "dram.bandwidth=*0.5").DRAM.MTPerS, "dram.bandwidth=*0.5")
	for text, want := range map[string]string{
		"npu.array=30x32": "30 rows, want a multiple of npu.ifm_depth, 4", "npu.array=32": "want ROWSxCOLUMNS", "npu.clock=*-1": "want a number above 0", "npu.clock=*1e9": "npu.clock.opps[0].mhz",
		"dram.bandwidth=fast": "want a number above 0",
	} {
		_, err := LoadChanged("pixel4", require.V(ParseChange(text))(t))
		require.Check(t, err != nil && strings.Contains(err.Error(), want), "%s: %v, want %q", text, err, want)
	}
	_, err := LoadChanged("pixel4", Change{"npu.clock", "*0.8"}, Change{"npu.clock.fast_mhz", "474"})
	require.Check(t, err != nil && strings.Contains(err.Error(), "is changed twice"), "%v", err)
	for _, x := range Aliases() {
		y, list, ok, err := Meant("pixel4", x.Key, "")
		require.Check(t, ok && err == nil && len(list) > 0 && y.Key == x.Key && strings.HasSuffix(x.Meaning, "."), "%s: %v %v", x.Key, list, err)
	}
}

// TestShapes: the same products suit layers differently.
func TestShapes(t *testing.T) {
	list := Shapes(1024)
	require.Same(t, 4, len(list), "ways to write 1024")
	for _, s := range list {
		require.Same(t, 1024, s.Ublock[0]*s.Ublock[1]*s.Ublock[2]*s.IFMDepth, "products of", s)
	}
	depthwise := slices.IndexFunc(Layers, func(l Layer) bool { return l.Inputs == 1 })
	wide, deep := list[0].Use(&Layers[depthwise]), list[3].Use(&Layers[depthwise])
	require.Check(t, wide == 0.25 && deep == 1.0/16, "depthwise fills %v of the wide shape, %v of the deep one", wide, deep)
	require.Same(t, 0, len(Shapes(1000)), "ways to write 1000")
}
