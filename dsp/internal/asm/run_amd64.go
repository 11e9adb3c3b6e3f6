//go:build amd64 && !purego

package asm

import (
	"sync"

	"golang.org/x/sys/cpu"

	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

//go:generate go run ../asmgen -out zasm_amd64.s -table zasmtable_amd64.go

// table has the handlers, filled at first use.
var table = sync.OnceValue(func() *Handlers {
	var a [len(handlerOps) + 3 + len(twiceOps)]uintptr
	handlers(&a[0])
	return newTable(handlerOps[:], twiceOps[:], a[:])
})

func newTable(ops, twice []hexagon.Op, addr []uintptr) *Handlers {
	t := new(Handlers)
	for i, op := range ops {
		t.ByOp[op] = addr[i]
	}
	t.Exit, t.Guard, t.Again = addr[len(ops)], addr[len(ops)+1], addr[len(ops)+2]
	for i, op := range twice {
		t.twice[op] = addr[len(ops)+3+i]
	}
	return t
}

// Host has this machine's handlers, nil when it lacks AVX2.
func Host() *Handlers {
	if !cpu.X86.HasAVX2 {
		return nil
	}
	return table()
}

// Run runs code a number of times, more than once only when it repeats: the addresses of the rounds then follow those
// of single blocks. It returns how often it ran; the round that raises a fault is the last.
func Run(t *state.Thread, c *state.Code, rounds uint32) uint32 {
	begin(t, rounds)
	if !c.Asm {
		return rounds - runGo(t, c)
	}
	runOps(t, &c.Ops[0])
	if t.Stop == c.Last {
		return rounds
	}
	return rounds - resume(t, c)
}

// resume continues after a handler's exit to Go, with the Go function of its micro-op.
func resume(t *state.Thread, c *state.Code) (left uint32) {
	for {
		u := t.Stop
		if u == c.Last {
			expect(t, c)
			return left
		}
		u.Fn(t, u)
		if u.EA != 0 {
			k := uint64(u.EA-state.OffEA) / 4
			t.Addr[t.Slots/4+k] = t.Addr[k]
		}
		if t.Fault.Violation != state.NoViolation && t.Rounds > 1 {
			left, t.Rounds = t.Rounds-1, 1
		}
		runOps(t, &c.Ops[u.Index+1])
	}
}
