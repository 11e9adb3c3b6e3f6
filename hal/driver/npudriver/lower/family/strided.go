package family

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// maxMoves bounds the kernels of one operation that reorders elements.
const maxMoves = 1 << 12

// axis is one loop of a copy: size steps of src bytes in the source and dst bytes in
// the destination.
type axis struct{ size, src, dst int }

// lowerStrided lowers an operation that reorders or selects elements to copies of feature
// maps whose strides do the reordering: channels are an axis that is dense on both
// sides, width and height the two largest of the others, and each element of the remaining
// axes has a separate kernel.
func lowerStrided(l *lower.Lowering, _ *nn.Operation, s opspec.Strided) {
	o := l.Tensor(s.Output)
	in := l.Tensor(s.Input)
	from := l.In(s.Input, 1, 1, int(in.Bytes()))
	if s.Padded != nil && !slices.Equal(s.Padded, s.In) {
		from = padBefore(l, &s, from, in)
	}
	to := l.Out(s.Output, 1, 1, int(o.Bytes()))
	from.Addr += s.Offset * lower.ElementBytes(in.Type)
	copyAxes(l, from, to, axesOf(&s))
}

// padBefore pads the input of a SPACE_TO_BATCH_ND into a temporary.
func padBefore(l *lower.Lowering, s *opspec.Strided, from layout.Ref, in *nn.Operand) layout.Ref {
	p := opspec.Pad{In: s.In, Dims: s.Padded, Before: s.Before}
	for i, n := range s.Padded {
		p.After = append(p.After, int(n)-int(s.In[i])-s.Before[i])
	}
	size := lower.ElementBytes(in.Type)
	to := narrowMap(l, 1, 1, int(nn.Elements(s.Padded))*size, from.Signed)
	padTo(l, &p, from, to, size, in.ZeroPoint)
	return to
}

// axesOf are the loops of a reordering over dense elements, the innermost first.
func axesOf(s *opspec.Strided) []axis {
	size := lower.ElementBytes(s.Type)
	axes := []axis{{size, 1, 1}}
	dst := size
	for i := len(s.Walk) - 1; i >= 0; i-- {
		n := int(s.Walk[i])
		axes = append(axes, axis{n, s.Strides[i] * size, dst})
		dst *= n
	}
	return axes
}

// merged joins neighbours that are one loop in both the source and the destination.
func merged(axes []axis) []axis {
	var list []axis
	for _, a := range axes {
		if a.size == 1 {
			continue
		}
		if k := len(list) - 1; k >= 0 && list[k].src*list[k].size == a.src && list[k].dst*list[k].size == a.dst {
			list[k].size *= a.size
			continue
		}
		list = append(list, a)
	}
	return list
}

// copyAxes copies a byte per step of nested loops.
func copyAxes(l *lower.Lowering, from, to layout.Ref, axes []axis) {
	axes = merged(axes)
	channels := axis{1, 1, 1}
	if i := slices.IndexFunc(axes, func(a axis) bool { return a.src == 1 && a.dst == 1 && a.size <= lower.MaxExtent }); i >= 0 {
		channels = axes[i]
		axes = slices.Delete(axes, i, i+1)
	}
	// Feature maps have no negative strides: reversed axes are left to the loop.
	slices.SortStableFunc(axes, func(a, b axis) int { return b.extent() - a.extent() })
	var plane [2]axis // width, height
	for i := range plane {
		plane[i] = axis{size: 1}
		if len(axes) > 0 && axes[0].extent() > 0 {
			plane[i] = axes[0]
			axes = axes[1:]
		}
	}
	moves := 1
	for _, a := range axes {
		if moves *= a.size; moves > maxMoves {
			try.E(maxCopies.Broken("%d or more", moves))
		}
	}
	w, h := plane[0], plane[1]
	lo, hi := layout.Limits(to.Signed)
	for i := range moves {
		a, b := from, to
		rest := i
		for _, x := range axes {
			a.Addr += rest % x.size * x.src
			b.Addr += rest % x.size * x.dst
			rest /= x.size
		}
		a.H, a.W, a.C, a.StrideY, a.StrideX = h.size, w.size, channels.size, h.src, w.src
		b.H, b.W, b.C, b.StrideY, b.StrideX = h.size, w.size, channels.size, h.dst, w.dst
		move(l, a, b, nil, lo, hi)
	}
}

// extent is the size of an axis that can be a dimension of a feature map, 0 of one
// that cannot.
func (a axis) extent() int {
	if a.src < 0 || a.size > lower.MaxExtent {
		return 0
	}
	return a.size
}
