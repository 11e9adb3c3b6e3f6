package lowering

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// Aligned are the operands of a broadcasting operation. NNAPI aligns shapes as
// the foreign formats do, but merges the first of more than four dimensions.
func (g *Graph) Aligned(a, b uint32) (uint32, uint32) {
	if len(g.Shape[a]) <= 4 && len(g.Shape[b]) <= 4 {
		return a, b
	}
	da, db := g.Dims(a), g.Dims(b)
	if slices.Equal(da, db) || nn.Elements(da) == 1 || nn.Elements(db) == 1 {
		return a, b
	}
	all := g.Broadcast(da, db)
	return g.BroadcastTo(a, all), g.BroadcastTo(b, all)
}

// FloorDiv is floor(a / b).
func (g *Graph) FloorDiv(a, b uint32) uint32 {
	a, b = g.Aligned(a, b)
	q := g.Binary(nn.OpDiv, a, b)
	if g.Operand(a).Type != nn.TensorInt32 {
		q = g.Unary(nn.OpFloor, q)
	}
	return q
}

// NoValue is an omitted optional operand of a type.
func (g *Graph) NoValue(t nn.OperandType) uint32 {
	o := nn.Operand{Type: t, Lifetime: nn.NoValue}
	if t == nn.TensorQuant8Symm || t == nn.TensorQuant16Symm {
		o.Scale = 1
	}
	return g.Add(o)
}

// ScalarLike is a FLOAT32 or FLOAT16 scalar, as the type of x requires.
func (g *Graph) ScalarLike(x uint32, v float32) uint32 {
	if g.Operand(x).Type == nn.TensorFloat16 {
		return g.Constant(nn.Operand{Type: nn.Float16, Data: binary.LittleEndian.AppendUint16(nil, Half(v))})
	}
	return g.Constant(nn.Operand{Type: nn.Float32, Data: binary.LittleEndian.AppendUint32(nil, math.Float32bits(v))})
}

// TruncDiv of integers rounds towards zero, NNAPI's DIV rounds down: it divides absolute values and restores the sign.
func (g *Graph) TruncDiv(a, b uint32) uint32 {
	a, b = g.Aligned(a, b)
	size := g.Binary(nn.OpDiv, g.Unary(nn.OpAbs, a), g.Unary(nn.OpAbs, b))
	return g.Binary(nn.OpMul, size, g.Binary(nn.OpMul, g.Sign(a), g.Sign(b)))
}

// Cos is sin(pi / 2 - |x|) up to 4, with pi / 2 in two parts, so that zeros are where they belong, and beyond it
// 1 - 2 sin(x / 2)^2, whose argument is exact however great x is.
func (g *Graph) Cos(x uint32) uint32 {
	z := g.Unary(nn.OpAbs, x)
	high := float32(math.Pi / 2)
	low := float32(math.Pi/2 - float64(high))
	near := g.Unary(nn.OpSin, g.Binary(nn.OpAdd, g.Binary(nn.OpSub, g.Like(x, high), z), g.Like(x, low)))
	half := g.Unary(nn.OpSin, g.Binary(nn.OpMul, x, g.Like(x, 0.5)))
	far := g.Binary(nn.OpSub, g.Like(x, 1), g.Binary(nn.OpMul, g.Binary(nn.OpMul, half, half), g.Like(x, 2)))
	y := g.Emit(nn.OpSelect, nn.Operand{Type: g.Operand(x).Type}, g.Compare(nn.OpLess, z, g.Like(x, 4)), near, far)
	g.ShapeLike(y, x)
	return y
}

// Ceil is -floor(-x).
func (g *Graph) Ceil(x uint32) uint32 {
	return g.Unary(nn.OpNeg, g.Unary(nn.OpFloor, g.Unary(nn.OpNeg, x)))
}

// RoundEven rounds halves to the even neighbour: floor(x), and one more where the rest is
// above a half, or a half and floor(x) odd.
func (g *Graph) RoundEven(x uint32) uint32 {
	low := g.Unary(nn.OpFloor, x)
	rest := g.Binary(nn.OpSub, x, low)
	half := g.Like(x, 0.5)
	even := g.Binary(nn.OpMul, g.Unary(nn.OpFloor, g.Binary(nn.OpMul, low, half)), g.Like(x, 2))
	tie := g.Compare(nn.OpLogicalAnd, g.Compare(nn.OpEqual, rest, half), g.Compare(nn.OpNotEqual, low, even))
	up := g.Compare(nn.OpLogicalOr, tie, g.Compare(nn.OpGreater, rest, half))
	return g.Binary(nn.OpAdd, low, g.As(up, g.Operand(x).Type))
}

// RoundSteps is x / scale rounded to integers, halves to the even neighbour, in float32, which has no fractions above
// 2^23: a sum with 1.5 * 2^23 is rounded by the addition itself.
//
//	round(t) = (t + 1.5*2^23) - 1.5*2^23,  |t| <= 2^22
//
// Greater quotients stay greater than all integers of 16 bits.
func (g *Graph) RoundSteps(x, scale uint32) uint32 {
	return g.roundAdding(g.As(g.Binary(nn.OpDiv, x, scale), nn.TensorFloat32), 1)
}

// RoundToMultiple is x rounded to the nearest multiple of scale, halves to the even multiple. A power of two divides
// no mantissa, so that the sum with 1.5 * 2^23 * scale does it alone.
func (g *Graph) RoundToMultiple(x uint32, scale float32) uint32 {
	if fraction, exponent := math.Frexp(float64(scale)); fraction == 0.5 && exponent > -100 && exponent < 100 {
		return g.roundAdding(g.As(x, nn.TensorFloat32), scale)
	}
	return g.Binary(nn.OpMul, g.RoundSteps(x, g.Like(x, scale)), g.Real(scale))
}

