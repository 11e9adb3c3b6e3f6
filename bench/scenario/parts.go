package scenario

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/partition"
)

// MaxParts bounds the parts that a network is cut into.
const MaxParts = 16

// Part is some neighbouring operations of a network, which an engine computes as a whole. Parts follow one another.
type Part struct {
	Operations []int  // of the model, in execution order
	Bytes      int64  // that later parts read
	Costs      []Cost // alone on each engine; an engine that needs the CPU's help does not run the part
}

// cuts are at most most parts of a model: first wherever the set of engines that support the operations changes, as Band
// and ADMS cut, then where parts of about equal work result with few bytes between them. Too many are joined, those with
// the least work first. support is by engine and operation. A model with control flow or with values of unknown shape is
// one part.
func cuts(m *nn.Model, support [][]hal.Support, most int) []Part {
	g := partition.NewGraph(&m.Main)
	n := len(g.Operations)
	c := &cutter{graph: g, work: make([]float64, n+1), bytes: crossing(g)}
	for i := range g.Operations {
		c.work[i+1] = c.work[i] + float64(g.Operations[i].MACs) + float64(g.Operations[i].Bytes)
	}
	c.at = []int{0, n}
	if most > 1 && !undividable(m, g) {
		c.bySupport(support)
		c.join(most)
		c.split(most)
	}
	var parts []Part
	for k := 0; k+1 < len(c.at); k++ {
		p := Part{Bytes: c.bytes[c.at[k+1]]}
		for i := c.at[k]; i < c.at[k+1]; i++ {
			p.Operations = append(p.Operations, i)
		}
		parts = append(parts, p)
	}
	return parts
}

// undividable reports whether the runtime alone can execute a model's operations one after the other.
func undividable(m *nn.Model, g *partition.Graph) bool {
	return slices.ContainsFunc(m.Main.Operations, func(o nn.Operation) bool { return o.Type == nn.OpIf || o.Type == nn.OpWhile }) ||
		slices.ContainsFunc(g.Values, func(v partition.Value) bool { return v.Open })
}

// crossing are the bytes that operations before an index produce and those from it on read, by index.
func crossing(g *partition.Graph) []int64 {
	bytes := make([]int64, len(g.Operations)+1)
	for i := range g.Values {
		v := &g.Values[i]
		if v.Producer < 0 || len(v.Consumers) == 0 {
			continue
		}
		for k := v.Producer + 1; k <= slices.Max(v.Consumers); k++ {
			bytes[k] += v.Bytes
		}
	}
	return bytes
}

// cutter finds the places between operations where a network is cut.
type cutter struct {
	graph *partition.Graph
	work  []float64 // of all operations before an index
	bytes []int64   // across each index
	at    []int     // first operations of the parts, and the number of operations
}

// bySupport cuts where the engines that support an operation differ from those of the one before.
func (c *cutter) bySupport(support [][]hal.Support) {
	n := c.at[len(c.at)-1]
	var at []int
	for i := range n {
		if i == 0 || slices.ContainsFunc(support, func(s []hal.Support) bool { return s[i].OK != s[i-1].OK }) {
			at = append(at, i)
		}
	}
	c.at = append(at, n)
}

// join joins neighbours, those with the least work together first, until there are at most most parts.
func (c *cutter) join(most int) {
	for len(c.at)-1 > most {
		best := 1
		for k := 2; k+1 < len(c.at); k++ {
			if c.work[c.at[k+1]]-c.work[c.at[k-1]] < c.work[c.at[best+1]]-c.work[c.at[best-1]] {
				best = k
			}
		}
		c.at = slices.Delete(c.at, best, best+1)
	}
}

// smallest is the share of a network's work that a part which is cut off has at least.
const smallest = 0.05

// split cuts the parts with the most work, within the middle half of their work where the fewest bytes cross, until there
// are most parts or all are small.
func (c *cutter) split(most int) {
	for len(c.at)-1 < most {
		big := 0
		for k := 1; k+1 < len(c.at); k++ {
			if c.work[c.at[k+1]]-c.work[c.at[k]] > c.work[c.at[big+1]]-c.work[c.at[big]] {
				big = k
			}
		}
		if at := c.middle(c.at[big], c.at[big+1]); at > 0 {
			c.at = slices.Insert(c.at, big+1, at)
		} else {
			return
		}
	}
}

