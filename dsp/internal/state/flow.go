package state

// Jump records the target of a taken branch. Of several taken branches in one
// packet the first counts.
func (t *Thread) Jump(target uint32) {
	if t.Taken == 0 {
		t.Taken = 1
		t.Next = target
	}
}

// EndLoop executes the parse bits of a loop-ending packet, after the packet. It reports whether it went back to a loop
// start.
func (t *Thread) EndLoop(c *Code) bool {
	if c.Loop0 {
		if cfg := t.C[USR] & LPCFG; cfg != 0 {
			if cfg == 1<<LPCFGShift && !c.WritesP3 {
				*t.P(OffP + 3) = 0xff
			}
			t.C[USR] -= 1 << LPCFGShift
		}
		if t.C[LC0] > 1 {
			t.C[LC0]--
			t.Next = t.C[SA0]
			return true
		}
	}
	if c.Loop1 && t.C[LC1] > 1 {
		t.C[LC1]--
		t.Next = t.C[SA1]
		return true
	}
	return false
}
