package opspec

import "github.com/nnsoc/nnsoc/hal/nn"

// Formats of a DENSIFY level.
const (
	DensifyDense = 0 // every coordinate is there
	DensifyCSR   = 1 // segments and coordinates are listed
)

// maxDensifyLevels bounds dimensions and block dimensions together.
const maxDensifyLevels = 64

// Densify is a DENSIFY: a tree with one level per dimension in traversal order
// (block dimensions last), whose leaves are the values in their order. Other
// elements of the result are zero, the zero point when quantized.
type Densify struct {
	Values, Output uint32 // operand indexes
	Type           nn.OperandType
	Dims           []uint32
	Levels         []DensifyLevel
}

// DensifyLevel is one level of the tree. A node of a dense level has Size
// children. Those of node i of a sparse level are entries Segments[i] to
// Segments[i+1] of Indices, which are values of the execution and must be
// checked.
type DensifyLevel struct {
	Size              int
	Sparse            bool
	Stride            int    // elements of the result per step of the coordinate
	Segments, Indices uint32 // operand indexes; None in a dense level
}

// Densify reads a DENSIFY.
func (v View) Densify(op *nn.Operation) (Densify, error) {
	a, err := v.bindAs(op, nn.OpDensify)
	if err != nil {
		return Densify{}, err
	}
	d := Densify{Values: a.In("values"), Output: op.Outputs[0], Type: a.Key}
	order, err := a.Int32s("traversal")
	if err != nil {
		return d, err
	}
	var blocks []int32
	if a.Has("block_map") {
		if blocks, err = a.Int32s("block_map"); err != nil {
			return d, err
		}
	}
	format, err := a.Int32s("format")
	if err != nil {
		return d, err
	}
	sizes, err := a.Int32s("sizes")
	if err != nil {
		return d, err
	}
	meta := a.Variadic()
	rank := len(order) - len(blocks)
	if rank < 1 || len(blocks) > rank || len(order) > maxDensifyLevels {
		return d, a.errorf("traversal", "%d levels with %d block dimensions", len(order), len(blocks))
	}
	if len(format) != len(order) || len(sizes) != len(order) || len(meta) != 2*len(order) {
		return d, a.errorf("traversal", "%d levels, %d formats, %d sizes and %d lists of segments and indices",
			len(order), len(format), len(sizes), len(meta))
	}
	for i, b := range blocks {
		if b < 0 || int(b) >= rank || i > 0 && b <= blocks[i-1] {
			return d, a.errorf("block_map", "%v is not ascending below %d", blocks, rank)
		}
	}
	// Dimensions lead the traversal, in any order; block dimensions follow.
	d.Dims = make([]uint32, rank)
	inBlock := make([]int64, rank) // size of the block along a dimension
	for i := range inBlock {
		inBlock[i] = 1
	}
	seen := make([]bool, len(order))
	for i, x := range order {
		if x < 0 || int(x) >= len(order) || seen[x] || (i < rank) != (int(x) < rank) {
			return d, a.errorf("traversal", "%v is no order of %d dimensions and then %d block dimensions", order, rank, len(blocks))
		}
		seen[x] = true
		if sizes[i] < 1 {
			return d, a.errorf("sizes", "level %d has size %d", i, sizes[i])
		}
		if i < rank {
			d.Dims[x] = uint32(sizes[i])
			continue
		}
		at := blocks[int(x)-rank]
		n := int64(d.Dims[at]) * int64(sizes[i])
		if n > nn.MaxElements {
			return d, a.errorf("sizes", "%v are too large", sizes)
		}
		inBlock[at], d.Dims[at] = int64(sizes[i]), uint32(n)
	}
	if nn.Elements(d.Dims) < 0 {
		return d, a.errorf("sizes", "result %v is too large", d.Dims)
	}
	strides := denseStrides(d.Dims)
	for i, x := range order {
		l := DensifyLevel{Size: int(sizes[i]), Segments: None, Indices: None}
		if i < rank {
			l.Stride = strides[x] * int(inBlock[x])
		} else {
			l.Stride = strides[blocks[int(x)-rank]]
		}
		switch format[i] {
		case DensifyDense:
		case DensifyCSR:
			l.Sparse, l.Segments, l.Indices = true, meta[2*i], meta[2*i+1]
		default:
			return d, a.errorf("format", "level %d has format %d, not 0 or 1", i, format[i])
		}
		d.Levels = append(d.Levels, l)
	}
	return d, nil
}
