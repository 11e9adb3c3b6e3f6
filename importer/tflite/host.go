package tflite

import (
	"math/bits"
	"slices"

	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/importer/tflite/internal/flatbuffer"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/refcpu/hostop"
	"github.com/nnsoc/nnsoc/refcpu/hostop/resample"
)

// hostBuiltins are operators that no operations of NNAPI express, and that run on the host.
var hostBuiltins = []builtin{
	{code: 103, name: "UNIQUE", version: 1, options: "UniqueOptions", inputs: [2]int{1, 1}, outputs: [2]int{2, 2}, lacks: "NNAPI has no operation whose result has as many elements as differ"},
	{code: 109, name: "WHERE", version: 2, inputs: [2]int{1, 1}, lacks: "NNAPI has no operation whose result has as many elements as are true"},
	{code: 120, name: "NON_MAX_SUPPRESSION_V4", version: 1, inputs: [2]int{5, 5}, outputs: [2]int{2, 2}, lacks: "NNAPI suppresses boxes by class and score together only"},
	{code: 121, name: "NON_MAX_SUPPRESSION_V5", version: 1, inputs: [2]int{6, 6}, outputs: [2]int{3, 3}, lacks: "NNAPI suppresses boxes by class and score together only"},
	{code: 153, name: "UNSORTED_SEGMENT_PROD", version: 1, inputs: [2]int{3, 3}, lacks: "NNAPI has no scattered product"},
	{code: 154, name: "UNSORTED_SEGMENT_MAX", version: 1, inputs: [2]int{3, 3}, lacks: "NNAPI has no scattered maximum"},
	{code: 157, name: "UNSORTED_SEGMENT_MIN", version: 1, inputs: [2]int{3, 3}, lacks: "NNAPI has no scattered minimum"},
	{code: 156, name: "ATAN2", version: 1, inputs: [2]int{2, 2}, lacks: "NNAPI has no inverse tangent"},
	{code: 159, name: "BITCAST", version: 1, inputs: [2]int{1, 1}, lacks: "NNAPI has no operations on bits"},
	{code: 161, name: "RIGHT_SHIFT", version: 1, inputs: [2]int{2, 2}, lacks: "NNAPI has no operations on bits"},
	{code: 203, name: "DILATE", version: 1, inputs: [2]int{3, 3}, lacks: "NNAPI puts no gaps between elements"},
}

// hostForm is an operator outside NNAPI: the operation of the host that it is where NNAPI has no form for it, because of
// its kind or of values that only an execution knows.
type hostForm struct {
	op nn.OperationType
	// operands makes the operation's operands; nil takes the operator's inputs in order.
	operands func(c *conversion) []uint32
	// attributes makes the operation's attributes; nil makes none.
	attributes func(c *conversion) []int64
	// results are their types and shapes, as far as they are known.
	results func(c *conversion) []nn.Operand
	// outputs are the operator's outputs that the results are, -1 for one that it has not; nil: in order.
	outputs []int
}

