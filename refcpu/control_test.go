package refcpu

import (
	"errors"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// TestLoopTimeout: a WHILE whose condition always holds ends by its timeout.
func TestLoopTimeout(t *testing.T) {
	const f32 = nn.TensorFloat32
	condition, body, main := &graph{}, &graph{}, &graph{}
	c := condition.input(f32, 0, 0, 1)
	condition.op(nn.OpEqual, []uint32{condition.output(nn.TensorBool8, 0, 0, 1)}, c, c)
	b := body.input(f32, 0, 0, 1)
	body.op(nn.OpAdd, []uint32{body.output(f32, 0, 0, 1)}, b, b, body.int32(0))
	ref := func(i byte) uint32 {
		return main.add(nn.Operand{Type: nn.SubgraphRef, Lifetime: nn.LifetimeSubgraph, Data: []byte{i, 0, 0, 0}})
	}
	x := main.input(f32, 0, 0, 1)
	main.op(nn.OpWhile, []uint32{main.output(f32, 0, 0, 1)}, ref(0), ref(1), x)
	m := main.model()
	m.Referenced = []nn.Subgraph{condition.Subgraph, body.Subgraph}
	p, err := Compile(m)
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Execute([]Tensor{{Data: floatBytes(1)}}, Options{LoopTimeout: 5 * time.Millisecond})
	if !errors.Is(err, ErrLoop) {
		t.Errorf("error %v", err)
	}
}
