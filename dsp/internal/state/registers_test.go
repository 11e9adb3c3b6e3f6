package state

import (
	"math/rand/v2"
	"testing"
)

// TestRegisters: registers loaded into a thread are each at their place and are saved unchanged.
func TestRegisters(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var st, left Registers
	for i := range st.R {
		st.R[i] = r.Uint32()
		for j := range st.V[i] {
			st.V[i][j] = byte(r.Uint32())
		}
	}
	for i := range st.Z {
		st.Z[i] = byte(r.Uint32())
	}
	for i := range st.Q {
		st.P[i] = byte(r.Uint32())
		for j := range st.Q[i] {
			st.Q[i][j] = byte(r.Uint32() & 1)
		}
	}
	for i := range 2 {
		st.SA[i], st.LC[i], st.M[i], st.CS[i] = r.Uint32(), r.Uint32(), r.Uint32(), r.Uint32()
	}
	st.USR, st.GP, st.UGP, st.PC = r.Uint32(), r.Uint32(), r.Uint32(), r.Uint32()
	var th Thread
	th.Load(&st)
	for i, want := range []uint32{st.SA[0], st.LC[0], st.SA[1], st.LC[1], uint32(st.P[0]) | uint32(st.P[1])<<8 | uint32(st.P[2])<<16 | uint32(st.P[3])<<24, 0, st.M[0], st.M[1], st.USR, 0, st.UGP, st.GP, st.CS[0], st.CS[1]} {
		if got := th.C[i]; got != want {
			t.Errorf("c%d is %#x, want %#x", i, got, want)
		}
	}
	for i, q := range st.Q {
		for j, b := range q {
			if th.Q[i][j] != -b {
				t.Fatalf("byte %d of q%d is %d, want %d", j, i, th.Q[i][j], -b)
			}
		}
	}
	if th.Store(&left); left != st {
		t.Errorf("left %+v, want %+v", left, st)
	}
}
