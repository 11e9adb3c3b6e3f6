package opspec

import (
	"fmt"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
)

// densifyRows is DENSIFY.
var densifyRows = []Row{
	{Op: nn.OpDensify, Since: Experimental, Types: "B8@experimental F16@experimental F32@experimental I32@experimental Q16@experimental Q16S@experimental Q8@experimental Q8S@experimental Q8SYM@experimental", SameQuant: true, Rank: 1, Args: densifyArgs,
		Work: WorkRule{Float: 1, Quant: 1, Also: oneLookup},
		Forms: []Form{
			{Experimental, "values:T traversal:I32 block_map:I32? format:I32 sizes:I32 metadata:I32...?", "output:T"},
		}},
}

var densifyArgs = Arguments[Densify]{Read: readDensify, Shapes: one(func(d *Densify) []uint32 { return d.Dims })}

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

func readDensify(a *Args) (Densify, error) {
	d := Densify{Values: a.In("values"), Output: a.Op.Outputs[0], Type: a.Key}
	order := try.V(a.Int32s("traversal"))
	var blocks []int32
	if a.Has("block_map") {
		blocks = try.V(a.Int32s("block_map"))
	}
	format := try.V(a.Int32s("format"))
	sizes := try.V(a.Int32s("sizes"))
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
	inBlock := try.V(d.shape(a, order, blocks, sizes))
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

// shape is the shape of the result, and the size of a block along each dimension. Dimensions
// lead the traversal, in any order; block dimensions follow.
func (d *Densify) shape(a *Args, order, blocks, sizes []int32) (inBlock []int64, err error) {
	rank := len(order) - len(blocks)
	d.Dims, inBlock = make([]uint32, rank), make([]int64, rank)
	for i := range inBlock {
		inBlock[i] = 1
	}
	seen := make([]bool, len(order))
	for i, x := range order {
		if x < 0 || int(x) >= len(order) || seen[x] || (i < rank) != (int(x) < rank) {
			return nil, a.errorf("traversal", "%v is no order of %d dimensions and then %d block dimensions", order, rank, len(blocks))
		}
		seen[x] = true
		if sizes[i] < 1 {
			return nil, a.errorf("sizes", "level %d has size %d", i, sizes[i])
		}
		if i < rank {
			d.Dims[x] = uint32(sizes[i])
			continue
		}
		at := blocks[int(x)-rank]
		n := int64(d.Dims[at]) * int64(sizes[i])
		if n > nn.MaxElements {
			return nil, a.errorf("sizes", "%v are too large", sizes)
		}
		inBlock[at], d.Dims[at] = int64(sizes[i]), uint32(n)
	}
	if nn.Elements(d.Dims) < 0 {
		return nil, a.errorf("sizes", "result %v is too large", d.Dims)
	}
	return inBlock, nil
}

// oneLookup counts a lookup for each value.
func oneLookup(a *Args, w *Work) (err error) {
	w.Lookups, err = a.View.elements(a.Op.Inputs[0])
	return err
}

// Walk checks the lists of the sparse levels against each other and against the
// number of values, and visits the values in order with their places in the
// result. A place may come twice; the later value counts.
func (d *Densify) Walk(list func(operand uint32) []int32, values int, visit func(value, at int)) error {
	t := sparseTree{levels: make([]sparseLevel, len(d.Levels)), visit: visit}
	nodes := int64(1)
	for i, l := range d.Levels {
		t.levels[i].DensifyLevel = l
		if !l.Sparse {
			if nodes *= int64(l.Size); nodes > nn.MaxElements {
				return fmt.Errorf("level %d: %d nodes are too many", i, nodes)
			}
			continue
		}
		segments, indices := list(l.Segments), list(l.Indices)
		if int64(len(segments)) != nodes+1 || segments[0] != 0 || int64(segments[nodes]) != int64(len(indices)) {
			return fmt.Errorf("level %d: %d segment bounds for %d nodes and %d indices", i, len(segments), nodes, len(indices))
		}
		for k := range nodes {
			if segments[k] > segments[k+1] {
				return fmt.Errorf("level %d: segment %d begins at %d and ends at %d", i, k, segments[k], segments[k+1])
			}
		}
		for k, x := range indices {
			if x < 0 || int(x) >= l.Size {
				return fmt.Errorf("level %d: index %d is %d, there are %d", i, k, x, l.Size)
			}
		}
		t.levels[i].segments, t.levels[i].indices = segments, indices
		nodes = int64(len(indices))
	}
	if n := int64(values); nodes != n {
		return fmt.Errorf("%d values for %d places", n, nodes)
	}
	t.walk(0, 0, 0)
	return nil
}

// sparseTree is a DENSIFY whose lists have been checked, so that the walk reads
// nothing outside them and takes no longer than they are.
type sparseTree struct {
	levels []sparseLevel
	visit  func(value, at int)
}

type sparseLevel struct {
	DensifyLevel
	segments, indices []int32
}

// walk visits a node, which lies at element at of the result.
func (t *sparseTree) walk(level, node, at int) {
	if level == len(t.levels) {
		t.visit(node, at)
		return
	}
	l := &t.levels[level]
	if !l.Sparse {
		for i := range l.Size {
			t.walk(level+1, node*l.Size+i, at+i*l.Stride)
		}
		return
	}
	for i := int(l.segments[node]); i < int(l.segments[node+1]); i++ {
		t.walk(level+1, i, at+int(l.indices[i])*l.Stride)
	}
}
