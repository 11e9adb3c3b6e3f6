package codegen

import (
	"cmp"
	"fmt"
	"slices"
)

// Positions: group g reads its operands at 2g and writes its results at 2g+1, so a result may reuse the register of an
// operand that dies in its group.

// segment is a range of positions, both inclusive, in which a cell is live.
type segment struct {
	from, to int32
	next     int32 // of the same cell, -1 none
}

// allocator assigns physical units to virtual registers. It serves all attempts at a function.
type allocator struct {
	f     *Func
	l     *liveness
	code  *Code
	segs  []segment
	head  []int32 // first segment of each cell of a virtual register, -1 none
	end   []int32 // collect: last position of each cell, -1 dead
	start []int32 // first position of each register, -1 unused
	order []int
	place []int32 // unit of each virtual register
	words int
	base  [MaxFiles]int // of each file: its first row of fixed and taken
	rows  int
	// fixed has a row of bits per physical unit: the positions of operands that name physical registers. taken has
	// those of virtual registers, too.
	fixed, occupied bitset
}

func (f *Func) newAllocator(l *liveness) *allocator {
	if f.allocator == nil {
		n := len(f.vregs)
		a := &allocator{f: f, l: l, head: make([]int32, l.nVirt), end: make([]int32, l.n), start: make([]int32, n), order: make([]int, 0, n), place: make([]int32, n)}
		rows := 0
		for file, units := range f.highestUnits(l) {
			a.base[file] = rows
			rows += units
		}
		a.rows = rows
		f.allocator = a
	}
	return f.allocator
}

// highestUnits is one more than the highest unit of each file that a class or an operand names.
func (f *Func) highestUnits(l *liveness) (n [MaxFiles]int) {
	for i := range f.classes {
		c := &f.classes[i]
		for _, base := range c.Alloc {
			n[c.File] = max(n[c.File], int(base)+c.Width)
		}
	}
	for i := range f.vregs {
		if h := f.vregs[i].hint; h >= 0 {
			c := &f.classes[f.vregs[i].class]
			n[c.File] = max(n[c.File], int(h)+c.Width)
		}
	}
	for _, key := range l.physKey {
		n[key>>16] = max(n[key>>16], int(key&0xffff)+1)
	}
	return n
}

func (f *Func) allocate(code *Code, l *liveness) error {
	if err := l.checkEntry(); err != nil {
		return err
	}
	a := f.newAllocator(l)
	a.code = code
	a.collect()
	order := a.order[:0]
	for v := range f.vregs {
		if a.start[v] >= 0 {
			order = append(order, v)
		}
	}
	slices.SortFunc(order, func(v, w int) int { return cmp.Or(cmp.Compare(a.start[v], a.start[w]), cmp.Compare(v, w)) })
	err := a.assign(order)
	if err != nil {
		// Those with the fewest places first, wide ones above all: singles fill the gaps
		// that they leave.
		places := func(v int) int { return len(f.classes[f.vregs[v].class].Alloc) }
		slices.SortStableFunc(order, func(v, w int) int { return cmp.Compare(places(v), places(w)) })
		if a.assign(order) != nil {
			// Those that live through most of the function before all others.
			span := a.spans()
			long := func(v int) bool { return span[v] > len(code.Groups)/2 }
			slices.SortStableFunc(order, func(v, w int) int {
				switch {
				case long(v) == long(w):
					return 0
				case long(v):
					return -1
				}
				return 1
			})
			if a.assign(order) != nil {
				slices.SortStableFunc(order, func(v, w int) int { return cmp.Compare(span[w], span[v]) })
				if a.assign(order) != nil {
					return err
				}
			}
		}
	}
	code.place = slices.Clone(a.place)
	return nil
}

// spans is in how many groups each register lives.
func (a *allocator) spans() []int {
	span := make([]int, len(a.f.vregs))
	for c, k := range a.head {
		for ; k >= 0; k = a.segs[k].next {
			span[a.l.owner[c]] += int(a.segs[k].to-a.segs[k].from)/2 + 1
		}
	}
	return span
}

// collect converts liveness over the scheduled groups to segments; those of physical registers go to a.fixed at once.
func (a *allocator) collect() {
	l, f := a.l, a.f
	a.segs = a.segs[:0]
	a.words = (2*len(a.code.Groups) + 64) / 64
	if n := a.rows * a.words; cap(a.fixed) < n {
		a.fixed, a.occupied = make(bitset, n, n+n/4), make(bitset, n, n+n/4)
	} else {
		a.fixed, a.occupied = a.fixed[:n], a.occupied[:n]
		clear(a.fixed)
	}
	for _, list := range [...][]int32{a.head, a.end, a.start} {
		for i := range list {
			list[i] = -1
		}
	}
	end := a.end
	add := func(c, from, to int32) {
		if c >= l.nVirt {
			key := l.physKey[c-l.nVirt]
			a.row(a.fixed, int(key>>16), int(key&0xffff)).setRange(from, to)
			return
		}
		v := l.owner[c]
		a.segs = append(a.segs, segment{from, to, a.head[c]})
		a.head[c] = int32(len(a.segs) - 1)
		if a.start[v] < 0 || from < a.start[v] {
			a.start[v] = from
		}
	}
	for b := range f.blocks {
		first := a.code.Blocks[b]
		last := int32(len(a.code.Groups)) - 1
		if b+1 < len(f.blocks) {
			last = a.code.Blocks[b+1] - 1
		}
		if last < first {
			continue
		}
		l.out[b].each(func(c int32) { end[c] = 2*last + 1 })
		for g := last; g >= first; g-- {
			for _, in := range a.code.Groups[g].Instrs {
				for _, t := range l.touches(in) {
					if t.role&Def == 0 {
						continue
					}
					at := 2*g + 1
					if t.role&EarlyDef == EarlyDef {
						at = 2 * g
					}
					add(t.cell, at, max(end[t.cell], 2*g+1))
					end[t.cell] = -1
				}
			}
			for _, in := range a.code.Groups[g].Instrs {
				for _, t := range l.touches(in) {
					if t.role&Use != 0 && end[t.cell] < 0 {
						end[t.cell] = 2 * g
					}
				}
			}
		}
		l.in[b].each(func(c int32) {
			add(c, 2*first, end[c])
			end[c] = -1
		})
	}
}

