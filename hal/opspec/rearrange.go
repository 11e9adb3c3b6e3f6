package opspec

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// Split is a SPLIT into equal parts: for each of Outer, Size contiguous
// elements go to each output in turn.
type Split struct {
	Input   uint32 // operand index
	Outputs []uint32
	Type    nn.OperandType
	Dims    []uint32 // of each output
	Outer   int
	Size    int // contiguous elements per output and outer index
}

// Split reads a SPLIT.
func (v View) Split(op *nn.Operation) (Split, error) {
	a, err := v.bindAs(op, nn.OpSplit)
	if err != nil {
		return Split{}, err
	}
	s := Split{Input: a.In("input"), Outputs: op.Outputs, Type: a.Key}
	in, err := a.Dims("input")
	if err != nil {
		return s, err
	}
	x, err := a.Int32("axis")
	if err != nil {
		return s, err
	}
	at, err := axis(x, len(in))
	if err != nil {
		return s, a.errorf("axis", "%w", err)
	}
	n, err := a.Int32("count")
	if err != nil {
		return s, err
	}
	if int(n) != len(op.Outputs) || n < 1 || in[at]%uint32(n) != 0 {
		return s, a.errorf("count", "%d parts of %v along %d for %d outputs", n, in, at, len(op.Outputs))
	}
	s.Dims = append([]uint32(nil), in...)
	s.Dims[at] /= uint32(n)
	s.Outer, s.Size = int(nn.Elements(in[:at])), int(nn.Elements(s.Dims[at:]))
	return s, nil
}

// Tile is a TILE: each dimension repeated Multiples times.
type Tile struct {
	Input, Output uint32 // operand indexes
	Type          nn.OperandType
	In, Dims      []uint32
}

// Tile reads a TILE.
func (v View) Tile(op *nn.Operation) (Tile, error) {
	a, err := v.bindAs(op, nn.OpTile)
	if err != nil {
		return Tile{}, err
	}
	t := Tile{Input: a.In("input"), Output: op.Outputs[0], Type: a.Key}
	if t.In, err = a.Dims("input"); err != nil {
		return t, err
	}
	m, err := a.Int32s("multiples")
	if err != nil {
		return t, err
	}
	if len(m) != len(t.In) {
		return t, a.errorf("multiples", "%d entries for rank %d", len(m), len(t.In))
	}
	for i, d := range t.In {
		n := int64(d) * int64(m[i])
		if m[i] < 0 || n > nn.MaxElements {
			return t, a.errorf("multiples", "%d times dimension %d of %v", m[i], i, t.In)
		}
		t.Dims = append(t.Dims, uint32(n))
	}
	return t, nil
}

// Gather is a GATHER: for each of Outer and each index, Inner elements of
// entry index, of Count, along the axis. EMBEDDING_LOOKUP is a Gather along
// axis 0. Indexes are values of the execution; each must be checked.
type Gather struct {
	Input, Indices, Output uint32 // operand indexes
	Type                   nn.OperandType
	Dims                   []uint32
	Outer, Count, Inner    int
}

