package onnx

import (
	"encoding/binary"
	"math"

	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/nn"
)

// smallFloat is a type of reals of 8 bits and less, whose values NNAPI holds in float32: a sign, exponent and mantissa.
//
//	value = 1.mantissa * 2^(exponent - bias), or 0.mantissa * 2^(1 - bias) of exponent 0
type smallFloat struct {
	bits, mantissa, bias int
	most                 float64 // the greatest finite value
	infinite             bool    // there are infinities
	// unsignedZero types have no -0, whose code is no number; of others all ones are no number, if exist says so.
	unsignedZero, exist bool
}

// smallFloats are the types by their names in the format.
var smallFloats = map[onnxfile.DataType]smallFloat{
	onnxfile.Float8E4M3FN:   {bits: 8, mantissa: 3, bias: 7, most: 448, exist: true},
	onnxfile.Float8E4M3FNUZ: {bits: 8, mantissa: 3, bias: 8, most: 240, unsignedZero: true, exist: true},
	onnxfile.Float8E5M2:     {bits: 8, mantissa: 2, bias: 15, most: 57344, infinite: true, exist: true},
	onnxfile.Float8E5M2FNUZ: {bits: 8, mantissa: 2, bias: 16, most: 57344, unsignedZero: true, exist: true},
	onnxfile.Float4E2M1:     {bits: 4, mantissa: 1, bias: 1, most: 6},
}

// value is what a code represents.
func (f *smallFloat) value(code byte) float32 {
	sign := 1.0
	if code>>(f.bits-1) == 1 {
		sign = -1
		if code &= 1<<(f.bits-1) - 1; code == 0 && f.unsignedZero {
			return float32(math.NaN())
		}
	}
	exponent, mantissa := int(code>>f.mantissa), float64(code&(1<<f.mantissa-1))/float64(int(1)<<f.mantissa)
	v := math.Ldexp(1+mantissa, exponent-f.bias)
	if exponent == 0 {
		v = math.Ldexp(mantissa, 1-f.bias)
	}
	switch {
	case v <= f.most:
	case f.infinite && mantissa == 0:
		v = math.Inf(1)
	case f.exist:
		v = math.NaN()
	}
	return float32(math.Copysign(v, sign))
}

// smallReals are the values of n codes, packed with the low bits first, in float32.
func smallReals(f *smallFloat, raw []byte, n int64) []byte {
	data := make([]byte, 0, 4*n)
	for i := range n {
		at := i * int64(f.bits)
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(f.value(raw[at/8]>>(at%8)&byte(1<<f.bits-1))))
	}
	return data
}

// roundedTo rounds float32 to a type, ties to even. What is greater than its greatest value becomes that with saturate,
// infinite or no number without.
func (c *conversion) roundedTo(f smallFloat, x uint32, saturate bool) uint32 {
	least := math.Ldexp(1, 1-f.bias) // of the values with all bits of the mantissa
	size := c.Unary(nn.OpAbs, x)
	z := c.Binary(nn.OpMinimum, size, c.Like(x, float32(4*f.most)))
	wide := c.Binary(nn.OpMul, z, c.Like(x, float32(int(1)<<(23-f.mantissa)+1))) // Veltkamp's splitting, as in rounded16
	normal := c.Binary(nn.OpSub, wide, c.Binary(nn.OpSub, wide, z))
	tiny := c.RoundToMultiple(z, float32(math.Ldexp(least, -f.mantissa)))
	y := c.choose(c.Compare(nn.OpLess, z, c.Like(x, float32(least))), tiny, normal)
	most := c.Like(x, float32(f.most))
	if saturate || !f.exist {
		y = c.Binary(nn.OpMinimum, y, most)
	} else { // y / 0 is infinite, and infinity less itself no number
		y = c.Binary(nn.OpDiv, y, c.As(c.Compare(nn.OpLessEqual, y, most), nn.TensorFloat32))
		if !f.infinite {
			y = c.Binary(nn.OpAdd, c.Binary(nn.OpSub, y, y), y)
		}
	}
	y = c.Binary(nn.OpMul, y, c.Sign(x))
	if f.unsignedZero { // infinities are no numbers, whatever saturate says
		return c.choose(c.Compare(nn.OpLessEqual, size, c.Like(x, math.MaxFloat32)), y, c.Binary(nn.OpSub, x, x))
	}
	return c.choose(c.Compare(nn.OpEqual, x, x), y, x)
}
