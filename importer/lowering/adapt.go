package lowering

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/x448/float16"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// adapt emits an operation that NNAPI has, but not for these types or
// quantizations, in another form:
//
//   - an output whose quantization the operation fixes is rounded once to the file's (see adaptQuantization);
//   - 8-bit quantized operands are computed in float32, 16-bit ones always are;
//   - booleans are computed in int32, float16 in float32;
//   - int32 is computed in float32, moved data in two exact halves; what compositions of INT32 operations do exactly is no
//     matter of this function: see Reduce, BatchMatmul, CumSum and Scatter.
//
// ok is false when the operation needs no adaptation.
func (g *Graph) adapt(op nn.OperationType, outs []nn.Operand, in []uint32) (results []uint32, ok bool) {
	row := opspec.Lookup(op)
	if row == nil {
		return nil, false
	}
	keyed := &outs[0]
	switch row.Key {
	case "":
		keyed = g.Operand(in[0])
	case "in1":
		keyed = g.Operand(in[1])
	case "in2":
		keyed = g.Operand(in[2])
	}
	key, types := keyed.Type, row.KeyTypes()
	sixteen := Is16(keyed) && op != nn.OpCast
	if slices.Contains(types, key) && !sixteen {
		return g.adaptQuantization(op, row, outs, in)
	}
	to := nn.TensorFloat32
	if key == nn.TensorBool8 && slices.Contains(types, nn.TensorInt32) {
		to = nn.TensorInt32
	}
	if key == to || !slices.Contains(types, to) {
		return nil, false
	}
	if key == nn.TensorInt32 && !sixteen && movesData(op) {
		return g.inHalves(op, row, outs, in), true
	}
	if key == nn.TensorInt32 && !sixteen && op == nn.OpRelu {
		return []uint32{g.To(g.Binary(nn.OpMaximum, in[0], g.Int32Number(0)), outs[0])}, true
	}
	data := row.KeySlots(len(in))
	converted := slices.Clone(in)
	for i, x := range in {
		if o := g.Operand(x); data[i] && o.Type == key && Is16(o) == sixteen {
			converted[i] = g.As(x, to)
		}
	}
	wanted := slices.Clone(outs)
	for k := range wanted {
		if wanted[k].Type == key && Is16(&wanted[k]) == sixteen {
			wanted[k] = nn.Operand{Type: to, Name: outs[k].Name, Dimensions: outs[k].Dimensions}
		}
	}
	results = g.EmitAll(op, wanted, converted...)
	for k, x := range results {
		results[k] = g.To(x, outs[k])
	}
	return results, true
}

// movesData reports the operations whose output elements are input elements.
func movesData(op nn.OperationType) bool {
	switch op {
	case nn.OpConcatenation, nn.OpTranspose, nn.OpPad, nn.OpSqueeze, nn.OpStridedSlice, nn.OpBatchToSpaceNd, nn.OpSpaceToBatchNd,
		nn.OpDepthToSpace, nn.OpSpaceToDepth, nn.OpChannelShuffle, nn.OpResizeNearestNeighbor:
		return true
	}
	return false
}

