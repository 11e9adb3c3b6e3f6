package dram

// issueTable knows bursts whose column commands are still to come: another read of one that is read is done with it, and
// fetches nothing; of one that is written it is answered from the buffer, and another write replaces it. Blocks of eight
// bursts share an entry, and blocks that meet in one forget the older.
type issueTable [64]issueBlock

// issueBlock is bursts of an aligned block of eight, and the clocks of their column commands.
type issueBlock struct {
	block  uint64
	bursts uint8 // a bit for each
	at     [8]int64
}

func (t *issueTable) clear() { *t = issueTable{} }

// entry is where a block is.
func (t *issueTable) entry(block uint64) *issueBlock { return &t[block*0x9e3779b97f4a7c15>>58] }

// until is the clock of the column command of a burst, if it is not before clock k, and never otherwise.
func (t *issueTable) until(burst uint64, k int64) int64 {
	e := t.entry(burst >> 3)
	if at := e.at[burst&7]; at >= k && e.block == burst>>3 && e.bursts>>(burst&7)&1 != 0 {
		return at
	}
	return never
}

// add notes n bursts whose column commands are so many clocks apart, the last at a clock.
func (t *issueTable) add(burst uint64, n, last, apart int64) {
	for at := last - (n-1)*apart; at <= last; {
		e := t.entry(burst >> 3)
		if e.block != burst>>3 {
			e.block, e.bursts = burst>>3, 0
		}
		for here := burst >> 3; burst>>3 == here && at <= last; burst++ {
			e.bursts |= 1 << (burst & 7)
			e.at[burst&7] = at
			at += apart
		}
	}
}
