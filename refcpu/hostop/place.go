package hostop

import (
	"bytes"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
)

// placeOperators read parts from places that indices name, or put them there.
var placeOperators = []operator{
	// tensor, indices [.., m] into its first m dimensions; attribute: the number of first dimensions that both have.
	{op: nn.OpHostGatherNd, attributes: 1, steps: 1, run: gatherNd},
	// indices [.., m], parts, shape: zeros in that shape, to which each part is added.
	{op: nn.OpHostScatterNd, steps: 2, run: scatterNd},
	// tensor, segments [n] or of more of its first dimensions, their number, which may be omitted: then it is one more than the
	// last. Attribute: 0 the sum of each segment, 1 the product, 2 the maximum, 3 the minimum. Negative segments do not count.
	{op: nn.OpHostSegment, attributes: 1, steps: 2, run: segment},
	// tensor, part, starts, which are moved so that the part lies inside.
	{op: nn.OpHostUpdateSlice, steps: 1, run: updateSlice},
}

// rows are tuples of indices [.., m] into dimensions as places in their product.
func (c *call) rows(indices *tensor, dims []uint32) []int {
	last := len(indices.dims) - 1
	if last < 0 || int(indices.dims[last]) > len(dims) {
		fail("indices of shape %v into %v", indices.dims, dims)
	}
	m, n := int(indices.dims[last]), int(nn.Elements(indices.dims[:last]))
	try.E(c.x.Charge(int64(indices.n()+n), 8*int64(n)))
	list := make([]int, n)
	for i := range list {
		for k := range m {
			v := indices.integer(i*m + k)
			if v < 0 || v >= int64(dims[k]) {
				fail("index %d of dimension %d, which has %d elements", v, k, dims[k])
			}
			list[i] = list[i]*int(dims[k]) + int(v)
		}
	}
	return list
}

func gatherNd(c *call) []tensor {
	x, indices, batch := c.tensor(0), c.tensor(1), c.attributes[0]
	if batch < 0 || batch > len(x.dims) || batch >= len(indices.dims) || !slices.Equal(x.dims[:batch], indices.dims[:batch]) {
		fail("%d batch dimensions of shape %v and indices %v", batch, x.dims, indices.dims)
	}
	rows := c.rows(indices, x.dims[batch:])
	last := len(indices.dims) - 1
	m := batch + int(indices.dims[last])
	y := c.make(x, slices.Concat(indices.dims[:last], x.dims[m:]))
	inner := int(nn.Elements(x.dims[m:]))
	if inner == 0 || len(rows) == 0 {
		return []tensor{y}
	}
	each := len(rows) / int(nn.Elements(x.dims[:batch]))
	size := int(nn.Elements(x.dims[batch:m]))
	for i, r := range rows {
		from := (i/each*size + r) * inner
		copy(y.bytes(i*inner, (i+1)*inner), x.bytes(from, from+inner))
	}
	return []tensor{y}
}

func scatterNd(c *call) []tensor {
	indices, parts, dims := c.tensor(0), c.tensor(1), shape(c.list(2))
	if len(dims) > 4 {
		fail("shape %v, at most four dimensions", dims)
	}
	rows := c.rows(indices, dims)
	inner := int(nn.Elements(dims[indices.dims[len(indices.dims)-1]:]))
	if parts.n() != len(rows)*inner {
		fail("parts of shape %v for indices %v into %v", parts.dims, indices.dims, dims)
	}
	y := c.make(parts, dims)
	for i, r := range rows {
		for k := range inner {
			y.add(r*inner+k, parts, i*inner+k)
		}
	}
	return []tensor{y}
}

// add adds element k of another tensor to element i. Integers wrap, as stored; of truths the disjunction counts.
func (t *tensor) add(i int, other *tensor, k int) {
	switch t.kind {
	case nn.TensorBool8:
		t.data[i] |= other.data[k]
	case nn.TensorFloat32, nn.TensorFloat16:
		t.putNumber(i, t.number(i)+other.number(k))
	case nn.TensorInt32:
		t.put(i, int64(int32(t.integer(i)+other.integer(k))))
	default:
		t.data[i] += other.data[k]
	}
}

// folds join an element of a segment with another; the first value is that of a segment without elements.
var folds = []struct {
	initial float64
	join    func(a, b float64) float64
}{
	{0, func(a, b float64) float64 { return a + b }},
	{1, func(a, b float64) float64 { return a * b }},
	{math.Inf(-1), math.Max},
	{math.Inf(1), math.Min},
}

// limit is a value in the range of a tensor's numbers, where the infinities are the range's ends.
func (t *tensor) limit(v float64) float64 {
	lo, hi := float64(math.MinInt32), float64(math.MaxInt32)
	switch t.kind {
	case nn.TensorFloat32:
		lo, hi = -math.MaxFloat32, math.MaxFloat32
	case nn.TensorFloat16:
		lo, hi = -65504, 65504
	}
	return math.Min(math.Max(v, lo), hi)
}

func segment(c *call) []tensor {
	x, ids := c.tensor(0), c.tensor(1)
	at := len(ids.dims)
	if k := c.attributes[0]; k < 0 || k >= len(folds) || at > len(x.dims) || !slices.Equal(x.dims[:at], ids.dims) || x.kind.IsQuant8() {
		fail("fold %d of %v of shape %v by segments of shape %v", k, x.kind, x.dims, ids.dims)
	}
	fold := folds[c.attributes[0]]
	n := int64(0)
	switch {
	case c.has(2):
		n = c.one(2)
	case ids.n() > 0:
		n = ids.integer(ids.n()-1) + 1
	}
	if n < 0 || n > nn.MaxElements {
		fail("%d segments", n)
	}
	y := c.make(x, append([]uint32{uint32(n)}, x.dims[at:]...))
	for i := range y.n() {
		y.putNumber(i, y.limit(fold.initial))
	}
	inner := int(nn.Elements(x.dims[at:]))
	for i := range ids.n() {
		s := ids.integer(i)
		if s < 0 && c.has(2) {
			continue
		}
		if s < 0 || s >= n {
			fail("segment %d of %d", s, n)
		}
		for k := range inner {
			to := int(s)*inner + k
			v := fold.join(y.number(to), x.number(i*inner+k))
			if y.kind == nn.TensorInt32 {
				v = float64(int32(int64(v)))
			}
			y.putNumber(to, v)
		}
	}
	return []tensor{y}
}

func updateSlice(c *call) []tensor {
	x, part, starts := c.tensor(0), c.tensor(1), c.list(2)
	if len(part.dims) != len(x.dims) || len(starts) != len(x.dims) || part.kind != x.kind {
		fail("a part of shape %v at %v of shape %v", part.dims, starts, x.dims)
	}
	y := c.make(x, x.dims)
	y.data = bytes.Clone(x.data)
	to := strides(x.dims)
	for i := range starts {
		if part.dims[i] > x.dims[i] {
			fail("a part of shape %v in shape %v", part.dims, x.dims)
		}
		starts[i] = min(max(starts[i], 0), int64(x.dims[i]-part.dims[i]))
	}
	each(part.dims, func(i int, at []int) {
		p := 0
		for d, a := range at {
			p += (a + int(starts[d])) * to[d]
		}
		copy(y.bytes(p, p+1), part.bytes(i, i+1))
	})
	return []tensor{y}
}
