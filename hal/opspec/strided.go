package opspec

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
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
	{Op: nn.OpDepthToSpace, Since: V10, Types: floatQuant10, SameQuant: true, Rank: 4, Args: strided(readDepthToSpace),
		Work: moved,
		Forms: []Form{
			{V10, "input:T block_size:int32 [1.2 nchw:bool=0]", "output:T"},
		}},
	{Op: nn.OpSpaceToDepth, Since: V10, Types: floatQuant10, SameQuant: true, Rank: 4, Args: strided(readSpaceToDepth),
		Work: moved,
		Forms: []Form{
			{V10, "input:T block_size:int32 [1.2 nchw:bool=0]", "output:T"},
		}},
	{Op: nn.OpBatchToSpaceNd, Since: V11, Types: floatQuant11, SameQuant: true, Rank: 4, Args: strided(readBatchToSpace),
		Work: moved,
		Forms: []Form{
			{V11, "input:T block_shape:I32 [1.2 nchw:bool=0]", "output:T"},
		}},
	{Op: nn.OpSpaceToBatchNd, Since: V11, Types: floatQuant11, SameQuant: true, Rank: 4, Args: strided(readSpaceToBatch), Until12: zeroPoint0Until12,
		Work: moved,
		Forms: []Form{
			{V11, "input:T block_shape:I32 paddings:I32 [1.2 nchw:bool=0]", "output:T"},
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
}

// Strided reads an operation that only reorders or selects elements.
func (v View) Strided(op *nn.Operation) (Strided, error) { return Read[Strided](v, op) }

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

// imageStrides are the strides of N, H, W, C of an image.
func imageStrides(dims []uint32, nchw bool) (n, h, w, c int) {
	s := denseStrides(dims)
	if nchw {
		return s[0], s[2], s[3], s[1]
	}
	return s[0], s[1], s[2], s[3]
}

// readTranspose reads a TRANSPOSE.
func readTranspose(a *Args) (Strided, error) {
	s, err := a.strided()
	if err != nil {
		return s, err
	}
	rank := len(s.In)
	perm := make([]int32, rank)
	for i := range perm {
		perm[i] = int32(rank - 1 - i)
	}
	if a.Has("perm") {
		if perm, err = a.Int32s("perm"); err != nil {
			return s, err
		}
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
		s.step(int(s.In[p]), strides[p])
	}
	s.Dims = s.Walk
	return s, nil
}

// readSlice reads a SLICE.
func readSlice(a *Args) (Strided, error) {
	s, err := a.strided()
	if err != nil {
		return s, err
	}
	begin, err := a.Int32s("begin")
	if err != nil {
		return s, err
	}
	size, err := a.Int32s("size")
	if err != nil {
		return s, err
	}
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
	s, err := a.strided()
	if err != nil {
		return s, err
	}
	var lists [3][]int32
	for i, name := range []string{"begin", "end", "strides"} {
		if lists[i], err = a.Int32s(name); err != nil {
			return s, err
		}
		if len(lists[i]) != len(s.In) {
			return s, a.errorf(name, "%d entries for rank %d", len(lists[i]), len(s.In))
		}
	}
	var masks [3]int32
	for i, name := range []string{"begin_mask", "end_mask", "shrink_axis_mask"} {
		if masks[i], err = a.Int32(name); err != nil {
			return s, err
		}
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

// imageArgs reads an operation on an image that may be NCHW.
func (a *Args) imageArgs() (s Strided, nchw bool, err error) {
	if s, err = a.strided(); err != nil {
		return
	}
	if len(s.In) != 4 {
		err = a.errorf("input", "rank %d, 4 needed", len(s.In))
		return
	}
	nchw, err = a.Bool("nchw")
	return
}

// readDepthToSpace reads a DEPTH_TO_SPACE.
func readDepthToSpace(a *Args) (Strided, error) {
	s, nchw, err := a.imageArgs()
	if err != nil {
		return s, err
	}
	n, h, w, c, err := a.image("input", nchw)
	if err != nil {
		return s, err
	}
	block, err := a.Int32("block_size")
	if err != nil {
		return s, err
	}
	b := int(block)
	if b < 1 || b > 1<<15 || c%(b*b) != 0 {
		return s, a.errorf("block_size", "%d for %d channels", block, c)
	}
	d := c / (b * b)
	sn, sh, sw, sc := imageStrides(s.In, nchw)
	s.step(n, sn)
	if nchw {
		s.step(d, sc)
	}
	s.step(h, sh)
	s.step(b, b*d*sc)
	s.step(w, sw)
	s.step(b, d*sc)
	if !nchw {
		s.step(d, sc)
	}
	s.Dims = imageDims(n, h*b, w*b, d, nchw)
	return s, nil
}

// readSpaceToDepth reads a SPACE_TO_DEPTH.
func readSpaceToDepth(a *Args) (Strided, error) {
	s, nchw, err := a.imageArgs()
	if err != nil {
		return s, err
	}
	n, h, w, c, err := a.image("input", nchw)
	if err != nil {
		return s, err
	}
	block, err := a.Int32("block_size")
	if err != nil {
		return s, err
	}
	b := int(block)
	if b < 1 || h%b != 0 || w%b != 0 {
		return s, a.errorf("block_size", "%d for an image of %dx%d", block, h, w)
	}
	sn, sh, sw, sc := imageStrides(s.In, nchw)
	s.step(n, sn)
	if !nchw {
		s.step(h/b, b*sh)
		s.step(w/b, b*sw)
	}
	s.step(b, sh)
	s.step(b, sw)
	s.step(c, sc)
	if nchw {
		s.step(h/b, b*sh)
		s.step(w/b, b*sw)
	}
	s.Dims = imageDims(n, h/b, w/b, c*b*b, nchw)
	return s, nil
}

// blockShape reads the two block sizes.
func (a *Args) blockShape() (bh, bw int, err error) {
	b, err := a.Int32s("block_shape")
	if err != nil {
		return 0, 0, err
	}
	if len(b) != 2 || b[0] < 1 || b[1] < 1 || int64(b[0])*int64(b[1]) > nn.MaxElements {
		return 0, 0, a.errorf("block_shape", "%v, two positive sizes needed", b)
	}
	return int(b[0]), int(b[1]), nil
}

// readBatchToSpace reads a BATCH_TO_SPACE_ND.
func readBatchToSpace(a *Args) (Strided, error) {
	s, nchw, err := a.imageArgs()
	if err != nil {
		return s, err
	}
	n, h, w, c, err := a.image("input", nchw)
	if err != nil {
		return s, err
	}
	bh, bw, err := a.blockShape()
	if err != nil {
		return s, err
	}
	if n%(bh*bw) != 0 {
		return s, a.errorf("block_shape", "%dx%d for %d batches", bh, bw, n)
	}
	m := n / (bh * bw)
	sn, sh, sw, sc := imageStrides(s.In, nchw)
	s.step(m, sn)
	if nchw {
		s.step(c, sc)
	}
	s.step(h, sh)
	s.step(bh, bw*m*sn)
	s.step(w, sw)
	s.step(bw, m*sn)
	if !nchw {
		s.step(c, sc)
	}
	s.Dims = imageDims(m, h*bh, w*bw, c, nchw)
	return s, nil
}

// readSpaceToBatch reads a SPACE_TO_BATCH_ND.
func readSpaceToBatch(a *Args) (Strided, error) {
	s, nchw, err := a.imageArgs()
	if err != nil {
		return s, err
	}
	n, h, w, c, err := a.image("input", nchw)
	if err != nil {
		return s, err
	}
	bh, bw, err := a.blockShape()
	if err != nil {
		return s, err
	}
	p, err := a.Int32s("paddings")
	if err != nil {
		return s, err
	}
	if len(p) != 4 || min(p[0], p[1], p[2], p[3]) < 0 || max(p[0], p[1], p[2], p[3]) > 1<<24 {
		return s, a.errorf("paddings", "%v, four sizes needed", p)
	}
	h += int(p[0]) + int(p[1])
	w += int(p[2]) + int(p[3])
	if h%bh != 0 || w%bw != 0 {
		return s, a.errorf("block_shape", "%dx%d for a padded image of %dx%d", bh, bw, h, w)
	}
	s.Padded, s.Before = imageDims(n, h, w, c, nchw), []int{0, int(p[0]), int(p[2]), 0}
	if nchw {
		s.Before = []int{0, 0, int(p[0]), int(p[2])}
	}
	if nn.Elements(s.Padded) < 0 {
		return s, a.errorf("paddings", "shape %v is too large", s.Padded)
	}
	sn, sh, sw, sc := imageStrides(s.Padded, nchw)
	s.step(bh, sh)
	s.step(bw, sw)
	s.step(n, sn)
	if nchw {
		s.step(c, sc)
	}
	s.step(h/bh, bh*sh)
	s.step(w/bw, bw*sw)
	if !nchw {
		s.step(c, sc)
	}
	s.Dims = imageDims(n*bh*bw, h/bh, w/bw, c, nchw)
	return s, nil
}

// readChannelShuffle reads a CHANNEL_SHUFFLE.
func readChannelShuffle(a *Args) (Strided, error) {
	s, err := a.strided()
	if err != nil {
		return s, err
	}
	groups, err := a.Int32("groups")
	if err != nil {
		return s, err
	}
	x, err := a.Int32("axis")
	if err != nil {
		return s, err
	}
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
	s, err := a.strided()
	if err != nil {
		return s, err
	}
	axes, err := a.Int32s("axis")
	if err != nil {
		return s, err
	}
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
