package plan

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/npudriver/cost"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/step"
)

// inBricks is a list with those maps between its kernels in bricks (NHCWB16) for which the estimates of producer and
// consumers then are lower, nil where there are none: a block of a few channels reads and writes runs of whole
// pixels there, not of a few bytes. p is the program of the list, which has the values off chip.
func inBricks(t Target, l *step.List, p *Program) *step.List {
	own := *l
	own.Steps, own.Values = slices.Clone(l.Steps), slices.Clone(l.Values)
	users := usersOf(l)
	far := p.offChip
	if !offChip(t) {
		far = make([]bool, len(far))
	}
	some := false
	for v := range own.Values {
		if !canBrick(&own, v, users[v]) || !memoryBound(t, &own, users[v], far) {
			continue
		}
		before, after := 0.0, 0.0
		changed := make([]kernel.Kernel, len(users[v]))
		for n, i := range users[v] {
			k := own.Steps[i].Kernel
			markOffChip(&k, far)
			before += cost.Estimate(t.Spec, &k).Working()
			for _, r := range k.Maps() {
				if r.Value == v {
					r.FeatureMap = r.FeatureMap.Bricks()
				}
			}
			after += cost.Estimate(t.Spec, &k).Working()
			for _, r := range k.Maps() {
				r.OffChip = false // a plan finds out
			}
			changed[n] = k
		}
		if after >= before {
			continue
		}
		some = true
		for n, i := range users[v] {
			own.Steps[i].Kernel = changed[n]
		}
		m := reads(&changed[0], v)
		if m.Value != v {
			m = &changed[0].OFM
		}
		own.Values[v].Bytes = m.H * m.StrideY
	}
	if !some {
		return nil
	}
	return &own
}

// usersOf are the steps that use each value.
func usersOf(l *step.List) [][]int {
	users := make([][]int, len(l.Values))
	for i := range l.Steps {
		for _, r := range l.Steps[i].Kernel.Maps() {
			if v := r.Value; v != layout.Placed && (len(users[v]) == 0 || users[v][len(users[v])-1] != i) {
				users[v] = append(users[v], i)
			}
		}
	}
	return users
}

// canBrick reports whether kernels of ours alone use a value, all of them as one dense map of more channels than
// a brick has.
func canBrick(l *step.List, v int, users []int) bool {
	x := &l.Values[v]
	if x.Client || x.Fixed || len(users) == 0 {
		return false
	}
	var first *layout.Ref
	for _, i := range users {
		k := &l.Steps[i].Kernel
		if k.Kind == kernel.Copy {
			return false
		}
		for _, r := range k.Maps() {
			if r.Value != v {
				continue
			}
			if first == nil {
				first = r
			}
			dense := r.Addr == 0 && r.StrideX == r.C*r.Bytes && r.StrideY == r.W*r.StrideX && x.Bytes == r.H*r.StrideY
			if !dense || r.C <= layout.BrickDepth || r.H != first.H || r.W != first.W || r.C != first.C {
				return false
			}
		}
	}
	return true
}

// memoryBound reports whether one of some steps is estimated to wait for the memory of its maps.
func memoryBound(t Target, l *step.List, steps []int, far []bool) bool {
	return slices.ContainsFunc(steps, func(i int) bool {
		k := l.Steps[i].Kernel
		markOffChip(&k, far)
		e := cost.Estimate(t.Spec, &k)
		return max(e.Memory, e.OffChip) > max(e.Array, e.Output)
	})
}
