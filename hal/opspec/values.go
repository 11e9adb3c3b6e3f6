package opspec

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
)

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
	d, err := a.Dims(name)
	if err != nil {
		return nil, err
	}
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
	if _, err := a.shaped(name, shape...); err != nil {
		return nil, None, err
	}
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
		return Float16ToFloat32(binary.LittleEndian.Uint16(b)), nil
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
