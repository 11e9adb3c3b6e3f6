package dsp

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
)

// Shapes and paddings that would need more memory than a model may have are
// errors that say so, before anything of that size is allocated.
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

// What the device declines it declines with a reason.
func TestDeclined(t *testing.T) {
	d := device(t)
	b := newBuilder(rand.New(rand.NewPCG(1, 1)))
	x := b.input(nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{1, 4}})
	b.add(nn.OpRelu, []uint32{x}, b.output(nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{1, 4}}))
	s, err := d.SupportedOperations(&b.m)
	if err != nil || s[0].OK || !strings.Contains(s[0].Reason, "TENSOR_FLOAT32") {
		t.Fatalf("%v %v", s, err)
	}
	if _, err := d.PrepareModel(&b.m, hal.PrepareOptions{}); err == nil {
		t.Error("prepared a float model")
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

// An execution with buffers of the wrong number or size is refused.
func TestRequests(t *testing.T) {
	m, in := smallNetwork()
	p, err := device(t).PrepareModel(m, hal.PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	out := outputs(m)
	for name, r := range map[string]struct {
		request hal.Buffers
		status  hal.Status
	}{
		"no input":     {hal.Buffers{Outputs: out}, hal.InvalidArgument},
		"short input":  {hal.Buffers{Inputs: [][]byte{in[1:]}, Outputs: out}, hal.InvalidArgument},
		"short output": {hal.Buffers{Inputs: [][]byte{in}, Outputs: [][]byte{out[0][1:]}}, hal.InvalidArgument},
	} {
		if _, err := hal.Execute(p, &r.request); hal.StatusOf(err) != r.status {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Operand numbers and operation codes that do not exist are errors.
func TestBrokenModels(t *testing.T) {
	d := device(t)
	for name, change := range map[string]func(g *nn.Subgraph){
		"input":     func(g *nn.Subgraph) { g.Inputs[0] = 1 << 20 },
		"output":    func(g *nn.Subgraph) { g.Outputs[0] = 1 << 20 },
		"argument":  func(g *nn.Subgraph) { g.Operations[1].Inputs[1] = 1 << 20 },
		"result":    func(g *nn.Subgraph) { g.Operations[1].Outputs[0] = 1 << 20 },
		"code":      func(g *nn.Subgraph) { g.Operations[1].Type = 9999 },
		"no inputs": func(g *nn.Subgraph) { g.Operations[1].Inputs = nil },
		"order":     func(g *nn.Subgraph) { g.Operations[0], g.Operations[2] = g.Operations[2], g.Operations[0] },
		"no data":   func(g *nn.Subgraph) { g.Operands[g.Operations[0].Inputs[1]].Data = nil },
	} {
		m, _ := smallNetwork()
		change(&m.Main)
		if _, err := d.PrepareModel(m, hal.PrepareOptions{}); hal.StatusOf(err) != hal.InvalidArgument {
			t.Errorf("%s: preparing: %v", name, err)
		}
		if _, err := d.SupportedOperations(m); hal.StatusOf(err) != hal.InvalidArgument {
			t.Errorf("%s: support: %v", name, err)
		}
	}
}
