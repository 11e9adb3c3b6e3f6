package opspec

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
)

// stridedRows reorder or select elements.
var stridedRows = []Row{
	{Op: nn.OpTranspose, Since: V11, Types: floatQuant11, SameQuant: true, MaxRank: 4, Args: strided(readTranspose), Work: moved, Forms: []Form{
		{V11, "input:T perm:I32?", "output:T"},
	}},
	{Op: nn.OpSlice, Since: V12, Types: number12, SameQuant: true, Args: strided(readSlice),
		Work: WorkRule{Float: 2, Quant: 2, Rows: true},
		Forms: []Form{
			{V12, "input:T begin:I32 size:I32", "output:T"},
		}},
	{Op: nn.OpStridedSlice, Since: V11, Types: floatQuant11, SameQuant: true, MaxRank: 4, Args: strided(readStridedSlice),
		Work: WorkRule{Float: 2, Quant: 2, Rows: true},
		Forms: []Form{
			{V11, "input:T begin:I32 end:I32 strides:I32 begin_mask:int32 end_mask:int32 shrink_axis_mask:int32", "output:T"},
		}},
	{Op: nn.OpChannelShuffle, Since: V12, Types: floatQuant12, SameQuant: true, MaxRank: 4, Args: strided(readChannelShuffle),
		Work: moved,
		Forms: []Form{
			{V12, "input:T groups:int32 axis:int32", "output:T"},
		}},
	{Op: nn.OpReverse, Since: FL7, Types: "F16@FL7 F32@FL7 I32@FL7 Q8@FL7 Q8S@FL7", SameQuant: true, Args: strided(readReverse),
		Work: moved,
		Forms: []Form{
			{FL7, "input:T axis:I32", "output:T"},
		}},
}

// IsStrided reports whether Strided reads operations of the type.
func IsStrided(t nn.OperationType) bool { return Reads[Strided](t) }

// strided are the arguments of an operation that read reads.
func strided(read func(*Args) (Strided, error)) Arguments[Strided] {
	return Arguments[Strided]{Read: read, Shapes: one(func(s *Strided) []uint32 { return s.Dims })}
}

// Strided is an operation that reorders or selects elements: output element
// (i0, i1, ...) of the shape Walk, in row-major order, is input element
// Offset + i0*Strides[0] + i1*Strides[1] + ... The product of Walk is the
// number of output elements; its rank may differ from the output's.
//
// It covers TRANSPOSE, SLICE, STRIDED_SLICE, DEPTH_TO_SPACE, SPACE_TO_DEPTH,
// BATCH_TO_SPACE_ND, SPACE_TO_BATCH_ND, CHANNEL_SHUFFLE and REVERSE. With Padded set
// (SPACE_TO_BATCH_ND), the input is first padded to that shape.
type Strided struct {
	Input, Output uint32 // operand indexes
	Type          nn.OperandType
	In, Dims      []uint32 // shapes of input and output
	Walk          []uint32
	Strides       []int
	Offset        int
	Padded        []uint32
	Before        []int // padding before each dimension, with Padded
	Perm          []int // of TRANSPOSE: the dimension of the input that each of the output is
}

// strided reads the common part.
func (a *Args) strided() (Strided, error) {
	s := Strided{Input: a.In("input"), Output: a.Op.Outputs[0], Type: a.Key}
	var err error
	s.In, err = a.Dims("input")
	if err == nil && a.Row.MaxRank > 0 && len(s.In) > a.Row.MaxRank {
		err = a.errorf("input", "rank %d, at most %d", len(s.In), a.Row.MaxRank)
	}
	return s, err
}

// step appends an axis to the walk.
func (s *Strided) step(size, stride int) {
	s.Walk = append(s.Walk, uint32(size))
	s.Strides = append(s.Strides, stride)
}

// denseStrides are the strides of a row-major tensor.
func denseStrides(dims []uint32) []int {
	s := make([]int, len(dims))
	n := 1
	for i := len(dims) - 1; i >= 0; i-- {
		s[i] = n
		n *= int(dims[i])
	}
	return s
}

