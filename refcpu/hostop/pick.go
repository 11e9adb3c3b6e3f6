package hostop

import (
	"math"
	"slices"
	"sort"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
)

// pickOperators choose elements by their values, places or order.
var pickOperators = []operator{
	// tensor; attribute 0: coordinates are columns, [rank, n], 1: rows, [n, rank].
	{op: nn.OpHostNonZero, attributes: 1, steps: 2, run: nonZero},
	// tensor; attributes: axis or None, order of the results (0 of first appearance, 1 ascending). Results: the elements or
	// slices that differ, the place of the first of each, which of them each of the input is, how often each is there.
	{op: nn.OpHostUnique, attributes: 2, unpriced: true, run: unique},
	// tensor, conditions [n]; attribute: axis or None for the elements in order.
	{op: nn.OpHostCompress, attributes: 1, steps: 2, run: compress},
	// conditions, and two tensors of one type, all of which broadcast: elements of the first where a condition holds, else of the
	// second. Attribute 1: conditions of one dimension choose among the first.
	{op: nn.OpHostSelect, attributes: 1, steps: 1, run: choose},
	// tensor, starts, ends, axes and steps, of which the last two may be omitted.
	{op: nn.OpHostSlice, steps: 1, run: slice},
	// tensor, starts, ends and steps; attributes, of which the first five are masks with a bit per bound: starts left open,
	// ends left open, an ellipsis, a new axis, an axis of one element that is dropped, and whether ends count from the starts.
	{op: nn.OpHostStridedSlice, attributes: 6, steps: 1, run: stridedSlice},
	// tensor, indices; attributes: axis, whether the indices are a scalar, the number of first dimensions that both have.
	{op: nn.OpHostGather, attributes: 3, steps: 1, run: gather},
	// tensor, k; attributes: axis, whether the greatest. Results: values in order, places.
	{op: nn.OpHostTopK, attributes: 2, unpriced: true, run: topK},
	// tensor, lengths of the parts, of which one may be -1 for the rest; attribute: axis.
	{op: nn.OpHostSplit, attributes: 1, steps: 1, run: splitParts},
}

func nonZero(c *call) []tensor {
	x := c.tensor(0)
	try.E(c.x.Charge(int64(x.n()), 8*int64(x.n())))
	var places []int64 // row by row
	rank := len(x.dims)
	each(x.dims, func(i int, at []int) {
		if x.number(i) == 0 {
			return
		}
		for _, a := range at {
			places = append(places, int64(a))
		}
	})
	n := uint32(len(places) / max(rank, 1))
	if c.attributes[0] == 1 {
		return []tensor{c.integers([]uint32{n, uint32(rank)}, places)}
	}
	turned := make([]int64, len(places))
	for i, v := range places {
		turned[i%rank*int(n)+i/rank] = v
	}
	return []tensor{c.integers([]uint32{uint32(rank), n}, turned)}
}

