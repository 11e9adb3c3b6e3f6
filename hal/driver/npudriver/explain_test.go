package npudriver

import (
	"strconv"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/cost"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower/family"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/plan"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/npu"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// TestExplain: every kernel of a network has its block first among the candidates, and cycles of its
// own, which add up to those of the program.
func TestExplain(t *testing.T) {
	c := require.V(soc.Load("pixel4"))(t)
	spec := require.V(npu.FromSoC(c, sim.FastSingleAnswer))(t)
	d := require.V(New(Config{Spec: spec, OnChipBytes: 8 << 20, NewLevels: func() ([]mem.Level, error) { return npu.LevelsFromSoC(c) }}))(t)
	g := canonical(t, d, zoo.MustBuild("mobilenet_v1_0.25_128_quant"))
	list := require.V(lower.Graph(family.Table(), &spec, g, nil, nil))(t)
	kernels := 0
	for i := range list.Steps {
		k := &list.Steps[i].Kernel
		if k.Kind == kernel.Copy {
			continue
		}
		kernels++
		blocks := cost.Blocks(&spec, k, 5)
		if len(blocks) == 0 || blocks[0].Block != k.Block || k.Block != cost.ChooseBlock(&spec, k) {
			t.Fatalf("step %d has block %+v, the candidates are %+v", i, k.Block, blocks)
		}
		for _, c := range cost.Blocks(&spec, k, 1<<20) {
			if float64(blocks[0].Cycles) > 1.1*float64(c.Cycles) || c.Bytes < blocks[0].Bytes && c.Cycles <= blocks[0].Cycles {
				t.Errorf("step %d: %+v is chosen, not %+v", i, blocks[0], c)
			}
		}
	}
	prog := require.V(plan.New(plan.Own(&spec, d.cfg.OnChipBytes), list))(t)
	x := newExecutable(d, g, prog)
	_, all := require.V2(x.cycles())(t)
	var b strings.Builder
	require.NoError(t, x.Explain(&b))
	sum := int64(0)
	rows := 0
	for _, line := range strings.Split(b.String(), "\n") {
		f := strings.Fields(line)
		if len(f) == 6 && (f[2] == "conv" || f[2] == "depthwise" || f[2] == "pool") {
			rows++
		}
		if strings.Contains(line, "in or out") && (len(f) != 8 || number(t, f[6]) < number(t, f[5])/2) {
			t.Errorf("a copy takes less than half of its estimate: %s", line)
		}
		if len(f) == 4 && f[0] == "all" {
			sum = number(t, f[2])
		}
	}
	if rows < 28 || rows > kernels || sum < all*9/10 || sum > all {
		t.Errorf("%d rows of %d kernels, %d of %d cycles in\n%s", rows, kernels, sum, all, b.String())
	}
	if n := strings.Count(b.String(), ", chosen\n"); n < 28 {
		t.Errorf("%d chosen blocks", n)
	}
}

func number(t *testing.T, s string) int64 {
	n := require.V(strconv.ParseInt(s, 10, 64))(t)
	return n
}
