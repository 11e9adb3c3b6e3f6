package cost

import (
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/npu/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npu/layout"
	core "github.com/nnsoc/nnsoc/npu"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// TestBlocks: candidates are whole microblocks whose buffers of inputs and sums lie apart in SHRAM, and
// the chosen one is the first of them by its estimate and its bytes.
func TestBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, name := range []string{"pixel4", "ethos-u55-32", "ethos-u65-512"} {
		c, err := soc.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := core.FromSoC(c, sim.FastSingleAnswer)
		if err != nil {
			t.Fatal(err)
		}
		for range 60 {
			h, w, in, out := 1+r.IntN(40), 1+r.IntN(40), 1+r.IntN(96), 1+r.IntN(96)
			k := kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Conv, KH: 1 + r.IntN(3), KW: 1 + r.IntN(3)},
				IFM: layout.Ref{FeatureMap: layout.Dense(0, h+2, w+2, in, 1, false)}, OFM: layout.Ref{FeatureMap: layout.Dense(0, h, w, out, 1, false)}}
			k.Weights = &kernel.Weights{Form: kernel.PerOutput, Outputs: out, Taps: k.KH * k.KW, Inputs: in, Channels: out}
			k.Defaults()
			list := Blocks(&s, &k, 1<<20)
			if len(list) == 0 {
				t.Fatalf("%s: no block for %dx%dx%d to %d", name, h, w, in, out)
			}
			if chosen := ChooseBlock(&s, &k); chosen != list[0].Block {
				t.Fatalf("%s: block %+v, the first is %+v", name, chosen, list[0].Block)
			}
			least := list[0].Cycles
			for _, x := range list {
				b, u := x.Block, s.UBlock
				if b.H%u.H != 0 || b.W%u.W != 0 || b.D%u.D != 0 || b.H*b.W*b.D == 0 {
					t.Fatalf("%s: block %+v of microblocks %+v", name, b, u)
				}
				if b.IBEnd > b.ABStart || b.ABStart > s.ShramBytes/s.ShramBank {
					t.Fatalf("%s: inputs to bank %d, sums from %d of %d", name, b.IBEnd, b.ABStart, s.ShramBytes/s.ShramBank)
				}
				least = min(least, x.Cycles)
			}
			if float64(list[0].Cycles) > alike*float64(least) {
				t.Fatalf("%s: the chosen block takes %d cycles, another %d", name, list[0].Cycles, least)
			}
		}
	}
}
