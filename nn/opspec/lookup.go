package opspec

import (
	"fmt"
	"math/bits"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
)

// lookupRows pick elements by index, key, hash or size, or at random.
//
// Each bit of each hash of LSH_PROJECTION reads every item once: eight steps per byte of
// a hash function of 64-bit words. TOPK_V2 costs one comparison per level of a heap of K,
// RANDOM_MULTINOMIAL exponentials and their sum, a random number and a search per sample.
var lookupRows = []Row{
	{Op: nn.OpGather, Since: V12, Types: number12, SameQuant: true, Args: gatherArgs, Work: gatherRow, Forms: []Form{
		{V12, "input:T axis:int32 indices:I32", "output:T"},
	}},
	{Op: nn.OpEmbeddingLookup, Since: V10, Types: "F32@1.0 I32@1.2 Q8@1.2 F16@1.3 Q8S@1.3", Key: "in1", Args: gatherArgs,
		Work: gatherRow,
		Forms: []Form{
			{V10, "lookups:I32 values:T", "output:T"},
		}},
	{Op: nn.OpHashtableLookup, Since: V10, Types: "F32@1.0 I32@1.0 Q8@1.0", Key: "in2", Args: hashtableArgs,
		Work: WorkRule{Float: 1, Quant: 1, Also: keySearch},
		Forms: []Form{
			{V10, "lookups:I32 keys:I32 values:T", "output:T hits:Q8"},
		}},
	{Op: nn.OpLshProjection, Since: V10, Types: float10, Args: lshArgs,
		Work: WorkRule{Float: 1, Quant: 1, Per: units(readLsh, func(l *Lsh) []int64 {
			return n64(l.Hashes, l.Bits, l.Items, 8*(l.ItemBytes+8))
		})},
		Forms: []Form{
			{V10, "hash:T input:ANY weight:T? type:int32", "output:I32"},
		}},
	{Op: nn.OpTopkV2, Since: V12, Types: number12, SameQuant: true, Args: topKArgs,
		Work: WorkRule{
			Float: 1, Quant: 1,
			Per:  units(readTopK, func(t *TopK) []int64 { return n64(t.Rows, t.Depth, bits.Len(uint(t.K))) }),
			Also: lookups(readTopK, func(t *TopK) int64 { return int64(t.Rows) * int64(t.K) }),
		},
		Forms: []Form{
			{V12, "input:T k:int32", "values:T indices:I32"},
		}},
	{Op: nn.OpRandomMultinomial, Since: V12, Types: float12, Args: multinomialArgs,
		Work: WorkRule{Float: stepsExp + 2, Per: inputElements, Also: samples},
		Forms: []Form{
			{V12, "logits:T samples:int32 seeds:I32", "output:I32"},
		}},
}

var (
	gatherArgs      = Arguments[Gather]{Read: readGather, Shapes: one(func(g *Gather) []uint32 { return g.Dims })}
	hashtableArgs   = Arguments[Hashtable]{Read: readHashtable, Shapes: func(h *Hashtable) [][]uint32 { return [][]uint32{h.Dims, h.HitDims} }}
	lshArgs         = Arguments[Lsh]{Read: readLsh, Shapes: one(func(l *Lsh) []uint32 { return l.Dims })}
	topKArgs        = Arguments[TopK]{Read: readTopK, Shapes: func(t *TopK) [][]uint32 { return [][]uint32{t.Dims, t.Dims} }}
	multinomialArgs = Arguments[Multinomial]{Read: readMultinomial, Shapes: one(func(m *Multinomial) []uint32 { return m.Dims })}
)

// gatherRow reads only the rows that it writes.
var gatherRow = WorkRule{Float: 1, Quant: 1, Rows: true,
	Also: lookups(readGather, func(g *Gather) int64 { return nn.Elements(g.Dims) / max(int64(g.Inner), 1) })}

// Gather is a GATHER: for each of Outer and each index, Inner elements of
// entry index, of Count, along the axis. EMBEDDING_LOOKUP is a Gather along
// axis 0. Indexes are values of the execution; each must be checked.
type Gather struct {
	Input, Indices, Output uint32 // operand indexes
	Type                   nn.OperandType
	Dims                   []uint32
	Outer, Count, Inner    int
}

func readGather(a *Args) (Gather, error) {
	input, indices, at := "input", "indices", 0
	if a.Op.Type == nn.OpEmbeddingLookup {
		input, indices = "values", "lookups"
	}
	g := Gather{Input: a.In(input), Indices: a.In(indices), Output: a.Op.Outputs[0], Type: a.Key}
	in := try.V(a.Dims(input))
	idx := try.V(a.Dims(indices))
	if a.Op.Type == nn.OpGather {
		x := try.V(a.Int32("axis"))
		var err error
		if at, err = axis(x, len(in)); err != nil {
			return g, a.errorf("axis", "%w", err)
		}
	} else if len(in) < 1 || len(idx) != 1 {
		return g, a.errorf(indices, "shapes %v and %v", idx, in)
	}
	g.Outer, g.Count, g.Inner = splitAt(in, at)
	g.Dims = append(append(append([]uint32{}, in[:at]...), idx...), in[at+1:]...)
	return g, nil
}

// Hashtable is a HASHTABLE_LOOKUP: rows of Size elements of Values, found by
// key in Keys.
type Hashtable struct {
	Lookups, Keys, Values, Output, Hits uint32 // operand indexes
	Type                                nn.OperandType
	Dims, HitDims                       []uint32
	Rows, Size                          int
}

