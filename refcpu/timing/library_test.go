package timing

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// TestONNXRuntime holds the ways of ONNX Runtime to what its source does.
func TestONNXRuntime(t *testing.T) {
	s := gold(4)
	s.Library = ONNXRuntime
	conv := func(c builder.Conv) func(*builder.Builder, builder.Tensor) builder.Tensor {
		return func(b *builder.Builder, x builder.Tensor) builder.Tensor { return b.Conv(x, c) }
	}
	for _, c := range []struct {
		name     string
		channels uint32
		add      func(*builder.Builder, builder.Tensor) builder.Tensor
		want     way
	}{
		{"windows of 64 channels are read where they are", 64, conv(builder.Conv{Out: 32, Kernel: 3}),
			way{kernel: opspec.KernelConv, macs: 256 * 9 * 64 * 32, steps: 16 * 256 * 32, blocks: 72, shared: true}},
		{"windows of fewer are laid out, products are in tiles of 8 by 8", 5, conv(builder.Conv{Out: 12, Kernel: 3}),
			way{kernel: opspec.KernelConv, macs: 256 * 48 * 16, steps: 16 * 256 * 12, patches: 256 * 45, buffer: 256 * 45, blocks: 2, shared: true}},
		{"a group after the other, in the same windows", 16, conv(builder.Conv{Out: 16, Kernel: 3, Groups: 4}),
			way{kernel: opspec.KernelConv, macs: 4 * 256 * 40 * 8, steps: 16 * 256 * 16, patches: 4 * 256 * 36, buffer: 256 * 36, blocks: 1}},
		{"rows of a depthwise convolution", 16, func(b *builder.Builder, x builder.Tensor) builder.Tensor {
			return b.Depthwise(x, builder.Conv{Kernel: 3})
		}, way{kernel: opspec.KernelDepthwise, macs: 256 * 9 * 16, steps: 16 * 256 * 16, blocks: 64, shared: true}},
		{"elements that are few have one thread", 16, func(b *builder.Builder, x builder.Tensor) builder.Tensor {
			return b.Activate(x, builder.ReLU)
		}, way{kernel: opspec.KernelNone, steps: 256 * 16, blocks: 1}},
		{"elements that are many are shared", 16384, func(b *builder.Builder, x builder.Tensor) builder.Tensor {
			return b.Activate(x, builder.ReLU)
		}, way{kernel: opspec.KernelNone, steps: 256 * 16384, blocks: 256, shared: true}},
	} {
		b := builder.New(builder.Config{Format: builder.Quant8})
		b.Output(c.add(b, b.Values("x", 1, 16, 16, c.channels)), "y")
		m := require.V(b.Model(c.name))(t)
		w := require.V((*opspec.Table)(nil).ModelView(&m.Main).Work(&m.Main.Operations[0]))(t)
		c.want.layShared = true
		if got := s.way(&w); got != c.want {
			t.Errorf("%s:\n%+v, want\n%+v", c.name, got, c.want)
		}
	}
}