// readTranspose reads a TRANSPOSE.
func readTranspose(a *Args) (Strided, error) {
	s := try.V(a.strided())
	rank := len(s.In)
	perm := make([]int32, rank)
	for i := range perm {
		perm[i] = int32(rank - 1 - i)
	}
	if a.Has("perm") {
		perm = try.V(a.Int32s("perm"))
	} else if rank != 2 {
		return s, a.errorf("perm", "is omitted for rank %d, only rank 2 has one without", rank)
	}
	if len(perm) != rank {
		return s, a.errorf("perm", "%d entries for rank %d", len(perm), rank)
	}
	strides, used := denseStrides(s.In), make([]bool, rank)
	for _, p := range perm {
		if p < 0 || int(p) >= rank || used[p] {
			return s, a.errorf("perm", "%v is no permutation", perm)
		}
		used[p] = true
		s.Perm = append(s.Perm, int(p))
		s.step(int(s.In[p]), strides[p])
	}
	s.Dims = s.Walk
	return s, nil
}

// readSlice reads a SLICE.
func readSlice(a *Args) (Strided, error) {
	s := try.V(a.strided())
	begin := try.V(a.Int32s("begin"))
	size := try.V(a.Int32s("size"))
	if len(begin) != len(s.In) || len(size) != len(s.In) {
		return s, a.errorf("begin", "%d begins and %d sizes for rank %d", len(begin), len(size), len(s.In))
	}
	strides := denseStrides(s.In)
	for i, d := range s.In {
		b, n := int64(begin[i]), int64(size[i])
		if n == -1 {
			n = int64(d) - b
		}
		if b < 0 || n < 0 || b+n > int64(d) {
			return s, a.errorf("begin", "%d elements from %d in dimension %d of %v", n, b, i, s.In)
		}
		s.step(int(n), strides[i])
		s.Offset += int(b) * strides[i]
	}
	s.Dims = s.Walk
	return s, nil
}

// clampIndex moves an index of STRIDED_SLICE into the dimension; a negative
// one counts from the end.
func clampIndex(i int32, dim int, forward bool) int {
	n := int64(i)
	d := int64(dim)
	switch {
	case forward && n >= d:
		return dim
	case !forward && n < -d:
		return -1
	case forward:
		n = max(n, -d)
	default:
		n = min(n, d-1)
	}
	if n < 0 {
		n += d
	}
	return int(n)
}

// readStridedSlice reads a STRIDED_SLICE.
func readStridedSlice(a *Args) (Strided, error) {
	s := try.V(a.strided())
	var lists [3][]int32
	for i, name := range []string{"begin", "end", "strides"} {
		lists[i] = try.V(a.Int32s(name))
		if len(lists[i]) != len(s.In) {
			return s, a.errorf(name, "%d entries for rank %d", len(lists[i]), len(s.In))
		}
	}
	var masks [3]int32
	for i, name := range []string{"begin_mask", "end_mask", "shrink_axis_mask"} {
		masks[i] = try.V(a.Int32(name))
	}
	strides := denseStrides(s.In)
	s.Dims = []uint32{}
	for i, d := range s.In {
		stride := lists[2][i]
		if stride == 0 {
			return s, a.errorf("strides", "stride of dimension %d is 0", i)
		}
		forward := stride > 0
		begin, end := clampIndex(lists[0][i], int(d), forward), clampIndex(lists[1][i], int(d), forward)
		if masks[0]>>i&1 != 0 {
			begin = 0
			if !forward {
				begin = int(d) - 1
			}
		}
		if masks[1]>>i&1 != 0 {
			end = int(d)
			if !forward {
				end = -1
			}
		}
		n := max(int(math.Ceil(float64(end-begin)/float64(stride))), 0)
		s.step(n, int(stride)*strides[i])
		if n > 0 {
			s.Offset += begin * strides[i]
		}
		switch shrink := masks[2]>>i&1 != 0; {
		case !shrink:
			s.Dims = append(s.Dims, uint32(n))
		case !forward:
			return s, a.errorf("shrink_axis_mask", "dimension %d has stride %d, a positive one is needed", i, stride)
		case n != 1:
			return s, a.errorf("shrink_axis_mask", "dimension %d has %d elements, 1 is needed", i, n)
		}
	}
	if len(s.Dims) == 0 {
		s.Dims = append(s.Dims, 1)
	}
	return s, nil
}

