package testvectors

import (
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Variation makes another case of a case, in the manner of the Vendor Test Suite (VTS), and defines the required
// behaviour of a device.
type Variation struct {
	Name string // follows the name of the case after an underscore
	// Make returns the other case; ok is false where the rules leave it out. The case has a valid model and does not
	// expect a failure.
	Make func(c *vectors.Case) (v *vectors.Case, ok bool)
	// Run judges a device; base is the case that v was made from.
	Run func(d hal.Device, base, v *vectors.Case, functional bool) (declined string, err error)
}

// variations are the variations of VTS, and empty batches.
var variations = []Variation{
	{"dynamic_output_shape", dynamicOutput, runVaried},
	{"quant8_signed_coupling", signedCoupling, runCoupled},
	{"output_one_byte_short", copyWithOutput, runShortKnown},
	{"dynamic_output_one_byte_short", dynamicWithOutput, runShort},
	{"zero_sized_batch", zeroBatch, runVaried},
}

// dynamicOutput is a case whose model leaves the shape of every output unknown,
// with its rank kept.
func dynamicOutput(c *vectors.Case) (v *vectors.Case, ok bool) {
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

// signedCoupling is a single-operation case with every TENSOR_QUANT8_ASYMM
// operand made TENSOR_QUANT8_ASYMM_SIGNED: values and zero points 128 lower. A
// device that supports the unsigned form must support the signed one.
func signedCoupling(c *vectors.Case) (v *vectors.Case, ok bool) {
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

// zeroBatch is a case whose inputs have an unknown first dimension in the model
// and no elements in the request, so that all outputs are empty. It is the
// batch of the first input, and where that alone has no meaning, of all inputs
// of as many batches.
func zeroBatch(c *vectors.Case) (v *vectors.Case, ok bool) {
	if c.ExpectFailure || !Uses(c, opspec.HasShapeRule) {
		return nil, false
	}
	first := slices.IndexFunc(c.Inputs, func(x vectors.Value) bool { return len(x.Data) > 0 && len(x.Dimensions) >= 2 })
	if first < 0 {
		return nil, false
	}
	if v, ok = withoutBatch(c, func(i int) bool { return i == first }); ok {
		return v, true
	}
	batch := c.Inputs[first].Dimensions[0]
	return withoutBatch(c, func(i int) bool {
		return len(c.Inputs[i].Dimensions) >= 2 && c.Inputs[i].Dimensions[0] == batch
	})
}

// withoutBatch empties the batch of some inputs; ok is false when not every
// output becomes empty.
func withoutBatch(c *vectors.Case, chosen func(i int) bool) (v *vectors.Case, ok bool) {
	v = copyCase(c, "_zero_sized_batch")
	g := &v.Model.Main
	for i := range g.Operands {
		switch o := &g.Operands[i]; o.Lifetime {
		case nn.TemporaryVariable, nn.SubgraphOutput:
			if !o.Type.IsScalar() {
				o.Dimensions = nil
			}
		}
	}
	for i, x := range g.Inputs {
		if !chosen(i) {
			continue
		}
		dims := slices.Clone(v.Inputs[i].Dimensions)
		dims[0] = 0
		if slices.Contains(dims[1:], 0) {
			return nil, false
		}
		g.Operands[x].Dimensions = dims
		v.Inputs[i].Dimensions, v.Inputs[i].Data = dims, []byte{}
	}
	final, err := opspec.Complete(g, func(nn.OperationType) bool { return false })
	if err != nil || validate.Model(v.Model) != nil {
		return nil, false
	}
	for i, x := range g.Outputs {
		dims := final.Operands[x].Dimensions
		if !slices.Contains(dims, 0) {
			return nil, false
		}
		v.Outputs[i].Dimensions, v.Outputs[i].Data, v.Outputs[i].Ignored = dims, []byte{}, false
	}
	v.Multinomial = 0
	return v, true
}

// copyWithOutput is a case whose first output has more than one byte.
func copyWithOutput(c *vectors.Case) (v *vectors.Case, ok bool) {
	if c.ExpectFailure || len(c.Outputs) == 0 || len(c.Outputs[0].Data) <= 1 {
		return nil, false
	}
	return copyCase(c, "_output_one_byte_short"), true
}

// dynamicWithOutput is copyWithOutput with outputs of unknown shape.
func dynamicWithOutput(c *vectors.Case) (v *vectors.Case, ok bool) {
	if v, ok = dynamicOutput(c); !ok || len(c.Outputs[0].Data) <= 1 {
		return nil, false
	}
	v.Name = c.Name + "_dynamic_output_one_byte_short"
	return v, true
}

// runVaried runs a varied case unchanged. It is a failure of a device that runs the base to decline a shape that
// follows from the rest of the model, or an empty batch.
func runVaried(d hal.Device, base, v *vectors.Case, functional bool) (declined string, err error) {
	declined, err = RunCase(d, v, functional)
	if declined == "" || err != nil {
		return "", err
	}
	if reason, err := declines(d, base.Model); reason != "" || err != nil {
		return reason, err
	}
	if g, err := opspec.Resolve(&v.Model.Main); err == nil && (allKnown(g) || isZeroBatch(base, v)) {
		return "", fmt.Errorf("declined, though it runs the model with known shapes: %s", declined)
	}
	return declined, nil
}

// isZeroBatch reports whether a variation empties an input of its base.
func isZeroBatch(base, v *vectors.Case) bool {
	for i := range v.Inputs {
		if len(v.Inputs[i].Data) < len(base.Inputs[i].Data) {
			return true
		}
	}
	return false
}

func allKnown(g *nn.Subgraph) bool {
	return !slices.ContainsFunc(g.Outputs, func(x uint32) bool { return !g.Operands[x].Known() })
}

// runCoupled runs the signed form, which a device must not decline when it runs
// the unsigned one.
func runCoupled(d hal.Device, base, v *vectors.Case, functional bool) (declined string, err error) {
	if declined, err = declines(d, base.Model); declined != "" || err != nil {
		return declined, err
	}
	if declined, err = RunCase(d, v, functional); declined != "" {
		return "", fmt.Errorf("declines the signed form of what it runs: %s", declined)
	}
	return "", err
}

// runShortKnown passes for the first output, whose shape the model states, a buffer one byte too short: an invalid
// argument.
func runShortKnown(d hal.Device, _, v *vectors.Case, functional bool) (declined string, err error) {
	want := hal.InvalidArgument
	if !v.Model.Main.Operands[v.Model.Main.Outputs[0]].Known() {
		want = hal.OutputInsufficientSize
	}
	_, declined, err = executeShort(d, v, functional, want)
	return declined, err
}

// executeShort runs a case with a buffer one byte too short for the first output, which
// must end in a status.
func executeShort(d hal.Device, v *vectors.Case, functional bool, want hal.Status) (res *hal.Result, declined string, err error) {
	if valid, err := check(nil, v); err != nil || !valid {
		return nil, "", err
	}
	if declined, err = declines(d, v.Model); declined != "" || err != nil {
		return nil, declined, err
	}
	p, err := d.PrepareModel(v.Model, hal.PrepareOptions{Preference: hal.FastSingleAnswer})
	if err != nil {
		return nil, "", fmt.Errorf("prepare: %w", err)
	}
	r := request(v, functional)
	r.Outputs[0] = r.Outputs[0][1:]
	res, err = hal.Execute(p, r)
	if status := hal.StatusOf(err); status != want {
		return nil, "", fmt.Errorf("an output buffer one byte short ends in %v, not %v: %v", status, want, err)
	}
	return res, "", nil
}

// runShort passes for the first output, whose shape the model leaves open, a buffer one byte too short: the status is
// OUTPUT_INSUFFICIENT_SIZE and the shapes are reported.
func runShort(d hal.Device, _, v *vectors.Case, functional bool) (declined string, err error) {
	res, declined, err := executeShort(d, v, functional, hal.OutputInsufficientSize)
	if declined != "" || err != nil {
		return declined, err
	}
	if res == nil {
		return "", fmt.Errorf("OUTPUT_INSUFFICIENT_SIZE without the shapes of the outputs")
	}
	if err := checkShapes(v, res, hal.OutputInsufficientSize); err != nil {
		return "", err
	}
	if want := v.Outputs[0].Dimensions; !v.Outputs[0].Type.IsScalar() && !slices.Equal(res.OutputDimensions[0], want) {
		return "", fmt.Errorf("output 0: shape %v, expected %v", res.OutputDimensions[0], want)
	}
	return "", nil
}

// copyCase copies the parts that the variations change.
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
