package onnx

import (
	"slices"

	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/refcpu/hostop"
	"github.com/nnsoc/nnsoc/refcpu/hostop/resample"
)

// hostForm is an operator outside NNAPI: the operation of the host that it is where NNAPI has no form for it, because of
// its kind or of values that only an execution knows.
type hostForm struct {
	op     nn.OperationType
	inputs int // of them that the operation needs
	// operands are those of the operation; nil: the inputs in order.
	operands func(c *conversion) []uint32
	// attributes makes the operation's attributes; nil makes none.
	attributes func(c *conversion) []int64
	// results are the outputs' types and shapes, as far as they are known.
	results func(c *conversion) []nn.Operand
}

// hostForms are the operators that run on the host where NNAPI has no form, by name in the standard's domain.
var hostForms = map[string]hostForm{
	"NonZero":           {op: nn.OpHostNonZero, inputs: 1, attributes: fixed(0), results: func(c *conversion) []nn.Operand { return []nn.Operand{open(nn.TensorInt32, max(c.Rank(c.x(0)), 1), 0)} }},
	"NonMaxSuppression": {op: nn.OpHostNonMaxSuppression, inputs: 2, attributes: attributeInts("center_point_box", 0), results: func(*conversion) []nn.Operand { return []nn.Operand{open(nn.TensorInt32, 0, 3)} }},
	"Unique":            {op: nn.OpHostUnique, inputs: 1, attributes: func(c *conversion) []int64 { return []int64{c.axisOrNone(), c.int("sorted", 1)} }, results: uniqueResults},
	"Compress":          {op: nn.OpHostCompress, inputs: 2, attributes: func(c *conversion) []int64 { return []int64{c.axisOrNone()} }, results: compressResults},
	"BitShift":          {op: nn.OpHostBitShift, inputs: 2, attributes: bitDirection, results: broadcastResults},
	"BitwiseAnd":        {op: nn.OpHostBitwiseAnd, inputs: 2, results: broadcastResults},
	"BitwiseOr":         {op: nn.OpHostBitwiseOr, inputs: 2, results: broadcastResults},
	"BitwiseXor":        {op: nn.OpHostBitwiseXor, inputs: 2, results: broadcastResults},
	"BitwiseNot":        {op: nn.OpHostBitwiseNot, inputs: 1, results: sameResults},
	"Reshape":           {op: nn.OpHostReshape, inputs: 2, attributes: attributeInts("allowzero", 0), results: reshapeResults},
	"Shape": {op: nn.OpHostShape, inputs: 1, attributes: shapeBounds, results: func(c *conversion) []nn.Operand {
		b := shapeBounds(c)
		return []nn.Operand{open(nn.TensorInt32, int(b[1]-b[0]))}
	}},
	"Expand":          {op: nn.OpHostExpand, inputs: 2, results: func(c *conversion) []nn.Operand { return c.ranked(max(c.length(1), c.Rank(c.hostData(0)))) }},
	"Slice":           {op: nn.OpHostSlice, inputs: 3, results: sameRank},
	"Pad":             {op: nn.OpHostPad, inputs: 2, attributes: padMode, results: sameRank},
	"Trilu":           {op: nn.OpHostTrilu, inputs: 1, attributes: attributeInts("upper", 1), results: sameResults},
	"Range":           {op: nn.OpHostRange, inputs: 3, results: func(c *conversion) []nn.Operand { return c.ranked(1) }},
	"ConstantOfShape": {op: nn.OpHostFill, inputs: 1, operands: fillOperands, results: filledResults},
	"Tile":            {op: nn.OpHostTile, inputs: 2, results: sameRank},
	"Flatten":         {op: nn.OpHostReshape, inputs: 1, operands: flatOperands, attributes: fixed(0), results: func(c *conversion) []nn.Operand { return c.ranked(2) }},
	"Squeeze":         {op: nn.OpHostSqueeze, inputs: 1, results: func(c *conversion) []nn.Operand { return c.ranked(c.Rank(c.hostData(0)) - c.length(1)) }},
	"Unsqueeze":       {op: nn.OpHostUnsqueeze, inputs: 2, results: func(c *conversion) []nn.Operand { return c.ranked(c.Rank(c.hostData(0)) + c.length(1)) }},
	"Gather":          {op: nn.OpHostGather, inputs: 2, attributes: gatherAttributes, results: func(c *conversion) []nn.Operand { return c.ranked(c.Rank(c.hostData(0)) - 1 + c.Rank(c.hostData(1))) }},
	"CumSum":          {op: nn.OpHostCumulativeSum, inputs: 2, attributes: attributeInts("exclusive", 0, "reverse", 0), results: sameResults},
	"CumProd":         {op: nn.OpHostCumulativeProduct, inputs: 2, attributes: attributeInts("exclusive", 0, "reverse", 0), results: sameResults},
	"BitCast":         {op: nn.OpHostBitcast, inputs: 1, results: bitcastResults},
	"TopK":            {op: nn.OpHostTopK, inputs: 2, attributes: attributeInts("axis", -1, "largest", 1), results: func(c *conversion) []nn.Operand { return c.shortened(nn.TensorInt32) }},
	"OneHot":          {op: nn.OpHostOneHot, inputs: 3, attributes: func(c *conversion) []int64 { return []int64{c.int("axis", -1), 1} }, results: oneHotResults},
	"Where": {op: nn.OpHostSelect, inputs: 3, attributes: fixed(0), results: func(c *conversion) []nn.Operand {
		o := c.ranked(max(c.Rank(c.hostData(0)), c.Rank(c.hostData(1)), c.Rank(c.hostData(2))))[0]
		value := *c.Operand(c.hostData(1))
		value.Dimensions = o.Dimensions
		return []nn.Operand{value}
	}},
	"Det": {op: nn.OpHostDeterminant, inputs: 1, results: func(c *conversion) []nn.Operand {
		x := c.hostData(0)
		o := c.ranked(c.Rank(x) - 2)
		if c.ShapeKnown(x) && c.Rank(x) > 2 {
			o[0].Dimensions = c.Dims(x)[:c.Rank(x)-2]
		}
		return o
	}},
	"RoiAlign":        {op: nn.OpHostRoiAlign, inputs: 3, operands: roiOperands, attributes: roiAttributes, results: roiResults},
	"TfIdfVectorizer": {op: nn.OpHostCountSequences, inputs: 1, operands: ngramOperands, attributes: ngramAttributes, results: ngramResults},
	"Split":           {op: nn.OpHostSplit, inputs: 1, operands: splitOperands, attributes: attributeInts("axis", 0), results: splitResults},
	"Resize":          {op: nn.OpHostResize, inputs: 1, operands: resizeOperands, attributes: resizeAttributes, results: sameRank},
	"Upsample":        {op: nn.OpHostResize, inputs: 2, operands: resizeOperands, attributes: resizeAttributes, results: sameRank},
}