func readHashtable(a *Args) (Hashtable, error) {
	h := Hashtable{Lookups: a.Op.Inputs[0], Keys: a.Op.Inputs[1], Values: a.Op.Inputs[2], Output: a.Op.Outputs[0], Hits: a.Op.Outputs[1], Type: a.Key}
	l := try.V(a.Dims("lookups"))
	k := try.V(a.Dims("keys"))
	d := try.V(a.Dims("values"))
	if len(l) != 1 || len(k) != 1 || len(d) < 1 || d[0] != k[0] {
		return h, a.errorf("keys", "shapes %v, %v and %v", l, k, d)
	}
	h.Rows, h.Size = int(d[0]), int(nn.Elements(d[1:]))
	h.HitDims, h.Dims = l, append([]uint32{l[0]}, d[1:]...)
	return h, nil
}

// keySearch counts a binary search of the keys for each lookup.
func keySearch(a *Args, w *Work) {
	keys := try.V(a.View.elements(a.Op.Inputs[1]))
	w.Lookups = inputElements(a) * int64(bits.Len64(uint64(keys)))
}

// TopK is a TOPK_V2: the K largest of each of Rows rows of Depth elements.
type TopK struct {
	Input, Values, Indices uint32 // operand indexes
	Type                   nn.OperandType
	Dims                   []uint32
	Rows, Depth, K         int
}

func readTopK(a *Args) (TopK, error) {
	t := TopK{Input: a.In("input"), Values: a.Op.Outputs[0], Indices: a.Op.Outputs[1], Type: a.Key}
	in := try.V(a.Dims("input"))
	k := try.V(a.Int32("k"))
	if len(in) < 1 || k < 1 || int64(k) > int64(in[len(in)-1]) {
		return t, a.errorf("k", "%d of shape %v", k, in)
	}
	last := len(in) - 1
	t.Rows, t.Depth, t.K = int(nn.Elements(in[:last])), int(in[last]), int(k)
	t.Dims = append(append([]uint32{}, in[:last]...), uint32(k))
	return t, nil
}

// Kinds of LSH_PROJECTION.
const (
	LshSparseDeprecated = 1
	LshDense            = 2
	LshSparse           = 3
)

// Lsh is an LSH_PROJECTION of Items rows of ItemBytes bytes.
type Lsh struct {
	Hash, Input, Weight, Output uint32 // operand indexes; Weight may be None
	Type                        nn.OperandType
	Kind                        int32
	Hashes, Bits                int
	Items, ItemBytes            int
	Dims                        []uint32
}

func readLsh(a *Args) (Lsh, error) {
	l := Lsh{Hash: a.In("hash"), Input: a.In("input"), Weight: a.In("weight"), Output: a.Op.Outputs[0], Type: a.Key}
	l.Kind = try.V(a.Int32("type"))
	h := try.V(a.Dims("hash"))
	in := try.V(a.Dims("input"))
	if len(h) != 2 || h[1] > 32 || len(in) < 1 || in[0] == 0 {
		return l, a.errorf("hash", "shapes %v and %v", h, in)
	}
	if l.Weight != None {
		w := try.V(a.Dims("weight"))
		if len(w) != 1 || w[0] != in[0] {
			return l, a.errorf("weight", "shape %v, [%d] needed", w, in[0])
		}
	}
	l.Hashes, l.Bits, l.Items = int(h[0]), int(h[1]), int(in[0])
	l.ItemBytes = int(nn.Elements(in[1:])) * a.View.Operands[l.Input].Type.ElementBytes()
	switch l.Kind {
	case LshSparseDeprecated, LshSparse:
		l.Dims = []uint32{h[0]}
	case LshDense:
		l.Dims = []uint32{h[0] * h[1]}
	default:
		return l, a.errorf("type", "%d is not 1 to 3", l.Kind)
	}
	return l, nil
}

// Multinomial is a RANDOM_MULTINOMIAL.
type Multinomial struct {
	Logits, Seeds, Output     uint32 // operand indexes
	Batches, Classes, Samples int
	Dims                      []uint32
}

func readMultinomial(a *Args) (Multinomial, error) {
	m := Multinomial{Logits: a.In("logits"), Seeds: a.In("seeds"), Output: a.Op.Outputs[0]}
	d := try.V(a.Dims("logits"))
	n := try.V(a.Int32("samples"))
	s := try.V(a.Dims("seeds"))
	if len(d) != 2 || n < 1 || len(s) != 1 || s[0] != 2 {
		return m, a.errorf("logits", "shape %v, %d samples, seeds %v", d, n, s)
	}
	m.Batches, m.Classes, m.Samples = int(d[0]), int(d[1]), int(n)
	m.Dims = []uint32{d[0], uint32(n)}
	return m, nil
}

// samples counts the random draws of RANDOM_MULTINOMIAL: ten rounds of a
// counter-based generator and a search through the classes.
func samples(a *Args, w *Work) {
	m := try.V(readMultinomial(a))
	draws := product(a.Op, n64(m.Batches, m.Samples)...)
	w.Steps += product(a.Op, draws, 40+int64(m.Classes))
	w.Lookups += draws
}

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
	densifyDense = 0 // every coordinate is there
	densifyCSR   = 1 // segments and coordinates are listed
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
		case densifyDense:
		case densifyCSR:
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
func oneLookup(a *Args, w *Work) { w.Lookups = inputElements(a) }

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
// nothing outside them and its time is linear in their length.
type sparseTree struct {
	levels []sparseLevel
	visit  func(value, at int)
}

type sparseLevel struct {
	DensifyLevel
	segments, indices []int32
}

// walk visits a node, which is at element at of the result.
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
