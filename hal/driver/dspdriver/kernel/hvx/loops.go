package hvx

import (
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Loop is a part of a kernel with an execution count per execution of the enclosing part: a
// loop, or code that a test may skip. The first Loop of a kernel is all of its code.
type Loop struct {
	Inner []int  // the loops that are parts of it, and of none of these
	Count *Value // how often it runs; nil when that depends on what the kernel computes
	Slots int    // issue slots of its own code, once
	Lines int    // vectors of activations that its own code loads and stores, once
	Jumps bool   // it ends with a branch that is mostly taken
	Steps bool   // a count inside it changes from one of its iterations to the next
}

// Value is a number that a kernel computes of its arguments and of tables: the count of a loop.
type Value struct {
	Op    ValueOp
	N     int32 // a constant, the number of an argument, an offset, a shift or a mask
	Of    [2]*Value
	Walks []Walk
}

// ValueOp is how a Value is computed.
type ValueOp uint8

const (
	ValueConst      ValueOp = iota + 1
	ValueArg                // argument N of the thread
	ValueWord               // the word in memory at Of + N
	ValuePlus               // Of + N
	ValueSum                // both operands
	ValueDifference         // the first less the second
	ValueLeast              // the lesser operand
	ValueShiftRight         // Of >> N
	ValueShiftLeft          // Of << N
	ValueMask               // Of & N
	ValueNonzero            // 1 unless Of is 0
)

// Walk is an induction: a value grows by Step in each iteration of a loop.
type Walk struct {
	Loop int
	Step int32
}

// scalar is what is known of a register: the value it began with in loop born, and what has
// been added since.
type scalar struct {
	*Value
	added int32
	born  int
}

// within has emit write a part of the kernel that runs count times.
func (b *Builder) within(count *Value, jumps bool, emit func()) {
	around := b.inside
	b.inside = len(b.loops)
	b.loops = append(b.loops, Loop{Count: count, Jumps: jumps})
	b.loops[around].Inner = append(b.loops[around].Inner, b.inside)
	b.Func.Section(b.inside, emit)
	b.inside = around
}

// value is what is known of a register, nil for nothing.
func (b *Builder) value(r codegen.Reg) *Value {
	s, ok := b.scalars[r]
	if !ok {
		return nil
	}
	if s.added != 0 {
		return &Value{Op: ValuePlus, N: s.added, Of: [2]*Value{s.Value}}
	}
	return s.Value
}

// set notes what a register holds; nil for something unknown.
func (b *Builder) set(r codegen.Reg, v *Value) {
	if v == nil {
		delete(b.scalars, r)
		return
	}
	if b.scalars == nil {
		b.scalars = map[codegen.Reg]scalar{}
	}
	b.scalars[r] = scalar{v, 0, b.inside}
}

// unaryValues are the instructions of a register and an immediate that values come of.
var unaryValues = map[hexagon.Op]ValueOp{
	hexagon.A2_addi: ValuePlus, hexagon.L2_loadri_io: ValueWord, hexagon.S2_lsr_i_r: ValueShiftRight, hexagon.S2_asl_i_r: ValueShiftLeft, hexagon.A2_andir: ValueMask,
}

// binaryValues are the functions of two registers.
var binaryValues = map[hexagon.Op]ValueOp{hexagon.A2_add: ValueSum, hexagon.A2_sub: ValueDifference, hexagon.A2_min: ValueLeast}

// track follows what an instruction does to scalar registers.
func (b *Builder) track(op hexagon.Op, f *hexagon.Form, args []any) {
	if len(args) == 0 || len(b.scalars) == 0 && op != hexagon.A2_tfr {
		return
	}
	to, ok := args[0].(codegen.Reg)
	if !ok || f.Operands[0].Kind != hexagon.KindR {
		return
	}
	if f.Operands[0].Role&hexagon.Def == 0 {
		return
	}
	switch op {
	case hexagon.A2_tfrsi:
		b.set(to, &Value{Op: ValueConst, N: int32(args[1].(int))})
		return
	case hexagon.A2_tfr:
		from := args[1].(codegen.Reg)
		if v := b.value(from); v != nil { // what is added to the one is not added to the other
			b.set(to, &Value{Op: ValuePlus, Of: [2]*Value{v}})
		} else if from.IsPhys() {
			b.set(to, &Value{Op: ValueArg, N: int32(from.Num())})
		} else {
			b.set(to, nil)
		}
		return
	}
	if kind, ok := unaryValues[op]; ok {
		from, n := args[1].(codegen.Reg), int32(args[2].(int))
		s, known := b.scalars[from]
		switch {
		case !known:
			b.set(to, nil)
		case kind == ValuePlus && from == to:
			if s.added += n; s.born != b.inside {
				s.walk(b.inside, n)
			}
			b.scalars[to] = s
		case kind == ValuePlus || kind == ValueWord:
			b.set(to, &Value{Op: kind, N: s.added + n, Of: [2]*Value{s.Value}})
		default:
			b.set(to, &Value{Op: kind, N: n, Of: [2]*Value{b.value(from)}})
		}
		return
	}
	if kind, ok := binaryValues[op]; ok {
		x, y := b.value(args[1].(codegen.Reg)), b.value(args[2].(codegen.Reg))
		if x != nil && y != nil {
			b.set(to, &Value{Op: kind, Of: [2]*Value{x, y}})
			return
		}
	}
	b.set(to, nil)
}

// walk notes that a value grows by n in each iteration of a loop.
func (v *Value) walk(loop int, n int32) {
	for i := range v.Walks {
		if v.Walks[i].Loop == loop {
			v.Walks[i].Step += n
			return
		}
	}
	v.Walks = append(v.Walks, Walk{loop, n})
}

// countLines counts the vectors that each loop moves.
func (b *Builder) countLines() {
	b.Func.EachInstr(func(section int, in *codegen.Instr) { b.loops[section].Lines += lines(in) })
}

// finishLoops fills in the slots of each loop, and whether its iterations differ.
func (b *Builder) finishLoops(slots []int) []Loop {
	for i, n := range slots {
		b.loops[i].Slots = n
	}
	var around []int
	var visit func(i int)
	visit = func(i int) {
		for _, k := range b.loops[i].Inner {
			b.loops[k].Count.eachWalk(func(w Walk) {
				if slices.Contains(around, w.Loop) || w.Loop == i {
					b.loops[w.Loop].Steps = true
				}
			})
			around = append(around, i)
			visit(k)
			around = around[:len(around)-1]
		}
	}
	visit(0)
	return b.loops
}

// eachWalk visits the walks of a value and of its operands.
func (v *Value) eachWalk(visit func(Walk)) {
	if v == nil {
		return
	}
	for _, w := range v.Walks {
		visit(w)
	}
	for _, x := range v.Of {
		x.eachWalk(visit)
	}
}

// lines is how many vectors of activations an instruction loads or stores; an unaligned one
// counts as two.
func lines(in *codegen.Instr) int {
	if in.Flags&(codegen.Load|codegen.Store) == 0 || in.Alias == AliasConst {
		return 0
	}
	f := hexagon.Op(in.Op).Form()
	switch {
	case !strings.HasPrefix(f.Name, "V6_v"):
		return 0
	case strings.HasPrefix(f.Name, "V6_vL32Ub") || strings.HasPrefix(f.Name, "V6_vS32Ub"):
		return 2
	}
	return 1
}
