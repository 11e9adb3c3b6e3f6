package partition

import (
	"fmt"

	"golang.org/x/exp/constraints"
)

// Plan is the result of a strategy.
type Plan struct {
	Device []int // per operation
	// Part keeps operations of different parts in steps of their own, per operation: without it a step takes all that its device can
	// run next, a join and the branch behind it as well, so that no other device begins before both have ended. nil: one part.
	Part []int
	// Sequential forbids that steps overlap, as AOSP's runtime does.
	Sequential bool
	// Subgraphs are the plans of what control flow calls that the runtime executes: its
	// number in Device is that after the last device.
	Subgraphs map[uint32]Plan
	// Proven: no plan of lower cost exists under the additive costs.
	Proven bool
}

// Evaluation is the costs of a plan: measured when it ran, or predicted.
type Evaluation struct {
	Steps     []Step
	LatencyFs float64 // of one execution
	EnergyPJ  float64
	// IntervalFs is the time between results of a stream: that for which the busiest
	// engine is held, or the latency among others by the inputs in flight.
	IntervalFs  float64
	Never       bool    // a device cannot run, or gives no estimate for, its operations of the plan
	Transitions int     // times that a step reads what a step of another device wrote
	BytesMoved  int64   // by these transitions
	Score       float64 // the objective: femtoseconds, picojoules or their product

	load     []float64 // for how long each device is held
	inStream float64   // factor on the latency among others of a stream
	run      *Run      // that predicts it; nil: a sum does
}

// Score is the value of an objective.
func (o Objective) Score(latencyFs, energyPJ, intervalFs float64) float64 {
	switch o {
	case Energy:
		return energyPJ
	case EnergyDelay:
		return latencyFs * energyPJ
	case Throughput:
		return intervalFs
	}
	return latencyFs
}

// CheckPlan returns an error that names the first operation whose device is
// none of the problem's or does not support it.
func (p *Problem) CheckPlan(plan Plan) error {
	if err := p.checkPlan(plan); err != nil {
		return fmt.Errorf("partition: %w", err)
	}
	return nil
}

func (p *Problem) checkPlan(plan Plan) error {
	if len(plan.Device) != len(p.Graph.Operations) {
		return fmt.Errorf("a plan of %d operations, there are %d", len(plan.Device), len(p.Graph.Operations))
	}
	if plan.Part != nil && len(plan.Part) != len(plan.Device) {
		return fmt.Errorf("a plan with parts of %d operations, there are %d", len(plan.Part), len(plan.Device))
	}
	plan = p.complete(plan)
	for i, d := range plan.Device {
		if d == p.drivers() && p.views(i) {
			continue
		}
		if d == p.drivers() {
			if err := p.checkInterpreted(i, plan); err != nil {
				return err
			}
			continue
		}
		if d < 0 || d >= len(p.Devices) {
			return fmt.Errorf("operation %d on device %d, there are %d", i, d, len(p.Devices))
		}
		if !p.supports(d, i) {
			return fmt.Errorf("operation %d (%s) on %s, which does not support it: %s", i, p.Graph.Operations[i].Type, p.Devices[d].Name, p.Devices[d].Support[i].Reason)
		}
	}
	return nil
}

// checkInterpreted checks the plans of subgraphs of control flow that the runtime executes.
func (p *Problem) checkInterpreted(op int, plan Plan) error {
	c := p.control(op)
	if c == nil {
		return fmt.Errorf("operation %d (%s) on the %s, which executes IF and WHILE with known shapes whose subgraphs divide, and what moves no data", op, p.Graph.Operations[op].Type, Interpreter)
	}
	for _, k := range c.Subgraphs {
		sub, ok := plan.Subgraphs[k]
		if !ok {
			return fmt.Errorf("operation %d (%s) on the %s without a plan of subgraph %d, which Make adds", op, p.Graph.Operations[op].Type, Interpreter, k)
		}
		if err := p.Subgraphs[k].checkPlan(sub); err != nil {
			return fmt.Errorf("subgraph %d: %w", k, err)
		}
	}
	return nil
}

// Evaluate returns the measured costs of a plan or, for one that did not run, the sum of the
// costs of its steps.
func (p *Problem) Evaluate(plan Plan) (*Evaluation, error) {
	return p.evaluate(plan, p.Costs.Ran(plan))
}

// Predict returns the costs of a plan by what was known before it ran; later calls return the result
// of the first.
func (p *Problem) Predict(plan Plan) (*Evaluation, error) {
	key := planKey(p.complete(plan))
	if e, known := p.Costs.predictions[key]; known {
		return e, nil
	}
	e, err := p.evaluate(plan, nil)
	if err != nil {
		return nil, err
	}
	if p.Costs.Predict != nil {
		r, err := p.Costs.Predict(plan)
		if err != nil {
			return nil, err
		}
		if e.run = r; r != nil {
			e.setRun(r, p)
		}
	}
	if p.Costs.predictions == nil {
		p.Costs.predictions = map[string]*Evaluation{}
	}
	p.Costs.predictions[key] = e
	return e, nil
}

// setRun sets the costs to those of a run, and of its stream if there was one.
func (e *Evaluation) setRun(r *Run, p *Problem) {
	e.LatencyFs, e.EnergyPJ = r.LatencyFs, r.EnergyPJ
	if e.score(p); r.IntervalFs > 0 {
		e.IntervalFs = r.IntervalFs
		e.Score = p.Score(e.LatencyFs, e.EnergyPJ, e.IntervalFs)
	}
}

