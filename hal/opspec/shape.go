package opspec

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// Concat is a CONCATENATION, seen as rows: for each of Outer, Sizes[i]
// contiguous elements of each input follow each other.
type Concat struct {
	Inputs []uint32 // operand indexes
	Output uint32
	Type   nn.OperandType
	Dims   []uint32 // of the output
	Axis   int
	Outer  int
	Sizes  []int // contiguous elements per input and outer index
}

// Concat reads a CONCATENATION.
func (v View) Concat(op *nn.Operation) (Concat, error) {
	a, err := v.bindAs(op, nn.OpConcatenation)
	if err != nil {
		return Concat{}, err
	}
	c := Concat{Inputs: a.Variadic(), Output: op.Outputs[0], Type: a.Key}
	ax, err := a.Int32("axis")
	if err != nil {
		return c, err
	}
	sum := int64(0)
	for i, x := range c.Inputs {
		d, err := v.Dims(x)
		if err != nil {
			return c, a.errorf("inputs", "%w", err)
		}
		if i == 0 {
			if len(d) > 4 {
				return c, a.errorf("inputs", "rank %d, at most 4", len(d))
			}
			if c.Axis, err = axis(ax, len(d)); err != nil {
				return c, a.errorf("axis", "%w", err)
			}
			c.Dims = append([]uint32(nil), d...)
			c.Outer = int(nn.Elements(d[:c.Axis]))
		}
		if len(d) != len(c.Dims) {
			return c, a.errorf("inputs", "input %d has rank %d, input 0 has %d", i, len(d), len(c.Dims))
		}
		for k := range d {
			if k != c.Axis && d[k] != c.Dims[k] {
				return c, a.errorf("inputs", "input %d has shape %v, input 0 differs in dimension %d", i, d, k)
			}
		}
		sum += int64(d[c.Axis])
		c.Sizes = append(c.Sizes, int(nn.Elements(d[c.Axis:])))
	}
	if sum > nn.MaxElements {
		return c, a.errorf("inputs", "%d along axis %d are too many", sum, c.Axis)
	}
	c.Dims[c.Axis] = uint32(sum)
	if nn.Elements(c.Dims) < 0 {
		return c, a.errorf("inputs", "result %v is too large", c.Dims)
	}
	return c, nil
}

// Copy is an operation that moves no element: RESHAPE, SQUEEZE or EXPAND_DIMS.
type Copy struct {
	Input, Output uint32 // operand indexes
	Type          nn.OperandType
	Dims          []uint32 // of the output
}

// Copy reads a RESHAPE, SQUEEZE or EXPAND_DIMS.
func (v View) Copy(op *nn.Operation) (Copy, error) {
	a, err := v.bindAs(op, nn.OpReshape, nn.OpSqueeze, nn.OpExpandDims)
	if err != nil {
		return Copy{}, err
	}
	c := Copy{Input: a.In("input"), Output: op.Outputs[0], Type: a.Key}
	in, err := a.Dims("input")
	if err != nil {
		return c, err
	}
	if r := a.Row.MaxRank; r > 0 && len(in) > r {
		return c, a.errorf("input", "rank %d, at most %d", len(in), r)
	}
	switch op.Type {
	case nn.OpReshape:
		c.Dims, err = a.reshaped(in)
	case nn.OpSqueeze:
		c.Dims, err = a.squeezed(in)
	default:
		c.Dims, err = a.expanded(in)
	}
	return c, err
}

func (a *Args) reshaped(in []uint32) ([]uint32, error) {
	shape, err := a.Int32s("shape")
	if err != nil {
		return nil, err
	}
	n, known, stretch := nn.Elements(in), int64(1), -1
	out := make([]uint32, len(shape))
	for i, s := range shape {
		switch {
		case s == -1 && stretch < 0:
			stretch = i
			continue
		case s < 0:
			return nil, a.errorf("shape", "%v has a second -1 or a negative entry", shape)
		case s != 0 && known > nn.MaxElements/int64(s):
			return nil, a.errorf("shape", "%v is too large", shape)
		}
		known *= int64(s)
		out[i] = uint32(s)
	}
	if stretch >= 0 {
		if known == 0 || n%known != 0 {
			return nil, a.errorf("shape", "%v cannot hold the input's %d elements", shape, n)
		}
		out[stretch] = uint32(n / known)
		known = n
	}
	if known != n {
		return nil, a.errorf("shape", "%v has %d elements, the input %d", shape, known, n)
	}
	return out, nil
}

