package randgraph

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/x448/float16"
)

// maxElements bounds a tensor, maxWork the multiply-accumulates of a model.
const (
	maxElements = 10000
	maxWork     = 1 << 22
)

// gen builds a model, one operation after the other. A generator of an
// operation returns false when its decisions contradict each other.
type gen struct {
	*source
	table *Table
	kind  *kind
	g     nn.Subgraph
	// data holds the value of each operand that no operation writes, nil of
	// one that an operation writes.
	data [][]byte
	// params are constants that steer an operation and are never inputs.
	params []bool
	// open has a bit for each dimension of an operand left to the request, 0 for all with the rank.
	open map[uint32]int
	// results are the operands that operations have written.
	results []uint32
	// weights: -1 undecided, else whether this operation's weights are constants.
	weights int
	work    int64
	// refs are the subgraphs that control flow refers to, their constants in place.
	refs []nn.Subgraph
	// perChannel: the filter of this operation has a scale per channel.
	perChannel bool
	sums       bool // the operation's signature has it
}

// new adds an operand.
func (g *gen) new(o nn.Operand, data []byte, param bool) uint32 {
	g.g.Operands = append(g.g.Operands, o)
	g.data = append(g.data, data)
	g.params = append(g.params, param)
	return uint32(len(g.g.Operands) - 1)
}

// at is an operand. The pointer is valid until the next operand is added.
func (g *gen) at(i uint32) *nn.Operand { return &g.g.Operands[i] }

// dim draws a dimension.
func (g *gen) dim() int {
	k := g.kind
	if k.wide > k.dim && g.chance(k.widePercent) {
		return 1 + g.choose(k.wide)
	}
	return 1 + g.choose(k.dim)
}

// dims draws a shape within the bound on elements.
func (g *gen) dims(rank int) []uint32 {
	d := make([]uint32, rank)
	for i := range d {
		d[i] = uint32(g.dim())
	}
	return bounded(d)
}

// bounded halves the largest dimension until the shape is within the bound.
func bounded(d []uint32) []uint32 {
	for nn.Elements(d) > maxElements || nn.Elements(d) < 0 {
		big := 0
		for i := range d {
			if d[i] > d[big] {
				big = i
			}
		}
		d[big] = (d[big] + 1) / 2
	}
	return d
}

// rank draws a rank between lo and hi, one that the kind of graph prefers.
func (g *gen) rank(lo, hi int) int { return lo + g.choose(hi-lo+1) }

// typed is an operand of a type with drawn quantization parameters.
func (g *gen) typed(t nn.OperandType, dims []uint32) nn.Operand {
	o := nn.Operand{Type: t, Dimensions: dims}
	switch t {
	case nn.TensorQuant8Asymm:
		o.Scale, o.ZeroPoint = g.scale(), int32(g.choose(256)+128)%256
	case nn.TensorQuant8AsymmSigned:
		o.Scale, o.ZeroPoint = g.scale(), int32(int8(g.choose(256)))
	case nn.TensorQuant16Asymm:
		o.Scale, o.ZeroPoint = g.scale(), int32(g.choose(65536))
	case nn.TensorQuant8Symm, nn.TensorQuant16Symm:
		o.Scale = g.scale()
	case nn.TensorQuant8SymmPerChannel:
		o.Channel = &nn.ChannelQuant{Dim: uint32(g.choose(len(dims)))}
		for range dims[o.Channel.Dim] {
			o.Channel.Scales = append(o.Channel.Scales, g.scale())
		}
	}
	if e := nn.CodesOf(t); e != nil {
		o.Extension = e.Draw(g.choose)
	}
	return o
}

// scale draws a scale in (0.001, 2]; the simplest is 1.
func (g *gen) scale() float32 {
	v := g.choose(1001)
	if v == 0 {
		return 1
	}
	if v%3 == 0 {
		return float32(v) / 10000
	}
	return float32(v) / 500
}

// value provides the values of a new operand: a model input or a constant.
func (g *gen) value(o nn.Operand, f filler) uint32 {
	constant := g.chance(50)
	if constant {
		o.Lifetime = nn.ConstantCopy
	} else {
		o.Lifetime = nn.SubgraphInput
	}
	return g.filled(o, f)
}

