package scalar

import (
	"testing"

	"github.com/nnsoc/nnsoc/dsp/internal/state"
)

// TestModStep: the increment of a modifier register is signed: bits 28 to 31 above bits 17 to 23.
func TestModStep(t *testing.T) {
	for mod, want := range map[uint32]int32{
		0: 0, 1 << 17: 1, 0x7f << 17: 127, 1 << 23: 64, 1 << 28: 128, 4 << 28: 512, 0x70fe0000: 1023, 8 << 28: -1024, 0xf0fe0000: -1, 0xf0fc0000: -2,
		0x0f01ffff: 0, // K and size
	} {
		if got := modStep(mod); got != want {
			t.Errorf("%#x: %d, want %d", mod, got, want)
		}
	}
}

// TestCircular: the next address in a circular buffer, by hand: with a start register where the modifier's K is 0 and
// the buffer has four bytes or more, else from the last multiple of 4 << K on.
func TestCircular(t *testing.T) {
	for _, c := range []struct {
		k, size, start, old uint32
		step                int32
		want                uint32
	}{
		{0, 4, 0x1002, 0x1002, 2, 0x1004}, {0, 4, 0x1002, 0x1002, 4, 0x1002}, {0, 4, 0x1002, 0x1004, -4, 0x1004},
		{0, 100, 0x1002, 0x1002, 99, 0x1065}, {0, 100, 0x1002, 0x1060, 6, 0x1002}, {0, 100, 0x1002, 0x1004, -4, 0x1064},
		{0, 3, 0x1002, 0x1001, 1, 0x1002}, {0, 3, 0x1002, 0x1002, 1, 0x1000}, {0, 3, 0x1002, 0x1000, -1, 0x1002},
		{1, 6, 0x5000, 0x100c, 1, 0x100d}, {1, 6, 0x5000, 0x100c, 2, 0x1008}, {1, 6, 0x5000, 0x1008, -2, 0x100c},
		{4, 40, 0x5000, 0x1064, 4, 0x1040}, {4, 40, 0x5000, 0x1044, -8, 0x1064},
	} {
		for m := range uint16(2) {
			var th state.Thread
			x, mod := uint16(state.OffR+4*7), uint16(state.OffC+4*(state.M0+m))
			*th.R(x), *th.R(mod) = c.old, c.k<<24|c.size
			th.C[state.CS0+m] = c.start
			circular(&th, x, mod, c.step)
			if got := *th.R(x); got != c.want {
				t.Errorf("m%d: %+v: %#x", m, c, got)
			}
		}
	}
}
