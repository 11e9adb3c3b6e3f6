package texel_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/texel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kerneltest"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// numbers are n values between -1 and 1, exact in halves.
func numbers(r *rand.Rand, n int) []float32 { return kerneltest.Numbers(r, n, 512, 512) }

// shape is a convolution.
type shape struct {
	w                                opspec.Window
	batches, channels, units, groups int
}

// shapes are convolutions with and without a rest in channels, units, lines and
// columns, with padding, strides, dilation, groups and weights that fit the constants.
var shapes = []shape{
	{opspec.Window{H: 9, W: 7, KH: 1, KW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: 9, OutW: 7}, 1, 20, 204, 1},
	{opspec.Window{H: 9, W: 7, KH: 3, KW: 3, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, Top: 1, Bottom: 1, Left: 1, Right: 1, OutH: 9, OutW: 7}, 2, 6, 40, 1},
	{opspec.Window{H: 9, W: 8, KH: 2, KW: 3, StrideH: 2, StrideW: 3, DilationH: 3, DilationW: 2, Top: 2, Left: 3, Right: 1, OutH: 4, OutW: 3}, 2, 16, 70, 1},
	{opspec.Window{H: 11, W: 11, KH: 3, KW: 3, StrideH: 2, StrideW: 2, DilationH: 1, DilationW: 1, OutH: 5, OutW: 5}, 3, 3, 101, 1},
	{opspec.Window{H: 7, W: 7, KH: 3, KW: 3, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, Top: 1, Bottom: 1, Left: 1, Right: 1, OutH: 7, OutW: 7}, 1, 24, 48, 4},
	{opspec.Window{H: 14, W: 14, KH: 3, KW: 3, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, Top: 1, Bottom: 1, Left: 1, Right: 1, OutH: 14, OutW: 14}, 1, 15, 60, 3},
	{opspec.Window{H: 29, W: 29, KH: 1, KW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: 29, OutW: 29}, 1, 16, 40, 2},
	{opspec.Window{H: 1, W: 1, KH: 1, KW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: 1, OutW: 1}, 1, 64, 250, 1},
	{opspec.Window{H: 9, W: 7, KH: 1, KW: 1, StrideH: 2, StrideW: 2, DilationH: 1, DilationW: 1, OutH: 5, OutW: 4}, 2, 30, 26, 1},
	{opspec.Window{H: 9, W: 7, KH: 3, KW: 3, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, Top: 1, Bottom: 1, Left: 1, Right: 1, OutH: 9, OutW: 7}, 1, 2, 24, 1},
	{opspec.Window{H: 9, W: 7, KH: 1, KW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: 9, OutW: 7}, 2, 54, 20, 1},
	{opspec.Window{H: 9, W: 7, KH: 1, KW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: 9, OutW: 7}, 3, 64, 10, 1},
	{opspec.Window{H: 9, W: 7, KH: 1, KW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: 9, OutW: 7}, 1, 13, 32, 1},
	{opspec.Window{H: 29, W: 27, KH: 1, KW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: 29, OutW: 27}, 1, 48, 150, 1},
	{opspec.Window{H: 9, W: 7, KH: 3, KW: 3, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, Top: 1, Bottom: 1, Left: 1, Right: 1, OutH: 9, OutW: 7}, 2, 8, 8, 8},
	{opspec.Window{H: 9, W: 7, KH: 3, KW: 3, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, Top: 1, Bottom: 1, Left: 1, Right: 1, OutH: 9, OutW: 7}, 2, 42, 12, 1},
	{opspec.Window{H: 8, W: 9, KH: 2, KW: 2, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: 7, OutW: 8}, 1, 80, 24, 2},
	{opspec.Window{H: 9, W: 8, KH: 5, KW: 3, StrideH: 2, StrideW: 3, DilationH: 1, DilationW: 2, Top: 2, Bottom: 2, Left: 3, Right: 1, OutH: 5, OutW: 3}, 1, 70, 70, 70},
	{opspec.Window{H: 8, W: 7, KH: 1, KW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: 8, OutW: 7}, 1, 26, 18, 1},
	{opspec.Window{H: 10, W: 10, KH: 1, KW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: 10, OutW: 10}, 1, 72, 6, 1},
	{opspec.Window{H: 16, W: 8, KH: 1, KW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: 16, OutW: 8}, 2, 36, 12, 1},
	{opspec.Window{H: 9, W: 7, KH: 1, KW: 1, StrideH: 2, StrideW: 2, DilationH: 1, DilationW: 1, OutH: 5, OutW: 4}, 1, 32, 24, 1},
	{opspec.Window{H: 8, W: 8, KH: 1, KW: 1, StrideH: 1, StrideW: 2, DilationH: 1, DilationW: 1, OutH: 8, OutW: 4}, 1, 44, 10, 1},
	{opspec.Window{H: 11, W: 7, KH: 1, KW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: 11, OutW: 7}, 1, 14, 7, 1},
}

