package codegen

import (
	"cmp"
	"fmt"
	"slices"
)

// Positions: group g reads its operands at 2g and writes its results at 2g+1,
// so a result may take the register of an operand that dies in its group.

type segment struct{ from, to int32 } // inclusive positions

type allocator struct {
	f     *Func
	l     *liveness
	code  *Code
	segs  [][]segment // per cell of a virtual register
	start []int32     // first position of each, -1 unused
	units [MaxFiles][]bitset
	words int
	place []int32 // unit of each virtual register
}

func (f *Func) allocate(code *Code, l *liveness) error {
	if err := l.checkEntry(); err != nil {
		return err
	}
	a := &allocator{f: f, l: l, code: code}
	a.words = (2*len(code.Groups) + 64) / 64
	a.collect()
	order := make([]int, 0, len(f.vregs))
	for v := range f.vregs {
		if a.start[v] >= 0 {
			order = append(order, v)
		}
	}
	slices.SortStableFunc(order, func(v, w int) int { return cmp.Compare(a.start[v], a.start[w]) })
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
	code.placed = a
	return nil
}

// spans is in how many groups each register lives.
func (a *allocator) spans() []int {
	span := make([]int, len(a.f.vregs))
	for c, segs := range a.segs {
		for _, s := range segs {
			span[a.l.owner[c]] += int(s.to-s.from)/2 + 1
		}
	}
	return span
}

// collect turns liveness over the scheduled groups into segments; those of
// physical registers go to a.units at once.
func (a *allocator) collect() {
	l, f := a.l, a.f
	a.segs = make([][]segment, l.nVirt)
	a.start = make([]int32, len(f.vregs))
	a.place = make([]int32, len(f.vregs))
	for i := range a.start {
		a.start[i] = -1
	}
	end := make([]int32, l.n)
	for i := range end {
		end[i] = -1
	}
	add := func(c, from, to int32) {
		if c >= l.nVirt {
			key := l.physKey[c-l.nVirt]
			a.occupy(int(key>>16), int(key&0xffff), segment{from, to})
			return
		}
		v := l.owner[c]
		a.segs[c] = append(a.segs[c], segment{from, to})
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

func (a *allocator) occupy(file, unit int, s segment) {
	a.unit(file, unit).setRange(s.from, s.to)
}

// unit is the occupancy of a physical unit over all positions.
func (a *allocator) unit(file, unit int) bitset {
	for len(a.units[file]) <= unit {
		a.units[file] = append(a.units[file], nil)
	}
	if a.units[file][unit] == nil {
		a.units[file][unit] = make(bitset, a.words)
	}
	return a.units[file][unit]
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

// partOf is what of the range from..to lies in word w.
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

// assign places every register of order. The physical occupancy is restored
// first, so it can run again with another order.
func (a *allocator) assign(order []int) error {
	var saved [MaxFiles][]bitset
	for f := range a.units {
		for _, b := range a.units[f] {
			saved[f] = append(saved[f], append(bitset(nil), b...))
		}
	}
	for _, v := range order {
		if !a.assignOne(v) {
			a.units = saved
			return a.fail(v)
		}
	}
	a.units = saved
	return nil
}

func (a *allocator) assignOne(v int) bool {
	info := &a.f.classes[a.f.vregs[v].class]
	if h := a.f.vregs[v].hint; h >= 0 && a.fits(v, info, int(h)) {
		a.take(v, info, int(h))
		return true
	}
	for _, base := range info.Alloc {
		if a.fits(v, info, int(base)) {
			a.take(v, info, int(base))
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
		b := a.unit(int(info.File), u)
		for _, s := range a.segs[a.cell(v, u-base)] {
			if b.anyIn(s.from, s.to) {
				return false
			}
		}
	}
	return true
}

// cell is cell k of a virtual register: its units live on their own.
func (a *allocator) cell(v, k int) int32 { return a.l.vbase[v] + int32(k) }

func (a *allocator) take(v int, info *ClassInfo, base int) {
	a.place[v] = int32(base)
	for u := base; u < base+info.Width; u++ {
		for _, s := range a.segs[a.cell(v, u-base)] {
			a.occupy(int(info.File), u, s)
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
func (a *allocator) apply() {
	a.rewrite()
	a.dropMoves()
	a.code.placed = nil
}

// rewrite stores physical numbers in the operands and counts what is used.
func (a *allocator) rewrite() {
	for g := range a.code.Groups {
		for _, in := range a.code.Groups[g].Instrs {
			for i := range in.Args {
				o := &in.Args[i]
				if o.Kind != ArgReg || !o.Reg.Valid() {
					continue
				}
				info := &a.f.classes[o.Reg.class]
				if o.Reg.IsPhys() {
					o.Phys = uint16(o.Reg.Num())
				} else {
					o.Phys = uint16(a.place[o.Reg.id-1]) + uint16(o.Reg.off)
				}
				a.code.Used[info.File] = max(a.code.Used[info.File], int(o.Phys)+info.Width)
			}
		}
	}
}

// dropMoves removes copies of a register to itself, and the groups that are
// left empty unless a hardware loop ends there.
func (a *allocator) dropMoves() {
	m, ok := a.f.target.(Mover)
	if !ok {
		return
	}
	c := a.code
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
