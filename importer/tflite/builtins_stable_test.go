package tflite

import (
	"testing"

	"github.com/nnsoc/nnsoc/importer/tflite/tflitefile"
	"github.com/nnsoc/nnsoc/internal/require"
)

var stableCases = []opCase{
	{op: "STABLEHLO_LOGISTIC", in: []arg{f32(dims(2), 0, 1)}, out: []arg{f32(dims(2), 0.5, 0.7310586)}},
	{op: "STABLEHLO_ADD", in: []arg{f32(dims(2), 1, 2), f32(dims(2), 3, 5)}, out: []arg{f32(dims(2), 4, 7)}},
	{op: "STABLEHLO_SUBTRACT", in: []arg{i32(dims(2), 1, 2), i32(dims(2), 3, 5)}, out: []arg{i32(dims(2), -2, -3)}},
	{op: "STABLEHLO_MULTIPLY", in: []arg{f32(dims(2), 1, 2), f32(dims(2), 3, 5)}, out: []arg{f32(dims(2), 3, 10)}},
	{op: "STABLEHLO_DIVIDE", in: []arg{f32(dims(2), 1, 2), f32(dims(2), 4, 5)}, out: []arg{f32(dims(2), 0.25, 0.4)}},
	{op: "STABLEHLO_DIVIDE", in: []arg{i32(dims(2), -7, 7), i32(dims(2), 2, 2)}, out: []arg{i32(dims(2), -3, 3)}},
	{op: "STABLEHLO_MAXIMUM", in: []arg{f32(dims(2), 1, 9), f32(dims(2), 3, 5)}, out: []arg{f32(dims(2), 3, 9)}},
	{op: "STABLEHLO_MINIMUM", in: []arg{f32(dims(2), 1, 9), f32(dims(2), 3, 5)}, out: []arg{f32(dims(2), 1, 5)}},
	{op: "STABLEHLO_POWER", in: []arg{f32(dims(2), 2, 9), f32(dims(2), 3, 0.5)}, out: []arg{f32(dims(2), 8, 3)}},
	{op: "STABLEHLO_ABS", in: []arg{f32(dims(2), 1, -2)}, out: []arg{f32(dims(2), 1, 2)}},
	{op: "STABLEHLO_NEGATE", in: []arg{f32(dims(2), 1, -2)}, out: []arg{f32(dims(2), -1, 2)}},
	{op: "STABLEHLO_FLOOR", in: []arg{f32(dims(2), 1.5, -1.5)}, out: []arg{f32(dims(2), 1, -2)}},
	{op: "STABLEHLO_EXPONENTIAL", in: []arg{f32(dims(2), 0, 1)}, out: []arg{f32(dims(2), 1, 2.7182817)}},
	{op: "STABLEHLO_LOG", in: []arg{f32(dims(2), 1, 2.7182817)}, out: []arg{f32(dims(2), 0, 1)}},
	{op: "STABLEHLO_RSQRT", in: []arg{f32(dims(2), 4, 1)}, out: []arg{f32(dims(2), 0.5, 1)}},
	{op: "STABLEHLO_TANH", in: []arg{f32(dims(2), 0, 1)}, out: []arg{f32(dims(2), 0, 0.7615942)}},
	{op: "STABLEHLO_COSINE", in: []arg{f32(dims(2), 0, 1)}, out: []arg{f32(dims(2), 1, 0.5403023)}},
}

// TestComposite: a composite is what its decomposition computes, also one within another.
func TestComposite(t *testing.T) {
	x := f32(dims(1, 2))
	call := func(subgraph int, in, out []int32) tflitefile.Operator {
		o := apply("STABLEHLO_COMPOSITE", in, out)
		o.Kind, o.Options = "StableHLOCompositeOptions", fields{"name": "odml.scaled", "decomposition": subgraph}
		return o
	}
	file := networkOf(
		subgraph([]arg{x, x, x}, []int32{0}, []int32{2}, call(1, []int32{0}, []int32{1}), call(1, []int32{1}, []int32{2})),
		subgraph([]arg{x, x}, []int32{0}, []int32{1}, call(2, []int32{0, 0}, []int32{1})),
		subgraph([]arg{x, x, k(f32(dims(1), 3)), x, x}, []int32{0, 1}, []int32{4}, apply("STABLEHLO_ADD", []int32{0, 1}, []int32{3}), apply("STABLEHLO_MULTIPLY", []int32{3, 2}, []int32{4})))
	got := floatsOf(execute(t, open(t, file, nil), [][]byte{f32(nil, 1, -2).bytes()})[0].Data)
	require.Equal(t, got, []float32{36, -72}, "x times 6, twice")

	for want, file := range map[string][]byte{
		"nest more than 16 deep": networkOf(subgraph([]arg{x, x}, []int32{0}, []int32{1}, call(0, []int32{0}, []int32{1}))),
		"subgraph 7 of 1":        networkOf(subgraph([]arg{x, x}, []int32{0}, []int32{1}, call(7, []int32{0}, []int32{1}))),
		`"odml.scaled" has 2 inputs and 1 outputs, its definition, subgraph 1, 1 and 1`: networkOf(subgraph([]arg{x, x}, []int32{0}, []int32{1}, call(1, []int32{0, 0}, []int32{1})),
			subgraph([]arg{x, x}, []int32{0}, []int32{1}, apply("STABLEHLO_ABS", []int32{0}, []int32{1}))),
	} {
		require.ErrorContains(t, require.Err(Import(file, nil)), want)
	}
}
