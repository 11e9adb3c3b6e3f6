package dsp

import "github.com/nnsoc/nnsoc/isa/hexagon"

// asmTable holds the entries of the assembly handlers by operation; 0 means
// that an operation runs in Go.
type asmTable struct {
	byOp  [hexagon.NumOps]uintptr
	exit  uintptr // back to Go
	guard uintptr // test of a predicate, then the operation's own handler
}

// handler is the entry for an operation: its own, or the way back to Go.
func (a *asmTable) handler(op hexagon.Op) uintptr {
	if a == nil {
		return 0
	}
	if h := a.byOp[op]; h != 0 {
		return h
	}
	return a.exit
}

// exec runs the micro-ops of a block.
func (t *thread) exec(b *block) {
	if b.asm {
		t.execAsm(b)
	} else {
		t.execGo(b)
	}
}

// execGo runs the micro-ops one by one through their semantic functions. The
// last entry of ops only ends assembly.
func (t *thread) execGo(b *block) {
	ops := b.ops[:len(b.ops)-1]
	for i := range ops {
		ops[i].fn(t, &ops[i])
	}
}
