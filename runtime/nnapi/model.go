package nnapi

import (
	"math"
	"slices"
	"sync"

	"github.com/nnsoc/nnsoc/hal/compat"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// MaxCopiedValue is the size up to which a value is copied when it is set. Larger
// ones are read when the model is finished; until then they must not change.
const MaxCopiedValue = 128

// OperandType describes an operand. Dimensions of 0 are unknown.
type OperandType struct {
	Type       nn.OperandType
	Dimensions []uint32
	Scale      float32
	ZeroPoint  int32
}

// Model is a network under construction; after Finish it is immutable.
type Model struct {
	mu    sync.Mutex
	graph nn.Subgraph
	inner []*Model
	// pointed are operands whose values Finish copies: the app's memory, until then.
	pointed []uint32
	// shared is the memory that constants lie in, which lives as long as the model.
	shared []*Memory
	// extensions are the ones of which the app has requested codes.
	extensions []*extension
	relaxed    bool
	finished   bool
	broken     bool  // finish failed: nothing can be done with it any more
	order      []int // operations in execution order, by the order they were added
	model      *nn.Model
	hash       ArchitectureHash
}

// NewModel returns an empty model.
func NewModel() *Model { return &Model{} }

// maxEntities bounds operands and operations.
const maxEntities = math.MaxUint32 - 1

// modify guards the calls that change a model.
func (m *Model) modify(call string, do func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.finished:
		return fail(BadState, "%s: the model is finished", call)
	case m.broken:
		return fail(BadState, "%s: the model is invalid", call)
	}
	return do()
}

func (m *Model) operand(call string, i uint32) (*nn.Operand, error) {
	if int64(i) >= int64(len(m.graph.Operands)) {
		return nil, fail(BadData, "%s: operand %d of %d", call, i, len(m.graph.Operands))
	}
	return &m.graph.Operands[i], nil
}

// AddOperand adds an operand; operands count from 0.
func (m *Model) AddOperand(t OperandType) error {
	const call = "Model_addOperand"
	return m.modify(call, func() error {
		if nn.IsExtensionOperandType(t.Type) {
			if err := m.extensionType(call, &t); err != nil {
				return err
			}
		} else if err := t.check(call); err != nil {
			return err
		}
		if len(m.graph.Operands) >= maxEntities {
			return fail(BadData, "%s: too many operands", call)
		}
		m.graph.Operands = append(m.graph.Operands, nn.Operand{Type: t.Type, Lifetime: nn.TemporaryVariable, Dimensions: slices.Clone(t.Dimensions), Scale: t.Scale, ZeroPoint: t.ZeroPoint})
		return nil
	})
}

// zeroPoints are the ranges of zero points; the other types have 0.
var zeroPoints = map[nn.OperandType][2]int32{
	nn.TensorQuant8Asymm: {0, 255}, nn.TensorQuant8AsymmSigned: {-128, 127}, nn.TensorQuant16Asymm: {0, 65535},
}

// scaled are the types that have a scale above 0.
var scaled = map[nn.OperandType]bool{
	nn.TensorQuant8Asymm: true, nn.TensorQuant8AsymmSigned: true, nn.TensorQuant16Asymm: true, nn.TensorQuant16Symm: true, nn.TensorQuant8Symm: true,
}

