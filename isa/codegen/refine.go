package codegen

import (
	"slices"
	"sort"
)

// A schedule is refined by scheduling backward and forward: the instructions of each block are scheduled from its end,
// those that issued last before the others, and then from its beginning, in the resulting order. Instructions that
// issued late no longer delay those that others wait for. (Forward-backward improvement of project schedules, here with
// a guard on registers in both directions.)

// refineRounds is how often that is done, with refineSlack registers left free at first
// and then with more.
const refineRounds = 2

var refineSlack = [...]int{0, 2}

// refine returns the best code so obtained, which may be the given one.
func (f *Func) refine(best *Code, live *liveness, runs []int) *Code {
	last, from := best, 0
	for range refineRounds {
		var next *Code
		for ; from < len(refineSlack); from++ {
			s := f.newScheduler(live, attempt{slack: refineSlack[from], window: farAhead, by: guided})
			if next = s.run(s.reverseOrder(last.cycles)); f.allocate(next, live) == nil {
				break
			}
		}
		if from == len(refineSlack) {
			break
		}
		if last = next; next.cost(runs) < best.cost(runs) {
			best = next
		}
	}
	return best
}

// reverseOrder returns the order of the instructions of each block in a schedule from its end.
func (s *scheduler) reverseOrder(cycles [][]int32) [][]int32 {
	ranks := make([][]int32, len(cycles))
	b := &backward{s: s}
	for i := range cycles {
		if s.d = &s.l.graphs[i]; len(s.d.ins) > 0 {
			ranks[i] = b.block(int32(i), cycles[i])
		}
	}
	return ranks
}

// backward is a list scheduler that begins at the end of a block. Cycles count back
// from there.
type backward struct {
	s       *scheduler
	after   []int32 // of each instruction: successors not scheduled yet
	head    []int32 // first edge to a predecessor, -1 none
	edges   []edge
	soonest []int32 // first cycle in which an instruction may issue
	cycles  []int32 // of another schedule, from the beginning
	ready   []int32 // all successors scheduled; those with the highest cycles first
}

// block returns the ranks of a block's instructions: the last one to be scheduled has the lowest.
func (b *backward) block(bi int32, cycles []int32) []int32 {
	s := b.s
	n := len(s.d.ins)
	b.soonest, b.cycles, b.ready = resize(b.soonest, n, 0), cycles, b.ready[:0]
	b.reverse()
	for i, k := range b.after {
		if k == 0 {
			b.push(int32(i))
		}
	}
	s.live = [MaxFiles]int32{}
	clear(s.alive)
	s.l.out[bi].each(func(c int32) {
		s.alive[c] = true
		s.live[s.l.file[c]]++
	})
	s.refused = resize(s.refused, n, -1)
	ranks := make([]int32, n)
	done := 0
	for cycle := int32(0); done < n; cycle++ {
		s.group.Reset()
		s.groups++
		for empty := true; ; empty = false {
			k := b.pick(cycle, empty)
			if k < 0 {
				break
			}
			i := b.ready[k]
			b.ready = slices.Delete(b.ready, k, k+1)
			done++
			ranks[i] = -cycle
			b.place(i)
			for e := b.head[i]; e >= 0; e = b.edges[e].next {
				to := b.edges[e].to
				b.soonest[to] = max(b.soonest[to], cycle+b.edges[e].lat)
				if b.after[to]--; b.after[to] == 0 {
					b.push(to)
				}
			}
		}
	}
	return ranks
}

// reverse reverses the edges of the block's graph.
func (b *backward) reverse() {
	d := b.s.d
	n := len(d.ins)
	b.after, b.head, b.edges = resize(b.after, n, 0), resize(b.head, n, -1), b.edges[:0]
	for i := range int32(n) {
		for e := d.head[i]; e >= 0; e = d.edges[e].next {
			to := d.edges[e].to
			b.edges = append(b.edges, edge{to: i, next: b.head[to], lat: d.edges[e].lat})
			b.head[to] = int32(len(b.edges) - 1)
			b.after[i]++
		}
	}
}

func (b *backward) push(i int32) {
	k := sort.Search(len(b.ready), func(k int) bool {
		o := b.ready[k]
		return b.cycles[o] < b.cycles[i] || b.cycles[o] == b.cycles[i] && o < i
	})
	b.ready = slices.Insert(b.ready, k, i)
}

// pick finds the first instruction that joins the group: an index into ready, -1 when
// there is none. Of those that all raise the pressure one may begin a group.
func (b *backward) pick(cycle int32, empty bool) int {
	first := -1
	for k, i := range b.ready {
		switch {
		case b.soonest[i] > cycle:
		case b.raises(i):
			if first < 0 {
				first = k
			}
		case b.s.joins(i):
			return k
		}
	}
	if empty && first >= 0 && b.s.joins(b.ready[first]) {
		return first
	}
	return -1
}

// raises reports whether issuing i would push a file over its limit.
func (b *backward) raises(i int32) bool {
	s := b.s
	var delta [MaxFiles]int32
	for _, t := range s.l.touches(s.d.ins[i]) {
		switch {
		case t.role&Use != 0 && !s.alive[t.cell]:
			delta[t.file]++
		case t.role&Use == 0 && s.alive[t.cell]:
			delta[t.file]--
		}
	}
	for f, d := range delta {
		if d > 0 && s.most[f] > 0 && s.live[f]+d > s.most[f] {
			return true
		}
	}
	return false
}

// place accounts for the registers of an issued instruction: its results are not live before it, its operands are.
func (b *backward) place(i int32) {
	s := b.s
	touches := s.l.touches(s.d.ins[i])
	for _, t := range touches {
		if t.role&Use == 0 && s.alive[t.cell] {
			s.alive[t.cell] = false
			s.live[t.file]--
		}
	}
	for _, t := range touches {
		if t.role&Use != 0 && !s.alive[t.cell] {
			s.alive[t.cell] = true
			s.live[t.file]++
		}
	}
}
