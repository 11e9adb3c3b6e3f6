package partition

import (
	"cmp"
	"math"
	"slices"
)

// BranchAndBound assigns segments of the graph by branch and bound. A graph of at most
// MaxSegments operations is searched as it is; a larger one is contracted: the
// neighbours in execution order that lose least by sharing a device become one.
// The search begins with the best plan of the polynomial strategies and of the
// problem's seeds, so it never does worse. When it ends before its limit of
// nodes and nothing was contracted, the plan is optimal under additive costs.
type BranchAndBound struct {
	Nodes int // limit of the search; 0 is DefaultNodes
}

// Limits of the search.
const (
	MaxSegments  = 40
	DefaultNodes = 100_000
)

// Name implements Strategy.
func (BranchAndBound) Name() string { return "branch-bound" }

// Plan implements Strategy.
func (s BranchAndBound) Plan(p *Problem) (Plan, error) {
	plan, score, err := p.incumbent()
	if err != nil || len(p.Graph.Operations) == 0 {
		return plan, err
	}
	b := newSearch(p, plan, score)
	if b.nodes = s.Nodes; b.nodes == 0 {
		b.nodes = DefaultNodes
	}
	b.branch(0)
	b.best.Proven = b.nodes > 0 && len(b.segments) == len(p.Graph.Operations)
	return b.best, b.err
}

// search is the state of a branch and bound over segments, which are intervals
// of the execution order.
type search struct {
	p         *Problem
	segments  [][2]int // operations [from, to)
	before    [][]int  // segments that each reads from
	time      []float64
	energy    []float64 // [segment*devices + device]; infinity where unsupported
	minTime   []float64 // per segment
	tail      []float64 // least time from the end of a segment to the end of the model
	loads     []float64 // [segment*devices + device]: what adds up to a device's load
	restLoads []float64 // least load, and energy, of a segment and those after it
	restPJ    []float64

	device []int     // per segment
	ends   []float64 // least time at which the segment's step ends
	steps  []int     // [segment*devices + device]: steps on the device up to here, at least
	fixed  []float64 // load of a step, per device
	load   []float64 // per device
	most   []int     // steps per device
	stream float64   // least factor on a latency in a stream
	spent  float64   // energy of the assigned segments
	nodes  int
	best   Plan
	score  float64
	err    error
}

func newSearch(p *Problem, plan Plan, score float64) *search {
	n, d := len(p.Graph.Operations), len(p.Devices)
	time, energy := p.table(Cost{TimeFs: 1}), p.table(Cost{EnergyPJ: 1})
	held := time // steps of one device follow one another, in a stream only on its engine
	if p.Objective == Throughput {
		held = p.table(Cost{EngineFs: 1})
	}
	b := &search{p: p, best: plan, score: score, fixed: held.fixed, load: make([]float64, d), most: make([]int, d), stream: 1}
	for _, by := range p.Costs.streamed {
		b.stream = min(b.stream, by)
	}
	b.segments = contract(time, n)
	k := len(b.segments)
	at := make([]int, n)
	b.before, b.device, b.ends = make([][]int, k), make([]int, k), make([]float64, k)
	b.steps, b.time, b.loads, b.energy = make([]int, k*d), make([]float64, k*d), make([]float64, k*d), make([]float64, k*d)
	b.minTime, b.tail = make([]float64, k), make([]float64, k)
	b.restLoads, b.restPJ = make([]float64, k+1), make([]float64, k+1)
	minEnergy := make([]float64, k)
	for s, r := range b.segments {
		for i := r[0]; i < r[1]; i++ {
			at[i] = s
			for e := range d {
				b.time[s*d+e] += time.op[i*d+e]
				b.loads[s*d+e] += held.op[i*d+e]
				b.energy[s*d+e] += energy.op[i*d+e]
			}
			for _, v := range p.Graph.Operations[i].Inputs {
				if f := p.Graph.Values[v].Producer; f >= 0 && at[f] != s {
					b.before[s] = insert(b.before[s], at[f])
				}
			}
		}
		b.minTime[s], minEnergy[s] = slices.Min(b.time[s*d:(s+1)*d]), slices.Min(b.energy[s*d:(s+1)*d])
	}
	for s := k - 1; s >= 0; s-- {
		b.restLoads[s] = b.restLoads[s+1] + slices.Min(b.loads[s*d:(s+1)*d])
		b.restPJ[s] = b.restPJ[s+1] + minEnergy[s]
		for _, f := range b.before[s] {
			b.tail[f] = max(b.tail[f], b.tail[s]+b.minTime[s])
		}
	}
	return b
}

