package opspec

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// Args are the operands of one operation, named as its row names them.
type Args struct {
	View View
	Op   *nn.Operation
	Row  *Row
	// Key is the type T of the row.
	Key nn.OperandType
	// Since is the HAL version that this combination of form and types needs.
	Since Version

	in   []slot
	ends []int // input counts that the form permits, ascending
	outs []slot
	// variadic input slot and how often it repeats; -1 without.
	varAt, varLen int
}

// Bind matches an operation against its row: arity and operand types. The
// error of a mismatch names the operand that fits no form.
func (v View) Bind(op *nn.Operation) (Args, error) {
	a := Args{View: v, Op: op, varAt: -1}
	r := v.Table.Lookup(op.Type)
	if r == nil {
		return a, fmt.Errorf("%s: no such operation", op.Type)
	}
	a.Row = r
	for k, list := range [2][]uint32{op.Inputs, op.Outputs} {
		for i, x := range list {
			if uint64(x) >= uint64(len(v.Operands)) {
				return a, fmt.Errorf("%s: %s %d is operand %d of %d", op.Type, inOut[k], i, x, len(v.Operands))
			}
		}
	}
	keys := op.Inputs
	if r.keyOut {
		keys = op.Outputs
	}
	if r.keyIdx >= len(keys) {
		return a, fmt.Errorf("%s: %d inputs and %d outputs are too few", op.Type, len(op.Inputs), len(op.Outputs))
	}
	a.Key = v.Operands[keys[r.keyIdx]].Type
	since, ok := r.keySince(a.Key)
	if !ok {
		return a, fmt.Errorf("%s: type %s is not supported", op.Type, a.Key)
	}
	best := mismatch{}
	for f := range r.forms {
		m := a.match(&r.forms[f])
		if m.ok {
			a.Since = max(a.Row.Since, since, m.since)
			return a, nil
		}
		if m.depth >= best.depth {
			best = m
		}
	}
	return a, fmt.Errorf("%s: %s", op.Type, best.reason)
}

var inOut = [2]string{"input", "output"}

// mismatch is the outcome of trying a form: the further it got, the better it
// explains what is wrong.
type mismatch struct {
	ok     bool
	since  Version
	depth  int
	reason string
}

func (a *Args) match(s *signature) mismatch {
	m := mismatch{since: s.since}
	n := len(a.Op.Inputs)
	varAt := -1
	for i := range s.in {
		if s.in[i].variadic {
			varAt = i
		}
	}
	fits := false
	varLen := 0
	if varAt >= 0 {
		varLen = n - (len(s.in) - 1)
		fits = varLen >= 1 || (varLen == 0 && s.in[varAt].class == classAny)
	} else {
		for _, e := range s.ends {
			fits = fits || e == n
		}
	}
	if !fits {
		m.reason = fmt.Sprintf("%d inputs fit no form", n)
		return m
	}
	m.depth = 1
	for i, x := range a.Op.Inputs {
		sl := &s.in[slotOf(i, varAt, varLen)]
		t := a.View.Operands[x].Type
		since, ok := a.accepts(sl, t)
		if !ok {
			m.depth = 1 + i
			m.reason = fmt.Sprintf("input %d (%s, operand %d) cannot be %s", i, sl.name, x, t)
			return m
		}
		if !sl.optional && a.View.missing(x) {
			m.depth = 1 + i
			m.reason = fmt.Sprintf("input %d (%s, operand %d) may not be omitted", i, sl.name, x)
			return m
		}
		m.since = max(m.since, sl.since, since)
	}
	m.depth = 1000
	m.reason = fmt.Sprintf("%d outputs fit no form", len(a.Op.Outputs))
	for o := range s.outs {
		out := &s.outs[o]
		if len(out.slots) != len(a.Op.Outputs) && !(len(out.slots) == 1 && out.slots[0].variadic) {
			continue
		}
		since, bad := m.since, -1
		for i, x := range a.Op.Outputs {
			sl := &out.slots[min(i, len(out.slots)-1)]
			v, ok := a.accepts(sl, a.View.Operands[x].Type)
			if !ok {
				bad = i
				m.reason = fmt.Sprintf("output %d (%s, operand %d) cannot be %s", i, sl.name, x, a.View.Operands[x].Type)
				break
			}
			since = max(since, v)
		}
		if bad < 0 {
			a.in, a.ends, a.outs, a.varAt, a.varLen = s.in, s.ends, out.slots, varAt, varLen
			return mismatch{ok: true, since: max(since, out.since)}
		}
	}
	return m
}

