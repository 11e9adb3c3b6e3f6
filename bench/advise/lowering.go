package advise

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
)

// Lowering is the kind of a change to the program: another kernel, or another cut of one, for
// an operation.
const Lowering = "lowering"

// Estimates of kernels have this error relative to their times (assumed, D-1435): a candidate that lost by less may be
// the better one. At most so many are proposed for an operation.
const (
	estimateError  = 0.2
	mostCandidates = 2
)

// Close returns the choices of the lowering that were lost by little. The prediction for most is a loss: drivers choose
// the candidate of the best estimate, unless they compare by another figure, like the bytes that a block of the NPU
// moves. They are in the order of the possible gain: the time of the operation times the part of the estimates' error
// that exceeds the difference.
func Close(r *Run) []Change {
	us := map[int]float64{}
	for i := range r.Operations {
		if o := &r.Operations[i]; o.Device == r.Device && o.Index >= 0 {
			us[o.Index] += o.US
		}
	}
	of := map[int][]hal.Choice{}
	for _, c := range r.Choices {
		of[c.Operation] = append(of[c.Operation], c)
	}
	type open struct {
		Change
		maxGain float64
	}
	var list []open
	for op, choices := range of {
		for _, x := range others(choices) {
			part := float64(x.cycles-x.chosen) / float64(x.all)
			c := open{maxGain: us[op] * (estimateError - part)}
			if c.maxGain <= 0 {
				continue
			}
			c.Kind, c.PredictedUS, c.Candidates = Lowering, -us[op]*part, map[int]string{op: x.name}
			c.What = fmt.Sprintf("operation %d: %s (--candidate '%d=%s')", op, x.name, op, x.name)
			c.Why = fmt.Sprintf("%s was estimated at %d cycles, this at %d", x.instead, x.chosen, x.cycles)
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(x, y open) int {
		return cmp.Or(cmp.Compare(y.maxGain, x.maxGain), cmp.Compare(x.What, y.What))
	})
	changes := make([]Change, len(list))
	for i := range list {
		changes[i] = list[i].Change
	}
	return changes
}

// other is a candidate that an operation did not use.
type other struct {
	name, instead       string
	cycles, chosen, all int64 // of it, of the chosen ones in its steps, of all steps with a choice
}

// others are the closest candidates of an operation, each in all steps that have it.
func others(choices []hal.Choice) (list []other) {
	all := int64(0)
	for _, c := range choices {
		taken := slices.IndexFunc(c.Candidates, func(x hal.Candidate) bool { return x.Chosen })
		if taken < 0 {
			continue
		}
		all += c.Candidates[taken].Cycles
		for _, x := range c.Candidates {
			if x.Chosen {
				continue
			}
			i := slices.IndexFunc(list, func(o other) bool { return o.name == x.Name })
			if i < 0 {
				i = len(list)
				list = append(list, other{name: x.Name, instead: c.Candidates[taken].Name})
			}
			list[i].cycles += x.Cycles
			list[i].chosen += c.Candidates[taken].Cycles
		}
	}
	list = slices.DeleteFunc(list, func(o other) bool { return o.cycles <= 0 || o.chosen <= 0 })
	slices.SortStableFunc(list, func(x, y other) int { return cmp.Compare(x.cycles-x.chosen, y.cycles-y.chosen) })
	list = list[:min(mostCandidates, len(list))]
	for i := range list {
		list[i].all = all
	}
	return list
}

// Together combines all choices of some changes in one, with the sum of their expected savings. Of several for an
// operation it uses the one that saves the most.
func Together(list []Change) Change {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(x, y Change) int { return cmp.Compare(y.PredictedUS, x.PredictedUS) })
	all := Change{Kind: Lowering, Candidates: map[int]string{}}
	for _, c := range list {
		taken := false
		for op := range c.Candidates {
			_, taken = all.Candidates[op]
		}
		if taken {
			continue
		}
		maps.Copy(all.Candidates, c.Candidates)
		all.PredictedUS += c.PredictedUS
	}
	all.What = fmt.Sprintf("the best candidates of %d operations together", len(all.Candidates))
	all.Why = "each saves time alone"
	return all
}
