package testvectors

import (
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/importer/vectors"
)

// DynamicOutput is a case whose model leaves the shape of every output unknown,
// with its rank kept. ok is false where the rules exclude the variation.
func DynamicOutput(c *vectors.Case) (v *vectors.Case, ok bool) {
	if c.ExpectFailure || !Uses(c, func(t nn.OperationType) bool { return t != nn.OpRank && t != nn.OpIf && t != nn.OpWhile }) {
		return nil, false
	}
	v = copyCase(c, "_dynamic_output_shape")
	for _, x := range v.Model.Main.Outputs {
		o := &v.Model.Main.Operands[x]
		if o.Type.IsScalar() {
			return nil, false
		}
		o.Dimensions = make([]uint32, len(o.Dimensions))
	}
	return v, true
}

// uncoupled are the operations that quantization coupling leaves out.
var uncoupled = map[nn.OperationType]bool{
	nn.OpHashtableLookup: true, nn.OpLshProjection: true, nn.OpPadV2: true, nn.OpCast: true, nn.OpQuantized16bitLstm: true,
}

// SignedCoupling is a single-operation case with every TENSOR_QUANT8_ASYMM
// operand made TENSOR_QUANT8_ASYMM_SIGNED: values and zero points 128 lower. A
// device that supports the unsigned form must support the signed one.
func SignedCoupling(c *vectors.Case) (v *vectors.Case, ok bool) {
	if c.Model == nil || len(c.Model.Main.Operations) != 1 || uncoupled[c.Model.Main.Operations[0].Type] {
		return nil, false
	}
	v = copyCase(c, "_quant8_signed_coupling")
	change := func(t *nn.OperandType, zero *int32, data *[]byte) {
		if *t != nn.TensorQuant8Asymm {
			return
		}
		ok = true
		*t = nn.TensorQuant8AsymmSigned
		*zero -= 128
		if *data != nil {
			b := make([]byte, len(*data))
			for i, x := range *data {
				b[i] = x ^ 0x80
			}
			*data = b
		}
	}
	graph := func(g *nn.Subgraph) {
		for i := range g.Operands {
			o := &g.Operands[i]
			change(&o.Type, &o.ZeroPoint, &o.Data)
		}
	}
	graph(&v.Model.Main)
	for i := range v.Model.Referenced {
		graph(&v.Model.Referenced[i])
	}
	var zero int32
	for i := range v.Inputs {
		change(&v.Inputs[i].Type, &zero, &v.Inputs[i].Data)
	}
	for i := range v.Outputs {
		change(&v.Outputs[i].Type, &zero, &v.Outputs[i].Data)
	}
	return v, ok
}

// copyCase copies what the variations change.
func copyCase(c *vectors.Case, suffix string) *vectors.Case {
	v, m := *c, *c.Model
	v.Name += suffix
	m.Main.Operands = append([]nn.Operand(nil), m.Main.Operands...)
	m.Referenced = append([]nn.Subgraph(nil), m.Referenced...)
	for i := range m.Referenced {
		m.Referenced[i].Operands = append([]nn.Operand(nil), m.Referenced[i].Operands...)
	}
	v.Model = &m
	v.Inputs = append([]vectors.Value(nil), c.Inputs...)
	v.Outputs = append([]vectors.Value(nil), c.Outputs...)
	return &v
}