// score computes interval and objective.
func (e *Evaluation) score(p *Problem) {
	e.IntervalFs = e.LatencyFs * e.inStream / InFlight
	for _, l := range e.load {
		e.IntervalFs = max(e.IntervalFs, l)
	}
	e.Score = p.Score(e.LatencyFs, e.EnergyPJ, e.IntervalFs)
}

// evaluate computes the costs of the plan from a run of it, nil: from the sum of its steps.
func (p *Problem) evaluate(plan Plan, ran *Run) (*Evaluation, error) {
	if err := p.CheckPlan(plan); err != nil {
		return nil, err
	}
	plan = p.complete(plan)
	e := &Evaluation{Steps: p.Steps(plan), load: make([]float64, p.drivers())}
	links := Link(p.Graph, e.Steps)
	shared := plan.Sequential || p.interprets(plan)
	time, onDevice := make([]float64, len(e.Steps)), make([]float64, p.drivers())
	for k := range e.Steps {
		s := &e.Steps[k]
		var c Cost
		if s.Device == p.drivers() && p.control(s.Operations[0]) == nil {
			continue // a view takes no time
		} else if s.Device < p.drivers() {
			c = p.segment(s, links[k].moves(shared))
			e.load[s.Device] += c.EngineFs
			onDevice[s.Device] += c.TimeFs
		} else {
			var load []float64
			var err error
			if c, load, err = p.interpreted(p.control(s.Operations[0]), plan.Subgraphs); err != nil {
				return nil, err
			}
			for d, l := range load {
				e.load[d] += l
			}
		}
		time[k] = c.TimeFs
		e.Never = e.Never || c.never()
		e.EnergyPJ += c.EnergyPJ
		e.Transitions += links[k].Transitions
		e.BytesMoved += links[k].Moved
	}
	e.inStream = p.Costs.inStream(onDevice)
	if ran != nil {
		e.setRun(ran, p)
	} else {
		_, e.LatencyFs = Schedule(e.Steps, links, time, plan.Sequential)
		e.score(p)
	}
	return e, nil
}

// Links are what ties a step to the others.
type Links struct {
	Before      []int // steps that write what it reads, in order
	In, Out     int64 // bytes that enter and leave it
	Stays       int64 // of these, those of values that only steps of its device share
	Transitions int   // steps of another device among Before
	Moved       int64 // bytes from those
}

// moves are the bytes that pay for entering or leaving a step. Between steps of one device
// values lie in memory of the device, unless all lie in shared memory: of plans that run as AOSP's
// do, and of those with control flow in the runtime.
func (l *Links) moves(shared bool) int64 {
	if shared {
		return l.In + l.Out
	}
	return l.In + l.Out - l.Stays
}

// Link returns the dependences between steps.
func Link(g *Graph, steps []Step) []Links {
	at := make([]int, len(g.Operations)) // step of each operation
	for k := range steps {
		for _, i := range steps[k].Operations {
			at[i] = k
		}
	}
	links := make([]Links, len(steps))
	entered := make([]int, len(g.Values)) // 1 + step that counted the value last
	stays := make([]bool, len(g.Values))  // on one device, in memory of that device
	for v := range g.Values {
		x := &g.Values[v]
		stays[v] = !x.Output && x.Producer >= 0 && steps[at[x.Producer]].Device > 0
		for _, u := range x.Consumers {
			stays[v] = stays[v] && steps[at[u]].Device == steps[at[x.Producer]].Device
		}
	}
	for k := range steps {
		l := &links[k]
		for _, i := range steps[k].Operations {
			for _, v := range g.Operations[i].Inputs {
				x := &g.Values[v]
				if x.Producer >= 0 && at[x.Producer] == k || entered[v] == k+1 {
					continue
				}
				entered[v] = k + 1
				l.In += x.Bytes
				if x.Producer < 0 {
					continue
				}
				if stays[v] {
					l.Stays += x.Bytes
				}
				from := at[x.Producer]
				if steps[from].Device != steps[k].Device {
					l.Moved += x.Bytes
				}
				l.Before = insert(l.Before, from)
			}
			for _, v := range g.Operations[i].Outputs {
				x := &g.Values[v]
				leaves := x.Output
				for _, u := range x.Consumers {
					leaves = leaves || at[u] != k
				}
				if leaves {
					l.Out += x.Bytes
				}
				if leaves && stays[v] {
					l.Stays += x.Bytes
				}
			}
		}
		for _, b := range l.Before {
			if steps[b].Device != steps[k].Device {
				l.Transitions++
			}
		}
	}
	return links
}

// insert adds x to a sorted list without repetition.
func insert(list []int, x int) []int {
	k := len(list)
	for k > 0 && list[k-1] > x {
		k--
	}
	if k > 0 && list[k-1] == x {
		return list
	}
	list = append(list, 0)
	copy(list[k+1:], list[k:])
	list[k] = x
	return list
}

// Schedule returns when each step begins and when the last ends, in the unit of
// time: a step begins when the steps that it reads from have ended and its
// device is free, which serves its steps in order. In sequence, it begins when
// the step before has ended.
func Schedule[T constraints.Integer | constraints.Float](steps []Step, links []Links, time []T, sequential bool) (start []T, end T) {
	start = make([]T, len(steps))
	free := map[int]T{}
	for k := range steps {
		d := steps[k].Device
		at := free[d]
		if sequential {
			at = end
		}
		for _, b := range links[k].Before {
			at = max(at, start[b]+time[b])
		}
		start[k] = at
		free[d] = at + time[k]
		end = max(end, at+time[k])
	}
	return start, end
}
