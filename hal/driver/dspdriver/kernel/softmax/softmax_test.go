package softmax

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvxtest"
)

var update = flag.Bool("update", false, "write the golden files")

func TestGoldens(t *testing.T) {
	hvxtest.Golden(t, *update, hvxtest.New(t).Machine(), Kernel{Depth: 1001})
}

// TestSoftmax holds results against exponentials in float64, in units of 1/256: they may
// round the other way. exps has e^-(d/10) in Q0.31 and, for the sum, in Q12.19.
func TestSoftmax(t *testing.T) {
	const rows, perStep = 5, 10.0
	var exps []uint32
	for d := range 256 {
		e := math.Exp(-float64(d) / perStep)
		exps = append(exps, uint32(min(math.Round(math.Ldexp(e, 31)), math.MaxInt32)), uint32(math.Round(math.Ldexp(e, 19))))
	}
	r := rand.New(rand.NewPCG(13, 13))
	for _, depth := range []int{1, 2, 7, 127, 128, 131, 300} {
		b := hvxtest.New(t)
		pitch := hvx.RoundUp(depth, hvx.VectorBytes)
		data := make([]byte, rows*pitch)
		for i := range data {
			data[i] = byte(r.IntN(200)) // behind a row, too
		}
		in, out := b.Load(data), b.Alloc(len(data))
		var table []uint32
		for row := range uint32(rows) {
			table = append(table, in+row*uint32(pitch), out+row*uint32(pitch))
		}
		b.Run(Kernel{Depth: depth}, []uint32{b.Words(table...), rows, b.Words(exps...), b.Alloc(4 * pitch)})
		for row := range rows {
			x, got := data[row*pitch:][:depth], b.Bytes(out+uint32(row*pitch), depth)
			sum := 0.0
			for _, v := range x {
				sum += math.Exp(float64(v) / perStep)
			}
			for i, v := range x {
				want := min(256*math.Exp(float64(v)/perStep)/sum, 255)
				if off := math.Abs(float64(got[i]) - want); !(off <= 0.51) {
					t.Fatalf("depth %d, row %d, channel %d: %d, want %.3f", depth, row, i, got[i], want)
				}
			}
		}
	}
}
