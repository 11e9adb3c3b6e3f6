package gpudriver

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/testvectors/drivertest"
)

// TestLshSizes: hashes of items of all lengths whose fingerprints are computed in another way,
// at odd addresses, of one to three blocks, and farther than an offset reaches; in single
// precision, as constants of a relaxed model, and in half precision.
func TestLshSizes(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 1))
	for _, typ := range []nn.OperandType{nn.TensorFloat32, nn.TensorFloat16} {
		for _, size := range []uint32{1, 2, 3, 4, 5, 11, 12, 13, 28, 29, 60, 61, 62, 63, 124, 125, 131, 200, 3001} {
			for _, kind := range []int32{opspec.LshSparseDeprecated, opspec.LshDense, opspec.LshSparse} {
				t.Run(fmt.Sprintf("%s/%d/%d", typ, size, kind), func(t *testing.T) {
					const hashes, bits, items = 3, 9, 3
					b := newModel(typ)
					b.r = r
					b.m.Relaxed = typ == nn.TensorFloat32 && size%2 == 1
					seeds, _ := b.constant(1, hashes, bits)
					data := make([]byte, items*size)
					for i := range data {
						data[i] = byte(r.Uint32())
					}
					x := b.operand(nn.Operand{Type: nn.TensorQuant8AsymmSigned, Scale: 1, Dimensions: []uint32{items, size}, Lifetime: nn.SubgraphInput})
					b.m.Main.Inputs = []uint32{x}
					weights := b.operand(nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{items}, Lifetime: nn.ConstantCopy, Data: encode(nn.TensorFloat32, []float32{2, -0.5, 1})})
					if typ == nn.TensorFloat16 {
						weights = b.operand(nn.Operand{Type: typ, Dimensions: []uint32{items}, Lifetime: nn.ConstantCopy, Data: encode(typ, []float32{2, -0.5, 1})})
					}
					n := uint32(hashes)
					if kind == opspec.LshDense {
						n *= bits
					}
					y := b.operand(nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{n}, Lifetime: nn.SubgraphOutput})
					b.m.Main.Outputs = []uint32{y}
					b.op(nn.OpLshProjection, y, seeds, x, weights, b.i32(kind))
					want, got := drivertest.Reference(t, &b.m, [][]byte{data}), execute(t, &b.m, [][]byte{data})
					if !bytes.Equal(got[0], want[0]) {
						t.Errorf("hashes %v, want %v", got[0], want[0])
					}
				})
			}
		}
	}
}

// TestMultinomial: the draws of logits of any spread are the reference's, those of a row that
// has infinities and of one that has no number too, and all classes that can be drawn are.
func TestMultinomial(t *testing.T) {
	const rows, classes, samples = 5, 37, 700
	for _, typ := range []nn.OperandType{nn.TensorFloat32, nn.TensorFloat16} {
		for _, seeds := range [][2]int32{{1, 2}, {-7, 1 << 30}} {
			t.Run(fmt.Sprintf("%s/%d", typ, seeds), func(t *testing.T) {
				b := newModel(typ)
				x, v := b.input(4, rows, classes)
				for i := range classes {
					v[classes+i] *= 40
					v[2*classes+i] *= 1000
				}
				v[3*classes+4] = float32(math.Inf(-1))
				v[4*classes+4] = float32(math.NaN())
				y := b.operand(nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{rows, samples}, Lifetime: nn.SubgraphOutput})
				b.m.Main.Outputs = []uint32{y}
				b.op(nn.OpRandomMultinomial, y, x, b.i32(samples), b.i32s([]uint32{2}, seeds[0], seeds[1]))
				data := [][]byte{encode(typ, v)}
				want, got := drivertest.Reference(t, &b.m, data)[0], execute(t, &b.m, data)[0]
				if !bytes.Equal(got, want) {
					t.Errorf("draws %v, want %v", got, want)
				}
				drawn := map[byte]bool{}
				for i := range samples {
					drawn[got[4*i]] = true
				}
				if len(drawn) < classes/2 {
					t.Errorf("%d of %d classes drawn", len(drawn), classes)
				}
			})
		}
	}
}

// TestLshBehindReshape: what is hashed keeps its bits in a relaxed model where it is another shape
// of the client's tensor.
func TestLshBehindReshape(t *testing.T) {
	b := newModel(nn.TensorFloat32)
	b.m.Relaxed = true
	x, v := b.input(1, 2, 3)
	for i := range v {
		v[i] = 1 + float32(i)*0x1p-20 // equal in half precision
	}
	y := b.temporary(6)
	b.op(nn.OpReshape, y, x, b.i32s([]uint32{1}, 6))
	seeds, _ := b.constant(1, 2, 8)
	out := b.operand(nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{16}, Lifetime: nn.SubgraphOutput})
	b.m.Main.Outputs = []uint32{out}
	none := b.operand(nn.Operand{Type: nn.TensorFloat32, Lifetime: nn.NoValue})
	b.op(nn.OpLshProjection, out, seeds, y, none, b.i32(opspec.LshDense))
	data := [][]byte{encode(nn.TensorFloat32, v)}
	if want, got := drivertest.Reference(t, &b.m, data), execute(t, &b.m, data); !bytes.Equal(got[0], want[0]) {
		t.Errorf("hashes %v, want %v", got[0], want[0])
	}
}

// TestRoundingSumsOfRelaxedModels: a sum with a constant that no half holds stays float32 in a relaxed model, so that
// adding and subtracting it rounds to integers.
func TestRoundingSumsOfRelaxedModels(t *testing.T) {
	b := newModel(nn.TensorFloat32)
	b.m.Relaxed = true
	x, v := b.input(1, 8)
	copy(v, []float32{0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 100.25, 7})
	y := b.temporary(8)
	whole := b.operand(nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{1}, Lifetime: nn.ConstantCopy, Data: encode(nn.TensorFloat32, []float32{0x1.8p23})})
	b.op(nn.OpAdd, y, x, whole, b.i32(0))
	out := b.operand(nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{8}, Lifetime: nn.SubgraphOutput})
	b.m.Main.Outputs = []uint32{out}
	b.op(nn.OpSub, out, y, whole, b.i32(0))
	got := decode(nn.TensorFloat32, execute(t, &b.m, [][]byte{encode(nn.TensorFloat32, v)})[0])
	if want := []float32{0, 2, 2, 0, -2, -2, 100, 7}; !slices.Equal(got, want) {
		t.Errorf("rounded to %v, want %v", got, want)
	}
}