// branch tries the devices of segment s, the most promising first.
func (b *search) branch(s int) {
	if s == len(b.segments) {
		b.leaf()
		return
	}
	type choice struct {
		device int
		bound  float64
	}
	var list [256]choice
	count := 0
	for d := range b.p.Devices {
		if math.IsInf(b.time[s*len(b.p.Devices)+d], 1) {
			continue
		}
		undo := b.assign(s, d)
		list[count] = choice{d, b.bound(s)}
		b.undo(s, undo)
		count++
	}
	slices.SortStableFunc(list[:count], func(x, y choice) int { return cmp.Compare(x.bound, y.bound) })
	for _, c := range list[:count] {
		if b.nodes <= 0 || b.err != nil || c.bound >= b.score*(1-1e-12) {
			return
		}
		b.nodes--
		undo := b.assign(s, c.device)
		b.branch(s + 1)
		b.undo(s, undo)
	}
}

// change is what assigning a segment did to the totals.
type change struct {
	load, spent float64
	most        int
}

// assign gives segment s to device d.
func (b *search) assign(s, d int) change {
	n := len(b.p.Devices)
	c := change{b.load[d], b.spent, b.most[d]}
	steps := b.steps[s*n : (s+1)*n]
	clear(steps)
	start, mine := 0.0, 0
	for _, f := range b.before[s] {
		ready := b.ends[f]
		same := b.device[f] == d
		if !same {
			ready += b.p.Costs.Fixed[d].TimeFs
		}
		start = max(start, ready)
		for e, x := range b.steps[f*n : (f+1)*n] {
			steps[e] = max(steps[e], x)
		}
		if x := b.steps[f*n+d]; same {
			mine = max(mine, x)
		} else {
			mine = max(mine, x+1)
		}
	}
	if len(b.before[s]) == 0 {
		start = b.p.Costs.Fixed[d].TimeFs
	}
	steps[d] = max(mine, 1)
	b.device[s] = d
	b.ends[s] = start + b.time[s*n+d]
	b.load[d] += b.loads[s*n+d]
	b.spent += b.energy[s*n+d]
	if more := steps[d] - b.most[d]; more > 0 {
		b.load[d] += float64(more) * b.fixed[d]
		b.spent += float64(more) * b.p.Costs.Fixed[d].EnergyPJ
		b.most[d] = steps[d]
	}
	return c
}

func (b *search) undo(s int, c change) {
	d := b.device[s]
	b.load[d], b.spent, b.most[d] = c.load, c.spent, c.most
}

// bound is the least score that any completion of segments 0 to s can have.
func (b *search) bound(s int) float64 {
	busy, total := 0.0, b.restLoads[s+1]
	for _, x := range b.load {
		busy = max(busy, x)
		total += x
	}
	busy = max(busy, total/float64(len(b.load)))
	latency := 0.0
	if b.p.Objective != Throughput {
		latency = busy
	}
	for k := range s + 1 {
		latency = max(latency, b.ends[k]+b.tail[k])
	}
	return b.p.Score(latency, b.spent+b.restPJ[s+1], max(busy, latency*b.stream/InFlight))
}

// leaf evaluates a complete assignment.
func (b *search) leaf() {
	plan := Plan{Device: make([]int, len(b.p.Graph.Operations))}
	for s, r := range b.segments {
		for i := r[0]; i < r[1]; i++ {
			plan.Device[i] = b.device[s]
		}
	}
	e, err := b.p.Evaluate(plan)
	if err != nil {
		b.err = err
		return
	}
	b.nodes -= evaluationNodes
	if e.Score < b.score {
		b.best, b.score = plan, e.Score
	}
}

// evaluationNodes is what evaluating a plan counts against the limit of nodes.
const evaluationNodes = 50

// contract cuts the execution order into at most MaxSegments intervals.
func contract(t *table, n int) [][2]int {
	var l [][2]int
	var sums [][]float64
	for i := range n {
		l = append(l, [2]int{i, i + 1})
		sums = append(sums, slices.Clone(t.op[i*t.devices:(i+1)*t.devices]))
	}
	loss := func(k int) float64 {
		best := math.Inf(1)
		for d := range t.devices {
			best = min(best, sums[k][d]+sums[k+1][d])
		}
		return best - slices.Min(sums[k]) - slices.Min(sums[k+1])
	}
	for len(l) > MaxSegments {
		at, least := 0, math.Inf(1)
		for k := range len(l) - 1 {
			if x := loss(k); x < least {
				at, least = k, x
			}
		}
		for d := range t.devices {
			sums[at][d] += sums[at+1][d]
		}
		l[at][1] = l[at+1][1]
		l, sums = slices.Delete(l, at+1, at+2), slices.Delete(sums, at+1, at+2)
	}
	return l
}
