package input

import (
	"runtime/debug"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// TestCollectEarlier: after the reference of a large model garbage is at most half of the live heap, or less where GOGC
// is smaller; a small model changes nothing.
func TestCollectEarlier(t *testing.T) {
	given := debug.SetGCPercent(100)
	defer debug.SetGCPercent(given)
	for _, c := range []struct {
		elements      uint32
		before, after int
	}{{1, 100, 100}, {17 << 20, 100, 50}, {17 << 20, 30, 30}, {17 << 20, -1, -1}} {
		real := func(l nn.Lifetime, n uint32) nn.Operand {
			return nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{n}, Lifetime: l}
		}
		constant := real(nn.ConstantCopy, c.elements)
		constant.Data = make([]byte, 4*c.elements)
		f := &Form{Inputs: [][]byte{make([]byte, 4)}, Model: &nn.Model{Main: nn.Subgraph{
			Operands:   []nn.Operand{real(nn.SubgraphInput, 1), constant, {Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: make([]byte, 4)}, real(nn.SubgraphOutput, c.elements)},
			Operations: []nn.Operation{{Type: nn.OpAdd, Inputs: []uint32{0, 1, 2}, Outputs: []uint32{3}}},
			Inputs:     []uint32{0}, Outputs: []uint32{3},
		}}}
		debug.SetGCPercent(c.before)
		require.NoError(t, Reference(f))
		if got := debug.SetGCPercent(100); got != c.after {
			t.Errorf("%d elements: %d percent, %d before, want %d", c.elements, got, c.before, c.after)
		}
	}
}

// TestForbiddenInput: an input that the network does not allow is the caller's to fix.
func TestForbiddenInput(t *testing.T) {
	tensor := func(typ nn.OperandType, l nn.Lifetime, n uint32) nn.Operand {
		return nn.Operand{Type: typ, Dimensions: []uint32{n}, Lifetime: l}
	}
	f := &Form{Inputs: [][]byte{make([]byte, 12), {7, 0, 0, 0}}, Model: &nn.Model{Main: nn.Subgraph{
		Operands: []nn.Operand{tensor(nn.TensorFloat32, nn.SubgraphInput, 3), {Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: make([]byte, 4)},
			tensor(nn.TensorInt32, nn.SubgraphInput, 1), tensor(nn.TensorFloat32, nn.SubgraphOutput, 1)},
		Operations: []nn.Operation{{Type: nn.OpGather, Inputs: []uint32{0, 1, 2}, Outputs: []uint32{3}}},
		Inputs:     []uint32{0, 2}, Outputs: []uint32{3},
	}}}
	if err := Reference(f); cli.ExitCode(err) != cli.ExitUsage || !strings.Contains(err.Error(), "GATHER: index 0 is 7") {
		t.Errorf("exit code %d: %v", cli.ExitCode(err), err)
	}
}
