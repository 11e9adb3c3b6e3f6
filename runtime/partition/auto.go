package partition

import (
	"maps"
	"math"
	"slices"
)

// Auto selects the best plan of the other strategies by predicted cost.
type Auto struct{}

// Name implements Strategy.
func (Auto) Name() string { return "auto" }

// Plan implements Strategy.
func (Auto) Plan(p *Problem) (Plan, error) {
	plan, err := (BranchAndBound{}).Plan(p) // begins with the best plan of the others
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
		plans = append(plans, p.complete(plan))
	}
	best, score := Plan{}, math.Inf(1)
	for _, plan := range plans {
		// By estimate overlap only helps; a run may show otherwise.
		candidates := []Plan{{Device: plan.Device, Subgraphs: plan.Subgraphs}}
		if p.Costs.Ran(plan) != nil {
			candidates = append(candidates, plan)
		}
		for _, plan := range candidates {
			e, err := p.Evaluate(plan)
			if err != nil {
				return Plan{}, 0, err
			}
			if e.Score < score {
				best, score = plan, e.Score
			}
		}
	}
	return best, score, nil
}

// Bounds of how often Solve plans anew. A plan is chosen for its low estimate, so most
// estimates are too low, and there are many plans whose estimates are alike.
const (
	solveRounds = 24
	solveIdle   = 4 // plans in a row that are no better when they are predicted, or run
)

// limits returns how often Solve plans anew and after how many plans without improvement it stops: few where each runs.
func (p *Problem) limits() (rounds, idle int) {
	if p.Runs > 0 && p.Costs.Predict == nil {
		return p.Runs - 1, 1
	}
	return solveRounds, solveIdle
}

// MostRuns is how many plans Solve runs at most for a strategy.
func (p *Problem) MostRuns(s Strategy) int {
	switch rounds, _ := p.limits(); {
	case p.Costs.Measure == nil || p.Runs < 0:
		return 0
	case p.Runs > 0:
		return p.Runs
	case p.Costs.Predict != nil && !Exact(s):
		return 1
	default:
		return rounds + 1
	}
}

// Exact reports whether plans of a strategy run one after the other until none is predicted to be better.
func Exact(s Strategy) bool {
	switch s.(type) {
	case BranchAndBound, Auto:
		return true
	}
	return false
}

// Solve lets a strategy plan by the predicted costs of plans, or by the costs of runs without a
// predictor, until it returns a known plan, or its plans no longer improve. The best of these then
// runs, as long as Runs allows: with branch-bound and auto also further plans, one after the other, that are
// predicted to be better than the best that ran.
func Solve(p *Problem, s Strategy) (Plan, *Evaluation, error) {
	if Exact(s) && p.Costs.Measure != nil && p.Costs.Predict != nil {
		if err := p.searchPolynomial(); err != nil {
			return Plan{}, nil, err
		}
	}
	if by := p.Costs.streamed; by != nil && Exact(s) { // bounds are tight without ScaleStream; the best plan found that way prunes others
		p.Costs.streamed = nil
		first, _, err := p.search(s)
		if p.Costs.streamed = by; err != nil {
			return Plan{}, nil, err
		}
		p.Seeds = append(slices.Clip(p.Seeds), first)
	}
	best, value, err := p.search(s)
	switch {
	case err != nil || p.Costs.Measure == nil:
		return best, value, err
	case Exact(s):
		if best, value, err = p.runBest(); err == nil {
			best.Proven, err = p.proves(s, best)
		}
		return best, value, err
	case p.ran(best) || p.Runs < 0:
		return best, value, nil
	}
	if err := p.measure(best); err != nil {
		return Plan{}, nil, err
	}
	value, err = p.Evaluate(best)
	return best, value, err
}

// searchPolynomial goes through the plans of the polynomial strategies, with the best of which a search begins: the
// next best may come to less than it.
func (p *Problem) searchPolynomial() error {
	for _, s := range polynomial(p) {
		if _, _, err := p.search(s); err != nil {
			return err
		}
	}
	return nil
}

// proves reports whether a strategy proves a plan to be the best by all that is known: an earlier proof does not cover the
// costs of plans that ran after it.
func (p *Problem) proves(s Strategy, plan Plan) (bool, error) {
	last, err := Make(p, s)
	return last.Proven && planKey(p.Canonical(last)) == planKey(plan), err
}

// ran reports whether a plan has run.
func (p *Problem) ran(plan Plan) bool {
	r := p.Costs.Ran(plan)
	return r != nil && !r.Predicted
}

