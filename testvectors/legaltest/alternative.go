package legaltest

import (
	"bytes"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// Lowering is the lowering of a device with a table.
type Lowering interface {
	compile.Lowering
	compile.Legalized
}

// Cheaper lowers a model of one operation as the device chooses and, against its choice, the other way, and runs both:
// they must compute the same bytes, and the choice must cost fewer cycles. It returns the choice.
func Cheaper(t *testing.T, l Lowering, m *nn.Model) graph.Choice {
	t.Helper()
	var choice graph.Choice
	inputs := noise(&m.Main)
	run := func(leaves func(g *graph.Graph, op *nn.Operation, pass string) bool) (cycles int64, out []byte) {
		g := graph.New(m)
		g.Leaves = leaves
		require.NoError(t, l.Passes().Run(g, nil))
		if len(g.Choices) > 0 {
			choice = g.Choices[0]
		}
		stages, err := g.Stages()
		if err != nil || len(stages) != 1 {
			t.Fatalf("%d stages, error %v", len(stages), err)
		}
		if g, err = stages[0].Bind(nil, nil); err != nil {
			t.Fatal(err)
		}
		x := require.V(l.Lower(g, hal.PrepareOptions{}))(t)
		r := require.V(x.Run(inputs, compile.RunOptions{}))(t)
		defer r.Release()
		data, _ := r.Output(0)
		return r.Stats().Cycles, bytes.Clone(data)
	}
	op := m.Main.Operations[0].Type
	chosen, out := run(l.Leaves)
	if choice.Pass == "" {
		t.Fatalf("%s: the device has not compared anything", op)
	}
	other, want := run(func(_ *graph.Graph, _ *nn.Operation, pass string) bool {
		return pass == choice.Pass && !choice.Expands()
	})
	require.Check(t, bytes.Equal(out, want), "%s: the expansion and the device's own kernel differ", op)
	if chosen > other {
		t.Errorf("%s: chosen by %d and %d cycles for the device's own kernel and the expansion, it takes %d, and %d otherwise", op, choice.Legal, choice.Expanded, chosen, other)
	}
	t.Logf("%s, expansion taken %t: %d cycles, %d otherwise; estimated %d own, %d expanded", op, choice.Expands(), chosen, other, choice.Legal, choice.Expanded)
	return choice
}

// noise is data for the inputs of a subgraph.
func noise(s *nn.Subgraph) (list [][]byte) {
	x := uint32(1)
	for _, i := range s.Inputs {
		b := make([]byte, s.Operands[i].Bytes())
		for k := range b {
			x = x*1664525 + 1013904223
			b[k] = byte(x >> 24)
		}
		list = append(list, b)
	}
	return list
}

// Grouped is a 3x3 GROUPED_CONV_2D of bytes.
func Grouped(side, channels, groups uint32) *nn.Model {
	return convolution(nn.OpGroupedConv2D, side, channels, []uint32{channels, 3, 3, channels / groups}, groups, 0, 0)
}

// Products is a BATCH_MATMUL of bytes.
func Products(batch, rows, depth, columns uint32) *nn.Model {
	b := model{}
	x, y := b.add(bytesOf(0.5, batch, rows, depth), nn.SubgraphInput), b.add(bytesOf(0.5, batch, depth, columns), nn.SubgraphInput)
	no := nn.Operand{Type: nn.Bool, Data: []byte{0}}
	return b.end(nn.OpBatchMatmul, []uint32{x, y, b.add(no, nn.ConstantCopy), b.add(no, nn.ConstantCopy)}, bytesOf(0.5*float32(depth), batch, rows, columns))
}

type model struct{ nn.Subgraph }

func bytesOf(scale float32, dims ...uint32) nn.Operand {
	return nn.Operand{Type: nn.TensorQuant8AsymmSigned, Scale: scale, ZeroPoint: 3, Dimensions: dims}
}

func (b *model) add(o nn.Operand, l nn.Lifetime) uint32 {
	o.Lifetime = l
	x := uint32(len(b.Operands))
	if b.Operands = append(b.Operands, o); l == nn.SubgraphInput {
		b.Inputs = append(b.Inputs, x)
	}
	return x
}

func (b *model) end(op nn.OperationType, in []uint32, out nn.Operand) *nn.Model {
	y := b.add(out, nn.SubgraphOutput)
	b.Outputs, b.Operations = []uint32{y}, []nn.Operation{{Type: op, Inputs: in, Outputs: []uint32{y}}}
	return &nn.Model{Main: b.Subgraph}
}

// convolution is one of a square image with padding SAME and stride 1; numbers are its arguments after the strides, the
// last of which is a BOOL of a grouped one.
func convolution(op nn.OperationType, side, channels uint32, filter []uint32, numbers ...uint32) *nn.Model {
	b := model{}
	f := bytesOf(0.5, filter...)
	f.Data = noise(&nn.Subgraph{Operands: []nn.Operand{f}, Inputs: []uint32{0}})[0]
	bias := nn.Operand{Type: nn.TensorInt32, Scale: 0.25, Dimensions: []uint32{channels}, Data: make([]byte, 4*channels)}
	in := []uint32{b.add(bytesOf(0.5, 1, side, side, channels), nn.SubgraphInput), b.add(f, nn.ConstantCopy), b.add(bias, nn.ConstantCopy)}
	for i, n := range append([]uint32{uint32(nn.PaddingSame), 1, 1}, numbers...) {
		o := nn.Operand{Type: nn.Int32, Data: []byte{byte(n), 0, 0, 0}}
		if i == 5 {
			o = nn.Operand{Type: nn.Bool, Data: []byte{byte(n)}}
		}
		in = append(in, b.add(o, nn.ConstantCopy))
	}
	return b.end(op, in, bytesOf(40, 1, side, side, channels))
}
