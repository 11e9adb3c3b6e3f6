package codegen

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"sort"
)

// scheduler packs the instructions of each block into groups.
type scheduler struct {
	f     *Func
	l     *liveness
	d     *dag // of the block under way
	group Group

	preds         []int32 // of each instruction: predecessors not scheduled yet
	earliest      []int32 // first cycle in which an instruction may issue
	ready         []int32 // all predecessors scheduled and operands there; by priority
	pending       []int32 // all predecessors scheduled, operands not there yet
	limit         limit
	spent         int   // least cost of all blocks, given those scheduled so far
	window        int32 // how far ahead of the oldest one an instruction may issue
	issued        []bool
	by            priority
	ranks         []ranked
	underPressure bool    // an instruction had to wait for a register
	refused       []int32 // number of the group that an instruction did not fit, see joins
	groups        int32
	rank          []int32   // guided: of each instruction of the block
	cycles        [][]int32 // in which the instructions of each block issue, for guides

	// Pressure: units live now per file, and the remaining uses of each cell.
	live  [MaxFiles]int32
	most  [MaxFiles]int32 // units that may live
	full  uint8           // a bit for each file that one more instruction could push over its limit
	units [MaxFiles]int32 // of each file, see fileUnits
	alive []bool
	left  []int32
}

// schedule is the code of an attempt, nil when it reaches a limit.
func (f *Func) schedule(l *liveness, t attempt, until limit) *Code {
	s := f.newScheduler(l, t)
	s.limit = until
	return s.run(nil)
}

// newScheduler is the scheduler of a function, set up for an attempt; there is one at a time.
func (f *Func) newScheduler(l *liveness, t attempt) *scheduler {
	s := f.scheduler
	if s == nil {
		s = &scheduler{f: f, l: l, group: f.target.NewGroup(), alive: make([]bool, l.n), left: make([]int32, l.n), units: f.fileUnits()}
		f.scheduler = s
	}
	s.window, s.by, s.most, s.underPressure, s.rank, s.cycles, s.limit = int32(t.window), t.by, s.units, false, nil, nil, limit{}
	for i := range s.most {
		if s.most[i] >= 16 {
			s.most[i] -= int32(t.slack)
		}
	}
	if f.refined {
		storage := make([]int32, f.nInstr)
		for i := range f.blocks {
			k := len(f.blocks[i].instrs)
			s.cycles = append(s.cycles, storage[:k:k])
			storage = storage[k:]
		}
	}
	return s
}

// run schedules all blocks; ranks order their instructions where they guide.
func (s *scheduler) run(ranks [][]int32) *Code {
	f, l := s.f, s.l
	code := &Code{Name: f.Name, labels: f.labels, Blocks: make([]int32, 0, len(f.blocks)), waits: make([]int32, 0, len(f.blocks)),
		Groups: make([]CodeGroup, 0, f.groups), instrs: make([]*Instr, 0, f.nInstr)}
	defer func() { f.groups = max(f.groups, len(code.Groups)) }()
	s.spent = 0
	for i, n := range s.limit.runs {
		s.spent += n * int(l.graphs[i].longest)
	}
	for i := range f.blocks {
		b := &f.blocks[i]
		code.Blocks = append(code.Blocks, int32(len(code.Groups)))
		code.waits = append(code.waits, 0)
		if len(b.instrs) > 0 {
			s.d = &l.graphs[i]
			if ranks != nil {
				s.rank = ranks[i]
			}
			if !s.block(code, int32(i)) {
				return nil
			}
		}
		var end uint8
		for n, loop := range b.loops {
			if loop.head >= 0 {
				end |= 1 << n
			}
		}
		if end != 0 {
			if int(code.Blocks[i]) == len(code.Groups) {
				code.Groups = append(code.Groups, CodeGroup{Block: int32(i)})
			}
			code.Groups[len(code.Groups)-1].EndLoop = end
		}
	}
	code.underPressure, code.cycles = s.underPressure, s.cycles
	return code
}

// fileUnits counts the units of each file available to the allocator.
func (f *Func) fileUnits() [MaxFiles]int32 {
	var n [MaxFiles]int32
	seen := map[int]bool{}
	for i := range f.classes {
		c := &f.classes[i]
		for _, base := range c.Alloc {
			for u := int(base); u < int(base)+c.Width; u++ {
				if lim := f.limits[c.File]; lim > 0 && u >= lim {
					continue
				}
				if k := int(c.File)<<16 | u; !seen[k] {
					seen[k] = true
					n[c.File]++
				}
			}
		}
	}
	return n
}

