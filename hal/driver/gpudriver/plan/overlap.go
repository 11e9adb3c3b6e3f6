package plan

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/step"
)

// Estimator estimates the cycles of launches beside each other and one after the other.
type Estimator func([]kernel.Work) (beside, after int64)

// Comparison is the estimates of a launch beside and after earlier ones, the first of which computes operation
// With. The zero value is of a launch that was compared with none.
type Comparison struct {
	With              int   // the operation
	Concurrent, After int64 // cycles of all of them
	Chosen            bool
}

// Bounds of the search for concurrent launches.
const (
	maxConcurrent = 8  // launches
	lookAhead     = 64 // steps behind the first that is not done
)

// overlap reorders steps in sets of independent ones, each step beside the ones before it where that is estimated to
// need fewer cycles, and returns the number of each step's set. The result is a topological order if the steps were in
// one.
func overlap(l *step.List, estimate Estimator) (sets []int, compared []Comparison) {
	needs := needed(l.Steps)
	done := make([]bool, len(l.Steps))
	against := make([]Comparison, len(l.Steps))
	ready := func(i int) bool {
		for _, j := range needs[i] {
			if !done[j] {
				return false
			}
		}
		return true
	}
	var order []step.Step
	for first := 0; first < len(l.Steps); first++ {
		if done[first] {
			continue
		}
		set, works := []int{first}, []kernel.Work{l.Steps[first].Work}
		for i := first + 1; i < min(first+lookAhead, len(l.Steps)) && len(set) < maxConcurrent; i++ {
			if done[i] || !ready(i) {
				continue
			}
			more := append(works[:len(works):len(works)], l.Steps[i].Work)
			c := &against[i]
			c.With = l.Steps[first].Op
			if c.Concurrent, c.After = estimate(more); c.Concurrent < c.After {
				c.Chosen = true
				set, works = append(set, i), more
			}
		}
		for _, i := range set {
			done[i] = true
			order = append(order, l.Steps[i])
			compared = append(compared, against[i])
			sets = append(sets, first)
		}
	}
	l.Steps = order
	return sets, compared
}

// needed lists, by step, the steps before it that it must come behind: those that write what it reads or writes, and
// those that read what it writes.
func needed(steps []step.Step) [][]int {
	type use struct {
		writer int
		reads  []int
	}
	uses := map[*layout.Tensor]*use{}
	of := func(t *layout.Tensor) *use {
		if uses[t] == nil {
			uses[t] = &use{writer: -1}
		}
		return uses[t]
	}
	needs := make([][]int, len(steps))
	for i := range steps {
		for _, t := range steps[i].Reads {
			u := of(t)
			if u.writer >= 0 {
				needs[i] = append(needs[i], u.writer)
			}
			u.reads = append(u.reads, i)
		}
		for _, t := range steps[i].Writes {
			u := of(t)
			if u.writer >= 0 && u.writer != i {
				needs[i] = append(needs[i], u.writer)
			}
			for _, j := range u.reads {
				if j != i {
					needs[i] = append(needs[i], j)
				}
			}
			u.writer, u.reads = i, nil
		}
	}
	return needs
}
