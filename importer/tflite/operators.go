package tflite

import (
	"errors"
	"fmt"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/importer/tflite/schema"
)

// builtin is one row of the operator table: what the format calls the
// operator, its option table and its conversion to NNAPI.
type builtin struct {
	code        int32
	least, most int         // inputs
	options     *tableShape // nil: none are read
	union       byte        // the option table's code in the format's union
	convert     func(c *conversion) error
}

var (
	convOptions      = &tableShape{"Conv2DOptions", []fieldShape{scalar(1), scalar(4), scalar(4), scalar(1), scalar(4), scalar(4)}}
	depthwiseOptions = &tableShape{"DepthwiseConv2DOptions", []fieldShape{scalar(1), scalar(4), scalar(4), scalar(4), scalar(1), scalar(4), scalar(4)}}
	poolOptions      = &tableShape{"Pool2DOptions", []fieldShape{scalar(1), scalar(4), scalar(4), scalar(4), scalar(4), scalar(1)}}
	fcOptions        = &tableShape{"FullyConnectedOptions", []fieldShape{scalar(1), scalar(1), scalar(1)}}
	softmaxOptions   = &tableShape{"SoftmaxOptions", []fieldShape{scalar(4)}}
	concatOptions    = &tableShape{"ConcatenationOptions", []fieldShape{scalar(4), scalar(1)}}
	addOptions       = &tableShape{"AddOptions", []fieldShape{scalar(1)}}
	mulOptions       = &tableShape{"MulOptions", []fieldShape{scalar(1)}}
	reducerOptions   = &tableShape{"ReducerOptions", []fieldShape{scalar(1)}}
	squeezeOptions   = &tableShape{"SqueezeOptions", []fieldShape{vector(4)}}
)

var builtins = []builtin{
	{0, 2, 2, addOptions, 11, arithmetic(nn.OpAdd)},
	{1, 1, 1, poolOptions, 5, pool(nn.OpAveragePool2D)},
	{2, 1, 1 << 16, concatOptions, 10, concatenation},
	{3, 2, 3, convOptions, 1, conv},
	{4, 2, 3, depthwiseOptions, 2, depthwise},
	{6, 1, 1, nil, 0, unary(nn.OpDequantize)},
	{9, 2, 3, fcOptions, 8, fullyConnected},
	{14, 1, 1, nil, 0, unary(nn.OpLogistic)},
	{17, 1, 1, poolOptions, 5, pool(nn.OpMaxPool2D)},
	{18, 2, 2, mulOptions, 21, arithmetic(nn.OpMul)},
	{19, 1, 1, nil, 0, unary(nn.OpRelu)},
	{20, 1, 1, nil, 0, unary(nn.OpRelu1)},
	{21, 1, 1, nil, 0, unary(nn.OpRelu6)},
	{22, 1, 2, nil, 0, reshape},
	{25, 1, 1, softmaxOptions, 9, softmax},
	{34, 2, 2, nil, 0, pad},
	{40, 2, 2, reducerOptions, 27, mean},
	{43, 1, 1, squeezeOptions, 30, squeeze},
	{114, 1, 1, nil, 0, quantize},
}

// conversion is one operator of the file while it is converted. Inputs and
// outputs are operand indexes; omitted is an omitted optional input.
type conversion struct {
	im      *importer
	in, out []uint32
	options int // position of the verified option table, 0 when absent
}

const omitted = 1<<32 - 1

