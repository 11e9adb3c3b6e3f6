package dspdriver

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/drivertest"
)

// moveCase is an operation that moves elements.
type moveCase struct {
	name  string
	build func(b *builder)
}

// movesBench is one case of about half a million elements per operation and kind of
// layout.
func movesBench() []moveCase {
	u8 := nn.TensorQuant8Asymm
	tensor := func(t nn.OperandType, dims ...int) nn.Operand {
		o := nn.Operand{Type: t}
		if t.IsQuant8() {
			o.Scale, o.ZeroPoint = 0.5, 3
		}
		for _, d := range dims {
			o.Dimensions = append(o.Dimensions, uint32(d))
		}
		return o
	}
	var list []moveCase
	add := func(name string, build func(b *builder)) { list = append(list, moveCase{name, build}) }
	one := func(name string, op nn.OperationType, t nn.OperandType, in, out []int, args func(b *builder) []uint32) {
		add(name, func(b *builder) {
			x := b.input(tensor(t, in...))
			var rest []uint32
			if args != nil {
				rest = args(b)
			}
			b.add(op, append([]uint32{x}, rest...), b.output(tensor(t, out...)))
		})
	}
	ints := func(v ...int) func(b *builder) []uint32 {
		return func(b *builder) []uint32 { return []uint32{b.int32s([]uint32{uint32(len(v))}, v...)} }
	}
	pads := func(v ...int) func(b *builder) []uint32 {
		return func(b *builder) []uint32 { return []uint32{b.int32s([]uint32{uint32(len(v) / 2), 2}, v...)} }
	}
	transpose := func(name string, t nn.OperandType, in []int, perm ...int) {
		var out []int
		for _, p := range perm {
			out = append(out, in[p])
		}
		one("transpose/"+name, nn.OpTranspose, t, in, out, ints(perm...))
	}
	transpose("2d", u8, []int{700, 750}, 1, 0)
	transpose("2d_i8", nn.TensorQuant8AsymmSigned, []int{700, 750}, 1, 0)
	transpose("nchw", u8, []int{1, 75, 75, 96}, 0, 3, 1, 2)
	transpose("nhwc", u8, []int{1, 96, 75, 75}, 0, 2, 3, 1)
	transpose("nhwc3", u8, []int{1, 3, 400, 400}, 0, 2, 3, 1)
	transpose("nchw3", u8, []int{1, 400, 400, 3}, 0, 3, 1, 2)
	transpose("hw", u8, []int{1, 75, 75, 96}, 0, 2, 1, 3)
	transpose("hw3", u8, []int{1, 400, 400, 3}, 0, 2, 1, 3)
	one("slice/rows", nn.OpSlice, u8, []int{800, 800}, []int{700, 700}, func(b *builder) []uint32 {
		return []uint32{b.int32s([]uint32{2}, 13, 17), b.int32s([]uint32{2}, 700, 700)}
	})
	one("slice/small", nn.OpSlice, u8, []int{30000, 24}, []int{30000, 17}, func(b *builder) []uint32 {
		return []uint32{b.int32s([]uint32{2}, 0, 3), b.int32s([]uint32{2}, 30000, 17)}
	})
	one("slice/i32", nn.OpSlice, nn.TensorInt32, []int{3000, 60}, []int{3000, 50}, func(b *builder) []uint32 {
		return []uint32{b.int32s([]uint32{2}, 0, 3), b.int32s([]uint32{2}, 3000, 50)}
	})
	strided := func(name string, in, out []int, strides ...int) {
		one("strided_slice/"+name, nn.OpStridedSlice, u8, in, out, func(b *builder) []uint32 {
			n := []uint32{uint32(len(in))}
			zero := make([]int, len(in))
			return []uint32{b.int32s(n, zero...), b.int32s(n, in...), b.int32s(n, strides...), b.int32(0), b.int32(0), b.int32(0)}
		})
	}
	strided("inner2", []int{1000, 1000}, []int{1000, 500}, 1, 2)
	strided("outer2", []int{1000, 1000}, []int{500, 1000}, 2, 1)
	strided("pixels2", []int{800, 800, 3}, []int{400, 400, 3}, 2, 2, 1)
	one("reverse/inner", nn.OpReverse, u8, []int{700, 750}, []int{700, 750}, ints(1))
	pad := func(name string, in, out []int, p ...int) { one("pad/"+name, nn.OpPad, u8, in, out, pads(p...)) }
	pad("image", []int{1, 75, 75, 96}, []int{1, 77, 77, 96}, 0, 0, 1, 1, 1, 1, 0, 0)
	pad("image3", []int{1, 400, 400, 3}, []int{1, 402, 402, 3}, 0, 0, 1, 1, 1, 1, 0, 0)
	pad("rows", []int{700, 750}, []int{704, 757}, 1, 3, 2, 5)
	concat := func(name string, axis int, t nn.OperandType, out []int, ins ...[]int) {
		add("concat/"+name, func(b *builder) {
			var args []uint32
			for _, d := range ins {
				args = append(args, b.input(tensor(t, d...)))
			}
			b.add(nn.OpConcatenation, append(args, b.int32(axis)), b.output(tensor(t, out...)))
		})
	}
	concat("channels", 3, u8, []int{1, 50, 50, 200}, []int{1, 50, 50, 96}, []int{1, 50, 50, 104})
	concat("small", 3, u8, []int{1, 150, 150, 24}, []int{1, 150, 150, 13}, []int{1, 150, 150, 11})
	concat("rows", 0, u8, []int{700, 750}, []int{300, 750}, []int{400, 750})
	split := func(name string, in []int, axis, n int) {
		add("split/"+name, func(b *builder) {
			x := b.input(tensor(u8, in...))
			out := append([]int{}, in...)
			out[axis] /= n
			var outs []uint32
			for range n {
				outs = append(outs, b.output(tensor(u8, out...)))
			}
			b.add(nn.OpSplit, []uint32{x, b.int32(axis), b.int32(n)}, outs...)
		})
	}
	split("channels", []int{1, 75, 75, 96}, 3, 2)
	split("small", []int{1, 150, 150, 24}, 3, 3)
	tile := func(name string, in []int, times ...int) {
		var out []int
		for i, n := range in {
			out = append(out, n*times[i])
		}
		one("tile/"+name, nn.OpTile, u8, in, out, ints(times...))
	}
	tile("inner", []int{200, 20}, 5, 26)
	tile("pixels", []int{60000, 1}, 1, 9)
	tile("rows", []int{100, 750}, 7, 1)
	one("depth_to_space/16", nn.OpDepthToSpace, u8, []int{1, 90, 90, 64}, []int{1, 180, 180, 16}, func(b *builder) []uint32 { return []uint32{b.int32(2)} })
	one("depth_to_space/3", nn.OpDepthToSpace, u8, []int{1, 150, 150, 27}, []int{1, 450, 450, 3}, func(b *builder) []uint32 { return []uint32{b.int32(3)} })
	one("space_to_depth/3", nn.OpSpaceToDepth, u8, []int{1, 400, 400, 3}, []int{1, 200, 200, 12}, func(b *builder) []uint32 { return []uint32{b.int32(2)} })
	one("space_to_batch", nn.OpSpaceToBatchNd, u8, []int{1, 128, 128, 32}, []int{4, 64, 64, 32}, func(b *builder) []uint32 {
		return []uint32{b.int32s([]uint32{2}, 2, 2), b.int32s([]uint32{2, 2}, 0, 0, 0, 0)}
	})
	one("batch_to_space", nn.OpBatchToSpaceNd, u8, []int{4, 64, 64, 32}, []int{1, 128, 128, 32}, ints(2, 2))
	one("channel_shuffle", nn.OpChannelShuffle, u8, []int{1, 50, 50, 240}, []int{1, 50, 50, 240}, func(b *builder) []uint32 { return []uint32{b.int32(3), b.int32(3)} })
	gather := func(name string, in, out []int, axis, n int, runtime bool) {
		add("gather/"+name, func(b *builder) {
			x := b.input(tensor(u8, in...))
			var list []byte
			for range n {
				list = binary.LittleEndian.AppendUint32(list, b.r.Uint32N(uint32(in[axis])))
			}
			o := tensor(nn.TensorInt32, n)
			var idx uint32
			if runtime {
				idx = b.input(o)
			} else {
				o.Lifetime, o.Data = nn.ConstantCopy, list
				idx = b.operand(o)
			}
			b.add(nn.OpGather, []uint32{x, b.int32(axis), idx}, b.output(tensor(u8, out...)))
		})
	}
	gather("rows", []int{5000, 100}, []int{5000, 100}, 0, 5000, false)
	gather("rows_runtime", []int{5000, 100}, []int{5000, 100}, 0, 5000, true)
	gather("small", []int{60000, 8}, []int{60000, 8}, 0, 60000, false)
	gather("small_runtime", []int{60000, 8}, []int{60000, 8}, 0, 60000, true)
	gather("inner", []int{1000, 500}, []int{1000, 500}, 1, 500, false)
	gather("inner_runtime", []int{1000, 500}, []int{1000, 500}, 1, 500, true)
	add("embedding_lookup", func(b *builder) {
		i, x := b.input(tensor(nn.TensorInt32, 5000)), b.input(tensor(u8, 5000, 100))
		b.add(nn.OpEmbeddingLookup, []uint32{i, x}, b.output(tensor(u8, 5000, 100)))
	})
	sel := func(t nn.OperandType) {
		add("select/"+t.String(), func(b *builder) {
			c, x, y := b.input(tensor(nn.TensorBool8, 700, 700)), b.input(tensor(t, 700, 700)), b.input(tensor(t, 700, 700))
			b.add(nn.OpSelect, []uint32{c, x, y}, b.output(tensor(t, 700, 700)))
		})
	}
	sel(u8)
	sel(nn.TensorInt32)
	add("topk", func(b *builder) {
		x := b.input(tensor(u8, 1000, 500))
		b.add(nn.OpTopkV2, []uint32{x, b.int32(5)}, b.output(tensor(u8, 1000, 5)), b.output(tensor(nn.TensorInt32, 1000, 5)))
	})
	arg := func(name string, in, out []int, axis int) {
		add("argmax/"+name, func(b *builder) {
			b.add(nn.OpArgmax, []uint32{b.input(tensor(u8, in...)), b.int32(axis)}, b.output(tensor(nn.TensorInt32, out...)))
		})
	}
	arg("inner", []int{1000, 500}, []int{1000}, 1)
	arg("outer", []int{500, 1000}, []int{1000}, 0)
	reduce := func(name string, in, out []int, axis int) {
		add("reduce_max/"+name, func(b *builder) {
			b.add(nn.OpReduceMax, []uint32{b.input(tensor(u8, in...)), b.int32s([]uint32{1}, axis), b.bool(false)}, b.output(tensor(u8, out...)))
		})
	}
	reduce("inner", []int{1000, 500}, []int{1000}, 1)
	reduce("outer", []int{500, 1000}, []int{1000}, 0)
	reduce("all", []int{500000}, []int{1}, 0)
	add("l2norm", func(b *builder) {
		o := tensor(u8, 4000, 128)
		out := o
		out.Scale, out.ZeroPoint = 1./128, 128
		b.add(nn.OpL2Normalization, []uint32{b.input(o)}, b.output(out))
	})
	resize := func(name string, op nn.OperationType, in, out []int) {
		one("resize/"+name, op, u8, in, out, func(b *builder) []uint32 { return []uint32{b.int32(out[2]), b.int32(out[1]), b.bool(false)} })
	}
	resize("nearest", nn.OpResizeNearestNeighbor, []int{1, 40, 40, 64}, []int{1, 90, 90, 64})
	resize("nearest3", nn.OpResizeNearestNeighbor, []int{1, 200, 200, 3}, []int{1, 400, 400, 3})
	resize("bilinear", nn.OpResizeBilinear, []int{1, 40, 40, 64}, []int{1, 90, 90, 64})
	resize("bilinear3", nn.OpResizeBilinear, []int{1, 200, 200, 3}, []int{1, 400, 400, 3})
	add("broadcast/add_column", func(b *builder) {
		x, y := b.input(tensor(u8, 700, 750)), b.input(tensor(u8, 700, 1))
		b.add(nn.OpMaximum, []uint32{x, y}, b.output(tensor(u8, 700, 750)))
	})
	return list
}

