package partition

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
	missing := make([]int, len(g.Operations)) // inputs not yet produced
	ready := make([][]int, devices+1)
	for i := range g.Operations {
		for _, v := range g.Operations[i].Inputs {
			if g.Values[v].Producer >= 0 {
				missing[i]++
			}
		}
		if missing[i] == 0 {
			ready[device[i]] = append(ready[device[i]], i)
		}
	}
	var steps []Step
	for {
		d := next(ready)
		if d < 0 {
			return steps
		}
		s := Step{Device: d}
		for len(ready[d]) > 0 && (d < devices || len(s.Operations) == 0) {
			op := ready[d][0]
			ready[d] = ready[d][1:]
			s.Operations = append(s.Operations, op)
			for _, v := range g.Operations[op].Outputs {
				for _, u := range g.Values[v].Consumers {
					if missing[u]--; missing[u] == 0 {
						ready[device[u]] = append(ready[device[u]], u)
					}
				}
			}
		}
		steps = append(steps, s)
	}
}

// next is the queue whose operations come next, -1 when none has any: control
// flow, which is the last, the CPU, the other devices from the last on.
func next(ready [][]int) int {
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