// phone is the machine of tests.
var phone = kernel.Machine{Clusters: 2, CUs: 6, SIMDs: 4, WaveLanes: 128, WaveSIMDs: 2, NearestBytes: 1 << 10, NearestRate: 64, ScalarLine: 64, Rows: 384, AddressLanes: 4, BroadcastLanes: 7, Line: 64, L2Bytes: 1 << 10, L2Rate: 164, L2Latency: 107, ScalarLatency: 30, DotCycles: 2}

// TestConv: convolutions in ways of all forms against their sum, and neighbours that are not
// numbers stay outside.
func TestConv(t *testing.T) {
	r := rand.New(rand.NewPCG(26, 1))
	tried := map[string]int{}
	for i, s := range shapes {
		for e, tolerance := range map[layout.Element]float64{layout.F32: 1e-5, layout.F16: 1. / 512} {
			k := s.kernel(r, e)
			k.Cut(&phone)
			byName := map[string][]texel.Shape{}
			for _, c := range k.Candidates() {
				name := c.Name()
				if c.Quads {
					name += "_quads"
				}
				byName[name] = append(byName[name], c)
			}
			for name, list := range byName {
				own := *k
				own.Shape = list[i*7%len(list)]
				tried[name]++
				t.Run(fmt.Sprintf("%s/%d-%d/%d lanes", name, s.channels, s.units, own.ZLanes), func(t *testing.T) { s.compare(t, &own, tolerance) })
			}
		}
	}
	for _, form := range []string{"texel_2x2x2", "texel_2x1x2", "texel_2x1x1", "texel_1x1x1", "texel_constants", "texel_depthwise", "texel_depthwise_2x2", "texel_2x2x2 quads"} {
		form, quads, _ := strings.Cut(form, " ")
		for _, e := range []string{"_f16", "_f32"} {
			if name := strings.TrimSuffix(form+e+"_"+quads, "_"); tried[name] == 0 {
				t.Errorf("%s was not tried", name)
			}
		}
	}
}

// kernel is a convolution of a shape.
func (s *shape) kernel(r *rand.Rand, e layout.Element) *texel.Kernel {
	w, taps := &s.w, s.w.KH*s.w.KW
	rows, depth := s.batches*w.OutH*w.OutW, s.channels/s.groups
	return &texel.Kernel{
		Shape:   texel.Shape{Elem: e, Window: s.w, Batches: s.batches, InC: s.channels, OutC: s.units, Groups: s.groups, Depthwise: s.groups == s.channels, Lo: -5, Hi: 5},
		Weights: numbers(r, s.units*taps*depth), Bias: numbers(r, s.units),
		In: kerneltest.Tensor(e, s.batches*w.H*w.W*s.channels), Out: kerneltest.Tensor(e, rows*s.units),
	}
}

