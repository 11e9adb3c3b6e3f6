package compile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/graph/pass"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// relu is a model of one operation.
func relu() *nn.Model {
	in := nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{4}, Lifetime: nn.SubgraphInput}
	out := in
	out.Lifetime = nn.SubgraphOutput
	return &nn.Model{Main: nn.Subgraph{
		Operands:   []nn.Operand{in, out},
		Operations: []nn.Operation{{Type: nn.OpRelu, Inputs: []uint32{0}, Outputs: []uint32{1}}},
		Inputs:     []uint32{0}, Outputs: []uint32{1},
	}}
}

// picky lowers everything and refuses everything by shapes and parameters.
type picky struct{}

func (picky) Passes() pass.Pipeline                { return pass.NewPipeline(pass.ResolveShapes) }
func (picky) Check(g *graph.Graph) compile.Checker { return picky{} }
func (picky) Types(int) error                      { return nil }
func (picky) Lowers(int) error                     { return errors.New("RELU: 1 element, at most 0") }
func (picky) Defers(int) error                     { return errors.New("RELU: no shape") }

func (picky) Lower(*graph.Graph, hal.PrepareOptions) (compile.Executable, error) {
	panic("lowers what the checker refuses")
}

// TestLowersIsAskedAgain: an operation that a checker refuses is not lowered, even without a
// support query.
func TestLowersIsAskedAgain(t *testing.T) {
	d := base.New(base.Config{Name: "toy"}, compile.New(picky{}))
	require.ErrorContains(t, require.Err(d.PrepareModel(relu(), hal.PrepareOptions{})), "at most 0")
}

// without supports all operations but those of a type.
type without struct {
	picky
	op    nn.OperationType
	graph *graph.Graph
}

func (w without) Check(g *graph.Graph) compile.Checker { w.graph = g; return w }
func (w without) Lowers(i int) error {
	if w.graph.Operations[i].Type == w.op {
		return errors.New("not here")
	}
	return nil
}

// TestRefusedWithin: a WHILE is refused for what its subgraphs call, with the way there.
func TestRefusedWithin(t *testing.T) {
	for op, want := range map[nn.OperationType]string{
		nn.OpMul:  "WHILE: subgraph 1; operation 1: IF: subgraph 3; operation 0: not here",
		nn.OpLess: "WHILE: subgraph 0; operation 0: not here",
	} {
		d := base.New(base.Config{Name: "toy"}, compile.New(without{op: op}))
		s, err := d.SupportedOperations(doubling(30, 2))
		if err != nil || s[0].OK || s[0].Reason != want {
			t.Errorf("%s: %+v, %v", op, s, err)
		}
		if _, err := d.PrepareModel(doubling(30, 2), hal.PrepareOptions{}); err == nil || err.Error() != "toy driver: operation 0: "+want {
			t.Errorf("%s: %v", op, err)
		}
	}
}

// nhwc is without, behind the pass that changes layouts.
type nhwc struct{ without }

func (nhwc) Passes() pass.Pipeline { return pass.NewPipeline(pass.ResolveShapes, pass.ConvertNCHW) }

// TestRefusedExpansion: where what an operation was expanded to is refused, the reason begins with the model's operation.
func TestRefusedExpansion(t *testing.T) {
	x := nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{1, 4, 1, 1}, Lifetime: nn.SubgraphInput}
	y := nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{1, 1, 2, 2}, Lifetime: nn.SubgraphOutput}
	m := &nn.Model{Main: nn.Subgraph{
		Operands:   []nn.Operand{x, y, {Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: []byte{2, 0, 0, 0}}, {Type: nn.Bool, Lifetime: nn.ConstantCopy, Data: []byte{1}}},
		Operations: []nn.Operation{{Type: nn.OpDepthToSpace, Inputs: []uint32{0, 2, 3}, Outputs: []uint32{1}}},
		Inputs:     []uint32{0}, Outputs: []uint32{1},
	}}
	for op, want := range map[nn.OperationType]string{nn.OpTranspose: "DEPTH_TO_SPACE: expanded to not here", nn.OpDepthToSpace: "not here"} {
		d := base.New(base.Config{Name: "toy"}, compile.New(nhwc{without{op: op}}))
		if s, err := d.SupportedOperations(m); err != nil || s[0].OK || s[0].Reason != want {
			t.Errorf("%s: %+v, %v", op, s, err)
		}
		if _, err := d.PrepareModel(m, hal.PrepareOptions{}); err == nil || err.Error() != "toy driver: operation 0: "+want {
			t.Errorf("%s: %v", op, err)
		}
	}
}

// lost is a lowering that panics where its passes are requested.
type lost struct{ picky }

func (lost) Passes() pass.Pipeline { panic("lost") }

// TestPassesPanic: a panic is named after the device and the call.
func TestPassesPanic(t *testing.T) {
	_, err := base.New(base.Config{Name: "toy"}, compile.New(lost{})).Passes(relu())
	if err == nil || !strings.HasPrefix(err.Error(), "toy") || !strings.Contains(err.Error(), "panic in Passes") {
		t.Error(err)
	}
}