// readChannelShuffle reads a CHANNEL_SHUFFLE.
func readChannelShuffle(a *Args) (Strided, error) {
	s := try.V(a.strided())
	groups := try.V(a.Int32("groups"))
	x := try.V(a.Int32("axis"))
	at, err := axis(x, len(s.In))
	if err != nil {
		return s, a.errorf("axis", "%w", err)
	}
	outer, d, inner := splitAt(s.In, at)
	g := int(groups)
	if g < 1 || d%g != 0 {
		return s, a.errorf("groups", "%d for %d channels", g, d)
	}
	s.step(outer, d*inner)
	s.step(d/g, inner)
	s.step(g, d/g*inner)
	s.step(inner, 1)
	s.Dims = s.In
	return s, nil
}

// readReverse reads a REVERSE: one axis is walked from its end.
func readReverse(a *Args) (Strided, error) {
	s := try.V(a.strided())
	axes := try.V(a.Int32s("axis"))
	if len(axes) != 1 {
		return s, a.errorf("axis", "%d axes, 1 needed", len(axes))
	}
	at, err := frontAxis(axes[0], len(s.In))
	if err != nil {
		return s, a.errorf("axis", "%w", err)
	}
	s.Dims = s.In
	for i, stride := range denseStrides(s.In) {
		n := int(s.In[i])
		if i == at && n > 0 {
			s.Offset = (n - 1) * stride
			stride = -stride
		}
		s.step(n, stride)
	}
	return s, nil
}

// padRows make a tensor larger around its edges.
var padRows = []Row{
	{Op: nn.OpPad, Since: V11, Types: floatQuant11, MaxRank: 4, Args: padArgs, Until12: zeroPoint0Until12, Work: padded, Forms: []Form{
		{V11, "input:T paddings:I32", "output:T"},
	}},
	{Op: nn.OpPadV2, Since: V12, Types: floatQuant12, SameQuant: true, MaxRank: 4, Args: padArgs, Work: padded, Forms: []Form{
		{V12, "input:T paddings:I32 pad_value:P", "output:T"},
	}},
	{Op: nn.OpMirrorPad, Since: FL7, Types: "F16@FL7 F32@FL7 I32@FL7 Q8@FL7 Q8S@FL7", SameQuant: true, Args: mirrorPadArgs,
		Work: moved,
		Forms: []Form{
			{FL7, "input:T paddings:I32 mode:int32", "output:T"},
		}},
}

// padded is the work of PAD: rows are copied whole, but one element at a time of signed
// bytes, as TensorFlow Lite has it (PadImageStyle has vector forms for float and unsigned
// bytes alone).
var padded = WorkRule{Float: 1, Quant: 1, Also: func(a *Args, w *Work) {
	if a.Key == nn.TensorQuant8AsymmSigned {
		w.Scalars = outputElements(a)
	}
}}

var (
	padArgs       = Arguments[Pad]{Read: readPad, Shapes: one(func(p *Pad) []uint32 { return p.Dims })}
	mirrorPadArgs = Arguments[MirrorPad]{Read: readMirrorPad, Shapes: one(func(p *MirrorPad) []uint32 { return p.Dims })}
)

// Pad is a PAD or PAD_V2: each dimension grows by elements before and after it, filled
// with Value, of PAD with zero (the zero point when quantized).
type Pad struct {
	Input, Value, Output uint32 // operand indexes; Value is None of PAD
	Type                 nn.OperandType
	In, Dims             []uint32 // shapes of input and output
	Before, After        []int    // per dimension
}

