package elementwise

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Op is a function by its name: that of the operation of NNAPI, with _i32 for integers and _q for quantized
// elements, or one of these.
type Op string

// The functions that operations are not named after.
const (
	Copy     Op = "convert" // changes the element
	Clamp    Op = "clamp"
	ClampInt Op = "clamp_i32" // Fixed.Lo and Fixed.Hi
	Truth    Op = "truth"     // 1 of what is not 0
	Float    Op = "float"     // of an integer
	Integer  Op = "integer"   // truncates a float and saturates; 0 of what is not a number
	Lookup   Op = "lookup"    // a byte's entry of the table
)

// emitter emits a function of numbers: float32, or int32.
type emitter func(a *rdna.Builder, k *Function, x []codegen.Reg) codegen.Reg

// functions are the codes. Lo and Hi bound the result of functions of two floats.
var functions = map[Op]emitter{
	Copy:            func(_ *rdna.Builder, _ *Function, x []codegen.Reg) codegen.Reg { return x[0] },
	"add":           clamped(binary(rdna2.V_ADD_F32_E32)),
	"sub":           clamped(binary(rdna2.V_SUB_F32_E32)),
	"mul":           clamped(binary(rdna2.V_MUL_F32_E32)),
	"maximum":       clamped(extreme(rdna2.V_MAX_F32_E32)),
	"minimum":       clamped(extreme(rdna2.V_MIN_F32_E32)),
	"div":           clamped(func(a *rdna.Builder, _ *Function, x []codegen.Reg) codegen.Reg { return a.Quotient(x[0], x[1]) }),
	"pow":           clamped(power),
	"prelu":         clamped(prelu),
	Clamp:           clamped(func(_ *rdna.Builder, _ *Function, x []codegen.Reg) codegen.Reg { return x[0] }),
	"logistic":      func(a *rdna.Builder, _ *Function, x []codegen.Reg) codegen.Reg { return a.Logistic(x[0], -math.Log2E) },
	"tanh":          func(a *rdna.Builder, _ *Function, x []codegen.Reg) codegen.Reg { return a.Tanh(x[0]) },
	"abs":           unary(rdna2.V_AND_B32_E32, uint32(math.MaxInt32)),
	"neg":           unary(rdna2.V_XOR_B32_E32, uint32(1)<<31),
	"floor":         unary(rdna2.V_FLOOR_F32_E32),
	"sqrt":          unary(rdna2.V_SQRT_F32_E32),
	"rsqrt":         unary(rdna2.V_RSQ_F32_E32),
	"exp":           func(a *rdna.Builder, _ *Function, x []codegen.Reg) codegen.Reg { return a.Exp(x[0]) },
	"log":           logarithm,
	"sin":           sine,
	"elu":           elu,
	"hard_swish":    hardSwish,
	"equal":         compare(rdna2.V_CMP_EQ_F32_E64),
	"not_equal":     compare(rdna2.V_CMP_NEQ_F32_E64),
	"less":          compare(rdna2.V_CMP_LT_F32_E64),
	"less_equal":    compare(rdna2.V_CMP_LE_F32_E64),
	"greater":       compare(rdna2.V_CMP_GT_F32_E64),
	"greater_equal": compare(rdna2.V_CMP_GE_F32_E64),

	"add_i32":     binary(rdna2.V_ADD_NC_U32_E32),
	"sub_i32":     binary(rdna2.V_SUB_NC_U32_E32),
	"mul_i32":     binary(rdna2.V_MUL_LO_U32),
	"div_i32":     divideInt,
	"maximum_i32": binary(rdna2.V_MAX_I32_E32),
	"minimum_i32": binary(rdna2.V_MIN_I32_E32),
	"abs_i32": func(a *rdna.Builder, _ *Function, x []codegen.Reg) codegen.Reg {
		return a.Greatest(x[0], a.Less(0, x[0]))
	},
	"neg_i32": func(a *rdna.Builder, _ *Function, x []codegen.Reg) codegen.Reg { return a.Less(0, x[0]) },
	ClampInt: func(a *rdna.Builder, k *Function, x []codegen.Reg) codegen.Reg {
		return a.Saturate(x[0], 0, k.Fixed.Lo, k.Fixed.Hi)
	},
	"equal_i32":         compare(rdna2.V_CMP_EQ_I32_E64),
	"not_equal_i32":     compare(rdna2.V_CMP_NE_I32_E64),
	"less_i32":          compare(rdna2.V_CMP_LT_I32_E64),
	"less_equal_i32":    compare(rdna2.V_CMP_LE_I32_E64),
	"greater_i32":       compare(rdna2.V_CMP_GT_I32_E64),
	"greater_equal_i32": compare(rdna2.V_CMP_GE_I32_E64),
	"logical_and":       logical(rdna2.V_AND_B32_E32),
	"logical_or":        logical(rdna2.V_OR_B32_E32),
	"logical_not": func(a *rdna.Builder, _ *Function, x []codegen.Reg) codegen.Reg {
		return flag(a, rdna2.V_CMP_EQ_U32_E64, 0, x[0])
	},
	Truth:     func(a *rdna.Builder, _ *Function, x []codegen.Reg) codegen.Reg { return truth(a, x[0]) },
	"select":  choose,
	"add_q":   fixedAdd(rdna2.V_ADD_NC_U32_E32),
	"sub_q":   fixedAdd(rdna2.V_SUB_NC_U32_E32),
	"mul_q":   fixedMul,
	"prelu_q": fixedPrelu,

	"quantize":   quantize,
	"dequantize": dequantize,
	Float:        unary(rdna2.V_CVT_F32_I32_E32),
	Integer: func(a *rdna.Builder, k *Function, x []codegen.Reg) codegen.Reg {
		return a.Saturate(a.ToInt(x[0]), 0, k.Fixed.Lo, k.Fixed.Hi)
	},
	Lookup: lookup,
}