// inHalves moves int32 data by an operation for float32: the upper and the
// lower 16 bits are exact in it.
func (g *Graph) inHalves(op nn.OperationType, row *opspec.Row, outs []nn.Operand, in []uint32) []uint32 {
	data := row.KeySlots(len(in))
	base := g.Int32Tensor(1 << 16)
	halves := [2][]uint32{slices.Clone(in), slices.Clone(in)}
	integer := nn.Operand{Type: nn.TensorInt32}
	for i, x := range in {
		if !data[i] {
			continue
		}
		upper := g.Emit(nn.OpDiv, integer, x, base, g.Int32Scalar(0)) // rounds down
		lower := g.Emit(nn.OpSub, integer, x, g.Emit(nn.OpMul, integer, upper, base, g.Int32Scalar(0)), g.Int32Scalar(0))
		halves[0][i], halves[1][i] = g.As(upper, nn.TensorFloat32), g.As(lower, nn.TensorFloat32)
	}
	wanted := slices.Clone(outs)
	for k := range wanted {
		wanted[k].Type = nn.TensorFloat32
	}
	upper, lower := g.EmitAll(op, wanted, halves[0]...), g.EmitAll(op, wanted, halves[1]...)
	results := make([]uint32, len(outs))
	for k := range outs {
		h, l := g.As(upper[k], nn.TensorInt32), g.As(lower[k], nn.TensorInt32)
		results[k] = g.Emit(nn.OpAdd, outs[k], g.Emit(nn.OpMul, integer, h, base, g.Int32Scalar(0)), l, g.Int32Scalar(0))
	}
	return results
}

// Is16 reports a 16-bit quantized value, which is a TENSOR_INT32 with a scale.
func Is16(o *nn.Operand) bool { return o.Type == nn.TensorInt32 && o.Scale != 0 }

// As is x with elements of a type without quantization: float32, float16, int32 or bool. Quantized values become the
// reals they represent.
func (g *Graph) As(x uint32, t nn.OperandType) uint32 {
	o := *g.Operand(x)
	if o.Type == t && o.Scale == 0 {
		return x
	}
	out := nn.Operand{Type: t, Name: o.Name, Dimensions: o.Dimensions}
	y := None
	switch {
	case o.Type == nn.TensorBool8:
		y = g.Choose(x, t)
	case t == nn.TensorBool8:
		if o.Scale != 0 {
			x = g.As(x, nn.TensorFloat32)
		}
		y = g.Compare(nn.OpNotEqual, x, g.Like(x, 0))
	case Is16(&o) && t == nn.TensorFloat32:
		if y, ok := g.reals[x]; ok {
			return y
		}
		y = g.Binary(nn.OpMul, g.Emit(nn.OpCast, out, x), g.Real(o.Scale))
	case (o.Scale != 0 || o.Channel != nil) && !Is16(&o) && (t == nn.TensorFloat32 || t == nn.TensorFloat16):
		y = g.Emit(nn.OpDequantize, out, x)
	case o.Scale != 0 || o.Channel != nil:
		y = g.As(g.As(x, nn.TensorFloat32), t)
	default:
		y = g.Emit(nn.OpCast, out, x)
	}
	g.ShapeLike(y, x)
	return y
}

// Choose is a boolean as 1 or 0 of another type; NNAPI's CAST accepts no booleans.
func (g *Graph) Choose(x uint32, t nn.OperandType) uint32 {
	if !g.ShapeKnown(x) { // SELECT does not broadcast
		number := func(v float32) uint32 { return g.Like(g.Add(nn.Operand{Type: t}), v) }
		return g.Host(nn.OpHostSelect, []nn.Operand{{Type: t, Dimensions: g.Operand(x).Dimensions}}, nil, x, number(1), number(0))[0]
	}
	o := nn.Operand{Type: t, Dimensions: Held(g.Dims(x))}
	return g.Emit(nn.OpSelect, o, x, g.Filled(o, 1), g.Filled(o, 0))
}

// To is x with type and quantization of another operand.
func (g *Graph) To(x uint32, as nn.Operand) uint32 {
	o := *g.Operand(x)
	if o.Type == as.Type && o.Scale == as.Scale && o.ZeroPoint == as.ZeroPoint {
		return x
	}
	as.Dimensions = o.Dimensions
	y := None
	switch {
	case o.Type.IsQuant8() && as.Type.IsQuant8():
		y = g.Emit(nn.OpRequantize, as, x)
	case as.Type.IsQuant8():
		y = g.Emit(nn.OpQuantize, as, g.As(x, nn.TensorFloat32))
	case Is16(&as):
		y = g.Quantize16(g.As(x, nn.TensorFloat32), as)
	default:
		y = g.As(x, as.Type)
	}
	g.ShapeLike(y, x)
	return y
}