// hostForms are the operators that run on the host where NNAPI has no form, by name.
var hostForms = map[string]hostForm{
	"WHERE":                  {op: nn.OpHostNonZero, attributes: fixed(1), results: whereResults},
	"UNIQUE":                 {op: nn.OpHostUnique, attributes: fixed(hostop.None, 0), results: uniqueResults, outputs: []int{0, -1, 1}},
	"NON_MAX_SUPPRESSION_V4": {op: nn.OpHostNonMaxSuppressionPadded, results: suppressionResults, attributes: fixed(), outputs: []int{0, -1, 1}},
	"NON_MAX_SUPPRESSION_V5": {op: nn.OpHostNonMaxSuppressionPadded, results: suppressionResults, attributes: fixed()},
	"SEGMENT_SUM":            {op: nn.OpHostSegment, attributes: fixed(0), results: segmentResults},
	"UNSORTED_SEGMENT_SUM":   {op: nn.OpHostSegment, attributes: fixed(0), results: segmentResults},
	"UNSORTED_SEGMENT_PROD":  {op: nn.OpHostSegment, attributes: fixed(1), results: segmentResults},
	"UNSORTED_SEGMENT_MAX":   {op: nn.OpHostSegment, attributes: fixed(2), results: segmentResults},
	"UNSORTED_SEGMENT_MIN":   {op: nn.OpHostSegment, attributes: fixed(3), results: segmentResults},
	"ATAN2":                  {op: nn.OpHostAtan2, results: broadcastResults},
	"BITCAST":                {op: nn.OpHostBitcast, results: bitcastResults},
	"RIGHT_SHIFT":            {op: nn.OpHostBitShift, attributes: fixed(1), results: broadcastResults},
	"BITWISE_XOR":            {op: nn.OpHostBitwiseXor, results: broadcastResults},
	"DILATE":                 {op: nn.OpHostDilate, results: sameRank},
	"SHAPE":                  {op: nn.OpHostShape, attributes: fixed(0, 4), results: shapeResults},
	"RESHAPE":                {op: nn.OpHostReshape, operands: reshapeOperands, attributes: fixed(1), results: reshapeResults},
	"EXPAND_DIMS":            {op: nn.OpHostUnsqueeze, results: func(c *conversion) []nn.Operand { return c.ranked(c.Rank(c.hostInput(0)) + 1) }},
	"BROADCAST_TO":           {op: nn.OpHostExpand, results: func(c *conversion) []nn.Operand { return c.ranked(c.length(1)) }},
	"BROADCAST_ARGS": {op: nn.OpHostBroadcastShapes, results: func(c *conversion) []nn.Operand {
		return []nn.Operand{openTensor(nn.TensorInt32, max(c.length(0), c.length(1)))}
	}},
	"FILL":                    {op: nn.OpHostFill, results: fillResults},
	"RANGE":                   {op: nn.OpHostRange, results: func(c *conversion) []nn.Operand { return c.ranked(1) }},
	"PADV2":                   {op: nn.OpHostPad, operands: padOperands, attributes: fixed(0), results: sameRank},
	"GATHER":                  {op: nn.OpHostGather, attributes: gatherAttributes, results: gatherResults},
	"GATHER_ND":               {op: nn.OpHostGatherNd, attributes: fixed(0), results: gatherNDResults},
	"SCATTER_ND":              {op: nn.OpHostScatterNd, results: scatterResults},
	"DYNAMIC_UPDATE_SLICE":    {op: nn.OpHostUpdateSlice, results: sameResults},
	"CUMSUM":                  {op: nn.OpHostCumulativeSum, attributes: cumsumAttributes, results: sameResults},
	"TOPK_V2":                 {op: nn.OpHostTopK, attributes: fixed(-1, 1), results: topKResults},
	"ONE_HOT":                 {op: nn.OpHostOneHot, operands: oneHotOperands, attributes: func(c *conversion) []int64 { return []int64{c.options.Int("axis"), 0} }, results: oneHotResults},
	"SPLIT_V":                 {op: nn.OpHostSplit, operands: func(c *conversion) []uint32 { return c.hostInputs(0, 1) }, attributes: func(c *conversion) []int64 { return []int64{c.one(2)} }, results: splitResults},
	"RESIZE_BILINEAR":         {op: nn.OpHostResize, operands: resizeOperands, attributes: resizeAttributes(1), results: sameRank},
	"RESIZE_NEAREST_NEIGHBOR": {op: nn.OpHostResize, operands: resizeOperands, attributes: resizeAttributes(0), results: sameRank},
	"SELECT":                  {op: nn.OpHostSelect, operands: selectOperands, attributes: fixed(1), results: selectResults},
	"SELECT_V2":               {op: nn.OpHostSelect, operands: selectOperands, attributes: fixed(0), results: selectResults},
	"STABLEHLO_SELECT":        {op: nn.OpHostSelect, operands: selectOperands, attributes: fixed(0), results: selectResults},
	"STRIDED_SLICE":           {op: nn.OpHostStridedSlice, attributes: stridedAttributes, results: stridedResults},
}

// host converts an operator that NNAPI does not express to an operation of the host. Where it does not, it says why,
// or nothing where the host has no form of the operator either.
func (g *graph) host(op flatbuffer.Table, row *builtin, version int) (reason string, ok bool) {
	if row == nil || version > row.version {
		return "", false
	}
	form, ok := hostForms[row.name]
	if !ok {
		return "", false
	}
	r := lowering.Attempt(func() {
		c := g.conversion(op, version)
		c.bindOutputs(op)
		c.bindInputs(op, row)
		c.readOptions(op, row)
		c.convertHost(form)
		c.checkOutputs()
	})
	if r != nil {
		return r.Reason, false
	}
	return "", true
}

