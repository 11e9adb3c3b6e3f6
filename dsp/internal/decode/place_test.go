package decode

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// TestPlaces: a register operand is at its place in the state, and its resource has its name.
func TestPlaces(t *testing.T) {
	var th state.Thread
	check := func(k hexagon.Kind, reg, width int, name string, at unsafe.Pointer) {
		t.Helper()
		off, res, w := place(k, uint8(reg))
		if th.At(off) != at || RegisterName(res) != fmt.Sprint(name, reg) || int(w) != width {
			t.Errorf("%s%d is %d registers from %s on, at %d", name, reg, w, RegisterName(res), off)
		}
	}
	for r := range 32 {
		check(hexagon.KindR, r, 1, "r", unsafe.Pointer(&th.GR[r]))
		check(hexagon.KindRR, r, 2, "r", unsafe.Pointer(&th.GR[r]))
		check(hexagon.KindV, r, 1, "v", unsafe.Pointer(&th.V[r]))
		check(hexagon.KindVV, r, 2, "v", unsafe.Pointer(&th.V[r]))
		check(hexagon.KindVVVV, r, 4, "v", unsafe.Pointer(&th.V[r]))
	}
	for r := range 4 {
		check(hexagon.KindQ, r, 1, "q", unsafe.Pointer(&th.Q[r]))
		check(hexagon.KindP, r, 1, "p", unsafe.Add(unsafe.Pointer(&th.C[state.P30]), r))
	}
	for r := range 2 {
		check(hexagon.KindM, r, 1, "m", unsafe.Pointer(&th.C[state.M0+r]))
	}
}

// TestSame: a decoder is of all of its code, at its place.
func TestSame(t *testing.T) {
	code := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	d := New(64, code, nil, Config{})
	for _, c := range []struct {
		base uint32
		code []byte
		want bool
	}{{64, code, true}, {68, code, false}, {64, code[:4], false}, {64, []byte{1, 2, 3, 4, 5, 6, 7, 9}, false}, {64, []byte{0, 2, 3, 4, 5, 6, 7, 8}, false}} {
		if got := d.Same(c.base, c.code); got != c.want {
			t.Errorf("%d %v: %v", c.base, c.code, got)
		}
	}
}
