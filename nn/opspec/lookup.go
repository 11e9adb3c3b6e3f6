package opspec

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
)

// lookupRows pick elements by index, key, hash or size, or at random.
//
// Each bit of each hash of LSH_PROJECTION reads every item once: eight steps per byte of
// a hash function of 64-bit words. TOPK_V2 takes one comparison per level of a heap of K,
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
func keySearch(a *Args, w *Work) error {
	n, err := a.View.elements(a.Op.Inputs[0])
	if err != nil {
		return err
	}
	keys, err := a.View.elements(a.Op.Inputs[1])
	w.Lookups = n * int64(bits.Len64(uint64(keys)))
	return err
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
func samples(a *Args, w *Work) error {
	m, err := reading(readMultinomial, a)
	if err != nil {
		return err
	}
	draws, err := product(a.Op, n64(m.Batches, m.Samples)...)
	if err != nil {
		return err
	}
	steps, err := product(a.Op, draws, 40+int64(m.Classes))
	w.Steps += steps
	w.Lookups += draws
	return err
}
