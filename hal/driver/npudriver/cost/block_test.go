package cost

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/npu"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// TestBlocks: candidates are whole microblocks whose buffers of inputs and sums lie apart in SHRAM, and
// the chosen one is the first of them by its estimate and its bytes.
func TestBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, name := range []string{"pixel4", "ethos-u55-32", "ethos-u65-512"} {
		c := require.V(soc.Load(name))(t)
		s := require.V(npu.FromSoC(c, sim.FastSingleAnswer))(t)
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
				// Two buffers of sums, 32 bits of each element in whole eights of channels, lie between ABStart and the tables.
				banks := min(s.ShramBytes/s.ShramBank, 63) - max(1, 2048/s.ShramBank)
				need := 2 * ((b.H*b.W*((b.D+7)/8*8)*4 + s.ShramBank - 1) / s.ShramBank)
				if room := banks - b.ABStart; room < need || room >= need+16 {
					t.Fatalf("%s: block %+v has %d banks for sums, it takes %d", name, b, room, need)
				}
				in, sums := granules(s.ShramBytes / s.ShramBank)
				if (b.IBEnd-2)%in != 0 || (banks-b.ABStart)%sums != 0 {
					t.Fatalf("%s: block %+v, of %d banks for inputs and %d for sums", name, b, in, sums)
				}
				least = min(least, x.Cycles)
			}
			if float64(list[0].Cycles) > nearBest*float64(least) {
				t.Fatalf("%s: the chosen block takes %d cycles, another %d", name, list[0].Cycles, least)
			}
		}
	}
}

// TestSmallSHRAM: a machine is accepted if and only if its SHRAM holds a block of every kind of kernel, with the largest windows
// that registers name: no operation whose window is not known yet fails for want of one.
func TestSmallSHRAM(t *testing.T) {
	fm := func(size, c, bytes int) layout.Ref {
		return layout.Ref{FeatureMap: layout.Dense(0, size, size, c, bytes, false)}
	}
	kernels := []kernel.Kernel{
		{Shape: kernel.Shape{Kind: kernel.Conv}, IFM: fm(300, 512, 2), OFM: fm(100, 256, 2)},
		{Shape: kernel.Shape{Kind: kernel.Depthwise}, IFM: fm(300, 256, 2), OFM: fm(100, 256, 2)},
		{Shape: kernel.Shape{Kind: kernel.Elementwise}, IFM: fm(100, 256, 4), OFM: fm(100, 256, 4)},
	}
	kernels[2].IFM2 = &kernels[2].IFM
	for i := range kernels[:2] {
		k := &kernels[i]
		k.KH, k.KW, k.SY, k.SX = 64, 64, 3, 3
		k.Weights = &kernel.Weights{Form: kernel.PerOutput, Outputs: 256, Taps: k.KH * k.KW, Inputs: k.IFM.C, Channels: 256}
	}
	for i := range kernels {
		kernels[i].Defaults()
	}
	r := rand.New(rand.NewPCG(11, 12))
	pick := func(list ...int) int { return list[r.IntN(len(list))] }
	accepted := map[bool]int{}
	for range 400 {
		bank := pick(1, 1, 2, 4, 8)
		shram := bank * pick(2, 4, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64)
		u, depth := [3]int{pick(1, 1, 2, 4), pick(1, 2, 4), 8 * pick(1, 2, 4, 8, 16)}, 8*pick(1, 2, 8, 32)
		if 8*u[0]*u[1]*u[2] > shram<<10 || shram < 4 {
			continue // refused by npu.ublock, and by the range
		}
		var changes []soc.Change
		for _, text := range []string{
			fmt.Sprint("npu.shram_kib=", shram), fmt.Sprint("npu.shram_bank_kib=", bank), fmt.Sprint("npu.ifm_depth=", depth),
			fmt.Sprintf("npu.ublock=%dx%dx%d", u[0], u[1], u[2]),
		} {
			x := require.V(soc.ParseChange(text))(t)
			changes = append(changes, x)
		}
		_, err := soc.LoadChanged("pixel4", changes...)
		c, e := soc.Load("pixel4")
		require.NoError(t, e)
		c.NPU.ShramKiB, c.NPU.ShramBankKiB, c.NPU.IFMDepth, c.NPU.Ublock = shram, bank, depth, u
		s, e := npu.FromSoC(c, sim.FastSingleAnswer)
		require.NoError(t, e)
		fits := true
		for i := range kernels {
			fits = fits && AnyBlock(&s, &kernels[i]).D > 0
		}
		if fits != (err == nil) {
			t.Errorf("%v: a block of each kernel: %v, error %v", changes, fits, err)
		}
		if err != nil && !strings.Contains(err.Error(), "npu.shram_kib: ") {
			t.Errorf("%v: %v", changes, err)
		}
		accepted[fits]++
	}
	if accepted[true] < 100 || accepted[false] < 50 {
		t.Errorf("machines by whether they hold a block of each kernel: %v", accepted)
	}
}

// TestOperations: the first kernel of an operation has the machine's cost of an operation, copies do not.
func TestOperations(t *testing.T) {
	run := Operations{Spec: &npu.Spec{OperationCycles: 70}}
	for i, c := range []struct {
		op   int
		kind kernel.Kind
		want int64
	}{{-1, kernel.Copy, 0}, {0, kernel.Conv, 70}, {0, kernel.Pool, 0}, {0, kernel.Copy, 0}, {0, kernel.Conv, 0}, {1, kernel.Copy, 0}, {1, kernel.Conv, 70}, {0, kernel.Conv, 70}} {
		require.Same(t, c.want, run.Begin(c.op, &kernel.Kernel{Shape: kernel.Shape{Kind: c.kind}}), "kernel", i, "cycles")
	}
}
