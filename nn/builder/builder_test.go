package builder_test

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/refcpu"
)

var formats = []builder.Format{builder.Float32, builder.Quant8, builder.Quant8Signed}

// run builds a network on an image of noise and returns, per operation, the
// real values of its first output as the reference computes them.
func run(t *testing.T, c builder.Config, side uint32, network func(b *builder.Builder, x builder.Tensor) builder.Tensor) (m *nn.Model, layers [][]float64) {
	t.Helper()
	b := builder.New(c)
	b.Output(network(b, b.Image(side)), "output")
	m = require.V(b.Model("test"))(t)
	require.NoError(t, validate.Model(m))
	p := require.V(refcpu.Compile(m))(t)
	in := noise(c.Format, 3*int(side)*int(side))
	out := make([]byte, m.Main.Operands[m.Main.Outputs[0]].Bytes())
	err := p.Run([][]byte{in}, [][]byte{out}, refcpu.Options{Observe: func(op int, outputs [][]byte) {
		layers = append(layers, reals(&m.Main.Operands[m.Main.Operations[op].Outputs[0]], outputs[0]))
	}})
	require.NoError(t, err)
	return m, layers
}

// noise is the same uniform values in each format.
func noise(f builder.Format, n int) (data []byte) {
	seed := uint32(1)
	for range n {
		seed = seed*1664525 + 1013904223
		v := byte(seed >> 24)
		switch f {
		case builder.Float32:
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(int(v)-128)/128))
		case builder.Quant8:
			data = append(data, v)
		default:
			data = append(data, v-128)
		}
	}
	return data
}

func reals(o *nn.Operand, data []byte) []float64 {
	v := make([]float64, len(data)/o.Type.ElementBytes())
	for i := range v {
		switch o.Type {
		case nn.TensorFloat32:
			v[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
		case nn.TensorQuant8Asymm:
			v[i] = float64(o.Scale) * float64(int32(data[i])-o.ZeroPoint)
		case nn.TensorQuant8AsymmSigned:
			v[i] = float64(o.Scale) * float64(int32(int8(data[i]))-o.ZeroPoint)
		}
	}
	return v
}

func moments(v []float64) (mean, deviation float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		deviation += (x - mean) * (x - mean) / float64(len(v))
	}
	return mean, math.Sqrt(deviation)
}

// everything uses each layer once.
func everything(b *builder.Builder, x builder.Tensor) builder.Tensor {
	x = b.Conv(x, builder.Conv{Out: 24, Kernel: 3, Stride: 2, Act: builder.ReLU6})
	y := b.Depthwise(x, builder.Conv{Kernel: 5, Act: builder.HardSwish})
	y = b.Conv(y, builder.Conv{Out: 24, Kernel: 1})
	x = b.Add(x, y, builder.ReLU)
	x = b.Concat(b.MaxPool(x, builder.Pool{Window: 3}), b.AveragePool(x, builder.Pool{Window: 3}))
	x = b.Conv(x, builder.Conv{Out: 40, Kernel: 1, Width: 3, Pad: 1, Act: builder.Tanh})
	x = b.Affine(x, builder.ReLU)
	x = b.Conv(b.Pad(x, 0, 0, 1, 1, 1, 1, 0, 0), builder.Conv{Out: 32, Kernel: 3, Dilation: 2, NoBias: true})
	gate := b.Activate(b.Conv(b.GlobalPool(x), builder.Conv{Out: 32, Kernel: 1}), builder.Sigmoid)
	x = b.Resize(b.Mul(x, gate), 9, 9)
	x = b.Conv(x, builder.Conv{Out: 16, Kernel: 3, Stride: 2, Valid: true, Act: builder.ReLU})
	x = b.Transpose(b.Slice(x, []int32{0, 0, 0, 0}, []int32{1, 4, 4, 16}), 0, 2, 1, 3)
	x = b.Dense(b.Reshape(x, 1, -1), 100, builder.Logits)
	return b.Softmax(x)
}

// TestLayersStayAlive: in every format each layer's values spread: nothing
// vanishes, explodes or saturates, and the probabilities differ.
func TestLayersStayAlive(t *testing.T) {
	for _, f := range formats {
		m, layers := run(t, builder.Config{Format: f, ChannelScales: true}, 32, everything)
		for i, v := range layers[:len(layers)-1] {
			_, d := moments(v)
			if !(d > 0.02 && d < 20) {
				t.Errorf("format %d: operation %d %s: deviation %g", f, i, m.Main.Operations[i].Type, d)
			}
		}
		var low, high = 1.0, 0.0
		for _, p := range layers[len(layers)-1] {
			low, high = min(low, p), max(high, p)
		}
		if !(high > 2*low && high < 0.9) {
			t.Errorf("format %d: probabilities of %g to %g", f, low, high)
		}
	}
}

