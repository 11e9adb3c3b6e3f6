package partition

import "slices"

// Step is a group of operations that run together on one device.
type Step struct {
	Device     int
	Operations []int // indexes in the model, in execution order
}

// Steps groups an assignment as AOSP's runtime does. Operations are added as
// soon as their inputs are available: a step grows while its device has such
// operations. The next step belongs to the CPU, device 0, if it has any, then
// to the last device that has.
//
// Control flow that the runtime interprets has the number after the last device.
// It comes before all devices, and each operation is a step of its own.
func Steps(g *Graph, device []int, devices int) []Step {
	return stepsOf(g, Plan{Device: device}, devices)
}

// stepsOf is Steps with the parts of a plan: a step has operations of one part, of those that a device could run next the first.
func stepsOf(g *Graph, plan Plan, devices int) []Step {
	device, parts := plan.Device, ranks(plan.Part)
	missing := make([]int, len(g.Operations)) // inputs not yet produced
	ready := make([]queue, devices+1)
	for i := range g.Operations {
		for _, v := range g.Operations[i].Inputs {
			if g.Values[v].Producer >= 0 {
				missing[i]++
			}
		}
		if missing[i] == 0 {
			ready[device[i]].add(i, parts)
		}
	}
	var steps []Step
	for {
		d := next(ready)
		if d < 0 {
			return steps
		}
		s := Step{Device: d}
		part := ready[d].first()
		for len(ready[d][part]) > 0 && (d < devices || len(s.Operations) == 0) {
			op := ready[d][part][0]
			ready[d][part] = ready[d][part][1:]
			s.Operations = append(s.Operations, op)
			for _, v := range g.Operations[op].Outputs {
				for _, u := range g.Values[v].Consumers {
					if missing[u]--; missing[u] == 0 {
						ready[device[u]].add(u, parts)
					}
				}
			}
		}
		steps = append(steps, s)
	}
}

// queue is the operations that a device can run next, by the rank of their part.
type queue [][]int

// add appends an operation. parts are the ranks of all operations' parts, nil where there is one.
func (q *queue) add(op int, parts []int) {
	part := 0
	if parts != nil {
		part = parts[op]
	}
	for len(*q) <= part {
		*q = append(*q, nil)
	}
	(*q)[part] = append((*q)[part], op)
}

// first is the first part that has operations, -1 where none has.
func (q queue) first() int {
	return slices.IndexFunc(q, func(operations []int) bool { return len(operations) > 0 })
}

// ranks numbers the parts of operations from 0 in the order of their numbers.
func ranks(parts []int) []int {
	if parts == nil {
		return nil
	}
	numbers := slices.Compact(slices.Sorted(slices.Values(parts)))
	r := make([]int, len(parts))
	for i, n := range parts {
		r[i], _ = slices.BinarySearch(numbers, n)
	}
	return r
}

// next is the queue whose operations come next, -1 when none has any: control
// flow, which is the last, the CPU, the other devices from the last on.
func next(ready []queue) int {
	last := len(ready) - 1
	for _, d := range [2]int{last, 0} {
		if ready[d].first() >= 0 {
			return d
		}
	}
	for d := last - 1; d > 0; d-- {
		if ready[d].first() >= 0 {
			return d
		}
	}
	return -1
}