// clamped bounds the result of a function of two floats.
func clamped(f emitter) emitter {
	return func(a *rdna.Builder, k *Function, x []codegen.Reg) codegen.Reg {
		return a.Clamp(f(a, k, x), k.Lo, k.Hi)
	}
}

// binary is an instruction of two sources.
func binary(op rdna2.Op) emitter {
	return func(a *rdna.Builder, _ *Function, x []codegen.Reg) codegen.Reg {
		return a.Op2(op, a.V("y"), x[0], x[1])
	}
}

// unary is an instruction on x, behind a constant when it has two sources.
func unary(op rdna2.Op, constant ...any) emitter {
	return func(a *rdna.Builder, _ *Function, x []codegen.Reg) codegen.Reg {
		d := a.V("y")
		a.Emit(op, append(append([]any{d}, constant...), x[0])...)
		return d
	}
}

// extreme is the greater or lesser of two floats.
func extreme(op rdna2.Op) emitter {
	return func(a *rdna.Builder, _ *Function, x []codegen.Reg) codegen.Reg { return a.Extreme(op, x[0], x[1]) }
}

// flag is 1 where a comparison holds, else 0.
func flag(a *rdna.Builder, op rdna2.Op, x, y any) codegen.Reg {
	return a.Choose(0, 1, a.Where(op, x, y))
}

func truth(a *rdna.Builder, x codegen.Reg) codegen.Reg { return flag(a, rdna2.V_CMP_NE_U32_E64, 0, x) }

func compare(op rdna2.Op) emitter {
	return func(a *rdna.Builder, _ *Function, x []codegen.Reg) codegen.Reg { return flag(a, op, x[0], x[1]) }
}

func logical(op rdna2.Op) emitter {
	return func(a *rdna.Builder, _ *Function, x []codegen.Reg) codegen.Reg {
		return a.Op2(op, a.V("y"), truth(a, x[0]), truth(a, x[1]))
	}
}

func choose(a *rdna.Builder, _ *Function, x []codegen.Reg) codegen.Reg {
	return a.Choose(x[2], x[1], a.Where(rdna2.V_CMP_NE_U32_E64, 0, x[0]))
}

