package gpu

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// lowering turns the operations of a model into jobs. It is used twice: to ask
// whether an operation can be lowered, when jobs are thrown away, and to lower.
type lowering struct {
	g       *graph.Graph
	view    opspec.View
	relaxed bool
	target  *rdna2.Target
	storage []uint32 // of each operand, see graph.Storage; nil where only support is asked about

	op      int // of the model, being lowered
	tensors []*tensor
	values  map[uint32]*tensor // by operand
	jobs    []*job
	consts  constants
	zero    int     // bytes of the page of zeros
	lowest  [2]bool // whether pages of minus infinity are needed, by element
}

// job is one kernel launch to be.
type job struct {
	op            int
	reads, writes []*tensor
	// emit generates the kernel once the tensors have their places.
	emit func(l *lowering) (*launch, error)
}

// launch is a linked kernel and its grid.
type launch struct {
	op              int
	program         *rdna2.Program
	grid, workgroup [3]int
}

func newLowering(g *graph.Graph) *lowering {
	return &lowering{g: g, view: g.View(), relaxed: g.Relaxed, target: rdna2.NewTarget(), values: map[uint32]*tensor{}, zero: 256}
}

// lowerings are the operations this driver has, by NNAPI code.
var lowerings = map[nn.OperationType]func(*lowering, *nn.Operation) error{
	nn.OpConv2D:          (*lowering).conv,
	nn.OpDepthwiseConv2D: (*lowering).conv,
	nn.OpFullyConnected:  (*lowering).fullyConnected,
	nn.OpAveragePool2D:   (*lowering).pool,
	nn.OpMaxPool2D:       (*lowering).pool,
	nn.OpAdd:             (*lowering).binary,
	nn.OpSub:             (*lowering).binary,
	nn.OpMul:             (*lowering).binary,
	nn.OpDiv:             (*lowering).binary,
	nn.OpMaximum:         (*lowering).binary,
	nn.OpMinimum:         (*lowering).binary,
	nn.OpPrelu:           (*lowering).binary,
	nn.OpRelu:            (*lowering).unary,
	nn.OpRelu1:           (*lowering).unary,
	nn.OpRelu6:           (*lowering).unary,
	nn.OpLogistic:        (*lowering).unary,
	nn.OpTanh:            (*lowering).unary,
	nn.OpAbs:             (*lowering).unary,
	nn.OpNeg:             (*lowering).unary,
	nn.OpFloor:           (*lowering).unary,
	nn.OpSqrt:            (*lowering).unary,
	nn.OpRsqrt:           (*lowering).unary,
	nn.OpLog:             (*lowering).unary,
	nn.OpHardSwish:       (*lowering).unary,
	nn.OpQuantize:        (*lowering).quantize,
	nn.OpDequantize:      (*lowering).dequantize,
	nn.OpRequantize:      (*lowering).requantize,
	nn.OpReshape:         (*lowering).copy,
	nn.OpSqueeze:         (*lowering).copy,
	nn.OpExpandDims:      (*lowering).copy,
	nn.OpConcatenation:   (*lowering).concat,
	nn.OpPad:             (*lowering).pad,
	nn.OpSoftmax:         (*lowering).softmax,
	nn.OpMean:            (*lowering).mean,
	nn.OpTranspose:       (*lowering).strided,
	nn.OpSlice:           (*lowering).strided,
	nn.OpStridedSlice:    (*lowering).strided,
	nn.OpDepthToSpace:    (*lowering).strided,
	nn.OpSpaceToDepth:    (*lowering).strided,
	nn.OpBatchToSpaceNd:  (*lowering).strided,
	nn.OpSpaceToBatchNd:  (*lowering).strided,
	nn.OpChannelShuffle:  (*lowering).strided,
	nn.OpReverse:         (*lowering).strided,
}

// lower lowers operation i; the error says why it cannot be.
func (l *lowering) lower(i int) error {
	op := &l.g.Operations[i]
	f := lowerings[op.Type]
	if f == nil {
		return fmt.Errorf("%s has no lowering on this GPU", op.Type)
	}
	l.op = l.g.Origin[i]
	for _, list := range [2][]uint32{op.Inputs, op.Outputs} {
		for _, x := range list {
			if uint64(x) >= uint64(len(l.g.Operands)) {
				return fmt.Errorf("%s: operand %d of %d does not exist", op.Type, x, len(l.g.Operands))
			}
			o := &l.g.Operands[x]
			if o.Lifetime == nn.NoValue || o.Type.IsScalar() || o.IsConst() && len(o.Data) == 0 {
				continue // left out, or read when the model is prepared
			}
			if !o.Known() {
				return fmt.Errorf("%s: operand %d has an unknown shape %v", op.Type, x, o.Dimensions)
			}
			if b := o.Bytes(); b < 0 || b > maxRegion/4 {
				return fmt.Errorf("%s: operand %d of shape %v is too large", op.Type, x, o.Dimensions)
			}
		}
	}
	for _, x := range op.Outputs {
		if l.g.Operands[x].IsConst() {
			return fmt.Errorf("%s: output operand %d is a constant", op.Type, x)
		}
	}
	return f(l, op)
}

