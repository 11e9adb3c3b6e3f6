package onnx

import (
	"slices"

	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/nn"
)

// Forms of a value. ONNX has the channels of an image second, [N, C, H, W]; NNAPI's operations have channels last, [N,
// H, W, C]. The result of an operation on images stays so until an operator needs the file's order. A value after a
// DequantizeLinear is kept in its quantized form until an operator needs the reals.
const (
	real       = iota
	realImage  // channels last
	quant      // the quantized tensor that the reals represent
	quantImage // both
	forms
)

// value is the value of a name of the file, as operands that hold the same tensor.
type value struct {
	forms   [forms]uint32
	rank    int               // in the file, where there are images only
	missing bool              // the output of an operator without NNAPI form
	short   onnxfile.DataType // a type of the file that NNAPI holds in one of more bits: INT16, UINT4, BFLOAT16, ...; 0 else
	from    *lowering.Graph
	// sequence values are lists of parts, absent ones optional values that are not there: see sequence.go.
	sequence, absent bool
	parts            []*value
}

// tensor refuses a value that is no tensor.
func (g *graph) tensor(v *value) {
	switch {
	case v.sequence:
		g.Refusef("it reads a sequence as a tensor")
	case v.absent:
		g.Refusef("it reads an optional value that is absent")
	}
}

func plainValue(x uint32) *value {
	v := &value{}
	for i := range v.forms {
		v.forms[i] = none
	}
	v.forms[real] = x
	return v
}

// shortType is t where NNAPI holds it in a type of more bits, 0 else.
func shortType(t onnxfile.DataType) onnxfile.DataType {
	if o, ok := template(t); ok && t != onnxfile.Bool && t.Bits() < 8*o.Type.ElementBytes() {
		return t
	}
	return 0
}

// retyped are the operators whose result has not the type of input 0, with the input that it has the type of: -1 for
// none, since they state it themselves or it is no integer of 16 bits.
var retyped = map[string]int{
	"Where": 1, "CastLike": 1, "QuantizeLinear": 2, "Cast": -1, "DequantizeLinear": -1, "Shape": -1, "Size": -1, "ArgMax": -1, "ArgMin": -1, "Constant": -1,
	"ConstantOfShape": -1, "OneHot": 2, "If": -1, "Loop": -1, "Scan": -1, "NonZero": -1, "MatMulInteger": -1, "ConvInteger": -1,
}

// keepShort states that the outputs of a node are 16-bit integers where its input is.
func (c *conversion) keepShort() {
	k, ok := retyped[c.node.Op]
	if ok && k < 0 || domain(c.node.Domain) != "" || !c.has(k) || c.in[k].short == 0 {
		return
	}
	for i, name := range c.node.Outputs {
		if c.node.Op == "TopK" && i > 0 {
			break // places
		}
		v := c.values[name]
		if v == nil || v.missing || v.short != 0 {
			continue
		}
		if x := slices.IndexFunc(v.forms[:], func(x uint32) bool { return x != none }); x >= 0 && c.Operand(v.forms[x]).Type == nn.TensorInt32 {
			v.short = c.in[k].short
		}
	}
}

// valueAs is a value of one form.
func (g *graph) valueAs(form int, x uint32, rank int) *value {
	v := g.valueOf(none)
	v.forms[form], v.rank = x, rank
	return v
}

func (v *value) has(form int) bool { return v.forms[form] != none }

// quantized reports whether reals represent a quantized tensor.
func (v *value) quantized() bool { return v.has(quant) || v.has(quantImage) }

// imageOnly reports whether all forms have channels last.
func (v *value) imageOnly() bool { return !v.has(real) && !v.has(quant) }

// toImage and fromImage are the orders of dimensions between the file's and channels last.
var (
	toImage   = []int{0, 2, 3, 1}
	fromImage = []int{0, 3, 1, 2}
)

// real is the value as reals, or as the integers that it is in the file, in the file's
// order or with channels last.
func (g *graph) real(v *value, image bool) uint32 { return g.form(v, real, image) }

// quant is the quantized form of the value.
func (g *graph) quant(v *value, image bool) uint32 { return g.form(v, quant, image) }

func (g *graph) form(v *value, kind int, image bool) uint32 {
	g.tensor(v)
	at, other := kind, kind+1
	if image {
		at, other = other, at
	}
	switch {
	case v.has(at):
	case v.has(other) && image:
		v.forms[at] = g.imageOf(v.forms[other])
	case v.has(other):
		v.forms[at] = g.plainOf(v.forms[other], v.rank)
	case kind == quant:
		g.Failf("the value is not quantized")
	case v.has(at + quant):
		v.forms[at] = g.dequantized(v.forms[at+quant])
	default:
		v.forms[other] = g.dequantized(v.forms[other+quant])
		return g.form(v, kind, image)
	}
	return v.forms[at]
}