// power is x^y = 2^(y * log2 |x|), negative where x is negative and y odd, not a number
// where x is negative and y no integer. 1^y and x^0 are 1.
func power(a *rdna.Builder, _ *Function, x []codegen.Reg) codegen.Reg {
	base, y := x[0], x[1]
	size := a.Op2(rdna2.V_AND_B32_E32, a.V("size"), uint32(math.MaxInt32), base)
	p := a.Exp2(a.TimesLog2(y, size))
	whole := a.Op1(rdna2.V_TRUNC_F32_E32, a.V("whole"), y)
	half := a.Op2(rdna2.V_MUL_F32_E32, a.V("half"), float32(0.5), y)
	even := a.Op1(rdna2.V_TRUNC_F32_E32, a.V("even"), half)
	odd, fraction := a.Where(rdna2.V_CMP_LG_F32_E64, even, half), a.Where(rdna2.V_CMP_LG_F32_E64, whole, y)
	odd = a.Both(odd, a.Where(rdna2.V_CMP_GT_I32_E64, 0, base))
	p = a.Choose(p, a.Op2(rdna2.V_XOR_B32_E32, a.V("negated"), uint32(1)<<31, p), odd)
	fraction = a.Both(fraction, a.Where(rdna2.V_CMP_GT_F32_E64, 0, base))
	p = a.Choose(p, a.Constant(uint32(0x7fc00000)), fraction)
	p = a.Choose(p, a.Constant(float32(1)), a.Where(rdna2.V_CMP_EQ_F32_E64, 0, y))
	return a.Choose(p, a.Constant(float32(1)), a.Where(rdna2.V_CMP_EQ_F32_E64, float32(1), base))
}

func prelu(a *rdna.Builder, _ *Function, x []codegen.Reg) codegen.Reg {
	m := a.Where(rdna2.V_CMP_LE_F32_E64, 0, x[0])
	return a.Choose(a.MulF(x[0], x[1]), x[0], m)
}

func logarithm(a *rdna.Builder, _ *Function, x []codegen.Reg) codegen.Reg {
	return a.MulF(float32(math.Ln2), a.Op1(rdna2.V_LOG_F32_E32, a.V("log2"), x[0]))
}

// turnBits are 1/(2 pi) in pieces of 28 bits, whose products with a float are exact doubles: as many as leave
// 40 bits of a turn of the largest float.
var turnBits = [...]uint32{0x28be60d, 0xb939105, 0x4a7f09d, 0x5f47d4d, 0x377036d, 0x8a5664f}

// reduceTurns is the fraction of a turn of any number, by the method of Payne and Hanek: the fractions of its products with the pieces, added.
func reduceTurns(a *rdna.Builder, x codegen.Reg) codegen.Reg {
	wide, sum := a.ToDouble(x), a.Double(0)
	for i, bits := range turnBits {
		sum = a.AddD(sum, a.FractionD(a.MulD(wide, a.Double(math.Ldexp(float64(bits), -28*(i+1))))))
	}
	return a.Op1(rdna2.V_CVT_F32_F64_E32, a.V("far turns"), a.FractionD(sum))
}

// sine reduces the argument by whole turns, the unit of v_sin_f32. The two factors are too short
// for large arguments, which use reduceTurns.
func sine(a *rdna.Builder, _ *Function, x []codegen.Reg) codegen.Reg {
	const turn = 2 * math.Pi
	hi := float32(1 / turn)
	n := a.Op1(rdna2.V_RNDNE_F32_E32, a.V("whole turns"), a.MulF(hi, x[0]))
	// x/turn - n with what the factor and the product lost.
	rest := a.V("rest")
	factor := a.Constant(hi)
	rdna2.Mods{Neg: 4}.With(a.Emit(rdna2.V_FMA_F32, rest, factor, x[0], n))
	r := a.Op3(rdna2.V_FMA_F32, a.V("rest"), a.Constant(float32(1/turn-float64(hi))), x[0], rest)
	const near = 0x1p24
	far := a.S("far")
	rdna2.Mods{Abs: 2}.With(a.Emit(rdna2.V_CMP_LT_F32_E64, far, float32(near), x[0]))
	a.Rarely(far, func() { a.Set(r, a.Choose(r, reduceTurns(a, x[0]), far)) })
	return a.Op1(rdna2.V_SIN_F32_E32, a.V("y"), r)
}

