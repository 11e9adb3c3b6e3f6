package gpudriver

import (
	"bytes"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/cost"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/soc"
	"github.com/nnsoc/nnsoc/testvectors/randgraph"
)

// overlapping is a device of a preset whose driver launches independent steps beside each other, or not.
func overlapping(t *testing.T, preset string, overlap bool) *Device {
	t.Helper()
	c := require.V(soc.Load(preset))(t)
	spec := require.V(gpu.FromSoC(c, sim.FastSingleAnswer))(t)
	d, err := New(Config{Spec: spec, Texels: c.GPU.Driver.Texels, Overlap: overlap,
		NewMemory: func() (mem.Level, error) { l, _, err := c.NewPath("gpu", 0); return l, err },
		MemoryRates: func() (cost.Machine, error) {
			r, err := c.MemoryRates(spec.L2.Line, spec.L2.MSHRs)
			return cost.Machine{MemoryBytesPerSecond: r.StreamPerSecond, MemoryNs: r.Alone.Seconds()*1e9 + spec.MemoryNs}, err
		}})
	require.NoError(t, err)
	return d
}

// branches is a block with as many convolutions of one input, whose outputs are concatenated.
func branches(n int) *modelBuilder {
	b := newModel(nn.TensorFloat16)
	x, _ := b.input(1, 1, 7, 7, 64)
	var parts []uint32
	for range n {
		w, _ := b.constant(0.1, 32, 1, 1, 64)
		bias, _ := b.constant(0.5, 32)
		mid, out := b.temporary(1, 7, 7, 32), b.temporary(1, 7, 7, 32)
		b.op(nn.OpConv2D, mid, x, w, bias, b.i32(2), b.i32(1), b.i32(1), b.i32(1))
		w, _ = b.constant(0.1, 32, 3, 3, 32)
		bias, _ = b.constant(0.5, 32)
		b.op(nn.OpConv2D, out, mid, w, bias, b.i32(1), b.i32(1), b.i32(1), b.i32(1))
		parts = append(parts, out)
	}
	b.op(nn.OpConcatenation, b.output(1, 7, 7, uint32(32*n)), append(parts, b.i32(3))...)
	return b
}

// TestOverlap: branches of a graph run beside each other with the same result in fewer cycles, about as many as
// estimated, and Explain prints the estimates.
func TestOverlap(t *testing.T) {
	for _, preset := range []string{"pixel4", "xclipse920"} {
		b := branches(4)
		var cycles [2]int64
		var outs [2][]byte
		for i, overlap := range []bool{false, true} {
			d := overlapping(t, preset, overlap)
			p := require.V(d.PrepareModel(&b.m, hal.PrepareOptions{}))(t)
			r := &hal.Buffers{Inputs: [][]byte{encode(b.t, b.inputs[0])}, Outputs: [][]byte{make([]byte, 2*7*7*32*4)}}
			res := require.V(hal.Execute(p, r))(t)
			cycles[i], outs[i] = res.Stats.Cycles, r.Outputs[0]
			var text strings.Builder
			require.NoError(t, p.(compile.Explainer).Explain(&text))
			if got := strings.Count(text.String(), "beside the launch of operation"); (got > 0) != overlap {
				t.Errorf("%s, overlap %v: %d launches compared:\n%s", preset, overlap, got, &text)
			}
			if overlap && (!strings.Contains(text.String(), "cycles, chosen\n    behind it: ") || !strings.Contains(text.String(), "slower")) {
				t.Errorf("%s: no launch is beside another:\n%s", preset, &text)
			}
			estimated, err := d.price(graphOf(t, &b.m))
			if ratio := float64(estimated) / float64(cycles[i]); err != nil || ratio < 0.6 || ratio > 1.5 {
				t.Errorf("%s, overlap %v: %d cycles, %d estimated, %v", preset, overlap, cycles[i], estimated, err)
			}
		}
		if !bytes.Equal(outs[0], outs[1]) {
			t.Errorf("%s: branches beside each other compute other values", preset)
		}
		if cycles[1] > cycles[0]*8/10 {
			t.Errorf("%s: %d cycles beside each other, %d one after the other", preset, cycles[1], cycles[0])
		}
	}
}

// TestRandomGraphsOverlap: random models have the reference's results where steps run beside each other.
func TestRandomGraphsOverlap(t *testing.T) {
	o := randgraph.Options{Seed: 41, Count: 150, Exact: true}
	if testing.Short() {
		o.Count = 30
	}
	r := require.V(randgraph.Run(overlapping(t, "xclipse920", true), o))(t)
	for _, f := range r.Failures {
		t.Errorf("%+v", f)
	}
	if r.Passed < o.Count*9/10 {
		t.Errorf("%d of %d models ran", r.Passed, o.Count)
	}
}
