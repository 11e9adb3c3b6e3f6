package npu

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/sim"
)

// ideal is a machine of 128 multipliers, a micro-block of 2x2x8 that computes 32 products of each element in 4 cycles,
// whose memories cost nothing. Its other parameters all differ.
func ideal(t *testing.T) Spec {
	s := specOf(t, "ethos-u55-128")
	s.UBlock = UBlock{H: 2, W: 2, D: 8, IFM: 8}
	s.WeightsPerCycle, s.DepthwiseTaps, s.PipelineDelay, s.PipelineDelay40 = 32, 4, 5, 9
	s.OutputCycles = [NumOutClasses]float64{OutBinary32: 1.5, OutUnary32: 1.25, OutMul32: 1.75, OutMul: 1.125, OutAddSimple: 0.75, OutAdd: 0.875, OutMaxPool: 0.5, OutOther: 0.0625}
	s.TableCycles = 2.5
	s.ShramBank, s.ShramBytes = 16<<10, 48*16<<10 // for whole blocks
	s.LaunchCycles, s.CommandCycles, s.DMASetup = 0, 0, 0
	s.Memories = append([]MemorySpec(nil), s.Memories...)
	for i := range s.Memories {
		s.Memories[i].BytesPerCycle, s.Memories[i].ReadLatency, s.Memories[i].WriteLatency = 1e6, 0, 0
		s.Memories[i].Reads, s.Memories[i].Writes = 0, 0
	}
	return s
}

// TestBlockForms: so many more blocks cost so much more time. A block of 8x16 pixels has 32 micro-blocks of 2x2, one of
// 64 channels 8 micro-blocks in depth.
func TestBlockForms(t *testing.T) {
	const xy, nz, elements = 32, 8, 8 * 16 * 64
	of := func(l layer) layer { l.blk = [3]int{8, 16, 64}; return l }
	rows := func(ic, k, blocks int) layer { return of(conv(8*blocks, 16, ic, 64, k, 1)) }
	wide := func(l layer) layer {
		l.bits, l.signed, l.zp, l.out, l.lo, l.hi, l.round = 16, true, 0, 2, -30000, 30000, ethosu.RoundNatural
		return l
	}
	part := func(l layer) layer { l.partKernel = true; return l }
	for _, c := range []struct {
		name  string
		edit  func(*Spec)
		layer func(blocks int) layer
		want  int64
	}{
		{name: "1x1", layer: func(n int) layer { return rows(32, 1, n) }, want: 4 * xy * nz},
		{name: "1x1 of 64 channels", layer: func(n int) layer { return rows(64, 1, n) }, want: 2 * 4 * xy * nz},
		{name: "1x1 of 33 channels", layer: func(n int) layer { return rows(33, 1, n) }, want: 2 * 4 * xy * nz},
		{name: "3x3", layer: func(n int) layer { return rows(32, 3, n) }, want: 4 * xy * 9 * nz},
		{name: "9x9 in four parts of a kernel", layer: func(n int) layer { return rows(32, 9, n) }, want: 4 * xy * 81 * nz},
		{name: "3x3, 16 bits", layer: func(n int) layer { return wide(rows(32, 3, n)) }, want: 2 * 4 * xy * 9 * nz},
		// Taps in groups of 4 by 8 channels.
		{name: "3x3 by parts of the kernel", layer: func(n int) layer { return part(rows(8, 3, n)) }, want: 4 * xy * 3 * nz},
		{name: "3x3 by parts of the kernel, 24 channels", layer: func(n int) layer { return part(rows(24, 3, n)) }, want: 2 * 2 * 4 * xy * 3 * nz},
		{name: "depthwise 3x3", layer: func(n int) layer { return of(conv(8*n, 16, 64, 64, 3, 1).dw()) }, want: 4 * xy * 3 * nz},
		{name: "depthwise 5x5", layer: func(n int) layer { return of(conv(8*n, 16, 64, 64, 5, 1).dw()) }, want: 4 * xy * 7 * nz},
		{name: "depthwise, a tap at a time", edit: func(s *Spec) { s.DepthwiseTaps = 1 }, layer: func(n int) layer { return of(conv(8*n, 16, 64, 64, 3, 1).dw()) }, want: 4 * xy * 9 * nz},
		{name: "slow output unit", edit: func(s *Spec) { s.OutputCycles[OutOther] = 3 }, layer: func(n int) layer { return rows(32, 1, n) }, want: 3 * elements},
		{name: "slow weight decoder", edit: func(s *Spec) { s.WeightsPerCycle = 1 }, layer: func(n int) layer { return rows(32, 1, n) }, want: 4 * 8 * 8 * nz},
	} {
		s := ideal(t)
		if c.edit != nil {
			c.edit(&s)
		}
		two, six := runLayer(t, s, c.layer(2)), runLayer(t, s, c.layer(6))
		require.Same(t, 4*c.want, six.Cycles-two.Cycles, c.name, "four more blocks take", "cycles")
	}
}