// search is the best of the plans that a strategy comes to.
func (p *Problem) search(s Strategy) (best Plan, value *Evaluation, err error) {
	idle := 0
	rounds, patience := p.limits()
	for round := 0; ; round++ {
		plan, err := Make(p, s)
		if err != nil {
			return best, value, err
		}
		plan = p.Canonical(plan)
		final := p.Costs.Measure == nil || p.Costs.Ran(plan) != nil
		if !final {
			if hopeless, err := p.hopeless(plan); hopeless || err != nil {
				return best, value, err
			}
			if err := p.assess(plan); err != nil {
				return best, value, err
			}
		}
		e, err := p.Evaluate(plan)
		if err != nil {
			return best, value, err
		}
		idle++
		if value == nil || e.Score < value.Score {
			best, value, idle = plan, e, 0
		}
		if final || round == rounds || idle == patience {
			return best, value, nil
		}
	}
}

// assess records the costs of a plan: predicted, or measured by running it.
func (p *Problem) assess(plan Plan) error {
	e, err := p.Predict(plan)
	if err != nil {
		return err
	}
	switch {
	case e.run != nil:
		p.Costs.SetRun(plan, e.run)
	case p.Runs < 0:
		p.Costs.SetRun(plan, &Run{LatencyFs: e.LatencyFs, EnergyPJ: e.EnergyPJ, Predicted: true})
	default:
		return p.measure(plan)
	}
	return nil
}

// hopeless reports whether a plan is estimated to be no better than one that ran, where runs are few and nothing
// predicts them.
func (p *Problem) hopeless(plan Plan) (bool, error) {
	if p.Runs <= 0 || p.Costs.Predict != nil {
		return false, nil
	}
	_, known, err := p.bestRun(func(*Run) bool { return true })
	if err != nil || known == nil {
		return false, err
	}
	e, err := p.Predict(plan)
	return err == nil && e.Score >= known.Score, err
}

// runBest runs the plans that are predicted to be better than the best that ran, the best first.
func (p *Problem) runBest() (Plan, *Evaluation, error) {
	all := func(*Run) bool { return true }
	for n := 0; p.Runs >= 0; n++ {
		plan, value, err := p.bestRun(all)
		if err != nil || value == nil || p.ran(plan) {
			return plan, value, err
		}
		if p.Runs > 0 && n == p.Runs {
			return p.bestRun(func(r *Run) bool { return !r.Predicted })
		}
		if err := p.measure(plan); err != nil {
			return Plan{}, nil, err
		}
	}
	return p.bestRun(all)
}

// Prudent is the best of the plans that Solve has come to. One that is predicted must be better by a margin, a share, than the best
// that ran.
func (p *Problem) Prudent(margin float64) (Plan, error) {
	ran, value, err := p.bestRun(func(r *Run) bool { return !r.Predicted })
	if err != nil {
		return Plan{}, err
	}
	best, e, err := p.bestRun(func(*Run) bool { return true })
	if value == nil || e.Score < value.Score*(1-margin) {
		return best, err
	}
	return ran, err
}

// bestRun is the best of the plans whose runs are some, but of those that have an operation elsewhere than it is placed.
func (p *Problem) bestRun(some func(*Run) bool) (best Plan, value *Evaluation, err error) {
	for _, k := range slices.Sorted(maps.Keys(p.Costs.runs)) {
		if !some(p.Costs.runs[k]) {
			continue
		}
		plan := p.Costs.runs[k].plan
		if !p.obeyed(plan) {
			continue
		}
		e, err := p.Evaluate(plan)
		if err != nil {
			return Plan{}, nil, err
		}
		if value == nil || e.Score < value.Score {
			best, value = plan, e
		}
	}
	return best, value, nil
}

// Canonical removes parts of a plan without effect, so that equivalent plans are
// measured once: subgraphs where nothing is interpreted, and the order of steps
// that depend on each other. A plan with several steps on devices stays sequential,
// since all of it moves to the CPU when a device cannot prepare its step.
func (p *Problem) Canonical(plan Plan) Plan {
	if p.CheckPlan(plan) != nil {
		return plan
	}
	plan = p.complete(plan)
	steps := p.Steps(plan)
	links := Link(p.Graph, steps)
	onDevices := 0
	for k := range steps {
		if k > 0 && steps[k].Device != steps[k-1].Device && !slices.Contains(links[k].Before, k-1) {
			return plan
		}
		if steps[k].Device != 0 {
			onDevices++
		}
	}
	plan.Sequential = plan.Sequential && (onDevices > 1 || p.interprets(plan))
	return plan
}

// measure predicts what a plan costs and runs it.
func (p *Problem) measure(plan Plan) error {
	if _, err := p.Predict(plan); err != nil { // by what is known before the run
		return err
	}
	r, err := p.Costs.Measure(plan)
	if err != nil {
		return err
	}
	p.Costs.SetRun(plan, r)
	return nil
}
