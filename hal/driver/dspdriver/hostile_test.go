package dspdriver

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
)

// Shapes and paddings that would need more memory than a model may have are
// errors that name the limit, before anything of that size is allocated.
func TestTooLarge(t *testing.T) {
	d := device(t)
	image := func(b *builder, h, w, c int) uint32 {
		return b.input(b.activation(nn.TensorQuant8Asymm, 1, h, w, c))
	}
	for name, build := range map[string]func(b *builder){
		"positions": func(b *builder) {
			x := image(b, 30000, 30000, 1)
			o := b.m.Main.Operands[x]
			b.add(nn.OpAdd, []uint32{x, x, b.int32(0)}, b.output(o))
		},
		"bytes": func(b *builder) {
			x := image(b, 1, 1, 2_000_000_000)
			o := b.m.Main.Operands[x]
			b.add(nn.OpRelu, []uint32{x}, b.output(o))
		},
		"padding": func(b *builder) {
			x := image(b, 4, 4, 4)
			f, bias := b.weights(b.m.Main.Operands[x], []int{1, 1, 1, 4}, 1, 0)
			big := b.int32(1 << 20)
			o := b.activation(nn.TensorQuant8Asymm, 1, 4+2<<20, 4+2<<20, 1)
			o.Dimensions = nil
			b.add(nn.OpConv2D, []uint32{x, f, bias, big, big, big, big, b.int32(1 << 19), b.int32(1 << 19), b.int32(0)}, b.output(o))
			b.m.Main.Operands[b.m.Main.Outputs[0]].Dimensions = []uint32{1, 5, 5, 1}
		},
		"window": func(b *builder) {
			x := image(b, 1, 1000, 8)
			o := b.m.Main.Operands[x]
			o.Dimensions = []uint32{1, 1, 1, 8}
			b.add(nn.OpAveragePool2D, []uint32{x, b.int32(nn.PaddingValid), b.int32(1), b.int32(1), b.int32(1000), b.int32(1), b.int32(0)}, b.output(o))
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBuilder(rand.New(rand.NewPCG(1, 1)))
			build(b)
			_, err := d.PrepareModel(&b.m, hal.PrepareOptions{})
			if err == nil || !strings.Contains(err.Error(), "at most") || hal.StatusOf(err) != hal.InvalidArgument {
				t.Fatalf("got %v", err)
			}
		})
	}
}

// Strides whose quotients are not those of the reference are declined by name.
func TestDenormalStride(t *testing.T) {
	for stride, ok := range map[float32]bool{0x1p-126: true, 0x1p-127: false, 0x1p-149: false, 1: true} {
		for op, more := range map[nn.OperationType]int{nn.OpRoiPooling: 0, nn.OpRoiAlign: 2} {
			b := newBuilder(rand.New(rand.NewPCG(3, 42)))
			in := b.activation(nn.TensorQuant8Asymm, 1, 4, 4, 3)
			list := []uint32{b.input(in), b.input(nn.Operand{Type: nn.TensorQuant16Asymm, Dimensions: []uint32{1, 4}, Scale: 0.125}),
				b.input(b.plain(nn.TensorInt32, 1)), b.int32(2), b.int32(2), b.float32(1), b.float32(stride)}
			for range more {
				list = append(list, b.int32(1))
			}
			in.Dimensions = []uint32{1, 2, 2, 3}
			b.add(op, append(list, b.bool(false)), b.output(in))
			s, err := device(t).SupportedOperations(&b.m)
			if err != nil || s[0].OK != ok || !ok && !strings.Contains(s[0].Reason, "strides are at least") {
				t.Errorf("%v, stride %g: %+v, %v", op, stride, s, err)
			}
		}
	}
}