// TestPixelForms: with one micro-block of pixels each step waits for the one before, and the weight decoder has nothing
// to hide behind.
func TestPixelForms(t *testing.T) {
	pixel := func(groups, oc, k int) layer {
		l := conv(k, k, 32*groups, oc, k, 1)
		l.oh, l.ow, l.top, l.left, l.blk = 1, 1, 0, 0, [3]int{2, 2, 64}
		return l
	}
	for _, c := range []struct {
		name  string
		edit  func(*Spec)
		layer func(groups int) layer
		want  int64 // of 32 more input channels
	}{
		{name: "64 channels", layer: func(n int) layer { return pixel(n, 64, 1) }, want: 8 * max(4, 4*8*8/32)},
		{name: "64 channels, fast decoder", edit: func(s *Spec) { s.WeightsPerCycle = 64 }, layer: func(n int) layer { return pixel(n, 64, 1) }, want: 8 * 4},
		{name: "8 channels", layer: func(n int) layer { return pixel(n, 8, 1) }, want: 8 + 5},
		{name: "8 channels, 3x3", layer: func(n int) layer { return pixel(n, 8, 3) }, want: 9 * (8 + 5)},
		{name: "16 channels, 3x3", layer: func(n int) layer { return pixel(n, 16, 3) }, want: 2*9*8 + 2*8*5},
	} {
		s := ideal(t)
		if c.edit != nil {
			c.edit(&s)
		}
		if got := runLayer(t, s, c.layer(6)).Cycles - runLayer(t, s, c.layer(2)).Cycles; got != 4*c.want {
			t.Errorf("%s: 128 more input channels take %d cycles, want %d", c.name, got, 4*c.want)
		}
	}
}

// TestMemoryForms: data that a memory delivers in time costs nothing; other data costs its bytes.
func TestMemoryForms(t *testing.T) {
	s := ideal(t)
	sram := s.RegionMemory[1]
	l := func(blocks int) layer {
		l := conv(8*blocks, 16, 32, 64, 1, 1)
		l.blk = [3]int{8, 16, 64}
		return l
	}
	growth := func(s Spec) int64 { return runLayer(t, s, l(10)).Cycles - runLayer(t, s, l(4)).Cycles }
	s.Memories[sram].BytesPerCycle = 4
	// Input and output share the port: 32 + 64 bytes a pixel.
	if got, want := growth(s), int64(6*8*16*(32+64)/4); got != want {
		t.Errorf("six more blocks through 4 bytes a cycle take %d cycles, want %d", got, want)
	}
	slow := runLayer(t, s, l(10))
	require.Same(t, sim.StallScratchpad, slow.Stalls.Largest(), "bound by")
	s.Memories[sram].BytesPerCycle = 16
	if got, want := growth(s), int64(6*4*32*8); got != want {
		t.Errorf("through 16 bytes a cycle they take %d cycles, want the array's %d", got, want)
	}
}

// TestWeightReads: the weight stream of a core costs a latency and its beats for each group of its own reads in flight,
// however much its memory lets through; two cores read halves concurrently.
func TestWeightReads(t *testing.T) {
	cycles := func(cores, reads int) int64 {
		s := ideal(t)
		u65 := specOf(t, "ethos-u65-512")
		s.Product, s.Cores, s.WeightReads, s.WeightsPerCycle = u65.Product, cores, reads, 1<<16
		s.Memories[s.RegionMemory[0]].ReadLatency = 500
		l := conv(1, 1, 512, 256, 1, 1)
		l.blk = [3]int{2, 2, 64}
		return runLayer(t, s, l).Cycles
	}
	near := func(what string, got, want int64) {
		if d := got - want; max(d, -d) > want/50 {
			t.Errorf("%s: %d cycles, want %d", what, got, want)
		}
	}
	free, sixteen, eight, four := cycles(1, 0), cycles(1, 16), cycles(1, 8), cycles(1, 4)
	if weights := int64(512 * 256 * 3 / 4); sixteen-free < weights/(16*128)*500 { // compressed a little
		t.Errorf("%d cycles without a limit, %d with 16 reads in flight", free, sixteen)
	}
	near("half as many reads, twice", four-eight, 2*(eight-sixteen))
	near("two cores of eight", cycles(2, 8)-cycles(2, 16), (eight-sixteen)/2)
}

// TestElementForms: an addition costs the output unit's time, or the transfer of its two inputs and its output.
func TestElementForms(t *testing.T) {
	growth := func(s Spec, e elt) int64 {
		c := require.V(New(s))(t)
		var cycles [2]int64
		for i, n := range []int{256, 1024} {
			e.a, e.b = make([]int32, n), make([]int32, n)
			_, rep := require.V2(e.timed(t, c))(t)
			cycles[i] = rep.Cycles
		}
		return cycles[1] - cycles[0]
	}
	add := elt{mode: ethosu.EltAdd, esz: 1, osz: 1, signed: true, scale: 1, opa: 2, opb: 1, lo: -128, hi: 127}
	s := ideal(t)
	if got, want := growth(s, add), int64(768*0.875); got != want {
		t.Errorf("768 more sums take %d cycles, want %d", got, want)
	}
	s.Memories[s.RegionMemory[1]].BytesPerCycle = 0.5
	if got, want := growth(s, add), int64(768*3*2); got != want {
		t.Errorf("768 more sums through half a byte a cycle take %d cycles, want %d", got, want)
	}
}
