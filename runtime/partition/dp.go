package partition

import "math"

// DP finds the cheapest walk through operations in execution order, where each
// step between two devices pays the fixed cost of a new segment and the
// transfer of what crosses. On a chain, where only neighbours share values, the
// walk is the plan and therefore optimal under additive costs.
type DP struct{}

// Name implements Strategy.
func (DP) Name() string { return "dp" }

// Plan implements Strategy. Its time is proportional to operations times
// devices squared.
func (DP) Plan(p *Problem) (Plan, error) {
	t := p.table(p.scale())
	plan := Plan{Device: make([]int, len(p.Graph.Operations))}
	t.walk(p.Graph, plan.Device)
	return plan, nil
}

// walk fills device with the cheapest walk.
func (t *table) walk(g *Graph, device []int) {
	n, D := len(g.Operations), t.devices
	if n == 0 {
		return
	}
	from := make([]uint8, n*D)
	cost, next := make([]float64, D), make([]float64, D)
	bytes := edges(g)
	for d := range D {
		cost[d] = t.fixed[d] + t.perByte[d]*float64(bytes[0].ends) + t.op[d]
	}
	for i := 1; i < n; i++ {
		cut := float64(bytes[i].cut)
		for d := range D {
			best, at := cost[d], d
			enter := t.fixed[d] + t.perByte[d]*cut
			for e := range D {
				if x := cost[e] + enter + t.perByte[e]*cut; e != d && x < best {
					best, at = x, e
				}
			}
			next[d] = best + t.op[i*D+d] + t.perByte[d]*float64(bytes[i].ends)
			from[i*D+d] = uint8(at)
		}
		cost, next = next, cost
	}
	best := 0
	for d := range D {
		if cost[d] < cost[best] && !math.IsInf(cost[d], 1) {
			best = d
		}
	}
	for i := n - 1; i >= 0; i-- {
		device[i] = best
		best = int(from[i*D+best])
	}
}

// edge is the traffic around an operation.
type edge struct {
	ends int64 // inputs of the model that it reads and outputs that it writes
	cut  int64 // bytes alive between the operation before and it
}

// edges lists, per operation, what crosses to it from the ones before.
func edges(g *Graph) []edge {
	l := make([]edge, len(g.Operations))
	change := make([]int64, len(g.Operations)+1)
	for v := range g.Values {
		x := &g.Values[v]
		if x.Output && x.Producer >= 0 {
			l[x.Producer].ends += x.Bytes
		}
		if len(x.Consumers) == 0 {
			continue
		}
		last := x.Consumers[len(x.Consumers)-1]
		if x.Producer < 0 {
			for _, u := range x.Consumers {
				l[u].ends += x.Bytes
			}
			continue
		}
		change[x.Producer+1] += x.Bytes
		change[last+1] -= x.Bytes
	}
	alive := int64(0)
	for i := range l {
		alive += change[i]
		l[i].cut = alive
	}
	return l
}