// row is the occupancy of a physical unit over all positions.
func (a *allocator) row(of bitset, file, unit int) bitset {
	at := (a.base[file] + unit) * a.words
	return of[at : at+a.words]
}

func (b bitset) setRange(from, to int32) {
	for w := from >> 6; w <= to>>6; w++ {
		b[w] |= partOf(w, from, to)
	}
}

func (b bitset) anyIn(from, to int32) bool {
	for w := from >> 6; w <= to>>6; w++ {
		if b[w]&partOf(w, from, to) != 0 {
			return true
		}
	}
	return false
}

// partOf is the part of the range from..to within word w.
func partOf(w, from, to int32) uint64 {
	x := ^uint64(0)
	if w == from>>6 {
		x <<= uint(from) & 63
	}
	if w == to>>6 {
		x &= ^uint64(0) >> (63 - uint(to)&63)
	}
	return x
}

// assign places every register of order, beside the fixed physical registers.
func (a *allocator) assign(order []int) error {
	copy(a.occupied, a.fixed)
	for _, v := range order {
		if !a.assignOne(v) {
			return a.fail(v)
		}
	}
	return nil
}

func (a *allocator) assignOne(v int) bool {
	info := &a.f.classes[a.f.vregs[v].class]
	if h := a.f.vregs[v].hint; h >= 0 && a.fits(v, info, int(h)) {
		a.occupy(v, info, int(h))
		return true
	}
	for _, base := range info.Alloc {
		if a.fits(v, info, int(base)) {
			a.occupy(v, info, int(base))
			return true
		}
	}
	return false
}

func (a *allocator) fits(v int, info *ClassInfo, base int) bool {
	if lim := a.f.limits[info.File]; lim > 0 && base+info.Width > lim {
		return false
	}
	for u := base; u < base+info.Width; u++ {
		b := a.row(a.occupied, int(info.File), u)
		for k := a.head[a.cell(v, u-base)]; k >= 0; k = a.segs[k].next {
			if b.anyIn(a.segs[k].from, a.segs[k].to) {
				return false
			}
		}
	}
	return true
}

// cell is cell k of a virtual register: its units live on their own.
func (a *allocator) cell(v, k int) int32 { return a.l.vbase[v] + int32(k) }

func (a *allocator) occupy(v int, info *ClassInfo, base int) {
	a.place[v] = int32(base)
	for u := base; u < base+info.Width; u++ {
		b := a.row(a.occupied, int(info.File), u)
		for k := a.head[a.cell(v, u-base)]; k >= 0; k = a.segs[k].next {
			b.setRange(a.segs[k].from, a.segs[k].to)
		}
	}
}

func (a *allocator) fail(v int) error {
	g := min(int(a.start[v]/2), len(a.code.Groups)-1)
	grp := &a.code.Groups[g]
	where := fmt.Sprintf("block %d", grp.Block)
	if ls := a.f.blocks[grp.Block].labels; len(ls) > 0 {
		where = a.f.names[ls[0]]
	}
	return fmt.Errorf("build: out of %s registers in %s at %s, group %d, for %s",
		a.f.classes[a.f.vregs[v].class].Name, a.f.Name, where, g-int(a.code.Blocks[grp.Block]), a.f.vregs[v].name)
}

// apply makes the allocation final: instructions are shared between schedules.
func (c *Code) apply(f *Func) {
	c.rewrite(f)
	c.dropMoves(f)
	c.place = nil
}

// rewrite stores physical numbers in the operands and counts the units used.
func (c *Code) rewrite(f *Func) {
	for g := range c.Groups {
		for _, in := range c.Groups[g].Instrs {
			for i := range in.Args {
				o := &in.Args[i]
				if o.Kind != ArgReg || !o.Reg.Valid() {
					continue
				}
				info := &f.classes[o.Reg.class]
				if o.Reg.IsPhys() {
					o.Phys = uint16(o.Reg.Num())
				} else {
					o.Phys = uint16(c.place[o.Reg.id-1]) + uint16(o.Reg.off)
				}
				c.Used[info.File] = max(c.Used[info.File], int(o.Phys)+info.Width)
			}
		}
	}
}

// dropMoves removes copies of a register to itself, and the groups that are
// left empty unless a hardware loop ends there.
func (c *Code) dropMoves(f *Func) {
	m, ok := f.target.(Mover)
	if !ok {
		return
	}
	kept := c.Groups[:0]
	next := 0 // first group of the next block not seen yet
	blocks := append([]int32(nil), c.Blocks...)
	for g := range c.Groups {
		for next < len(blocks) && int(blocks[next]) <= g {
			c.Blocks[next] = int32(len(kept))
			next++
		}
		grp := c.Groups[g]
		ins := grp.Instrs[:0]
		for _, in := range grp.Instrs {
			if !m.IsMove(in) || in.Args[0].Phys != in.Args[1].Phys {
				ins = append(ins, in)
			}
		}
		grp.Instrs = ins
		if len(ins) > 0 || grp.EndLoop != 0 {
			kept = append(kept, grp)
		}
	}
	for ; next < len(blocks); next++ {
		c.Blocks[next] = int32(len(kept))
	}
	c.Groups = kept
}
