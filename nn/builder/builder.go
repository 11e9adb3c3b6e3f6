package builder

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Format is the number format of the activations and weights of layers; a Builder without one adds none.
type Format uint8

// Formats.
const (
	// Float32 is TENSOR_FLOAT32 throughout.
	Float32 Format = iota + 1
	// Quant8 is TENSOR_QUANT8_ASYMM with one scale per tensor, as networks
	// trained for quantization have it.
	Quant8
	// Quant8Signed is TENSOR_QUANT8_ASYMM_SIGNED with filters of
	// TENSOR_QUANT8_SYMM_PER_CHANNEL, as quantization after training gives.
	Quant8Signed
)

// Config configures the layers of a Builder.
type Config struct {
	Format Format
	// Seed selects the synthetic weights; 0 is a seed like any other.
	Seed uint32
	// ChannelScales gives each output channel of a convolution a weight scale of
	// its own, in every format but Quant8, which has one scale per tensor.
	ChannelScales bool
	// ShapesOnly leaves the data of weights out. The model serves for counting
	// (Parameters, multiply-accumulates) and does not validate.
	ShapesOnly bool
}

// Tensor is an operand of the model under construction.
type Tensor uint32

// Quant is the quantization of a tensor: real = Scale * (value - ZeroPoint).
// The zero value is none.
type Quant struct {
	Scale     float32
	ZeroPoint int32
}

// Builder collects the operands and operations of a model's main subgraph.
type Builder struct {
	Config
	graph      nn.Subgraph
	spread     []Spread // by operand
	seed       noise
	scales     noise // of channel scales, apart so that Seed alone decides the values
	parameters int64
	err        error
}

// New returns an empty Builder.
func New(c Config) *Builder {
	return &Builder{Config: c, seed: noise(c.Seed ^ defaultSeed), scales: 0x51ED270B}
}

// Err returns the first error so far.
func (b *Builder) Err() error { return b.err }

func (b *Builder) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf("builder: operation %d: "+format, append([]any{len(b.graph.Operations)}, args...)...)
	}
}

// Operand adds an operand, a temporary if it has no lifetime, and returns its Tensor.
func (b *Builder) Operand(o nn.Operand) Tensor {
	if o.Lifetime == 0 || b.ShapesOnly && o.Lifetime == nn.ConstantReference && o.Data == nil {
		o.Lifetime = nn.TemporaryVariable // a constant must have its data
	}
	b.graph.Operands = append(b.graph.Operands, o)
	b.spread = append(b.spread, Spread{})
	return Tensor(len(b.graph.Operands) - 1)
}

// operand returns the operand that t is; a Tensor of another Builder is an error.
func (b *Builder) operand(t Tensor) *nn.Operand {
	if int(t) >= len(b.graph.Operands) {
		b.fail("tensor %d of %d does not exist", t, len(b.graph.Operands))
		return &nn.Operand{Dimensions: []uint32{1, 1, 1, 1}}
	}
	return &b.graph.Operands[t]
}

// Dims returns the dimensions of t. The caller must not change them. After an
// error there are four of size 1, so that code which indexes them does not fail.
func (b *Builder) Dims(t Tensor) []uint32 {
	if o := b.operand(t); b.err == nil {
		return o.Dimensions
	}
	return []uint32{1, 1, 1, 1}
}

// Channels is the last dimension of t.
func (b *Builder) Channels(t Tensor) uint32 {
	d := b.Dims(t)
	if len(d) == 0 {
		b.fail("a scalar has no channels")
		return 1
	}
	return d[len(d)-1]
}

// Constant adds a constant tensor of dense little-endian data.
func (b *Builder) Constant(name string, typ nn.OperandType, q Quant, data []byte, dims ...uint32) Tensor {
	return b.Operand(nn.Operand{
		Name: name, Type: typ, Dimensions: dims, Scale: q.Scale, ZeroPoint: q.ZeroPoint,
		Lifetime: nn.ConstantReference, Data: data,
	})
}

// Floats adds a constant TENSOR_FLOAT32 of shape dims.
func (b *Builder) Floats(dims []uint32, values ...float32) Tensor {
	return b.Constant("", nn.TensorFloat32, Quant{}, floats(values...), dims...)
}

