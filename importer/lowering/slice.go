package lowering

import (
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// Walk is a strided slice along one axis of its input.
type Walk struct {
	Begin, Step, Count int64
	Shrink             bool // the axis is dropped from the result
}

// Bound resolves the bounds along an axis of n elements.
func (g *Graph) Bound(begin, end, step, n int64, fromStart, toEnd, shrink bool) Walk {
	if step == 0 {
		g.Failf("a step of 0")
	}
	lo, hi := int64(0), n // where a walk upwards may begin and end
	if step < 0 {
		lo, hi = -1, n-1
	}
	resolve := func(v int64) int64 {
		if v < 0 {
			v += n
		}
		return min(max(v, lo), hi)
	}
	if shrink {
		at := begin
		if at < 0 {
			at += n
		}
		if fromStart {
			at = 0
		}
		if at < 0 || at >= n {
			g.Failf("index %d of %d", begin, n)
		}
		return Walk{at, 1, 1, true}
	}
	from, to := resolve(begin), resolve(end)
	if fromStart {
		from = lo
		if step < 0 {
			from = hi
		}
	}
	if toEnd {
		to = hi
		if step < 0 {
			to = lo
		}
	}
	return Walk{from, step, Steps(from, to, step), false}
}

// Along extracts the elements along all axes: by SLICE where all steps are 1, by STRIDED_SLICE where NNAPI has it for
// the type, by GATHER else.
func (g *Graph) Along(x uint32, walks []Walk) uint32 {
	plain := true
	begin, size := make([]int64, len(walks)), make([]int64, len(walks))
	for i, w := range walks {
		begin[i], size[i] = w.Begin, w.Count
		plain = plain && w.Step == 1
	}
	o := *g.Operand(x)
	if plain && (o.Type == nn.TensorInt32 || o.Type == nn.TensorBool8 || len(walks) > 4) {
		return g.Slice(x, begin, size)
	}
	whole := plain && !slices.ContainsFunc(begin, func(n int64) bool { return n != 0 }) && slices.Equal(size, Signed(g.Dims(x)))
	switch {
	case whole || len(walks) == 0:
		return x
	case len(walks) <= 4 && o.Type != nn.TensorInt32 && o.Type != nn.TensorBool8:
		end, steps, mask := make([]int64, len(walks)), make([]int64, len(walks)), int64(0)
		for i, w := range walks {
			steps[i], end[i] = w.Step, w.Begin+w.Count*w.Step
			if end[i] < 0 { // before the first element: only the mask expresses it
				end[i], mask = 0, mask|1<<i
			}
		}
		return g.Emit(nn.OpStridedSlice, o, x, g.Int32Tensor(begin...), g.Int32Tensor(end...), g.Int32Tensor(steps...),
			g.Int32Scalar(0), g.Int32Scalar(mask), g.Int32Scalar(0))
	}
	dims := slices.Clone(g.Dims(x))
	for i, w := range walks {
		if w.Step == 1 && w.Count == int64(dims[i]) {
			continue
		}
		list := make([]int64, w.Count)
		for k := range list {
			list[k] = w.Begin + int64(k)*w.Step
		}
		x = g.Reshape(x, []uint32{uint32(nn.Elements(dims[:i])), dims[i], uint32(nn.Elements(dims[i+1:]))})
		x = g.Gather(x, 1, g.Int32Tensor(list...))
		dims[i] = uint32(w.Count)
	}
	return g.Reshape(x, dims)
}

// sign is -1 below 0 and 1 elsewhere.
func sign(v int64) int64 {
	if v < 0 {
		return -1
	}
	return 1
}

// Reverse is x with the order along an axis turned round.
func (g *Graph) Reverse(x uint32, axis int) uint32 {
	dims := g.Dims(x)
	if len(dims) <= 4 {
		return g.Emit(nn.OpReverse, *g.Operand(x), x, g.Int32Tensor(int64(axis)))
	}
	flat := g.Reshape(x, []uint32{uint32(nn.Elements(dims[:axis])), dims[axis], uint32(nn.Elements(dims[axis+1:]))})
	return g.Reshape(g.Emit(nn.OpReverse, *g.Operand(flat), flat, g.Int32Tensor(1)), dims)
}

// Steps is how many numbers there are from first by step before limit.
func Steps(first, limit, step int64) int64 { return (limit - first + step - sign(step)) / step }
