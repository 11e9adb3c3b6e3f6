package session

import (
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// TestArguments: every argument of a network has its name, scalars their value in words where NNAPI has some, values the operation
// that computes them; an operation that no table knows has none.
func TestArguments(t *testing.T) {
	m := require.V(zoo.Build("mlperf_tiny_kws_quant"))(t)
	list := arguments(m)
	got := map[string]Argument{}
	for _, a := range list[1] { // the first depthwise convolution
		got[a.Name] = a
	}
	require.Equal(t, 0, *got["input"].From)
	require.Check(t, got["filter"].From == nil && got["filter"].Scalar == "" && got["depth_multiplier"].Scalar == "1" && got["activation"].Scalar == "RELU", "arguments %+v", list[1])
	for i := range m.Main.Operations {
		require.Same(t, len(m.Main.Operations[i].Inputs), len(list[i]), m.Main.Operations[i].Type.String())
		for _, a := range list[i] {
			require.Check(t, a.Name != "", "operation %d has an argument without a name", i)
		}
	}
	m.Main.Operations[0].Type = nn.OperationType(9999)
	require.Same(t, 0, len(arguments(m)[0]), "arguments of an unknown operation")
}