func readPad(a *Args) (Pad, error) {
	p := Pad{Input: a.In("input"), Value: a.In("pad_value"), Output: a.Op.Outputs[0], Type: a.Key}
	p.In = try.V(a.Dims("input"))
	if len(p.In) > 4 {
		return p, a.errorf("input", "rank %d, at most 4", len(p.In))
	}
	d := try.V(a.Dims("paddings"))
	if len(d) != 2 || int(d[0]) != len(p.In) || d[1] != 2 {
		return p, a.errorf("paddings", "shape %v, [%d, 2] needed", d, len(p.In))
	}
	pads := try.V(a.Int32s("paddings"))
	for i, n := range p.In {
		before, after := pads[2*i], pads[2*i+1]
		total := int64(n) + int64(before) + int64(after)
		if before < 0 || after < 0 || total > nn.MaxElements {
			return p, a.errorf("paddings", "%d and %d for dimension %d", before, after, i)
		}
		p.Before, p.After = append(p.Before, int(before)), append(p.After, int(after))
		p.Dims = append(p.Dims, uint32(total))
	}
	if nn.Elements(p.Dims) < 0 {
		return p, a.errorf("paddings", "result %v is too large", p.Dims)
	}
	return p, nil
}

// Modes of MIRROR_PAD.
const (
	MirrorReflect   = 0 // the edge is not repeated
	MirrorSymmetric = 1 // the edge is repeated
)

// MirrorPad is a MIRROR_PAD: each dimension grows by a mirror image of its
// beginning and of its end.
type MirrorPad struct {
	Input, Output uint32 // operand indexes
	Type          nn.OperandType
	In, Dims      []uint32 // shapes of input and output
	Before        []int    // per dimension
	Edge          int      // elements at the mirror that are not repeated: 0 or 1
}

// Source is the input coordinate that output coordinate i of dimension d
// shows.
func (p *MirrorPad) Source(d, i int) int {
	n := int(p.In[d])
	switch i -= p.Before[d]; {
	case i < 0:
		return p.Edge - 1 - i
	case i >= n:
		return 2*n - 1 - p.Edge - i
	}
	return i
}

func readMirrorPad(a *Args) (MirrorPad, error) {
	p := MirrorPad{Input: a.In("input"), Output: a.Op.Outputs[0], Type: a.Key}
	p.In = try.V(a.Dims("input"))
	mode := try.V(a.Int32("mode"))
	switch mode {
	case MirrorReflect:
		p.Edge = 1
	case MirrorSymmetric:
	default:
		return p, a.errorf("mode", "%d is not 0 or 1", mode)
	}
	d := try.V(a.Dims("paddings"))
	if len(p.In) == 0 || len(d) != 2 || int64(d[0]) != int64(len(p.In)) || d[1] != 2 {
		return p, a.errorf("paddings", "shape %v, [%d, 2] needed", d, len(p.In))
	}
	pads := try.V(a.Int32s("paddings"))
	for i, n := range p.In {
		before, after := int64(pads[2*i]), int64(pads[2*i+1])
		most := max(int64(n)-int64(p.Edge), 0)
		if before < 0 || after < 0 || before > most || after > most {
			return p, a.errorf("paddings", "%d and %d for dimension %d, at most %d can be mirrored", before, after, i, most)
		}
		total := int64(n) + before + after
		if total > nn.MaxElements {
			return p, a.errorf("paddings", "%d and %d for dimension %d are too many", before, after, i)
		}
		p.Before = append(p.Before, int(before))
		p.Dims = append(p.Dims, uint32(total))
	}
	return p, nil
}

// zeroPoint0Until12 demands that what a quantized operation pads with is 0.
func zeroPoint0Until12(a *Args) error {
	if z := a.quantOf(a.Op.Inputs[0]).ZeroPoint; a.Key == nn.TensorQuant8Asymm && z != 0 {
		return fmt.Errorf("%s: zero point %d of the input needs HAL 1.2", a.Op.Type, z)
	}
	return nil
}
