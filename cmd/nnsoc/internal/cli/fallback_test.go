package cli

import (
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/internal/require"
)

// TestFallbacksSummed: refusals that differ in numbers alone are one line with all their types, others are their own.
func TestFallbacksSummed(t *testing.T) {
	var b strings.Builder
	WriteFallbacks(&b, []session.FallbackEntry{
		{Index: 2, Type: "CONV_2D", Reason: "dilation 3x3, at most 2x2"}, {Index: 5, Type: "CONV_2D", Reason: "dilation 4x4, at most 2x2"},
		{Index: 6, Type: "ADD", Reason: "TENSOR_FLOAT32"}, {Index: 7, Type: "ADD", Reason: "TENSOR_FLOAT32"}, {Index: 8, Type: "CONV_2D", Reason: "no bias"},
		{Index: 9, Type: "MUL", Reason: "TENSOR_FLOAT32"},
	})
	require.Same(t, `  2 x CONV_2D from operation 2: dilation 3x3, at most 2x2 (the others with other numbers)
  2 x ADD, MUL from operation 6: TENSOR_FLOAT32
  operation 8 (CONV_2D): no bias
`, b.String())
}

// TestFallbacksOfManyTypes: a line names the types with the most operations, and counts the others.
func TestFallbacksOfManyTypes(t *testing.T) {
	var list []session.FallbackEntry
	for i, name := range []string{"A", "B", "C", "D", "E", "E", "D", "C", "F"} {
		list = append(list, session.FallbackEntry{Index: i, Type: name, Reason: "no"})
	}
	var b strings.Builder
	WriteFallbacks(&b, list)
	require.Same(t, "  2 x C, 2 x D, 2 x E, A and 2 more types from operation 0: no\n", b.String())
}