// Quantize16 rounds reals to a 16-bit quantization; NNAPI's QUANTIZE produces 8 bits only.
func (g *Graph) Quantize16(x uint32, as nn.Operand) uint32 {
	steps := g.Clamp(g.Round(g.Binary(nn.OpDiv, x, g.Real(as.Scale))), math.MinInt16, math.MaxInt16)
	y := g.Emit(nn.OpCast, as, steps)
	g.reals[y] = g.Binary(nn.OpMul, steps, g.Real(as.Scale))
	return y
}

// Round is floor(x + 0.5).
func (g *Graph) Round(x uint32) uint32 {
	return g.Unary(nn.OpFloor, g.Binary(nn.OpAdd, x, g.Like(x, 0.5)))
}

// Sign is -1, 0 or 1: the difference of two comparisons.
func (g *Graph) Sign(x uint32) uint32 {
	zero := g.Like(x, 0)
	above := g.As(g.Compare(nn.OpGreater, x, zero), g.Operand(x).Type)
	below := g.As(g.Compare(nn.OpLess, x, zero), g.Operand(x).Type)
	return g.Binary(nn.OpSub, above, below)
}

// Clamp is min(max(x, lo), hi).
func (g *Graph) Clamp(x uint32, lo, hi float32) uint32 {
	return g.Binary(nn.OpMinimum, g.Binary(nn.OpMaximum, x, g.Like(x, lo)), g.Like(x, hi))
}

// Real is a float32 constant of one element.
func (g *Graph) Real(v float32) uint32 {
	return g.Number(nn.TensorFloat32, binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)))
}

// Like is a Number in the type of x.
func (g *Graph) Like(x uint32, v float32) uint32 {
	switch t := g.Operand(x).Type; t {
	case nn.TensorFloat32:
		return g.Real(v)
	case nn.TensorFloat16:
		return g.Number(t, binary.LittleEndian.AppendUint16(nil, Half(v)))
	case nn.TensorInt32:
		return g.Int32Number(int64(v))
	default:
		g.Refusef("it computes with %v", t)
		return None
	}
}

// Binary emits an elementwise operation of two operands in the type of the
// first.
func (g *Graph) Binary(op nn.OperationType, a, b uint32) uint32 {
	in := []uint32{a, b}
	switch op {
	case nn.OpAdd, nn.OpSub, nn.OpMul, nn.OpDiv:
		in = append(in, g.Int32Scalar(0))
	}
	y := g.Emit(op, nn.Operand{Type: g.Operand(a).Type}, in...)
	g.BroadcastShape(y, a, b)
	return y
}

// Compare emits a comparison.
func (g *Graph) Compare(op nn.OperationType, a, b uint32) uint32 {
	y := g.Emit(op, nn.Operand{Type: nn.TensorBool8}, a, b)
	g.BroadcastShape(y, a, b)
	return y
}

// Unary emits an elementwise operation that keeps the type.
func (g *Graph) Unary(op nn.OperationType, x uint32) uint32 {
	y := g.Emit(op, nn.Operand{Type: g.Operand(x).Type}, x)
	g.ShapeLike(y, x)
	return y
}

// BroadcastShape states the file's shape of y, which an elementwise operation
// makes of a and b.
func (g *Graph) BroadcastShape(y, a, b uint32) {
	x, scalar := g.Shape[a]
	z, other := g.Shape[b]
	switch {
	case scalar && other && len(x) >= len(z):
		g.Shape[y] = x
	case scalar && other:
		g.Shape[y] = z
	case len(x) > 4:
		g.Shape[y] = x
	case len(z) > 4:
		g.Shape[y] = z
	}
}

// Half is v as float16.
func Half(v float32) uint16 { return float16.Fromfloat32(v).Bits() }
