package vectors

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/nnapi"
)

func roundTrip(t *testing.T, f *File) *File {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Write(&b, f))
	g := require.V(Read(&b))(t)
	return g
}

func TestWriteRoundTrip(t *testing.T) {
	f := require.V(Read(strings.NewReader(small)))(t)
	m := f.Cases[0].Model
	m.Main.Operands = append(m.Main.Operands,
		nn.Operand{Name: "w", Type: nn.TensorQuant8SymmPerChannel, Dimensions: []uint32{2, 1}, Lifetime: nn.ConstantReference,
			Channel: &nn.ChannelQuant{Dim: 0, Scales: []float32{0.1, 1e-7}}, Data: []byte{1, 2}},
		nn.Operand{Name: "e", Type: nn.TensorInt32, Dimensions: []uint32{0}, Lifetime: nn.ConstantCopy, Data: []byte{}},
		nn.Operand{Name: "q", Type: nn.TensorQuant8Asymm, Dimensions: []uint32{3}, Scale: 0.007812499, ZeroPoint: -3, Lifetime: nn.NoValue})
	m.Main.Name = "main"
	m.Referenced = []nn.Subgraph{{Name: "r", Operands: []nn.Operand{{Type: nn.Int32, Lifetime: nn.SubgraphInput}},
		Operations: []nn.Operation{}, Inputs: []uint32{0}, Outputs: []uint32{}}}
	f.Cases[0].Multinomial = 0.05
	f.Cases[0].Outputs[0].Ignored = true
	if diff := cmp.Diff(f, roundTrip(t, f), wholeBytes); diff != "" {
		t.Errorf("written and read again (-before +after):\n%s", diff)
	}
}

// TestWriteOpenInput: an open input is written with the shape of its value.
func TestWriteOpenInput(t *testing.T) {
	f := require.V(Read(strings.NewReader(small)))(t)
	want := f.Cases[0].Inputs[0].Dimensions
	for _, open := range [][]uint32{nil, make([]uint32, len(want))} {
		f.Cases[0].Model.Main.Operands[f.Cases[0].Model.Main.Inputs[0]].Dimensions = open
		c := roundTrip(t, f).Cases[0]
		require.NoError(t, c.Malformed)
		require.Equal(t, want, c.Model.Main.Operands[c.Model.Main.Inputs[0]].Dimensions, "shape")
	}
}

// wholeBytes compares buffers as wholes: they are large.
var wholeBytes = cmp.Comparer(func(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) })

func TestWriteErrors(t *testing.T) {
	read := func() *File {
		f := require.V(Read(strings.NewReader(small)))(t)
		return f
	}
	f := read()
	f.Cases[0].Model = nil
	if err := Write(&bytes.Buffer{}, f); !errors.Is(err, ErrNoModel) {
		t.Errorf("without a model: %v", err)
	}
	f = read()
	f.Cases[0].Outputs = nil
	require.ErrorContains(t, Write(&bytes.Buffer{}, f), "1 outputs have 0 values", "without outputs")
	f = read()
	f.Cases[0].Model.Main.Inputs[0] = 9
	require.ErrorContains(t, Write(&bytes.Buffer{}, f), "operand 9 of 2", "input out of range")
	f = read()
	f.Cases[0].Model.Main.Operations[0].Type = 999
	require.ErrorContains(t, Write(&bytes.Buffer{}, f), "code 999", "unknown operation")
}

// TestWriteCorpus writes a part of the corpus and reads it again.
func TestWriteCorpus(t *testing.T) {
	for _, name := range nnapi.Names() {
		if !strings.HasPrefix(name, "V1_3") {
			continue
		}
		text := require.V(nnapi.Read(name))(t)
		f := require.V(Read(bytes.NewReader(text)))(t)
		if diff := cmp.Diff(f, roundTrip(t, f), wholeBytes); diff != "" {
			t.Errorf("%s written and read again (-before +after):\n%s", name, diff)
		}
	}
}
