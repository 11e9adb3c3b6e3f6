package state

// Span is a range of registers, vector or scalar ones.
type Span struct {
	Reg, N uint8
}

// Deps are the registers an instruction reads and writes, for the scoreboard
// and the checker.
type Deps struct {
	VSrc     [5]Span
	SSrc     [6]Span
	VDst     Span
	SDst     [3]Span // the destination, then VCC, EXEC or SCC written besides
	NVSrc    uint8
	NSSrc    uint8
	NSDst    uint8
	Relative bool // M0 picks a register: any may be touched
}

// ReadV adds vector registers that are read.
func (d *Deps) ReadV(s Span) { d.VSrc[d.NVSrc] = s; d.NVSrc++ }

// ReadS adds scalar registers that are read.
func (d *Deps) ReadS(s Span) { d.SSrc[d.NSSrc] = s; d.NSSrc++ }

// WriteS adds scalar registers that are written.
func (d *Deps) WriteS(s Span) { d.SDst[d.NSDst] = s; d.NSDst++ }

// WritesExec reports whether EXEC is written.
func (d *Deps) WritesExec() bool {
	for _, s := range d.SDst[:d.NSDst] {
		if s.Overlaps(Span{EXEC, 2}) {
			return true
		}
	}
	return false
}

// Overlaps reports whether two ranges have a register in common.
func (a Span) Overlaps(b Span) bool {
	return a.N > 0 && b.N > 0 && int(a.Reg) < int(b.Reg)+int(b.N) && int(b.Reg) < int(a.Reg)+int(a.N)
}

// Set sets the bits of the registers in a register set.
func (a Span) Set(m []uint64) {
	r, n := uint(a.Reg), uint(a.N)
	if r>>6 == (r+n-1)>>6 {
		m[r>>6] |= (1<<n - 1) << (r & 63)
		return
	}
	for ; n > 0; n-- {
		m[r>>6] |= 1 << (r & 63)
		r++
	}
}

// Clear clears the bits of the registers in a register set.
func (a Span) Clear(m []uint64) {
	r, n := uint(a.Reg), uint(a.N)
	if r>>6 == (r+n-1)>>6 {
		m[r>>6] &^= (1<<n - 1) << (r & 63)
		return
	}
	for ; n > 0; n-- {
		m[r>>6] &^= 1 << (r & 63)
		r++
	}
}

// First is the first of the registers that a register set has, -1: none.
func (a Span) First(m []uint64) int {
	for r := int(a.Reg); r < int(a.Reg)+int(a.N) && r>>6 < len(m); r++ {
		if m[r>>6]>>(r&63)&1 != 0 {
			return r
		}
	}
	return -1
}
