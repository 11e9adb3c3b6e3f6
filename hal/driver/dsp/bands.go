package dsp

import "slices"

// Steps whose tensors do not fit in L2 together run in bands: some rows of the
// first, the rows of the second that can be made from them, and so on to the last
// step, then the next rows of the first. What a step writes is read while it is
// in L2. Every band is a job of its own.

// group are steps that run in bands.
type group struct{ from, to, bands int }

const (
	// launchRate is how many bytes DRAM can move in a cycle between two jobs.
	launchRate = 10
	maxBands   = 16
)

// groups finds the steps that are to run in bands.
func (l *planner) groups() []group {
	l2 := l.l2.size
	var list []group
	end := 0 // of the last group
	for i := 0; i < len(l.steps); i++ {
		if i < end || l.maker(i) != i || !l.overflows(i, l2*7/8) {
			continue
		}
		g := group{from: i, to: i + 1}
		for g.from > end && l.reads(g.from).bytes() >= l2/8 {
			before := l.maker(g.from - 1)
			if before < end || l.reader(before) != g.from {
				break
			}
			g.from = before
		}
		for next := l.reader(g.to - 1); next > 0; next = l.reader(g.to - 1) {
			if !l.overflows(g.to-1, l2*7/8) && l.taken(&g, next) < l2/8 {
				break
			}
			g.to = next + 1
		}
		if l.divide(&g, l2*5/8) {
			list = append(list, g)
			end = g.to
		}
	}
	return list
}

// taken is how much step i reads of what a group makes.
func (l *planner) taken(g *group, i int) (bytes int) {
	for _, s := range l.steps[g.from:g.to] {
		if s.name == haloName {
			continue
		}
		for _, t := range s.writes {
			if slices.Contains(l.steps[i].reads, t) {
				bytes += t.bytes()
			}
		}
	}
	return bytes
}

// reads is the first input of a step.
func (l *planner) reads(i int) *tensor { return l.steps[i].reads[0] }

// maker is the step at i or, when that is a halo, the one that makes its tensor.
func (l *planner) maker(i int) int {
	for i > 0 && l.steps[i].rows != nil && l.steps[i].name == haloName {
		i--
	}
	return i
}

// reader is the step behind i that reads what i makes, when both can be done row
// by row; 0 when there is none.
func (l *planner) reader(i int) int {
	i = l.maker(i)
	if l.steps[i].rows == nil || len(l.steps[i].writes) == 0 {
		return 0
	}
	out := l.steps[i].writes[0]
	for j := i + 1; j < len(l.steps) && l.steps[j].rows != nil; j++ {
		if l.steps[j].name == haloName {
			continue
		}
		for _, t := range l.steps[j].reads {
			if t == out {
				return j
			}
		}
		return 0
	}
	return 0
}

// overflows reports whether what step i makes has left a cache when its reader
// comes to it.
func (l *planner) overflows(i, cache int) bool {
	j := l.reader(i)
	return j > 0 && l.steps[l.maker(i)].writes[0].bytes()+l.steps[j].writes[0].bytes() > cache
}

// divide chooses the bands of a group: no more than what is written and read again
// needs, if that pays for their launches.
func (l *planner) divide(g *group, cache int) bool {
	steps := l.steps[g.from:g.to]
	most, gain, last := 0, 0, steps[len(steps)-1].rows.count
	for _, s := range steps {
		n := 0
		for _, list := range [2][]*tensor{s.reads, s.writes} {
			for _, t := range list {
				n += t.bytes()
			}
		}
		most = max(most, n)
		if n > cache {
			gain += s.writes[0].bytes()
		}
	}
	g.bands = min(ceilDiv(most, cache), last, maxBands)
	return g.bands > 1 && gain > (g.bands-1)*len(steps)*l.vtcm.launch
}

// launchBands launches a group.
func (l *planner) launchBands(g group) error {
	steps := l.steps[g.from:g.to]
	inside, flow := map[*tensor]bool{}, 0
	for _, s := range steps {
		for _, t := range s.writes {
			if !inside[t] {
				inside[t] = true
				flow += t.bytes()
			}
		}
	}
	l.l2.hot, l.l2.flow = inside, flow
	defer func() { l.l2.hot, l.l2.flow = nil, 0 }()
	to := make([]*launcher, len(steps))
	works, done := make([]work, len(steps)), make([]int, len(steps))
	ends := make([]int, len(steps))
	for i, s := range steps {
		to[i] = l.launcher(s)
		var err error
		if works[i], err = to[i].begin(); err != nil {
			return failed(s, err)
		}
	}
	consts := len(l.consts)
	for band := range g.bands {
		for i := len(steps) - 1; i >= 0; i-- {
			w := steps[i].rows
			if ends[i] = w.count * (band + 1) / g.bands; i < len(steps)-1 && band < g.bands-1 {
				ends[i] = wanted(steps, ends, i)
			}
			if band == g.bands-1 {
				ends[i] = w.count
			}
		}
		before := map[*tensor]int{} // rows that earlier bands have made
		for i, s := range steps {
			for _, t := range s.writes {
				before[t] = done[i]
			}
		}
		for i, s := range steps {
			if done[i] >= ends[i] {
				continue
			}
			l.wantBand(s, done[i], ends[i], before)
			if err := works[i].Launch(to[i], rowRange{done[i], ends[i]}); err != nil {
				return failed(s, err)
			}
			done[i] = ends[i]
		}
	}
	l.l2.passGroup(steps, flow, len(l.consts)-consts)
	for _, s := range steps {
		for _, t := range s.writes {
			l.made[t] = len(l.jobs)
		}
	}
	return nil
}

// wantBand asks for what rows from to to-1 of a step read that is not there from
// this band: rows of inputs of the group, and those that earlier bands have made.
func (l *planner) wantBand(s *step, from, to int, before map[*tensor]int) {
	first, end := s.rows.starts(from), s.rows.needs(to)
	for _, t := range s.reads {
		if made, ok := before[t]; ok {
			l.requestRows(t, first, min(made, end))
		} else if s.rows.plain && l.Cold(t) {
			l.requestRows(t, first, end)
		}
	}
}

// wanted is how many rows of step i those behind it need to make the rows that
// are wanted of them.
func wanted(steps []*step, to []int, i int) int {
	n := 0
	for j := i + 1; j < len(steps); j++ {
		for _, t := range steps[i].writes {
			for _, list := range [2][]*tensor{steps[j].reads, steps[j].writes} {
				for _, x := range list {
					if x == t {
						n = max(n, steps[j].rows.needs(to[j]))
					}
				}
			}
		}
	}
	return max(min(n, steps[i].rows.count), 0)
}