// reshapeResults is the tensor with the dimensions that the new shape states.
func reshapeResults(c *conversion) []nn.Operand {
	outs := c.ranked(c.length(1))
	if list, ok := c.Ints(c.real(c.v(1), false)); ok && len(list) == len(outs[0].Dimensions) {
		for i, d := range list {
			if d > 0 && d <= nn.MaxElements {
				outs[0].Dimensions[i] = uint32(d)
			}
		}
	}
	return outs
}

// flatOperands are a tensor and its shape as a matrix: one of the dimensions in front of the axis and behind it is inferred.
func flatOperands(c *conversion) []uint32 {
	x := c.hostData(0)
	rank := c.Rank(x)
	axis := c.int("axis", 1)
	if axis < 0 {
		axis += int64(rank)
	}
	if axis < 0 || axis > int64(rank) {
		c.Failf("axis %d of rank %d", axis, rank)
	}
	dims := c.Operand(x).Dimensions
	switch front, back := nn.Elements(dims[:axis]), nn.Elements(dims[axis:]); {
	case front > 0:
		return []uint32{x, c.Int32Tensor(front, -1)}
	case back > 0:
		return []uint32{x, c.Int32Tensor(-1, back)}
	case axis == 1:
		return []uint32{x, c.Int32Tensor(0, -1)}
	}
	c.Refusef("its axis %d has dimensions in front and behind that are known only during execution", axis)
	return nil
}