func (t *OperandType) check(call string) error {
	switch {
	case !t.Type.Valid() && !nn.IsOEM(t.Type):
		return fail(BadData, "%s: no operand type %d", call, t.Type)
	case t.Type.IsScalar() && len(t.Dimensions) > 0:
		return fail(BadData, "%s: %v with dimensions %v", call, t.Type, t.Dimensions)
	case nn.Elements(t.Dimensions) < 0 || nn.Elements(t.Dimensions)*int64(t.Type.ElementBytes()) > math.MaxUint32:
		return fail(BadData, "%s: %v%v needs more than 32 bits of bytes", call, t.Type, t.Dimensions)
	case nn.IsOEM(t.Type):
		return nil // what scale and zero point mean only a driver knows
	case t.Type == nn.TensorInt32:
		return nil // checked when the model is finished
	case scaled[t.Type] && !(t.Scale > 0) || t.Scale < 0 || math.IsInf(float64(t.Scale), 0) || t.Scale != t.Scale:
		return fail(BadData, "%s: %v with scale %v", call, t.Type, t.Scale)
	case !scaled[t.Type] && t.Scale != 0:
		return fail(BadData, "%s: %v with scale %v, it has none", call, t.Type, t.Scale)
	}
	if r := zeroPoints[t.Type]; t.ZeroPoint < r[0] || t.ZeroPoint > r[1] {
		return fail(BadData, "%s: %v with zero point %d, want %d to %d", call, t.Type, t.ZeroPoint, r[0], r[1])
	}
	return nil
}

// SetOperandValue makes an operand a constant, or omitted when data is nil.
func (m *Model) SetOperandValue(i uint32, data []byte) error {
	const call = "Model_setOperandValue"
	return m.modify(call, func() error {
		o, err := m.operand(call, i)
		if err != nil {
			return err
		}
		if data == nil {
			o.Lifetime, o.Data = nn.NoValue, nil
			m.pointed = slices.DeleteFunc(m.pointed, func(x uint32) bool { return x == i })
			return nil
		}
		if err := m.constant(call, i, o, int64(len(data))); err != nil {
			return err
		}
		if len(data) <= MaxCopiedValue {
			o.Lifetime, o.Data = nn.ConstantCopy, slices.Clone(data)
			return nil
		}
		o.Lifetime, o.Data = nn.ConstantReference, data
		m.pointed = append(m.pointed, i)
		return nil
	})
}

// constant checks that an operand can become a constant of n bytes.
func (m *Model) constant(call string, i uint32, o *nn.Operand, n int64) error {
	if o.Lifetime != nn.TemporaryVariable {
		return fail(BadData, "%s: operand %d is %v already", call, i, o.Lifetime)
	}
	if !o.Known() {
		return fail(BadData, "%s: operand %d has unknown dimensions %v", call, i, o.Dimensions)
	}
	want := o.Bytes()
	if o.Type == nn.OEM {
		want = n // only a driver knows
	}
	if info, ok := m.layout(o.Type); ok {
		want = o.Elements() * int64(info.ByteSize)
		if info.IsTensor && len(o.Dimensions) == 0 {
			return fail(BadData, "%s: operand %d has unknown dimensions", call, i)
		}
	}
	if n != want {
		return fail(BadData, "%s: %d bytes for operand %d, %v%v has %d", call, n, i, o.Type, o.Dimensions, want)
	}
	return nil
}

// SetOperandValueFromMemory makes an operand a constant in a memory. The model shares it,
// and keeps it when the app frees it: it must not change while the model is in use.
func (m *Model) SetOperandValueFromMemory(i uint32, memory *Memory, offset, length int) error {
	const call = "Model_setOperandValueFromMemory"
	return m.modify(call, func() (err error) {
		if memory == nil {
			return fail(UnexpectedNull, "%s: no memory", call)
		}
		o, err := m.operand(call, i)
		if err != nil {
			return err
		}
		if memory.roles != nil {
			return fail(BadData, "%s: device memory holds no constants", call)
		}
		if memory.private {
			return fail(BadData, "%s: a hardware buffer of another format than blob holds no constants", call)
		}
		b, err := memory.part(call, offset, length)
		if err != nil {
			return err
		}
		if err := m.constant(call, i, o, int64(len(b))); err != nil {
			return err
		}
		o.Lifetime, o.Data = nn.ConstantReference, b
		m.shared = append(m.shared, memory)
		return nil
	})
}

