package partition

import (
	"math/rand/v2"

	"github.com/nnsoc/nnsoc/hal"
)

// randomProblem is a graph of n operations on some devices with random costs.
// chain demands that each operation reads the one before only.
func randomProblem(r *rand.Rand, n, devices int, chain bool) *Problem {
	g := &Graph{}
	value := func(producer int) int {
		g.Values = append(g.Values, Value{Operand: uint32(len(g.Values)), Bytes: 1 + r.Int64N(1000), Producer: producer})
		return len(g.Values) - 1
	}
	value(-1)
	for i := range n {
		op := Operation{Type: "RELU", MACs: r.Int64N(1000), Inputs: []int{len(g.Values) - 1}}
		if !chain && i > 0 {
			op.Inputs = []int{r.IntN(len(g.Values))}
			if x := r.IntN(len(g.Values)); r.IntN(3) == 0 && x != op.Inputs[0] {
				op.Inputs = append(op.Inputs, x)
			}
		}
		for _, v := range op.Inputs {
			g.Values[v].Consumers = append(g.Values[v].Consumers, i)
		}
		op.Outputs = []int{value(i)}
		g.Operations = append(g.Operations, op)
	}
	for v := range g.Values {
		g.Values[v].Output = len(g.Values[v].Consumers) == 0
	}
	p := &Problem{Graph: g}
	cost := func(most float64) Cost { t := r.Float64() * most; return Cost{t, t * r.Float64(), r.Float64() * most} }
	for d := range devices {
		support, ops := make([]hal.Support, n), make([]Cost, n)
		for i := range n {
			support[i].OK = d == 0 || r.IntN(4) > 0
			ops[i] = cost(100 / float64(d+1))
		}
		p.Devices = append(p.Devices, Device{Name: string(rune('a' + d)), Support: support})
		p.Costs.Operation = append(p.Costs.Operation, ops)
		p.Costs.Fixed = append(p.Costs.Fixed, cost(float64(50*d)))
		p.Costs.PerByte = append(p.Costs.PerByte, cost(0.02*float64(d)))
	}
	return p
}

// bruteForce is the least score of all assignments.
func bruteForce(p *Problem) float64 {
	n := len(p.Graph.Operations)
	best := 1e300
	device := make([]int, n)
	var try func(i int)
	try = func(i int) {
		if i == n {
			e, err := p.Evaluate(Plan{Device: device})
			if err != nil {
				panic(err)
			}
			best = min(best, e.Score)
			return
		}
		for d := range p.Devices {
			if p.supports(d, i) {
				device[i] = d
				try(i + 1)
			}
		}
	}
	try(0)
	return best
}