// elementOf is how an operand of a float type is stored.
func (l *lowering) elementOf(t nn.OperandType) (element, error) {
	switch {
	case t == nn.TensorFloat16, t == nn.TensorFloat32 && l.relaxed:
		return f16, nil
	case t == nn.TensorFloat32:
		return f32, nil
	}
	return 0, fmt.Errorf("type %s is not supported", t)
}

// value is the tensor of an operand.
func (l *lowering) value(i uint32) (*tensor, error) {
	if l.storage != nil {
		i = l.storage[i]
	}
	if t := l.values[i]; t != nil {
		return t, nil
	}
	o := &l.g.Operands[i]
	var e element
	switch o.Type {
	case nn.TensorQuant8Asymm:
		e = u8
	case nn.TensorQuant8AsymmSigned:
		e = i8
	default:
		var err error
		if e, err = l.elementOf(o.Type); err != nil {
			return nil, err
		}
	}
	n := int(o.Elements())
	if n == 0 {
		return nil, fmt.Errorf("operand %d of shape %v is empty", i, o.Dimensions)
	}
	t := &tensor{elem: e, n: n, first: -1}
	if o.IsConst() {
		data, err := l.view.Data(i)
		if err != nil {
			return nil, err
		}
		t.region = consts
		t.off = l.consts.reserve(n*e.bytes() + guard)
		out := l.consts.data[t.off:]
		if o.Type == nn.TensorFloat32 && e == f16 {
			for k := range n {
				v := math.Float32frombits(binary.LittleEndian.Uint32(data[4*k:]))
				binary.LittleEndian.PutUint16(out[2*k:], opspec.Float32ToFloat16(v))
			}
		} else {
			copy(out, data)
		}
	} else {
		l.tensors = append(l.tensors, t)
	}
	l.values[i] = t
	return t, nil
}

// pair is the input and output tensors of an operation with one of each.
func (l *lowering) pair(in, out uint32) (x, y *tensor, err error) {
	if x, err = l.value(in); err != nil {
		return nil, nil, err
	}
	y, err = l.value(out)
	return x, y, err
}

// temporary is a tensor between two jobs of one operation.
func (l *lowering) temporary(e element, n int) *tensor {
	t := &tensor{elem: e, n: n, first: -1}
	l.tensors = append(l.tensors, t)
	return t
}

// inArena is a tensor that tables of arena offsets can point into: a constant
// is copied.
func (l *lowering) inArena(t *tensor) *tensor {
	if t.region == arena {
		return t
	}
	c := l.temporary(t.elem, t.n)
	l.convert(t, c)
	return c
}

// add appends a job.
func (l *lowering) add(reads, writes []*tensor, emit func(l *lowering) (*launch, error)) {
	l.jobs = append(l.jobs, &job{op: l.op, reads: reads, writes: writes, emit: emit})
}

// finish links a kernel and names its grid: lanes in dimension 0, work-groups
// in the others.
func (a *asm) finish(lanes, y, z, workgroup int) (*launch, error) {
	p, err := a.Link()
	if err != nil {
		return nil, err
	}
	return &launch{program: p, grid: [3]int{lanes, y, z}, workgroup: [3]int{workgroup, 1, 1}}, nil
}

// floats reads a constant float operand as float32.
func (l *lowering) floats(i uint32, what string) ([]float32, error) {
	data, err := l.view.Data(i)
	if err != nil {
		return nil, fmt.Errorf("%s is not constant: %w", what, err)
	}
	switch t := l.g.Operands[i].Type; t {
	case nn.TensorFloat32:
		v := make([]float32, len(data)/4)
		for k := range v {
			v[k] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*k:]))
		}
		return v, nil
	case nn.TensorFloat16:
		v := make([]float32, len(data)/2)
		for k := range v {
			v[k] = opspec.Float16ToFloat32(binary.LittleEndian.Uint16(data[2*k:]))
		}
		return v, nil
	default:
		return nil, fmt.Errorf("%s of type %s is not supported", what, t)
	}
}

// putElement stores v as element e at b.
func putElement(e element, b []byte, v float32) {
	if e == f16 {
		binary.LittleEndian.PutUint16(b, opspec.Float32ToFloat16(v))
	} else {
		binary.LittleEndian.PutUint32(b, math.Float32bits(v))
	}
}
