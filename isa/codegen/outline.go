package codegen

// reach is how many cycles before the last one in use an instruction may issue: values that are made much sooner than
// they are used find no registers. With it, over 414 kernels of quantized networks, the longest loop is 0.97 to 1.14 of
// its schedule in the median of each family of kernels.
const reach = 16

// Outline estimates the cycles of the blocks of each section (Func.Section) without a schedule: each instruction
// issues, in the order of the source, in the first cycle in which its operands are ready and its group has space.
// Registers count as sufficient. It costs a small part of the time of Compile, after which the Func may still be
// used.
func (f *Func) Outline() ([]int, error) {
	if err := f.resolve(); err != nil {
		return nil, err
	}
	o := outliner{f: f, l: f.newLiveness()}
	o.cells = make([]cellState, o.l.n)
	var sections []int
	for i := range f.blocks {
		b := &f.blocks[i]
		for len(sections) <= int(b.section) {
			sections = append(sections, 0)
		}
		sections[b.section] += o.block(b)
	}
	return sections, nil
}

// EachInstr visits the instructions in the order of the source, with the section of each.
func (f *Func) EachInstr(visit func(section int, in *Instr)) {
	for i := range f.blocks {
		for _, in := range f.blocks[i].instrs {
			visit(int(f.blocks[i].section), in)
		}
	}
}

// outliner places the instructions of one block after the other in cycles.
type outliner struct {
	f      *Func
	l      *liveness
	cells  []cellState
	epoch  int32    // of the current block
	groups []Group  // of each cycle
	next   []int32  // by Instr.Class: the first cycle that may have space
	memory []access // by alias class
}

// cellState is the last use of a cell in the block.
type cellState struct {
	epoch   int32
	def     *Instr // the last that wrote it, nil for none
	arg     int32  // by which operand
	defined int32  // in which cycle
	used    int32  // last cycle in which it is read, -1 for none
}

// access is the last cycles in which memory of an alias class is loaded and stored, -1 for none.
type access struct {
	alias         uint16
	loaded, saved int32
}

func (o *outliner) cell(c int32) *cellState {
	s := &o.cells[c]
	if s.epoch != o.epoch {
		*s = cellState{epoch: o.epoch, used: -1, defined: -1}
	}
	return s
}

// block is the number of cycles of a block.
func (o *outliner) block(b *block) int {
	o.epoch++
	for _, g := range o.groups {
		g.Reset()
	}
	clear(o.next)
	o.memory = o.memory[:0]
	last, fence, ordered := int32(-1), int32(-1), int32(-1)
	for _, in := range b.instrs {
		from := max(o.operands(in), o.access(in), fence+1, last-reach)
		if in.Flags&Ordered != 0 {
			from = max(from, ordered+1)
		}
		if in.Flags&Fence != 0 {
			from = max(from, last+1)
		}
		if in.Flags&Branch != 0 {
			from = max(from, last)
		}
		at := o.place(in, from)
		o.issue(in, at)
		last = max(last, at)
		if in.Flags&Ordered != 0 {
			ordered = at
		}
		if in.Flags&Fence != 0 {
			fence = at
		}
	}
	loops := false
	for _, l := range b.loops {
		loops = loops || l.head >= 0
	}
	if loops {
		last = max(last, 0) // the end of a hardware loop has a group
	}
	return int(last) + 1
}

// operands is the first cycle in which an instruction's registers allow it to issue.
func (o *outliner) operands(in *Instr) (from int32) {
	t := o.f.target
	for ai := range in.Args {
		a := &in.Args[ai]
		if a.Kind != ArgReg || a.Role == None {
			continue
		}
		c, n := o.l.cells(a.Reg)
		for k := c; k < c+n; k++ {
			s := o.cell(k)
			if a.Role&Use != 0 && s.def != nil {
				from = max(from, s.defined+int32(t.Latency(s.def, int(s.arg), in, ai)))
			}
			if a.Role&Def != 0 {
				from = max(from, s.used, s.defined+1)
				if a.Role&EarlyDef == EarlyDef {
					from = max(from, s.used+1)
				}
			}
		}
	}
	return from
}

// access is the first cycle in which an instruction may load or store.
func (o *outliner) access(in *Instr) (from int32) {
	if in.Flags&(Load|Store) == 0 {
		return 0
	}
	for _, m := range o.memory {
		if m.alias != 0 && in.Alias != 0 && m.alias != in.Alias {
			continue
		}
		from = max(from, m.saved+1)
		if in.Flags&Store != 0 {
			from = max(from, m.loaded)
		}
	}
	return from
}

// place puts an instruction into the first group from a cycle on that has space.
func (o *outliner) place(in *Instr, from int32) int32 {
	at, known := from, false
	if c := int(in.Class); c > 0 && c < len(o.next) && from <= o.next[c] {
		at, known = o.next[c], true
	}
	for ; ; at++ {
		for int(at) >= len(o.groups) {
			o.groups = append(o.groups, o.f.target.NewGroup())
		}
		if o.groups[at].TryAdd(in) {
			break
		}
	}
	if c := int(in.Class); c > 0 && (known || from == 0) {
		for c >= len(o.next) {
			o.next = append(o.next, 0)
		}
		o.next[c] = at
	}
	return at
}

// issue records the effects of an instruction in a cycle.
func (o *outliner) issue(in *Instr, at int32) {
	for ai := range in.Args {
		a := &in.Args[ai]
		if a.Kind != ArgReg || a.Role == None {
			continue
		}
		c, n := o.l.cells(a.Reg)
		for k := c; k < c+n; k++ {
			s := o.cell(k)
			if a.Role&Def != 0 {
				s.def, s.arg, s.defined, s.used = in, int32(ai), at, -1
			}
			if a.Role&Use != 0 {
				s.used = max(s.used, at)
			}
		}
	}
	if in.Flags&(Load|Store) == 0 {
		return
	}
	var m *access
	for i := range o.memory {
		if o.memory[i].alias == in.Alias {
			m = &o.memory[i]
		}
	}
	if m == nil {
		o.memory = append(o.memory, access{in.Alias, -1, -1})
		m = &o.memory[len(o.memory)-1]
	}
	if in.Flags&Store != 0 {
		m.saved = max(m.saved, at)
	}
	if in.Flags&Load != 0 {
		m.loaded = max(m.loaded, at)
	}
}
