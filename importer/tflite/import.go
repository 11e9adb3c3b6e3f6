package tflite

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/importer/tflite/schema"
)

// maxActivationBytes bounds the tensors of a model that are not in its file.
const maxActivationBytes = 1 << 29

// Error is a model that cannot be imported.
type Error struct {
	Where string // part of the file: "subgraph 0 operator 3 (SPLIT)"
	Err   error
}

// Error implements error.
func (e *Error) Error() string {
	if e.Where == "" {
		return "tflite: " + e.Err.Error()
	}
	return "tflite: " + e.Where + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Import reads a model file. The model's constants alias data, which must not
// change afterwards. Every failure is an *Error.
func Import(data []byte) (*nn.Model, error) {
	v, err := verifyModel(data)
	if err != nil {
		return nil, &Error{Err: err}
	}
	file := schema.GetRootAsModel(data, 0)
	if file.Version() != 3 {
		return nil, &Error{Err: fmt.Errorf("schema version %d, want 3", file.Version())}
	}
	if n := file.SubgraphsLength(); n != 1 {
		return nil, &Error{Err: fmt.Errorf("%d subgraphs; control flow is not supported", n)}
	}
	im := &importer{v: v, file: file}
	file.Subgraphs(&im.graph, 0)
	if err := im.run(); err != nil {
		return nil, err
	}
	return &nn.Model{Main: im.out}, nil
}

// importer converts the main subgraph. Operand indexes below the number of
// tensors are those of the file, so reports can be matched with other tools;
// scalars and temporaries that NNAPI needs in addition follow.
type importer struct {
	v     *verifier
	file  *schema.Model
	graph schema.SubGraph
	out   nn.Subgraph
	bytes int64 // of tensors without data
}

func (im *importer) run() error {
	im.out.Name = string(im.graph.Name())
	for i := range im.graph.TensorsLength() {
		o, err := im.tensor(i)
		if err != nil {
			return &Error{fmt.Sprintf("subgraph 0 tensor %d", i), err}
		}
		im.out.Operands = append(im.out.Operands, o)
	}
	mark := func(what string, n int, at func(int) int32, l nn.Lifetime, to *[]uint32) error {
		for i := range n {
			x := at(i)
			if x < 0 || int(x) >= len(im.out.Operands) {
				return &Error{"subgraph 0", fmt.Errorf("%s %d names tensor %d of %d", what, i, x, len(im.out.Operands))}
			}
			o := &im.out.Operands[x]
			if o.Lifetime != nn.TemporaryVariable {
				return &Error{"subgraph 0", fmt.Errorf("%s %d: tensor %d is already %v", what, i, x, o.Lifetime)}
			}
			if !o.Type.Valid() {
				return &Error{fmt.Sprintf("subgraph 0 tensor %d", x), fmt.Errorf("%s of unsupported type %s", what, typeName(int8(-1-o.Type)))}
			}
			o.Lifetime = l
			*to = append(*to, uint32(x))
		}
		return nil
	}
	if err := mark("input", im.graph.InputsLength(), im.graph.Inputs, nn.SubgraphInput, &im.out.Inputs); err != nil {
		return err
	}
	if err := mark("output", im.graph.OutputsLength(), im.graph.Outputs, nn.SubgraphOutput, &im.out.Outputs); err != nil {
		return err
	}
	if len(im.out.Outputs) == 0 {
		return &Error{"subgraph 0", fmt.Errorf("no outputs")}
	}
	for i := range im.graph.OperatorsLength() {
		var op schema.Operator
		im.graph.Operators(&op, i)
		if err := im.operator(i, &op); err != nil {
			return err
		}
	}
	return nil
}

// tensor types of the format that nn has, by code.
var tensorTypes = map[int8]nn.OperandType{
	0: nn.TensorFloat32, 1: nn.TensorFloat16, 2: nn.TensorInt32, 3: nn.TensorQuant8Asymm,
	6: nn.TensorBool8, 9: nn.TensorQuant8AsymmSigned,
}

var tensorTypeNames = [...]string{
	"FLOAT32", "FLOAT16", "INT32", "UINT8", "INT64", "STRING", "BOOL", "INT16", "COMPLEX64",
	"INT8", "FLOAT64", "COMPLEX128", "UINT64", "RESOURCE", "VARIANT", "UINT32", "UINT16", "INT4",
}

func typeName(code int8) string {
	if code >= 0 && int(code) < len(tensorTypeNames) {
		return tensorTypeNames[code]
	}
	return fmt.Sprintf("type %d", code)
}

// tensor converts one tensor. A type that nn lacks is kept as -1-code: only an
// operator that uses it makes the model unsupported.
func (im *importer) tensor(i int) (nn.Operand, error) {
	var t schema.Tensor
	im.graph.Tensors(&t, i)
	o := nn.Operand{Name: string(t.Name())}
	typ, ok := tensorTypes[t.Type()]
	if !ok {
		o.Type = -1 - nn.OperandType(t.Type())
		return o, nil
	}
	o.Type = typ
	if t.ShapeLength() > 8 {
		return o, fmt.Errorf("rank %d exceeds 8", t.ShapeLength())
	}
	for d := range t.ShapeLength() {
		n := t.Shape(d)
		if n <= 0 {
			return o, fmt.Errorf("dimension %d is %d; dynamic and empty shapes are not supported", d, n)
		}
		o.Dimensions = append(o.Dimensions, uint32(n))
	}
	size := o.Bytes()
	if size < 0 {
		return o, fmt.Errorf("shape %v is larger than the format allows", o.Dimensions)
	}
	if len(o.Dimensions) == 0 { // a scalar; NNAPI has it as a one-element tensor
		o.Dimensions = []uint32{1}
	}
	if err := quantization(&o, &t); err != nil {
		return o, err
	}
	if t.Buffer() >= uint32(im.file.BuffersLength()) {
		return o, fmt.Errorf("buffer %d of %d", t.Buffer(), im.file.BuffersLength())
	}
	var b schema.Buffer
	im.file.Buffers(&b, int(t.Buffer()))
	if data := b.DataBytes(); len(data) > 0 {
		if int64(len(data)) != size {
			return o, fmt.Errorf("%v%v needs %d bytes, buffer %d has %d", o.Type, o.Dimensions, size, t.Buffer(), len(data))
		}
		o.Data, o.Lifetime = data, nn.ConstantReference
		return o, nil
	}
	if t.IsVariable() {
		return o, fmt.Errorf("variable tensors are not supported")
	}
	if im.bytes += size; im.bytes > maxActivationBytes {
		return o, fmt.Errorf("activations exceed %d MiB", maxActivationBytes>>20)
	}
	return o, nil
}

// quantization takes scale and zero point. Several scales make an int8 tensor
// SYMM_PER_CHANNEL; an int32 bias keeps its scales only when there is one.
func quantization(o *nn.Operand, t *schema.Tensor) error {
	q := t.Quantization(nil)
	if q == nil || q.ScaleLength() == 0 {
		if o.Type.IsQuant8() {
			return fmt.Errorf("%v without a scale", o.Type)
		}
		return nil
	}
	if q.DetailsType() != 0 {
		return fmt.Errorf("custom quantization is not supported")
	}
	for i := range q.ScaleLength() {
		if s := q.Scale(i); !(s > 0) || math.IsInf(float64(s), 1) {
			return fmt.Errorf("scale %d is %v", i, s)
		}
	}
	for i := range q.ZeroPointLength() {
		if z := q.ZeroPoint(i); z < -128 || z > 255 {
			return fmt.Errorf("zero point %d is %d", i, z)
		}
	}
	if n := q.ScaleLength(); n > 1 {
		if o.Type == nn.TensorInt32 {
			return nil // NNAPI derives it from input and filter
		}
		d := q.QuantizedDimension()
		if o.Type != nn.TensorQuant8AsymmSigned || d < 0 || int(d) >= len(o.Dimensions) || o.Dimensions[d] != uint32(n) {
			return fmt.Errorf("%d scales along dimension %d of %v%v", n, d, o.Type, o.Dimensions)
		}
		for i := range q.ZeroPointLength() {
			if q.ZeroPoint(i) != 0 {
				return fmt.Errorf("per-channel zero point %d is %d, want 0", i, q.ZeroPoint(i))
			}
		}
		c := &nn.ChannelQuant{Dim: uint32(d), Scales: make([]float32, n)}
		for i := range n {
			c.Scales[i] = q.Scale(i)
		}
		o.Type, o.Channel = nn.TensorQuant8SymmPerChannel, c
		return nil
	}
	switch {
	case o.Type.IsQuant8():
		if q.ZeroPointLength() > 0 {
			o.ZeroPoint = int32(q.ZeroPoint(0))
		}
		lo, hi := int32(0), int32(255)
		if o.Type == nn.TensorQuant8AsymmSigned {
			lo, hi = -128, 127
		}
		if o.ZeroPoint < lo || o.ZeroPoint > hi {
			return fmt.Errorf("zero point %d of %v", o.ZeroPoint, o.Type)
		}
		o.Scale = q.Scale(0)
	case o.Type == nn.TensorInt32:
		o.Scale = q.Scale(0)
	}
	return nil
}

// scalarOf adds a constant scalar operand and returns its index.
func (im *importer) scalarOf(t nn.OperandType, bits uint32) uint32 {
	var d [4]byte
	binary.LittleEndian.PutUint32(d[:], bits)
	return im.add(nn.Operand{Type: t, Lifetime: nn.ConstantCopy, Data: d[:t.ElementBytes()]})
}

func (im *importer) int32Of(v int32) uint32 { return im.scalarOf(nn.Int32, uint32(v)) }

// int32s adds a constant one-dimensional INT32 tensor.
func (im *importer) int32s(v []int32) uint32 {
	d := make([]byte, 0, 4*len(v))
	for _, x := range v {
		d = binary.LittleEndian.AppendUint32(d, uint32(x))
	}
	return im.add(nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{uint32(len(v))}, Lifetime: nn.ConstantCopy, Data: d})
}

func (im *importer) add(o nn.Operand) uint32 {
	im.out.Operands = append(im.out.Operands, o)
	return uint32(len(im.out.Operands) - 1)
}
