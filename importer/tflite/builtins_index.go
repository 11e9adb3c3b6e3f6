package tflite

import (
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// indexBuiltins are the operators that look up, insert and scatter.
var indexBuiltins = []builtin{
	{code: 36, name: "GATHER", version: 7, inputs: [2]int{2, 2}, options: "GatherOptions", convert: gather},
	{code: 107, name: "GATHER_ND", version: 5, inputs: [2]int{2, 2}, convert: gatherND},
	{code: 7, name: "EMBEDDING_LOOKUP", version: 4, inputs: [2]int{2, 2}, convert: embeddingLookup},
	{code: 10, name: "HASHTABLE_LOOKUP", version: 1, inputs: [2]int{3, 3}, outputs: [2]int{2, 2}, convert: hashtableLookup},
	{code: 15, name: "LSH_PROJECTION", version: 1, inputs: [2]int{2, 3}, options: "LSHProjectionOptions", convert: lshProjection},
	{code: 85, name: "ONE_HOT", version: 1, inputs: [2]int{4, 4}, options: "OneHotOptions", convert: oneHot},
	{code: 112, name: "REVERSE_SEQUENCE", version: 1, inputs: [2]int{2, 2}, options: "ReverseSequenceOptions", convert: reverseSequence},
	{code: 113, name: "MATRIX_DIAG", version: 1, inputs: [2]int{1, 1}, convert: matrixDiag},
	{code: 115, name: "MATRIX_SET_DIAG", version: 1, inputs: [2]int{2, 2}, convert: matrixSetDiag},
	{code: 122, name: "SCATTER_ND", version: 1, inputs: [2]int{3, 3}, convert: scatterND},
	{code: 68, name: "SPARSE_TO_DENSE", version: 3, inputs: [2]int{4, 4}, convert: sparseToDense},
	{code: 125, name: "SEGMENT_SUM", version: 1, inputs: [2]int{2, 2}, convert: segmentSum},
	{code: 155, name: "UNSORTED_SEGMENT_SUM", version: 1, inputs: [2]int{3, 3}, convert: unsortedSegmentSum},
	{code: 151, name: "DYNAMIC_UPDATE_SLICE", version: 2, inputs: [2]int{3, 3}, convert: dynamicUpdateSlice},
}

// indices is input k in TENSOR_INT32.
func (c *conversion) indices(k int) uint32 {
	x := c.x(k)
	if c.Operand(x).Type == nn.TensorInt32 {
		return x
	}
	y := c.Emit(nn.OpCast, nn.Operand{Type: nn.TensorInt32}, x)
	c.ShapeLike(y, x)
	return y
}

func gather(c *conversion) {
	x, idx := c.x(0), c.indices(1)
	batch := int(c.options.Int("batch_dims"))
	if !c.ShapeKnown(x) || !c.ShapeKnown(idx) {
		if batch != 0 {
			c.Refusef("it has batches and shapes that are known only during execution")
		}
		rank := c.Rank(c.Unmerged(x))
		axis := c.Axis(c.options.Int("axis"), rank)
		y := c.Emit(nn.OpGather, c.out(0), x, c.Int32Scalar(int64(axis)), c.Unmerged(idx))
		if scalar := c.Rank(idx) == 0; scalar && rank == 1 {
			c.scalar(y)
		} else if scalar {
			y = c.Emit(nn.OpSqueeze, c.out(0), y, c.Int32Tensor(int64(axis)))
		}
		c.define(0, y)
		return
	}
	dx, di := c.Dims(x), c.Dims(idx)
	axis := c.Axis(c.options.Int("axis"), len(dx))
	if batch < 0 {
		batch += len(di)
	}
	if batch < 0 || batch > axis || batch > len(di) {
		c.Failf("%d batch dimensions, axis %d, indices %v", batch, axis, di)
	}
	shape := slices.Concat(dx[:axis], di[batch:], dx[axis+1:])
	if batch == 0 {
		c.define(0, c.GatherAxis(x, axis, idx))
		return
	}
	c.define(0, c.Reshape(c.GatherBatches(x, idx, batch, axis), shape))
}

func gatherND(c *conversion) { c.define(0, c.GatherND(c.x(0), c.indices(1))) }

// embeddingLookup of 8-bit values with a float result looks up first; rows
// quantized one by one are dequantized first.
func embeddingLookup(c *conversion) {
	values := c.x(1)
	if c.Operand(values).Channel != nil {
		values = c.As(values, nn.TensorFloat32)
	}
	o := *c.Operand(values)
	o.Name = ""
	c.define(0, c.Emit(nn.OpEmbeddingLookup, o, c.indices(0), values))
}

func hashtableLookup(c *conversion) {
	results := c.EmitAll(nn.OpHashtableLookup, []nn.Operand{c.out(0), c.out(1)}, c.x(0), c.x(1), c.x(2))
	c.define(0, results[0])
	c.define(1, results[1])
}

// lshProjection: NNAPI numbers the sparse form in which hashes have offsets 3.
func lshProjection(c *conversion) {
	kind := c.options.Int("type")
	switch kind {
	case 1:
		kind = 3
	case 2:
	default:
		c.Failf("type %d", kind)
	}
	weight := c.NoValue(nn.TensorFloat32)
	if c.has(2) {
		weight = c.in[2]
	}
	c.result(nn.OpLshProjection, c.x(0), c.x(1), weight, c.Int32Scalar(kind))
}

func oneHot(c *conversion) {
	idx := c.indices(0)
	axis := c.Rank(idx)
	if a := c.options.Int("axis"); a != -1 {
		axis = c.Axis(a, axis+1)
	}
	c.define(0, c.OneHot(idx, c.one(1), c.x(2), c.x(3), axis))
}

func reverseSequence(c *conversion) {
	x := c.x(0)
	rank := c.Rank(x)
	c.define(0, c.ReverseSequence(x, c.indices(1), c.Axis(c.options.Int("seq_dim"), rank), c.Axis(c.options.Int("batch_dim"), rank)))
}

func matrixDiag(c *conversion) {
	x := c.plain(0)
	dims := c.Dims(x)
	if len(dims) == 0 {
		c.Failf("a scalar")
	}
	n := dims[len(dims)-1]
	rows := c.Reshape(x, []uint32{uint32(nn.Elements(dims)) / n, 1, n})
	y := c.Binary(nn.OpMul, rows, c.Diagonal(*c.Operand(x), n, n))
	c.define(0, c.Reshape(y, append(slices.Clone(dims), n)))
}

func matrixSetDiag(c *conversion) {
	x, diag := c.x(0), c.To(c.x(1), *c.Operand(c.x(0)))
	dims := c.Dims(x)
	if len(dims) < 2 {
		c.Failf("shape %v is no matrix", dims)
	}
	rows, cols := dims[len(dims)-2], dims[len(dims)-1]
	n := min(rows, cols)
	outer := uint32(nn.Elements(dims[:len(dims)-2]))
	full := []uint32{outer, rows, cols}
	d := c.Reshape(diag, []uint32{outer, n, 1})
	if n == cols && rows > cols {
		d = c.Reshape(diag, []uint32{outer, 1, n})
	}
	mask := c.BroadcastTo(c.Diagonal(nn.Operand{Type: nn.TensorBool8}, rows, cols), full)
	y := c.Emit(nn.OpSelect, *c.Operand(x), mask, c.BroadcastTo(d, full), c.Reshape(x, full))
	c.define(0, c.Reshape(y, dims))
}

func scatterND(c *conversion) {
	idx, shape := c.indices(0), c.Unsigned(c.list(2))
	di := c.Dims(idx)
	lin := c.Linear(idx, shape)
	m := int(di[len(di)-1])
	y := c.Scatter(lin, c.x(1), uint32(nn.Elements(di[:len(di)-1])), uint32(nn.Elements(shape[m:])), uint32(nn.Elements(shape[:m])))
	c.define(0, c.Reshape(y, shape))
}

// sparseToDense puts values at the indices and a default elsewhere.
func sparseToDense(c *conversion) {
	idx, shape := c.indices(0), c.Unsigned(c.list(1))
	di := c.Dims(idx)
	if len(di) < 2 {
		idx = c.Reshape(idx, []uint32{uint32(nn.Elements(di)), 1})
		di = c.Dims(idx)
	}
	n, total := uint32(nn.Elements(di[:len(di)-1])), uint32(nn.Elements(shape))
	lin := c.Linear(idx, shape)
	values := c.BroadcastTo(c.Reshape(c.x(2), []uint32{uint32(nn.Elements(c.Dims(c.x(2))))}), []uint32{n})
	rest := c.BroadcastTo(c.Reshape(c.plain(3), []uint32{1}), []uint32{total})
	c.define(0, c.Reshape(c.Replace(rest, lin, c.To(values, *c.Operand(rest)), n, 1, total), shape))
}

func segmentSum(c *conversion) {
	ids := c.list(1)
	if len(ids) == 0 {
		c.Failf("no segments")
	}
	c.segments(int64(ids[len(ids)-1]) + 1)
}

func unsortedSegmentSum(c *conversion) { c.segments(c.one(2)) }

func (c *conversion) segments(n int64) {
	if n < 1 || n > 1<<24 {
		c.Failf("%d segments", n)
	}
	x := c.x(0)
	dims, di := c.Dims(x), c.Dims(c.x(1))
	if len(di) > len(dims) || !slices.Equal(dims[:len(di)], di) {
		c.Failf("segments %v of shape %v", di, dims)
	}
	rows, inner := uint32(nn.Elements(di)), uint32(nn.Elements(dims[len(di):]))
	y := c.Scatter(c.indices(1), x, rows, inner, uint32(n))
	c.define(0, c.Reshape(y, append([]uint32{uint32(n)}, dims[len(di):]...)))
}

// dynamicUpdateSlice replaces a part of a value. Where it begins may be known
// only during execution along axes in which the part has one element.
func dynamicUpdateSlice(c *conversion) {
	x, part := c.x(0), c.x(1)
	dims, size := c.Dims(x), c.Dims(part)
	if len(dims) != len(size) || len(dims) > 4 {
		c.Refusef("it puts shape %v into %v", size, dims)
	}
	if list, ok := c.Ints(c.in[2]); ok {
		c.updateAt(x, part, list)
		return
	}
	start, mask := c.indices(2), none
	for i := range dims {
		if size[i] == dims[i] {
			continue
		}
		if size[i] != 1 {
			c.Refusef("where it puts %d of %d elements is known only during execution", size[i], dims[i])
		}
		along := slices.Repeat([]uint32{1}, len(dims))
		at := c.Reshape(c.Slice(start, []int64{int64(i)}, []int64{1}), along)
		at = c.Binary(nn.OpMinimum, c.Binary(nn.OpMaximum, at, c.Int32Tensor(0)), c.Int32Tensor(int64(dims[i])-1))
		along[i] = dims[i]
		hit := c.BroadcastTo(c.Compare(nn.OpEqual, c.Reshape(c.Iota(int(dims[i])), along), at), dims)
		if mask == none {
			mask = hit
		} else {
			mask = c.Compare(nn.OpLogicalAnd, mask, hit)
		}
	}
	if mask == none {
		c.define(0, part)
		return
	}
	c.define(0, c.Emit(nn.OpSelect, c.out(0), mask, c.BroadcastTo(part, dims), x))
}

// updateAt replaces a part whose place is known: the constant mask of it
// chooses between the padded part and the value.
func (c *conversion) updateAt(x, part uint32, start []int64) {
	dims, size := c.Dims(x), c.Dims(part)
	if len(start) != len(dims) {
		c.Failf("%d indices for rank %d", len(start), len(dims))
	}
	pads := make([]int64, 0, 2*len(dims))
	for i, d := range dims {
		if size[i] > d {
			c.Failf("shape %v does not fit into %v", size, dims)
		}
		first := min(max(start[i], 0), int64(d-size[i]))
		pads = append(pads, first, int64(d-size[i])-first)
	}
	if len(dims) == 0 || slices.Equal(dims, size) {
		c.define(0, part)
		return
	}
	paddings := c.Int32Shaped([]uint32{uint32(len(dims)), 2}, pads)
	one := c.Filled(nn.Operand{Type: nn.TensorFloat32, Dimensions: size}, 1)
	mask := c.Compare(nn.OpGreater, c.Emit(nn.OpPad, nn.Operand{Type: nn.TensorFloat32}, one, paddings), c.Real(0.5))
	wide := c.Emit(nn.OpPad, *c.Operand(part), part, paddings)
	c.define(0, c.Emit(nn.OpSelect, c.out(0), mask, wide, x))
}
