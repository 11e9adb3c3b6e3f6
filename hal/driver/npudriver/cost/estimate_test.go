package cost

import (
	"fmt"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu"
)

// hand is a machine of round numbers.
var hand = npu.Spec{
	Cores: 1, UBlock: npu.UBlock{H: 2, W: 2, D: 8, IFM: 8}, DepthwiseTaps: 4, WeightsPerCycle: 16, ShramBytes: 48 << 10, ShramBank: 1 << 10,
	OutputCycles: [npu.NumOutClasses]float64{npu.OutOther: 1, npu.OutAdd: 2, npu.OutMul: 3, npu.OutMaxPool: 4, npu.OutBinary32: 5, npu.OutUnary32: 6}, TableCycles: 2.5,
	Memories:     []npu.MemorySpec{{BytesPerCycle: 16, BurstBytes: 64, ReadLatency: 10, WriteLatency: 20}, {BytesPerCycle: 4, BurstBytes: 128, ReadLatency: 100, WriteLatency: 50}},
	RegionMemory: [8]int{1}, DMASetup: 30,
}

// kernelOf is a kernel of 10 x 12 outputs, from and to so many channels, of 3 x 5 taps.
func kernelOf(kind kernel.Kind, from, to int) *kernel.Kernel {
	k := &kernel.Kernel{Shape: kernel.Shape{Kind: kind, KH: 3, KW: 5}}
	k.Defaults()
	k.IFM.FeatureMap, k.OFM.FeatureMap = layout.Dense(0, 12, 16, from, 1, false), layout.Dense(0, 10, 12, to, 1, false)
	return k
}

// TestSides: how many blocks of a side there are and what they need of the input, worked out by hand.
func TestSides(t *testing.T) {
	sized := func(kind kernel.Kind, from int, edit func(k *kernel.Kernel)) *estimator {
		k := kernelOf(kind, from, 20)
		if edit != nil {
			edit(k)
		}
		e := newEstimator(&hand, k)
		return &e
	}
	conv, element := sized(kernel.Conv, 20, nil), sized(kernel.Elementwise, 20, nil)
	strided := sized(kernel.Conv, 20, func(k *kernel.Kernel) { k.SY, k.SX, k.DY, k.DX = 3, 2, 2, 2 })
	taps := sized(kernel.Conv, 20, func(k *kernel.Kernel) { k.PartKernel = true })
	wide := hand
	wide.UBlock.IFM = 64
	array := newEstimator(&wide, kernelOf(kernel.Conv, 100, 20))
	for name, c := range map[string]struct{ got, want side }{
		"rows":                       {conv.row(4), side{4, 3, 6, 6}},
		"rows beyond the output":     {conv.row(16), side{16, 1, 18, 12}},
		"odd rows":                   {conv.row(5), side{5, 2, 8, 8}}, // 7, in whole micro-blocks
		"columns":                    {conv.column(6), side{6, 2, 10, 10}},
		"columns beyond the output":  {conv.column(14), side{14, 1, 18, 16}},
		"rows of stride 3":           {strided.row(4), side{4, 3, 14, 14}},    // 9 + 5
		"columns of stride 2":        {strided.column(6), side{6, 2, 18, 18}}, // 10 + 8 of 9
		"rows of elements":           {element.row(7), side{7, 2, 7, 7}},      // no window, no micro-blocks
		"columns of elements":        {element.column(5), side{5, 3, 5, 5}},   // likewise
		"channels of a sum":          {conv.depth(16), side{16, 2, 24, 24}},   // of the input, in eights
		"channels, at most 32":       {sized(kernel.Conv, 40, nil).depth(8), side{8, 3, 32, 32}},
		"channels by taps":           {taps.depth(16), side{16, 2, 16, 16}},
		"channels of an array":       {array.depth(16), side{16, 2, 64, 64}},
		"few channels":               {sized(kernel.Conv, 3, nil).depth(8), side{8, 3, 8, 8}},
		"9 channels":                 {sized(kernel.Conv, 9, nil).depth(8), side{8, 3, 16, 16}},
		"channels of elements":       {element.depth(24), side{24, 1, 24, 20}},
		"channels of depthwise":      {sized(kernel.Depthwise, 20, nil).depth(16), side{16, 2, 16, 16}},
		"channels of a reducing sum": {sized(kernel.Pool, 20, func(k *kernel.Kernel) { k.Mode = ethosu.PoolReduceSum }).depth(8), side{8, 3, 24, 24}},
	} {
		if c.got != c.want {
			t.Errorf("%s: %+v, want %+v", name, c.got, c.want)
		}
	}
	two := sized(kernel.Conv, 20, func(k *kernel.Kernel) { k.IFM.Bytes = 2 })
	if a, b := conv.inputBytes(3, 5, 12), two.inputBytes(3, 5, 13); a != 3*5*16 || b != 3*5*32 {
		t.Errorf("%d bytes of input, %d of 16 bits", a, b)
	}
}

