package npudriver

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// bytesOf is an operand of bytes; without a lifetime it is the operation's output.
func (m *randomModel) bytesOf(l nn.Lifetime, dims ...int) uint32 {
	x := m.tensor(nn.TensorQuant8Asymm, 0.5, l, dims...)
	m.g.Operands[x].ZeroPoint = 0
	return x
}

// convOf is a CONV_2D of one output: an image of rows x columns, a filter, paddings (left, right, top, bottom), stride
// and dilation of both directions.
func (m *randomModel) convOf(of nn.Lifetime, n, h, w, c, kh, kw int, pads [4]int, stride, dilation int) *nn.Model {
	x, f := m.bytesOf(nn.SubgraphInput, n, h, w, c), m.bytesOf(of, 1, kh, kw, c)
	b := m.add(nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{1}, Scale: 0.25, Lifetime: nn.ConstantCopy, Data: make([]byte, 4)})
	y := m.bytesOf(nn.TemporaryVariable, n, (h+pads[2]+pads[3]-(kh-1)*dilation-1)/stride+1, (w+pads[0]+pads[1]-(kw-1)*dilation-1)/stride+1, 1)
	m.g.Operands[y].Scale = 1000
	in := []uint32{x, f, b}
	for _, v := range []int{pads[0], pads[1], pads[2], pads[3], stride, stride, 0} {
		in = append(in, m.int32(v))
	}
	return m.done(nn.OpConv2D, y, append(in, m.bool(false), m.int32(dilation), m.int32(dilation))...)
}

// dense is a FULLY_CONNECTED with weights of an execution.
func (m *randomModel) dense(batches, depth, units int) *nn.Model {
	x, f := m.bytesOf(nn.SubgraphInput, batches, depth), m.bytesOf(nn.SubgraphInput, units, depth)
	b := m.add(nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{uint32(units)}, Scale: 0.25, Lifetime: nn.SubgraphInput})
	y := m.bytesOf(nn.TemporaryVariable, batches, units)
	return m.done(nn.OpFullyConnected, y, x, f, b, m.int32(0))
}

// poolOf is a MAX_POOL_2D or AVERAGE_POOL_2D without padding.
func (m *randomModel) poolOf(op nn.OperationType, n, h, w, kh, kw, stride int) *nn.Model {
	x, y := m.bytesOf(nn.SubgraphInput, n, h, w, 1), m.bytesOf(nn.TemporaryVariable, n, (h-kh)/stride+1, (w-kw)/stride+1, 1)
	return m.done(op, y, x, m.int32(nn.PaddingValid), m.int32(stride), m.int32(stride), m.int32(kw), m.int32(kh), m.int32(0))
}

// resizeOf is a RESIZE_BILINEAR.
func (m *randomModel) resizeOf(n, h, w, c, oh, ow int) *nn.Model {
	x, y := m.bytesOf(nn.SubgraphInput, n, h, w, c), m.bytesOf(nn.TemporaryVariable, n, oh, ow, c)
	return m.done(nn.OpResizeBilinear, y, x, m.int32(ow), m.int32(oh))
}

// meanOf is a MEAN that keeps its axes.
func (m *randomModel) meanOf(dims []int, axes ...int) *nn.Model {
	out := append([]int(nil), dims...)
	for _, a := range axes {
		out[a] = 1
	}
	x, y := m.bytesOf(nn.SubgraphInput, dims...), m.bytesOf(nn.TemporaryVariable, out...)
	return m.done(nn.OpMean, y, x, m.int32s([]uint32{uint32(len(axes))}, axes...), m.int32(1))
}

// topOf is a TOPK_V2 of one row.
func (m *randomModel) topOf(t nn.OperandType, depth, k int) *nn.Model {
	x, y := m.bytesOf(nn.SubgraphInput, depth), m.bytesOf(nn.TemporaryVariable, k)
	if t == nn.TensorInt32 {
		for _, i := range []uint32{x, y} {
			m.g.Operands[i].Type, m.g.Operands[i].Scale = t, 0
		}
	}
	at := m.add(nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{uint32(k)}, Lifetime: nn.SubgraphOutput})
	model := m.done(nn.OpTopkV2, y, x, m.int32(k))
	model.Main.Operations[0].Outputs, model.Main.Outputs = []uint32{y, at}, []uint32{y, at}
	return model
}

