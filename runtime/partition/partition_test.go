package partition

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/nn"
)

// chain is a graph of unary operations: each entry lists the operations whose
// results it reads.
func graph(inputs ...[]int) *nn.Subgraph {
	g := &nn.Subgraph{Inputs: []uint32{0}}
	g.Operands = make([]nn.Operand, 1+len(inputs))
	g.Operands[0] = nn.Operand{Type: nn.TensorQuant8Asymm, Lifetime: nn.SubgraphInput}
	for i, from := range inputs {
		op := nn.Operation{Type: nn.OpRelu, Outputs: []uint32{uint32(i + 1)}}
		g.Operands[i+1] = nn.Operand{Type: nn.TensorQuant8Asymm}
		for _, f := range from {
			op.Inputs = append(op.Inputs, uint32(f+1))
		}
		if len(from) == 0 {
			op.Inputs = []uint32{0}
		}
		g.Operations = append(g.Operations, op)
	}
	return g
}

func TestSteps(t *testing.T) {
	for _, c := range []struct {
		name   string
		g      *nn.Subgraph
		assign []int
		want   []Step
	}{
		{"one device", graph(nil, []int{0}, []int{1}), []int{1, 1, 1}, []Step{{1, []int{0, 1, 2}}}},
		{"alternating", graph(nil, []int{0}, []int{1}), []int{1, 0, 1}, []Step{{1, []int{0}}, {0, []int{1}}, {1, []int{2}}}},
		// Both branches of device 1 join one step, whatever lies between them.
		{"branches", graph(nil, []int{0}, []int{0}, []int{1, 2}), []int{1, 0, 1, 1}, []Step{{1, []int{0, 2}}, {0, []int{1}}, {1, []int{3}}}},
		{"operations out of reach of each other", graph(nil, nil), []int{1, 0}, []Step{{0, []int{1}}, {1, []int{0}}}},
	} {
		if diff := cmp.Diff(c.want, Steps(c.g, c.assign, 2)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func candidate(exec, power float32, ok ...bool) Candidate {
	c := Candidate{Capabilities: hal.Capabilities{Operand: map[nn.OperandType]hal.PerformanceInfo{
		nn.TensorQuant8Asymm: {ExecTime: exec, PowerUsage: power},
	}}}
	for _, x := range ok {
		c.Support = append(c.Support, hal.Support{OK: x})
	}
	return c
}

func TestBest(t *testing.T) {
	m := &nn.Model{Main: *graph(nil, []int{0}, []int{1})}
	c := []Candidate{
		candidate(1, 1, true, true, true),
		candidate(0.5, 0.9, true, true, false),
		candidate(0.7, 0.2, true, false, false),
	}
	if got := (Best{}).Assign(m, hal.FastSingleAnswer, c); !slices.Equal(got, []int{1, 1, 0}) {
		t.Errorf("by time: %v", got)
	}
	if got := (Best{}).Assign(m, hal.LowPower, c); !slices.Equal(got, []int{2, 1, 0}) {
		t.Errorf("by power: %v", got)
	}
	c[1] = candidate(1, 1, true, true, true) // no better than the CPU
	if got := (Best{}).Assign(m, hal.FastSingleAnswer, c[:2]); !slices.Equal(got, []int{0, 0, 0}) {
		t.Errorf("a tie: %v", got)
	}
}

func TestSingle(t *testing.T) {
	m := &nn.Model{Main: *graph(nil, []int{0})}
	c := []Candidate{candidate(1, 1, true, true), candidate(9, 9, false, true)}
	if got := (Single{1}).Assign(m, hal.FastSingleAnswer, c); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("%v", got)
	}
}