func (c *conversion) convertHost(form hostForm) {
	var in []uint32
	if form.operands != nil {
		in = form.operands(c)
	} else {
		for k := range c.in {
			in = append(in, c.hostInput(k))
		}
	}
	var attributes []int64
	if form.attributes != nil {
		attributes = form.attributes(c)
	}
	outs := form.results(c)
	var scalars []int
	for k := range outs {
		if len(outs[k].Dimensions) == 0 {
			outs[k].Dimensions = []uint32{1}
			scalars = append(scalars, k)
		}
	}
	for k, x := range c.Host(form.op, outs, attributes, in...) {
		if slices.Contains(scalars, k) {
			c.SetShape(x, nil)
		}
		to := k
		if form.outputs != nil {
			to = form.outputs[k]
		}
		if to >= 0 {
			c.define(to, x)
		}
	}
}

// hostInput is input k, which must be there, have at most four dimensions and elements that 32 bits hold.
func (c *conversion) hostInput(k int) uint32 {
	x := c.x(k)
	if n := len(c.Shape[x]); n > 4 {
		c.Refusef("a tensor of rank %d: operations of the host have at most four dimensions", n)
	}
	if c.isComplex(c.inTensors[k]) {
		c.Refusef("a tensor of complex numbers")
	}
	return x
}

// hostInputs are inputs by their numbers.
func (c *conversion) hostInputs(numbers ...int) (list []uint32) {
	for _, k := range numbers {
		list = append(list, c.hostInput(k))
	}
	return list
}

// fixed are constant attributes.
func fixed(list ...int64) func(*conversion) []int64 {
	return func(*conversion) []int64 { return list }
}

// openTensor is a result of a type with dimensions, 0 where they are known only during execution.
func openTensor(t nn.OperandType, dims ...int) nn.Operand {
	o := nn.Operand{Type: t}
	for _, d := range dims {
		o.Dimensions = append(o.Dimensions, uint32(d))
	}
	return o
}

// ranked is one result of the type of input 0, of a rank.
func (c *conversion) ranked(rank int) []nn.Operand { return []nn.Operand{c.rankedLike(0, rank)} }

func (c *conversion) rankedLike(k, rank int) nn.Operand {
	if rank < 0 || rank > 4 {
		c.Refusef("a result of rank %d: operations of the host have at most four dimensions", rank)
	}
	o := *c.Operand(c.hostInput(k))
	o.Dimensions = make([]uint32, rank)
	return o
}

func sameRank(c *conversion) []nn.Operand { return c.ranked(c.Rank(c.hostInput(0))) }

// sameResults is one result like input 0.
func sameResults(c *conversion) []nn.Operand { return []nn.Operand{*c.Operand(c.hostInput(0))} }

// broadcastResults is one result of the type of input 0 and the common shape of two.
func broadcastResults(c *conversion) []nn.Operand {
	a, b := c.hostInput(0), c.hostInput(1)
	outs := c.ranked(max(c.Rank(a), c.Rank(b)))
	if c.ShapeKnown(a) && c.ShapeKnown(b) {
		outs[0].Dimensions = c.Broadcast(c.Dims(a), c.Dims(b))
	}
	return outs
}

// length is the number of elements of input k, a list.
func (c *conversion) length(k int) int {
	d := c.Dims(c.x(k))
	if len(d) > 1 {
		c.Failf("input %d has shape %v, a list is needed", k, d)
	}
	return int(min(nn.Elements(d), 9))
}

func whereResults(c *conversion) []nn.Operand {
	rank := c.Rank(c.hostInput(0))
	if rank == 0 {
		c.Refusef("the places of a scalar have no dimensions")
	}
	return []nn.Operand{openTensor(nn.TensorInt32, 0, rank)}
}

func uniqueResults(c *conversion) []nn.Operand {
	x := c.hostInput(0)
	places := openTensor(nn.TensorInt32, 0)
	inverse := openTensor(nn.TensorInt32, 0)
	if c.ShapeKnown(x) {
		inverse.Dimensions = slices.Clone(c.Operand(x).Dimensions)
	}
	return []nn.Operand{c.rankedLike(0, 1), places, inverse}
}