func (g *graph) dequantized(x uint32) uint32 {
	if o := g.Operand(x); o.Type == nn.TensorInt32 && o.IsConst() {
		return g.dequantizeConstant(x, []float32{o.Scale}, []int64{0}, 0, 0)
	}
	return g.As(x, nn.TensorFloat32)
}

// imageOf is x with channels last. Sequences [N, C, W] become images of one row.
func (g *graph) imageOf(x uint32) uint32 {
	dims := g.Dims(x)
	switch len(dims) {
	case 3:
		return g.transposed(g.reshaped(x, []uint32{dims[0], dims[1], 1, dims[2]}), toImage)
	case 4:
		return g.transposed(x, toImage)
	}
	g.Refusef("a tensor of shape %v is no image: NNAPI's have one or two dimensions beside batch and channels", dims)
	return none
}

// plainOf is an image in the file's order of dimensions.
func (g *graph) plainOf(x uint32, rank int) uint32 {
	y := g.transposed(x, fromImage)
	if rank == 3 {
		d := g.Dims(y)
		y = g.reshaped(y, []uint32{d[0], d[1], d[3]})
	}
	return y
}

// shape is the shape of a value in the file.
func (g *graph) shape(v *value) []uint32 {
	g.tensor(v)
	for _, form := range []int{real, quant} {
		if v.has(form) {
			return g.Dims(v.forms[form])
		}
	}
	x := v.forms[realImage]
	if x == none {
		x = v.forms[quantImage]
	}
	return g.shapeOfImage(g.Dims(x), v.rank)
}

// rank is the number of dimensions of a value in the file, whose lengths may be known only during execution.
func (g *graph) rank(v *value) int {
	g.tensor(v)
	for _, form := range []int{real, quant} {
		if v.has(form) {
			return g.Rank(v.forms[form])
		}
	}
	return v.rank
}

// isOpen reports whether dimensions of a value are known only during execution.
func (g *graph) isOpen(v *value) bool {
	g.tensor(v)
	x := v.forms[slices.IndexFunc(v.forms[:], func(x uint32) bool { return x != none })]
	return !g.ShapeKnown(x)
}

func (g *graph) shapeOfImage(d []uint32, rank int) []uint32 {
	if rank == 3 {
		return []uint32{d[0], d[3], d[2]}
	}
	return []uint32{d[0], d[3], d[1], d[2]}
}

// imageAxis is the axis of an image that an axis of the file is.
func imageAxis(axis, rank int) int {
	if rank == 3 {
		return []int{0, 3, 2}[axis]
	}
	return []int{0, 3, 1, 2}[axis]
}

// transposed permutes dimensions: of a constant now, of a tensor with one element along all moved axes by a new shape.
func (g *graph) transposed(x uint32, perm []int) uint32 {
	o := g.Operand(x)
	if !g.ShapeKnown(x) {
		return g.Transpose(x, slices.Clone(perm)...)
	}
	dims := g.Dims(x)
	if len(dims) != len(perm) {
		g.Failf("%d axes for shape %v", len(perm), dims)
	}
	if slices.IsSorted(perm) {
		return x
	}
	out := make([]uint32, len(perm))
	last, moved := -1, false
	for i, p := range perm {
		out[i] = dims[p]
		if dims[p] != 1 {
			moved = moved || p < last
			last = p
		}
	}
	switch {
	case g.IsEmpty(x):
		return g.Empty(*o, out)
	case o.IsConst() && g.Wide[x] == nil:
		return g.transposedConstant(x, perm, out)
	case !moved:
		return g.Reshape(x, out)
	}
	return g.Transpose(x, slices.Clone(perm)...)
}

func (g *graph) transposedConstant(x uint32, perm []int, out []uint32) uint32 {
	o := *g.Operand(x)
	dims := g.Dims(x)
	size := o.Type.ElementBytes()
	g.Spend(int64(len(o.Data)))
	data := make([]byte, len(o.Data))
	strides := make([]int, len(dims)) // of the source, in elements
	n := 1
	for i := len(dims) - 1; i >= 0; i-- {
		strides[i] = n
		n *= int(dims[i])
	}
	if n*size != len(data) {
		g.Failf("a constant of shape %v has %d bytes", dims, len(data))
	}
	index := make([]int, len(out))
	from := 0
	for at := 0; at < len(data); at += size {
		copy(data[at:at+size], o.Data[from*size:])
		for i := len(out) - 1; i >= 0; i-- {
			index[i]++
			from += strides[perm[i]]
			if index[i] < int(out[i]) {
				break
			}
			from -= index[i] * strides[perm[i]]
			index[i] = 0
		}
	}
	if o.Channel != nil {
		o.Channel = &nn.ChannelQuant{Dim: uint32(slices.Index(perm, int(o.Channel.Dim))), Scales: o.Channel.Scales}
	}
	o.Lifetime, o.Data, o.Dimensions = nn.ConstantCopy, data, lowering.Held(out)
	y := g.Add(o)
	g.SetShape(y, out)
	return y
}

