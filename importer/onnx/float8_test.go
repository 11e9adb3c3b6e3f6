package onnx_test

import (
	"math"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/internal/require"
)

// smallReal is a type of reals of 8 bits and less with some of its codes and what they are.
type smallReal struct {
	of    onnxfile.DataType
	codes map[byte]float64
	most  float64
}

var smallReals = []smallReal{
	{onnxfile.Float8E4M3FN, map[byte]float64{0: 0, 1: 0x1p-9, 7: 7 * 0x1p-9, 8: 0x1p-6, 0x38: 1, 0x3c: 1.5, 0x7e: 448, 0x7f: math.NaN(), 0xfe: -448, 0xff: math.NaN()}, 448},
	{onnxfile.Float8E4M3FNUZ, map[byte]float64{0: 0, 1: 0x1p-10, 0x40: 1, 0x7f: 240, 0x80: math.NaN(), 0x81: -0x1p-10, 0xff: -240}, 240},
	{onnxfile.Float8E5M2, map[byte]float64{1: 0x1p-16, 3: 3 * 0x1p-16, 4: 0x1p-14, 0x3c: 1, 0x7b: 57344, 0x7c: math.Inf(1), 0x7d: math.NaN(), 0xfc: math.Inf(-1)}, 57344},
	{onnxfile.Float8E5M2FNUZ, map[byte]float64{1: 0x1p-17, 0x40: 1, 0x7f: 57344, 0x80: math.NaN(), 0xff: -57344}, 57344},
	{onnxfile.Float4E2M1, map[byte]float64{0: 0, 1: 0.5, 2: 1, 3: 1.5, 4: 2, 5: 3, 6: 4, 7: 6, 9: -0.5, 15: -6}, 6},
}

// values are those of all codes, which a file has as a constant.
func (s *smallReal) values(t *testing.T) []float64 {
	n := newNetwork(1)
	n.opset = 23
	codes := make([]byte, 256)
	for i := range codes {
		codes[i] = byte(i)
	}
	dims := []int64{256}
	if s.of == onnxfile.Float4E2M1 { // two in a byte
		codes, dims = []byte{0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe}, []int64{16}
	}
	w := n.constant(&onnxfile.Tensor{Type: s.of, Dims: dims, Raw: codes})
	zero := n.constant(&onnxfile.Tensor{Type: s.of, Dims: []int64{}, Raw: []byte{0}})
	reals := n.add("DequantizeLinear", []string{w, n.scalar(2), zero})
	n.out(n.add("Mul", []string{n.given(onnxfile.Float, []int64{1}, 0.5), reals}))
	return floatsIn(runOf(t, n)[0].Data)
}

// cast are reals that an execution rounds to the type, and no number.
func (s *smallReal) cast(t *testing.T, saturate int, reals ...float64) []float64 {
	n := newNetwork(1)
	n.opset = 23
	y := n.add("Cast", []string{n.given(onnxfile.Float, []int64{int64(len(reals))}, reals...)}, attribute("to", int(s.of)), attribute("saturate", saturate))
	n.out(n.add("Cast", []string{y}, attribute("to", int(onnxfile.Float))))
	return floatsIn(runOf(t, n)[0].Data)
}

func sameNumber(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

// TestSmallReals: codes of reals of 8 bits and less are what the standard says, every value is itself after a cast, what lies
// in the middle of two goes to the one with an even code, and beyond all the result is the greatest.
func TestSmallReals(t *testing.T) {
	for _, s := range smallReals {
		t.Run(s.of.String(), func(t *testing.T) {
			values := s.values(t)
			for code, want := range s.codes {
				require.Check(t, sameNumber(values[code], want), "code %#x is %v, want %v", code, values[code], want)
			}
			finite := slices.DeleteFunc(slices.Clone(values[:len(values)/2]), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
			for i, v := range s.cast(t, 1, finite...) {
				require.Check(t, v == finite[i], "%v after a cast is %v", finite[i], v)
			}
			var middles, want []float64
			for i := range finite[1:] {
				even := finite[i+i%2]
				middles, want = append(middles, (finite[i]+finite[i+1])/2, -(finite[i]+finite[i+1])/2), append(want, even, -even)
			}
			for i, v := range s.cast(t, 1, middles...) {
				require.Check(t, v == want[i], "%v after a cast is %v, want %v", middles[i], v, want[i])
			}
			beyond := s.cast(t, 1, 1e30, -1e30, math.NaN())
			require.Check(t, beyond[0] == s.most && beyond[1] == -s.most, "what is beyond is %v", beyond)
			if s.of != onnxfile.Float4E2M1 {
				lost := math.NaN()
				if s.of == onnxfile.Float8E5M2 {
					lost = math.Inf(1)
				}
				got := s.cast(t, 0, 1e30)[0]
				require.Check(t, sameNumber(got, lost) && math.IsNaN(beyond[2]), "without saturation it is %v, no number %v", got, beyond[2])
			}
		})
	}
}
