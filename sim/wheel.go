package sim

import "math/bits"

// Event is what a Wheel delivers. Kind, Target and Arg belong to the poster.
type Event struct {
	At     Time
	Seq    uint64 // order of posting
	Arg    uint64
	Target int32
	Kind   int32
}

// The wheel has levels of 1024 slots; a slot of level 0 is 2^13 fs (8 ps), of
// level n 1024 times that of level n-1. Five levels span all of Time.
const (
	wheelShift  = 13
	wheelBits   = 10
	wheelSlots  = 1 << wheelBits
	wheelLevels = (63 - wheelShift + wheelBits - 1) / wheelBits
)

// Wheel is a queue of events in total order of (At, Seq). Posting and popping
// take constant time and, once the pool has grown to the largest number of
// pending events, do not allocate. The zero Wheel is empty at time 0.
type Wheel struct {
	now     Time
	seq     uint64
	pending int
	pool    []node
	free    int32 // head of the free list, 0 = none; the pool's entry 0 is unused
	level   [wheelLevels]wheelLevel
}

type wheelLevel struct {
	busy [wheelSlots / 64]uint64 // slots that hold events
	head [wheelSlots]int32
	tail [wheelSlots]int32
	min  [wheelSlots]Time // earliest event of a slot; not kept on level 0
}

type node struct {
	Event
	next int32
}

// Now is the time of the last event popped.
func (w *Wheel) Now() Time { return w.now }

// Len is the number of pending events.
func (w *Wheel) Len() int { return w.pending }

// Post adds an event. A time before Now counts as Now.
func (w *Wheel) Post(at Time, kind, target int32, arg uint64) {
	n := w.free
	if n == 0 {
		if len(w.pool) == 0 {
			w.pool = append(w.pool, node{})
		}
		n = int32(len(w.pool))
		w.pool = append(w.pool, node{})
	} else {
		w.free = w.pool[n].next
	}
	w.seq++
	w.pending++
	// Field by field: copying a whole node goes through the stack, and the wide
	// loads of the copy stall on the narrow stores before.
	p := &w.pool[n]
	p.At = max(at, w.now)
	p.Seq = w.seq
	p.Arg = arg
	p.Target = target
	p.Kind = kind
	p.next = 0
	w.insert(n, p)
}

// insert links a node into the slot of the finest level whose current turn
// reaches the node's time.
func (w *Wheel) insert(n int32, p *node) {
	at := uint64(p.At) >> wheelShift
	lv := &w.level[0]
	l := 0
	if diff := at ^ uint64(w.now)>>wheelShift; diff >= wheelSlots {
		l = (bits.Len64(diff) - 1) / wheelBits
		at >>= l * wheelBits
		lv = &w.level[l]
	}
	s := at & (wheelSlots - 1)
	word, bit := &lv.busy[s/64], uint64(1)<<(s%64)
	if *word&bit == 0 {
		*word |= bit
		lv.head[s], lv.tail[s] = n, n
		if l > 0 {
			lv.min[s] = p.At
		}
		return
	}
	t := &w.pool[lv.tail[s]]
	if l > 0 {
		// Coarse slots are sorted when they are spread over finer ones.
		lv.min[s] = min(lv.min[s], p.At)
		t.next = n
		lv.tail[s] = n
		return
	}
	if t.At < p.At || t.At == p.At && t.Seq < p.Seq {
		t.next = n
		lv.tail[s] = n
		return
	}
	if w.before(n, lv.head[s]) {
		p.next = lv.head[s]
		lv.head[s] = n
		return
	}
	q := lv.head[s]
	for w.before(w.pool[q].next, n) {
		q = w.pool[q].next
	}
	p.next = w.pool[q].next
	w.pool[q].next = n
}

func (w *Wheel) before(a, b int32) bool {
	x, y := &w.pool[a], &w.pool[b]
	return x.At < y.At || x.At == y.At && x.Seq < y.Seq
}

// Pop removes the first event and moves Now to it; ok is false when there is
// none.
func (w *Wheel) Pop() (e Event, ok bool) {
	if w.pending == 0 {
		return Event{}, false
	}
	lv := &w.level[0]
	s := w.first()
	n := lv.head[s]
	p := &w.pool[n]
	e.At, e.Seq, e.Arg, e.Target, e.Kind = p.At, p.Seq, p.Arg, p.Target, p.Kind
	if p.next == 0 {
		lv.busy[s/64] &^= 1 << (s % 64)
	} else {
		lv.head[s] = p.next
	}
	p.next = w.free
	w.free = n
	w.now = e.At
	w.pending--
	return e, true
}

// Next is the time of the first event, Never when there is none.
func (w *Wheel) Next() Time {
	if w.pending == 0 {
		return Never
	}
	if s, ok := w.level[0].next(w.slot(0)); ok {
		return w.pool[w.level[0].head[s]].At
	}
	// Nothing is moved here: events before the coarse slot may still be posted.
	for l := 1; ; l++ {
		if s, ok := w.level[l].next(w.slot(l)); ok {
			return w.level[l].min[s]
		}
	}
}

// slot is where Now lies on level l.
func (w *Wheel) slot(l int) uint64 {
	return uint64(w.now) >> (wheelShift + l*wheelBits) & (wheelSlots - 1)
}

// first is the level-0 slot of the first event; it spreads coarser slots until
// there is one. The wheel is not empty.
func (w *Wheel) first() uint64 {
	for {
		// Slots before Now's are empty: their events would lie in the past, or in
		// the next turn and so on a coarser level.
		if s, ok := w.level[0].next(w.slot(0)); ok {
			return s
		}
		for l := 1; l < wheelLevels; l++ {
			s, ok := w.level[l].next(w.slot(l))
			if !ok {
				continue
			}
			turn := uint64(w.now) >> (wheelShift + l*wheelBits)
			// Now may move to the slot's begin: nothing is pending before it.
			w.now = max(w.now, Time((turn&^(wheelSlots-1)|s)<<(wheelShift+l*wheelBits)))
			lv := &w.level[l]
			lv.busy[s/64] &^= 1 << (s % 64)
			for n := lv.head[s]; n != 0; {
				next := w.pool[n].next
				w.pool[n].next = 0
				w.insert(n, &w.pool[n])
				n = next
			}
			break
		}
	}
}

// next is the first busy slot at or after s.
func (l *wheelLevel) next(s uint64) (uint64, bool) {
	i := s / 64
	if b := l.busy[i] >> (s % 64); b != 0 {
		return s + uint64(bits.TrailingZeros64(b)), true
	}
	for i++; i < uint64(len(l.busy)); i++ {
		if l.busy[i] != 0 {
			return i*64 + uint64(bits.TrailingZeros64(l.busy[i])), true
		}
	}
	return 0, false
}

// Reset empties the wheel and returns to time 0. The pool is kept.
func (w *Wheel) Reset() {
	pool := w.pool
	*w = Wheel{}
	for i := len(pool) - 1; i > 0; i-- {
		pool[i].next = w.free
		w.free = int32(i)
	}
	w.pool = pool
}
