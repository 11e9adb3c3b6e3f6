package compile_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/graph/legal"
	"github.com/nnsoc/nnsoc/hal/driver/graph/pass"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// accepts is a lowering that accepts operations of one type.
type accepts nn.OperationType

func (x accepts) Identity() string { return nn.OperationType(x).String() }
func (x accepts) Check(_ opspec.View, op *nn.Operation) error {
	if op.Type != nn.OperationType(x) {
		return errors.New("another type")
	}
	return nil
}
func (x accepts) Lower(int, *nn.Operation) error { return nil }

// TestChoose: the first lowering that accepts an operation has it.
func TestChoose(t *testing.T) {
	list := []compile.OperationLowering[int]{accepts(nn.OpAdd), accepts(nn.OpMul)}
	for _, op := range []nn.OperationType{nn.OpAdd, nn.OpMul} {
		if got := compile.Choose(list, opspec.View{}, &nn.Operation{Type: op}); got != accepts(op) {
			t.Errorf("%s: %v", op, got)
		}
	}
	if got := compile.Choose(list, opspec.View{}, &nn.Operation{Type: nn.OpSub}); got != nil {
		t.Errorf("SUB, which none takes: %v", got)
	}
	if got := compile.Identity("gpu", list); got != "gpu+ADD+MUL" {
		t.Error(got)
	}
}

// TestExtend: operations of one extension are one entry, with each of its types once.
func TestExtend(t *testing.T) {
	types := []hal.ExtensionOperandType{{Type: 1, ByteSize: 4}, {Type: 2, ByteSize: 1}}
	operation := func(code uint32, types ...hal.ExtensionOperandType) compile.Operation[int] {
		row := *opspec.Lookup(nn.OpRelu)
		row.Extension, row.Op = "acme.test", nn.OperationType(7<<16|code)
		return compile.Operation[int]{Row: row, Types: types, Lowering: accepts(row.Op)}
	}
	x, err := compile.Extend([]string{"nnsoc.own"}, []compile.OperationLowering[int]{accepts(nn.OpAdd)},
		[]compile.Operation[int]{operation(1, types[0]), operation(2, types...), operation(3, types[1])})
	if err != nil || len(x.Extensions) != 2 || x.Extensions[0].Name != "nnsoc.own" || x.Extensions[1].Name != "acme.test" ||
		!slices.Equal(x.Extensions[1].OperandTypes, types) || len(x.Lowerings) != 4 || x.Lowerings[0] != accepts(nn.OpAdd) {
		t.Errorf("%+v, %v", x, err)
	}
	if x, err = compile.Extend(nil, nil, []compile.Operation[int]{operation(1), operation(2)}); err != nil || len(x.Extensions) != 1 {
		t.Errorf("of a device without extensions: %+v, %v", x, err)
	}
	none := operation(1)
	none.Lowering = nil
	require.Fails(t, require.Err(compile.Extend(nil, nil, []compile.Operation[int]{none})), "an operation without a lowering")
}

// TestLeaves: a pass expands the operations that the table leaves to it and, by the estimates, those that it makes cheaper,
// but none that a lowering of the user accepts; a query requests no estimates.
func TestLeaves(t *testing.T) {
	number := func(v byte) nn.Operand {
		return nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: []byte{v, 0, 0, 0}}
	}
	tensor := func(l nn.Lifetime) nn.Operand {
		return nn.Operand{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{2, 4}, Scale: 1, Lifetime: l}
	}
	m := &nn.Subgraph{Operands: []nn.Operand{tensor(nn.SubgraphInput), number(0), number(1), tensor(nn.SubgraphOutput)}, Inputs: []uint32{0},
		Outputs: []uint32{3}, Operations: []nn.Operation{{Type: nn.OpSplit, Inputs: []uint32{0, 1, 2}, Outputs: []uint32{3}}}}
	own := legal.Legal(func(int, *nn.Operation) error { return nil })
	expand, either := legal.Expand[int](pass.ExpandSplit, nn.OpSlice), own.Or(pass.ExpandSplit, nn.OpSlice)
	for _, c := range []struct {
		name     string
		action   legal.Action[int]
		first    accepts
		query    bool
		expanded int64 // cycles, of 9 of the own kernel
		estimate error
		want     bool
		choices  int
	}{
		{name: "no own kernel", action: expand, want: true},
		{name: "the user's kernel", action: expand, first: accepts(nn.OpSplit)},
		{name: "no expansion", action: own, expanded: 8},
		{name: "a cheaper expansion", action: either, expanded: 8, want: true, choices: 1},
		{name: "an expansion no cheaper", action: either, expanded: 9, choices: 1},
		{name: "a query", action: either, query: true, expanded: 8},
		{name: "no estimate", action: either, estimate: errors.New("none")},
	} {
		table := legal.Must(legal.New(legal.Config{Device: "this toy", Passes: pass.NewPipeline(pass.ResolveShapes, pass.ExpandSplit), Deferred: legal.DeferredInputs},
			legal.Row[int]{Operations: legal.Others, Types: legal.All, Action: legal.Refuse[int]("nothing here does it")},
			legal.Row[int]{Operations: legal.Ops(nn.OpSplit), Types: legal.Of(nn.TensorQuant8Asymm), Action: c.action},
			legal.Row[int]{Operations: legal.Ops(nn.OpSplit), Types: legal.Of(nn.TensorQuant8AsymmSigned), Action: expand},
			legal.Row[int]{Operations: legal.Ops(nn.OpSlice), Types: legal.Bytes, Action: own}))
		g := graph.FromSubgraph(m)
		g.Query, g.Running.Name = c.query, pass.ExpandSplit
		price := func(g *graph.Graph) (int64, error) {
			if g.Operations[0].Type == nn.OpSplit {
				return 9, c.estimate
			}
			return c.expanded, nil
		}
		got := compile.Leaves(table, []compile.OperationLowering[int]{c.first}, g, &g.Operations[0], pass.ExpandSplit, price)
		if got != c.want || len(g.Choices) != c.choices {
			t.Errorf("%s: %v, %+v", c.name, got, g.Choices)
		}
	}
}
