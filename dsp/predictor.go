package dsp

// predictor guesses how the threads of a core leave packets with jumps. A conditional jump has a counter of two bits,
// which the hint of the instruction starts and which travels with its code (the events of V66 count "bimodal from L2"),
// so its number has no limit here. The target comes from the branch target buffer, one for all threads, which
// holds for a packet where its last jump went.
type predictor struct {
	targets []target // direct mapped, a power of two
}

// target is where the packet at from went when it jumped last.
type target struct{ from, to uint32 }

// Ways out of a block.
const (
	wayOn    = iota // no jump, as predicted
	wayJump         // a jump, as predicted
	wayLate         // a jump to an address in the instruction, which only the decoder knew
	wayWrong        // against the prediction, of the jump or of its target
	waysOut
)

// Counters of conditional jumps: none is a jump that has not been met. From likely on a jump is predicted taken.
const (
	counterNone = iota
	counterNever
	counterRarely
	counterLikely
	counterAlways
)

func newPredictor(s *Spec) predictor { return predictor{make([]target, s.BTBEntries)} }

// leave returns the way out of a block whose last packet has jumps, taken or not, and learns from it.
func (p *predictor) leave(b *block, taken bool, next uint32) int {
	right := taken
	if b.Conditional {
		right = b.predict(taken) == taken
	}
	if !taken {
		if b.Conditional && !right {
			return wayWrong
		}
		return wayOn
	}
	at := b.last() / 4
	e := &p.targets[(at^at>>8)&uint32(len(p.targets)-1)]
	now := target{b.last(), next}
	known := *e == now
	*e = now
	switch {
	case !right, b.Indirect && !known:
		return wayWrong
	case !known:
		return wayLate
	}
	return wayJump
}

// predict is the direction that the counter of the block's conditional jump expects, before it learns.
func (b *block) predict(taken bool) (expected bool) {
	n := *b.counter
	if n == counterNone {
		if n = counterRarely; b.HintTaken {
			n = counterLikely
		}
	}
	if taken {
		*b.counter = min(n+1, counterAlways)
	} else {
		*b.counter = max(n-1, counterNever)
	}
	return n >= counterLikely
}

// counterOf is the counter of the conditional jump in the packet at an address.
func (d *decoded) counterOf(packet uint32) *uint8 {
	c := d.jumps[packet]
	if c == nil {
		c = new(uint8)
		d.jumps[packet] = c
	}
	return c
}

// forgetJumps lets every conditional jump start from its hint.
func (d *decoded) forgetJumps() {
	for _, c := range d.jumps {
		*c = counterNone
	}
}

// last is the address of the block's last packet.
func (b *block) last() uint32 { return b.Packets[len(b.Packets)-1].Addr }

// wayOut is the way by which t leaves the block that it has run.
func (tm *timing) wayOut(t *thread, b *block) int {
	if !b.Branches {
		return wayOn
	}
	return tm.predictor.leave(b, t.Taken != 0, t.Next)
}
