package cost

import "github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"

// unknownCount is the estimated count of a loop whose count depends on what the kernel
// computes, the same as in isa/codegen. A loop of this kind inside another counts once: the
// counts of such nests (suppression of boxes) add up rather than multiply.
const unknownCount = 10

// Thread is the resources that a hardware thread needs to run a kernel.
type Thread struct {
	Slots     int  // issue slots: packets, and those in which none has its operands
	Lines     int  // vectors of activations that it loads and stores
	Uncertain bool // a count was not known
}

// ThreadOf follows the loops of a kernel with a thread's arguments: how often each runs is
// computed of them and of the tables in memory, of which word reads a word.
func ThreadOf(m *Machine, loops []hvx.Loop, args []uint32, word func(addr uint32) (uint32, bool)) Thread {
	if len(loops) == 0 {
		return Thread{Uncertain: true}
	}
	w := walker{loops: loops, args: args, word: word, jump: m.Jump, at: make([]int32, len(loops))}
	slots, lines := w.once(0)
	return Thread{slots, lines, w.uncertain}
}

// walker runs the loops of a kernel without their instructions.
type walker struct {
	loops     []hvx.Loop
	args      []uint32
	word      func(addr uint32) (uint32, bool)
	jump      int     // slots that the end of a loop of jumps loses
	at        []int32 // the iteration of each loop
	uncertain bool
	deep      int // loops of unknown counts around the one at hand
}

// once is the resources of one iteration of loop i.
func (w *walker) once(i int) (slots, lines int) {
	l := &w.loops[i]
	slots, lines = l.Slots, l.Lines
	for _, k := range l.Inner {
		s, n := w.all(k)
		slots, lines = slots+s, lines+n
	}
	return slots, lines
}

// all is the resources of all iterations of loop i.
func (w *walker) all(i int) (slots, lines int) {
	l, n := &w.loops[i], unknownCount
	if count, ok := w.value(l.Count); ok {
		n = int(max(int32(count), 0))
	} else {
		if w.uncertain = true; w.deep > 0 {
			n = 1
		}
		w.deep++
		defer func() { w.deep-- }()
	}
	if n == 0 {
		return 0, 0
	}
	if l.Jumps {
		slots = w.jump // the last one is predicted taken
	}
	if !l.Steps {
		s, lines := w.once(i)
		return slots + n*s, n * lines
	}
	for k := range n {
		w.at[i] = int32(k)
		s, n := w.once(i)
		slots, lines = slots+s, lines+n
	}
	w.at[i] = 0
	return slots, lines
}

// value is a value in the iterations at hand.
func (w *walker) value(v *hvx.Value) (x uint32, ok bool) {
	if v == nil {
		return 0, false
	}
	var of [2]uint32
	for i, o := range v.Of {
		if o == nil {
			break
		}
		if of[i], ok = w.value(o); !ok {
			return 0, false
		}
	}
	n := uint32(v.N)
	switch v.Op {
	case hvx.ValueConst:
		x = n
	case hvx.ValueArg:
		if int(n) >= len(w.args) {
			return 0, false
		}
		x = w.args[n]
	case hvx.ValueWord:
		if x, ok = w.word(of[0] + n); !ok {
			return 0, false
		}
	case hvx.ValuePlus:
		x = of[0] + n
	case hvx.ValueSum:
		x = of[0] + of[1]
	case hvx.ValueDifference:
		x = of[0] - of[1]
	case hvx.ValueLeast:
		x = uint32(min(int32(of[0]), int32(of[1])))
	case hvx.ValueShiftRight:
		x = of[0] >> n
	case hvx.ValueShiftLeft:
		x = of[0] << n
	case hvx.ValueMask:
		x = of[0] & n
	case hvx.ValueNonzero:
		x = min(of[0], 1)
	}
	for _, k := range v.Walks {
		x += uint32(w.at[k.Loop] * k.Step)
	}
	return x, true
}