// suppressionResults are chosen boxes, their scores and how many there are. The first two have as many elements as the
// operator chooses at most.
func suppressionResults(c *conversion) []nn.Operand {
	most := 0
	if list, ok := c.Ints(c.x(2)); ok && len(list) == 1 && list[0] > 0 && list[0] <= nn.MaxElements {
		most = int(list[0])
	}
	return []nn.Operand{openTensor(nn.TensorInt32, most), openTensor(c.Operand(c.hostInput(1)).Type, most), openTensor(nn.TensorInt32)}
}

func segmentResults(c *conversion) []nn.Operand {
	return c.ranked(c.Rank(c.hostInput(0)) - c.Rank(c.hostInput(1)) + 1)
}

// bitcastResults has the type of the output. Types whose elements NNAPI holds in other widths are refused.
func bitcastResults(c *conversion) []nn.Operand {
	width := func(t int) int {
		code := c.tensors[t].Int("type")
		row := typesOfTensors[code]
		if row.bits != 8*row.nnapi.ElementBytes() {
			c.Refusef("NNAPI holds the bits of %s in another width", typeName(code))
		}
		return row.bits
	}
	out := c.template(c.outTensors[0])
	from, to := width(c.inTensors[0]), width(c.outTensors[0])
	out.Dimensions = slices.Clone(c.rankedLike(0, c.Rank(c.hostInput(0))).Dimensions)
	switch rank := len(out.Dimensions); {
	case from > to && rank < 4:
		out.Dimensions = append(out.Dimensions, uint32(from/to))
	case from > to || from < to && rank == 0:
		c.Refusef("%d-bit elements of shape %v as elements of %d bits", from, out.Dimensions, to)
	case from < to:
		out.Dimensions = out.Dimensions[:rank-1]
	}
	return []nn.Operand{out}
}

func shapeResults(c *conversion) []nn.Operand {
	return []nn.Operand{openTensor(nn.TensorInt32, c.Rank(c.hostInput(0)))}
}

// reshapeOperands are the tensor and its new shape.
func reshapeOperands(c *conversion) []uint32 {
	list, rank := c.newShape()
	if rank == 0 { // a scalar, of one element
		list = c.Int32Tensor(1)
	}
	return []uint32{c.hostInput(0), list}
}

// newShape is the shape that RESHAPE has as its second input or, where there is none, in its options, and its length.
func (c *conversion) newShape() (list uint32, rank int) {
	if c.has(1) && c.Rank(c.in[1]) == 1 {
		return c.in[1], c.length(1)
	}
	shape := c.options.Vector("new_shape").Ints()
	if len(shape) == 0 || len(shape) == 1 && shape[0] == 0 {
		return none, 0
	}
	return c.Int32Tensor(shape...), len(shape)
}

func reshapeResults(c *conversion) []nn.Operand {
	_, rank := c.newShape()
	return c.ranked(rank)
}

func fillResults(c *conversion) []nn.Operand { return []nn.Operand{c.rankedLike(1, c.length(0))} }

// padOperands turns sizes [rank, 2] around, so that all before the elements come first.
func padOperands(c *conversion) []uint32 {
	sizes := c.Reshape(c.Transpose(c.indices(1), 1, 0), []uint32{2 * uint32(c.Rank(c.hostInput(0)))})
	return []uint32{c.hostInput(0), sizes, c.hostInput(2)}
}

func gatherAttributes(c *conversion) []int64 {
	scalar, batch := int64(0), c.options.Int("batch_dims")
	rank := c.Rank(c.hostInput(1))
	if rank == 0 {
		scalar = 1
	}
	if batch < 0 {
		batch += int64(rank)
	}
	return []int64{c.options.Int("axis"), scalar, batch}
}

func gatherResults(c *conversion) []nn.Operand {
	batch := int(gatherAttributes(c)[2])
	return c.ranked(c.Rank(c.hostInput(0)) - 1 + c.Rank(c.hostInput(1)) - batch)
}

