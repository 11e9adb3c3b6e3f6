package scenario

// online is a strategy that only decides while networks arrive.
type online struct {
	name string
	next next
}

type next func(s *State, device int) Choice

// Next implements Scheduler.
func (f next) Next(s *State, device int) Choice { return f(s, device) }

func (o online) Name() string { return o.name }

func (o online) Plan(*Problem) (Plan, error) { return Plan{Scheduler: o.next}, nil }

// Rest is the cost of all that is left of a job on an engine.
func (s *State) Rest(j *Job, device int) Cost {
	return s.Now(j.Network, j.Part, s.parts(j.Network), device)
}

// first is the whole waiting job for which less holds against all others that the device runs.
func first(s *State, device int, less func(a, b *Job) bool) Choice {
	best := idle
	for i := range s.Waiting {
		j := &s.Waiting[i]
		if c := s.Rest(j, device); c.Runs() && (best.Job < 0 || less(j, &s.Waiting[best.Job])) {
			best.Job = i
		}
	}
	return best
}

// deadline is when a job is due, as late as can be where it has no deadline.
func (j *Job) deadline() int64 {
	if j.DeadlineFs == 0 {
		return 1<<63 - 1
	}
	return j.DeadlineFs
}

// earliestDeadline gives a free engine the job that is due first (EDF), whatever engine suits it.
func earliestDeadline(s *State, device int) Choice {
	return first(s, device, func(a, b *Job) bool { return a.deadline() < b.deadline() })
}

// slack is the time that a job can still wait on an engine.
func (s *State) slack(j *Job, device int) int64 {
	return j.deadline() - s.NowFs - s.Rest(j, device).LatencyFs
}

// leastSlack gives a free engine the job that can wait the least, by its time on this engine.
func leastSlack(s *State, device int) Choice {
	return first(s, device, func(a, b *Job) bool { return s.slack(a, device) < s.slack(b, device) })
}

// band is the rule of Band (Jeong et al., MobiSys 2022) for whole networks: of the jobs that end on this engine before
// they would on any other, counting what the others still run, the one with the least slack.
func band(s *State, device int) Choice {
	best := idle
	for i := range s.Waiting {
		j := &s.Waiting[i]
		if !s.endsFirst(j, s.parts(j.Network), device) {
			continue
		}
		if best.Job < 0 || s.slack(j, device) < s.slack(&s.Waiting[best.Job], device) {
			best.Job = i
		}
	}
	return best
}

// endsFirst reports whether no engine ends the parts of a job until one before this engine does.
func (s *State) endsFirst(j *Job, to, device int) bool {
	own := s.Now(j.Network, j.Part, to, device)
	if !own.Runs() {
		return false
	}
	for d := range s.Devices {
		c := s.Now(j.Network, j.Part, to, d)
		if c.Runs() && max(s.FreeFs[d], s.NowFs)+c.LatencyFs < s.NowFs+own.LatencyFs {
			return false
		}
	}
	return true
}

// adms schedules parts one by one, in the manner of ADMS (arXiv 2503.21109): a network is cut where engines' support
// changes and cut parts that are too small are joined (cuts); a free engine takes, of the parts that it ends first given
// what the engines still run, the one with the highest priority, which grows with the urgency of its deadline, with the
// time that it has waited, and with how much of its job has been done, so that few are under way. The paper's
// weights are not published: all three count alike (assumed, D-2901).
func adms(s *State, device int) Choice {
	best, highest := idle, 0.
	for i := range s.Waiting {
		j := &s.Waiting[i]
		to := s.window(j, device)
		if to == 0 {
			continue
		}
		if v := s.urgency(j); best.Job < 0 || v > highest {
			best, highest = Choice{i, to - j.Part}, v
		}
	}
	return best
}

// window is the part behind those from the job's next on that an engine ends first, as many as are best together, 0 for
// none. The last parts go with those before where an engine runs all.
func (s *State) window(j *Job, device int) int {
	n := s.parts(j.Network)
	if j.Part == 0 && s.whole(j) {
		if s.endsFirst(j, n, device) {
			return n
		}
		return 0
	}
	for to := n; to > j.Part; to-- {
		if s.endsFirst(j, to, device) && s.worth(j, to, device) {
			return to
		}
	}
	return 0
}

// whole reports whether the network is one part, or no engine runs its next part without help.
func (s *State) whole(j *Job) bool {
	if s.parts(j.Network) == 1 {
		return true
	}
	for d := range s.Devices {
		if c := s.Cost(j.Network, 0, 1, d); c.Runs() {
			return false
		}
	}
	return true
}

// worth reports whether the engine computes the parts until one in no more time than the fastest engines of each would.
func (s *State) worth(j *Job, to, device int) bool {
	own := s.Cost(j.Network, j.Part, to, device)
	sum := int64(0)
	for k := j.Part; k < to; k++ {
		least := int64(0)
		for d := range s.Devices {
			if c := s.Cost(j.Network, k, k+1, d); c.Runs() && (least == 0 || c.LatencyFs < least) {
				least = c.LatencyFs
			}
		}
		sum += least
	}
	return to == j.Part+1 || own.LatencyFs <= sum
}

// urgency is the priority of adms: shares of the deadline's time that have passed and of the job that is done, and the
// time waited in units of the job's fastest time, at most 1.
func (s *State) urgency(j *Job) float64 {
	n := s.parts(j.Network)
	v := float64(j.Part) / float64(n)
	waited := float64(s.NowFs - j.ArrivalFs)
	if j.DeadlineFs > 0 {
		v += min(2, waited/float64(max(1, j.DeadlineFs-j.ArrivalFs)))
	}
	if c := s.Costs[j.Network][s.fastest(j.Network)]; c.Runs() {
		v += min(1, waited/float64(c.LatencyFs))
	}
	return v
}
