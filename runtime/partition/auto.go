package partition

import "math"

// Auto takes the best plan of the other strategies by predicted cost.
type Auto struct{}

// Name implements Strategy.
func (Auto) Name() string { return "auto" }

// Plan implements Strategy.
func (Auto) Plan(p *Problem) (Plan, error) {
	plan, err := (ILP{}).Plan(p) // begins with the best plan of the others
	plan.Proven = false
	return plan, err
}

// polynomial are the strategies whose time is bounded by a low power of the
// number of operations.
func polynomial(p *Problem) []Strategy {
	l := []Strategy{GreedyMerge{}, DP{}, MinCut{}, Pipeline{}}
	if p.Model != nil {
		l = append(l, AOSP{})
	}
	for d := range p.Devices {
		l = append(l, Single(d))
	}
	return l
}

// incumbent is the best plan of the polynomial strategies and of the seeds.
// Sequential plans stand beside the same plan with overlap.
func (p *Problem) incumbent() (Plan, float64, error) {
	plans := append([]Plan(nil), p.Seeds...)
	for _, s := range polynomial(p) {
		plan, err := s.Plan(p)
		if err != nil {
			return Plan{}, 0, err
		}
		plans = append(plans, plan)
	}
	best, score := Plan{}, math.Inf(1)
	for _, plan := range plans {
		plan = Plan{Device: plan.Device} // overlap only helps
		e, err := p.Evaluate(plan)
		if err != nil {
			return Plan{}, 0, err
		}
		if e.Score < score {
			best, score = plan, e.Score
		}
	}
	return best, score, nil
}

// solveRounds bounds how often Solve plans anew.
const solveRounds = 24

// Solve lets a strategy plan and, where costs can be measured, measures the
// segments of its plan, until it stays with a plan whose segments are all
// measured. When it never does, the best plan that was measured counts.
func Solve(p *Problem, s Strategy) (Plan, *Evaluation, error) {
	var best Plan
	var value *Evaluation
	for round := 0; ; round++ {
		plan, err := s.Plan(p)
		if err != nil {
			return Plan{}, nil, err
		}
		e, err := p.Evaluate(plan)
		if err != nil {
			return Plan{}, nil, err
		}
		if p.Costs.Measure == nil {
			return plan, e, nil
		}
		measured, err := p.measure(e.Steps)
		if err != nil {
			return Plan{}, nil, err
		}
		if measured == 0 {
			if value == nil || e.Score <= value.Score {
				return plan, e, nil
			}
			return best, value, nil
		}
		if e, err = p.Evaluate(plan); err != nil {
			return Plan{}, nil, err
		}
		if value == nil || e.Score < value.Score {
			best, value = plan, e
		}
		if round == solveRounds {
			return best, value, nil
		}
	}
}

// measure finds out the costs of steps that are not known as a whole.
func (p *Problem) measure(steps []Step) (measured int, err error) {
	for i := range steps {
		if p.Costs.Known(steps[i].Device, steps[i].Operations) {
			continue
		}
		c, err := p.Costs.Measure(steps[i].Device, steps[i].Operations)
		if err != nil {
			return measured, err
		}
		p.Costs.SetSegment(Segment{steps[i].Device, steps[i].Operations, c})
		measured++
	}
	return measured, nil
}