// elu is x, or alpha * (e^x - 1) below 0, where near 0 a polynomial replaces
// the difference.
func elu(a *rdna.Builder, k *Function, x []codegen.Reg) codegen.Reg {
	far := a.AddF(float32(-1), a.Exp(x[0]))
	near := a.Constant(float32(1. / 120))
	for _, c := range []float32{1. / 24, 1. / 6, 0.5, 1} {
		near = a.Op3(rdna2.V_FMA_F32, a.V("near"), near, x[0], a.Constant(c))
	}
	near = a.MulF(x[0], near)
	y := a.MulF(k.Scale, a.Choose(far, near, a.Where(rdna2.V_CMP_LT_F32_E64, float32(-0.125), x[0])))
	return a.Choose(y, x[0], a.Where(rdna2.V_CMP_LE_F32_E64, 0, x[0]))
}

// hardSwish is x * min(max(x + 3, 0), 6) / 6.
func hardSwish(a *rdna.Builder, _ *Function, x []codegen.Reg) codegen.Reg {
	return a.MulF(x[0], a.MulF(float32(1.0/6), a.Clamp(a.AddF(float32(3), x[0]), 0, 6)))
}

// divideInt is the floor of x / y, 0 where y is 0.
func divideInt(a *rdna.Builder, _ *Function, x []codegen.Reg) codegen.Reg {
	zero := a.Where(rdna2.V_CMP_EQ_U32_E64, 0, x[1])
	return a.Choose(a.FloorDivide(x[0], x[1]), 0, zero)
}

func fixedAdd(op rdna2.Op) emitter {
	return func(a *rdna.Builder, k *Function, x []codegen.Reg) codegen.Reg {
		q := &k.Fixed
		u := a.Rescale(a.ShiftLeft(a.Centre(x[0], q.ZeroA), q.Shift, "term"), q.A)
		v := a.Rescale(a.ShiftLeft(a.Centre(x[1], q.ZeroB), q.Shift, "term"), q.B)
		return a.Saturate(a.Rescale(a.Op2(op, a.V("sum"), u, v), q.Out), q.OutZero, q.Lo, q.Hi)
	}
}

func fixedMul(a *rdna.Builder, k *Function, x []codegen.Reg) codegen.Reg {
	q := &k.Fixed
	p := a.Op2(rdna2.V_MUL_I32_I24_E32, a.V("product"), a.Centre(x[0], q.ZeroA), a.Centre(x[1], q.ZeroB))
	return a.Saturate(a.Rescale(p, q.Out), q.OutZero, q.Lo, q.Hi)
}

// fixedPrelu applies A to positive inputs and B to products with the slope.
func fixedPrelu(a *rdna.Builder, k *Function, x []codegen.Reg) codegen.Reg {
	q := &k.Fixed
	v := a.Centre(x[0], q.ZeroA)
	p := a.Op2(rdna2.V_MUL_I32_I24_E32, a.V("product"), v, a.Centre(x[1], q.ZeroB))
	m := a.Where(rdna2.V_CMP_GT_I32_E64, 0, v)
	return a.Saturate(a.Choose(a.Rescale(v, q.A), a.Rescale(p, q.B), m), q.OutZero, q.Lo, q.Hi)
}

// quantize rounds half away from zero and saturates; what is not a number gives the least value.
func quantize(a *rdna.Builder, k *Function, x []codegen.Reg) codegen.Reg {
	t := a.AddF(float32(k.Zero), a.RoundHalfAway(a.Quotient(x[0], a.Constant(k.Scale))))
	return a.ToInt(a.MinF(a.MaxF(t, k.Lo), k.Hi))
}

func dequantize(a *rdna.Builder, k *Function, x []codegen.Reg) codegen.Reg {
	return a.MulF(k.Scale, a.ToFloat(a.Centre(x[0], k.Zero)))
}

// lookup masks the index, because a signed byte is sign-extended.
func lookup(a *rdna.Builder, k *Function, x []codegen.Reg) codegen.Reg {
	index := a.Op2(rdna2.V_AND_B32_E32, a.V("index"), 255, x[0])
	return a.Load(layout.U8, a.Pointer(layout.Consts, k.Table, "table"), index, 0, "entry")
}