// TestFormatsAgree: the quantized network follows the float one of the same
// weights.
func TestFormatsAgree(t *testing.T) {
	network := func(b *builder.Builder, x builder.Tensor) builder.Tensor {
		x = b.Conv(x, builder.Conv{Out: 32, Kernel: 3, Stride: 2, Act: builder.ReLU6})
		x = b.Depthwise(x, builder.Conv{Kernel: 3, Act: builder.ReLU6})
		return b.Add(b.Conv(x, builder.Conv{Out: 32, Kernel: 1}), x, builder.NoActivation)
	}
	_, float := run(t, builder.Config{Format: builder.Float32}, 16, network)
	_, scaled := run(t, builder.Config{Format: builder.Float32, ChannelScales: true}, 16, network)
	for _, f := range formats[1:] {
		_, quant := run(t, builder.Config{Format: f, ChannelScales: true}, 16, network)
		want := scaled
		if f == builder.Quant8 { // has no scales of channels
			want = float
		}
		last := len(quant) - 1
		var gap []float64
		for i, v := range quant[last] {
			gap = append(gap, v-want[last][i])
		}
		_, d := moments(gap)
		if _, all := moments(want[last]); !(d < 0.15*all) {
			t.Errorf("format %d: the difference to the float network has deviation %g of %g", f, d, all)
		}
	}
}

// TestSpreadPredicts: the estimates that scale weights and ranges are near what
// the reference computes.
func TestSpreadPredicts(t *testing.T) {
	for _, act := range []builder.Activation{builder.NoActivation, builder.ReLU, builder.ReLU6, builder.HardSwish, builder.Sigmoid, builder.Tanh} {
		var want builder.Spread
		_, layers := run(t, builder.Config{Format: builder.Float32}, 32, func(b *builder.Builder, x builder.Tensor) builder.Tensor {
			y := b.Conv(x, builder.Conv{Out: 64, Kernel: 3, Valid: true, Act: act})
			want = b.SpreadOf(y)
			return y
		})
		mean, d := moments(layers[len(layers)-1])
		if !(math.Abs(mean-want.Mean) < 0.1) || !(math.Abs(d-want.Deviation) < 0.15*want.Deviation) {
			t.Errorf("activation %d: mean %.3f deviation %.3f, predicted %.3f and %.3f", act, mean, d, want.Mean, want.Deviation)
		}
	}
}

// TestParameters: weights and biases count once, zeros in place of a bias do not.
func TestParameters(t *testing.T) {
	b := builder.New(builder.Config{Format: builder.Float32, ShapesOnly: true})
	x := b.Conv(b.Image(8), builder.Conv{Out: 4, Kernel: 3})                          // 4*27 + 4
	x = b.Depthwise(x, builder.Conv{Kernel: 3, NoBias: true})                         // 4*9
	x = b.Dense(b.Reshape(b.Affine(x, builder.ReLU), 64, 4), 5, builder.NoActivation) // 8, 5*4 + 5
	b.Output(x, "y")
	require.Same(t, 112+36+8+25, b.Parameters(), "parameters")
	require.Report(t, require.Err(b.Model("m")))
}

