package partition

import "math"

// GreedyMerge starts with the best device of each operation. Then each step
// moves to the device on which it costs least beside the steps that it touches,
// as long as that pays: islands that are not worth their fixed costs join
// their neighbours.
type GreedyMerge struct{}

// Name implements Strategy.
func (GreedyMerge) Name() string { return "greedy-merge" }

// mergeRounds bounds the passes over all steps.
const mergeRounds = 20

// Plan implements Strategy.
func (GreedyMerge) Plan(p *Problem) (Plan, error) {
	t := p.table(p.scale())
	plan := Plan{Device: make([]int, len(p.Graph.Operations))}
	for i := range plan.Device {
		plan.Device[i] = t.cheapest(i)
	}
	var best Plan
	score := math.Inf(1)
	for range mergeRounds {
		e, err := p.Evaluate(plan)
		if err != nil {
			return plan, err
		}
		if e.Score < score {
			score = e.Score
			best = Plan{Device: append([]int(nil), plan.Device...)}
		}
		if !t.merge(p.Graph, e.Steps, plan.Device) {
			break
		}
	}
	return best, nil
}

// cheapest is the device on which an operation alone costs least.
func (t *table) cheapest(op int) int {
	best := 0
	for d := range t.devices {
		if t.op[op*t.devices+d] < t.op[op*t.devices+best] {
			best = d
		}
	}
	return best
}

// merge moves each step to the device that lowers the local cost most, and
// reports whether any moved.
func (t *table) merge(g *Graph, steps []Step, device []int) (moved bool) {
	at := make([]int, len(device))
	for k := range steps {
		for _, i := range steps[k].Operations {
			at[i] = k
		}
	}
	touches := make([]int, t.devices) // neighbouring steps by device
	seen := make([]int, len(steps))
	for k := range steps {
		s := &steps[k]
		clear(touches)
		visit := func(i int) {
			if n := at[i]; n != k && seen[n] != k+1 {
				seen[n] = k + 1
				touches[device[i]]++
			}
		}
		crossing := make([]float64, t.devices) // bytes shared with operations of each device
		sum := make([]float64, t.devices)
		for _, i := range s.Operations {
			for _, v := range g.Operations[i].Inputs {
				if f := g.Values[v].Producer; f >= 0 && at[f] != k {
					visit(f)
					crossing[device[f]] += float64(g.Values[v].Bytes)
				}
			}
			for _, v := range g.Operations[i].Outputs {
				for _, u := range g.Values[v].Consumers {
					if at[u] != k {
						visit(u)
						crossing[device[u]] += float64(g.Values[v].Bytes)
					}
				}
			}
			for d := range t.devices {
				sum[d] += t.op[i*t.devices+d]
			}
		}
		here := device[s.Operations[0]]
		cost := func(d int) float64 {
			c := sum[d] + t.fixed[d]*float64(1-min(touches[d], 2)) // it joins one neighbour, or joins two to one
			for e, b := range crossing {
				if e != d {
					c += b * (t.perByte[d] + t.perByte[e])
				}
			}
			return c
		}
		best := here
		for d := range t.devices {
			if cost(d) < cost(best) {
				best = d
			}
		}
		if best != here {
			moved = true
			for _, i := range s.Operations {
				device[i] = best
			}
		}
	}
	return moved
}