// Gather reads a GATHER or an EMBEDDING_LOOKUP.
func (v View) Gather(op *nn.Operation) (Gather, error) {
	a, err := v.bindAs(op, nn.OpGather, nn.OpEmbeddingLookup)
	if err != nil {
		return Gather{}, err
	}
	input, indices, at := "input", "indices", 0
	if op.Type == nn.OpEmbeddingLookup {
		input, indices = "values", "lookups"
	}
	g := Gather{Input: a.In(input), Indices: a.In(indices), Output: op.Outputs[0], Type: a.Key}
	in, err := a.Dims(input)
	if err != nil {
		return g, err
	}
	idx, err := a.Dims(indices)
	if err != nil {
		return g, err
	}
	if op.Type == nn.OpGather {
		x, err := a.Int32("axis")
		if err != nil {
			return g, err
		}
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

// Hashtable reads a HASHTABLE_LOOKUP.
func (v View) Hashtable(op *nn.Operation) (Hashtable, error) {
	a, err := v.bindAs(op, nn.OpHashtableLookup)
	if err != nil {
		return Hashtable{}, err
	}
	h := Hashtable{Lookups: op.Inputs[0], Keys: op.Inputs[1], Values: op.Inputs[2], Output: op.Outputs[0], Hits: op.Outputs[1], Type: a.Key}
	l, err := a.Dims("lookups")
	if err != nil {
		return h, err
	}
	k, err := a.Dims("keys")
	if err != nil {
		return h, err
	}
	d, err := a.Dims("values")
	if err != nil {
		return h, err
	}
	if len(l) != 1 || len(k) != 1 || len(d) < 1 || d[0] != k[0] {
		return h, a.errorf("keys", "shapes %v, %v and %v", l, k, d)
	}
	h.Rows, h.Size = int(d[0]), int(nn.Elements(d[1:]))
	h.HitDims, h.Dims = l, append([]uint32{l[0]}, d[1:]...)
	return h, nil
}

// Fill is a FILL with one value. The shape is known when its tensor is.
type Fill struct {
	Output uint32 // operand index
	Value  uint32 // operand index of the scalar
	Dims   []uint32
}

// Fill reads a FILL.
func (v View) Fill(op *nn.Operation) (Fill, error) {
	a, err := v.bindAs(op, nn.OpFill)
	if err != nil {
		return Fill{}, err
	}
	f := Fill{Output: op.Outputs[0], Value: a.In("value")}
	dims, err := a.Int32s("dims")
	if err != nil {
		return f, err
	}
	if len(dims) > 32 {
		return f, a.errorf("dims", "rank %d", len(dims))
	}
	f.Dims = []uint32{}
	for _, d := range dims {
		if d < 0 {
			return f, a.errorf("dims", "%v has a negative entry", dims)
		}
		f.Dims = append(f.Dims, uint32(d))
	}
	return f, nil
}

// Rank reads a RANK: the rank of its input, which may have unknown dimensions.
func (v View) Rank(op *nn.Operation) (int, error) {
	a, err := v.bindAs(op, nn.OpRank)
	if err != nil {
		return 0, err
	}
	d := v.Operands[a.In("input")].Dimensions
	if len(d) == 0 && !v.Bound {
		return 0, fmt.Errorf("RANK: input: operand %d: %w", a.In("input"), ErrUnknown)
	}
	return len(d), nil
}

// TopK is a TOPK_V2: the K largest of each of Rows rows of Depth elements.
type TopK struct {
	Input, Values, Indices uint32 // operand indexes
	Type                   nn.OperandType
	Dims                   []uint32
	Rows, Depth, K         int
}

// TopK reads a TOPK_V2.
func (v View) TopK(op *nn.Operation) (TopK, error) {
	a, err := v.bindAs(op, nn.OpTopkV2)
	if err != nil {
		return TopK{}, err
	}
	t := TopK{Input: a.In("input"), Values: op.Outputs[0], Indices: op.Outputs[1], Type: a.Key}
	in, err := a.Dims("input")
	if err != nil {
		return t, err
	}
	k, err := a.Int32("k")
	if err != nil {
		return t, err
	}
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

// Lsh reads an LSH_PROJECTION.
func (v View) Lsh(op *nn.Operation) (Lsh, error) {
	a, err := v.bindAs(op, nn.OpLshProjection)
	if err != nil {
		return Lsh{}, err
	}
	l := Lsh{Hash: a.In("hash"), Input: a.In("input"), Weight: a.In("weight"), Output: op.Outputs[0], Type: a.Key}
	if l.Kind, err = a.Int32("type"); err != nil {
		return l, err
	}
	h, err := a.Dims("hash")
	if err != nil {
		return l, err
	}
	in, err := a.Dims("input")
	if err != nil {
		return l, err
	}
	if len(h) != 2 || h[1] > 32 || len(in) < 1 || in[0] == 0 {
		return l, a.errorf("hash", "shapes %v and %v", h, in)
	}
	if l.Weight != None {
		w, err := a.Dims("weight")
		if err != nil {
			return l, err
		}
		if len(w) != 1 || w[0] != in[0] {
			return l, a.errorf("weight", "shape %v, [%d] needed", w, in[0])
		}
	}
	l.Hashes, l.Bits, l.Items = int(h[0]), int(h[1]), int(in[0])
	l.ItemBytes = int(nn.Elements(in[1:])) * v.Operands[l.Input].Type.ElementBytes()
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
	Type                      nn.OperandType
	Batches, Classes, Samples int
	Dims                      []uint32
}

// Multinomial reads a RANDOM_MULTINOMIAL.
func (v View) Multinomial(op *nn.Operation) (Multinomial, error) {
	a, err := v.bindAs(op, nn.OpRandomMultinomial)
	if err != nil {
		return Multinomial{}, err
	}
	m := Multinomial{Logits: a.In("logits"), Seeds: a.In("seeds"), Output: op.Outputs[0], Type: a.Key}
	d, err := a.Dims("logits")
	if err != nil {
		return m, err
	}
	n, err := a.Int32("samples")
	if err != nil {
		return m, err
	}
	s, err := a.Dims("seeds")
	if err != nil {
		return m, err
	}
	if len(d) != 2 || n < 1 || len(s) != 1 || s[0] != 2 {
		return m, a.errorf("logits", "shape %v, %d samples, seeds %v", d, n, s)
	}
	m.Batches, m.Classes, m.Samples = int(d[0]), int(d[1]), int(n)
	m.Dims = []uint32{d[0], uint32(n)}
	return m, nil
}

// Resize is a RESIZE_BILINEAR or RESIZE_NEAREST_NEIGHBOR.
type Resize struct {
	Input, Output              uint32 // operand indexes
	Type                       nn.OperandType
	N, H, W, C                 int
	OutH, OutW                 int
	NCHW, AlignCorners, Center bool // Center: half_pixel_centers
}

// Resize reads a RESIZE_BILINEAR or RESIZE_NEAREST_NEIGHBOR.
func (v View) Resize(op *nn.Operation) (Resize, error) {
	a, err := v.bindAs(op, nn.OpResizeBilinear, nn.OpResizeNearestNeighbor)
	if err != nil {
		return Resize{}, err
	}
	r := Resize{Input: a.In("input"), Output: op.Outputs[0], Type: a.Key}
	for _, b := range []struct {
		name string
		dst  *bool
	}{{"nchw", &r.NCHW}, {"align_corners", &r.AlignCorners}, {"half_pixel_centers", &r.Center}} {
		if *b.dst, err = a.BoolOr(b.name, false); err != nil {
			return r, err
		}
	}
	if r.AlignCorners && r.Center {
		return r, a.errorf("align_corners", "not together with half_pixel_centers")
	}
	if r.N, r.H, r.W, r.C, err = a.image("input", r.NCHW); err != nil {
		return r, err
	}
	for _, s := range []struct {
		size, scale string
		in          int
		dst         *int
	}{{"out_height", "height_scale", r.H, &r.OutH}, {"out_width", "width_scale", r.W, &r.OutW}} {
		if a.Has(s.size) {
			n, err := a.Int32(s.size)
			if err != nil {
				return r, err
			}
			*s.dst = int(n)
		} else {
			f, err := a.Float(s.scale)
			if err != nil {
				return r, err
			}
			n := math.Floor(float64(float32(s.in) * f))
			if !(n <= nn.MaxElements) {
				return r, a.errorf(s.scale, "%v", f)
			}
			*s.dst = int(n)
		}
		if *s.dst < 1 {
			return r, a.errorf("input", "the result would have %d rows or columns", *s.dst)
		}
	}
	if r.H == 0 || r.W == 0 {
		return r, a.errorf("input", "an image of %dx%d", r.H, r.W)
	}
	return r, nil
}

// OutputDims is the shape of the result.
func (r *Resize) OutputDims() []uint32 { return imageDims(r.N, r.OutH, r.OutW, r.C, r.NCHW) }

// Along is an operation along one axis of a tensor seen as [Outer, Depth,
// Inner]: L2_NORMALIZATION, LOCAL_RESPONSE_NORMALIZATION, ARGMAX, ARGMIN.
type Along struct {
	Input, Output       uint32 // operand indexes
	Type                nn.OperandType
	Dims                []uint32 // of the output
	Outer, Depth, Inner int
	// LOCAL_RESPONSE_NORMALIZATION
	Radius            int
	Bias, Alpha, Beta float32
}

// Along reads an operation along one axis.
func (v View) Along(op *nn.Operation) (Along, error) {
	a, err := v.bindAs(op, nn.OpL2Normalization, nn.OpLocalResponseNormalization, nn.OpArgmax, nn.OpArgmin)
	if err != nil {
		return Along{}, err
	}
	r := Along{Input: a.In("input"), Output: op.Outputs[0], Type: a.Key}
	in, err := a.Dims("input")
	if err != nil {
		return r, err
	}
	if m := a.Row.MaxRank; m > 0 && len(in) > m {
		return r, a.errorf("input", "rank %d, at most %d", len(in), m)
	}
	x, err := a.Int32Or("axis", -1)
	if err != nil {
		return r, err
	}
	at, err := axis(x, len(in))
	if err != nil {
		return r, a.errorf("axis", "%w", err)
	}
	r.Outer, r.Depth, r.Inner = splitAt(in, at)
	r.Dims = in
	switch op.Type {
	case nn.OpArgmax, nn.OpArgmin:
		r.Dims = append(append([]uint32{}, in[:at]...), in[at+1:]...)
		if len(r.Dims) == 0 {
			r.Dims = []uint32{1}
		}
		if r.Depth == 0 {
			return r, a.errorf("input", "shape %v is empty along axis %d", in, at)
		}
	case nn.OpLocalResponseNormalization:
		n, err := a.Int32("radius")
		if err != nil {
			return r, err
		}
		if n < 0 {
			return r, a.errorf("radius", "%d is negative", n)
		}
		r.Radius = int(n)
		for _, p := range []struct {
			name string
			dst  *float32
		}{{"bias", &r.Bias}, {"alpha", &r.Alpha}, {"beta", &r.Beta}} {
			if *p.dst, err = a.Float(p.name); err != nil {
				return r, err
			}
		}
	}
	return r, nil
}

// InstanceNorm is an INSTANCE_NORMALIZATION.
type InstanceNorm struct {
	Input, Output        uint32 // operand indexes
	Type                 nn.OperandType
	Dims                 []uint32
	N, H, W, C           int
	NCHW                 bool
	Gamma, Beta, Epsilon float32
}

// InstanceNorm reads an INSTANCE_NORMALIZATION.
func (v View) InstanceNorm(op *nn.Operation) (InstanceNorm, error) {
	a, err := v.bindAs(op, nn.OpInstanceNormalization)
	if err != nil {
		return InstanceNorm{}, err
	}
	n := InstanceNorm{Input: a.In("input"), Output: op.Outputs[0], Type: a.Key}
	if n.NCHW, err = a.BoolOr("nchw", false); err != nil {
		return n, err
	}
	if n.N, n.H, n.W, n.C, err = a.image("input", n.NCHW); err != nil {
		return n, err
	}
	n.Dims, _ = a.Dims("input")
	for _, p := range []struct {
		name string
		dst  *float32
	}{{"gamma", &n.Gamma}, {"beta", &n.Beta}, {"epsilon", &n.Epsilon}} {
		if *p.dst, err = a.Float(p.name); err != nil {
			return n, err
		}
	}
	return n, nil
}
