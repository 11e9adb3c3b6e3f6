package gpu

// runAhead is how many cycles a SIMD may be ahead of the others with
// instructions that none of them can notice. It bounds how late a wave that
// another SIMD starts meanwhile joins in. Dispatches beside each other notice also the lines of code that the others
// fetch: none is ahead.
const runAhead = 200

// packets is a queue: its dispatches in order.
type packets struct {
	id     int
	grids  []*grid
	placed int   // dispatches all of whose work-groups have started
	read   int   // packets that were processed
	free   int64 // when the next one may be
}

// front is the command processor: it reads the packets of the queues.
type front struct {
	launch int64 // cycles of a packet
	queues []packets
	turn   int   // queue whose work-group is next, if it has one
	due    int64 // when a dispatch may start that none of the compute units was offered
}

// enter is begun for a timed run: traffic until now belongs to the dispatch before.
func (m *machine) enter(g *grid) {
	if m.grid != g {
		m.noteTraffic()
		m.begun(g)
	}
}

// noteTraffic charges the dispatch with the traffic since the last call.
func (m *machine) noteTraffic() {
	now := m.h.traffic()
	m.moved.add(&now, &m.charged)
	m.charged = now
}

// attribute charges the stalls of a SIMD up to now to the dispatch whose waves it had, and further ones to g.
func (s *simd) attribute(g *grid) {
	share := &s.grid.shares[s.id]
	for why, n := range s.stalls {
		share[why] += n - s.mark[why]
	}
	s.mark, s.grid = s.stalls, g
	if s.profile != nil {
		s.profile = g.profiles[s.id]
	}
}

// submit puts the dispatches under way into their queues at a cycle. A packet occupies the processor of its queue for
// LaunchCycles; the next one begins after that or, with a barrier, when all before it have ended.
func (m *machine) submit(start int64) {
	m.front.queues = m.front.queues[:0]
	code := 0
	for _, g := range m.grids {
		g.half = int64(max(g.p.k.WaveSize/m.spec.Lanes, 1))
		g.ready, g.offered, g.end, g.waveCycles, g.moved = never, false, start, 0, traffic{}
		g.shares = resized(g.shares, len(m.simds))
		code += len(g.p.k.Code)
		if g.fetch == nil {
			g.fetch = make([][]int64, m.spec.Clusters)
		}
		for i := range g.fetch {
			lines := (len(g.p.k.Code) + m.spec.ICache.Line - 1) >> shiftOf(m.spec.ICache.Line)
			g.fetch[i] = resized(g.fetch[i], lines+1)
			g.fetch[i][lines] = 1 // nothing has to be fetched after the code
		}
		q := m.front.queueOf(g.d.Queue)
		q.free = start
		q.grids = append(q.grids, g)
	}
	if m.ahead = runAhead; len(m.grids) > 1 {
		m.ahead = 0
	}
	m.fetcher.begin(code)
	m.profile()
	m.front.turn, m.front.due = 0, never
	for i := range m.front.queues {
		m.front.process(&m.front.queues[i])
	}
}

// queueOf is a queue by its number, made when it is new.
func (f *front) queueOf(id int) *packets {
	for i := range f.queues {
		if f.queues[i].id == id {
			return &f.queues[i]
		}
	}
	n := len(f.queues)
	if n < cap(f.queues) {
		f.queues = f.queues[:n+1]
	} else {
		f.queues = append(f.queues, packets{})
	}
	q := &f.queues[n]
	*q = packets{id: id, grids: q.grids[:0]}
	return q
}

// process reads the packets of a queue up to one that waits for a barrier.
func (f *front) process(q *packets) {
	for ; q.read < len(q.grids); q.read++ {
		g := q.grids[q.read]
		if !g.d.Concurrent {
			for _, before := range q.grids[:q.read] {
				if before.next < before.total || before.running > 0 {
					return
				}
				q.free = max(q.free, before.end)
			}
		}
		q.free += f.launch
		if g.ready = q.free; q.placed == q.read {
			f.due = min(f.due, g.ready)
		}
	}
}

// offer offers dispatches that are due to the compute units: one work-group to each unit per round, until none has room
// for another.
func (m *machine) offer() {
	at := m.front.due
	m.front.due = never
	var next *grid
	for i := range m.front.queues {
		if g := m.front.queues[i].head(); g == nil || g.offered {
			continue
		} else if g.ready > at {
			m.front.due = min(m.front.due, g.ready)
		} else {
			g.offered = true
			next = g
		}
	}
	for placed := next != nil; placed; {
		placed = false
		for i := range m.cus {
			placed = m.place(&m.cus[m.placement(next, i)], at) || placed
		}
	}
}

// head is the dispatch of a queue whose work-groups start, nil: none that was read.
func (q *packets) head() *grid {
	if q.placed < q.read {
		return q.grids[q.placed]
	}
	return nil
}

// place starts on c at t the next work-group of the first queue, in round-robin order, whose work-group fits.
func (m *machine) place(c *cu, t int64) bool {
	for range m.front.queues {
		q := &m.front.queues[m.front.turn]
		if m.front.turn++; m.front.turn == len(m.front.queues) {
			m.front.turn = 0
		}
		g := q.head()
		if g == nil || !g.offered {
			continue
		}
		if m.enter(g); !m.fits(c) {
			continue
		}
		m.start(c, t)
		g.running++
		if g.next == g.total {
			q.placed++
			if next := q.head(); next != nil {
				next.ready = max(next.ready, t)
				m.front.due = min(m.front.due, next.ready)
			}
		}
		return true
	}
	return false
}

// retireGroup notes that a work-group of the dispatch has ended.
func (m *machine) retireGroup() {
	if m.running--; m.running == 0 && m.next == m.total {
		m.front.process(m.front.queueOf(m.d.Queue))
	}
}