// weight is value for filters and biases: all of an operation are constants,
// or none.
func (g *gen) weight(o nn.Operand, f filler) uint32 {
	if g.weights < 0 {
		g.weights = 1 - pick(g.source, 0, 1)
	}
	o.Lifetime = nn.SubgraphInput
	if g.weights == 1 {
		o.Lifetime = nn.ConstantCopy
	}
	return g.filled(o, f)
}

// filled is a new operand with values, now and then at the ends of its type's range.
func (g *gen) filled(o nn.Operand, f filler) uint32 {
	seed := g.choose(1 << 30)
	if f.unrestricted() && g.kind.ends > 0 {
		f.ends, f.sums = g.chance(g.kind.ends), g.sums
	}
	x := g.new(o, f.fill(&o, seed), false)
	g.leaveOpen(x)
	return x
}

// param is a constant parameter of an operation, or passed with the request.
func (g *gen) param(o nn.Operand, data []byte) uint32 {
	o.Lifetime = nn.ConstantCopy
	if g.kind.request > 0 && g.chance(g.kind.request) {
		o.Lifetime = nn.SubgraphInput
	}
	return g.new(o, data, true)
}

// leaveOpen decides which dimensions of an operand the model leaves to the request.
func (g *gen) leaveOpen(x uint32) {
	o, mask := g.at(x), 0
	if g.kind.request == 0 || len(o.Dimensions) == 0 || o.IsConst() || !g.chance(g.kind.request) {
		return
	}
	if !g.chance(25) { // else not even the rank is known
		mask = 1 + g.choose(1<<len(o.Dimensions)-1)
	}
	if g.open == nil {
		g.open = map[uint32]int{}
	}
	g.open[x] = mask
}

// edge is the result of an earlier operation that fits, if one is chosen.
func (g *gen) edge(t nn.OperandType, fits func(o *nn.Operand) bool) (uint32, bool) {
	for i := len(g.results) - 1; i >= 0; i-- {
		x := g.results[i]
		if o := g.at(x); o.Type == t && o.Known() && fits(o) && g.chance(g.kind.edge) {
			return x, true
		}
	}
	return 0, false
}

// tensor is an operand of type t and of a rank between lo and hi: the result
// of an earlier operation or a new one. With restricted values it is new.
func (g *gen) tensor(t nn.OperandType, lo, hi int, f filler) uint32 {
	if f.unrestricted() && !f.exact {
		if x, ok := g.edge(t, func(o *nn.Operand) bool { return len(o.Dimensions) >= lo && len(o.Dimensions) <= hi }); ok {
			return x
		}
	}
	return g.value(g.typed(t, g.dims(g.rank(lo, hi))), f)
}

// shaped is tensor for a shape that has to satisfy fits; draw draws one.
func (g *gen) shaped(t nn.OperandType, fits func(d []uint32) bool, draw func() []uint32) uint32 {
	if x, ok := g.edge(t, func(o *nn.Operand) bool { return fits(o.Dimensions) }); ok {
		return x
	}
	return g.value(g.typed(t, bounded(draw())), filler{})
}

// like is a second operand of exactly these dimensions.
func (g *gen) like(t nn.OperandType, dims []uint32, f filler) uint32 {
	if f.unrestricted() {
		if x, ok := g.edge(t, func(o *nn.Operand) bool { return slices.Equal(o.Dimensions, dims) }); ok {
			return x
		}
	}
	return g.value(g.typed(t, append([]uint32(nil), dims...)), f)
}

// int32 is a scalar parameter.
func (g *gen) int32(v int) uint32 {
	return g.param(nn.Operand{Type: nn.Int32}, binary.LittleEndian.AppendUint32(nil, uint32(int32(v))))
}

func (g *gen) bool(v bool) uint32 {
	b := []byte{0}
	if v {
		b[0] = 1
	}
	return g.param(nn.Operand{Type: nn.Bool}, b)
}

// float is a scalar as wide as tensors of type k.
func (g *gen) float(k nn.OperandType, v float64) uint32 {
	if k == nn.TensorFloat16 {
		return g.param(nn.Operand{Type: nn.Float16}, binary.LittleEndian.AppendUint16(nil, float16.Fromfloat32(float32(v)).Bits()))
	}
	return g.param(nn.Operand{Type: nn.Float32}, binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(v))))
}

