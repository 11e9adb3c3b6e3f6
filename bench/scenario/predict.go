package scenario

import (
	"cmp"
	"math"
	"slices"
)

// Prediction is what a plan should do by the costs that networks have alone.
type Prediction struct {
	Latency  []int64 // by job, from its arrival to its end; femtoseconds
	Missed   int     // deadlines
	MeanFs   int64   // of Latency
	P99Fs    int64   // 99th percentile of Latency
	EnergyPJ float64 // of all jobs
	SpanFs   int64   // from the beginning to the end of the last job
}

// percentile99 is the 99th percentile of latencies.
func percentile99(latency []int64) int64 {
	list := slices.Sorted(slices.Values(latency))
	if len(list) == 0 {
		return 0
	}
	return list[int(math.Ceil(0.99*float64(len(list))))-1]
}

// better orders predictions by the objective of the problem, else by missed deadlines and then by mean latency.
func (p *Problem) better(x, y *Prediction) bool {
	if p.Objective != nil {
		return p.Objective(x) < p.Objective(y)
	}
	return cmp.Or(cmp.Compare(x.Missed, y.Missed), cmp.Compare(x.MeanFs, y.MeanFs)) < 0
}

// Predict serves the jobs on engines with the costs that each network has alone, those of a contended plan times their
// slow-downs; the first on an engine wakes it. An engine with a fixed plan serves the highest priority first and then in the
// order in which jobs reach its queue; a network
// that the runtime divides has the cost that it has divided, and counts on the engine with the most of its work.
func Predict(p *Problem, plan Plan) Prediction {
	x := predictor{State: State{Problem: p, FreeFs: make([]int64, len(p.Devices)), Asleep: asleep(len(p.Devices))}, scheduler: plan.Scheduler, routes: plan.Routes, active: make([]activity, len(p.Devices))}
	if x.scheduler == nil {
		x.scheduler = newQueues(p, plan.Routes)
	}
	if s, ok := x.scheduler.(perRun); ok {
		run, end, err := s.begin()
		if err != nil {
			return Prediction{Latency: make([]int64, len(p.Jobs))} // the simulation reports it
		}
		defer func() { _ = end() }()
		x.scheduler = run
	}
	if plan.Contended {
		x.slowdown = p.Slowdown
	}
	x.Latency = make([]int64, len(p.Jobs))
	for {
		x.begin()
		if !x.next() {
			break // also where jobs wait that no engine is given: they have latency 0
		}
	}
	sum := 0.
	for _, fs := range x.Latency {
		sum += float64(fs)
	}
	x.MeanFs, x.P99Fs = int64(sum/float64(len(x.Latency))), percentile99(x.Latency)
	return x.Prediction
}

// predictor is a prediction under way.
type predictor struct {
	State
	Prediction
	scheduler Scheduler
	routes    []Route // nil where the scheduler decides
	slowdown  func(network, device, other, on int) float64
	indices   []int // of Waiting, in Problem.Jobs
	arrived   int
	active    []activity // by device
}

// activity is what an engine does.
type activity struct {
	busy   bool
	job    int     // index in Problem.Jobs
	rest   Job     // what waits when it ends
	left   float64 // of its time alone, femtoseconds
	factor float64 // by which it is slower beside the others
}

// begin lets jobs arrive and engines begin.
func (x *predictor) begin() {
	for ; x.arrived < len(x.Jobs) && x.Jobs[x.arrived].ArrivalFs <= x.NowFs; x.arrived++ {
		x.Waiting, x.indices = append(x.Waiting, x.Jobs[x.arrived]), append(x.indices, x.arrived)
	}
	for d := range x.active {
		if x.active[d].busy || len(x.Waiting) == 0 {
			continue
		}
		c := x.scheduler.Next(&x.State, d)
		if c.Job < 0 || c.Job >= len(x.Waiting) {
			continue
		}
		j := x.Waiting[c.Job]
		to := j.end(x.Problem, c.Parts)
		cost := x.cost(j.Network, j.Part, to, d)
		if !cost.Runs() {
			continue
		}
		x.Asleep[d] = false
		x.FreeFs[d], x.EnergyPJ = x.NowFs+cost.LatencyFs, x.EnergyPJ+cost.EnergyPJ
		x.active[d] = activity{busy: true, job: x.indices[c.Job], rest: j, left: float64(cost.LatencyFs), factor: 1}
		x.active[d].rest.Part = to
		x.Waiting, x.indices = slices.Delete(x.Waiting, c.Job, c.Job+1), slices.Delete(x.indices, c.Job, c.Job+1)
	}
}

