package cost

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// TestChooseBlock: the block of the search that leaves out what cannot be best is the first of all candidates by
// preference, of random kernels on machines of each kind; none is larger than the output in whole units.
func TestChooseBlock(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, preset := range []string{"pixel4", "ethos-u55-32", "ethos-u55-256", "ethos-u65-512"} {
		c := require.V(soc.Load(preset))(t)
		s := require.V(npu.FromSoC(c, sim.FastSingleAnswer))(t)
		for range 150 {
			k := randomKernel(r)
			q := newSearch(&s, k)
			for _, x := range []struct {
				sides            []side
				unit, size, most int
			}{{q.rows, s.UBlock.H, k.OFM.H, maxBlockH}, {q.columns, s.UBlock.W, k.OFM.W, maxBlockW}, {q.depths, s.UBlock.D, k.OFM.C, maxBlockD}} {
				if got, want := x.sides[len(x.sides)-1].size, min(roundUp(x.size, x.unit), x.most/x.unit*x.unit); got != want {
					t.Errorf("%s: blocks of %d for an output of %d, want up to %d", preset, got, x.size, want)
				}
			}
			all := slices.Collect(candidates(&s, k))
			if len(all) == 0 {
				if b := ChooseBlock(&s, k); b.D != 0 {
					t.Errorf("%s, %+v: %+v, where none fits", preset, k, b)
				}
				continue
			}
			want := slices.MinFunc(all, preference(all))
			if got := ChooseBlock(&s, k); got != want.Block {
				t.Fatalf("%s, %+v: %+v, want %+v", preset, k, got, want)
			}
		}
	}
}

// randomKernel is a kernel of any kind and shape.
func randomKernel(r *rand.Rand) *kernel.Kernel {
	k := &kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Kind(1 + r.IntN(int(kernel.Elementwise)))}}
	oh, ow, oc := 1+r.IntN(70), 1+r.IntN(70), 1+r.IntN(200)
	ic := 1 + r.IntN(100)
	k.Defaults()
	switch k.Kind {
	case kernel.Elementwise:
		ic = oc
	default:
		k.KH, k.KW, k.SY, k.SX = 1+r.IntN(5), 1+r.IntN(5), 1+r.IntN(3), 1+r.IntN(3)
		k.PartKernel = k.Kind == kernel.Conv && r.IntN(2) > 0
	}
	if k.Kind == kernel.Pool {
		k.Mode = []int{ethosu.PoolMax, ethosu.PoolAverage, ethosu.PoolReduceSum}[r.IntN(3)]
	}
	if k.Kind == kernel.Depthwise {
		ic = oc
	}
	ih, iw := (oh-1)*k.SY+k.KH, (ow-1)*k.SX+k.KW
	feature := func(h, w, c int) layout.Ref {
		f := layout.Dense(0, h, w, c, 1+3*(r.IntN(8)/7), false)
		if r.IntN(3) == 0 {
			f = f.Bricks()
		}
		f.OffChip = r.IntN(2) > 0
		return layout.Ref{Value: r.IntN(3) + layout.Placed, FeatureMap: f}
	}
	k.IFM, k.OFM = feature(ih, iw, ic), feature(oh, ow, oc)
	if k.Kind == kernel.Elementwise && r.IntN(2) > 0 {
		second := feature(oh, ow, oc)
		k.IFM2 = &second
	}
	if k.Kind == kernel.Conv || k.Kind == kernel.Depthwise {
		k.Weights = &kernel.Weights{Form: kernel.PerOutput, Outputs: oc, Taps: k.KH * k.KW, Inputs: ic, Bits: 1 + 8*r.Float64()}
		if k.Kind == kernel.Depthwise {
			k.Weights.Form = kernel.PerTap
		}
		k.Direct = r.IntN(2) > 0
	}
	if r.IntN(4) == 0 {
		k.Table = make([]byte, 256)
	}
	return k
}
