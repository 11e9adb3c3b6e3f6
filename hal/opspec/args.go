package opspec

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
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
	isFloat := k == nn.TensorFloat32 || k == nn.TensorFloat16
	same := func(ok bool) (Version, bool) { return V10, ok }
	switch sl.class {
	case classFixed:
		return same(t == sl.fixed)
	case classKey:
		return same(t == k)
	case classFilter:
		if k.IsQuant8() && t == nn.TensorQuant8SymmPerChannel {
			return V12, true
		}
		return same(t == k)
	case classBias:
		return same(t == k && isFloat || t == nn.TensorInt32 && !isFloat)
	case classScalar:
		if k == nn.TensorFloat16 {
			return same(t == nn.Float16)
		}
		return same(t == nn.Float32)
	case classAny:
		return same(t.Valid())
	case classCast:
		since, ok := a.Row.keySince(t)
		if from, _ := a.Row.keySince(k); ok && (from == V13 || since == V13) {
			return V13, t == k
		}
		return since, ok
	case classDelta:
		if k == nn.TensorQuant16Asymm {
			return same(t.IsQuant8())
		}
		return same(t == k)
	case classRegion:
		return same(t == k && isFloat || t == nn.TensorQuant16Asymm && !isFloat)
	case classAnchor:
		return same(t == k && isFloat || t == nn.TensorQuant16Symm && !isFloat)
	case classFill, classPad:
		switch k {
		case nn.TensorFloat32:
			return same(t == nn.Float32)
		case nn.TensorFloat16:
			return same(t == nn.Float16)
		}
		return same(t == nn.Int32)
	}
	return V10, false
}

// pos is the position of the named input, -1 when the form or the operation
// does not have it.
func (a *Args) pos(name string) int {
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

// In is the operand index of the named input, None when it is omitted.
func (a *Args) In(name string) uint32 {
	p := a.pos(name)
	if p < 0 {
		return None
	}
	x := a.Op.Inputs[p]
	if a.in[slotOf(p, a.varAt, a.varLen)].optional && a.View.omitted(x) {
		return None
	}
	return x
}

// Variadic returns the operand indexes of the input that repeats.
func (a *Args) Variadic() []uint32 {
	if a.varAt < 0 {
		return nil
	}
	return a.Op.Inputs[a.varAt : a.varAt+a.varLen]
}

// QuantSources are the inputs whose quantization the output of a SameQuant row
// has: the first input of the key type, all of them where it repeats.
func (a *Args) QuantSources() []uint32 {
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

// SlotName is the name of the i-th input.
func (a *Args) SlotName(i int) string { return a.in[slotOf(i, a.varAt, a.varLen)].name }

// steering are the TENSOR_INT32 inputs that say what an operation does; the
// others are what it works on.
var steering = map[string]bool{
	"axes": true, "axis": true, "begin": true, "end": true, "size": true, "strides": true, "shape": true, "dims": true,
	"perm": true, "paddings": true, "block_shape": true, "multiples": true, "output_shape": true,
	"traversal": true, "block_map": true, "format": true, "sizes": true,
}

// Parameter reports whether the value of input i decides what the operation
// does - its shapes, its loops, its constants - rather than being what it works
// on: scalars, and tensors of axes, sizes and places.
func (a *Args) Parameter(i int) bool {
	if a.View.Operands[a.Op.Inputs[i]].Type.IsScalar() {
		return true
	}
	s := &a.in[slotOf(i, a.varAt, a.varLen)]
	return s.class == classFixed && s.fixed == nn.TensorInt32 && steering[s.name]
}

// errorf prefixes an error with the operation and the named input.
func (a *Args) errorf(name, format string, args ...any) error {
	return fmt.Errorf("%s: %s: %w", a.Op.Type, name, fmt.Errorf(format, args...))
}

// Dims returns the dimensions of the named input.
func (a *Args) Dims(name string) ([]uint32, error) {
	d, err := a.View.Dims(a.In(name))
	if err != nil {
		return nil, a.errorf(name, "%w", err)
	}
	return d, nil
}

// data reads the value of the named input.
func (a *Args) data(name string, bytes int) ([]byte, error) {
	b, err := a.View.Data(a.In(name))
	if err != nil {
		return nil, a.errorf(name, "%w", err)
	}
	if bytes > 0 && len(b) < bytes {
		return nil, a.errorf(name, "%d bytes of data, %d needed", len(b), bytes)
	}
	return b, nil
}

// Int32 reads an INT32 scalar.
func (a *Args) Int32(name string) (int32, error) {
	b, err := a.data(name, 4)
	if err != nil {
		return 0, err
	}
	return int32(binary.LittleEndian.Uint32(b)), nil
}

// Int32Or reads an INT32 scalar, or returns def when the operation does not
// have the input.
func (a *Args) Int32Or(name string, def int32) (int32, error) {
	if !a.Has(name) {
		return def, nil
	}
	return a.Int32(name)
}

// BoolOr reads a BOOL scalar, or returns def when the operation does not have
// the input.
func (a *Args) BoolOr(name string, def bool) (bool, error) {
	if !a.Has(name) {
		return def, nil
	}
	b, err := a.data(name, 1)
	if err != nil {
		return false, err
	}
	return b[0] != 0, nil
}

// Float reads a FLOAT32 or FLOAT16 scalar.
func (a *Args) Float(name string) (float32, error) {
	b, err := a.data(name, 2)
	if err != nil {
		return 0, err
	}
	if len(b) < 4 {
		return Float16ToFloat32(binary.LittleEndian.Uint16(b)), nil
	}
	return math.Float32frombits(binary.LittleEndian.Uint32(b)), nil
}

// maxArgElements bounds tensors that steer an operation (axes, paddings).
const maxArgElements = 1 << 16

// Int32s reads a TENSOR_INT32 that steers the operation.
func (a *Args) Int32s(name string) ([]int32, error) {
	b, err := a.data(name, 0)
	if err != nil {
		return nil, err
	}
	if len(b) > 4*maxArgElements {
		return nil, a.errorf(name, "%d elements are too many", len(b)/4)
	}
	out := make([]int32, len(b)/4)
	for i := range out {
		out[i] = int32(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out, nil
}

// activation reads a fused activation code.
func (a *Args) activation() (nn.FusedActivation, error) {
	v, err := a.Int32("activation")
	if err != nil {
		return 0, err
	}
	if v < int32(nn.ActNone) || v > int32(nn.ActRelu6) {
		return 0, a.errorf("activation", "code %d is not 0 to 3", v)
	}
	return nn.FusedActivation(v), nil
}

// axis resolves an axis that may count from the back.
func axis(v int32, rank int) (int, error) {
	if v < -int32(rank) || v >= int32(rank) {
		return 0, fmt.Errorf("axis %d of a tensor of rank %d", v, rank)
	}
	if v < 0 {
		v += int32(rank)
	}
	return int(v), nil
}

// frontAxis resolves an axis that may not count from the back.
func frontAxis(v int32, rank int) (int, error) {
	if v < 0 {
		return 0, fmt.Errorf("axis %d is negative", v)
	}
	return axis(v, rank)
}

// sameDims reports whether two shapes are equal.
func sameDims(a, b []uint32) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