// cost is what some parts cost by the plan on an engine as it is.
func (x *predictor) cost(network, from, to, device int) Cost {
	if x.routes != nil && x.routes[network][0] == Divided {
		c := x.divided(network).Cost
		if x.Asleep[device] {
			c.LatencyFs += c.WakeFs
		}
		return c
	}
	return x.Now(network, from, to, device)
}

// end is the part behind some parts of a job, 0 for all that is left.
func (j *Job) end(p *Problem, parts int) int {
	n := p.parts(j.Network)
	if parts <= 0 || j.Part+parts > n {
		return n
	}
	return j.Part + parts
}

// next advances to the next arrival or end; false: there is none.
func (x *predictor) next() bool {
	at := int64(math.MaxInt64)
	if x.arrived < len(x.Jobs) {
		at = x.Jobs[x.arrived].ArrivalFs
	}
	for d := range x.active {
		if a := &x.active[d]; a.busy {
			a.factor = x.factor(d)
			at = min(at, x.NowFs+int64(math.Ceil(a.left*a.factor)))
		}
	}
	if at == math.MaxInt64 {
		return false
	}
	span := float64(at - x.NowFs)
	x.NowFs = at
	for d := range x.active {
		a := &x.active[d]
		if !a.busy {
			continue
		}
		if a.left -= span / a.factor; a.left < 0.5 {
			x.finish(d)
		}
	}
	return true
}

// factor is how much slower what an engine does is beside what the others do.
func (x *predictor) factor(device int) float64 {
	f := 1.
	if x.slowdown == nil {
		return f
	}
	me := x.active[device].rest.Network
	for d := range x.active {
		if d != device && x.active[d].busy && x.active[d].rest.Network != me {
			f *= x.slowdown(me, device, x.active[d].rest.Network, d)
		}
	}
	return f
}

// finish ends what an engine does.
func (x *predictor) finish(device int) {
	a := &x.active[device]
	a.busy = false
	x.FreeFs[device] = x.NowFs
	if a.rest.Part < x.parts(a.rest.Network) {
		x.Waiting, x.indices = append(x.Waiting, a.rest), append(x.indices, a.job)
		return
	}
	x.Latency[a.job] = x.NowFs - a.rest.ArrivalFs
	x.SpanFs = max(x.SpanFs, x.NowFs)
	if a.rest.DeadlineFs > 0 && x.NowFs > a.rest.DeadlineFs {
		x.Missed++
	}
}

// queues is a fixed plan as a scheduler: the stages of each network.
type queues [][]stage

// reaches is when a job reaches the queue of an engine: those that arrive at once in the order of the software before it.
func (s *State) reaches(j *Job, device int) int64 {
	return j.ArrivalFs + s.Costs[j.Network][device].LeadFs
}

func newQueues(p *Problem, routes []Route) (q queues) {
	for i, r := range routes {
		q = append(q, p.stages(i, r))
	}
	return q
}

// Next implements Scheduler.
func (q queues) Next(s *State, device int) Choice {
	best := idle
	for i := range s.Waiting {
		j := &s.Waiting[i]
		for _, x := range q[j.Network] {
			if x.device != device || j.Part < x.from || j.Part >= x.to {
				continue
			}
			if best.Job < 0 || cmp.Or(cmp.Compare(j.Priority, s.Waiting[best.Job].Priority), cmp.Compare(s.reaches(&s.Waiting[best.Job], device), s.reaches(j, device))) > 0 {
				best = Choice{i, x.to - j.Part}
			}
		}
	}
	return best
}