// Ints adds a constant TENSOR_INT32 vector.
func (b *Builder) Ints(values ...int32) Tensor {
	return b.Constant("", nn.TensorInt32, Quant{}, int32s(values...), uint32(len(values)))
}

// Int32, Float32 and Bool add constant scalars, the form that options of
// operations have.
func (b *Builder) Int32(v int32) Tensor {
	return b.Operand(nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: int32s(v)})
}

// Float32 adds a constant FLOAT32.
func (b *Builder) Float32(v float32) Tensor {
	return b.Operand(nn.Operand{Type: nn.Float32, Lifetime: nn.ConstantCopy, Data: floats(v)})
}

// Bool adds a constant BOOL.
func (b *Builder) Bool(v bool) Tensor {
	data := []byte{0}
	if v {
		data[0] = 1
	}
	return b.Operand(nn.Operand{Type: nn.Bool, Lifetime: nn.ConstantCopy, Data: data})
}

// Omitted adds an operand without a value, for an optional input.
func (b *Builder) Omitted(typ nn.OperandType) Tensor {
	o := nn.Operand{Type: typ, Lifetime: nn.NoValue}
	if !typ.IsScalar() {
		o.Dimensions = []uint32{0}
	}
	return b.Operand(o)
}

// Apply adds an operation with one output of the type and quantization given.
// The output's shape follows from the inputs by the operation's shape rule; an
// operation without one needs ApplyTo.
func (b *Builder) Apply(op nn.OperationType, typ nn.OperandType, q Quant, inputs ...Tensor) Tensor {
	y := b.Operand(nn.Operand{Type: typ, Scale: q.Scale, ZeroPoint: q.ZeroPoint})
	b.ApplyTo(op, []Tensor{y}, inputs...)
	if b.err != nil {
		return y
	}
	view := opspec.View{Operands: b.graph.Operands}
	dims, err := view.OutputDims(&b.graph.Operations[len(b.graph.Operations)-1])
	if err != nil {
		b.fail("%w", err)
		return y
	}
	b.graph.Operands[y].Dimensions = dims[0]
	return y
}

// ApplyTo adds an operation whose outputs the caller added with Operand.
func (b *Builder) ApplyTo(op nn.OperationType, outputs []Tensor, inputs ...Tensor) {
	for _, t := range inputs {
		b.operand(t)
	}
	if b.err == nil {
		b.graph.Operations = append(b.graph.Operations, nn.Operation{Type: op, Inputs: indexes(inputs), Outputs: indexes(outputs)})
	}
}

// Input makes t an input of the model, after those before it.
func (b *Builder) Input(t Tensor, name string) Tensor {
	o := b.operand(t)
	o.Name, o.Lifetime = name, nn.SubgraphInput
	b.graph.Inputs = append(b.graph.Inputs, uint32(t))
	return t
}

// Output makes t an output of the model, after those before it.
func (b *Builder) Output(t Tensor, name string) {
	o := b.operand(t)
	o.Name, o.Lifetime = name, nn.SubgraphOutput
	b.graph.Outputs = append(b.graph.Outputs, uint32(t))
}

// Model returns the model built, or the first error.
func (b *Builder) Model(name string) (*nn.Model, error) {
	if b.err != nil {
		return nil, fmt.Errorf("%s: %w", name, b.err)
	}
	m := &nn.Model{Name: name, Main: b.graph}
	opspec.Standard().Declare(m)
	return m, nil
}

// Parameters counts the weights and biases that layers made. A layer without a
// bias has zeros in its bias operand, which do not count.
func (b *Builder) Parameters() int64 { return b.parameters }

func indexes(ts []Tensor) []uint32 {
	l := make([]uint32, len(ts))
	for i, t := range ts {
		l[i] = uint32(t)
	}
	return l
}

func floats(v ...float32) []byte {
	data := make([]byte, 0, 4*len(v))
	for _, x := range v {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
	}
	return data
}

func int32s(v ...int32) []byte {
	data := make([]byte, 0, 4*len(v))
	for _, x := range v {
		data = binary.LittleEndian.AppendUint32(data, uint32(x))
	}
	return data
}
