package gpudriver

import (
	"testing"

	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
)

// TestFused: kernels compute the elementwise functions of their results where nothing else reads these, in models of
// floats and of halves; other models have a kernel for each operation. All give the results of the reference.
func TestFused(t *testing.T) {
	conv := builder.Conv{Out: 10, Kernel: 1}
	for _, c := range []struct {
		name    string
		kernels int
		build   func(b *builder.Builder, x builder.Tensor) (outputs []builder.Tensor)
	}{
		{"function of one tensor", 1, func(b *builder.Builder, x builder.Tensor) []builder.Tensor {
			return []builder.Tensor{b.Apply(nn.OpLogistic, b.Type(), builder.Quant{}, b.Conv(x, conv))}
		}},
		{"chain in which a result is read twice", 1, func(b *builder.Builder, x builder.Tensor) []builder.Tensor {
			y := b.Depthwise(x, builder.Conv{Kernel: 3, Stride: 1})
			z := b.Add(y, b.Floats([]uint32{1}, 3), builder.ReLU6)
			return []builder.Tensor{b.Mul(b.Mul(z, b.Floats([]uint32{1}, 1.0/6)), y)}
		}},
		{"sum of two results", 2, func(b *builder.Builder, x builder.Tensor) []builder.Tensor {
			y := b.Conv(x, conv)
			return []builder.Tensor{b.Add(y, b.Conv(y, conv), builder.ReLU)}
		}},
		{"result for each channel", 3, func(b *builder.Builder, x builder.Tensor) []builder.Tensor {
			gate := b.Apply(nn.OpLogistic, b.Type(), builder.Quant{}, b.Conv(b.GlobalPool(x), conv))
			return []builder.Tensor{b.Mul(b.Conv(x, conv), gate)}
		}},
		{"functions alone", 1, func(b *builder.Builder, x builder.Tensor) []builder.Tensor {
			y := b.Add(x, b.Floats([]uint32{8}, 1, 2, 3, 4, 5, 6, 7, 8), builder.NoActivation)
			return []builder.Tensor{b.Add(b.Mul(y, y), x, builder.NoActivation)}
		}},
		{"result that the client reads", 2, func(b *builder.Builder, x builder.Tensor) []builder.Tensor {
			y := b.Conv(x, conv)
			return []builder.Tensor{y, b.Apply(nn.OpTanh, b.Type(), builder.Quant{}, y)}
		}},
		{"result that two functions read", 3, func(b *builder.Builder, x builder.Tensor) []builder.Tensor {
			y := b.Conv(x, conv)
			return []builder.Tensor{b.Apply(nn.OpTanh, b.Type(), builder.Quant{}, y), b.Apply(nn.OpLogistic, b.Type(), builder.Quant{}, y)}
		}},
		{"result that is repeated", 2, func(b *builder.Builder, x builder.Tensor) []builder.Tensor {
			return []builder.Tensor{b.Add(x, b.Conv(x, builder.Conv{Out: 1, Kernel: 1}), builder.NoActivation)}
		}},
		{"chain that a kernel ends after nine functions", 4, func(b *builder.Builder, x builder.Tensor) []builder.Tensor {
			return []builder.Tensor{negations(b, x, 30)[29]}
		}},
		{"chain whose values are all read at its end", 330, func(b *builder.Builder, x builder.Tensor) []builder.Tensor {
			list := negations(b, x, 300)
			for i := len(list) - 1; i >= 0; i-- {
				x = b.Add(list[i], x, builder.NoActivation)
			}
			return []builder.Tensor{x}
		}},
	} {
		b := builder.New(builder.Config{Format: builder.Float32})
		for _, y := range c.build(b, b.Values("x", 1, 5, 4, 8)) {
			b.Output(y, "y")
		}
		m := require.V(b.Model(c.name))(t)
		inputs := [][]byte{tensor.SyntheticInput(&m.Main, 0, 1)}
		for _, relaxed := range []bool{false, true} {
			compareNetwork(t, m, inputs, relaxed)
		}
		m.Relaxed = false
		if n := len(compiled(t, newDevice(t), m).Launches); n != c.kernels {
			t.Errorf("%s: %d kernels, want %d", c.name, n, c.kernels)
		}
	}
}

// negations are the values of a chain of NEG.
func negations(b *builder.Builder, x builder.Tensor, n int) (list []builder.Tensor) {
	for range n {
		x = b.Apply(nn.OpNeg, b.Type(), builder.Quant{}, x)
		list = append(list, x)
	}
	return list
}