// int32s is a constant tensor that steers an operation.
func (g *gen) int32s(dims []int, values ...int) uint32 {
	o := nn.Operand{Type: nn.TensorInt32}
	for _, d := range dims {
		o.Dimensions = append(o.Dimensions, uint32(d))
	}
	b := make([]byte, 0, 4*len(values))
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, uint32(int32(v)))
	}
	return g.param(o, b)
}

// vector is int32s of rank 1.
func (g *gen) vector(values ...int) uint32 { return g.int32s([]int{len(values)}, values...) }

// real draws one of 64 steps in [lo, hi].
func (g *gen) real(lo, hi float64) float64 { return lo + (hi-lo)*float64(g.choose(65))/64 }

// axis draws an axis, sometimes counted from the back.
func (g *gen) axis(rank int) int {
	a := g.choose(rank)
	if g.chance(25) {
		return a - rank
	}
	return a
}

// activation is a fused activation; TENSOR_INT32 has none.
func (g *gen) activation(k nn.OperandType) uint32 {
	if k == nn.TensorInt32 {
		return g.int32(0)
	}
	return g.int32(g.choose(4))
}

// finish adds the operation. Outputs have their type and quantization; their shape is the inferred one, unless it is
// known only to an execution.
func (g *gen) finish(op nn.OperationType, in []uint32, outs ...nn.Operand) bool {
	o := nn.Operation{Type: op, Inputs: in}
	for _, x := range outs {
		x.Lifetime = nn.SubgraphOutput
		o.Outputs = append(o.Outputs, g.new(x, nil, false))
	}
	table := g.table.operations.Spec()
	view := opspec.View{Operands: append([]nn.Operand(nil), g.g.Operands...), Final: true, Table: table}
	for i := range view.Operands {
		x := &view.Operands[i]
		if g.params[i] && x.Lifetime == nn.SubgraphInput { // as the request will have it
			x.Lifetime = nn.ConstantCopy
		}
		if x.Lifetime == nn.ConstantCopy || x.Lifetime == nn.LifetimeSubgraph {
			x.Data = g.data[i]
		}
	}
	if table.Lookup(op).HasShapeRule() {
		dims, err := view.OutputDims(&o)
		if err != nil {
			return false
		}
		for i, x := range o.Outputs {
			if dims[i] != nil && (nn.Elements(dims[i]) < 1 || nn.Elements(dims[i]) > 4*maxElements) {
				return false
			}
			g.at(x).Dimensions = dims[i]
			g.leaveOpen(x)
		}
	}
	if g.work += view.MACs(&o); g.work > maxWork {
		return false
	}
	g.g.Operations = append(g.g.Operations, o)
	for i, x := range o.Outputs {
		if !isScratch(op, i) {
			g.results = append(g.results, x)
		}
	}
	return true
}

// isScratch reports whether output i of an operation has no defined value.
func isScratch(op nn.OperationType, i int) bool {
	r := opspec.Lookup(op)
	return r != nil && r.OutputName(i) == "scratch"
}

// scratch marks the outputs of a model that have no defined value.
func scratch(g *nn.Subgraph) []bool {
	marks := make([]bool, len(g.Outputs))
	for i := range g.Operations {
		op := &g.Operations[i]
		for k, x := range op.Outputs {
			if at := slices.Index(g.Outputs, x); at >= 0 && isScratch(op.Type, k) {
				marks[at] = true
			}
		}
	}
	return marks
}

// out is an output of type t for an operation whose first input is in: with
// the quantization that the operation's row fixes, else a drawn one.
func (g *gen) out(op nn.OperationType, t nn.OperandType, in uint32) nn.Operand {
	r := g.table.operations.Spec().Lookup(op)
	if s, z, ok := r.FixedOutQuant(t); ok {
		return nn.Operand{Type: t, Scale: s, ZeroPoint: z}
	}
	if i := g.at(in); r.SameQuant && i.Type == t {
		return nn.Operand{Type: t, Scale: i.Scale, ZeroPoint: i.ZeroPoint}
	}
	return g.typed(t, nil)
}

func isFloat(t nn.OperandType) bool { return t == nn.TensorFloat32 || t == nn.TensorFloat16 }