// SetOperandValueFromModel makes an operand refer to a finished model, for IF and
// WHILE.
func (m *Model) SetOperandValueFromModel(i uint32, inner *Model) error {
	const call = "Model_setOperandValueFromModel"
	if inner == nil {
		return fail(UnexpectedNull, "%s: no model", call)
	}
	finished := inner.isFinished() // queried before this model is locked: two may name each other
	return m.modify(call, func() error {
		o, err := m.operand(call, i)
		if err != nil {
			return err
		}
		if o.Type != nn.SubgraphRef {
			return fail(BadData, "%s: operand %d is %v, want MODEL", call, i, o.Type)
		}
		if !finished {
			return fail(BadState, "%s: the inner model is not finished", call)
		}
		k := len(m.inner)
		m.inner = append(m.inner, inner)
		o.Lifetime, o.Data = nn.LifetimeSubgraph, []byte{byte(k), byte(k >> 8), byte(k >> 16), byte(k >> 24)}
		return nil
	})
}

func (m *Model) isFinished() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.finished
}

// SetOperandSymmPerChannelQuantParams gives an operand scales per channel.
func (m *Model) SetOperandSymmPerChannelQuantParams(i uint32, q nn.ChannelQuant) error {
	const call = "Model_setOperandSymmPerChannelQuantParams"
	return m.modify(call, func() error {
		o, err := m.operand(call, i)
		if err != nil {
			return err
		}
		if o.Type != nn.TensorQuant8SymmPerChannel {
			return fail(BadData, "%s: operand %d is %v", call, i, o.Type)
		}
		if int64(q.Dim) >= int64(len(o.Dimensions)) || len(q.Scales) == 0 || uint32(len(q.Scales)) != o.Dimensions[q.Dim] {
			return fail(BadData, "%s: %d scales for dimension %d of %v", call, len(q.Scales), q.Dim, o.Dimensions)
		}
		for c, s := range q.Scales {
			if !(s > 0) {
				return fail(BadData, "%s: scale %v of channel %d", call, s, c)
			}
		}
		o.Channel = &nn.ChannelQuant{Dim: q.Dim, Scales: slices.Clone(q.Scales)}
		return nil
	})
}

// AddOperation adds an operation of operands that were added before. Number, types, ranks, scales and
// zero points of its arguments are checked here, and the models that IF and WHILE refer to, which
// must have been set. Values and shapes only the drivers judge, when the model is compiled.
func (m *Model) AddOperation(t nn.OperationType, inputs, outputs []uint32) error {
	const call = "Model_addOperation"
	return m.modify(call, func() error {
		if len(outputs) == 0 {
			return fail(BadData, "%s: %v without outputs", call, t)
		}
		for _, list := range [][]uint32{inputs, outputs} {
			for _, i := range list {
				if _, err := m.operand(call, i); err != nil {
					return err
				}
			}
		}
		t, err := m.localOperation(call, t)
		if err != nil {
			return err
		}
		if len(m.graph.Operations) >= maxEntities {
			return fail(BadData, "%s: too many operations", call)
		}
		op := nn.Operation{Type: t, Inputs: slices.Clone(inputs), Outputs: slices.Clone(outputs)}
		if t != nn.OpOEM && (!nn.IsExtensionOperationType(t) || opspec.Lookup(t) != nil) { // others only their driver knows
			if err := validate.Operation(m.view(t), &op); err != nil {
				return fail(BadData, "%s: %w", call, err)
			}
		}
		m.graph.Operations = append(m.graph.Operations, op)
		return nil
	})
}

// view is the model as it is now, with the models inside it where an operation may refer to them.
func (m *Model) view(t nn.OperationType) *nn.Model {
	v := &nn.Model{Main: m.graph}
	if opspec.Calls(t) {
		for _, inner := range m.inner {
			v.Referenced = append(v.Referenced, inner.model.Main)
		}
	}
	return v
}

