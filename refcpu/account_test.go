package refcpu

import (
	"errors"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// counted is an Account with a limit.
type counted struct{ held, most, limit int64 }

var errFull = errors.New("full")

func (c *counted) Reserve(n int64) error {
	if c.held+n > c.limit {
		return errFull
	}
	c.held += n
	c.most = max(c.most, c.held)
	return nil
}

func (c *counted) Free(n int64) { c.held -= n }

// tiling is a WHILE that adds one to a float until it reaches 8 and each time tiles a tensor as often as multiples say,
// whose result an IF passes on.
func tiling() *nn.Model {
	const f32 = nn.TensorFloat32
	condition, body, pass, main := &graph{}, &graph{}, &graph{}, &graph{}
	state := func(g *graph) (count, x, multiples uint32) {
		return g.input(f32, 0, 0, 1), g.input(f32, 0, 0, 0), g.input(nn.TensorInt32, 0, 0, 1)
	}
	c, _, _ := state(condition)
	condition.op(nn.OpLess, []uint32{condition.output(nn.TensorBool8, 0, 0, 1)}, c, condition.constant(f32, 0, 0, floatBytes(8), 1))
	b, x, m := state(body)
	body.op(nn.OpAdd, []uint32{body.output(f32, 0, 0, 1)}, b, body.constant(f32, 0, 0, floatBytes(1), 1), body.int32(0))
	body.op(nn.OpTile, []uint32{body.output(f32, 0, 0, 0)}, x, m)
	pass.op(nn.OpRelu, []uint32{pass.output(f32, 0, 0, 0)}, pass.input(f32, 0, 0, 0))
	ref := func(i uint32) uint32 { return main.add(nn.SubgraphOperand(i)) }
	b, x, m = state(main)
	yes := main.input(nn.TensorBool8, 0, 0, 1)
	large := main.add(nn.Operand{Type: f32, Dimensions: []uint32{0}})
	main.op(nn.OpWhile, []uint32{main.output(f32, 0, 0, 1), large}, ref(0), ref(1), b, x, m)
	main.op(nn.OpIf, []uint32{main.output(f32, 0, 0, 0)}, yes, ref(2), ref(2), large)
	model := main.model()
	model.Referenced = []nn.Subgraph{condition.Subgraph, body.Subgraph, pass.Subgraph}
	return model
}

// TestAccount: an account pays for tensors of open shapes before they are allocated; what rounds of a loop and called
// subgraphs held is given back when they end, and an error of the account ends the execution.
func TestAccount(t *testing.T) {
	p := require.V(Compile(tiling()))(t)
	const n = 1 << 10 // floats of the state
	run := func(start float32, limit int64) (*counted, error) {
		a := &counted{limit: limit}
		_, err := p.Execute([]Tensor{{Data: floatBytes(start)}, {Dimensions: []uint32{n}, Data: make([]byte, 4*n)}, {Data: words(1)}, {Data: []byte{1}}}, Options{Account: a})
		return a, err
	}
	two, err := run(6, 1<<20)
	require.NoError(t, err)
	seven, err := run(1, 1<<20)
	require.NoError(t, err)
	require.Same(t, *two, *seven, "in two and in seven rounds")
	// The input, the results of WHILE and IF, and what Execute returns: the counter is of a known shape.
	require.Same(t, 4*4*n+4, seven.held, "bytes when it has ended")
	full, err := run(1, seven.most-1)
	require.Check(t, errors.Is(err, errFull), "with a byte less than it needs: %v", err)
	require.Check(t, full.held <= seven.most-1, "%d bytes", full.held)
	require.Same(t, 0, p.states.Len(), "states kept of executions that somebody pays for")
	_, err = p.Execute([]Tensor{{Data: floatBytes(7)}, {Dimensions: []uint32{n}, Data: make([]byte, 4*n)}, {Data: words(1)}, {Data: []byte{1}}}, Options{})
	require.NoError(t, err)
	require.Same(t, 1, p.states.Len(), "states kept without an account")
}
