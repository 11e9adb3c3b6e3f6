package engine

import (
	"reflect"
	"testing"

	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// example is a graph of one input and one output of eight bytes.
func example() *graph.Graph {
	o := nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{2}}
	return &graph.Graph{Subgraph: nn.Subgraph{Operands: []nn.Operand{o, o}, Inputs: []uint32{0}, Outputs: []uint32{1}}}
}

// TestPlacesCode: places come back from a cache as they were saved, and those that a program of the graph cannot
// have are refused.
func TestPlacesCode(t *testing.T) {
	g, sizes := example(), []int{64, 16}
	places := func() IOAddresses {
		return IOAddresses{
			Inputs: []Span{{0, 8, 16}}, Outputs: []Span{{1, 0, 8}}, Counts: []Span{{}},
			Faults: []Fault{{3, "no such row", Span{0, 32, 36}}},
		}
	}
	load := func(p IOAddresses) (got IOAddresses, err error) {
		var w cache.Writer
		p.Code(w.Coder(), g, sizes...)
		r := cache.NewReader(w.Parts())
		got.Code(r.Coder(), g, sizes...)
		return got, r.End()
	}
	if got, err := load(places()); err != nil || !reflect.DeepEqual(got, places()) {
		t.Errorf("%+v, %v", got, err)
	}
	least := places()
	least.Counts[0], least.Inputs[0], least.Faults[0].Word = Span{1, 12, 16}, Span{0, 56, 64}, Span{0, 32, 33}
	if got, err := load(least); err != nil || !reflect.DeepEqual(got, least) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, c := range []struct {
		damage func(p *IOAddresses)
		want   string
	}{
		{func(p *IOAddresses) { p.Inputs[0].To = 65 }, "bytes 8 to 65 of a memory of 64"},
		{func(p *IOAddresses) { p.Inputs[0].To = 4 }, "bytes 8 to 4 of"},
		{func(p *IOAddresses) { p.Inputs[0].Memory = 2 }, "2 is more than 1"},
		{func(p *IOAddresses) { p.Inputs = nil }, "places of 0 tensors, the graph has 1"},
		{func(p *IOAddresses) { p.Outputs[0].To = 4 }, "output 0 of 8 bytes has a place of 4"},
		{func(p *IOAddresses) { p.Outputs = append(p.Outputs, Span{}) }, "places of 2 tensors, the graph has 1"},
		{func(p *IOAddresses) { p.Counts[0] = Span{0, 0, 3} }, "a count of 3 bytes"},
		{func(p *IOAddresses) { p.Counts = nil }, "places of 0 tensors, the graph has 1"},
		{func(p *IOAddresses) { p.Faults[0].Word = Span{} }, "a fault without a word"},
		{func(p *IOAddresses) { p.Faults[0].Word.Memory = 1 }, "of a memory of 16"},
	} {
		p := places()
		c.damage(&p)
		require.ErrorContains(t, require.Err(load(p)), c.want, p)
	}
}

// TestFault: a fault is found by any byte of its word, in the order of the program.
func TestFault(t *testing.T) {
	p := IOAddresses{Faults: []Fault{{1, "first", Span{0, 0, 4}}, {2, "second", Span{1, 2, 4}}}}
	memories := [2][]byte{make([]byte, 4), make([]byte, 4)}
	memory := func(i int) []byte { return memories[i] }
	if f := p.fault(memory); f != nil {
		t.Errorf("fault %+v in zeros", f)
	}
	memories[1][3] = 1
	if f := p.fault(memory); f == nil || f.Operation != 2 {
		t.Errorf("fault %+v, want that of operation 2", f)
	}
	memories[0][1] = 1
	if f := p.fault(memory); f == nil || f.Operation != 1 {
		t.Errorf("fault %+v, want that of operation 1", f)
	}
}