// bitcastResults is a result like input 0 in another type of as many bits, which NNAPI must hold in as many.
func bitcastResults(c *conversion) []nn.Operand {
	t := onnxfile.DataType(c.int("to", 0))
	o, ok := template(t)
	if !ok || t == onnxfile.Bool || t.Bits() != 8*o.Type.ElementBytes() || c.v(0).short != 0 {
		c.Refusef("bits as %v, the types that NNAPI holds in as many bits are supported", t)
	}
	y := sameResults(c)
	if y[0].Type.ElementBytes() != o.Type.ElementBytes() {
		c.Failf("bits of %v as %v", y[0].Type, t)
	}
	o.Dimensions = y[0].Dimensions
	return []nn.Operand{o}
}

// roiOperands are the images, the regions, the image of each and the scale of the regions.
func roiOperands(c *conversion) []uint32 {
	return []uint32{c.hostData(0), c.hostData(1), c.hostData(2), c.FloatTensor([]uint32{1}, []float32{c.float("spatial_scale", 1)})}
}

func roiAttributes(c *conversion) []int64 {
	flag := map[bool]int64{true: 1}
	half, mode := c.roiMode() == "half_pixel", c.text("mode", "avg")
	if mode != "avg" && mode != "max" {
		c.Failf("mode %q", mode)
	}
	return []int64{c.int("output_height", 1), c.int("output_width", 1), c.int("sampling_ratio", 0), flag[half], flag[mode == "max"]}
}

func roiResults(c *conversion) []nn.Operand {
	o := c.ranked(4)
	if x, regions := c.hostData(0), c.hostData(1); c.ShapeKnown(x) && c.ShapeKnown(regions) && len(c.Dims(x)) == 4 && len(c.Dims(regions)) == 2 {
		o[0].Dimensions = c.Unsigned([]int64{int64(c.Dims(regions)[0]), int64(c.Dims(x)[1]), c.int("output_height", 1), c.int("output_width", 1)})
	}
	return o
}

// resizeOperands are the tensor, region, scales and sizes, then the reals among the attributes.
func resizeOperands(c *conversion) []uint32 {
	in := []uint32{c.hostData(0), none, none, none}
	for k := 1; k < len(c.in); k++ {
		to := k
		if c.opset < 11 { // there scales are input 1
			to = 2
		}
		if c.has(k) {
			in[to] = c.hostInput(k)
		}
	}
	s := c.sampling()
	return append(in, c.FloatTensor([]uint32{1}, []float32{float32(s.Cubic)}), c.FloatTensor([]uint32{1}, []float32{s.Outside}))
}

func resizeAttributes(c *conversion) []int64 {
	s, bits := c.sampling(), int64(0)
	axes := c.ints("axes")
	for i, a := range axes {
		axes[i] = int64(c.Axis(a, c.Rank(c.hostData(0))))
		bits |= 1 << axes[i]
	}
	if !slices.IsSorted(axes) {
		c.Refusef("its axes %v are not in order", axes)
	}
	at := func(list []string, name string) int64 {
		k := slices.Index(list, name)
		if k < 0 {
			c.Refusef("the mode %q", name)
		}
		return int64(k)
	}
	flag := func(name string) int64 { return c.int(name, 0) }
	return []int64{at(resample.Modes, s.Mode), at(resample.Coordinates, s.Coordinates), at(resample.Roundings, s.Nearest),
		at(resample.Policies, c.text("keep_aspect_ratio_policy", "stretch")), flag("exclude_outside"), flag("antialias"), bits}
}

// host converts a node to an operation of the host. Where it does not, it says why, or nothing where the host has none.
func (g *graph) host(c *conversion) (reason string, ok bool) {
	form, ok := hostForms[c.node.Op]
	if !ok || domain(c.node.Domain) != "" {
		return "", false
	}
	r := lowering.Attempt(func() {
		if !c.readInputs() {
			c.Refusef(passed)
		}
		c.listAxes()
		for k := range form.inputs {
			if !c.has(k) {
				c.Refusef("input %d is missing", k)
			}
		}
		var in []uint32
		if form.operands != nil {
			in = form.operands(c)
		} else {
			for k := range c.in {
				x := none
				if c.has(k) {
					x = c.hostInput(k)
				}
				in = append(in, x)
			}
		}
		var attributes []int64
		if form.attributes != nil {
			attributes = form.attributes(c)
		}
		outs := form.results(c)
		if len(outs) < len(c.node.Outputs) {
			c.Failf("%d outputs, it has %d", len(c.node.Outputs), len(outs))
		}
		outs = outs[:len(c.node.Outputs)]
		scalars := make([]bool, len(outs))
		for k := range outs {
			if d := outs[k].Dimensions; len(d) == 1 && d[0] == scalar {
				scalars[k], outs[k].Dimensions = true, []uint32{1}
			}
		}
		for k, x := range c.Host(form.op, outs, attributes, in...) {
			if scalars[k] {
				c.SetShape(x, nil)
			}
			c.define(k, x)
		}
	})
	if r != nil {
		return r.Reason, false
	}
	return "", true
}

