package reduce

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Op is the reduction of a fold, by the name of NNAPI's operation in lower case. ARGMAX and ARGMIN give the index of
// the first extreme along their one reduced axis.
type Op string

// join combines an accumulator with an element.
type join func(a *rdna.Builder, acc, x any) codegen.Reg

// ops has a row per fold but those of arguments: its start for floats and integers, and how an element joins the
// accumulator. The mean of integers is truncated.
var ops = map[Op]struct {
	float          float32
	integer        int32
	joins, joinInt join
}{
	"mean":        {0, 0, (*rdna.Builder).AddF, (*rdna.Builder).Sum},
	"reduce_sum":  {0, 0, (*rdna.Builder).AddF, (*rdna.Builder).Sum},
	"reduce_prod": {1, 1, mulFloat, (*rdna.Builder).Times},
	"reduce_max":  {float32(math.Inf(-1)), math.MinInt32, extreme(rdna2.V_MAX_F32_E32), (*rdna.Builder).Greatest},
	"reduce_min":  {float32(math.Inf(1)), math.MaxInt32, extreme(rdna2.V_MIN_F32_E32), (*rdna.Builder).Least},
	// Pools round means of integers to the nearest, and their maximum is that of the numbers beside a NaN.
	"average":    {0, 0, (*rdna.Builder).AddF, (*rdna.Builder).Sum},
	"maximum":    {float32(math.Inf(-1)), math.MinInt32, greatestNumber, (*rdna.Builder).Greatest},
	"reduce_all": {0, 1, nil, truth(rdna2.V_AND_B32_E32)},
	"reduce_any": {0, 0, nil, truth(rdna2.V_OR_B32_E32)},
}

// mulFloat multiplies so that nothing times infinity is nothing, as the reference reduces.
func mulFloat(a *rdna.Builder, acc, x any) codegen.Reg {
	return a.Op2(rdna2.V_MUL_LEGACY_F32_E32, a.V("folded"), acc, x)
}

func greatestNumber(a *rdna.Builder, acc, x any) codegen.Reg {
	return a.Op2(rdna2.V_MAX_F32_E32, a.V("folded"), acc, x)
}

func extreme(op rdna2.Op) join {
	return func(a *rdna.Builder, acc, x any) codegen.Reg { return a.Extreme(op, acc, x) }
}

func truth(op rdna2.Op) join {
	return func(a *rdna.Builder, acc, x any) codegen.Reg {
		return a.Op2(op, a.V("folded"), acc, a.Choose(0, 1, a.Where(rdna2.V_CMP_NE_U32_E64, 0, x)))
	}
}

// FoldShape is the axes that a fold keeps and those it reduces, with the strides of the
// input in elements.
type FoldShape struct {
	Op            Op
	Kept, Reduced layout.Axes
	Count         int // elements of a result
}

// Parts is into how many parts of the first reduced axis a fold in two steps goes: those of the fewest elements that
// lanes of both steps go through, one behind the other; of equal ones the more.
func (s *FoldShape) Parts() (parts int) {
	parts = 1
	for n := 2; n <= s.Reduced.Axis[0].N; n++ {
		if s.Reduced.Axis[0].N%n == 0 && s.Count/n+n <= s.Count/parts+parts && (n < s.Count || s.Reduced.Len > 1) {
			parts = n
		}
	}
	return parts
}

// Bounds are what an activation leaves of the results of a pool: floats, or integers.
type Bounds struct {
	Lo, Hi       float32
	Least, Great int32
}

// Fold reduces axes: lanes are results, each of which reads its elements one by one.
type Fold struct {
	FoldShape
	Bounds  Bounds // of the results of pools
	In, Out *layout.Tensor
}

// Emit implements kernel.Kernel.
func (k *Fold) Emit(a *rdna.Builder) kernel.Grid {
	x, out := k.In, k.Out
	lane := a.Lane(kernel.FlatGroup)
	off := a.V("offset")
	a.Emit(rdna2.V_MOV_B32_E32, off, a.Offsets(lane, k.Kept.List(), []int{x.Elem.Shift()})[0])
	src := a.Pointer(x.Region, x.Off, "in")
	load := func() codegen.Reg { return a.Widen(x.Elem, a.Load(x.Elem, src, off, 0, "x")) }
	join, result := k.accumulate(a, load)
	es := x.Elem.Bytes()
	axes := k.Reduced.List()
	var nest func(i int)
	nest = func(i int) {
		if i == len(axes) {
			join(load())
			return
		}
		step := axes[i].Strides[0] * es
		a.Loop(axes[i].N, "axis", func() {
			nest(i + 1)
			a.Emit(rdna2.V_ADD_NC_U32_E32, off, step, off)
		})
		a.Emit(rdna2.V_SUBREV_NC_U32_E32, off, step*axes[i].N, off)
	}
	nest(0)
	a.Store(out.Elem, a.Pointer(layout.Arena, out.Off, "out"), a.ShiftLeft(lane, out.Elem.Shift(), "out offset"), a.Narrow(out.Elem, result()), 0)
	return kernel.Flat(string(k.Op), k.Kept.Size())
}

// accumulate starts an accumulator: how an element joins it, and what is left of it.
func (k *Fold) accumulate(a *rdna.Builder, load func() codegen.Reg) (join func(x codegen.Reg), result func() codegen.Reg) {
	op, float := ops[k.Op], k.In.Elem.IsFloat()
	if k.Op == "argmax" || k.Op == "argmin" {
		return k.argument(a, load)
	}
	start, f := any(op.integer), op.joinInt
	if float {
		start, f = op.float, op.joins
	}
	acc := a.Variable(start)
	join = func(x codegen.Reg) { a.Set(acc, f(a, acc, x)) }
	return join, func() codegen.Reg {
		switch {
		case k.Op == "average" && float:
			return a.Clamp(a.Divide(acc, a.Constant(float32(k.Count))), k.Bounds.Lo, k.Bounds.Hi)
		case k.Op == "average":
			return a.Saturate(a.RoundDivide(acc, a.Variable(k.Count)), 0, k.Bounds.Least, k.Bounds.Great)
		case k.Op == "maximum" && float:
			return a.Clamp(acc, k.Bounds.Lo, k.Bounds.Hi)
		case k.Op == "maximum" && k.Out.Elem != layout.I32:
			return a.Saturate(acc, 0, k.Bounds.Least, k.Bounds.Great)
		case k.Op == "mean" && float:
			return a.Divide(acc, a.Constant(float32(k.Count)))
		case k.Op == "mean":
			return a.TruncatingDivide(acc, k.Count)
		}
		return acc
	}
}

// argument is the accumulator of the folds of arguments: the best element so far, which the first
// is, and its index.
func (k *Fold) argument(a *rdna.Builder, load func() codegen.Reg) (join func(x codegen.Reg), result func() codegen.Reg) {
	better := map[Op]rdna2.Op{"argmax": rdna2.V_CMP_GT_I32_E64, "argmin": rdna2.V_CMP_LT_I32_E64}[k.Op]
	if k.In.Elem.IsFloat() {
		better = map[Op]rdna2.Op{"argmax": rdna2.V_CMP_GT_F32_E64, "argmin": rdna2.V_CMP_LT_F32_E64}[k.Op]
	}
	best, at, i := a.Variable(load()), a.Variable(0), a.Variable(0)
	join = func(x codegen.Reg) {
		m := a.Where(better, x, best)
		a.Set(best, a.Choose(best, x, m))
		a.Set(at, a.Choose(at, i, m))
		a.Increase(i, 1)
	}
	return join, func() codegen.Reg { return at }
}
