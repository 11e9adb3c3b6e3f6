package tflite

import (
	"encoding/binary"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/importer/tflite/tflitefile"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/refcpu"
)

// spectrum is a network: RFFT2D of [2, h, w] to lengths, RESHAPE of the complex numbers, and
// an operator on them.
func spectrum(op string, h, w int32, lengths [2]int32) []byte {
	s := tflitefile.Subgraph{}
	add := func(t tflitefile.Tensor) int32 {
		s.Tensors = append(s.Tensors, t)
		return int32(len(s.Tensors) - 1)
	}
	ints := func(list ...int32) int32 {
		var b []byte
		for _, v := range list {
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		}
		return add(tflitefile.Tensor{Type: typeInt32, Shape: []int32{int32(len(list))}, Data: b})
	}
	half := lengths[1]/2 + 1
	x := add(tflitefile.Tensor{Name: "x", Type: typeFloat32, Shape: []int32{2, h, w}})
	y := add(tflitefile.Tensor{Name: "y", Type: typeComplex64, Shape: []int32{2, lengths[0], half}})
	z := add(tflitefile.Tensor{Name: "z", Type: typeComplex64, Shape: []int32{2 * lengths[0], half}})
	out := add(tflitefile.Tensor{Name: "out", Type: typeFloat32, Shape: []int32{2 * lengths[0], half}})
	s.Operators = []tflitefile.Operator{
		{Code: codeOf("RFFT2D"), Inputs: []int32{x, ints(lengths[0], lengths[1])}, Outputs: []int32{y}},
		{Code: codeOf("RESHAPE"), Inputs: []int32{y, ints(2*lengths[0], half)}, Outputs: []int32{z}},
		{Code: codeOf(op), Inputs: []int32{z}, Outputs: []int32{out}},
	}
	s.Inputs, s.Outputs = []int32{x}, []int32{out}
	return (&tflitefile.Model{Subgraphs: []tflitefile.Subgraph{s}}).Bytes()
}

// TestFourier compares with the definition of the transform, for lengths that crop, fill and
// have both dimensions.
func TestFourier(t *testing.T) {
	parts := map[string]func(complex128) float64{"COMPLEX_ABS": cmplx.Abs, "REAL": func(z complex128) float64 { return real(z) }, "IMAG": func(z complex128) float64 { return imag(z) }}
	random := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		h, w    int32
		lengths [2]int32
	}{{1, 16, [2]int32{1, 16}}, {3, 9, [2]int32{3, 9}}, {2, 5, [2]int32{4, 8}}, {3, 8, [2]int32{2, 6}}} {
		x := make([]float32, 2*c.h*c.w)
		var data []byte
		for i := range x {
			x[i] = float32(random.NormFloat64())
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x[i]))
		}
		for op, part := range parts {
			m := require.V(Import(spectrum(op, c.h, c.w, c.lengths), nil))(t)
			p := require.V(refcpu.Compile(m))(t)
			out := require.V(p.Execute([]refcpu.Tensor{{Dimensions: []uint32{2, uint32(c.h), uint32(c.w)}, Data: data}}, refcpu.Options{}))(t)
			at := 0
			for b := range 2 {
				for u := range int(c.lengths[0]) {
					for v := range int(c.lengths[1]/2 + 1) {
						var sum complex128
						for h := range min(int(c.h), int(c.lengths[0])) {
							for w := range min(int(c.w), int(c.lengths[1])) {
								angle := -2 * math.Pi * (float64(u*h)/float64(c.lengths[0]) + float64(v*w)/float64(c.lengths[1]))
								sum += complex(float64(x[(b*int(c.h)+h)*int(c.w)+w]), 0) * cmplx.Exp(complex(0, angle))
							}
						}
						got := float64(math.Float32frombits(binary.LittleEndian.Uint32(out[0].Data[4*at:])))
						if want := part(sum); !(math.Abs(got-want) <= 1e-4) {
							t.Fatalf("%s of %+v: element %d is %v, want %v", op, c, at, got, want)
						}
						at++
					}
				}
			}
		}
	}
}

// TestComplexElsewhere: other operators have no complex numbers.
func TestComplexElsewhere(t *testing.T) {
	require.ErrorContains(t, require.Err(Import(spectrum("NEG", 1, 8, [2]int32{1, 8}), nil)), "NEG (1): NNAPI has no complex numbers")
}
