package session

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/partition"
)

// Objective first-result: the wait of an application that uses a network for the first time. Drivers compile the parts
// one after the other, then the plan runs once on a phone that is cold.

// First prepares the planner for objective FirstResult: plans run once, on a phone that is cold.
func (x *Planner) First() {
	x.pace = x.pace.Once()
	x.store = x.store.Other(partition.FirstResult.String())
}

// compiled adds the time of compiling to the result of a plan's execution, to each part its own.
func compiled(c *nnrt.Compilation, res *nnrt.Result) *nnrt.Result {
	r := *res
	r.Parts = slices.Clone(res.Parts)
	sum := int64(0)
	for k := range c.Steps() {
		s := c.Step(k)
		p, ok := hal.As[hal.Preparing](s.Prepared)
		if !ok {
			continue
		}
		fs := p.PreparedFs()
		sum += fs
		for i := range r.Parts {
			if q := &r.Parts[i]; q.Device == s.Device && q.Subgraph == s.Subgraph && slices.Equal(q.Operations, s.Operations) {
				q.EndFs += fs
				break
			}
		}
	}
	r.LatencyFs += sum
	r.Chain = append([]hal.Part{{Name: "compile", TimeFs: sum}}, res.Chain...)
	return &r
}

// compileCosts adds the costs of compilation to a problem: a fixed time per part and a time for each of its operations,
// derived from compiling each operation by itself, and all that a device supports at once.
func (x *Planner) compileCosts(p *partition.Problem) {
	fixed := make([]float64, len(p.Devices))
	each := make([][]float64, len(p.Devices))
	o := hal.PrepareOptions{Preference: x.options.Preference.HAL(), Priority: x.options.Priority.HAL()}
	for d := range p.Devices {
		each[d] = make([]float64, len(p.Graph.Operations))
		time := func(operations ...int) (float64, bool) {
			prepared, err := p.Devices[d].Driver.PrepareModel(partition.Extract(p.Model, operations).Model, o)
			if err != nil {
				return 0, false // its driver may refuse an operation alone
			}
			t, ok := hal.As[hal.Preparing](prepared)
			if !ok {
				return 0, false
			}
			return float64(t.PreparedFs()), true
		}
		var operations []int
		sum := 0.0
		for i := range p.Graph.Operations {
			if !p.Devices[d].Support[i].OK {
				continue
			}
			if fs, ok := time(i); ok {
				each[d][i] = fs
				sum += fs
				operations = append(operations, i)
			}
		}
		if n := float64(len(operations)); n > 1 {
			whole, ok := time(operations...)
			if !ok {
				continue
			}
			fixed[d] = max(0, (sum-whole)/(n-1))
		}
		for _, i := range operations {
			each[d][i] = max(0, each[d][i]-fixed[d])
			p.Costs.Operation[d][i].TimeFs += each[d][i]
		}
		p.Costs.Fixed[d].TimeFs += fixed[d]
	}
	predict := p.Costs.Predict
	if predict == nil {
		return
	}
	p.Costs.Predict = func(plan partition.Plan) (*partition.Run, error) {
		r, err := predict(plan)
		if r == nil || err != nil {
			return r, err
		}
		for k := range r.Segments {
			s := &r.Segments[k]
			if s.Device >= len(p.Devices) {
				continue // the runtime compiles nothing
			}
			fs := fixed[s.Device]
			for _, i := range s.Operations {
				fs += each[s.Device][i]
			}
			s.Cost.TimeFs += fs
			r.LatencyFs += fs
		}
		return r, nil
	}
}
