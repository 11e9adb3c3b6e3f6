package graph

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ text, err string }{
		{"ADD %0 -> %1", "no origin"},
		{"ADD %0 -> %1 ; of x", "no origin"},
		{"ADD %0 %1 ; of 0", "no ->"},
		{"ADD 0 -> %1 ; of 0", "is no operand"},
		{"ADD %0 -> 1 ; of 0", "is no operand"},
		{"%0 SUBGRAPH_INPUT", "lifetime and type"},
		{"%0 SUBGRAPH_INPUT NOTHING", "no type"},
		{"%0 SUBGRAPH_INPUT TENSOR_FLOAT32 [x]", "x"},
		{"%0 SUBGRAPH_INPUT TENSOR_FLOAT32 [1] weight 4", "no property"},
		{"%0 SUBGRAPH_INPUT TENSOR_FLOAT32 [1] scale x", "%0: "},
		{"%0 SUBGRAPH_INPUT TENSOR_QUANT8_SYMM_PER_CHANNEL [1] channel 0", "without scales"},
		{"NOTHING %0 -> %1 ; of 0", "is no operation"},
		{"%x TEMPORARY_VARIABLE TENSOR_FLOAT32 [1]", "is no operand"},
		{"%4294967295 TEMPORARY_VARIABLE TENSOR_FLOAT32 [1]", "is no operand"},
		{"%0 NOWHERE TENSOR_FLOAT32 [1]", "no lifetime"},
		{"%0 SUBGRAPH_INPUT TENSOR_FLOAT32 [1", "no list"},
		{"%0 SUBGRAPH_INPUT TENSOR_FLOAT32 [1] bytes 4", "can be read"},
		{"inputs %0", "operand 0 of 0"},
		{"%0 SUBGRAPH_INPUT TENSOR_FLOAT32 [1]\ninputs %1", "operand 1 of 1"},
		{"%0 SUBGRAPH_INPUT TENSOR_FLOAT32 [1]\nRELU %1 -> %0 ; of 0", "operand 1 of 1"},
		{"%0 SUBGRAPH_INPUT TENSOR_FLOAT32 [1]\nRELU %0 -> %1 ; of 0\ninputs %0", "operand 1 of 1"},
		{"%0 SUBGRAPH_INPUT TENSOR_FLOAT32 [1]\noutputs %1", "never written"},
		{"RELU %0 -> %1 ; of -1", "no origin"},
		{"%0 TEMPORARY_VARIABLE TENSOR_FLOAT32 [1]\noutputs %0", "never written"},
		{"%0 TEMPORARY_VARIABLE TENSOR_FLOAT32 [1]\n%1 SUBGRAPH_OUTPUT TENSOR_FLOAT32 [1]\nRELU %0 -> %1 ; of 0\noutputs %1", "before it is written"},
		{"%0 SUBGRAPH_INPUT TENSOR_FLOAT32 [1]\nRELU %0 -> %0 ; of 0\ninputs %0", "which has a value"},
	} {
		require.ErrorContains(t, require.Err(Parse(c.text)), c.err, c.text)
	}
}
