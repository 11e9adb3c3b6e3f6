package opspec_test

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// TestPatchesAndScalars: windows of more than a pixel or read with a stride are laid out;
// elements are handled by themselves where a PAD is of signed bytes and where joined tensors
// have unlike scales.
func TestPatchesAndScalars(t *testing.T) {
	for _, c := range []struct {
		name             string
		format           builder.Format
		add              func(b *builder.Builder, x builder.Tensor) builder.Tensor
		patches, scalars int64
	}{
		{"3x3", builder.Float32, conv(builder.Conv{Out: 5, Kernel: 3}), 8 * 8 * 9 * 3 * 4, 0},
		{"3x3 of bytes", builder.Quant8, conv(builder.Conv{Out: 5, Kernel: 3, Stride: 2}), 4 * 4 * 9 * 3, 0},
		{"1x1", builder.Float32, conv(builder.Conv{Out: 5, Kernel: 1}), 0, 0},
		{"1x1 with a stride", builder.Float32, conv(builder.Conv{Out: 5, Kernel: 1, Stride: 2}), 4 * 4 * 3 * 4, 0},
		{"groups", builder.Float32, conv(builder.Conv{Out: 6, Kernel: 3, Groups: 3}), 0, 0},
		{"depthwise", builder.Float32, func(b *builder.Builder, x builder.Tensor) builder.Tensor {
			return b.Depthwise(x, builder.Conv{Kernel: 3})
		}, 0, 0},
		{"PAD", builder.Float32, pad, 0, 0},
		{"PAD of bytes", builder.Quant8, pad, 0, 0},
		{"PAD of signed bytes", builder.Quant8Signed, pad, 0, 10 * 10 * 3},
		{"joined", builder.Quant8Signed, join(1), 0, 0},
		{"joined, one of another scale", builder.Quant8Signed, join(2), 0, 2 * 8 * 8 * 3},
	} {
		b := builder.New(builder.Config{Format: c.format})
		b.Output(c.add(b, b.Image(8)), "y")
		m := require.V(b.Model(c.name))(t)
		w := require.V((*opspec.Table)(nil).ModelView(&m.Main).Work(&m.Main.Operations[0]))(t)
		if w.Patches != c.patches || w.Scalars != c.scalars {
			t.Errorf("%s: %d bytes of patches, %d scalars, want %d and %d", c.name, w.Patches, w.Scalars, c.patches, c.scalars)
		}
	}
}

func conv(c builder.Conv) func(*builder.Builder, builder.Tensor) builder.Tensor {
	return func(b *builder.Builder, x builder.Tensor) builder.Tensor { return b.Conv(x, c) }
}

func pad(b *builder.Builder, x builder.Tensor) builder.Tensor {
	return b.Pad(x, 0, 0, 1, 1, 1, 1, 0, 0)
}

// join concatenates the image with one whose scale is a multiple of its own.
func join(factor float32) func(*builder.Builder, builder.Tensor) builder.Tensor {
	return func(b *builder.Builder, x builder.Tensor) builder.Tensor {
		o := nn.Operand{Type: nn.TensorQuant8AsymmSigned, Dimensions: []uint32{1, 8, 8, 3}, Scale: 1}
		q := builder.Quant{Scale: 1}
		y, z := b.Input(b.Operand(o), "y"), o
		z.Scale = factor
		return b.Apply(nn.OpConcatenation, o.Type, q, y, b.Input(b.Operand(z), "z"), b.Int32(3))
	}
}
