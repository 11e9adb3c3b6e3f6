package base

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
)

// TestRequestShapes: a request completes an open input by its dimensions. Without them no bytes are one that is left out,
// if it may be, or an empty one, and any byte is one too many.
func TestRequestShapes(t *testing.T) {
	in := func(dims ...uint32) nn.Operand { return nn.Operand{Type: nn.TensorQuant8Asymm, Dimensions: dims} }
	p := &open{model: &nn.Model{Main: nn.Subgraph{Operands: []nn.Operand{in(2), in(0, 3)}, Inputs: []uint32{0, 1}}}}
	for _, c := range []struct {
		blank bool
		bytes int
		given [][]uint32
		want  []uint32 // of the second input; nil: an error
		empty bool
	}{
		{false, 0, nil, []uint32{0, 3}, true}, {true, 0, nil, []uint32{0, 3}, false}, {true, 0, [][]uint32{{2}, {4, 3}}, []uint32{0, 3}, false},
		{false, 1, nil, nil, false}, {true, 1, nil, nil, false}, {false, 1, [][]uint32{{2}}, nil, false}, {false, 1, [][]uint32{{2}, {0, 3}}, nil, false},
		{false, 3, [][]uint32{{2}, {1, 3}}, []uint32{1, 3}, false}, {false, 0, [][]uint32{{2}, {1, 3}}, []uint32{1, 3}, true},
	} {
		p.blank = []bool{false, c.blank}
		dims, empty, err := p.shapes(&hal.Buffers{Inputs: [][]byte{{1, 2}, make([]byte, c.bytes)}, InputDimensions: c.given})
		if c.want == nil && hal.StatusOf(err) == hal.InvalidArgument {
			continue
		}
		if err != nil || empty != c.empty || !reflect.DeepEqual(dims, [][]uint32{{2}, c.want}) {
			t.Errorf("%+v: %v, empty %v, %v", c, dims, empty, err)
		}
	}
}

// TestHasEmpty: a tensor that operations make is empty by a dimension of 0; of inputs it is open, of constants allowed.
func TestHasEmpty(t *testing.T) {
	for _, c := range []struct {
		of   nn.Lifetime
		dims []uint32
		want bool
	}{
		{nn.TemporaryVariable, []uint32{2, 0}, true}, {nn.SubgraphOutput, []uint32{0}, true}, {nn.SubgraphOutput, []uint32{1}, false},
		{nn.SubgraphOutput, nil, false}, {nn.SubgraphInput, []uint32{0}, false}, {nn.ConstantCopy, []uint32{0}, false}, {nn.ConstantReference, []uint32{0}, false},
	} {
		o := nn.Operand{Type: nn.TensorFloat32, Dimensions: c.dims, Lifetime: c.of}
		if got := hasEmpty(&nn.Subgraph{Operands: []nn.Operand{{}, o}}); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestSample: open sizes are the smallest of which no result is empty, of at most 64; of those that all make something
// empty the first, and of those that do not fit at all the error is that of the first.
func TestSample(t *testing.T) {
	d := New(Config{Name: "toy"}, nil)
	pool := func(window byte) *nn.Model {
		i32 := func(v byte) nn.Operand {
			return nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: []byte{v, 0, 0, 0}}
		}
		in := nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{1, 0, 0, 1}, Lifetime: nn.SubgraphInput}
		out := nn.Operand{Type: nn.TensorFloat32, Lifetime: nn.SubgraphOutput}
		return &nn.Model{Main: nn.Subgraph{Operands: []nn.Operand{in, i32(2), i32(1), i32(1), i32(window), i32(window), i32(0), out},
			Operations: []nn.Operation{{Type: nn.OpMaxPool2D, Inputs: []uint32{0, 1, 2, 3, 4, 5, 6}, Outputs: []uint32{7}}}, Inputs: []uint32{0}, Outputs: []uint32{7}}}
	}
	for window, want := range map[byte]uint32{1: 1, 3: 3, maxSample: maxSample} {
		m, err := d.sample(pool(window))
		if err != nil || !slices.Equal(m.Main.Operands[0].Dimensions, []uint32{1, want, want, 1}) {
			t.Errorf("window %d: %+v, %v", window, m, err)
		}
	}
	if _, err := d.sample(pool(maxSample + 1)); hal.StatusOf(err) != hal.InvalidArgument || !strings.Contains(err.Error(), "padded input 1") {
		t.Error(err)
	}
	tensor := func(l nn.Lifetime, data []byte, dims ...uint32) nn.Operand {
		return nn.Operand{Type: nn.TensorInt32, Dimensions: dims, Lifetime: l, Data: data}
	}
	none := &nn.Model{Main: nn.Subgraph{Operands: []nn.Operand{tensor(nn.SubgraphInput, nil, 0), tensor(nn.ConstantCopy, make([]byte, 4), 1),
		tensor(nn.ConstantCopy, make([]byte, 4), 1), tensor(nn.SubgraphOutput, nil)},
		Operations: []nn.Operation{{Type: nn.OpSlice, Inputs: []uint32{0, 1, 2}, Outputs: []uint32{3}}}, Inputs: []uint32{0}, Outputs: []uint32{3}}}
	if m, err := d.sample(none); err != nil || m.Main.Operands[0].Dimensions[0] != 1 {
		t.Errorf("nothing of a tensor: %+v, %v", m, err)
	}
	none.Main.Operands[1].Data, none.Main.Operands[2].Data = []byte{1, 0, 0, 0}, []byte{255, 255, 255, 255} // all but the first
	if m, err := d.sample(none); err != nil || m.Main.Operands[0].Dimensions[0] != 2 {
		t.Errorf("all of a tensor but one: %+v, %v", m, err)
	}
}

// TestIsBlank: of a blank shape no dimension is known.
func TestIsBlank(t *testing.T) {
	for _, c := range []struct {
		dims []uint32
		want bool
	}{{nil, true}, {[]uint32{0, 0}, true}, {[]uint32{0, 3}, false}, {[]uint32{3}, false}} {
		if got := isBlank(&nn.Operand{Type: nn.TensorFloat32, Dimensions: c.dims}); got != c.want {
			t.Errorf("%v: %v", c.dims, got)
		}
	}
}
