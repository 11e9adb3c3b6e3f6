package elementwise_test

import (
	"encoding/binary"
	"flag"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvxtest"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

var update = flag.Bool("update", false, "write the golden files")

// TestDivWords compares quotients with Go's, rounded towards minus infinity.
func TestDivWords(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var x, y []byte
	for range 1024 {
		x = binary.LittleEndian.AppendUint32(x, r.Uint32()>>r.Uint32N(32))
		y = binary.LittleEndian.AppendUint32(y, -r.Uint32N(2)^r.Uint32()>>r.Uint32N(32))
	}
	got := hvxtest.New(t).Map(elementwise.DivWords{}, [][]byte{x, y})
	for i := 0; i < len(x); i += 4 {
		n, d := int64(int32(binary.LittleEndian.Uint32(x[i:]))), int64(int32(binary.LittleEndian.Uint32(y[i:])))
		want := int64(0)
		if d != 0 {
			if want = n / d; n%d != 0 && (n < 0) != (d < 0) {
				want--
			}
		}
		if q := int32(binary.LittleEndian.Uint32(got[i:])); q != int32(want) {
			t.Fatalf("%d / %d is %d, want %d", n, d, q, want)
		}
	}
}

// TestClamp bounds every byte.
func TestClamp(t *testing.T) {
	b := hvxtest.New(t)
	data := make([]byte, 256)
	for i := range data {
		data[i] = byte(i)
	}
	in, out := b.Load(data), b.Alloc(len(data))
	report := b.Run(elementwise.Clamp{}, []uint32{b.Words(in, out, 2), 1, 40 * hvx.Ones, 200 * hvx.Ones})
	if report.Cycles == 0 {
		t.Error("no cycles")
	}
	for i, x := range b.Bytes(out, len(data)) {
		if want := byte(min(max(i, 40), 200)); x != want {
			t.Fatalf("of %d is %d, want %d", i, x, want)
		}
	}
}

func TestGoldens(t *testing.T) {
	m := hvxtest.New(t).Machine()
	hvxtest.Golden(t, *update, m, elementwise.Clamp{})
	hvxtest.Golden(t, *update, m, elementwise.Map{F: elementwise.Instruction{Op: hexagon.V6_vmaxub}})
}