// BenchmarkMoves gives the simulated cycles per byte of the results of operations
// that move elements, launches included, and on how many threads their longest
// job runs.
func BenchmarkMoves(b *testing.B) {
	for _, c := range movesBench() {
		b.Run(c.name, func(b *testing.B) {
			g := newBuilder(rand.New(rand.NewPCG(1, 1)))
			c.build(g)
			n := 0
			for _, x := range g.m.Main.Outputs {
				n += int(g.m.Main.Operands[x].Bytes())
			}
			if o := &g.m.Main.Operations[0]; o.Type == nn.OpTopkV2 || o.Type == nn.OpArgmax || o.Type == nn.OpReduceMax { // bytes read
				n = int(g.m.Main.Operands[o.Inputs[0]].Bytes())
			}
			stats := runBench(b, &g.m)
			b.ReportMetric(float64(stats.Cycles)/float64(n), "cycles/byte")
		})
	}
}

// convCase is a convolution whose filter, or layout, is not the usual one.
type convCase struct {
	name                          string
	h, c, k, size, stride, groups int
	dilation                      int
	runtime, nchw, transposed     bool
}

var convsBench = []convCase{
	{name: "plain", h: 28, c: 128, k: 128, size: 3},
	{name: "nchw", h: 28, c: 128, k: 128, size: 3, nchw: true},
	{name: "dilated", h: 28, c: 128, k: 128, size: 3, dilation: 2},
	{name: "runtime", h: 28, c: 128, k: 128, size: 3, runtime: true},
	{name: "runtime_1x1", h: 28, c: 256, k: 256, size: 1, runtime: true},
	{name: "runtime_nchw", h: 28, c: 128, k: 128, size: 3, runtime: true, nchw: true},
	{name: "runtime_rgb", h: 56, c: 3, k: 64, size: 3, runtime: true},
	{name: "grouped8", h: 28, c: 256, k: 256, size: 3, groups: 8},
	{name: "grouped32", h: 28, c: 256, k: 256, size: 3, groups: 32},
	{name: "grouped3", h: 28, c: 192, k: 192, size: 3, groups: 3},
	{name: "grouped8_runtime", h: 28, c: 256, k: 256, size: 3, groups: 8, runtime: true},
	{name: "transposed", h: 28, c: 128, k: 64, size: 4, stride: 2, transposed: true},
	{name: "transposed_runtime", h: 28, c: 128, k: 64, size: 4, stride: 2, transposed: true, runtime: true},
	{name: "depthwise_runtime", h: 28, c: 256, k: 256, size: 3, groups: -1, runtime: true},
}

