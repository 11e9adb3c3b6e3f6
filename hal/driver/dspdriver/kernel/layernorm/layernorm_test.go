package layernorm

import (
	"encoding/binary"
	"flag"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvxtest"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
)

var update = flag.Bool("update", false, "write the golden files")

// TestInverseRoot compares the inverse root of words with its definition.
func TestInverseRoot(t *testing.T) {
	values := []uint32{0, 1, 2, 3, 4, 5, 1 << 28, 1<<29 - 1, 1 << 29, 1<<29 + 3, 1 << 30, 1<<31 - 1}
	r := rand.New(rand.NewPCG(3, 4))
	for range 4000 {
		values = append(values, r.Uint32N(1<<31)>>r.Uint32N(31))
	}
	var data []byte
	for _, x := range values {
		data = binary.LittleEndian.AppendUint32(data, x)
	}
	factors := hvxtest.New(t).Map(Root{}, [][]byte{data})
	shifts := hvxtest.New(t).Map(Root{Shift: true}, [][]byte{data})
	for i, x := range values {
		want := fixedpoint.InverseSqrt(int32(x))
		got := fixedpoint.Multiplier{M: int32(binary.LittleEndian.Uint32(factors[4*i:])), Shift: -int(int32(binary.LittleEndian.Uint32(shifts[4*i:])))}
		if got != want {
			t.Fatalf("of %d is %+v, want %+v", x, got, want)
		}
	}
}

func TestGoldens(t *testing.T) {
	m := hvxtest.New(t).Machine()
	hvxtest.Golden(t, *update, m, elementwise.Map{F: Root{}})
	hvxtest.Golden(t, *update, m, Statistics{N: 40})
}
