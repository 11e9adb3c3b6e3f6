package partition

import (
	"cmp"
	"math"
	"slices"
)

// Branches lets the branches of a network overlap on several devices, as HOPE's heuristic does (Xia et al., High Technology Letters
// 2022): from all operations on one device it moves chains to others, those of the most work first, as long as that
// pays. Its plans have parts, so that a branch on another device begins when the fork has ended. It costs operations x chains x
// devices, and finds nothing in a network without branches.
type Branches struct{}

// Name implements Strategy.
func (Branches) Name() string { return "branches" }

// branchRounds bounds the passes over all chains from each single device.
const branchRounds = 4

// Plan implements Strategy.
func (Branches) Plan(p *Problem) (Plan, error) {
	chains := chainsOf(p.Graph)
	work := func(chain []int) (macs int64) {
		for _, i := range chain {
			macs += p.Graph.Operations[i].MACs
		}
		return macs
	}
	slices.SortStableFunc(chains, func(a, b []int) int { return cmp.Compare(work(b), work(a)) })
	best, score := Plan{}, math.Inf(1)
	for d := range p.Devices {
		plan, s, err := p.moveChains(d, chains)
		if err != nil {
			return Plan{}, err
		}
		if best.Device == nil || s < score {
			best, score = plan, s
		}
	}
	return best, nil
}

// moveChains begins with all that one device supports there, the rest on the CPU.
func (p *Problem) moveChains(start int, chains [][]int) (plan Plan, score float64, err error) {
	device := make([]int, len(p.Graph.Operations))
	for i := range device {
		if p.supports(start, i) {
			device[i] = start
		}
	}
	value := func() (Plan, float64, error) {
		x := Plan{Device: slices.Clone(device)}
		whole, err := p.Evaluate(x)
		if err != nil {
			return x, 0, err
		}
		y := Plan{Device: x.Device, Part: Overlapping(p.Graph, device)}
		if e, err := p.Evaluate(y); err == nil && e.Score < whole.Score {
			return y, e.Score, nil
		}
		return x, whole.Score, nil
	}
	if plan, score, err = value(); err != nil {
		return plan, score, err
	}
	for range branchRounds {
		moved := false
		for _, chain := range chains {
			for d := range p.Devices {
				if slices.ContainsFunc(chain, func(i int) bool { return !p.supports(d, i) }) {
					continue
				}
				for _, i := range chain {
					device[i] = d
				}
				x, s, err := value()
				if err != nil {
					return plan, score, err
				}
				if s < score*(1-1e-9) {
					plan, score, moved = x, s, true
				} else {
					copy(device, plan.Device)
				}
			}
		}
		if !moved {
			break
		}
	}
	return plan, score, nil
}

// chainsOf are the operations by runs of which each reads the one before and nothing else does.
func chainsOf(g *Graph) (chains [][]int) {
	of := make([]int, len(g.Operations))
	for i := range g.Operations {
		from := -1
		for _, v := range g.Operations[i].Inputs {
			if x := &g.Values[v]; x.Producer >= 0 {
				if from >= 0 && from != x.Producer {
					from = -1
					break
				}
				from = x.Producer
			}
		}
		if from >= 0 && g.readers(from) == 1 {
			of[i] = of[from]
			chains[of[i]] = append(chains[of[i]], i)
			continue
		}
		of[i] = len(chains)
		chains = append(chains, []int{i})
	}
	return chains
}

// readers is how many operations read what one writes.
func (g *Graph) readers(op int) int {
	var l []int
	for _, v := range g.Operations[op].Outputs {
		for _, u := range g.Values[v].Consumers {
			if !slices.Contains(l, u) {
				l = append(l, u)
			}
		}
	}
	return len(l)
}

// Overlapping are the parts of operations, by their devices, with which steps wait for no more than they read: an operation is behind as
// many changes of the device as there are on the way to it, and those that another device waits for come first. Of a join
// and the branches behind it, one of which runs elsewhere, the join is a part and the other branches are the next.
func Overlapping(g *Graph, device []int) []int {
	level, awaited := make([]int, len(device)), make([]bool, len(device))
	for i := range g.Operations {
		for _, v := range g.Operations[i].Inputs {
			k := g.Values[v].Producer
			if k < 0 {
				continue
			}
			at := level[k]
			if device[k] != device[i] {
				at++
			}
			level[i] = max(level[i], at)
		}
	}
	part := make([]int, len(device))
	for i := len(device) - 1; i >= 0; i-- {
		for _, v := range g.Operations[i].Outputs {
			for _, u := range g.Values[v].Consumers {
				awaited[i] = awaited[i] || device[u] != device[i] || level[u] == level[i] && awaited[u]
			}
		}
		if part[i] = 2 * level[i]; !awaited[i] {
			part[i]++
		}
	}
	return part
}