// model builds the case; macs are its multiplications.
func (c *convCase) model(b *builder) (macs int) {
	stride, dilation, groups := max(c.stride, 1), max(c.dilation, 1), max(c.groups, 1)
	dims := func(h, c2 int) []int {
		if c.nchw {
			return []int{1, c2, h, h}
		}
		return []int{1, h, h, c2}
	}
	in := b.activation(nn.TensorQuant8Asymm, dims(c.h, c.c)...)
	oh := c.h
	if c.transposed {
		oh *= stride
	}
	out := b.activation(nn.TensorQuant8Asymm, dims(oh, c.k)...)
	out.Scale = 1
	fdims := []int{c.k, c.size, c.size, c.c / groups}
	per := c.c / groups
	if c.groups < 0 {
		fdims, per = []int{1, c.size, c.size, c.k}, 1
	}
	f := b.activation(nn.TensorQuant8Asymm, fdims...)
	f.ZeroPoint = 128
	bias := nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{uint32(c.k)}, Scale: in.Scale * f.Scale}
	x := b.input(in)
	var fi, bi uint32
	if c.runtime {
		fi, bi = b.input(f), b.input(bias)
	} else {
		f.Lifetime, f.Data = nn.ConstantCopy, b.bytes(int(f.Elements()))
		bias.Lifetime, bias.Data = nn.ConstantCopy, make([]byte, 4*c.k)
		fi, bi = b.operand(f), b.operand(bias)
	}
	args := []uint32{x, fi, bi}
	op := nn.OpConv2D
	same := b.int32(int(nn.PaddingSame))
	s := b.int32(stride)
	act := b.int32(0)
	switch {
	case c.transposed:
		op = nn.OpTransposeConv2D
		args = append(args, b.int32s([]uint32{4}, dims(oh, c.k)...), same, s, s, act, b.bool(c.nchw))
		oh = c.h // each input position times all taps
	case c.groups > 1:
		op = nn.OpGroupedConv2D
		args = append(args, same, s, s, b.int32(groups), act, b.bool(c.nchw))
	case c.groups < 0:
		op = nn.OpDepthwiseConv2D
		args = append(args, same, s, s, b.int32(1), act, b.bool(c.nchw), b.int32(dilation), b.int32(dilation))
	default:
		args = append(args, same, s, s, act, b.bool(c.nchw), b.int32(dilation), b.int32(dilation))
	}
	b.add(op, args, b.output(out))
	return oh * oh * c.k * c.size * c.size * per
}