// TestMoved: the bytes of blocks of 4 x 6 x 8 of 10 x 12 x 20: 3 x 2 planes, 3 blocks of channels.
func TestMoved(t *testing.T) {
	for name, c := range map[string]struct {
		kind    kernel.Kind
		weights int // per output and tap
		want    int64
	}{
		"conv":        {kernel.Conv, 40, 6*10*32*6*3*2 + 15*40*20*6 + 6*4*6*3*8}, // 32 and 8 of 40 channels
		"depthwise":   {kernel.Depthwise, 1, 6*10*8*6*3 + 15*1*20*6 + 6*4*6*3*8},
		"elementwise": {kernel.Elementwise, 0, 4*6*8*6*3 + 6*4*6*3*8},
	} {
		k := kernelOf(c.kind, 40, 20)
		if c.weights > 0 {
			k.Weights = &kernel.Weights{Form: kernel.PerOutput, Inputs: c.weights, Outputs: 20, Taps: 15}
		}
		e := newEstimator(&hand, k)
		row, column, deep := e.row(4), e.column(6), e.depth(8)
		require.Same(t, c.want, e.moved(&row, &column, &deep), name, "bytes")
	}
}

// TestSteps: cycles of a micro-block, tiles of an array and rates of the output, worked out by hand.
func TestSteps(t *testing.T) {
	byTaps := kernelOf(kernel.Conv, 20, 20)
	byTaps.PartKernel = true
	most, sum := kernelOf(kernel.Pool, 20, 20), kernelOf(kernel.Pool, 40, 20)
	most.Mode, sum.Mode = ethosu.PoolMax, ethosu.PoolReduceSum
	small := kernelOf(kernel.Pool, 20, 20)
	small.KH, small.KW = 1, 3
	for i, c := range []struct {
		k    *kernel.Kernel
		want float64
	}{
		{kernelOf(kernel.Conv, 32, 20), 4 * 15}, {kernelOf(kernel.Conv, 33, 20), 4 * 15 * 2}, {byTaps, 4 * 4 * 3},
		{kernelOf(kernel.Depthwise, 20, 20), 4 * 4}, {most, 15}, {small, 4}, {sum, 4 * 15 * 2},
	} {
		if got := steps(&hand, c.k); got != c.want {
			t.Errorf("kernel %d: %g cycles, want %g", i, got, c.want)
		}
	}
	point := kernelOf(kernel.Depthwise, 33, 33)
	point.KH, point.KW = 1, 1
	array := hand
	array.PackTaps, array.UBlock = true, npu.UBlock{H: 1, W: 1, D: 16, IFM: 32} // 32 cycles to load a tile
	for i, c := range []struct {
		k             *kernel.Kernel
		planes, depth int
		want          float64
	}{
		{kernelOf(kernel.Conv, 20, 20), 1, 16, 10 * 2 * 120}, // 300 rows: 10 tiles, of 16 and 4 channels
		{kernelOf(kernel.Conv, 20, 20), 6, 16, 10 * 2 * 6 * 32},
		{kernelOf(kernel.Depthwise, 20, 20), 1, 16, (8 + 2) * 120}, // 16 channels of 15 taps, then 4, in rows of 32
		{kernelOf(kernel.Depthwise, 4, 4), 1, 16, 2 * 120},         // fewer than the block
		{kernelOf(kernel.Depthwise, 20, 20), 1, 1, 20 * 120},
		{point, 1, 32, (2 + 1) * 120}, // 32 channels of a tap would fit, the columns use 16
		{most, 2, 16, (8 + 2) * 120},
	} {
		e := newEstimator(&array, c.k)
		w := deep{estimator: &e}
		w.tiles, w.load = e.countTiles(c.depth)
		if got := w.work(c.planes); got != c.want {
			t.Errorf("array, kernel %d: %g cycles, want %g", i, got, c.want)
		}
	}
	element := func(mode, bytes int, two, table bool) *kernel.Kernel {
		k := kernelOf(kernel.Elementwise, 20, 20)
		k.Mode, k.IFM.Bytes = mode, bytes
		if two {
			k.IFM2 = &layout.Ref{}
		}
		if table {
			k.Table = make([]byte, 256)
		}
		return k
	}
	for i, c := range []struct {
		k    *kernel.Kernel
		want float64
	}{
		{element(ethosu.EltAdd, 1, true, false), 2}, {element(ethosu.EltSub, 2, true, false), 2}, {element(ethosu.EltMul, 1, true, false), 3},
		{element(ethosu.EltMax, 1, true, false), 1}, {element(ethosu.EltMul, 4, true, false), 5}, {element(ethosu.EltAbs, 4, false, false), 6},
		{element(ethosu.EltAdd, 1, true, true), 2.5}, {element(ethosu.EltMul, 1, true, true), 3}, {most, 4}, {sum, 1}, {byTaps, 1},
	} {
		if got := elementCycles(&hand, c.k); got != c.want {
			t.Errorf("output of kernel %d: %g cycles, want %g", i, got, c.want)
		}
	}
}

