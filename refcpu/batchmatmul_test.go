package refcpu

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// TestBatchMatmul compares every combination of type, rank and transposition with sums computed straight from the
// definition.
func TestBatchMatmul(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 4))
	for _, typ := range []nn.OperandType{nn.TensorFloat32, nn.TensorInt32, nn.TensorQuant8AsymmSigned} {
		for mask := range 4 {
			for rank := 2; rank <= 4; rank++ {
				adjA, adjB := mask&1 != 0, mask&2 != 0
				const rows, depth, cols = 5, 7, 3
				lead := []uint32{2, 3}[:rank-2]
				batch := int(nn.Elements(lead))
				shape := func(a, b uint32, swap bool) []uint32 {
					if swap {
						a, b = b, a
					}
					return append(append([]uint32{}, lead...), a, b)
				}
				scale, zeroA, zeroB, zeroOut := float32(0), int32(0), int32(0), int32(0)
				if typ == nn.TensorQuant8AsymmSigned {
					scale, zeroA, zeroB, zeroOut = 0.5, 3, -2, 7
				}
				g := &graph{}
				a := g.input(typ, scale, zeroA, shape(rows, depth, adjA)...)
				b := g.input(typ, scale, zeroB, shape(depth, cols, adjB)...)
				out := g.output(typ, 8*scale, zeroOut, shape(rows, cols, false)...)
				g.op(nn.OpBatchMatmul, []uint32{out}, a, b, g.bool(adjA), g.bool(adjB))
				draw := func(n int) (b []byte, v []float64) {
					for range n {
						x := int32(r.IntN(41) - 20)
						v = append(v, float64(x))
						switch typ {
						case nn.TensorFloat32:
							b = append(b, floatBytes(float32(x))...)
						case nn.TensorInt32:
							b = append(b, int32Bytes(x)...)
						default:
							b = append(b, byte(x))
						}
					}
					return b, v
				}
				ab, av := draw(batch * rows * depth)
				bb, bv := draw(batch * depth * cols)
				got := require.V(runOnce(g, 1, ab, bb))(t)
				if again, err := runOnce(g, 3, ab, bb); err != nil || !bytes.Equal(again, got) {
					t.Errorf("%s: three threads give other bytes (%v)", typ, err)
				}
				for i := range batch * rows * cols {
					n, y, x := i/(rows*cols), i/cols%rows, i%cols
					sum := 0.
					for k := range depth {
						p, q := (n*rows+y)*depth+k, (n*depth+k)*cols+x
						if adjA {
							p = (n*depth+k)*rows + y
						}
						if adjB {
							q = (n*cols+x)*depth + k
						}
						sum += (av[p] - float64(zeroA)) * (bv[q] - float64(zeroB))
					}
					var have float64
					switch typ {
					case nn.TensorFloat32:
						have = float64(math.Float32frombits(binary.LittleEndian.Uint32(got[4*i:])))
					case nn.TensorInt32:
						have = float64(int32(binary.LittleEndian.Uint32(got[4*i:])))
					default: // 0.5*0.5/4 is 1/2 by the multiplier, then a shift by 3: two roundings
						have = float64(int8(got[i]))
						sum = min(max(math.Round(math.Floor(sum/2+0.5)/8)+float64(zeroOut), -128), 127)
					}
					if have != sum {
						t.Fatalf("%s adj %v %v rank %d: element %d is %v, want %v", typ, adjA, adjB, rank, i, have, sum)
					}
				}
			}
		}
	}
}
