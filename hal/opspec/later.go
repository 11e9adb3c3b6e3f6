package opspec

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// frontAxis resolves an axis that may not count from the back.
func frontAxis(v int32, rank int) (int, error) {
	if v < 0 {
		return 0, fmt.Errorf("axis %d is negative", v)
	}
	return axis(v, rank)
}

// Pack reads a PACK: inputs of one shape, joined along a new axis. It is a
// Concat whose inputs have size 1 along that axis.
func (v View) Pack(op *nn.Operation) (Concat, error) {
	a, err := v.bindAs(op, nn.OpPack)
	if err != nil {
		return Concat{}, err
	}
	c := Concat{Inputs: a.Variadic(), Output: op.Outputs[0], Type: a.Key}
	x, err := a.Int32("axis")
	if err != nil {
		return c, err
	}
	var first []uint32
	for i, in := range c.Inputs {
		d, err := v.Dims(in)
		if err != nil {
			return c, a.errorf("inputs", "%w", err)
		}
		if i == 0 {
			first = d
			if c.Axis, err = frontAxis(x, len(d)+1); err != nil {
				return c, a.errorf("axis", "%w", err)
			}
		}
		if !sameDims(d, first) {
			return c, a.errorf("inputs", "input %d has shape %v, input 0 has %v", i, d, first)
		}
		c.Sizes = append(c.Sizes, int(nn.Elements(d[c.Axis:])))
	}
	c.Outer = int(nn.Elements(first[:c.Axis]))
	c.Dims = append(append(append([]uint32{}, first[:c.Axis]...), uint32(len(c.Inputs))), first[c.Axis:]...)
	if nn.Elements(c.Dims) < 0 {
		return c, a.errorf("inputs", "result %v is too large", c.Dims)
	}
	return c, nil
}

// Reverse reads a REVERSE: one axis is walked from its end.
func (v View) Reverse(op *nn.Operation) (Strided, error) {
	a, s, err := v.strided(op)
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

// MirrorPad reads a MIRROR_PAD.
func (v View) MirrorPad(op *nn.Operation) (MirrorPad, error) {
	a, err := v.bindAs(op, nn.OpMirrorPad)
	if err != nil {
		return MirrorPad{}, err
	}
	p := MirrorPad{Input: a.In("input"), Output: op.Outputs[0], Type: a.Key}
	if p.In, err = a.Dims("input"); err != nil {
		return p, err
	}
	mode, err := a.Int32("mode")
	if err != nil {
		return p, err
	}
	switch mode {
	case MirrorReflect:
		p.Edge = 1
	case MirrorSymmetric:
	default:
		return p, a.errorf("mode", "%d is not 0 or 1", mode)
	}
	d, err := a.Dims("paddings")
	if err != nil {
		return p, err
	}
	if len(p.In) == 0 || len(d) != 2 || int64(d[0]) != int64(len(p.In)) || d[1] != 2 {
		return p, a.errorf("paddings", "shape %v, [%d, 2] needed", d, len(p.In))
	}
	pads, err := a.Int32s("paddings")
	if err != nil {
		return p, err
	}
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

// BatchMatmul is a BATCH_MATMUL: for each of Batch, a matrix of Rows by Depth
// times one of Depth by Cols. A matrix with Adj is stored transposed.
type BatchMatmul struct {
	A, B, Output             uint32 // operand indexes
	Type                     nn.OperandType
	Dims                     []uint32
	Batch, Rows, Depth, Cols int
	AdjA, AdjB               bool
}

// BatchMatmul reads a BATCH_MATMUL.
func (v View) BatchMatmul(op *nn.Operation) (BatchMatmul, error) {
	a, err := v.bindAs(op, nn.OpBatchMatmul)
	if err != nil {
		return BatchMatmul{}, err
	}
	m := BatchMatmul{A: a.In("lhs"), B: a.In("rhs"), Output: op.Outputs[0], Type: a.Key}
	x, err := a.Dims("lhs")
	if err != nil {
		return m, err
	}
	y, err := a.Dims("rhs")
	if err != nil {
		return m, err
	}
	if m.AdjA, err = a.BoolOr("adj_x", false); err != nil {
		return m, err
	}
	if m.AdjB, err = a.BoolOr("adj_y", false); err != nil {
		return m, err
	}
	if len(x) < 2 || len(x) > 4 {
		return m, a.errorf("lhs", "rank %d, 2 to 4 needed", len(x))
	}
	at := len(x) - 2
	if len(y) != len(x) || !sameDims(x[:at], y[:at]) {
		return m, a.errorf("rhs", "shape %v, %v needs the same batches", y, x)
	}
	rows, depth := x[at], x[at+1]
	if m.AdjA {
		rows, depth = depth, rows
	}
	inner, cols := y[at], y[at+1]
	if m.AdjB {
		inner, cols = cols, inner
	}
	if inner != depth || rows == 0 || depth == 0 || cols == 0 {
		return m, a.errorf("rhs", "a matrix of %d by %d cannot follow one of %d by %d", inner, cols, rows, depth)
	}
	m.Batch, m.Rows, m.Depth, m.Cols = int(nn.Elements(x[:at])), int(rows), int(depth), int(cols)
	m.Dims = append(append([]uint32{}, x[:at]...), rows, cols)
	return m, nil
}

// MACs counts the multiply-accumulates.
func (m *BatchMatmul) MACs() int64 {
	return int64(m.Batch) * int64(m.Rows) * int64(m.Cols) * int64(m.Depth)
}

// Quant returns the arithmetic of a quantized BATCH_MATMUL; the second matrix
// takes the filter's place, and there is no bias.
func (m *BatchMatmul) Quant(v View) (GEMMQuant, error) {
	_, _, so, err := v.scales(m.A, m.B, m.Output)
	if err != nil {
		return GEMMQuant{}, err
	}
	a, b, o := &v.Operands[m.A], &v.Operands[m.B], &v.Operands[m.Output]
	q := GEMMQuant{InZero: a.ZeroPoint, FilterZero: b.ZeroPoint, OutZero: o.ZeroPoint}
	q.Mult = []Multiplier{QuantizeMultiplier(float64(a.Scale*b.Scale) / so)}
	q.Lo, q.Hi = QuantLimits(o.Type)
	return q, nil
}