// TestRate: bytes per cycle of runs that fill a burst of 64 bytes, or a part.
func TestRate(t *testing.T) {
	bricks := layout.Dense(0, 10, 12, 20, 1, false).Bricks()
	dense := layout.Dense(0, 10, 12, 20, 1, false)
	apart := dense // a part of wider pixels
	apart.StrideX *= 2
	for i, c := range []struct {
		f               *layout.FeatureMap
		channels, width int
		want            float64
	}{
		{&dense, 20, 1, 16}, {&dense, 8, 12, 2}, {&apart, 20, 12, 5}, {&apart, 24, 12, 5}, {&bricks, 8, 12, 10}, {&bricks, 8, 2, 5}, {&bricks, 8, 99, 10},
	} {
		if got := rate(&hand.Memories[0], c.f, c.channels, c.width); got != c.want {
			t.Errorf("%d: %g bytes per cycle, want %g", i, got, c.want)
		}
	}
}

// TestGranules: Arm's table of banks.
func TestGranules(t *testing.T) {
	got := ""
	for _, banks := range []int{15, 16, 24, 48, 96} {
		in, acc := granules(banks)
		got += fmt.Sprintf("%d: %d %d, ", banks, in, acc)
	}
	if want := "15: 2 2, 16: 2 4, 24: 4 8, 48: 8 16, 96: 2 2, "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestParts: the cycles of a kernel of blocks of 4 x 6 x 8 on each unit, computed by hand: 18 blocks in 6 planes, 6200
// bytes of weights and records, 25920 bytes of input and 2400 of output. Parts are compared with those of the first row.
func TestParts(t *testing.T) {
	parts := func(edit func(k *kernel.Kernel)) Parts {
		k := kernelOf(kernel.Conv, 20, 20)
		k.IFM.Value, k.OFM.Value = 1, 2
		k.Block = kernel.Block{H: 4, W: 6, D: 8}
		k.Weights = &kernel.Weights{Form: kernel.PerOutput, Inputs: 20, Outputs: 20, Taps: 15, Bits: 8}
		if edit != nil {
			edit(k)
		}
		return Estimate(&hand, k)
	}
	plain := Parts{Array: 5400, Output: 2400, Memory: 1620 + 1200 + 2325, Fetch: 2325, Fixed: 30 + 2400./18}
	for name, c := range map[string]struct {
		edit func(k *kernel.Kernel)
		want func(p *Parts)
	}{
		"plain":         {nil, nil},
		"direct":        {func(k *kernel.Kernel) { k.Direct = true }, func(p *Parts) { p.Fetch = 6 * 6200 / 4. }},
		"few weights":   {func(k *kernel.Kernel) { k.Block.H, k.Block.W = 10, 12 }, func(p *Parts) { p.Memory, p.Fetch, p.Fixed = 12*16*24*3/16.+1200+6200/16., 1550, 30+800 }},
		"far output":    {func(k *kernel.Kernel) { k.OFM.OffChip = true }, func(p *Parts) { p.Memory, p.OffChip = p.Memory-1200, 2400/.25 }},
		"far input":     {func(k *kernel.Kernel) { k.IFM.OffChip = true }, func(p *Parts) { p.Memory, p.OffChip = p.Memory-1620, 25920/4. }},
		"constant":      {func(k *kernel.Kernel) { k.IFM.Value = layout.Placed; k.IFM.Region = layout.RegionConst }, func(p *Parts) { p.Memory, p.OffChip, p.Fixed = p.Memory-1620, 25920/4., p.Fixed+90 }},
		"table":         {func(k *kernel.Kernel) { k.Table = []byte{255: 0} }, func(p *Parts) { p.Output, p.Fixed = 6000, 30+6000./18+30+100+64 }},
		"copy":          {func(k *kernel.Kernel) { k.Kind = kernel.Copy }, func(p *Parts) { *p = Parts{Fetch: 3840 / 4., Fixed: 130} }},
		"of many":       {func(k *kernel.Kernel) { k.IFM.FeatureMap = layout.Dense(0, 12, 16, 80, 1, false) }, func(p *Parts) { p.Array, p.Memory = 3*5400, 6*10*32*18*2.5/(16*48/64.)+1200+2325 }},
		"narrow weight": {func(k *kernel.Kernel) { k.Weights.Bits = 4 }, func(p *Parts) { p.Memory, p.Fetch = p.Memory-2325+1200, 1200 }},
	} {
		want := plain
		if c.want != nil {
			c.want(&want)
		}
		if got := parts(c.edit); fmt.Sprintf("%.6g", got) != fmt.Sprintf("%.6g", want) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// TestTimeOfParts: the slowest unit and the latencies; without the weights, their time does not count.
func TestTimeOfParts(t *testing.T) {
	for i, p := range []Parts{{Array: 9}, {Output: 9}, {Memory: 9}, {OffChip: 9}, {Fetch: 9}} {
		p.Fixed = 4
		working := 13.
		if p.Fetch > 0 {
			working = 4
		}
		if p.Cycles() != 13 || p.Working() != working {
			t.Errorf("unit %d: %d cycles, %g without weights", i, p.Cycles(), p.Working())
		}
	}
}

// TestConstantsTouch: constants of which a block reads all channels have the rate of their memory, however few a
// pixel has; parts of their channels, and maps off chip, are read in bursts of 128 bytes.
func TestConstantsTouch(t *testing.T) {
	e := newEstimator(&hand, kernelOf(kernel.Elementwise, 1, 1))
	e.offChip, e.onChip = &hand.Memories[1], &hand.Memories[0]
	for name, c := range map[string]struct {
		h, w, c, channels int
		far               bool
		want              float64 // bytes per cycle
	}{
		"a scalar":             {1, 1, 1, 1, false, 4},
		"a scalar of a map":    {1, 1, 1, 1, true, 0.125}, // 4 of 128 bytes
		"a column":             {3, 1, 1, 16, false, 4},
		"half of the channels": {3, 1, 16, 8, false, 1}, // 32 of 128 bytes
	} {
		r := layout.Ref{FeatureMap: layout.Dense(0, c.h, c.w, c.c, 4, true), Value: layout.Placed}
		r.Region, r.OffChip = layout.RegionConst, c.far
		if got := e.flow(&r, c.channels, c.w, 100); got.rate != c.want || !got.offChip {
			t.Errorf("%s: %g bytes per cycle, want %g", name, got.rate, c.want)
		}
	}
}