func unique(c *call) []tensor {
	x := c.tensor(0)
	dims, at := []uint32{uint32(x.n())}, 0
	if c.attributes[0] != None {
		dims, at = x.dims, axis(int64(c.attributes[0]), len(x.dims))
	}
	outer, inner := split(dims, at)
	n := int(dims[at])
	try.E(c.x.Charge(int64(x.n()), int64(len(x.data))+32*int64(n)))
	// element k of slice i is the one at (k / inner, i, k % inner).
	place := func(i, k int) int { return (k/inner*n+i)*inner + k%inner }
	compare := func(a, b int) int {
		for k := range outer * inner {
			p, q := x.number(place(a, k)), x.number(place(b, k))
			switch {
			case p < q:
				return -1
			case p > q:
				return 1
			}
		}
		return 0
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	steps := int64(outer*inner) * int64(n)
	for k := n; k > 1; k /= 2 { // of the sort
		try.E(c.x.Charge(steps, 0))
	}
	sort.SliceStable(order, func(i, j int) bool { return compare(order[i], order[j]) < 0 })
	var firsts []int
	group := make([]int, n) // of each slice, by value
	for i, s := range order {
		if i == 0 || compare(order[i-1], s) != 0 {
			firsts = append(firsts, s)
		}
		group[s] = len(firsts) - 1
	}
	rank := make([]int, len(firsts)) // of each group among the results
	byRank := make([]int, len(firsts))
	for i := range byRank {
		byRank[i] = i
	}
	if c.attributes[1] == 0 {
		sort.Slice(byRank, func(i, j int) bool { return firsts[byRank[i]] < firsts[byRank[j]] })
	}
	for i, g := range byRank {
		rank[g] = i
	}
	m := uint32(len(firsts))
	to := slices.Clone(dims)
	to[at] = m
	y := c.make(x, to)
	first, count, inverse := make([]int64, m), make([]int64, m), make([]int64, n)
	for i, g := range byRank {
		first[i] = int64(firsts[g])
		for o := range outer {
			copy(y.bytes((o*int(m)+i)*inner, (o*int(m)+i+1)*inner), x.bytes((o*n+firsts[g])*inner, (o*n+firsts[g]+1)*inner))
		}
	}
	for i, g := range group {
		inverse[i] = int64(rank[g])
		count[rank[g]]++
	}
	one := []uint32{m}
	return []tensor{y, c.integers(one, first), c.integers([]uint32{uint32(n)}, inverse), c.integers(one, count)}
}

// taken are the slices of a tensor at places along an axis.
func (c *call) taken(x *tensor, dims []uint32, at int, places []int) tensor {
	outer, inner := split(dims, at)
	to := slices.Clone(dims)
	to[at] = uint32(len(places))
	y := c.make(x, to)
	if len(y.data) == 0 {
		return y
	}
	for o := range outer {
		for i, p := range places {
			from := (o*int(dims[at]) + p) * inner
			copy(y.bytes((o*len(places)+i)*inner, (o*len(places)+i+1)*inner), x.bytes(from, from+inner))
		}
	}
	return y
}

func compress(c *call) []tensor {
	x, conditions := c.tensor(0), c.tensor(1)
	dims, at := []uint32{uint32(x.n())}, 0
	if c.attributes[0] != None {
		dims, at = x.dims, axis(int64(c.attributes[0]), len(x.dims))
	}
	if conditions.n() > int(dims[at]) {
		fail("%d conditions for %d entries", conditions.n(), dims[at])
	}
	var places []int
	for i := range conditions.n() {
		if conditions.integer(i) != 0 {
			places = append(places, i)
		}
	}
	return []tensor{c.taken(x, dims, at, places)}
}

func choose(c *call) []tensor {
	conditions, a, b := *c.tensor(0), c.tensor(1), c.tensor(2)
	if a.kind != b.kind {
		fail("elements of %v and of %v", a.kind, b.kind)
	}
	if rank := len(a.dims); c.attributes[0] == 1 && len(conditions.dims) == 1 && rank > 1 && conditions.dims[0] == a.dims[0] {
		conditions.dims = slices.Concat(conditions.dims, slices.Repeat([]uint32{1}, rank-1))
	}
	dims := broadcast(broadcast(conditions.dims, a.dims), b.dims)
	y := c.make(a, dims)
	which, first, second := aligned(conditions.dims, dims), aligned(a.dims, dims), aligned(b.dims, dims)
	each(dims, func(i int, at []int) {
		from, k := b, offset(at, second)
		if conditions.integer(offset(at, which)) != 0 {
			from, k = a, offset(at, first)
		}
		copy(y.bytes(i, i+1), from.bytes(k, k+1))
	})
	return []tensor{y}
}

func slice(c *call) []tensor {
	y := *c.tensor(0)
	starts, ends := c.list(1), c.list(2)
	var axes, steps []int64
	if c.has(3) {
		axes = c.list(3)
	} else {
		for i := range starts {
			axes = append(axes, int64(i))
		}
	}
	if c.has(4) {
		steps = c.list(4)
	} else {
		steps = slices.Repeat([]int64{1}, len(starts))
	}
	if len(ends) != len(starts) || len(axes) != len(starts) || len(steps) != len(starts) {
		fail("%d starts, %d ends, %d axes and %d steps", len(starts), len(ends), len(axes), len(steps))
	}
	cut := make([]bool, len(y.dims))
	for i, a := range axes {
		at := axis(a, len(y.dims))
		if cut[at] {
			fail("axis %d twice", a)
		}
		cut[at] = true
		y = c.taken(&y, y.dims, at, c.span(starts[i], ends[i], steps[i], int64(y.dims[at])))
	}
	return []tensor{y}
}

// stridedSlice resolves the bounds in order: each goes to the next axis of the input, but an ellipsis takes as many as the
// others leave, and a new axis none.
func stridedSlice(c *call) []tensor {
	y := *c.tensor(0)
	starts, ends, steps := c.list(1), c.list(2), c.list(3)
	if len(ends) != len(starts) || len(steps) != len(starts) || len(starts) > 31 {
		fail("%d starts, %d ends and %d steps", len(starts), len(ends), len(steps))
	}
	bit := func(mask, i int) bool { return c.attributes[mask]>>i&1 != 0 }
	rest := len(y.dims) - len(starts) // axes of the ellipsis
	for i := range starts {
		if bit(2, i) || bit(3, i) {
			rest++
		}
	}
	var dims []uint32
	at := 0
	for i := range starts {
		switch {
		case bit(2, i):
			for ; rest > 0 && at < len(y.dims); rest-- {
				dims = append(dims, y.dims[at])
				at++
			}
			continue
		case bit(3, i):
			dims = append(dims, 1)
			continue
		case at >= len(y.dims):
			fail("%d bounds for rank %d", len(starts), len(y.dims))
		}
		places := c.bound(starts[i], ends[i], steps[i], int64(y.dims[at]), bit(0, i), bit(1, i), bit(4, i))
		y = c.taken(&y, y.dims, at, places)
		if at++; !bit(4, i) {
			dims = append(dims, uint32(len(places)))
		}
	}
	return as(&y, append(dims, y.dims[at:]...))
}

// bound are the places of one bound among n.
func (c *call) bound(start, end, step, n int64, openStart, openEnd, one bool) []int {
	if step == 0 {
		fail("a step of 0")
	}
	if c.attributes[5] == 1 {
		end += start
	}
	if one {
		at := start
		if at < 0 {
			at += n
		}
		if at < 0 || at >= n {
			fail("index %d of %d", start, n)
		}
		return []int{int(at)}
	}
	if openStart {
		if start = 0; step < 0 {
			start = n - 1
		}
	}
	if openEnd {
		if end = n; step < 0 {
			end = math.MinInt32
		}
	}
	return c.span(start, end, step, n)
}

// span are the places from start to end among n; both may count from the back.
func (c *call) span(start, end, step, n int64) (places []int) {
	try.E(c.x.Charge(n, 8*n))
	if step == 0 {
		fail("a step of 0")
	}
	if start < 0 {
		start += n
	}
	if end < 0 {
		end += n
	}
	if step > 0 {
		for i := max(start, 0); i < min(end, n); i += step {
			places = append(places, int(i))
		}
		return places
	}
	for i := min(start, n-1); i > max(end, -1) && i >= 0; i += step {
		places = append(places, int(i))
	}
	return places
}

func gather(c *call) []tensor {
	x, indices := c.tensor(0), c.tensor(1)
	at, batch := axis(int64(c.attributes[0]), len(x.dims)), c.attributes[2]
	if batch < 0 || batch > at || batch > len(indices.dims) || !slices.Equal(x.dims[:batch], indices.dims[:batch]) {
		fail("%d batch dimensions of shape %v and indices %v, axis %d", batch, x.dims, indices.dims, at)
	}
	try.E(c.x.Charge(int64(indices.n()), 8*int64(indices.n())))
	places := make([]int, indices.n())
	for i := range places {
		v, n := indices.integer(i), int64(x.dims[at])
		if v < -n || v >= n {
			fail("index %d of %d", v, n)
		}
		if v < 0 {
			v += n
		}
		places[i] = int(v)
	}
	middle := indices.dims[batch:]
	if c.attributes[1] == 1 {
		middle = nil
	}
	y := c.make(x, slices.Concat(x.dims[:at], middle, x.dims[at+1:]))
	if len(y.data) == 0 {
		return []tensor{y}
	}
	batches, count := int(nn.Elements(x.dims[:batch])), int(nn.Elements(indices.dims[batch:]))
	outer, inner := int(nn.Elements(x.dims[batch:at])), int(nn.Elements(x.dims[at+1:]))
	for b := range batches {
		for o := range outer {
			row := b*outer + o
			for i, p := range places[b*count : (b+1)*count] {
				from, to := (row*int(x.dims[at])+p)*inner, (row*count+i)*inner
				copy(y.bytes(to, to+inner), x.bytes(from, from+inner))
			}
		}
	}
	return []tensor{y}
}

func topK(c *call) []tensor {
	x := c.tensor(0)
	at := axis(int64(c.attributes[0]), len(x.dims))
	n, k := int(x.dims[at]), c.one(1)
	if k < 0 || k > int64(n) {
		fail("the first %d of %d", k, n)
	}
	outer, inner := split(x.dims, at)
	to := slices.Clone(x.dims)
	to[at] = uint32(k)
	y := c.make(x, to)
	index := c.make(&tensor{kind: nn.TensorInt32}, to)
	for m := n; m > 0; m /= 2 {
		try.E(c.x.Charge(int64(x.n()), 0))
	}
	if len(y.data) == 0 {
		return []tensor{y, index}
	}
	order := make([]int, n)
	for o := range outer {
		for j := range inner {
			value := func(i int) float64 { return x.number((o*n+i)*inner + j) }
			for i := range order {
				order[i] = i
			}
			sort.SliceStable(order, func(a, b int) bool {
				if c.attributes[1] == 1 {
					return value(order[a]) > value(order[b])
				}
				return value(order[a]) < value(order[b])
			})
			for i, p := range order[:k] {
				to := (o*int(k)+i)*inner + j
				copy(y.bytes(to, to+1), x.bytes((o*n+p)*inner+j, (o*n+p)*inner+j+1))
				index.put(to, int64(p))
			}
		}
	}
	return []tensor{y, index}
}

func splitParts(c *call) (parts []tensor) {
	x := c.tensor(0)
	at := axis(int64(c.attributes[0]), len(x.dims))
	list, from, rest := c.list(1), int64(0), int64(x.dims[at])
	for _, n := range list {
		rest -= max(n, 0)
	}
	if i := slices.Index(list, -1); i >= 0 {
		list[i] = rest
	}
	for _, n := range list {
		if n < 0 || from+n > int64(x.dims[at]) {
			fail("parts %v of %d", list, x.dims[at])
		}
		parts = append(parts, c.taken(x, x.dims, at, c.span(from, from+n, 1, int64(x.dims[at]))))
		from += n
	}
	if from != int64(x.dims[at]) {
		fail("parts of %d entries in all, the dimension is %d", from, x.dims[at])
	}
	return parts
}