func (im *importer) operator(i int, op *schema.Operator) error {
	where := fmt.Sprintf("subgraph 0 operator %d", i)
	if op.OpcodeIndex() >= uint32(im.file.OperatorCodesLength()) {
		return &Error{where, fmt.Errorf("operator code %d of %d", op.OpcodeIndex(), im.file.OperatorCodesLength())}
	}
	var oc schema.OperatorCode
	im.file.OperatorCodes(&oc, int(op.OpcodeIndex()))
	// Codes above 127 do not fit the field of old files; new files fill both.
	code := max(oc.BuiltinCode(), int32(oc.DeprecatedBuiltinCode()))
	name := operatorName(code)
	if code == customCode {
		name += fmt.Sprintf(" %q", oc.CustomCode())
	}
	where += " (" + name + ")"
	row := findBuiltin(code)
	if row == nil {
		return &Error{where, errors.New("operator is not supported")}
	}
	c := &conversion{im: im}
	var err error
	if c.in, err = im.operands("input", op.InputsLength(), op.Inputs, true); err != nil {
		return &Error{where, err}
	}
	if c.out, err = im.operands("output", op.OutputsLength(), op.Outputs, false); err != nil {
		return &Error{where, err}
	}
	if len(c.in) < row.least || len(c.in) > row.most || len(c.out) != 1 {
		return &Error{where, fmt.Errorf("%d inputs and %d outputs", len(c.in), len(c.out))}
	}
	for k, x := range c.in[:row.least] {
		if x == omitted {
			return &Error{where, fmt.Errorf("input %d is missing", k)}
		}
	}
	if row.options != nil {
		if c.options, err = im.v.options(op, row.options, row.union); err != nil {
			return &Error{where, err}
		}
	}
	if err := row.convert(c); err != nil {
		return &Error{where, err}
	}
	return nil
}

func (im *importer) operands(what string, n int, at func(int) int32, optional bool) ([]uint32, error) {
	list := make([]uint32, 0, min(n, 16))
	for i := range n {
		x := at(i)
		switch {
		case x == -1 && optional:
			list = append(list, omitted)
			continue
		case x < 0 || int(x) >= im.graph.TensorsLength():
			return nil, fmt.Errorf("%s %d names tensor %d of %d", what, i, x, im.graph.TensorsLength())
		}
		if t := im.out.Operands[x].Type; !t.Valid() {
			return nil, fmt.Errorf("%s %d (tensor %d) has the unsupported type %s", what, i, x, typeName(int8(-1-t)))
		}
		list = append(list, uint32(x))
	}
	return list, nil
}

func findBuiltin(code int32) *builtin {
	for i := range builtins {
		if builtins[i].code == code {
			return &builtins[i]
		}
	}
	return nil
}

// noOptions is an empty table at position 4: every field has its default.
var noOptions = []byte{4, 0, 4, 0, 4, 0, 0, 0}

// load positions a generated accessor on the operator's option table.
func (c *conversion) load(init func([]byte, flatbuffers.UOffsetT)) {
	if c.options == 0 {
		init(noOptions, 4)
		return
	}
	init(c.im.v.buf, flatbuffers.UOffsetT(c.options))
}

func (c *conversion) operand(i uint32) *nn.Operand { return &c.im.out.Operands[i] }

// emit appends an operation on the operator's outputs.
func (c *conversion) emit(t nn.OperationType, inputs ...uint32) error {
	c.im.out.Operations = append(c.im.out.Operations, nn.Operation{Type: t, Inputs: inputs, Outputs: c.out})
	return nil
}

// activation is the operand of a fused activation code; the codes of both
// formats agree up to RELU6.
func (c *conversion) activation(code int8) (uint32, error) {
	if code < 0 || code > int8(nn.ActRelu6) {
		return 0, fmt.Errorf("fused activation %d is not supported", code)
	}
	return c.im.int32Of(int32(code)), nil
}

// padding is the operand of an implicit padding code.
func (c *conversion) padding(code int8) (uint32, error) {
	switch code {
	case 0:
		return c.im.int32Of(nn.PaddingSame), nil
	case 1:
		return c.im.int32Of(nn.PaddingValid), nil
	}
	return 0, fmt.Errorf("padding %d is unknown", code)
}

// window is padding and activation, which all sliding windows have.
func (c *conversion) window(padding, activation int8) (pad, act uint32, err error) {
	if pad, err = c.padding(padding); err != nil {
		return 0, 0, err
	}
	act, err = c.activation(activation)
	return pad, act, err
}