// IdentifyInputsAndOutputs names the inputs and outputs of the model, in order.
// Each must have no value yet and occur in the lists once.
func (m *Model) IdentifyInputsAndOutputs(inputs, outputs []uint32) error {
	const call = "Model_identifyInputsAndOutputs"
	return m.modify(call, func() error {
		g := m.graph
		g.Operands = slices.Clone(g.Operands)
		for _, l := range []struct {
			list     []uint32
			lifetime nn.Lifetime
		}{{inputs, nn.SubgraphInput}, {outputs, nn.SubgraphOutput}} {
			for _, i := range l.list {
				if _, err := m.operand(call, i); err != nil {
					return err
				}
				if was := g.Operands[i].Lifetime; was != nn.TemporaryVariable {
					return fail(BadData, "%s: operand %d is %v already", call, i, was)
				}
				g.Operands[i].Lifetime = l.lifetime
			}
		}
		g.Inputs, g.Outputs = slices.Clone(inputs), slices.Clone(outputs)
		m.graph = g
		return nil
	})
}

// RelaxComputationFloat32toFloat16 permits float32 operations to compute in
// float16.
func (m *Model) RelaxComputationFloat32toFloat16(allow bool) error {
	return m.modify("Model_relaxComputationFloat32toFloat16", func() error {
		m.relaxed = allow
		return nil
	})
}

// Finish ends construction: values are copied, operations sorted into an order
// of execution, and the model checked, but for values and shapes that only drivers judge. A model that fails can only be dropped.
func (m *Model) Finish() error {
	const call = "Model_finish"
	return m.modify(call, func() error {
		m.copyPointed()
		order, err := sorted(&m.graph)
		if err != nil {
			m.broken = true
			return fail(BadData, "%s: %w", call, err)
		}
		m.order = order
		operations := make([]nn.Operation, len(order))
		for k, i := range order {
			operations[k] = m.graph.Operations[i]
		}
		m.graph.Operations = operations
		model := &nn.Model{Main: m.graph, Relaxed: m.relaxed, Extensions: m.declared()}
		model.Main.Operands = slices.Clone(m.graph.Operands)
		for k, inner := range m.inner {
			offset := uint32(len(m.inner) + countReferenced(m.inner[:k]))
			model.Referenced = append(model.Referenced, relocated(inner.model.Main, offset))
		}
		for k, inner := range m.inner {
			offset := uint32(len(m.inner) + countReferenced(m.inner[:k]))
			for _, r := range inner.model.Referenced {
				model.Referenced = append(model.Referenced, relocated(r, offset))
			}
		}
		compat.RemoveDefaults(&model.Main)
		if err := validate.Construction(model); err != nil {
			m.broken = true
			return fail(BadData, "%s: %w", call, err)
		}
		m.model, m.hash, m.finished = model, architecture(model), true
		return nil
	})
}

// copyPointed copies the values that the app has pointed to into one pool, each aligned
// as its length requires.
func (m *Model) copyPointed() {
	offsets, n := make([]uint32, len(m.pointed)), uint32(0)
	for k, i := range m.pointed {
		data := m.graph.Operands[i].Data
		n += nn.AlignBytesNeeded(n, uint32(len(data)))
		offsets[k] = n
		n += uint32(len(data))
	}
	pool := make([]byte, n)
	for k, i := range m.pointed {
		o := &m.graph.Operands[i]
		end := offsets[k] + uint32(copy(pool[offsets[k]:], o.Data))
		o.Data = pool[offsets[k]:end:end]
	}
	m.pointed = nil
}

func countReferenced(models []*Model) (n int) {
	for _, m := range models {
		n += len(m.model.Referenced)
	}
	return n
}

// relocated is a subgraph whose references count from an offset on.
func relocated(g nn.Subgraph, offset uint32) nn.Subgraph {
	g.Operands = slices.Clone(g.Operands)
	for i := range g.Operands {
		if o := &g.Operands[i]; o.Lifetime == nn.LifetimeSubgraph {
			k := offset + (uint32(o.Data[0]) | uint32(o.Data[1])<<8 | uint32(o.Data[2])<<16 | uint32(o.Data[3])<<24)
			o.Data = []byte{byte(k), byte(k >> 8), byte(k >> 16), byte(k >> 24)}
		}
	}
	return g
}
