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

// A turn of the wheel has 4096 slots of 2^12 fs (4 ps): 17 ns, more than any
// engine's clock period. What lies further ahead waits in a heap.
const (
	wheelShift = 12
	wheelSlots = 1 << 12
	wheelMask  = wheelSlots - 1
)

// Wheel is a queue of events in total order of (At, Seq). Near events are
// posted and popped in constant time, far ones in the logarithm of their
// number; once the pool has grown to the largest number of pending events
// nothing allocates. The zero Wheel is empty at time 0.
type Wheel struct {
	now   Time
	seq   uint64
	near  int // events in slots
	pool  []node
	free  int32             // head of the free list, 0 = none; the pool's entry 0 is unused
	far   []int32           // heap of the others
	words uint64            // words of busy that are not 0
	busy  [64]uint64        // slots that hold events
	tail  [wheelSlots]int32 // last event of a slot; its next is the first
}

type node struct {
	Event
	next int32
}

// Now is the time of the last event popped.
func (w *Wheel) Now() Time { return w.now }

// Len is the number of pending events.
func (w *Wheel) Len() int { return w.near + len(w.far) }

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
	// Field by field: copying a whole node goes through the stack, and the wide
	// loads of the copy stall on the narrow stores before.
	p := &w.pool[n]
	at = max(at, w.now)
	p.At = at
	p.Seq = w.seq
	p.Arg = arg
	p.Target = target
	p.Kind = kind
	p.next = n

	slot := uint64(at) >> wheelShift
	if slot-uint64(w.now)>>wheelShift >= wheelSlots {
		w.push(n)
		return
	}
	w.near++
	s := slot & wheelMask
	word, bit := &w.busy[s/64], uint64(1)<<(s%64)
	if *word&bit == 0 {
		*word |= bit
		w.words |= 1 << (s / 64)
		w.tail[s] = n
		return
	}
	w.link(s, n, p)
}

// link puts a node in its place among the others of its slot, most often last.
func (w *Wheel) link(s uint64, n int32, p *node) {
	t := &w.pool[w.tail[s]]
	if t.At <= p.At { // of equal times the later posted is the later
		p.next = t.next
		t.next = n
		w.tail[s] = n
		return
	}
	q := t
	for w.pool[q.next].At <= p.At {
		q = &w.pool[q.next]
	}
	p.next = q.next
	q.next = n
}

// Pop removes the first event and moves Now to it; ok is false when there is
// none.
func (w *Wheel) Pop() (e Event, ok bool) {
	var n int32
	if w.near > 0 {
		s := w.first()
		t := w.tail[s]
		n = w.pool[t].next
		if len(w.far) > 0 && w.before(w.far[0], n) {
			n = w.pop()
		} else {
			w.near--
			if t == n {
				if w.busy[s/64] &^= 1 << (s % 64); w.busy[s/64] == 0 {
					w.words &^= 1 << (s / 64)
				}
			} else {
				w.pool[t].next = w.pool[n].next
			}
		}
	} else if len(w.far) > 0 {
		n = w.pop()
	} else {
		return Event{}, false
	}
	p := &w.pool[n]
	e.At, e.Seq, e.Arg, e.Target, e.Kind = p.At, p.Seq, p.Arg, p.Target, p.Kind
	p.next = w.free
	w.free = n
	w.now = p.At
	return e, true
}

// Next is the time of the first event, Never when there is none.
func (w *Wheel) Next() Time {
	t := Never
	if w.near > 0 {
		t = w.pool[w.pool[w.tail[w.first()]].next].At
	}
	if len(w.far) > 0 {
		t = min(t, w.pool[w.far[0]].At)
	}
	return t
}

// first is the slot of the first near event: the first busy one from Now's on,
// around the turn. There is one.
func (w *Wheel) first() uint64 {
	s := uint64(w.now) >> wheelShift & wheelMask
	i := s / 64
	b := w.busy[i] >> (s % 64) << (s % 64)
	if b == 0 {
		next := i + 1
		i = (next + uint64(bits.TrailingZeros64(bits.RotateLeft64(w.words, -int(next))))) % 64
		b = w.busy[i]
	}
	return (i*64 + uint64(bits.TrailingZeros64(b))) & wheelMask
}

func (w *Wheel) before(a, b int32) bool {
	x, y := &w.pool[a], &w.pool[b]
	return x.At < y.At || x.At == y.At && x.Seq < y.Seq
}

// push and pop keep far a heap with four children per node.
func (w *Wheel) push(n int32) {
	w.far = append(w.far, n)
	i := len(w.far) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !w.before(n, w.far[up]) {
			break
		}
		w.far[i] = w.far[up]
		i = up
	}
	w.far[i] = n
}

func (w *Wheel) pop() int32 {
	top := w.far[0]
	last := len(w.far) - 1
	n := w.far[last]
	w.far = w.far[:last]
	i := 0
	for {
		c := 4*i + 1
		if c >= last {
			break
		}
		for k := c + 1; k < min(c+4, last); k++ {
			if w.before(w.far[k], w.far[c]) {
				c = k
			}
		}
		if !w.before(w.far[c], n) {
			break
		}
		w.far[i] = w.far[c]
		i = c
	}
	if last > 0 {
		w.far[i] = n
	}
	return top
}

// Reset empties the wheel and returns to time 0. The pool is kept.
func (w *Wheel) Reset() {
	pool, far := w.pool, w.far[:0]
	*w = Wheel{pool: pool, far: far}
	for i := len(pool) - 1; i > 0; i-- {
		pool[i].next = w.free
		w.free = int32(i)
	}
}
