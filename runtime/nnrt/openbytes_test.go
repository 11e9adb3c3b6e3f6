package nnrt

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// TestOpenBytes: an execution counts the tensors whose shapes the model does not know, those of two frames once, without the one that is
// replaced.
func TestOpenBytes(t *testing.T) {
	m := &nn.Model{Main: nn.Subgraph{Operands: []nn.Operand{
		{Type: nn.TensorFloat32, Dimensions: []uint32{0}}, {Type: nn.TensorFloat32, Dimensions: []uint32{2}}, {Type: nn.TensorQuant8Asymm},
	}}}
	a, known, b := &value{data: make([]byte, 8)}, &value{data: make([]byte, 8)}, &value{data: make([]byte, 3)}
	e := &bindings{Compilation: &Compilation{sources: []source{{model: m}, {model: m}}}, frames: [][]*value{{a, known, b}, {a, known, nil}}}
	require.Same(t, e.openBytes(nil), 11)
	require.Same(t, e.openBytes(a), 3)
}
