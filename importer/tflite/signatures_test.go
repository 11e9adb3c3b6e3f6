package tflite

import (
	"testing"

	"github.com/nnsoc/nnsoc/importer/tflite/tflitefile"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// languageModel is a file in the manner of exporters of language models: two signatures of two subgraphs, the second
// with a resource variable that CALL_ONCE initializes.
func languageModel() *tflitefile.Model {
	x := f32(dims(1, 2))
	handle := func() arg { a := i32(dims()); a.Type = typeResource; a.Tensor.Shape = nil; return a }
	variable := func(out int32) tflitefile.Operator {
		o := apply("VAR_HANDLE", nil, []int32{out})
		o.Kind, o.Options = "VarHandleOptions", fields{"container": "", "shared_name": "cache"}
		return o
	}
	once := apply("CALL_ONCE", nil, nil)
	once.Kind, once.Options = "CallOnceOptions", fields{"init": 2}
	return &tflitefile.Model{
		Subgraphs: []tflitefile.Subgraph{
			subgraph([]arg{x, x}, []int32{0}, []int32{1}, apply("NEG", []int32{0}, []int32{1})),
			subgraph([]arg{x, handle(), x, x, x}, []int32{0, 2}, []int32{3, 4}, once, variable(1), apply("READ_VARIABLE", []int32{1}, []int32{3}),
				apply("ADD", []int32{0, 3}, []int32{4}), apply("ASSIGN_VARIABLE", []int32{1, 4}, nil)),
			subgraph([]arg{handle(), k(f32(dims(1, 2), 10, 20))}, nil, nil, variable(0), apply("ASSIGN_VARIABLE", []int32{0, 1}, nil)),
		},
		Signatures: []tflitefile.Signature{
			{Key: "prefill", Subgraph: 0, Inputs: []string{"tokens"}, Outputs: []string{"logits"}},
			{Key: "decode", Subgraph: 1, Inputs: []string{"token", "unused"}, Outputs: []string{"before", "after"}},
		},
	}
}

// TestSignatures: a signature is its subgraph under its own names of inputs and outputs, states included.
func TestSignatures(t *testing.T) {
	file := languageModel().Bytes()
	list := require.V(Signatures(file))(t)
	require.Equal(t, list, []Signature{
		{"prefill", 0, []string{"tokens"}, []string{"logits"}}, {"decode", 1, []string{"token", "unused"}, []string{"before", "after"}},
	}, "signatures")

	m := open(t, file, &Options{Signature: "prefill"})
	require.Equal(t, namesOf(m, m.Main.Inputs), []string{"tokens"}, "inputs of prefill")
	require.Equal(t, floatsOf(execute(t, m, [][]byte{f32(nil, 1, -2).bytes()})[0].Data), []float32{-1, 2}, "prefill")

	m = open(t, file, &Options{Signature: "decode", Shapes: map[string][]uint32{"token": {1, 2}}})
	require.Equal(t, namesOf(m, m.Main.Inputs), []string{"token", "unused", "/cache"}, "inputs of decode")
	require.Equal(t, namesOf(m, m.Main.Outputs)[:2], []string{"before", "after"}, "outputs of decode")
	out := execute(t, m, [][]byte{f32(nil, 1, -2).bytes(), f32(nil, 0, 0).bytes()})
	require.Equal(t, floatsOf(out[0].Data), []float32{10, 20}, "the variable's first value")
	require.Equal(t, floatsOf(out[1].Data), []float32{11, 18}, "decode")

	var notes []string
	m = open(t, file, &Options{Note: func(s string) { notes = append(notes, s) }})
	require.Equal(t, namesOf(m, m.Main.Inputs), []string{"a"}, "without a choice the names of tensors")
	require.Equal(t, notes, []string{`2 signatures, the network is subgraph 0, that of signature "prefill"; --signature chooses of ` +
		`"prefill" (tokens -> logits), "decode" (token, unused -> before, after)`}, "notes")
}

func namesOf(m *nn.Model, operands []uint32) (l []string) {
	for _, x := range operands {
		l = append(l, m.Main.Operands[x].Name)
	}
	return l
}

// TestSignatureErrors: what is not there is named, with what is.
func TestSignatureErrors(t *testing.T) {
	beyond := languageModel()
	beyond.Signatures[1].Subgraph = 9
	for want, file := range map[string][]byte{
		`has no signature "decode"; there are "prefill" (tokens -> logits)`: (&tflitefile.Model{Subgraphs: languageModel().Subgraphs, Signatures: languageModel().Signatures[:1]}).Bytes(),
		`has no signatures, one is asked for: "decode"`:                     (&tflitefile.Model{Subgraphs: languageModel().Subgraphs}).Bytes(),
		`signature "decode" is of subgraph 9 of 3`:                          withSubgraph(beyond, 9),
	} {
		require.ErrorContains(t, require.Err(Import(file, &Options{Signature: "decode"})), want)
	}
	many := languageModel()
	many.Signatures = nil
	for range 20 {
		many.Signatures = append(many.Signatures, tflitefile.Signature{Key: "k"})
	}
	require.ErrorContains(t, require.Err(Import(many.Bytes(), &Options{Signature: "decode"})), `"k" ( -> ), 8 more`)
}

// withSubgraph writes a file whose last signature names a subgraph that it has not.
func withSubgraph(m *tflitefile.Model, n int) []byte {
	m.Signatures[len(m.Signatures)-1] = tflitefile.Signature{Key: "decode", Subgraph: n}
	return m.Bytes()
}
