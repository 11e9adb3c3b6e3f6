package tflite

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/importer/tflite/tflitefile"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// blockwiseNet is a FULLY_CONNECTED whose weights, 1 2 -3 4 and 5 -6 7 -8, have a scale for each block of elements.
func blockwiseNet(block int, details int, scales ...float32) []byte {
	var half []byte
	for _, s := range scales {
		half = binary.LittleEndian.AppendUint16(half, lowering.Half(s))
	}
	w := tflitefile.Tensor{Name: "w", Type: typeInt4, Shape: dims(2, 4), Data: []byte{0x21, 0x4d, 0xa5, 0x87}, More: fields{
		"quantization": fields{"details_type": details, "details": tflitefile.Union("BlockwiseQuantization", fields{"scales": 2, "block_size": block})},
	}}
	m := tflitefile.Model{Subgraphs: []tflitefile.Subgraph{{
		Tensors: []tflitefile.Tensor{
			{Name: "x", Type: typeFloat32, Shape: dims(1, 4)}, w,
			{Name: "scales", Type: typeFloat16, Shape: dims(int32(len(scales))), Data: half}, {Name: "y", Type: typeFloat32, Shape: dims(1, 2)},
		},
		Inputs: []int32{0}, Outputs: []int32{3},
		Operators: []tflitefile.Operator{{Code: codeOf("FULLY_CONNECTED"), Kind: "FullyConnectedOptions", Options: fields{}, Inputs: []int32{0, 1, -1}, Outputs: []int32{3}}},
	}}}
	return m.Bytes()
}

// TestBlockwise: weights of INT4 have the scales of their blocks.
func TestBlockwise(t *testing.T) {
	m := open(t, blockwiseNet(2, blockwiseDetails, 0.5, 0.25, 1, 2), nil)
	x := f32(dims(1, 4), 1, 10, 100, 1000)
	got := execute(t, m, [][]byte{x.bytes()})[0].Data
	for i, want := range []float64{0.5 + 10 - 75 + 1000, 5 - 60 + 1400 - 16000} {
		require.Equal(t, opspec.Element(nn.TensorFloat32, got[4*i:]), want, "output")
	}
}

// TestBlockwiseRefused: what does not fit is named.
func TestBlockwiseRefused(t *testing.T) {
	for want, file := range map[string][]byte{
		"blocks of 3 elements do not divide": blockwiseNet(3, blockwiseDetails, 1, 1, 1, 1),
		"blocks of 0 elements do not divide": blockwiseNet(0, blockwiseDetails, 1, 1, 1, 1),
		"have 6 bytes, for 4 blocks":         blockwiseNet(2, blockwiseDetails, 1, 1, 1),
		"scale 1 is -1":                      blockwiseNet(2, blockwiseDetails, 1, -1, 1, 1),
		"quantization CustomQuantization":    blockwiseNet(2, customDetails, 1, 1, 1, 1),
		"quantization details 3, at most 2":  blockwiseNet(2, 3, 1, 1, 1, 1),
	} {
		_, err := Import(file, nil)
		require.Check(t, err != nil && strings.Contains(err.Error(), want), "%v, want %q", err, want)
	}
}