// roundAdding rounds to multiples of a power of two.
func (g *Graph) roundAdding(x uint32, step float32) uint32 {
	whole := g.Real(0x1.8p23 * step)
	return g.Binary(nn.OpSub, g.Binary(nn.OpAdd, x, whole), whole)
}

// Erf is the error function, which NNAPI lacks, by Abramowitz and Stegun 7.1.26: within
// 1.5e-7 of it.
//
//	t = 1 / (1 + 0.3275911 |x|),  erf(x) = sign(x) (1 - (a1 t + ... + a5 t^5) exp(-x^2))
func (g *Graph) Erf(x uint32) uint32 {
	z := g.Unary(nn.OpAbs, x)
	t := g.Binary(nn.OpDiv, g.Like(x, 1), g.Binary(nn.OpAdd, g.Binary(nn.OpMul, z, g.Like(x, 0.3275911)), g.Like(x, 1)))
	sum := g.Binary(nn.OpMul, t, g.Like(x, 1.061405429))
	for _, a := range []float32{-1.453152027, 1.421413741, -0.284496736, 0.254829592} {
		sum = g.Binary(nn.OpMul, g.Binary(nn.OpAdd, sum, g.Like(x, a)), t)
	}
	tail := g.Binary(nn.OpMul, sum, g.Unary(nn.OpExp, g.Unary(nn.OpNeg, g.Binary(nn.OpMul, z, z))))
	return g.Binary(nn.OpMul, g.Sign(x), g.Binary(nn.OpAdd, g.Unary(nn.OpNeg, tail), g.Like(x, 1)))
}

// Gelu is x / 2 * (1 + erf(x / sqrt 2)), or its approximation by tanh.
func (g *Graph) Gelu(x uint32, approximate bool) uint32 {
	var erf uint32
	if approximate {
		cube := g.Binary(nn.OpMul, g.Binary(nn.OpMul, x, x), x)
		inner := g.Binary(nn.OpAdd, x, g.Binary(nn.OpMul, cube, g.Like(x, 0.044715)))
		erf = g.Unary(nn.OpTanh, g.Binary(nn.OpMul, inner, g.Like(x, float32(math.Sqrt(2/math.Pi)))))
	} else {
		erf = g.Erf(g.Binary(nn.OpMul, x, g.Like(x, float32(1/math.Sqrt2))))
	}
	return g.Binary(nn.OpMul, g.Binary(nn.OpMul, x, g.Binary(nn.OpAdd, erf, g.Like(x, 1))), g.Like(x, 0.5))
}

// CumSum sums along an axis up to each element: a product with a triangular matrix, of integers by shifts.
func (g *Graph) CumSum(x uint32, axis int, exclusive, reverse bool) uint32 {
	dims := g.Dims(x)
	n := int(dims[axis])
	if g.IsEmpty(x) {
		return x
	}
	if g.whole(x) {
		return g.shiftedSums(x, axis, exclusive, reverse)
	}
	if n > 2048 {
		g.Refusef("it sums %d elements, this composition supports 2048", n)
	}
	weights := make([]float32, n*n) // [sum, element]
	for s := range n {
		for e := range n {
			before := e < s
			if reverse {
				before = e > s
			}
			if before || e == s && !exclusive {
				weights[s*n+e] = 1
			}
		}
	}
	outer, inner := uint32(nn.Elements(dims[:axis])), uint32(nn.Elements(dims[axis+1:]))
	rows := g.Transpose(g.Reshape(g.As(x, nn.TensorFloat32), []uint32{outer, uint32(n), inner}), 0, 2, 1)
	y := g.Emit(nn.OpFullyConnected, nn.Operand{Type: nn.TensorFloat32}, g.Reshape(rows, []uint32{outer * inner, uint32(n)}),
		g.FloatTensor([]uint32{uint32(n), uint32(n)}, weights), g.FloatTensor([]uint32{uint32(n)}, make([]float32, n)), g.Int32Scalar(0))
	y = g.Transpose(g.Reshape(y, []uint32{outer, inner, uint32(n)}), 0, 2, 1)
	return g.Reshape(y, dims)
}

// shiftedSums is CumSum by adding what lies 1, 2, 4, .. elements before, exact modulo 2^32.
func (g *Graph) shiftedSums(x uint32, axis int, exclusive, reverse bool) uint32 {
	dims := g.Dims(x)
	outer, n, inner := uint32(nn.Elements(dims[:axis])), int64(dims[axis]), uint32(nn.Elements(dims[axis+1:]))
	integer := nn.Operand{Type: nn.TensorInt32}
	shifted := func(x uint32, by int64) uint32 {
		from, kept := int64(0), max(n-by, 0)
		zeros := g.Filled(nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{outer, uint32(n - kept), inner}}, 0)
		if kept == 0 {
			return zeros
		}
		if reverse {
			from = by
		}
		parts := []uint32{zeros, g.Slice(x, []int64{0, from, 0}, []int64{int64(outer), kept, int64(inner)})}
		if reverse {
			slices.Reverse(parts)
		}
		return g.Concat(integer, 1, parts...)
	}
	y := g.Reshape(x, []uint32{outer, uint32(n), inner})
	if exclusive {
		y = shifted(y, 1)
	}
	for by := int64(1); by < n; by *= 2 {
		y = g.Binary(nn.OpAdd, y, shifted(y, by))
	}
	return g.Reshape(y, dims)
}
