package matmul

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvxtest"
)

// TestDot holds sums of products of bytes less their zero points, plus a bias, against a loop.
func TestDot(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 9))
	for _, c := range []struct{ vectors, rows, zeroIn, zeroWeights int }{{1, 1, 0, 0}, {1, 7, 128, 5}, {3, 4, 255, 255}, {8, 3, 17, 200}} {
		n := c.vectors * hvx.VectorBytes
		row, weights, bias := make([]byte, n), make([]byte, c.rows*n), make([]uint32, c.rows)
		for _, list := range [][]byte{row, weights} {
			for i := range list {
				list[i] = byte(r.Uint32())
			}
		}
		for i := range bias {
			bias[i] = r.Uint32() >> 4
		}
		b := hvxtest.New(t)
		out := b.Alloc(4 * c.rows)
		table := b.Words(b.Load(row), b.Load(weights), b.Words(bias...), out, uint32(c.rows))
		b.Run(Dot{Vectors: c.vectors}, []uint32{table, 1, hvx.SplatHalfword(int32(c.zeroIn)), hvx.SplatHalfword(int32(c.zeroWeights))})
		got := b.Bytes(out, 4*c.rows)
		for i := range c.rows {
			want := int32(bias[i])
			for k, x := range row {
				want += int32(int(x)-c.zeroIn) * int32(int(weights[i*n+k])-c.zeroWeights)
			}
			if g := int32(binary.LittleEndian.Uint32(got[4*i:])); g != want {
				t.Errorf("%+v: row %d is %d, want %d", c, i, g, want)
			}
		}
	}
}