// slotOf maps the i-th operand to its slot when slot varAt repeats n times.
func slotOf(i, varAt, n int) int {
	switch {
	case varAt < 0 || i < varAt:
		return i
	case i < varAt+n:
		return varAt
	}
	return i - n + 1
}

// accepts reports whether a slot may have type t, and since which version.
func (a *Args) accepts(sl *slot, t nn.OperandType) (Version, bool) {
	k := a.Key
	switch {
	case sl.class == classAny:
		return V10, t.Valid()
	case sl.class == classFilter && k.IsQuant8() && t == nn.TensorQuant8SymmPerChannel:
		return V12, true
	case sl.class == classDelta && k == nn.TensorQuant16Asymm:
		return V10, t.IsQuant8()
	case sl.class == classCast:
		since, ok := a.Row.keySince(t)
		if from, _ := a.Row.keySince(k); ok && (from == V13 || since == V13) {
			return V13, t == k
		}
		return since, ok
	}
	return V10, t == sl.typeFor(k)
}

// typeFor is the type of a slot for the key type k. Where there is a choice it is k.
func (sl *slot) typeFor(k nn.OperandType) nn.OperandType {
	switch {
	case sl.class == classFixed:
		return sl.fixed
	case (sl.class == classFill || sl.class == classPad) && k != nn.TensorFloat32 && k != nn.TensorFloat16:
		return nn.Int32
	case sl.class == classScalar, sl.class == classFill, sl.class == classPad:
		if k == nn.TensorFloat16 {
			return nn.Float16
		}
		return nn.Float32
	case k == nn.TensorFloat32 || k == nn.TensorFloat16:
		return k
	}
	switch sl.class {
	case classBias:
		return nn.TensorInt32
	case classRegion:
		return nn.TensorQuant16Asymm
	case classAnchor:
		return nn.TensorQuant16Symm
	}
	return k
}

// Position is the place of the named input among the operation's, -1 when the form or
// the operation does not have it.
func (a *Args) Position(name string) int {
	for i := range a.in {
		if a.in[i].name == name {
			p := i
			if a.varAt >= 0 && i > a.varAt {
				p = i + a.varLen - 1
			}
			if p >= len(a.Op.Inputs) {
				return -1
			}
			return p
		}
	}
	return -1
}

// Has reports whether the operation has the named input.
func (a *Args) Has(name string) bool { return a.In(name) != None }

// names reports whether the operation's form has the named input, be it given or not.
func (a *Args) names(name string) bool {
	return slices.ContainsFunc(a.in, func(s slot) bool { return s.name == name })
}

// In is the operand index of the named input, None when it is omitted.
func (a *Args) In(name string) uint32 {
	p := a.Position(name)
	if p < 0 {
		return None
	}
	x := a.Op.Inputs[p]
	if a.in[slotOf(p, a.varAt, a.varLen)].optional && a.View.omitted(x) {
		return None
	}
	return x
}

// Out is the operand index of the named output, None when the operation does not have it.
func (a *Args) Out(name string) uint32 {
	for i, x := range a.Op.Outputs {
		if a.outs[min(i, len(a.outs)-1)].name == name {
			return x
		}
	}
	return None
}

// Variadic returns the operand indexes of the input that repeats.
func (a *Args) Variadic() []uint32 {
	if a.varAt < 0 {
		return nil
	}
	return a.Op.Inputs[a.varAt : a.varAt+a.varLen]
}

// quantSources are the inputs whose quantization the output of a SameQuant row
// has: the first input of the key type, all of them where it repeats.
func (a *Args) quantSources() []uint32 {
	for i := range a.in {
		if a.in[i].class != classKey {
			continue
		}
		if a.in[i].variadic {
			return a.Variadic()
		}
		return a.Op.Inputs[i : i+1]
	}
	return nil
}

