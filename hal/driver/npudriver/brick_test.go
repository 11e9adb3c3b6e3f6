package npudriver

import (
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower/family"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/plan"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/testvectors/drivertest"
)

// TestBricks: maps between kernels are in bricks where that is estimated to save cycles; the program then
// needs fewer, and its outputs are the reference's.
func TestBricks(t *testing.T) {
	d := newDevice(t, "ethos-u55-128", Config{OnChipBytes: 4 << 20})
	b := builder.New(builder.Config{Format: builder.Quant8Signed})
	x := b.Values("input", 1, 6, 6, 64)
	for range 3 { // what a block of 16 channels reads of a pixel is shorter than a burst
		x = b.Conv(x, builder.Conv{Out: 128, Kernel: 1})
		x = b.Depthwise(x, builder.Conv{Kernel: 3})
	}
	b.Output(x, "output")
	m := require.V(b.Model("pointwise and depthwise"))(t)
	for i := range m.Main.Operands { // of 1x1: they compress well
		if o := &m.Main.Operands[i]; len(o.Dimensions) == 4 && o.Dimensions[0] == 128 {
			for k := range o.Data {
				o.Data[k] = byte(k % 2)
			}
		}
	}
	g := canonical(t, d, m)
	list := require.V(lower.Graph(family.Table(), &d.cfg.Spec, g, nil, nil))(t)
	chosen := require.V(plan.New(d.target(), list))(t)
	plain := require.V(plan.Build(d.target(), list))(t)
	var steps strings.Builder
	require.NoError(t, chosen.Steps.Write(&steps))
	if n := strings.Count(steps.String(), " bricks]"); n < 2 || n%2 != 0 {
		t.Errorf("%d maps in bricks, want both sides of some\n%s", n, steps.String())
	}
	_, with := require.V2(assemble(d, g, chosen).cycles())(t)
	_, without := require.V2(assemble(d, g, plain).cycles())(t)
	if chosen.Cycles >= plain.Cycles || with >= without {
		t.Errorf("%d cycles in bricks (estimated %.0f), %d without (%.0f)", with, chosen.Cycles, without, plain.Cycles)
	}
	var inputs [][]byte
	for i, in := range m.Main.Inputs {
		inputs = append(inputs, tensor.Synthetic(&m.Main.Operands[in], uint32(i)))
	}
	drivertest.Exact(t, d, m, inputs, true)
}