// TestTail: functions of the results of convolutions of all forms, of whole quads of units and of a rest.
func TestTail(t *testing.T) {
	r := rand.New(rand.NewPCG(26, 4))
	for i, s := range shapes {
		for e, tolerance := range map[layout.Element]float64{layout.F32: 1e-5, layout.F16: 1. / 128} {
			k := s.kernel(r, e)
			k.Cut(&phone)
			list := k.Candidates()
			k.Shape = list[i*7%len(list)]
			t.Run(fmt.Sprintf("%s/%d-%d", k.Name(), s.channels, s.units), func(t *testing.T) {
				c := kerneltest.Case{Kernel: k, Inputs: []*layout.Tensor{k.In}, Data: [][]byte{kerneltest.Stored(e, numbers(r, k.In.N))}, Output: k.Out}
				c.Pages.Need(0, s.channels*e.Bytes())
				c.CompareTail(t, s.units, tolerance)
			})
		}
	}
}

// compare runs the kernel as it is cut.
func (s *shape) compare(t *testing.T, k *texel.Kernel, tolerance float64) {
	w, taps, depth := &s.w, s.w.KH*s.w.KW, s.channels/s.groups
	x := numbers(rand.New(rand.NewPCG(26, 2)), k.In.N)
	odd := k.In.N - 1
	if k.Elem == layout.F16 { // the last position is compared, too
		odd = 0
	}
	x[odd] = float32(math.NaN())
	c := kerneltest.Case{Kernel: k, Inputs: []*layout.Tensor{k.In}, Data: [][]byte{kerneltest.Stored(k.Elem, x)}, Output: k.Out}
	c.Pages.Need(0, s.channels*k.Elem.Bytes())
	weight := func(unit, tap, ch int) int {
		if k.Depthwise {
			return tap*s.units + unit
		}
		return (unit*taps+tap)*depth + ch
	}
	c.Compare(t, tolerance, func(i int) float64 {
		row, unit := i/s.units, i%s.units
		image, oy, ox := row/(w.OutH*w.OutW), row/w.OutW%w.OutH, row%w.OutW
		first := unit / (s.units / s.groups) * depth
		sum := float64(k.Bias[unit])
		for tap := range taps {
			y, xx := oy*w.StrideH-w.Top+tap/w.KW*w.DilationH, ox*w.StrideW-w.Left+tap%w.KW*w.DilationW
			for ch := range depth {
				if y >= 0 && y < w.H && xx >= 0 && xx < w.W {
					sum += float64(x[((image*w.H+y)*w.W+xx)*s.channels+first+ch]) * float64(k.Weights[weight(unit, tap, ch)])
				}
			}
		}
		return min(max(sum, -5), 5)
	})
}

// TestChoice: the chosen cut has the library's block, and of those the fewest cycles.
func TestChoice(t *testing.T) {
	r := rand.New(rand.NewPCG(26, 3))
	for _, s := range shapes {
		k := s.kernel(r, layout.F16)
		k.Cut(&phone)
		cuts := k.Cuts()
		chosen := slices.IndexFunc(cuts, func(c kernel.Cut) bool { return c.Chosen })
		if chosen < 0 {
			t.Errorf("%s: none of %d ways is chosen", k.Name(), len(cuts))
			continue
		}
		form := func(c kernel.Cut) string { f, _, _ := strings.Cut(c.Name, ","); return f }
		for _, c := range cuts {
			if form(c) == form(cuts[chosen]) && c.Weight < cuts[chosen].Weight {
				t.Errorf("%s takes %.0f cycles, %s, which is chosen, %.0f", c.Name, c.Weight, cuts[chosen].Name, cuts[chosen].Weight)
			}
			own := *k
			taken := own.Select(c.Name)
			if i := slices.IndexFunc(own.Cuts(), func(c kernel.Cut) bool { return c.Chosen }); !taken || own.Cuts()[i].Name != c.Name {
				t.Errorf("takes %s for %s", own.Cuts()[i].Name, c.Name)
			}
		}
	}
}