// Check checks the operation against its row beyond the types: the rank of the first input
// and the quantization of the outputs.
func (a *Args) Check() error {
	if err := a.CheckRank(); err != nil {
		return err
	}
	r := a.Row
	for k, x := range a.Op.Outputs {
		o := &a.View.Operands[x]
		if scale, zero, ok := r.FixedOutQuant(o.Type); ok && (o.Scale != scale || o.ZeroPoint != zero) {
			return fmt.Errorf("output %d (operand %d) has scale %v and zero point %d, it must have %v and %d",
				k, x, o.Scale, o.ZeroPoint, scale, zero)
		}
		if !r.SameQuant {
			continue
		}
		for _, y := range a.quantSources() {
			if in := &a.View.Operands[y]; o.Type == in.Type && (o.Scale != in.Scale || o.ZeroPoint != in.ZeroPoint) {
				return fmt.Errorf("output %d (operand %d) has scale %v and zero point %d, operand %d has %v and %d",
					k, x, o.Scale, o.ZeroPoint, y, in.Scale, in.ZeroPoint)
			}
		}
	}
	return nil
}

// CheckRank holds the first input to the rank that the row demands, as far as it is known.
func (a *Args) CheckRank() error {
	r := a.Row
	if len(a.Op.Inputs) == 0 {
		return nil
	}
	x := a.Op.Inputs[0]
	rank := len(a.View.Operands[x].Dimensions)
	if r.Rank > 0 && rank > 0 && rank != r.Rank {
		return fmt.Errorf("input 0 (operand %d) has rank %d, %d needed", x, rank, r.Rank)
	}
	if r.MaxRank > 0 && rank > r.MaxRank {
		return fmt.Errorf("input 0 (operand %d) has rank %d, at most %d", x, rank, r.MaxRank)
	}
	return nil
}

// InputNames are the names of an operation's inputs; nil where it fits no row.
func (v View) InputNames(op *nn.Operation) (names []string) {
	a, err := v.Bind(op)
	if err != nil {
		return nil
	}
	for i := range op.Inputs {
		names = append(names, a.SlotName(i))
	}
	return names
}

// SlotName is the name of the i-th input.
func (a *Args) SlotName(i int) string { return a.in[slotOf(i, a.varAt, a.varLen)].name }

// steering are the TENSOR_INT32 inputs that are parameters of an operation; the
// others are data.
var steering = map[string]bool{
	"axes": true, "axis": true, "begin": true, "end": true, "size": true, "strides": true, "shape": true, "dims": true,
	"perm": true, "paddings": true, "block_shape": true, "multiples": true, "output_shape": true,
	"traversal": true, "block_map": true, "format": true, "sizes": true,
}

// Parameter reports whether input i is a parameter, which determines shapes,
// loops or constants of the operation, rather than data: scalars, and tensors of
// axes, sizes and places.
func (a *Args) Parameter(i int) bool {
	if a.View.Operands[a.Op.Inputs[i]].Type.IsScalar() {
		return true
	}
	s := &a.in[slotOf(i, a.varAt, a.varLen)]
	return s.class == classFixed && s.fixed == nn.TensorInt32 && steering[s.name]
}

// Optional reports whether input i may be left out.
func (a *Args) Optional(i int) bool { return a.in[slotOf(i, a.varAt, a.varLen)].optional }

func (a *Args) quantOf(x uint32) *nn.Operand { return &a.View.Operands[x] }

// WithoutDefaults returns the inputs of the operation without the trailing groups whose
// operands are all constants of their default value: the earliest HAL version with the
// shorter form can then express the operation. A group is removed as a whole, as for dilations.
func (a *Args) WithoutDefaults() []uint32 {
	keep := len(a.Op.Inputs)
	if a.varAt >= 0 {
		return a.Op.Inputs
	}
	for e := len(a.ends) - 1; e > 0; e-- {
		if a.ends[e] > keep {
			continue
		}
		for i := a.ends[e-1]; i < keep; i++ {
			if !a.isDefault(i) {
				return a.Op.Inputs[:keep:keep]
			}
		}
		keep = a.ends[e-1]
	}
	return a.Op.Inputs[:keep:keep]
}

// isDefault reports whether input i is a constant of the value that its slot names.
func (a *Args) isDefault(i int) bool {
	o, want := &a.View.Operands[a.Op.Inputs[i]], a.in[i].standard
	switch {
	case want == nil || !o.IsConst():
		return false
	case o.Type == nn.Bool:
		return len(o.Data) == 1 && int32(o.Data[0]) == *want
	}
	return o.Type == nn.Int32 && len(o.Data) == 4 && int32(binary.LittleEndian.Uint32(o.Data)) == *want
}
