package partition

import (
	"math"
	"slices"
)

// Pipeline is for a stream of inputs: while one device works on an input,
// others work on the ones before and after. It lowers the interval between results
// in two ways and selects the better plan: stages, one interval of the
// execution order per device, and walks as DP's, in which the time of a device
// weighs more the longer the device was busy in the walk before.
type Pipeline struct{}

// Name implements Strategy.
func (Pipeline) Name() string { return "pipeline" }

const (
	pipelineRounds = 30
	pipelineStep   = 0.5 // of the first change of weights; later ones are smaller
)

// Plan implements Strategy.
func (Pipeline) Plan(p *Problem) (Plan, error) {
	base := p.table(Throughput.weights())
	weighted := p.table(Throughput.weights())
	weight := make([]float64, base.devices)
	for d := range weight {
		weight[d] = 1
	}
	device := make([]int, len(p.Graph.Operations))
	load := make([]float64, base.devices)
	var best Plan
	score := math.Inf(1)
	if base.stages(p.Graph, device) {
		e, err := p.Evaluate(Plan{Device: device})
		if err != nil {
			return Plan{}, err
		}
		best, score = Plan{Device: slices.Clone(device)}, e.IntervalFs
	}
	for round := range pipelineRounds {
		for k := range base.op {
			weighted.op[k] = base.op[k] * weight[k%base.devices]
		}
		for d, w := range weight {
			weighted.fixed[d], weighted.perByte[d] = base.fixed[d]*w, base.perByte[d]*w
		}
		weighted.walk(p.Graph, device)
		e, err := p.Evaluate(Plan{Device: device})
		if err != nil {
			return Plan{}, err
		}
		if e.IntervalFs < score {
			score = e.IntervalFs
			best = Plan{Device: slices.Clone(device)}
		}
		clear(load)
		links := Link(p.Graph, e.Steps)
		mean := 0.0
		for k := range e.Steps {
			c := p.segment(&e.Steps[k], links[k].moves(false))
			load[e.Steps[k].Device] += c.EngineFs
			mean += c.EngineFs / float64(base.devices)
		}
		if mean == 0 {
			break
		}
		for d := range weight {
			step := pipelineStep / math.Sqrt(float64(round+1))
			weight[d] = min(max(weight[d]*math.Exp(step*(load[d]/mean-1)), 1e-6), 1e6)
		}
	}
	return best, nil
}