// block schedules a block; it reports whether it did without reaching the limit.
func (s *scheduler) block(code *Code, bi int32) bool {
	n := int32(len(s.d.ins))
	s.earliest = resize(s.earliest, int(n), 0)
	s.ready, s.pending = s.ready[:0], s.pending[:0]
	s.preds = append(s.preds[:0], s.d.preds...)
	for i := n - 1; i >= 0; i-- {
		if s.preds[i] == 0 {
			s.push(i)
		}
	}
	s.startPressure(bi)
	s.refused = resize(s.refused, int(n), -1)
	s.issued = resizeBool(s.issued, int(n))
	code.Groups = slices.Grow(code.Groups, int(n)/4)
	most := s.mostCycles(bi)
	var next int32 // oldest instruction left
	done := int32(0)
	begin := len(code.Groups)
	last := int32(-1) // cycle of the last group
	for cycle := int32(0); done < n; cycle++ {
		s.arrive(cycle)
		s.group.Reset()
		s.groups++
		first := len(code.Groups)
		count := 0
		force := false
		for {
			pick := s.pick(next, force)
			if s.underPressure && s.limit.uncrowded {
				return false
			}
			if pick < 0 {
				if count == 0 && !force && len(s.pending) == 0 {
					force = true // every ready instruction would raise the pressure
					continue
				}
				break
			}
			force = false
			i := s.ready[pick]
			if cycle+s.d.height[i] >= most {
				return false
			}
			s.ready = append(s.ready[:pick], s.ready[pick+1:]...)
			if count == 0 {
				code.Groups = append(code.Groups, CodeGroup{Block: bi})
			}
			code.instrs = append(code.instrs, s.d.ins[i])
			count++
			at := len(code.instrs)
			code.Groups[first].Instrs = code.instrs[at-count : at : at]
			done++
			s.issued[i] = true
			for next < n && s.issued[next] {
				next++
			}
			last = cycle
			if s.cycles != nil {
				s.cycles[bi][i] = cycle
			}
			s.place(i)
			s.release(i, cycle)
		}
		if count == 0 && len(s.pending) > 0 {
			cycle = s.arrival() - 1 // nothing issues until then
		}
	}
	code.waits[bi] = last + 1 - int32(len(code.Groups)-begin)
	if s.limit.runs != nil {
		s.spent += s.limit.runs[bi] * int(last+1-s.d.longest)
	}
	return true
}

// release makes those pending or ready that waited for instruction i alone, which has issued.
func (s *scheduler) release(i, cycle int32) {
	for e := s.d.head[i]; e >= 0; e = s.d.edges[e].next {
		to := s.d.edges[e].to
		s.earliest[to] = max(s.earliest[to], cycle+s.d.edges[e].lat)
		if s.preds[to]--; s.preds[to] > 0 {
			continue
		}
		if s.earliest[to] > cycle {
			s.pending = append(s.pending, to)
		} else {
			s.push(to)
		}
	}
}

// mostCycles is how many cycles a block may have before the limit is reached, when the blocks after it have as few as
// possible.
func (s *scheduler) mostCycles(bi int32) int32 {
	switch {
	case s.limit.runs == nil:
		return math.MaxInt32
	case s.spent > s.limit.cost:
		return 0
	}
	return int32(min(math.MaxInt32, (s.limit.cost-s.spent)/s.limit.runs[bi]+int(s.d.longest)))
}

// arrive moves the instructions whose operands are there in a cycle to the ready list.
func (s *scheduler) arrive(cycle int32) {
	kept := s.pending[:0]
	for _, i := range s.pending {
		if s.earliest[i] <= cycle {
			s.push(i)
		} else {
			kept = append(kept, i)
		}
	}
	s.pending = kept
}

// arrival is the earliest cycle in which a pending instruction has its operands.
func (s *scheduler) arrival() int32 {
	w := s.earliest[s.pending[0]]
	for _, i := range s.pending[1:] {
		w = min(w, s.earliest[i])
	}
	return w
}

// push inserts i into the ready list: longest path first, then source order; source
// order alone; or by rank.
func (s *scheduler) push(i int32) {
	h := s.d.height[i]
	p := sort.Search(len(s.ready), func(k int) bool {
		o := s.ready[k]
		switch s.by {
		case asWritten:
			return o > i
		case guided:
			return s.rank[o] > s.rank[i] || s.rank[o] == s.rank[i] && o > i
		}
		return s.d.height[o] < h || s.d.height[o] == h && o > i
	})
	s.ready = append(s.ready, 0)
	copy(s.ready[p+1:], s.ready[p:])
	s.ready[p] = i
}