// TestErrors: the first mistake is kept with the operation it stands at, and
// what follows does no harm.
func TestErrors(t *testing.T) {
	for name, c := range map[string]struct {
		build func(b *builder.Builder, x builder.Tensor)
		want  string
	}{
		"shape": {func(b *builder.Builder, x builder.Tensor) {
			b.Add(x, b.Conv(x, builder.Conv{Out: 5, Kernel: 1}), builder.NoActivation)
		}, "operation 2: ADD"},
		"kernel larger than image": {func(b *builder.Builder, x builder.Tensor) { b.Conv(x, builder.Conv{Out: 5, Kernel: 30, Valid: true}) }, "operation 1: CONV_2D"},
		"no channels":              {func(b *builder.Builder, x builder.Tensor) { b.Conv(x, builder.Conv{Kernel: 1}) }, "0 channels"},
		"foreign tensor":           {func(b *builder.Builder, x builder.Tensor) { b.MaxPool(12345, builder.Pool{Window: 2}) }, "tensor 12345 of"},
		"no spread": {func(b *builder.Builder, x builder.Tensor) {
			b.SetSpread(x, builder.Spread{})
			b.Conv(x, builder.Conv{Out: 1, Kernel: 1})
		}, "deviation 0"},
		"NaN spread": {func(b *builder.Builder, x builder.Tensor) {
			b.SetSpread(x, builder.Spread{Deviation: math.NaN()})
			b.Affine(x, builder.NoActivation)
		}, "deviation NaN"},
		"no format": {func(b *builder.Builder, x builder.Tensor) {
			b.Format = 0
			b.Conv(x, builder.Conv{Out: 1, Kernel: 1})
		}, "a layer in no format"},
		"nothing to concatenate": {func(b *builder.Builder, x builder.Tensor) { b.Concat() }, "nothing"},
		"float table":            {func(b *builder.Builder, x builder.Tensor) { b.Table("t", 1, 3) }, "quantized network"},
		"unknown shape": {func(b *builder.Builder, x builder.Tensor) {
			shape := b.Input(b.Operand(nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{2}, Lifetime: nn.SubgraphInput}), "shape")
			b.Apply(nn.OpReshape, nn.TensorQuant8Asymm, builder.Quant{Scale: 1}, x, shape)
		}, "RESHAPE"},
	} {
		b := builder.New(builder.Config{Format: builder.Quant8})
		x := b.Image(8)
		c.build(b, x)
		b.Output(b.Softmax(b.Dense(b.GlobalPool(x), 10, builder.Logits)), "y") // must not panic
		_, err := b.Model(name)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), name+": builder: operation ") {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
		if b.Err() == nil || name == "unknown shape" && !errors.Is(err, opspec.ErrUnknown) {
			t.Errorf("%s: %v does not wrap its cause", name, err)
		}
	}
}

// TestSeeds: a seed decides the weights.
func TestSeeds(t *testing.T) {
	weights := func(seed uint32) string {
		b := builder.New(builder.Config{Format: builder.Float32, Seed: seed})
		b.Conv(b.Image(4), builder.Conv{Out: 8, Kernel: 3})
		m := require.V(b.Model("m"))(t)
		return string(m.Main.Operands[1].Data)
	}
	all := map[string]bool{}
	for _, seed := range []uint32{0, 1, 2, math.MaxUint32} {
		first, second := weights(seed), weights(seed)
		require.Check(t, first == second, "seed %d: two builds differ", seed)
		all[first] = true
	}
	require.Check(t, len(all) == 4, "4 seeds give %d sets of weights", len(all))
}

func BenchmarkWeights(b *testing.B) {
	for range b.N {
		n := builder.New(builder.Config{Format: builder.Float32})
		x := n.Values("x", 1, 4096)
		n.Dense(x, 4096, builder.NoActivation)
	}
	b.SetBytes(4096 * 4096) // weights
}

// TestZeroSums: the weights of a channel sum to zero, in channels of any size,
// where the surplus is larger than the channel and where it is smaller.
func TestZeroSums(t *testing.T) {
	for _, k := range []uint32{1, 2, 3, 9, 100, 4096} {
		b := builder.New(builder.Config{Format: builder.Quant8Signed, Seed: k})
		b.Dense(b.Values("x", 1, k), 50, builder.NoActivation)
		m := require.V(b.Model("m"))(t)
		for c := range 50 {
			sum, largest := 0, 0
			for _, w := range m.Main.Operands[1].Data[c*int(k) : (c+1)*int(k)] {
				sum += int(int8(w))
				largest = max(largest, int(int8(w)), -int(int8(w)))
			}
			if sum != 0 && k > 1 || largest == 0 && k != 2 {
				t.Errorf("channel %d of %d weights: sum %d, largest %d", c, k, sum, largest)
			}
		}
	}
}

// TestGroups: each group of channels sees its own inputs alone.
func TestGroups(t *testing.T) {
	for _, f := range formats {
		m, layers := run(t, builder.Config{Format: f}, 6, func(b *builder.Builder, x builder.Tensor) builder.Tensor {
			return b.Conv(x, builder.Conv{Out: 6, Kernel: 3, Groups: 3})
		})
		op := &m.Main.Operations[0]
		if w := m.Main.Operands[op.Inputs[1]].Dimensions; op.Type != nn.OpGroupedConv2D || w[0] != 6 || w[3] != 1 || len(layers[0]) != 6*6*6 {
			t.Errorf("%v: %v with weights %v", f, op.Type, w)
		}
	}
}