// reshaped is x in another shape of as many elements; constants at once.
func (g *graph) reshaped(x uint32, shape []uint32) uint32 {
	if slices.Equal(g.Dims(x), shape) {
		return x
	}
	if o := *g.Operand(x); o.IsConst() {
		if nn.Elements(shape) != nn.Elements(g.Dims(x)) {
			g.Failf("shape %v for a constant of shape %v", shape, g.Dims(x))
		}
		if g.IsEmpty(x) {
			return g.Empty(o, shape)
		}
		if o.Channel != nil {
			return g.reshapedChannels(o, x, shape)
		}
		o.Dimensions = lowering.Held(shape)
		y := g.Add(o)
		g.SetShape(y, shape)
		if w, ok := g.Wide[x]; ok {
			g.Wide[y] = w
		}
		return y
	}
	return g.Reshape(x, shape)
}

// reshapedChannels is a new shape of a constant quantized per channel, whose channels stay
// a dimension.
func (g *graph) reshapedChannels(o nn.Operand, x uint32, shape []uint32) uint32 {
	old := g.Dims(x)
	before := nn.Elements(old[:o.Channel.Dim])
	for i, d := range shape {
		if nn.Elements(shape[:i]) == before && d == old[o.Channel.Dim] && len(shape) <= 4 {
			o.Channel = &nn.ChannelQuant{Dim: uint32(i), Scales: o.Channel.Scales}
			o.Dimensions = shape
			return g.Add(o)
		}
	}
	g.Refusef("a constant quantized per channel takes the shape %v", shape)
	return none
}

// same are operands of an operator that works element by element, in one order of
// dimensions and all as reals or all quantized.
type same struct {
	x     []uint32
	image bool
	rank  int
}

// commonLayout brings inputs into one order of dimensions: the file's, or channels last where
// one of them exists as such only. kind is real or quant.
func (c *conversion) commonLayout(kind int, ks ...int) same {
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
		s.image = s.image && !c.isOpen(c.v(k)) && len(c.shape(c.v(k))) <= s.rank
	}
	for _, k := range ks {
		x := none
		if v := c.v(k); s.image {
			x = c.asImage(v, kind, s.rank)
		} else {
			x = c.form(v, kind, false)
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

// asImage is a value with channels last beside images of a rank, to which it broadcasts.
func (c *conversion) asImage(v *value, kind, rank int) uint32 {
	shape := c.shape(v)
	switch {
	case len(shape) == rank:
		return c.form(v, kind, true)
	case nn.Elements(shape) == 1:
		return c.reshaped(c.form(v, kind, false), []uint32{1})
	}
	full := append(slices.Repeat([]uint32{1}, rank-len(shape)), shape...)
	return c.imageOf(c.reshaped(c.form(v, kind, false), full))
}

// convert converts all operands to an 8-bit type.
func (s *same) convert(c *conversion, t nn.OperandType) {
	for i, x := range s.x {
		s.x[i] = c.turned(x, t)
	}
}

// quantizable reports whether inputs and the operator's output are quantized.
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

// defineSame makes y the value of output 0, in the layout of the operands.
func (c *conversion) defineSame(y uint32, s same) {
	form := real
	if s.image {
		form = realImage
	}
	c.defineAs(0, form, y, s.rank)
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

// defineMoved makes y the value of output k in a form, of the rank of input 0.
func (c *conversion) defineMoved(k int, y uint32, form int) {
	rank := 0
	if isImage(form) {
		rank = len(c.shape(c.v(0)))
	}
	c.defineAs(k, form, y, rank)
}

// axisOf is an axis of the file in a form of rank dimensions.
func axisOf(axis, form, rank int) int {
	if isImage(form) {
		return imageAxis(axis, rank)
	}
	return axis
}

// oldBroadcast is the second operand with the broadcast of versions before 7: its dimensions are those of the first
// from an axis on, or the last ones.
func (c *conversion) oldBroadcast(a, b *value) *value {
	rank, shape := len(c.shape(a)), c.shape(b)
	axis := int(c.int("axis", int64(rank-len(shape))))
	if axis < 0 || axis+len(shape) > rank {
		c.Failf("axis %d for shapes %v and %v", axis, c.shape(a), shape)
	}
	x := c.real(b, false)
	return c.valueOf(c.reshaped(x, append(slices.Clone(shape), slices.Repeat([]uint32{1}, rank-axis-len(shape))...)))
}
