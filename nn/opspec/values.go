package opspec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/x448/float16"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
)

// ErrUnknown marks an argument or a shape that is not known yet: a model input
// or a temporary where a constant is needed, or an unknown dimension. It may
// become known when the operation executes.
var ErrUnknown = errors.New("not known before execution")

// None is the index of an operand that an operation omits.
const None = ^uint32(0)

// View is a subgraph's operands at one moment. A view of a model knows only
// constants; while a model executes, a view may carry the values and final
// shapes of all operands.
type View struct {
	Operands []nn.Operand
	// Bound: dimensions are final (0 is an empty tensor, not an unknown size)
	// and Data holds the value of any operand.
	Bound bool
	// Final: dimensions are final, data is not there.
	Final bool
	// Table has the operations.
	Table *Table
}

// ModelView is the view of a subgraph before execution.
func ModelView(g *nn.Subgraph) View { return View{Operands: g.Operands} }

// ModelView is the view of a subgraph before execution.
func (t *Table) ModelView(g *nn.Subgraph) View { return View{Operands: g.Operands, Table: t} }

// Dims returns the dimensions of an operand. An unknown dimension or rank is
// ErrUnknown.
func (v View) Dims(i uint32) ([]uint32, error) {
	if uint64(i) >= uint64(len(v.Operands)) {
		return nil, fmt.Errorf("operand %d of %d does not exist", i, len(v.Operands))
	}
	o := &v.Operands[i]
	if !v.Bound && !o.Known() && !(v.Final && len(o.Dimensions) > 0) {
		return nil, fmt.Errorf("operand %d has shape %v: %w", i, o.Dimensions, ErrUnknown)
	}
	if o.Elements() < 0 {
		return nil, fmt.Errorf("operand %d has shape %v: too large", i, o.Dimensions)
	}
	return o.Dimensions, nil
}

// Data returns the bytes of an operand whose value is known, after checking
// their number against type and shape.
func (v View) Data(i uint32) ([]byte, error) {
	if uint64(i) >= uint64(len(v.Operands)) {
		return nil, fmt.Errorf("operand %d of %d does not exist", i, len(v.Operands))
	}
	o := &v.Operands[i]
	if !v.Bound && !o.IsConst() {
		return nil, fmt.Errorf("operand %d is %s: %w", i, o.Lifetime, ErrUnknown)
	}
	if _, err := v.Dims(i); err != nil && !o.Type.IsScalar() {
		return nil, err
	}
	want := int64(o.Type.ElementBytes())
	if !o.Type.IsScalar() {
		want = o.Bytes()
	}
	if int64(len(o.Data)) != want {
		return nil, fmt.Errorf("operand %d has %d bytes of data, %s %v has %d", i, len(o.Data), o.Type, o.Dimensions, want)
	}
	return o.Data, nil
}

// omitted reports whether an optional operand was left out: lifetime NO_VALUE
// or a value of no bytes.
func (v View) omitted(i uint32) bool {
	o := &v.Operands[i]
	return o.Lifetime == nn.NoValue || (len(o.Data) == 0 && (v.Bound || o.IsConst()))
}

// missing reports whether an operand that must have a value has none.
func (v View) missing(i uint32) bool {
	o := &v.Operands[i]
	return o.Lifetime == nn.NoValue || (o.IsConst() && len(o.Data) == 0 && o.Elements() != 0)
}

