package onnx

import (
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// same are operands of an operator that works element by element, in one order of
// dimensions and all as reals or all quantized.
type same struct {
	x     []uint32
	image bool
	rank  int
}

// together brings inputs into one order of dimensions: the file's, or channels last where
// one of them exists as such only. kind is real or quant.
func (c *conversion) together(kind int, ks ...int) same {
	s := same{}
	if c.opset < 7 && len(ks) == 2 && c.flag("broadcast", 0) {
		c.in[ks[1]] = c.oldBroadcast(c.v(ks[0]), c.v(ks[1]))
	}
	for _, k := range ks {
		v := c.v(k)
		if v.forms[kind] == none && v.forms[kind+1] == none { // reals of a quantized tensor
			c.form(v, kind, !v.has(quant))
		}
		if v.forms[kind] == none {
			s.image, s.rank = true, v.rank
		}
	}
	for _, k := range ks {
		s.image = s.image && len(c.shape(c.v(k))) <= s.rank
	}
	for _, k := range ks {
		v := c.v(k)
		shape := c.shape(v)
		var x uint32
		switch {
		case !s.image:
			x = c.form(v, kind, false)
		case len(shape) == s.rank:
			x = c.form(v, kind, true)
		case nn.Elements(shape) == 1:
			x = c.reshaped(c.form(v, kind, false), []uint32{1})
		default:
			full := append(slices.Repeat([]uint32{1}, s.rank-len(shape)), shape...)
			x = c.imageOf(c.reshaped(c.form(v, kind, false), full))
		}
		if kind == real {
			x = c.number(c.narrow(x))
		}
		s.x = append(s.x, x)
	}
	if len(s.x) == 2 && !s.image {
		s.x[0], s.x[1] = c.Aligned(s.x[0], s.x[1])
	}
	return s
}

// turn gives all operands an 8-bit type.
func (s *same) turn(c *conversion, t nn.OperandType) {
	for i, x := range s.x {
		s.x[i] = c.turned(x, t)
	}
}

// quantizable reports whether inputs are quantized and so is what the operator gives.
func (c *conversion) quantizable(fuse bool, ks ...int) (t target, ok bool) {
	for _, k := range ks {
		v := c.v(k)
		if !v.quantized() {
			return t, false
		}
		for _, form := range []int{quant, quantImage} {
			if v.has(form) && !c.Operand(v.forms[form]).Type.IsQuant8() {
				return t, false
			}
		}
	}
	return c.target(fuse)
}

// quantizableProduct is quantizable for an input and weights, which may have a scale per
// channel.
func (c *conversion) quantizableProduct() (t target, ok bool) {
	if w := c.v(1); w.has(quant) && c.Operand(w.forms[quant]).Channel != nil {
		return c.quantizable(true, 0)
	}
	return c.quantizable(true, 0, 1)
}

// giveSame makes y the value of output 0, in the order of the operands.
func (c *conversion) giveSame(y uint32, s same) {
	form := real
	if s.image {
		form = realImage
	}
	c.giveAs(0, form, y, s.rank)
}

// moved is input 0 in the form that is there, for an operator that only moves elements:
// quantized before reals, the file's order before channels last unless plain demands it.
func (c *conversion) moved(plain bool) (x uint32, form int) {
	v := c.v(0)
	kind := real
	if v.quantized() {
		kind = quant
	}
	if !plain && v.forms[kind] == none && v.forms[kind+1] != none {
		return c.narrow(v.forms[kind+1]), kind + 1
	}
	x = c.form(v, kind, false)
	if c.Operand(x).Channel != nil { // only its whole constant has the scales
		return c.real(v, false), real
	}
	return x, kind
}

// isImage reports whether a form has channels last.
func isImage(form int) bool { return form == realImage || form == quantImage }

// giveMoved makes y the value of output k in a form, of the rank of input 0.
func (c *conversion) giveMoved(k int, y uint32, form int) {
	rank := 0
	if isImage(form) {
		rank = len(c.shape(c.v(0)))
	}
	c.giveAs(k, form, y, rank)
}

// axisOf is an axis of the file in a form of rank dimensions.
func axisOf(axis, form, rank int) int {
	if isImage(form) {
		return imageAxis(axis, rank)
	}
	return axis
}

// oldBroadcast is the second operand as versions before 7 broadcast it: its dimensions are
// those of the first from an axis on, or the last ones.
func (c *conversion) oldBroadcast(a, b *value) *value {
	rank, shape := len(c.shape(a)), c.shape(b)
	axis := int(c.int("axis", int64(rank-len(shape))))
	if axis < 0 || axis+len(shape) > rank {
		c.Failf("axis %d for shapes %v and %v", axis, c.shape(a), shape)
	}
	x := c.real(b, false)
	return c.valueOf(c.reshaped(x, append(slices.Clone(shape), slices.Repeat([]uint32{1}, rank-axis-len(shape))...)))
}
