package opspec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/x448/float16"
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

// FinalView is the view of a subgraph whose inputs have their final shapes: a
// dimension of 0 is an empty tensor.
func FinalView(g *nn.Subgraph) View { return View{Operands: g.Operands, Final: true} }

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
// that there are as many as type and shape say.
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

// Element is the first element of b as a number without quantization; a
// boolean is 0 or 1.
func Element(t nn.OperandType, b []byte) float64 {
	switch t {
	case nn.TensorFloat32, nn.Float32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case nn.TensorFloat16, nn.Float16:
		return float64(Float16ToFloat32(binary.LittleEndian.Uint16(b)))
	case nn.TensorInt32, nn.Int32:
		return float64(int32(binary.LittleEndian.Uint32(b)))
	case nn.Uint32:
		return float64(binary.LittleEndian.Uint32(b))
	case nn.TensorQuant8Asymm, nn.TensorQuant8Codebook:
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
	return float64(int8(b[0]))
}

// Float16ToFloat32 widens an IEEE 754 binary16 value given as its bits.
func Float16ToFloat32(bits uint16) float32 { return float16.Frombits(bits).Float32() }

// Float32ToFloat16 rounds to binary16, half to even, and returns the bits.
func Float32ToFloat16(v float32) uint16 { return float16.Fromfloat32(v).Bits() }
