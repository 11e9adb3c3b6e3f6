package resize

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvxtest"
)

func randomBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// TestBlend weighs rows of neighbours by random fractions, and by those of an edge, and
// rounds halves away from a zero point: sums of products with weights of 22 bits.
func TestBlend(t *testing.T) {
	const one = 1 << FractionBits
	r := rand.New(rand.NewPCG(13, 31))
	for _, bias := range []int64{0, 128} {
		for _, vectors := range []int{1, 3} {
			n := vectors * hvx.VectorBytes
			var rows [4][]byte // above left, above right, below left, below right
			for i := range rows {
				rows[i] = randomBytes(r, n)
			}
			columns := make([]uint32, n)
			for i := range columns {
				columns[i] = []uint32{0, one / 2, one, uint32(r.IntN(one))}[r.IntN(4)]
			}
			entries := []uint32{0, one / 2, uint32(r.IntN(one)), one}
			b := hvxtest.New(t)
			out, fractions := b.Alloc(len(entries)*n), b.Words(columns...)
			var at [4]uint32
			for i := range rows {
				at[i] = b.Load(rows[i])
			}
			var table []uint32
			for i, y := range entries {
				table = append(append(table, at[:]...), fractions, out+uint32(i*n), uint32(vectors), y)
			}
			b.Run(Blend{}, []uint32{b.Words(table...), uint32(len(entries)), uint32(bias)})
			for i, g := range b.Bytes(out, len(table)/BlendWords*n) {
				y, x, sum := int64(entries[i/n]), int64(columns[i%n]), int64(0)
				for k, f := range [4]int64{(one - y) * (one - x), (one - y) * x, y * (one - x), y * x} {
					const drop = 2*FractionBits - bilinearBits
					weight := (f>>31<<31 + 1<<(drop-1)) >> drop // products keep 31 bits less
					sum += (int64(rows[k][i%n]) - bias) * weight
				}
				want := byte(math.Round(float64(sum)/(1<<bilinearBits)) + float64(bias))
				if g != want {
					t.Fatalf("bias %d, row %d, byte %d is %d, want %d", bias, i/n, i%n, g, want)
				}
			}
		}
	}
}

// TestExact weighs runs of bytes in single precision, one neighbour after the other.
func TestExact(t *testing.T) {
	const runs = 40
	r := rand.New(rand.NewPCG(13, 32))
	for _, k := range []Exact{{1, 0}, {3, 128}, {8, 5}} {
		image := randomBytes(r, 100*k.Size)
		b := hvxtest.New(t)
		in, out := b.Load(image), b.Alloc(runs*k.Size)
		var table []uint32
		var from [runs][4]int
		var weights [runs][4]float32
		for i := range runs {
			y, x := r.Float32(), float32(r.IntN(5))/4
			weights[i] = [4]float32{1 - y, y, 1 - x, x}
			for n := range from[i] {
				from[i][n] = r.IntN(100) * k.Size
				table = append(table, in+uint32(from[i][n]))
			}
			table = append(table, out+uint32(i*k.Size))
			for _, w := range weights[i] {
				table = append(table, math.Float32bits(w))
			}
		}
		b.Run(k, []uint32{b.Words(table...), runs})
		for i, g := range b.Bytes(out, runs*k.Size) {
			run, sum := i/k.Size, float32(0)
			w := weights[run]
			for n, at := range from[run] {
				v := float32(int(image[at+i%k.Size]) - k.Bias)
				sum += float32(float32(v*w[n/2]) * w[2+n%2])
			}
			if want := byte(math.Round(float64(sum)) + float64(k.Bias)); g != want {
				t.Fatalf("%+v: run %d, byte %d is %d, want %d", k, run, i%k.Size, g, want)
			}
		}
	}
}