// BenchmarkConvs gives the simulated multiply-accumulates per cycle of
// convolutions, layout changes and packing included.
func BenchmarkConvs(b *testing.B) {
	for _, c := range convsBench {
		b.Run(c.name, func(b *testing.B) {
			g := newBuilder(rand.New(rand.NewPCG(1, 1)))
			macs := c.model(g)
			stats := runBench(b, &g.m)
			b.ReportMetric(float64(macs)/float64(stats.Cycles), "MAC/cycle")
			b.ReportMetric(float64(stats.Cycles)/float64(macs), "cycles/MAC")
		})
	}
}

// runBench executes a model on random inputs and reports threads and cycles.
func runBench(b *testing.B, m *nn.Model) *hal.Stats {
	r := rand.New(rand.NewPCG(2, 2))
	var in [][]byte
	for _, x := range m.Main.Inputs {
		o := &m.Main.Operands[x]
		data := make([]byte, o.Bytes())
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		if o.Type == nn.TensorInt32 && x > 0 || o.Type == nn.TensorInt32 && len(m.Main.Inputs) > 1 { // indexes, or biases
			for i := 0; i < len(data); i += 4 {
				binary.LittleEndian.PutUint32(data[i:], r.Uint32N(500))
			}
		}
		in = append(in, data)
	}
	d := device(b)
	p, err := d.PrepareModel(m, hal.PrepareOptions{})
	require.NoError(b, err)
	var res *hal.Result
	for b.Loop() {
		if res, err = hal.Execute(p, &hal.Buffers{Inputs: in, Outputs: drivertest.Outputs(m)}); err != nil {
			b.Fatal(err)
		}
	}
	threads := 4
	what := ""
	for _, programs := range compile.Programs(p) {
		for i := range programs[0].(*executable).jobs {
			j := &programs[0].(*executable).jobs[i]
			threads = min(threads, j.Threads)
			what += fmt.Sprintf(" %s/%d", j.Name, j.Threads)
		}
	}
	if testing.Verbose() {
		b.Logf("%s: %v", what, res.Stats.Stalls)
	}
	b.ReportMetric(float64(threads), "threads")
	b.ReportMetric(float64(res.Stats.Cycles), "cycles")
	return &res.Stats
}
