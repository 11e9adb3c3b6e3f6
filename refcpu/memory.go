package refcpu

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// alignedBytes allocates n bytes at an address that is a multiple of 64.
func alignedBytes(n int) []byte {
	b := make([]byte, n+63)
	off := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & 63)
	return b[off : off+n : off+n]
}

// view reinterprets aligned little-endian bytes. All targets of the project
// are little-endian.
func view[T int32 | float32](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}

// alignConstants copies constants to aligned storage with slack behind them.
func alignConstants(g *nn.Subgraph) {
	for i := range g.Operands {
		alignConstant(&g.Operands[i])
	}
}

func alignConstant(o *nn.Operand) {
	if o.IsConst() && len(o.Data) > 0 {
		b := alignedBytes(len(o.Data) + slack)
		copy(b, o.Data)
		o.Data = b[:len(o.Data)]
	}
}

// arena hands out scratch memory until it is reset.
type arena struct {
	mem  []byte
	used int
}

func (a *arena) reset() { a.used = 0 }

// bytes returns n bytes of scratch, aligned to 64, with slack behind them. The
// contents are arbitrary.
func (a *arena) bytes(n int) []byte {
	size := (n + slack + 63) &^ 63
	if a.used+size > len(a.mem) {
		a.mem = alignedBytes(max(2*len(a.mem), size))
		a.used = 0
	}
	b := a.mem[a.used : a.used+size]
	a.used += size
	return b[: n+slack : size][:n]
}

func (a *arena) floats(n int) []float32 { return view[float32](a.bytes(4 * n)) }
func (a *arena) ints(n int) []int32     { return view[int32](a.bytes(4 * n)) }

// floats is the value of a float operand as float32: the buffer itself, or for
// TENSOR_FLOAT16 a widened copy in a.
func (x *Run) floats(i uint32, a *arena) []float32 {
	o := &x.view.Operands[i]
	if o.Type == nn.TensorFloat32 {
		return view[float32](x.Bytes(i))
	}
	b := x.Bytes(i)
	f := a.floats(len(b) / 2)
	for k := range f {
		f[k] = opspec.Float16ToFloat32(binary.LittleEndian.Uint16(b[2*k:]))
	}
	return f
}

// floatsOut is where to write a float output; done puts it into the operand.
func (x *Run) floatsOut(i uint32, a *arena) (f []float32, done func()) {
	o := &x.view.Operands[i]
	b := x.Bytes(i)
	if o.Type == nn.TensorFloat32 {
		return view[float32](b), func() {}
	}
	f = a.floats(len(b) / 2)
	return f, func() {
		for k, v := range f {
			binary.LittleEndian.PutUint16(b[2*k:], opspec.Float32ToFloat16(v))
		}
	}
}

// int32s is the value of a TENSOR_INT32 operand.
func (x *Run) int32s(i uint32) []int32 { return view[int32](x.Bytes(i)) }

// quantOf reads 8-bit quantized elements as int32 regardless of signedness.
func quantOf(t nn.OperandType, b byte) int32 {
	if t == nn.TensorQuant8Asymm {
		return int32(b)
	}
	return int32(int8(b))
}

// flipOf is the bit to flip so that an 8-bit quantized type becomes unsigned
// with its zero point 128 higher.
func flipOf(t nn.OperandType) byte {
	if t == nn.TensorQuant8Asymm {
		return 0
	}
	return 0x80
}

// isFloat reports a float tensor type.
func isFloat(t nn.OperandType) bool { return t == nn.TensorFloat32 || t == nn.TensorFloat16 }

// errType is the error for a type that validation should have refused.
func errType(op nn.OperationType, t nn.OperandType) error {
	return fmt.Errorf("%s: type %s is not supported", op, t)
}

// clampF clamps like the reference: NaN stays NaN.
func clampF(v, lo, hi float32) float32 {
	if v < lo {
		return lo
	}
	if v > hi {
		return hi
	}
	return v
}

var inf32 = float32(math.Inf(1))