func (a *Args) squeezed(in []uint32) ([]uint32, error) {
	drop := make([]bool, len(in))
	if !a.Has("dims") {
		for i, d := range in {
			drop[i] = d == 1
		}
	} else {
		dims, err := a.Int32s("dims")
		if err != nil {
			return nil, err
		}
		for _, d := range dims {
			i, err := axis(d, len(in))
			if err != nil {
				return nil, a.errorf("dims", "%w", err)
			}
			if in[i] != 1 {
				return nil, a.errorf("dims", "dimension %d is %d, 1 needed", i, in[i])
			}
			drop[i] = true
		}
	}
	out := []uint32{}
	for i, d := range in {
		if !drop[i] {
			out = append(out, d)
		}
	}
	if len(out) == 0 {
		out = append(out, 1)
	}
	return out, nil
}

func (a *Args) expanded(in []uint32) ([]uint32, error) {
	v, err := a.Int32("axis")
	if err != nil {
		return nil, err
	}
	at, err := axis(v, len(in)+1)
	if err != nil {
		return nil, a.errorf("axis", "%w", err)
	}
	out := append([]uint32(nil), in[:at]...)
	return append(append(out, 1), in[at:]...), nil
}

// Pad is a PAD: each dimension grows by elements before and after it, filled
// with zero (the zero point when quantized).
type Pad struct {
	Input, Output uint32 // operand indexes
	Type          nn.OperandType
	In, Dims      []uint32 // shapes of input and output
	Before, After []int    // per dimension
}

// Pad reads a PAD.
func (v View) Pad(op *nn.Operation) (Pad, error) {
	a, err := v.bindAs(op, nn.OpPad, nn.OpPadV2)
	if err != nil {
		return Pad{}, err
	}
	p := Pad{Input: a.In("input"), Output: op.Outputs[0], Type: a.Key}
	if p.In, err = a.Dims("input"); err != nil {
		return p, err
	}
	if len(p.In) > 4 {
		return p, a.errorf("input", "rank %d, at most 4", len(p.In))
	}
	d, err := a.Dims("paddings")
	if err != nil {
		return p, err
	}
	if len(d) != 2 || int(d[0]) != len(p.In) || d[1] != 2 {
		return p, a.errorf("paddings", "shape %v, [%d, 2] needed", d, len(p.In))
	}
	pads, err := a.Int32s("paddings")
	if err != nil {
		return p, err
	}
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

// Mean is a MEAN or another reduction over some axes.
type Mean struct {
	Input, Output uint32 // operand indexes
	Type          nn.OperandType
	In, Dims      []uint32 // shapes of input and output
	Reduce        []bool   // per input dimension
	KeepDims      bool
	Count         int // input elements per output element
}

// Mean reads a MEAN or a REDUCE operation.
func (v View) Mean(op *nn.Operation) (Mean, error) {
	a, err := v.bindAs(op, nn.OpMean, nn.OpReduceSum, nn.OpReduceProd, nn.OpReduceMax, nn.OpReduceMin,
		nn.OpReduceAll, nn.OpReduceAny)
	if err != nil {
		return Mean{}, err
	}
	m := Mean{Input: a.In("input"), Output: op.Outputs[0], Type: a.Key, Count: 1}
	if m.In, err = a.Dims("input"); err != nil {
		return m, err
	}
	if len(m.In) > 4 {
		return m, a.errorf("input", "rank %d, at most 4", len(m.In))
	}
	axes, err := a.Int32s("axes")
	if err != nil {
		return m, err
	}
	if op.Type == nn.OpMean {
		k, err := a.Int32("keep_dims")
		if err != nil {
			return m, err
		}
		m.KeepDims = k > 0
	} else if m.KeepDims, err = a.BoolOr("keep_dims", false); err != nil {
		return m, err
	}
	m.Reduce = make([]bool, len(m.In))
	for _, x := range axes {
		i, err := axis(x, len(m.In))
		if err != nil {
			return m, a.errorf("axes", "%w", err)
		}
		m.Reduce[i] = true
	}
	m.Dims = []uint32{}
	for i, d := range m.In {
		switch {
		case !m.Reduce[i]:
			m.Dims = append(m.Dims, d)
		case m.KeepDims:
			m.Dims = append(m.Dims, 1)
		}
		if m.Reduce[i] {
			m.Count *= int(d)
		}
	}
	if len(m.Dims) == 0 {
		m.Dims = append(m.Dims, 1)
	}
	if m.Count == 0 {
		return m, a.errorf("input", "shape %v has nothing to reduce", m.In)
	}
	return m, nil
}

// sameDims reports whether two shapes are equal.
func sameDims(a, b []uint32) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// mergeDims completes the declared shape have with the inferred one.
func mergeDims(have, want []uint32) error {
	if len(have) == 0 {
		return nil
	}
	if len(have) != len(want) {
		return fmt.Errorf("declared rank %d, the operation gives shape %v", len(have), want)
	}
	for i := range have {
		if have[i] != 0 && have[i] != want[i] {
			return fmt.Errorf("declared shape %v, the operation gives %v", have, want)
		}
	}
	return nil
}
