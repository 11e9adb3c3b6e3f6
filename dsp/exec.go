package dsp

import "github.com/nnsoc/nnsoc/isa/hexagon"

// asmTable holds the entries of the assembly handlers by operation; 0 means
// that an operation runs in Go.
type asmTable struct {
	byOp  [hexagon.NumOps]uintptr
	exit  uintptr // back to Go
	guard uintptr // test of a predicate, then the operation's own handler
	again uintptr // end of a block that may run several times
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

// begin prepares a thread to run a block a number of times.
func (t *thread) begin(rounds uint32) {
	t.rounds, t.slots = rounds, 0
	if rounds > 1 {
		t.slots = 4 * maxMemOps
	}
}

// execGo runs the micro-ops one by one through their semantic functions and
// answers how many rounds are left. The last entry of ops only ends assembly.
func (t *thread) execGo(b *block) (left uint32) {
	ops := b.ops[:len(b.ops)-1]
	for {
		for i := range ops {
			ops[i].fn(t, &ops[i])
		}
		if t.slots != 0 {
			copy(t.addr[t.slots/4:], t.addr[:len(b.mem)])
			t.slots += 4 * uint64(len(b.mem))
		}
		if t.rounds--; t.rounds == 0 || t.fault.kind != faultNone {
			return t.rounds
		}
	}
}

// roundsOf is how often a block can run in one go: hardware loop 0 is at its
// beginning, nobody else looks at memory meanwhile, and the packets are not
// beyond the limit.
func (r *run) roundsOf(t *thread, b *block) uint32 {
	if b.rounds == 1 || t.C[cSA0] != b.addr || t.C[cUSR]&usrLPCFG != 0 {
		return 1
	}
	n := min(int64(t.C[cLC0]), int64(b.rounds), r.packets/int64(len(b.packets)))
	return uint32(max(n, 1))
}

// repeats is how often a block that has been decoded may run in one go, 1 when it
// is not the whole body of a hardware loop or does what ends a round.
func (b *block) repeats() uint16 {
	if !b.loop0 || b.loop1 || b.branches || b.ends || b.counts {
		return 1
	}
	n := maxRounds
	if len(b.mem) > 0 {
		n = min(n, maxRoundOps/len(b.mem))
	}
	for i := range b.mem {
		if b.mem[i].kind > prefetchL1 {
			return 1
		}
	}
	for i := range b.ops {
		switch hexagon.Op(b.ops[i].op) {
		case hexagon.A2_tfrcrr, hexagon.A4_tfrcpp: // may read the loop count
			return 1
		}
	}
	return uint16(n)
}