// listAxes makes the attribute axes of versions before 13 input 1.
func (c *conversion) listAxes() {
	if axes := c.ints("axes"); len(axes) > 0 && len(c.in) == 1 {
		c.in = append(c.in, c.valueOf(c.Int32Tensor(axes...)))
	}
}

// hostInput is input k in the file's order of dimensions, of up to four.
func (c *conversion) hostInput(k int) uint32 {
	x := c.real(c.v(k), false)
	o := c.Operand(x)
	if len(c.Shape[x]) > 4 {
		c.Refusef("a tensor of rank %d: operations of the host have at most four dimensions", len(c.Shape[x]))
	}
	if o.IsConst() && len(o.Data) == 0 {
		return none // an empty list is as good as none
	}
	return x
}

// hostData is input k that has elements.
func (c *conversion) hostData(k int) uint32 {
	x := none
	if c.has(k) {
		x = c.hostInput(k)
	}
	if x == none {
		c.Refusef("input %d is empty", k)
	}
	return x
}

// scalar marks the only dimension of a result of rank 0.
const scalar = ^uint32(0)

// open is a result of a type with dimensions, 0 where they are known only during execution.
func open(t nn.OperandType, dims ...int) nn.Operand {
	o := nn.Operand{Type: t}
	for _, d := range dims {
		o.Dimensions = append(o.Dimensions, uint32(d))
	}
	return o
}

// ranked is one result of the type of input 0, of a rank.
func (c *conversion) ranked(rank int) []nn.Operand {
	o := *c.Operand(c.hostData(0))
	switch {
	case rank < 0:
		c.Failf("a result of rank %d", rank)
	case rank > 4:
		c.Refusef("a result of rank %d: operations of the host have at most four dimensions", rank)
	case rank == 0:
		o.Dimensions = []uint32{scalar}
	default:
		o.Dimensions = make([]uint32, rank)
	}
	return []nn.Operand{o}
}

func sameRank(c *conversion) []nn.Operand { return c.ranked(c.Rank(c.hostData(0))) }

// sameResults is one result like input 0.
func sameResults(c *conversion) []nn.Operand {
	x := c.hostData(0)
	o := *c.Operand(x)
	if s, ok := c.Shape[x]; ok && len(s) == 0 {
		o.Dimensions = []uint32{scalar}
	}
	return []nn.Operand{o}
}

// broadcastResults is one result of the type of input 0 and the common shape of two.
func broadcastResults(c *conversion) []nn.Operand {
	a, b := c.hostData(0), c.hostData(1)
	outs := c.ranked(max(c.Rank(a), c.Rank(b)))
	if c.ShapeKnown(a) && c.ShapeKnown(b) && outs[0].Dimensions[0] != scalar {
		outs[0].Dimensions = c.Broadcast(c.Dims(a), c.Dims(b))
	}
	return outs
}

// length is the number of elements of input k, a list.
func (c *conversion) length(k int) int {
	if !c.has(k) {
		c.Refusef("input %d is missing", k)
	}
	d := c.Dims(c.real(c.v(k), false))
	if len(d) == 0 {
		return 1
	}
	return int(min(d[0], 9))
}

// fixed are constant attributes.
func fixed(list ...int64) func(*conversion) []int64 {
	return func(*conversion) []int64 { return list }
}

// attributeInts are attributes by name and initial value.
func attributeInts(namesAndInitials ...any) func(*conversion) []int64 {
	return func(c *conversion) (list []int64) {
		for i := 0; i < len(namesAndInitials); i += 2 {
			list = append(list, c.int(namesAndInitials[i].(string), int64(namesAndInitials[i+1].(int))))
		}
		return list
	}
}

// axisOrNone is the attribute axis.
func (c *conversion) axisOrNone() int64 { return c.int("axis", hostop.None) }