// TestRules: blocks, work-groups and registers are those of the library's rules, worked out by hand. A Pixel 4 has
// two clusters and waves of 128 lanes, so that 6, 12 and 24 waves of outputs are 1536, 3072 and 6144 quads.
func TestRules(t *testing.T) {
	r := rand.New(rand.NewPCG(26, 4))
	for _, c := range []struct {
		size, channels, units, window int
		block                         texel.Block
		tile                          texel.Tile
		registers                     int
	}{
		{7, 512, 64, 1, texel.Block{X: 1, Y: 1, Z: 1}, texel.Tile{X: 7, Y: 2, Z: 16}, 128},  // 784 quads; 256/16/7 lines
		{14, 184, 32, 1, texel.Block{X: 2, Y: 1, Z: 1}, texel.Tile{X: 7, Y: 4, Z: 8}, 128},  // 1568; 7 x 14 x 8 blocks
		{14, 64, 64, 3, texel.Block{X: 2, Y: 1, Z: 2}, texel.Tile{X: 7, Y: 4, Z: 8}, 192},   // 3136
		{7, 128, 512, 3, texel.Block{X: 2, Y: 2, Z: 2}, texel.Tile{X: 4, Y: 1, Z: 64}, 192}, // 6272; 4 x 4 x 64
		{28, 128, 128, 1, texel.Block{X: 2, Y: 2, Z: 2}, texel.Tile{X: 14, Y: 1, Z: 16}, 128},
		{7, 184, 1104, 1, texel.Block{X: 2, Y: 2, Z: 2}, texel.Tile{X: 4, Y: 1, Z: 46}, 128}, // 138 = 3 x 46
		{56, 16, 40, 3, texel.Block{X: 2, Y: 2, Z: 2}, texel.Tile{X: 28, Y: 1, Z: 5}, 192},
		{28, 128, 16, 1, texel.Block{X: 2, Y: 1, Z: 2}, texel.Tile{X: 14, Y: 9, Z: 2}, 128},
	} {
		w := opspec.Window{H: c.size, W: c.size, KH: c.window, KW: c.window, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: c.size, OutW: c.size}
		w.Top, w.Bottom, w.Left, w.Right = c.window/2, c.window/2, c.window/2, c.window/2
		k := (&shape{w, 1, c.channels, c.units, 1}).kernel(r, layout.F16)
		k.Cut(&phone)
		c.tile.Across = k.Tile.Across
		if k.Block != c.block || k.Tile != c.tile || k.Registers != c.registers {
			t.Errorf("%d x %d, %d to %d: block %v, work-group %v, %d registers, want %v, %v, %d", c.size, c.size, c.channels, c.units, k.Block, k.Tile, k.Registers, c.block, c.tile, c.registers)
		}
		for _, x := range k.Candidates() {
			if g := x.Tile; g.X > 0 && g.Across >= 2*g.X*g.Y {
				t.Errorf("%d lanes in a row for %dx%d positions", g.Across, g.X, g.Y)
			}
		}
	}
	// Groups of 20 units have no blocks of 8.
	k := (&shape{opspec.Window{H: 56, W: 56, KH: 1, KW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: 56, OutW: 56}, 1, 40, 40, 2}).kernel(r, layout.F16)
	if k.Cut(&phone); k.Block != (texel.Block{X: 2, Y: 2, Z: 1}) {
		t.Errorf("groups of 20 units have the block %v", k.Block)
	}
	// Weights of at most 3584 bytes, by units where that needs fewer numbers: 64 x 28 by inputs, 26 x 64 by units.
	for units, want := range map[int]bool{26: true, 28: true, 30: false, 32: false} {
		w := opspec.Window{H: 56, W: 56, KH: 1, KW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: 56, OutW: 56}
		k := (&shape{w, 1, 64, units, 1}).kernel(r, layout.F16)
		if k.Cut(&phone); k.Constants != want {
			t.Errorf("64 to %d channels: constants %v", units, k.Constants)
		}
	}
}

