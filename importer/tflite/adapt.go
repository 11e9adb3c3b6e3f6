package tflite

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
//   - an output whose quantization the operation fixes is requantized;
//   - 8-bit quantized operands are computed in float32, 16-bit ones always are;
//   - booleans are computed in int32, float16 in float32;
//   - int32 is computed in float32, moved data in two exact halves.
//
// ok is false when the operation stands as it is.
func (g *graph) adapt(op nn.OperationType, outs []nn.Operand, in []uint32) (results []uint32, ok bool) {
	row := opspec.Lookup(op)
	if row == nil {
		return nil, false
	}
	keyed := &outs[0]
	switch row.Key {
	case "":
		keyed = g.operand(in[0])
	case "in1":
		keyed = g.operand(in[1])
	case "in2":
		keyed = g.operand(in[2])
	}
	key, types := keyed.Type, row.KeyTypes()
	sixteen := is16(keyed) && op != nn.OpCast
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
	data := row.KeySlots(len(in))
	converted := slices.Clone(in)
	for i, x := range in {
		if o := g.operand(x); data[i] && o.Type == key && is16(o) == sixteen {
			converted[i] = g.as(x, to)
		}
	}
	wanted := slices.Clone(outs)
	for k := range wanted {
		if wanted[k].Type == key && is16(&wanted[k]) == sixteen {
			wanted[k] = nn.Operand{Type: to, Name: outs[k].Name, Dimensions: outs[k].Dimensions}
		}
	}
	results = g.emitAll(op, wanted, converted...)
	for k, x := range results {
		results[k] = g.to(x, outs[k])
	}
	return results, true
}

// adaptQuantization emits an operation whose outputs have the quantization of
// an input or a fixed one, and requantizes where the file wants another.
func (g *graph) adaptQuantization(op nn.OperationType, row *opspec.Row, outs []nn.Operand, in []uint32) (results []uint32, ok bool) {
	wanted := slices.Clone(outs)
	for k := range wanted {
		w := &wanted[k]
		if scale, zero, fixed := row.FixedOutQuant(w.Type); fixed {
			w.Scale, w.ZeroPoint = scale, zero
		} else if row.SameQuant && w.Type.IsQuant8() {
			for i, data := range row.KeySlots(len(in)) {
				if x := g.operand(in[i]); data && x.Type == w.Type {
					w.Scale, w.ZeroPoint = x.Scale, x.ZeroPoint
					break
				}
			}
		}
		ok = ok || w.Scale != outs[k].Scale || w.ZeroPoint != outs[k].ZeroPoint
	}
	if !ok {
		return nil, false
	}
	results = g.emitAll(op, wanted, in...)
	for k, x := range results {
		results[k] = g.to(x, outs[k])
	}
	return results, true
}

// movesData reports the operations whose output elements are input elements.
func movesData(op nn.OperationType) bool {
	switch op {
	case nn.OpConcatenation, nn.OpTranspose, nn.OpPad, nn.OpSqueeze, nn.OpStridedSlice, nn.OpBatchToSpaceNd, nn.OpSpaceToBatchNd,
		nn.OpDepthToSpace, nn.OpSpaceToDepth, nn.OpChannelShuffle:
		return true
	}
	return false
}

// inHalves moves int32 data by an operation for float32: the upper and the
// lower 16 bits are exact in it.
func (g *graph) inHalves(op nn.OperationType, row *opspec.Row, outs []nn.Operand, in []uint32) []uint32 {
	data := row.KeySlots(len(in))
	base := g.int32Tensor(1 << 16)
	halves := [2][]uint32{slices.Clone(in), slices.Clone(in)}
	integer := nn.Operand{Type: nn.TensorInt32}
	for i, x := range in {
		if !data[i] {
			continue
		}
		upper := g.emit(nn.OpDiv, integer, x, base, g.int32Scalar(0)) // rounds down
		lower := g.emit(nn.OpSub, integer, x, g.emit(nn.OpMul, integer, upper, base, g.int32Scalar(0)), g.int32Scalar(0))
		halves[0][i], halves[1][i] = g.as(upper, nn.TensorFloat32), g.as(lower, nn.TensorFloat32)
	}
	wanted := slices.Clone(outs)
	for k := range wanted {
		wanted[k].Type = nn.TensorFloat32
	}
	upper, lower := g.emitAll(op, wanted, halves[0]...), g.emitAll(op, wanted, halves[1]...)
	results := make([]uint32, len(outs))
	for k := range outs {
		h, l := g.as(upper[k], nn.TensorInt32), g.as(lower[k], nn.TensorInt32)
		results[k] = g.emit(nn.OpAdd, outs[k], g.emit(nn.OpMul, integer, h, base, g.int32Scalar(0)), l, g.int32Scalar(0))
	}
	return results
}

// is16 reports a 16-bit quantized value, which is a TENSOR_INT32 with a scale.
func is16(o *nn.Operand) bool { return o.Type == nn.TensorInt32 && o.Scale != 0 }