func uniqueResults(c *conversion) []nn.Operand {
	y := compressResults(c)[0]
	list := open(nn.TensorInt32, 0)
	return []nn.Operand{y, list, list, list}
}

// compressResults is a result like input 0 but along the axis, or a list without one.
func compressResults(c *conversion) []nn.Operand {
	if c.axisOrNone() == hostop.None {
		return c.ranked(1)
	}
	return c.shortened()[:1]
}

// shortened is a result like input 0 with an open length along the attribute axis, and more of its shape.
func (c *conversion) shortened(more ...nn.OperandType) []nn.Operand {
	x := c.hostData(0)
	rank := c.Rank(x)
	o := c.ranked(rank)[0]
	if rank == 0 {
		c.Failf("an axis of rank 0")
	}
	if c.ShapeKnown(x) {
		o.Dimensions = slices.Clone(c.Dims(x))
	}
	o.Dimensions[c.Axis(c.int("axis", -1), rank)] = 0
	outs := []nn.Operand{o}
	for _, t := range more {
		outs = append(outs, nn.Operand{Type: t, Dimensions: o.Dimensions})
	}
	return outs
}

func bitDirection(c *conversion) []int64 {
	switch d := c.text("direction", ""); d {
	case "LEFT":
		return []int64{0}
	case "RIGHT":
		return []int64{1}
	default:
		c.Failf("direction %q", d)
		return nil
	}
}

// padModes are the modes of padding in the order of the host's.
var padModes = []string{"constant", "reflect", "edge", "wrap"}

func padMode(c *conversion) []int64 {
	i := slices.Index(padModes, c.text("mode", "constant"))
	if i < 0 {
		c.Failf("mode %q", c.text("mode", ""))
	}
	return []int64{int64(i)}
}

func gatherAttributes(c *conversion) []int64 {
	scalar := int64(0)
	if c.Rank(c.hostData(1)) == 0 {
		scalar = 1
	}
	return []int64{c.int("axis", 0), scalar, 0}
}

// shapeBounds are the first dimension of the shape that counts and the one behind the last.
func shapeBounds(c *conversion) []int64 {
	first, last := c.shapePart(c.Rank(c.hostData(0)))
	if first == last {
		c.Refusef("a shape without dimensions")
	}
	return []int64{int64(first), int64(last)}
}

// fillOperands are the shape and the value.
func fillOperands(c *conversion) []uint32 { return []uint32{c.hostInput(0), c.fillValue()} }

// fillValue is the attribute of ConstantOfShape.
func (c *conversion) fillValue() uint32 {
	if a := c.attributes["value"]; a != nil && a.Tensor != nil {
		return c.narrow(c.constant(a.Tensor).forms[real])
	}
	return c.FloatTensor([]uint32{1}, []float32{0})
}

func filledResults(c *conversion) []nn.Operand {
	o := *c.Operand(c.fillValue())
	n := c.length(0)
	if n > 4 || n == 0 {
		c.Refusef("a result of rank %d: operations of the host have one to four dimensions", n)
	}
	o.Dimensions = make([]uint32, n)
	return []nn.Operand{o}
}

func oneHotResults(c *conversion) []nn.Operand {
	rank := c.Rank(c.hostData(0)) + 1
	o := c.ranked(rank)[0]
	values := *c.Operand(c.hostData(2))
	values.Dimensions = o.Dimensions
	return []nn.Operand{values}
}

// splitOperands are the tensor and the sizes of its parts: equal ones where the node does not state them.
func splitOperands(c *conversion) []uint32 {
	x := c.hostData(0)
	if c.has(1) {
		return []uint32{x, c.hostInput(1)}
	}
	sizes := c.ints("split")
	length := int64(c.Operand(x).Dimensions[c.Axis(c.int("axis", 0), c.Rank(x))])
	if sizes == nil && length == 0 {
		c.Refusef("the dimension that it divides is known only during execution")
	}
	if sizes == nil {
		sizes = equalParts(length, int64(len(c.node.Outputs)))
	}
	return []uint32{x, c.Int32Tensor(sizes...)}
}

func splitResults(c *conversion) (outs []nn.Operand) {
	for range c.node.Outputs {
		outs = append(outs, sameRank(c)...)
	}
	return outs
}