func gatherNDResults(c *conversion) []nn.Operand {
	idx := c.hostInput(1)
	d := c.Operand(idx).Dimensions
	m := 0
	if len(d) > 0 {
		m = int(d[len(d)-1])
	}
	if m == 0 {
		c.Refusef("how many indices name a part is known only during execution")
	}
	return c.ranked(len(d) - 1 + c.Rank(c.hostInput(0)) - m)
}

func scatterResults(c *conversion) []nn.Operand {
	o := c.rankedLike(1, c.length(2))
	if list, ok := c.Ints(c.x(2)); ok {
		o.Dimensions = c.Unsigned(list)
	}
	return []nn.Operand{o}
}

func cumsumAttributes(c *conversion) []int64 {
	flag := func(name string) int64 {
		if c.options.Bool(name) {
			return 1
		}
		return 0
	}
	return []int64{flag("exclusive"), flag("reverse")}
}

func topKResults(c *conversion) []nn.Operand {
	o := c.rankedLike(0, c.Rank(c.hostInput(0)))
	if len(o.Dimensions) == 0 {
		c.Failf("the first of a scalar")
	}
	return []nn.Operand{o, {Type: nn.TensorInt32, Dimensions: o.Dimensions}}
}

// oneHotOperands has the values off and on as one list.
func oneHotOperands(c *conversion) []uint32 {
	one := []uint32{1}
	off, on := c.Reshape(c.hostInput(3), one), c.Reshape(c.hostInput(2), one)
	return []uint32{c.hostInput(0), c.hostInput(1), c.Concat(*c.Operand(on), 0, off, on)}
}

func oneHotResults(c *conversion) []nn.Operand {
	return []nn.Operand{c.rankedLike(2, c.Rank(c.hostInput(0))+1)}
}

func splitResults(c *conversion) (outs []nn.Operand) {
	for range c.outTensors {
		outs = append(outs, sameRank(c)...)
	}
	return outs
}

// resizeOperands are the tensor and its size, which is the fourth operand of the host's operation.
func resizeOperands(c *conversion) []uint32 {
	return []uint32{c.hostInput(0), none, none, c.hostInput(1), none, none}
}

// resizeAttributes are the coordinates of the two flags, in the mode of the host's list, along height and width.
func resizeAttributes(mode int64) func(c *conversion) []int64 {
	return func(c *conversion) []int64 {
		coordinates, rounding := "asymmetric", "floor"
		switch {
		case c.options.Bool("align_corners"):
			coordinates, rounding = "align_corners", "round_prefer_ceil"
		case c.options.Bool("half_pixel_centers") && mode == 0:
			coordinates = "tf_half_pixel_for_nn"
		case c.options.Bool("half_pixel_centers"):
			coordinates = "half_pixel"
		}
		at := func(list []string, name string) int64 { return int64(slices.Index(list, name)) }
		return []int64{mode, at(resample.Coordinates, coordinates), at(resample.Roundings, rounding), 0, 0, 0, 1<<1 | 1<<2}
	}
}

// selectOperands are the condition and both values in the quantization of the result.
func selectOperands(c *conversion) []uint32 {
	return []uint32{c.hostInput(0), c.To(c.hostInput(1), c.out(0)), c.To(c.hostInput(2), c.out(0))}
}

func selectResults(c *conversion) []nn.Operand {
	o := c.out(0)
	o.Dimensions = make([]uint32, max(c.Rank(c.x(0)), c.Rank(c.x(1)), c.Rank(c.x(2))))
	return []nn.Operand{o}
}

// stridedMasks are the options of STRIDED_SLICE in the order of the host's attributes.
var stridedMasks = []string{"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"}

func stridedAttributes(c *conversion) (list []int64) {
	for _, name := range stridedMasks {
		list = append(list, c.options.Int(name))
	}
	offset := int64(0)
	if c.options.Bool("offset") {
		offset = 1
	}
	return append(list, offset)
}

// stridedResults counts the axes: those of the input, new ones, without those of one element that are dropped.
func stridedResults(c *conversion) []nn.Operand {
	masks, n := stridedAttributes(c), c.length(1)
	of := func(mask int64) int { return bits.OnesCount64(uint64(mask) & (1<<n - 1)) }
	ellipsis, fresh := masks[2], masks[3]&^masks[2]
	return c.ranked(c.Rank(c.hostInput(0)) + of(fresh) - of(masks[4]&^ellipsis&^fresh))
}