// TestQuads: four lanes load lines of a window together where the lines of resident waves, two per position, are more than
// L2 has, others where the products of a step take less time than its lines do from L2. 48 waves of a Pixel 4's GPU
// reside: 6 work-groups of 256 lanes.
func TestQuads(t *testing.T) {
	m := phone
	m.L2Bytes = 128 << 10
	for _, c := range []struct {
		e                           layout.Element
		size, taps, channels, units int
		want                        bool
	}{
		{layout.F32, 56, 3, 24, 8, true}, // all 784 blocks of four positions
		{layout.F16, 56, 3, 256, 18, true}, {layout.F16, 56, 3, 32, 16, true},
		{layout.F16, 28, 3, 256, 16, false}, // 196 blocks
		{layout.F16, 56, 3, 64, 192, false}, // 24 blocks of units in a work-group: 60 of positions
		{layout.F32, 56, 1, 64, 64, true}, {layout.F16, 56, 1, 142, 68, true},
		{layout.F16, 56, 1, 64, 256, false}, {layout.F16, 28, 1, 192, 192, false}, // pairs of texels: half of the lines
		{layout.F16, 56, 3, 30, 16, false}, // less than a line
	} {
		pad := c.taps / 2
		w := opspec.Window{H: c.size, W: c.size, KH: c.taps, KW: c.taps, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, Top: pad, Bottom: pad, Left: pad, Right: pad, OutH: c.size, OutW: c.size}
		k := (&shape{w, 1, c.channels, c.units, 1}).kernel(rand.New(rand.NewPCG(26, 4)), c.e)
		if k.Cut(&m); k.Quads != c.want {
			t.Errorf("%+v: together %v", c, k.Quads)
		}
	}
}

// TestPort: where a depthwise convolution or a tile waits for the port of loads, a load occupies it for 8 cycles, and for 2
// where the quads of lanes with one address are at most 16: of weights, where at least four positions share them, and
// of input, where all lanes have one position.
func TestPort(t *testing.T) {
	m := kernel.Machine{Clusters: 1, CUs: 1, SIMDs: 1 << 20, WaveLanes: 128, Rows: 384, AddressLanes: 4, BroadcastLanes: 16, Line: 64, L2Rate: 1 << 30, NearestRate: 1 << 30, DotCycles: 1}
	window := opspec.Window{H: 64, W: 64, KH: 1, KW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: 64, OutW: 64}
	depthwise := texel.Shape{Elem: layout.F16, Window: window, Batches: 1, InC: 128, OutC: 128, Groups: 128, Depthwise: true, Block: texel.Block{X: 1, Y: 1, Z: 1}, ZWaves: 1}
	tiled := texel.Shape{Elem: layout.F16, Window: window, Batches: 1, InC: 4, OutC: 128, Groups: 1, Block: texel.Block{X: 2, Y: 1, Z: 1}, ZWaves: 1}
	for _, c := range []struct {
		lanes, across int
		port          float64 // cycles of a wave: of loads of input and of weights
	}{
		{lanes: 1, port: 8 + 2}, {lanes: 4, port: 8 + 2}, {lanes: 8, port: 8 + 2}, // 32, 8 and 4 positions of a wave
		{lanes: 16, port: 8 + 8}, {lanes: 32, port: 2 + 8}, // 2 positions, and one
		{across: 4, port: 2*8 + 4*2}, {across: 2, port: 2*8 + 4*8}, {across: 8, port: 2*8 + 4*2}, {across: 1, port: 2*2 + 4*8},
	} {
		s, waves := depthwise, 64*64 // 4096 positions of 32 quads of units, in waves of 32
		s.ZLanes = c.lanes
		if c.across > 0 {
			s, waves = tiled, 64*64/2 // blocks of 2
			s.Tile = texel.Tile{X: 8, Y: 4, Z: 32 / c.across, Across: c.across}
			s.ZLanes = s.Tile.Z
		}
		if got := s.Cycles(&m); got != c.port*float64(waves) {
			t.Errorf("%+v: %g cycles, want %g of %d waves: %g each", c, got, c.port*float64(waves), waves, got/float64(waves))
		}
	}
}
