package codegen

import (
	"fmt"
	"slices"
)

// Label names a place in a Func; it becomes the start of a block.
type Label int32

type vreg struct {
	class Class
	name  string
	hint  int32 // preferred unit, -1 none
}

type block struct {
	labels   []Label
	instrs   []*Instr
	succ     [3]int32   // block indices, -1 none; filled by resolve
	loops    [2]loopEnd // hardware loops that end here
	unlikely bool
	section  int32
}

type loopEnd struct {
	head  Label // -1 none
	count int
}

// Func is a kernel under construction.
type Func struct {
	Name string

	target   Target
	classes  []ClassInfo
	vregs    []vreg
	labels   []int32 // block of each label, -1 unbound
	names    []string
	blocks   []block
	source   int32
	open     bool // the last block accepts more instructions
	nInstr   int32
	instrs   []Instr // chunked storage of instructions
	args     []Arg   // chunked storage of operands
	limits   [MaxFiles]int
	unlikely bool  // blocks that start now are seldom run
	section  int32 // of blocks that start now
	ordered  bool
	refined  bool

	scheduler *scheduler // of all attempts
	allocator *allocator
	groups    int // most of an attempt
}

// New starts an empty function.
func New(t Target, name string) *Func {
	f := &Func{Name: name, target: t, classes: t.Classes(), source: -1}
	f.startBlock()
	return f
}

// Reg makes a virtual register. The name appears in error messages only.
func (f *Func) Reg(c Class, name string) Reg {
	f.vregs = append(f.vregs, vreg{class: c, name: name, hint: -1})
	return Reg{id: int32(len(f.vregs)), class: c}
}

// Hint asks the allocator to prefer unit n for virtual register r.
func (f *Func) Hint(r Reg, n int) {
	if r.id > 0 {
		f.vregs[r.id-1].hint = int32(n)
	}
}

// SetSource sets the source operation of the instructions that follow.
func (f *Func) SetSource(op int) { f.source = int32(op) }

// Label makes a label that is not bound yet.
func (f *Func) Label(name string) Label {
	f.labels = append(f.labels, -1)
	f.names = append(f.names, name)
	return Label(len(f.labels) - 1)
}

// Bind places l here: the next instruction starts a block. A label is bound once.
func (f *Func) Bind(l Label) {
	if f.labels[l] >= 0 {
		panic("build: label " + f.names[l] + " bound twice in " + f.Name)
	}
	last := &f.blocks[len(f.blocks)-1]
	if len(last.instrs) > 0 || !f.open {
		f.startBlock()
	}
	b := len(f.blocks) - 1
	f.labels[l] = int32(b)
	f.blocks[b].labels = append(f.blocks[b].labels, l)
}

// Emit appends an instruction; flags and memory effects are added to the
// result. An instruction with the Branch flag must be emitted by Jump.
func (f *Func) Emit(op uint32, args ...Arg) *Instr {
	if !f.open {
		f.startBlock()
	}
	if len(f.instrs) == 0 {
		f.instrs = make([]Instr, 64)
	}
	in := &f.instrs[0]
	f.instrs = f.instrs[1:]
	if len(f.args) < len(args) {
		f.args = make([]Arg, 256+len(args))
	}
	n := copy(f.args, args)
	for i := range f.args[:n] {
		if a := &f.args[i]; a.Kind == ArgReg && !a.Reg.Valid() {
			a.Role = None // an optional operand that is absent
		}
	}
	in.Op, in.Args, in.Source, in.seq = op, f.args[:n:n], f.source, f.nInstr
	f.args = f.args[n:]
	f.nInstr++
	b := &f.blocks[len(f.blocks)-1]
	b.instrs = append(b.instrs, in)
	return in
}

// Jump appends a branch and ends the block. Label operands are its targets;
// without NoFall the block continues into the next one as well.
func (f *Func) Jump(op uint32, flags Flags, args ...Arg) *Instr {
	in := f.Emit(op, args...)
	in.Flags |= Branch | flags
	f.open = false
	return in
}

// Unlikely marks the blocks that emit starts as run a hundredth as often as the loops around them suggest; it matters for
// the choice among schedules only.
func (f *Func) Unlikely(emit func()) {
	was := f.unlikely
	f.unlikely = true
	emit()
	f.unlikely = was
}

