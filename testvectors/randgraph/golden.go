package randgraph

import (
	"encoding/binary"
	"math"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/nn/quantized"
	"github.com/nnsoc/nnsoc/refcpu"
	"github.com/x448/float16"
)

// golden is the expected result: that of the equivalent float32 model, converted to the types of the model, where there
// is one, else that of the reference in those types.
func golden(c *Case, want []refcpu.Tensor) ([]refcpu.Tensor, error) {
	e := equivalent(c)
	if e == nil {
		return want, nil
	}
	out, err := reference(e)
	if err != nil {
		return nil, err
	}
	for i, x := range c.Model.Main.Outputs {
		o := &c.Model.Main.Operands[x]
		if e.Model.Main.Operands[x].Type == o.Type {
			continue
		}
		n := len(out[i].Data) / 4
		b := make([]byte, 0, n*o.Type.ElementBytes())
		for k := range n {
			v := math.Float32frombits(binary.LittleEndian.Uint32(out[i].Data[4*k:]))
			if o.Type == nn.TensorFloat16 {
				b = binary.LittleEndian.AppendUint16(b, float16.Fromfloat32(v).Bits())
				continue
			}
			lo, hi := quantized.Limits(o.Type)
			b = append(b, byte(quantized.Value(v, o.Scale, o.ZeroPoint, lo, hi)))
		}
		out[i].Data = b
	}
	return out, nil
}

// equivalent is the model in float32, nil where there is none. Operations are
// comparable one by one only: between them 8-bit values saturate, and an ARGMAX
// or a FLOOR makes a rounding error large.
func equivalent(c *Case) *Case {
	m := c.complete()
	g := &m.Main
	k := c.Variants[0].Key
	if len(g.Operations) != 1 || c.Variants[0].sig.noFloat || k != nn.TensorFloat16 && !k.IsQuant8() {
		return nil
	}
	e := &Case{Name: c.Name, Model: m, Variants: c.Variants, Class: c.Class, Inputs: append([][]byte(nil), c.Inputs...)}
	op := &g.Operations[0]
	// The bias of an 8-bit operation and its scales.
	bias := map[uint32]func(i int) float32{}
	view := opspec.View{Operands: append([]nn.Operand(nil), g.Operands...)}
	for i, x := range g.Inputs { // parameters may be among them
		view.Operands[x].Lifetime, view.Operands[x].Data = nn.ConstantCopy, c.Inputs[i]
	}
	if s, ok := view.Sums(op); ok {
		in, f := &view.Operands[s.Input], &view.Operands[s.Filter]
		if f.Channel != nil {
			bias[s.Bias] = func(i int) float32 { return in.Scale * f.Channel.Scales[i] }
		} else {
			bias[s.Bias] = func(int) float32 { return in.Scale * f.Scale }
		}
	}
	for i := range g.Operands {
		o := &g.Operands[i]
		if _, ok := bias[uint32(i)]; !ok && (o.Type == nn.TensorInt32 || o.Type == nn.TensorBool8 || o.Type == nn.TensorFloat32) {
			continue
		}
		was := *o
		switch {
		case o.Type == nn.Float16:
			o.Type = nn.Float32
		case !o.Type.IsScalar():
			o.Type, o.Scale, o.ZeroPoint, o.Channel = nn.TensorFloat32, 0, 0, nil
		default:
			continue
		}
		if o.IsConst() {
			o.Data = floats(&was, o.Data, bias[uint32(i)])
		}
		for k, x := range g.Inputs {
			if x == uint32(i) {
				e.Inputs[k] = floats(&was, c.Inputs[k], bias[x])
			}
		}
	}
	if p, err := opspec.Read[opspec.Pad](view, op); err == nil && p.Value != opspec.None { // the value that it fills with is of the input's type
		in, v := &view.Operands[p.Input], &g.Operands[p.Value]
		if !v.IsConst() {
			return nil
		}
		if v.Type == nn.Int32 {
			q := int32(binary.LittleEndian.Uint32(v.Data)) - in.ZeroPoint
			v.Type, v.Data = nn.Float32, binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(q)*in.Scale))
		}
	}
	return e
}

// floats are the real values of a tensor as float32.
func floats(o *nn.Operand, data []byte, bias func(i int) float32) []byte {
	size := o.Type.ElementBytes()
	var b []byte
	for i := 0; i*size < len(data); i++ {
		v := opspec.Element(o.Type, data[i*size:])
		switch {
		case o.Type == nn.TensorFloat16 || o.Type == nn.Float16:
		case bias != nil:
			v *= float64(bias(i))
		case o.Channel != nil:
			inner := int(nn.Elements(o.Dimensions[o.Channel.Dim+1:]))
			v *= float64(o.Channel.Scales[i/inner%len(o.Channel.Scales)])
		default:
			v = (v - float64(o.ZeroPoint)) * float64(o.Scale)
		}
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
	}
	return b
}