// elements is the number of elements of operand i, 0 when it is omitted.
func (v View) elements(i uint32) (int64, error) {
	if v.omitted(i) {
		return 0, nil
	}
	d, err := v.Dims(i)
	if err != nil {
		return 0, err
	}
	return nn.Elements(d), nil
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

// shaped is the shape of the named input, which must be want; -1 is any size.
func (a *Args) shaped(name string, want ...int) ([]uint32, error) {
	d := try.V(a.Dims(name))
	ok := len(d) == len(want)
	for i := 0; ok && i < len(d); i++ {
		ok = want[i] < 0 || int(d[i]) == want[i]
	}
	if !ok {
		return nil, a.errorf(name, "shape %v, %v needed", d, want)
	}
	return d, nil
}

// maybe is an optional operand of the given shape, nil when it is omitted.
func (a *Args) maybe(name string, shape ...int) (*nn.Operand, uint32, error) {
	i := a.In(name)
	if i == None {
		return nil, None, nil
	}
	try.V(a.shaped(name, shape...))
	return &a.View.Operands[i], i, nil
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

// standard is the default that the row gives the named scalar, if the operation ends
// before it.
func (a *Args) standard(name string) (v int32, ok bool) {
	for i := range a.in {
		if s := &a.in[i]; s.name == name && s.standard != nil && !a.Has(name) {
			return *s.standard, true
		}
	}
	return 0, false
}

// Int32 reads an INT32 scalar. One that the operation ends before has the default of its row.
func (a *Args) Int32(name string) (int32, error) {
	if v, ok := a.standard(name); ok {
		return v, nil
	}
	b, err := a.data(name, 4)
	if err != nil {
		return 0, err
	}
	return int32(binary.LittleEndian.Uint32(b)), nil
}

// Bool reads a BOOL scalar. One that the operation ends before has the default of its row.
func (a *Args) Bool(name string) (bool, error) {
	if v, ok := a.standard(name); ok {
		return v != 0, nil
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
		return float16.Frombits(binary.LittleEndian.Uint16(b)).Float32(), nil
	}
	return math.Float32frombits(binary.LittleEndian.Uint32(b)), nil
}

// scalar is where the value of a named scalar goes: a *bool, *int32 or *float32.
type scalar struct {
	name string
	to   any
}

// scalars reads several scalars.
func (a *Args) scalars(list ...scalar) error {
	for _, s := range list {
		var err error
		switch to := s.to.(type) {
		case *bool:
			*to, err = a.Bool(s.name)
		case *int32:
			*to, err = a.Int32(s.name)
		case *float32:
			*to, err = a.Float(s.name)
		default:
			panic(fmt.Sprintf("opspec: %s goes to a %T", s.name, to)) // of a reader of this package
		}
		if err != nil {
			return err
		}
	}
	return nil
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
	v := try.V(a.Int32("activation"))
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

// Element is the first element of b as a number without quantization; a
// boolean is 0 or 1.
func Element(t nn.OperandType, b []byte) float64 {
	switch t {
	case nn.TensorFloat32, nn.Float32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case nn.TensorFloat16, nn.Float16:
		return float64(float16.Frombits(binary.LittleEndian.Uint16(b)).Float32())
	case nn.TensorInt32, nn.Int32:
		return float64(int32(binary.LittleEndian.Uint32(b)))
	case nn.Uint32:
		return float64(binary.LittleEndian.Uint32(b))
	case nn.TensorQuant8Asymm:
		return float64(b[0])
	case nn.TensorQuant16Asymm:
		return float64(binary.LittleEndian.Uint16(b))
	case nn.TensorQuant16Symm:
		return float64(int16(binary.LittleEndian.Uint16(b)))
	case nn.TensorBool8, nn.Bool:
		if b[0] != 0 {
			return 1
		}
		return 0
	}
	if t.IsCode() {
		return float64(b[0])
	}
	return float64(int8(b[0]))
}

// ScalarText is the value of a constant scalar as a person reads it, "?" where its data do not fit its type.
func ScalarText(o *nn.Operand) string {
	b := o.Data
	switch {
	case len(b) != o.Type.ElementBytes():
		return "?"
	case o.Type == nn.Float32:
		return fmt.Sprint(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case o.Type == nn.Int32:
		return fmt.Sprint(int32(binary.LittleEndian.Uint32(b)))
	case o.Type == nn.Uint32:
		return fmt.Sprint(binary.LittleEndian.Uint32(b))
	case o.Type == nn.Float16:
		return fmt.Sprint(float16.Frombits(binary.LittleEndian.Uint16(b)).Float32())
	case o.Type == nn.Bool:
		return fmt.Sprint(b[0] != 0)
	}
	return "?"
}
