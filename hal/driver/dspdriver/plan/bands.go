package plan

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/cost"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
	"github.com/nnsoc/nnsoc/internal/try"
)

// Steps whose tensors do not fit in L2 together run in bands: some rows of the
// first, the rows of the second that can be made from them, and so on to the last
// step, then the next rows of the first. What a step writes is read while it is
// in L2. Every band is a job of its own.

// group are steps that run in bands.
type group struct{ from, to, bands int }

// maxBands bounds the bands of a group.
const maxBands = 16

// groups finds the steps that are to run in bands.
func (l *planner) groups() (list []group) {
	l2 := l.l2.size
	end := 0 // of the last group
	for i := 0; i < len(l.steps); i++ {
		if i < end || l.maker(i) != i || !l.overflows(i, l2*7/8) {
			continue
		}
		g := group{from: i, to: i + 1}
		for g.from > end && l.reads(g.from).Bytes() >= l2/8 {
			before := l.maker(g.from - 1)
			if before < end || l.reader(before) != g.from {
				break
			}
			g.from = before
		}
		for next := l.reader(g.to - 1); next > 0; next = l.reader(g.to - 1) {
			if !l.overflows(g.to-1, l2*7/8) && l.consumed(&g, next) < l2/8 {
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

// consumed is the number of bytes of a group's results that step i reads.
func (l *planner) consumed(g *group, i int) (bytes int) {
	for _, s := range l.steps[g.from:g.to] {
		if s.Halo {
			continue
		}
		for _, t := range s.Writes {
			if slices.Contains(l.steps[i].Reads, t) {
				bytes += t.Bytes()
			}
		}
	}
	return bytes
}

// reads is the first input of a step.
func (l *planner) reads(i int) *layout.Tensor { return l.steps[i].Reads[0] }

// maker is the step at i or, when that is a halo, the one that makes its tensor.
func (l *planner) maker(i int) int {
	for i > 0 && l.steps[i].Rows != nil && l.steps[i].Halo {
		i--
	}
	return i
}

// reader is the step behind i that reads what i makes, when both can be done row
// by row; 0 when there is none.
func (l *planner) reader(i int) int {
	i = l.maker(i)
	if l.steps[i].Rows == nil || len(l.steps[i].Writes) == 0 {
		return 0
	}
	out := l.steps[i].Writes[0]
	for j := i + 1; j < len(l.steps) && l.steps[j].Rows != nil; j++ {
		if l.steps[j].Halo {
			continue
		}
		if slices.Contains(l.steps[j].Reads, out) {
			return j
		}
		return 0
	}
	return 0
}

// overflows reports whether what step i makes has left a cache when its reader
// comes to it.
func (l *planner) overflows(i, cache int) bool {
	j := l.reader(i)
	return j > 0 && l.steps[l.maker(i)].Writes[0].Bytes()+l.steps[j].Writes[0].Bytes() > cache
}

// divide chooses the bands of a group by the estimated cycles of its jobs and of the bytes that leave
// L2 and are read back. More bands cost more launches; with fewer, more of the written data goes to
// DRAM. It reports whether there are several.
func (l *planner) divide(g *group, cache int) bool {
	steps := l.steps[g.from:g.to]
	works := make([][]*cost.Job, len(steps))
	bytes := make([]int, len(steps)) // that each step reads and writes
	for i, s := range steps {
		works[i] = try.V(l.launcher(s).Trial((*step.Launcher).Begin))
		for _, list := range [2][]*layout.Tensor{s.Reads, s.Writes} {
			for _, t := range list {
				bytes[i] += t.Bytes()
			}
		}
	}
	g.bands = 1
	least := l.bandCycles(steps, works, bytes, 1, cache)
	for n := 2; n <= min(steps[len(steps)-1].Rows.Count, maxBands); n++ {
		if c := l.bandCycles(steps, works, bytes, n, cache); c < least {
			g.bands, least = n, c
		}
	}
	return g.bands > 1
}

// bandCycles estimates the cycles of steps in so many bands.
func (l *planner) bandCycles(steps []*step.Step, works [][]*cost.Job, bytes []int, bands, cache int) (cycles int) {
	var jobs []*cost.Job
	left := map[*layout.Tensor]int{} // bytes that have left L2, per band
	for i, s := range steps {
		for k, whole := range works[i] {
			j := &cost.Job{Threads: whole.Threads, Slots: whole.Slots / bands, Lines: whole.Lines / bands}
			if k == 0 {
				for _, t := range s.Reads {
					j.Streamed += left[t]
				}
			}
			if k == len(works[i])-1 && bytes[i] > bands*cache {
				j.Ahead = s.Writes[0].Bytes() / bands
				left[s.Writes[0]] = j.Ahead
			}
			jobs = append(jobs, j)
		}
	}
	cost.Estimate(&l.Machine, jobs)
	for _, j := range jobs {
		cycles += j.Cycles
	}
	return bands * cycles
}

// launchBands launches a group.
func (l *planner) launchBands(g group) {
	steps := l.steps[g.from:g.to]
	inside, flow := map[*layout.Tensor]bool{}, 0
	for _, s := range steps {
		for _, t := range s.Writes {
			if !inside[t] {
				inside[t] = true
				flow += t.Bytes()
			}
		}
	}
	l.l2.hot, l.l2.flow = inside, flow
	defer func() { l.l2.hot, l.l2.flow = nil, 0 }()
	to := make([]*step.Launcher, len(steps))
	works, done := make([]step.Work, len(steps)), make([]int, len(steps))
	ends := make([]int, len(steps))
	for i, s := range steps {
		to[i] = l.launcher(s)
		works[i] = to[i].Begin()
	}
	consts := len(l.Consts)
	for band := range g.bands {
		for i := len(steps) - 1; i >= 0; i-- {
			w := steps[i].Rows
			if ends[i] = w.Count * (band + 1) / g.bands; i < len(steps)-1 && band < g.bands-1 {
				ends[i] = rowsNeeded(steps, ends, i)
			}
			if band == g.bands-1 {
				ends[i] = w.Count
			}
		}
		before := map[*layout.Tensor]int{} // rows that earlier bands have made
		for i, s := range steps {
			for _, t := range s.Writes {
				before[t] = done[i]
			}
		}
		for i, s := range steps {
			if done[i] >= ends[i] {
				continue
			}
			cold, first := l.requestBand(s, done[i], ends[i], before), len(l.jobs)
			works[i].Launch(to[i], step.Rows{From: done[i], To: ends[i]})
			if j := l.readerFrom(first); j != nil {
				l.chargeReads(j, cold)
			}
			done[i] = ends[i]
		}
	}
	l.l2.passGroup(steps, flow, len(l.Consts)-consts)
	for _, s := range steps {
		for _, t := range s.Writes {
			l.made[t] = len(l.jobs)
		}
	}
}

// requestBand requests what rows from to to-1 of a step read that is not there from
// this band: rows of inputs of the group, and those that earlier bands have made. It returns
// the bytes of the other rows that come from DRAM.
func (l *planner) requestBand(s *step.Step, from, to int, before map[*layout.Tensor]int) (cold int) {
	first, end := s.Rows.Starts(from), s.Rows.Needs(to)
	for _, t := range s.Reads {
		if made, ok := before[t]; ok {
			l.requestRows(t, first, min(made, end))
		} else if s.Rows.Plain && l.Cold(t) {
			l.requestRows(t, first, end)
		} else if l.Cold(t) {
			cold += max(min(end, t.Shape.H)-max(first, 0), 0) * t.RowBytes()
		}
	}
	return cold
}

// rowsNeeded is how many rows of step i those behind it need to make the rows that
// are needed of them.
func rowsNeeded(steps []*step.Step, to []int, i int) int {
	n := 0
	for j := i + 1; j < len(steps); j++ {
		for _, t := range steps[i].Writes {
			for _, list := range [2][]*layout.Tensor{steps[j].Reads, steps[j].Writes} {
				for _, x := range list {
					if x == t {
						n = max(n, steps[j].Rows.Needs(to[j]))
					}
				}
			}
		}
	}
	return max(min(n, steps[i].Rows.Count), 0)
}
