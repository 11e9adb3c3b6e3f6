package pass

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/nn/quantized"
	"github.com/x448/float16"
)

// maxFoldedElements bounds a constant that folding makes.
const maxFoldedElements = 1 << 26

// foldConstants computes when the model is prepared what depends on constants alone:
// the reshape family, operations that reorder elements, DEQUANTIZE and QUANTIZE. Results that
// the graph returns stay computed by the device.
func foldConstants(g *graph.Graph) (changed bool, err error) {
	r := rewriter{g: g}
	for i := range g.Operations {
		op := &g.Operations[i]
		if data, ok := fold(g, op); ok {
			o := &g.Operands[op.Outputs[0]]
			o.Lifetime, o.Data = nn.ConstantCopy, data
			changed = true
			continue
		}
		r.add(g.Origin[i], *op)
	}
	r.commit()
	return changed, nil
}

// fold computes the value of an operation's output, if it can be folded.
func fold(g *graph.Graph, op *nn.Operation) ([]byte, bool) {
	if len(op.Outputs) != 1 || slices.Contains(g.Outputs, op.Outputs[0]) || slices.ContainsFunc(op.Inputs, func(x uint32) bool {
		return !g.Operands[x].IsConst() && g.Operands[x].Lifetime != nn.NoValue
	}) {
		return nil, false
	}
	out := &g.Operands[op.Outputs[0]]
	if !out.Known() || out.Elements() > maxFoldedElements {
		return nil, false
	}
	v := g.View()
	if !graph.IsReshape(op.Type) && op.Type != nn.OpDequantize && op.Type != nn.OpQuantize && !opspec.IsStrided(op.Type) {
		return nil, false
	}
	in := g.Input(op)
	data, err := v.Data(in)
	if err != nil {
		return nil, false
	}
	switch {
	case graph.IsReshape(op.Type):
		return data, int64(len(data)) == out.Bytes()
	case op.Type == nn.OpDequantize:
		return dequantized(&g.Operands[in], out, data)
	case op.Type == nn.OpQuantize:
		return quantizedData(&g.Operands[in], out, data), true
	}
	s, err := opspec.Read[opspec.Strided](v, op)
	if err != nil || s.Padded != nil || nn.Elements(s.Walk) != out.Elements() {
		return nil, false
	}
	return reordered(&s, data), true
}

// reordered is the data of a reordering operation's output.
func reordered(s *opspec.Strided, data []byte) []byte {
	size := s.Type.ElementBytes()
	n := int(nn.Elements(s.Walk))
	out := make([]byte, 0, n*size)
	for i := range n {
		at, rest := s.Offset, i
		for d := len(s.Walk) - 1; d >= 0; d-- {
			at += rest % int(s.Walk[d]) * s.Strides[d]
			rest /= int(s.Walk[d])
		}
		out = append(out, data[at*size:(at+1)*size]...)
	}
	return out
}

// dequantized is scale * (q - zero point) of each element, with the scale of its
// channel where there is one per channel.
func dequantized(in, out *nn.Operand, data []byte) ([]byte, bool) {
	size := in.Type.ElementBytes()
	scale := func(int) float32 { return in.Scale }
	if c := in.Channel; c != nil {
		if int(c.Dim) >= len(in.Dimensions) || len(c.Scales) != int(in.Dimensions[c.Dim]) {
			return nil, false
		}
		stride := int(nn.Elements(in.Dimensions[c.Dim+1:]))
		scale = func(i int) float32 { return c.Scales[i/stride%len(c.Scales)] }
	}
	n := len(data) / size
	b := make([]byte, 0, n*out.Type.ElementBytes())
	for i := range n {
		x := scale(i) * (float32(opspec.Element(in.Type, data[i*size:])) - float32(in.ZeroPoint))
		switch out.Type {
		case nn.TensorFloat32:
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		case nn.TensorFloat16:
			b = binary.LittleEndian.AppendUint16(b, float16.Fromfloat32(x).Bits())
		default:
			return nil, false
		}
	}
	return b, true
}

// quantizedData is QUANTIZE of each element.
func quantizedData(in, out *nn.Operand, data []byte) []byte {
	lo, hi := quantized.Limits(out.Type)
	size := in.Type.ElementBytes()
	b := make([]byte, 0, len(data)/size)
	for at := 0; at < len(data); at += size {
		b = append(b, byte(quantized.Value(float32(opspec.Element(in.Type, data[at:])), out.Scale, out.ZeroPoint, lo, hi)))
	}
	return b
}
