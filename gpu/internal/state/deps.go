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