// Section assigns the blocks that emit starts to section n, the others around them to the one before; everything is of
// section 0 at first. Code.Sections has their cycles. emit begins after a branch or binds a label first, and so does
// the code after it.
func (f *Func) Section(n int, emit func()) {
	was := f.section
	f.section = int32(n)
	if last := &f.blocks[len(f.blocks)-1]; f.open && len(last.instrs) == 0 {
		last.section = f.section
	}
	emit()
	f.section = was
}

// Stream is a sequence of instructions among others: From of the others' precede its first one.
type Stream struct {
	Emit func()
	From float64
}

// Weave appends the instructions of the streams, interleaved in proportion to their lengths. Each stream keeps its
// order; none may read results of another, or end the block.
func (f *Func) Weave(streams ...func()) {
	list := make([]Stream, len(streams))
	for i, emit := range streams {
		list[i].Emit = emit
	}
	f.WeaveStreams(list...)
}

// WeaveStreams is Weave of streams some of which begin later.
func (f *Func) WeaveStreams(streams ...Stream) {
	if !f.open {
		f.startBlock()
	}
	b := len(f.blocks) - 1
	first := len(f.blocks[b].instrs)
	ends := make([]int, len(streams)+1)
	ends[0] = first
	for i, s := range streams {
		s.Emit()
		if len(f.blocks)-1 != b || !f.open {
			panic("build: a stream of " + f.Name + " ends its block")
		}
		ends[i+1] = len(f.blocks[b].instrs)
	}
	all := f.blocks[b].instrs[first:]
	interleaved := make([]*Instr, 0, len(all))
	done := make([]int, len(streams))
	for len(interleaved) < len(all) {
		best, least := -1, 0.0
		for i, n := range done {
			size, from := ends[i+1]-ends[i], streams[i].From
			if due := from + (1-from)*(float64(n)+0.5)/float64(size); n < size && (best < 0 || due < least) {
				best, least = i, due
			}
		}
		interleaved = append(interleaved, all[ends[best]-first+done[best]])
		done[best]++
	}
	copy(all, interleaved)
}

// Ordered declares that the order of the instructions leaves little to a schedule, which is refined: others are tried
// where none that keeps it fits.
func (f *Func) Ordered() { f.ordered, f.refined = true, true }

// Refined declares that the schedule is worth the time to refine it.
func (f *Func) Refined() { f.refined = true }

// EndLoop ends the block as the last one of hardware loop n (0 or 1), which
// jumps back to head while its counter lasts: count times in all, 0 if that is not
// known. Both loops may end at one place: call it twice.
func (f *Func) EndLoop(n int, head Label, count int) {
	if count <= 0 {
		count = unknownCount
	}
	last := &f.blocks[len(f.blocks)-1]
	if f.open && len(last.instrs) == 0 && len(f.blocks) > 1 && len(last.labels) == 0 {
		last = &f.blocks[len(f.blocks)-2]
	}
	last.loops[n] = loopEnd{head, count}
	f.open = false
}

// Limit caps the registers of a class's file that the allocator uses: only
// units below n. GPUs trade registers for occupancy this way.
func (f *Func) Limit(c Class, n int) { f.limits[f.classes[c].File] = n }

func (f *Func) startBlock() {
	f.blocks = append(f.blocks, block{succ: [3]int32{-1, -1, -1}, loops: [2]loopEnd{{head: -1}, {head: -1}}, unlikely: f.unlikely, section: f.section})
	f.open = true
}

// resolve fills the successors of every block.
func (f *Func) resolve() error {
	for i := range f.blocks {
		b := &f.blocks[i]
		n := 0
		add := func(s int32) {
			if slices.Contains(b.succ[:n], s) {
				return
			}
			if n < len(b.succ) {
				b.succ[n] = s
				n++
			}
		}
		falls := true
		for j, in := range b.instrs {
			if in.Flags&Branch == 0 {
				continue
			}
			if j != len(b.instrs)-1 {
				return fmt.Errorf("build: %s: branch inside block %d", f.Name, i)
			}
			falls = in.Flags&NoFall == 0
			for _, a := range in.Args {
				if a.Kind == ArgLabel {
					if f.labels[a.Label] < 0 {
						return fmt.Errorf("build: %s: label %s is not bound", f.Name, f.names[a.Label])
					}
					add(f.labels[a.Label])
				}
			}
		}
		for _, loop := range b.loops {
			if l := loop.head; l >= 0 {
				if f.labels[l] < 0 {
					return fmt.Errorf("build: %s: label %s is not bound", f.Name, f.names[l])
				}
				add(f.labels[l])
			}
		}
		if falls && i+1 < len(f.blocks) {
			add(int32(i + 1))
		}
	}
	return nil
}
