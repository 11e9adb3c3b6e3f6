//go:build amd64 && !purego

package dsp

import (
	"sync"

	"golang.org/x/sys/cpu"

	"github.com/nnsoc/nnsoc/isa/hexagon"
)

//go:generate go run ./internal/asmgen -out zasm_amd64.s -table zasmtable_amd64.go

// asmTables are the handlers of each level, filled at first use.
var asmTables = [...]func() *asmTable{
	sync.OnceValue(func() *asmTable {
		var a [len(handlerOps0) + 3]uintptr
		handlers0(&a[0])
		return newAsmTable(handlerOps0[:], a[:])
	}),
	sync.OnceValue(func() *asmTable {
		var a [len(handlerOps1) + 3]uintptr
		handlers1(&a[0])
		return newAsmTable(handlerOps1[:], a[:])
	}),
}

func newAsmTable(ops []hexagon.Op, addr []uintptr) *asmTable {
	t := new(asmTable)
	for i, op := range ops {
		t.byOp[op] = addr[i]
	}
	t.exit, t.guard, t.again = addr[len(ops)], addr[len(ops)+1], addr[len(ops)+2]
	return t
}

// hostAsm is the best table this machine can run, nil when it has none.
func hostAsm() *asmTable {
	x := &cpu.X86
	switch {
	case x.HasAVX512F && x.HasAVX512BW && x.HasAVX512VL && x.HasAVX512DQ && x.HasAVX512VNNI && x.HasAVX512VBMI && x.HasAVX2:
		return asmTables[1]()
	case x.HasAVX2:
		return asmTables[0]()
	}
	return nil
}

// allAsm is every table this machine can run, for tests.
func allAsm() (tables []*asmTable) {
	if cpu.X86.HasAVX2 {
		tables = append(tables, asmTables[0]())
	}
	if t := hostAsm(); t != nil && t != asmTables[0]() {
		tables = append(tables, t)
	}
	return tables
}

// exec runs a block a number of times, more than once only when it repeats: the
// addresses of the rounds are then behind those of single blocks. It answers how
// often it ran; the round that raises a fault is the last.
func (t *thread) exec(b *block, rounds uint32) uint32 {
	t.begin(rounds)
	if !b.asm {
		return rounds - t.execGo(b)
	}
	runOps(t, &b.ops[0])
	if t.stop == b.last {
		return rounds
	}
	return rounds - t.resume(b)
}

// resume goes on where a handler has handed a micro-op over: that runs its Go
// function.
func (t *thread) resume(b *block) (left uint32) {
	for {
		u := t.stop
		if u == b.last {
			return left
		}
		u.fn(t, u)
		if t.slots != 0 && u.ea != 0 {
			k := uint64(u.ea-offEA) / 4
			t.addr[t.slots/4+k] = t.addr[k]
		}
		if t.fault.kind != faultNone && t.rounds > 1 {
			left, t.rounds = t.rounds-1, 1
		}
		runOps(t, &b.ops[u.index+1])
	}
}