// pick finds the best instruction that joins the group: an index into ready,
// -1 when there is none. With force the pressure guard is off and the first
// in source order, or by rank, wins.
func (s *scheduler) pick(next int32, force bool) int {
	s.full = 0
	for f, n := range s.most {
		if n > 0 && s.live[f]+int32(s.l.widest) > n {
			s.full |= 1 << f
		}
	}
	if s.by == thrifty && !force && s.tight() {
		s.underPressure = true
		return s.pickThrifty(next)
	}
	best := -1
search:
	for k, i := range s.ready {
		switch {
		case i-next >= s.window:
			if s.by == asWritten {
				break search
			}
		case s.refused[i] == s.groups && s.underPressure: // raises would change nothing
		case s.window == 1:
			if s.joins(i) {
				return k
			}
		case force:
			if best < 0 || s.by != guided && i < s.ready[best] {
				best = k
			}
		case s.raises(i):
			s.underPressure = true
		case s.joins(i):
			return k
		}
	}
	if best >= 0 && s.joins(s.ready[best]) {
		return best
	}
	return -1
}

// joins adds instruction i to the group when it fits. What did not fit before the
// group grew does not fit now.
func (s *scheduler) joins(i int32) bool {
	if s.refused[i] == s.groups {
		return false
	}
	if s.group.TryAdd(s.d.ins[i]) {
		return true
	}
	s.refused[i] = s.groups
	return false
}

// tightUnits is how few free units make a file tight.
const tightUnits = 10

// tight reports whether a file has few units left.
func (s *scheduler) tight() bool {
	for f, n := range s.most {
		if n >= 16 && s.live[f]+tightUnits >= n {
			return true
		}
	}
	return false
}

// pickThrifty picks the instruction that frees most units, or allocates fewest, and of equals the first in source
// order.
func (s *scheduler) pickThrifty(next int32) int {
	s.ranks = s.ranks[:0]
	for k, i := range s.ready {
		if i-next < s.window && !s.raises(i) {
			s.ranks = append(s.ranks, ranked{k, s.change(i), i})
		}
	}
	slices.SortFunc(s.ranks, func(a, b ranked) int { return cmp.Or(cmp.Compare(a.change, b.change), cmp.Compare(a.i, b.i)) })
	for _, r := range s.ranks {
		if s.joins(r.i) {
			return r.k
		}
	}
	return -1
}

// ranked is a candidate of pickThrifty.
type ranked struct {
	k, change int
	i         int32
}

func (s *scheduler) startPressure(bi int32) {
	s.live = [MaxFiles]int32{}
	clear(s.left)
	clear(s.alive)
	s.l.in[bi].each(func(c int32) {
		s.alive[c] = true
		s.live[s.l.file[c]]++
	})
	s.l.out[bi].each(func(c int32) { s.left[c] = 1 })
	for _, in := range s.d.ins {
		for _, t := range s.l.touches(in) {
			if t.role&Use != 0 {
				s.left[t.cell]++
			}
		}
	}
}

// change is how many units issuing i allocates, less those that it frees.
func (s *scheduler) change(i int32) int {
	n := 0
	for _, t := range s.l.touches(s.d.ins[i]) {
		n += int(s.delta(t))
	}
	return n
}

// delta is 1 when a touch begins the life of a cell, -1 when it ends it, else 0.
func (s *scheduler) delta(t touch) int32 {
	if t.role&Def != 0 && !s.alive[t.cell] {
		return 1
	} else if t.role == Use && s.left[t.cell] == 1 {
		return -1
	}
	return 0
}

// raises reports whether issuing i would push a file over its limit.
func (s *scheduler) raises(i int32) bool {
	in := s.d.ins[i]
	for full := s.l.writes[in.seq] & s.full; full != 0; full &= full - 1 {
		f := uint8(bits.TrailingZeros8(full))
		d := int32(0)
		for _, t := range s.l.touches(in) {
			if t.file == f {
				d += s.delta(t)
			}
		}
		if d > 0 && s.live[f]+d > s.most[f] {
			return true
		}
	}
	return false
}

// place accounts for the registers of an issued instruction.
func (s *scheduler) place(i int32) {
	touches := s.l.touches(s.d.ins[i])
	for _, t := range touches {
		if t.role&Use == 0 {
			continue
		}
		s.left[t.cell]--
		if s.left[t.cell] == 0 && s.alive[t.cell] && t.role&Def == 0 {
			s.alive[t.cell] = false
			s.live[t.file]--
		}
	}
	for _, t := range touches {
		if t.role&Def == 0 {
			continue
		}
		switch {
		case s.left[t.cell] > 0 && !s.alive[t.cell]:
			s.alive[t.cell] = true
			s.live[t.file]++
		case s.left[t.cell] == 0 && s.alive[t.cell]:
			s.alive[t.cell] = false
			s.live[t.file]--
		}
	}
}