// middle is where a part is cut, 0 where it is not.
func (c *cutter) middle(from, to int) int {
	span, all := c.work[to]-c.work[from], c.work[len(c.work)-1]
	best := 0
	for i := from + 1; i < to; i++ {
		before := c.work[i] - c.work[from]
		if before < span/4 || before > 3*span/4 || before < smallest*all || span-before < smallest*all {
			continue
		}
		if best == 0 || c.bytes[i] < c.bytes[best] {
			best = i
		}
	}
	return best
}

// Route is the engine of each part of a network, by index of Problem.Devices. A route of one element is the whole
// network on that engine, with the CPU's help where it needs that, or Divided.
type Route []int

// whole reports whether a route is one engine for all parts.
func (r Route) whole() bool { return len(r) == 1 }

// simple is the route with one element where all parts have one engine.
func (r Route) simple() Route {
	for _, d := range r {
		if d != r[0] {
			return r
		}
	}
	return r[:1]
}

// stage is a run of parts on one engine.
type stage struct{ device, from, to int }

// divided is the cost of a network as the runtime divides it.
func (p *Problem) divided(network int) DividedCost {
	if network < len(p.Whole) && p.Whole[network].Runs() {
		return p.Whole[network]
	}
	d := p.fastest(network)
	if d < 0 {
		return DividedCost{}
	}
	return DividedCost{p.Costs[network][d], d}
}

// stages are the runs of parts of a route. Divided counts on one engine.
func (p *Problem) stages(network int, r Route) (list []stage) {
	if r.whole() {
		d := r[0]
		if d == Divided {
			d = p.divided(network).Device
		}
		return []stage{{d, 0, p.parts(network)}}
	}
	for k, d := range r {
		if k > 0 && r[k-1] == d {
			list[len(list)-1].to++
			continue
		}
		list = append(list, stage{d, k, k + 1})
	}
	return list
}

// parts is the number of a network's parts.
func (p *Problem) parts(network int) int {
	if network >= len(p.Parts) {
		return 1
	}
	return max(1, len(p.Parts[network]))
}

// Cost is what parts from one to before another of a network cost alone on an engine, in one execution. The costs of
// single parts add up to more than those of the whole, since each is an execution of its own; the difference is spread
// over the places between them.
func (p *Problem) Cost(network, from, to, device int) Cost {
	n := p.parts(network)
	if from <= 0 && to >= n {
		return p.Costs[network][device]
	}
	if len(p.ranges) != len(p.Costs) {
		p.ranges = make([][]Cost, len(p.Costs))
	}
	size := len(p.Devices)
	if p.ranges[network] == nil {
		p.ranges[network] = make([]Cost, (n+1)*(n+1)*size)
		for a := range n {
			for b := a + 1; b <= n; b++ {
				for d := range size {
					p.ranges[network][(a*(n+1)+b)*size+d] = p.rangeCost(network, a, b, d)
				}
			}
		}
	}
	return p.ranges[network][(from*(n+1)+to)*size+device]
}

// rangeCost computes Cost of fewer than all parts.
func (p *Problem) rangeCost(network, from, to, device int) Cost {
	whole, parts := p.Costs[network][device], p.Parts[network]
	sum := func(from, to int) (c Cost) {
		for _, x := range parts[from:to] {
			if !x.Costs[device].Runs() {
				return Cost{Reason: x.Costs[device].Reason}
			}
			c.LatencyFs, c.EnergyPJ = c.LatencyFs+x.Costs[device].LatencyFs, c.EnergyPJ+x.Costs[device].EnergyPJ
		}
		return c
	}
	c := sum(from, to)
	if all := sum(0, len(parts)); c.Runs() && all.Runs() && whole.Runs() {
		between := float64(to-from-1) / float64(len(parts)-1)
		c.LatencyFs -= int64(between * float64(max(0, all.LatencyFs-whole.LatencyFs)))
		c.EnergyPJ -= between * max(0, all.EnergyPJ-whole.EnergyPJ)
		c.LatencyFs = max(c.LatencyFs, 1)
	}
	return c
}

// alone is what a route costs without other networks.
func (p *Problem) alone(network int, r Route) (c Cost) {
	if r[0] == Divided {
		return p.divided(network).Cost
	}
	for _, s := range p.stages(network, r) {
		x := p.Cost(network, s.from, s.to, s.device)
		if !x.Runs() {
			return x
		}
		c.LatencyFs, c.EnergyPJ = c.LatencyFs+x.LatencyFs, c.EnergyPJ+x.EnergyPJ
	}
	return c
}
