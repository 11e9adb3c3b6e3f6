package datamove

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvxtest"
)

var update = flag.Bool("update", false, "write the golden files")

// TestCopy copies runs of every length up to three vectors to places that are not
// aligned, and demands that nothing around them changes.
func TestCopy(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	b := hvxtest.New(t)
	for n := 1; n < 384; n += 1 + r.IntN(23) {
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(1 + r.IntN(255))
		}
		const room = 1024
		from, to := r.IntN(128), 128+r.IntN(128)
		src, dst := b.Load(append(make([]byte, from), data...)), b.Alloc(room)
		k := Copy{Full: n >= 128, Rest: n%128 != 0}
		table := b.Words(src+uint32(from), dst+uint32(to), uint32(n), 1, 0, 0, 0, 0)
		b.Run(k, []uint32{table, 1})
		want := make([]byte, room)
		copy(want[to:], data)
		if !bytes.Equal(b.Bytes(dst, room), want) {
			t.Fatalf("%d bytes from %d to %d differ", n, from, to)
		}
	}
}

func TestGoldens(t *testing.T) {
	m := hvxtest.New(t).Machine()
	hvxtest.Golden(t, *update, m, Copy{Full: true, Rest: true})
	hvxtest.Golden(t, *update, m, Fill{})
}
