package scenario

import (
	"cmp"
	"slices"
)

// Prediction is what a plan should do if engines did not disturb each other.
type Prediction struct {
	Latency []int64 // by job, from its arrival to its end; femtoseconds
	Missed  int     // deadlines
	MeanFs  int64   // of Latency
}

// better orders predictions: fewer missed deadlines, then a shorter mean latency.
func (x *Prediction) better(y *Prediction) bool {
	return cmp.Or(cmp.Compare(x.Missed, y.Missed), cmp.Compare(x.MeanFs, y.MeanFs)) < 0
}

// Predict serves the jobs on engines with the costs that each network has alone. An engine with a fixed plan serves
// the highest priority first and then in the order of arrivals; a network that the runtime divides counts on its
// fastest engine.
func Predict(p *Problem, plan Plan) Prediction {
	scheduler := plan.Scheduler
	if scheduler == nil {
		device := slices.Clone(plan.Device)
		for i, d := range device {
			if d == Divided {
				device[i] = p.fastest(i)
			}
		}
		scheduler = queues(device)
	}
	x := Prediction{Latency: make([]int64, len(p.Jobs))}
	s := &State{Problem: p, FreeFs: make([]int64, len(p.Devices))}
	var waiting []int // indices of jobs, as s.Waiting
	arrived := 0
	for arrived < len(p.Jobs) || len(waiting) > 0 {
		for ; arrived < len(p.Jobs) && p.Jobs[arrived].ArrivalFs <= s.NowFs; arrived++ {
			waiting = append(waiting, arrived)
			s.Waiting = append(s.Waiting, p.Jobs[arrived])
		}
		for d := range p.Devices {
			if s.FreeFs[d] > s.NowFs || len(waiting) == 0 {
				continue
			}
			if i := scheduler.Next(s, d); i >= 0 {
				j := &s.Waiting[i]
				s.FreeFs[d] = s.NowFs + p.Costs[j.Network][d].LatencyFs
				x.Latency[waiting[i]] = s.FreeFs[d] - j.ArrivalFs
				if j.DeadlineFs > 0 && s.FreeFs[d] > j.DeadlineFs {
					x.Missed++
				}
				waiting, s.Waiting = slices.Delete(waiting, i, i+1), slices.Delete(s.Waiting, i, i+1)
			}
		}
		now := s.NowFs
		if s.NowFs = s.nextEvent(arrived); s.NowFs == now {
			break // jobs that no engine is given: they have latency 0
		}
	}
	sum := 0.
	for _, fs := range x.Latency {
		sum += float64(fs)
	}
	x.MeanFs = int64(sum / float64(len(x.Latency)))
	return x
}

// nextEvent is the next arrival or end of a job, now where there is none.
func (s *State) nextEvent(arrived int) int64 {
	at := int64(-1)
	if arrived < len(s.Jobs) {
		at = s.Jobs[arrived].ArrivalFs
	}
	for _, fs := range s.FreeFs {
		if fs > s.NowFs && (at < 0 || fs < at) {
			at = fs
		}
	}
	if at < 0 {
		return s.NowFs
	}
	return at
}

// queues is a fixed plan as a scheduler: the engine of each network.
type queues []int

// Next implements Scheduler.
func (q queues) Next(s *State, device int) int {
	best := -1
	for i := range s.Waiting {
		if j := &s.Waiting[i]; q[j.Network] == device && (best < 0 || j.Priority > s.Waiting[best].Priority) {
			best = i
		}
	}
	return best
}