// TestLimits: an operation at a limit is taken, and the refusal of the next one names what exceeds it.
func TestLimits(t *testing.T) {
	const constant, given = nn.ConstantCopy, nn.SubgraphInput
	pad := func(i int) func(m *randomModel, n int) *nn.Model {
		return func(m *randomModel, n int) *nn.Model {
			var pads [4]int
			pads[i] = n
			return m.convOf(constant, 1, 8, 8, 1, 3, 3, pads, 1, 1)
		}
	}
	relu := func(dims ...int) func(m *randomModel, n int) *nn.Model {
		return func(m *randomModel, n int) *nn.Model {
			dims := append([]int{n}, dims...)
			return m.done(nn.OpRelu, m.bytesOf(nn.TemporaryVariable, dims...), m.bytesOf(given, dims...))
		}
	}
	d := machines(t)[0]
	for _, c := range []struct {
		most    int
		refusal string
		model   func(m *randomModel, n int) *nn.Model
	}{
		{64, "65x1 taps", func(m *randomModel, n int) *nn.Model { return m.convOf(constant, 1, n, 1, 1, n, 1, [4]int{}, 1, 1) }},
		{64, "1x65 taps", func(m *randomModel, n int) *nn.Model { return m.convOf(constant, 1, 1, n, 1, 1, n, [4]int{}, 1, 1) }},
		{32, "33x1 taps, dilated 2x2", func(m *randomModel, n int) *nn.Model { return m.convOf(constant, 1, 2*n, 1, 1, n, 1, [4]int{}, 1, 2) }},
		{32, "1x33 taps, dilated 2x2", func(m *randomModel, n int) *nn.Model { return m.convOf(constant, 1, 1, 2*n, 1, 1, n, [4]int{}, 1, 2) }},
		{127, "padding 0,0,128,0", pad(0)}, {255, "padding 0,0,0,256", pad(1)}, {127, "padding 128,0,0,0", pad(2)}, {255, "padding 0,256,0,0", pad(3)},
		{256, "257 batches", func(m *randomModel, n int) *nn.Model { return m.convOf(constant, n, 4, 4, 1, 2, 2, [4]int{}, 1, 1) }},
		{128, "16512 windows of 256 taps and 16 channels", func(m *randomModel, n int) *nn.Model {
			return m.convOf(given, 1, 173, n+45, 16, 16, 16, [4]int{}, 1, 3)
		}},
		{16, "dilation 3x3: 17 windows of 256 taps", func(m *randomModel, n int) *nn.Model { return m.convOf(constant, n, 46, 46, 1, 16, 16, [4]int{}, 1, 3) }},
		{16, "17 batches of 256 taps", func(m *randomModel, n int) *nn.Model { return m.convOf(given, n, 16, 16, 1, 16, 16, [4]int{}, 1, 1) }},
		{256, "257 batches of 1 taps", func(m *randomModel, n int) *nn.Model { return m.convOf(given, n, 1, 1, 1, 1, 1, [4]int{}, 1, 1) }},
		{4096, "16781312 windows of 1 elements", func(m *randomModel, n int) *nn.Model { return m.convOf(given, 1, n, 4096, 1, 1, 1, [4]int{}, 1, 1) }},
		{33025, "sums of 33026 products", func(m *randomModel, n int) *nn.Model { return m.dense(1, n, 1) }},
		{4096, "2 windows and 4097 outputs", func(m *randomModel, n int) *nn.Model { return m.dense(2, 32768, n) }},
		{256, "257x1", func(m *randomModel, n int) *nn.Model { return m.poolOf(nn.OpMaxPool2D, 1, n, 2, n, 1, 1) }},
		{256, "1x257", func(m *randomModel, n int) *nn.Model { return m.poolOf(nn.OpMaxPool2D, 1, 2, n, 1, n, 1) }},
		{256, "257 batches", func(m *randomModel, n int) *nn.Model { return m.poolOf(nn.OpMaxPool2D, n, 2, 2, 1, 1, 1) }},
		{256, "257x2", func(m *randomModel, n int) *nn.Model { return m.poolOf(nn.OpAveragePool2D, 1, n+4, 6, n, 2, 4) }},
		{256, "2x257", func(m *randomModel, n int) *nn.Model { return m.poolOf(nn.OpAveragePool2D, 1, 6, n+4, 2, n, 4) }},
		{1024, "4100 of 17x17 with stride 4x4", func(m *randomModel, n int) *nn.Model { return m.poolOf(nn.OpAveragePool2D, n, 21, 21, 17, 17, 4) }},
		{65536, "65537 elements", func(m *randomModel, n int) *nn.Model {
			return m.done(nn.OpAdd, m.bytesOf(nn.TemporaryVariable, n), m.bytesOf(given, n), m.bytesOf(given, n), m.int32(0))
		}},
		{3, "4 groups", func(m *randomModel, n int) *nn.Model {
			x, y := []int{2, 2, 2, 2}[:n], []int{2, 1, 2, 1}[:n]
			return m.done(nn.OpAdd, m.bytesOf(nn.TemporaryVariable, x...), m.bytesOf(given, x...), m.bytesOf(given, y...), m.int32(0))
		}},
		{128, "129 samples", func(m *randomModel, n int) *nn.Model { return m.resizeOf(1, 2, 1, 1, n, 1) }},
		{120, "quotients by 9", func(m *randomModel, n int) *nn.Model { return m.resizeOf(1, 100, n, 1, 300, 3*n) }},
		{32768, "elements", func(m *randomModel, n int) *nn.Model { return m.resizeOf(n, 1, 1, 1, 2, 1) }},
		{33025, "33026", func(m *randomModel, n int) *nn.Model {
			y := m.bytesOf(nn.TemporaryVariable, 1, n)
			m.g.Operands[y].Scale, m.g.Operands[y].ZeroPoint = 1./128, 128
			return m.done(nn.OpL2Normalization, y, m.bytesOf(given, 1, n), m.int32(1))
		}},
		{256, "1x257, 1 times", func(m *randomModel, n int) *nn.Model { return m.meanOf([]int{1, n, 1, 2}, 1) }},
		{256, "2x257, 1 times", func(m *randomModel, n int) *nn.Model { return m.meanOf([]int{1, 2, n, 2}, 1, 2) }},
		{256, "257x2, 1 times", func(m *randomModel, n int) *nn.Model { return m.meanOf([]int{1, n, 2, 2}, 1, 2) }},
		{256, "2x2, 257 times", func(m *randomModel, n int) *nn.Model { return m.meanOf([]int{n, 2, 2, 2}, 1, 2) }},
		{4096, "4097 or more", func(m *randomModel, n int) *nn.Model {
			return m.done(nn.OpReverse, m.same(m.bytesOf(nn.TemporaryVariable, n), 0), m.bytesOf(given, n), m.int32s([]uint32{1}, 0))
		}},
		{146, "147 of 1000", func(m *randomModel, n int) *nn.Model { return m.topOf(nn.TensorQuant8Asymm, 1000, n) }},
		{1 << 16, "1 of 65537", func(m *randomModel, n int) *nn.Model { return m.topOf(nn.TensorQuant8Asymm, n, 1) }},
		{1 << 14, "1 of 16385", func(m *randomModel, n int) *nn.Model { return m.topOf(nn.TensorInt32, n, 1) }},
		{4096, "shape [4097]", func(m *randomModel, n int) *nn.Model {
			return m.done(nn.OpPad, m.bytesOf(nn.TemporaryVariable, 0), m.bytesOf(given, n), m.add(nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{1, 2}, Lifetime: given}))
		}},
		{256, "shape [257]", func(m *randomModel, n int) *nn.Model {
			return m.done(nn.OpMean, m.bytesOf(nn.TemporaryVariable, 1), m.bytesOf(given, n), m.add(nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{1}, Lifetime: given}), m.int32(1))
		}},
		{1 << 14, "[16385 16384]", relu(1 << 14)},
	} {
		for n := c.most; n <= c.most+1; n++ {
			m := c.model(&randomModel{r: rand.New(rand.NewPCG(1, 1))}, n)
			s := require.V(d.SupportedOperations(m))(t)
			if s[0].OK != (n == c.most) || n > c.most && !strings.Contains(s[0].Reason, c.refusal) {
				t.Errorf("%s, %d: %+v", c.refusal, n, s[0])
			}
		}
	}
}
