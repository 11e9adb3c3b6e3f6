package codegen

import (
	"fmt"
	"math/bits"
)

// liveness works on cells: a cell is one unit of a virtual register or one
// physical unit that the function mentions.
type liveness struct {
	f       *Func
	vbase   []int32         // first cell of each virtual register
	phys    map[int32]int32 // file<<16|unit -> cell
	physKey []int32         // the inverse, from cell nVirt on
	nVirt   int32
	n       int32
	owner   []int32 // virtual register of each virtual cell
	file    []uint8 // register file of each cell
	in, out []bitset

	touched []touch // of all instructions
	first   []int32 // in touched, by Instr.seq; one more at the end
	writes  []uint8 // a bit for each register file that the instruction writes, by Instr.seq
	widest  int     // most cells that an instruction writes
	graphs  []dag   // of each block
}

// touch is a cell that an instruction reads or writes.
type touch struct {
	cell int32
	file uint8
	role Role
}

// touches are the cells of the register operands of in, in their order.
func (l *liveness) touches(in *Instr) []touch {
	return l.touched[l.first[in.seq]:l.first[in.seq+1]]
}

// collect notes the cells of every instruction.
func (l *liveness) collect() {
	for i := range l.f.blocks {
		for _, in := range l.f.blocks[i].instrs {
			in.seq = int32(len(l.first))
			l.first = append(l.first, int32(len(l.touched)))
			files, cells := uint8(0), 0
			for k := range in.Args {
				a := &in.Args[k]
				if a.Kind != ArgReg || a.Role == None {
					continue
				}
				c, n := l.cells(a.Reg)
				if a.Role&Def != 0 {
					files |= 1 << l.file[c]
					cells += int(n)
				}
				for ; n > 0; n-- {
					l.touched = append(l.touched, touch{c, l.file[c], a.Role})
					c++
				}
			}
			l.writes = append(l.writes, files)
			l.widest = max(l.widest, cells)
		}
	}
	l.first = append(l.first, int32(len(l.touched)))
}

type bitset []uint64

func (b bitset) has(i int32) bool { return b[i>>6]>>(uint(i)&63)&1 != 0 }
func (b bitset) set(i int32)      { b[i>>6] |= 1 << (uint(i) & 63) }

// each calls fn for every member in rising order.
func (b bitset) each(fn func(int32)) {
	for w, x := range b {
		for x != 0 {
			fn(int32(w*64 + bits.TrailingZeros64(x)))
			x &= x - 1
		}
	}
}

// cells is the cell range of a register operand.
func (l *liveness) cells(r Reg) (first, n int32) {
	n = int32(l.f.classes[r.class].Width)
	if r.id > 0 {
		return l.vbase[r.id-1] + int32(r.off), n
	}
	key := int32(l.f.classes[r.class].File)<<16 | int32(r.Num())
	return l.phys[key], n
}

func (f *Func) newLiveness() *liveness {
	l := &liveness{f: f, phys: map[int32]int32{}}
	for i, v := range f.vregs {
		l.vbase = append(l.vbase, l.nVirt)
		for range f.classes[v.class].Width {
			l.owner = append(l.owner, int32(i))
			l.file = append(l.file, f.classes[v.class].File)
			l.nVirt++
		}
	}
	// Tuples of physical units need consecutive cells, so every unit up to the
	// highest one mentioned gets a cell.
	var top [MaxFiles]int32
	for i := range f.blocks {
		for _, in := range f.blocks[i].instrs {
			for _, a := range in.Args {
				if a.Kind == ArgReg && a.Reg.IsPhys() {
					c := &f.classes[a.Reg.class]
					top[c.File] = max(top[c.File], int32(a.Reg.Num()+c.Width))
				}
			}
		}
	}
	l.n = l.nVirt
	for file, t := range top {
		for u := range t {
			key := int32(file)<<16 | u
			l.phys[key] = l.n
			l.physKey = append(l.physKey, key)
			l.file = append(l.file, uint8(file))
			l.n++
		}
	}
	return l
}

// liveness solves the backward data-flow problem over the blocks.
func (f *Func) liveness() *liveness {
	l := f.newLiveness()
	l.collect()
	words := int(l.n+63) / 64
	nb := len(f.blocks)
	storage := make([]uint64, 4*nb*words)
	take := func() bitset { b := storage[:words:words]; storage = storage[words:]; return b }
	use, def := make([]bitset, nb), make([]bitset, nb)
	l.in, l.out = make([]bitset, nb), make([]bitset, nb)
	for i := range f.blocks {
		use[i], def[i], l.in[i], l.out[i] = take(), take(), take(), take()
		for _, in := range f.blocks[i].instrs {
			for _, t := range l.touches(in) {
				if t.role&Use != 0 && !def[i].has(t.cell) {
					use[i].set(t.cell)
				}
			}
			for _, t := range l.touches(in) {
				if t.role&Def != 0 {
					def[i].set(t.cell)
				}
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for i := nb - 1; i >= 0; i-- {
			for w := range words {
				var o uint64
				for _, s := range f.blocks[i].succ {
					if s >= 0 {
						o |= l.in[s][w]
					}
				}
				l.out[i][w] = o
				if x := use[i][w] | o&^def[i][w]; x != l.in[i][w] {
					l.in[i][w] = x
					changed = true
				}
			}
		}
	}
	return l
}

// checkEntry reports a virtual register that is read before it is written.
func (l *liveness) checkEntry() error {
	var err error
	l.in[0].each(func(c int32) {
		if c < l.nVirt && err == nil {
			v := l.f.vregs[l.owner[c]]
			err = fmt.Errorf("build: %s: register %s (class %s) is read before it is written",
				l.f.Name, v.name, l.f.classes[v.class].Name)
		}
	})
	return err
}
