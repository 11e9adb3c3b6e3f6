package elementwise

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Op is a function.
type Op uint8

// The functions. Lo and Hi bound the result of those of two tensors and of Clamp.
const (
	Copy Op = iota // changes the element
	Add
	Sub
	Mul
	Div
	Max
	Min
	Prelu // x where it is positive, else x*y
	Clamp
	Logistic
	Tanh
	Abs
	Neg
	Floor
	Sqrt
	Rsqrt
	Log
	HardSwish
	Quantize      // round half away from zero, to bytes
	Dequantize    // of unsigned bytes
	DequantizeInt // of signed bytes
	Lookup        // a byte's entry of the table
	numOps
)

// emitter emits a function of stored elements: float32, or bytes as they are loaded.
type emitter func(a *rdna.Builder, k *Key, x []codegen.Reg) codegen.Reg

// functions has a row per function: its name in listings, how many tensors it takes,
// about how many instructions an element takes, and its code.
var functions = [numOps]struct {
	name   string
	inputs int
	cost   int
	emit   emitter
}{
	Copy:      {"convert", 1, 0, func(_ *rdna.Builder, _ *Key, x []codegen.Reg) codegen.Reg { return x[0] }},
	Add:       {"add", 2, 1, binary(rdna2.V_ADD_F32_E32)},
	Sub:       {"sub", 2, 1, binary(rdna2.V_SUB_F32_E32)},
	Mul:       {"mul", 2, 1, binary(rdna2.V_MUL_F32_E32)},
	Max:       {"maximum", 2, 1, binary(rdna2.V_MAX_F32_E32)},
	Min:       {"minimum", 2, 1, binary(rdna2.V_MIN_F32_E32)},
	Div:       {"div", 2, 7, clamped((*rdna.Builder).Divide)},
	Prelu:     {"prelu", 2, 3, clamped(prelu)},
	Clamp:     {"clamp", 1, 2, func(a *rdna.Builder, k *Key, x []codegen.Reg) codegen.Reg { return a.Clamp(x[0], k.Lo, k.Hi) }},
	Logistic:  {"logistic", 1, 10, func(a *rdna.Builder, _ *Key, x []codegen.Reg) codegen.Reg { return a.Logistic(x[0], -math.Log2E) }},
	Tanh:      {"tanh", 1, 11, tanh},
	Abs:       {"abs", 1, 1, unary(rdna2.V_MAX_F32_E64, rdna2.Mods{Neg: 2})}, // max(x, -x)
	Neg:       {"neg", 1, 1, unary(rdna2.V_MUL_F32_E64, rdna2.Mods{}, float32(-1))},
	Floor:     {"floor", 1, 1, unary(rdna2.V_FLOOR_F32_E32, rdna2.Mods{})},
	Sqrt:      {"sqrt", 1, 4, unary(rdna2.V_SQRT_F32_E32, rdna2.Mods{})},
	Rsqrt:     {"rsqrt", 1, 4, unary(rdna2.V_RSQ_F32_E32, rdna2.Mods{})},
	Log:       {"log", 1, 5, logarithm},
	HardSwish: {"hard_swish", 1, 5, hardSwish},

	Quantize:      {"quantize", 1, 15, quantize},
	Dequantize:    {"dequantize", 1, 3, dequantize(rdna2.V_CVT_F32_UBYTE0_E32)},
	DequantizeInt: {"dequantize", 1, 3, dequantize(rdna2.V_CVT_F32_I32_E32)},
	Lookup:        {"requantize", 1, 2, lookup},
}

func prelu(a *rdna.Builder, x, y codegen.Reg) codegen.Reg {
	m := a.S("negative")
	a.Emit(rdna2.V_CMP_GT_F32_E64, m, 0, x)
	return a.Op3(rdna2.V_CNDMASK_B32_E64, a.V("y"), x, a.Op2(rdna2.V_MUL_F32_E32, a.V("slope"), x, y), m)
}

// tanh is 2*logistic(2x) - 1.
func tanh(a *rdna.Builder, _ *Key, x []codegen.Reg) codegen.Reg {
	return a.Op3(rdna2.V_FMA_F32, a.V("y"), float32(2), a.Logistic(x[0], -2*math.Log2E), float32(-1))
}

func logarithm(a *rdna.Builder, _ *Key, x []codegen.Reg) codegen.Reg {
	return a.Op2(rdna2.V_MUL_F32_E32, a.V("y"), float32(math.Ln2), a.Op1(rdna2.V_LOG_F32_E32, a.V("log2"), x[0]))
}

// hardSwish is x * min(max(x + 3, 0), 6) / 6.
func hardSwish(a *rdna.Builder, _ *Key, x []codegen.Reg) codegen.Reg {
	t := a.Clamp(a.Op2(rdna2.V_ADD_F32_E32, a.V("shifted"), float32(3), x[0]), 0, 6)
	t = a.Op2(rdna2.V_MUL_F32_E32, a.V("sixth"), float32(1.0/6), t)
	return a.Op2(rdna2.V_MUL_F32_E32, a.V("y"), x[0], t)
}

// quantize rounds half away from zero: it adds a half of the same sign and truncates.
func quantize(a *rdna.Builder, k *Key, x []codegen.Reg) codegen.Reg {
	q := a.Divide(x[0], a.Op1(rdna2.V_MOV_B32_E32, a.V("scale"), k.Scale))
	sign := a.Op1(rdna2.S_MOV_B32, a.S("sign"), uint32(1)<<31)
	h := a.Op3(rdna2.V_AND_OR_B32, a.V("half"), q, sign, float32(0.5))
	t := a.Op1(rdna2.V_TRUNC_F32_E32, a.V("rounded"), a.Op2(rdna2.V_ADD_F32_E32, a.V("sum"), q, h))
	t = a.Op2(rdna2.V_ADD_F32_E32, a.V("shifted"), float32(k.Zero), t)
	t = a.Clamp(t, k.Lo, k.Hi)
	return a.Op1(rdna2.V_CVT_I32_F32_E32, a.V("integer"), t)
}

func dequantize(convert rdna2.Op) emitter {
	return func(a *rdna.Builder, k *Key, x []codegen.Reg) codegen.Reg {
		v := a.Op1(convert, a.V("value"), x[0])
		v = a.Op2(rdna2.V_SUBREV_F32_E32, a.V("centred"), float32(k.Zero), v)
		return a.Op2(rdna2.V_MUL_F32_E32, a.V("real"), k.Scale, v)
	}
}

// lookup masks the index, because a signed byte is sign-extended.
func lookup(a *rdna.Builder, k *Key, x []codegen.Reg) codegen.Reg {
	index := a.Op2(rdna2.V_AND_B32_E32, a.V("index"), 255, x[0])
	return a.Load(layout.U8, a.Pointer(layout.Consts, k.Table, "table"), index, 0, "entry")
}