// as is x with elements of a type without quantization: float32, float16,
// int32 or bool. Quantized values become the reals they stand for.
func (g *graph) as(x uint32, t nn.OperandType) uint32 {
	o := *g.operand(x)
	if o.Type == t && o.Scale == 0 {
		return x
	}
	out := nn.Operand{Type: t, Name: o.Name, Dimensions: o.Dimensions}
	y := none
	switch {
	case o.Type == nn.TensorBool8:
		y = g.choose(x, t)
	case t == nn.TensorBool8:
		if o.Scale != 0 {
			x = g.as(x, nn.TensorFloat32)
		}
		y = g.compare(nn.OpNotEqual, x, g.like(x, 0))
	case is16(&o) && t == nn.TensorFloat32:
		if y, ok := g.reals[x]; ok {
			return y
		}
		y = g.binary(nn.OpMul, g.emit(nn.OpCast, out, x), g.real(o.Scale))
	case (o.Scale != 0 || o.Channel != nil) && !is16(&o) && (t == nn.TensorFloat32 || t == nn.TensorFloat16):
		y = g.emit(nn.OpDequantize, out, x)
	case o.Scale != 0 || o.Channel != nil:
		y = g.as(g.as(x, nn.TensorFloat32), t)
	default:
		y = g.emit(nn.OpCast, out, x)
	}
	g.shapeLike(y, x)
	return y
}

// choose is a boolean as 1 or 0 of another type; NNAPI's CAST takes no booleans.
func (g *graph) choose(x uint32, t nn.OperandType) uint32 {
	o := nn.Operand{Type: t, Dimensions: held(g.dims(x))}
	return g.emit(nn.OpSelect, o, x, g.filled(o, 1), g.filled(o, 0))
}

// to is x with type and quantization of another operand.
func (g *graph) to(x uint32, as nn.Operand) uint32 {
	o := *g.operand(x)
	if o.Type == as.Type && o.Scale == as.Scale && o.ZeroPoint == as.ZeroPoint {
		return x
	}
	as.Dimensions = o.Dimensions
	y := none
	switch {
	case o.Type.IsQuant8() && as.Type.IsQuant8():
		y = g.emit(nn.OpRequantize, as, x)
	case as.Type.IsQuant8():
		y = g.emit(nn.OpQuantize, as, g.as(x, nn.TensorFloat32))
	case is16(&as):
		y = g.quantize16(g.as(x, nn.TensorFloat32), as)
	default:
		y = g.as(x, as.Type)
	}
	g.shapeLike(y, x)
	return y
}

// quantize16 rounds reals to a 16-bit quantization; NNAPI's QUANTIZE gives 8
// bits only.
func (g *graph) quantize16(x uint32, as nn.Operand) uint32 {
	steps := g.clamp(g.round(g.binary(nn.OpDiv, x, g.real(as.Scale))), math.MinInt16, math.MaxInt16)
	y := g.emit(nn.OpCast, as, steps)
	g.reals[y] = g.binary(nn.OpMul, steps, g.real(as.Scale))
	return y
}

// round is floor(x + 0.5).
func (g *graph) round(x uint32) uint32 {
	return g.unary(nn.OpFloor, g.binary(nn.OpAdd, x, g.like(x, 0.5)))
}

// sign is -1, 0 or 1: the difference of two comparisons.
func (g *graph) sign(x uint32) uint32 {
	zero := g.like(x, 0)
	above := g.as(g.compare(nn.OpGreater, x, zero), g.operand(x).Type)
	below := g.as(g.compare(nn.OpLess, x, zero), g.operand(x).Type)
	return g.binary(nn.OpSub, above, below)
}

// clamp is min(max(x, lo), hi).
func (g *graph) clamp(x uint32, lo, hi float32) uint32 {
	return g.binary(nn.OpMinimum, g.binary(nn.OpMaximum, x, g.like(x, lo)), g.like(x, hi))
}

// real is a float32 constant of one element.
func (g *graph) real(v float32) uint32 { return g.floatTensor([]uint32{1}, []float32{v}) }

// like is a constant of one element in the type of x.
func (g *graph) like(x uint32, v float32) uint32 {
	one := nn.Operand{Type: g.operand(x).Type, Dimensions: []uint32{1}}
	switch one.Type {
	case nn.TensorFloat32:
		one.Data = binary.LittleEndian.AppendUint32(nil, math.Float32bits(v))
	case nn.TensorFloat16:
		one.Data = binary.LittleEndian.AppendUint16(nil, half(v))
	case nn.TensorInt32:
		one.Data = binary.LittleEndian.AppendUint32(nil, uint32(int32(v)))
	default:
		g.refusef("it computes with %v", one.Type)
	}
	return g.constant(one)
}

// binary emits an elementwise operation of two operands in the type of the
// first.
func (g *graph) binary(op nn.OperationType, a, b uint32) uint32 {
	in := []uint32{a, b}
	switch op {
	case nn.OpAdd, nn.OpSub, nn.OpMul, nn.OpDiv:
		in = append(in, g.int32Scalar(0))
	}
	y := g.emit(op, nn.Operand{Type: g.operand(a).Type}, in...)
	g.broadcastShape(y, a, b)
	return y
}

// compare emits a comparison.
func (g *graph) compare(op nn.OperationType, a, b uint32) uint32 {
	y := g.emit(op, nn.Operand{Type: nn.TensorBool8}, a, b)
	g.broadcastShape(y, a, b)
	return y
}

// unary emits an elementwise operation that keeps the type.
func (g *graph) unary(op nn.OperationType, x uint32) uint32 {
	y := g.emit(op, nn.Operand{Type: g.operand(x).Type}, x)
	g.shapeLike(y, x)
	return y
}

// broadcastShape states the file's shape of y, which an elementwise operation
// makes of a and b.
func (g *graph) broadcastShape(y, a, b uint32) {
	x, scalar := g.shape[a]
	z, other := g.shape[b]
	switch {
	case scalar && other && len(x) >= len(z):
		g.shape[y] = x
	case scalar && other:
		g.shape[y] = z
	case len(x) > 4:
		g.shape[y] = x
	case len(z) > 4:
		g.shape[y] = z
	}
}

// half is v as float16.
func half(v float32) uint16 { return float16.Fromfloat32(v).Bits() }
