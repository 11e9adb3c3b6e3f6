package partition

import (
	"cmp"
	"container/heap"
	"slices"
)

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
	device := plan.Device
	missing := make([]int, len(g.Operations)) // inputs not yet produced
	ready := make([]queue, devices+1)
	turn := 0
	add := func(op int) {
		r := readyOperation{op: op, turn: turn}
		if plan.Part != nil {
			r.part = plan.Part[op]
		}
		heap.Push(&ready[device[op]], r)
		turn++
	}
	for i := range g.Operations {
		for _, v := range g.Operations[i].Inputs {
			if g.Values[v].Producer >= 0 {
				missing[i]++
			}
		}
		if missing[i] == 0 {
			add(i)
		}
	}
	var steps []Step
	for {
		d := next(ready)
		if d < 0 {
			return steps
		}
		s := Step{Device: d}
		part := ready[d][0].part
		for len(ready[d]) > 0 && ready[d][0].part == part && (d < devices || len(s.Operations) == 0) {
			op := heap.Pop(&ready[d]).(readyOperation).op
			s.Operations = append(s.Operations, op)
			for _, v := range g.Operations[op].Outputs {
				for _, u := range g.Values[v].Consumers {
					if missing[u]--; missing[u] == 0 {
						add(u)
					}
				}
			}
		}
		steps = append(steps, s)
	}
}

// readyOperation is an operation whose inputs are there, since its turn.
type readyOperation struct{ part, turn, op int }

// queue is a heap of the operations that a device can run next, by their part and then by the turn.
type queue []readyOperation

func (q queue) Len() int { return len(q) }

func (q queue) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(q[i].part, q[j].part), cmp.Compare(q[i].turn, q[j].turn)) < 0
}

func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

func (q *queue) Push(x any) { *q = append(*q, x.(readyOperation)) }

func (q *queue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
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
		if len(ready[d]) > 0 {
			return d
		}
	}
	for d := last - 1; d > 0; d-- {
		if len(ready[d]) > 0 {
			return d
		}
	}
	return -1
}
