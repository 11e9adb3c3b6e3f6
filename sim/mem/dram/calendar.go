package dram

import "math/bits"

// calendarWords bounds how far ahead a channel plans: 64 clocks per word.
const calendarWords = 512

// calendar marks the clocks that planned commands of one kind occupy: a ring of
// bits, one per clock, of the last calendarWords words up to top.
type calendar struct {
	words [calendarWords]uint64
	top   int64 // the newest word in use
}

func (c *calendar) clear() { *c = calendar{} }

// oldest is the first clock the ring still has.
func (c *calendar) oldest() int64 { return (c.top - calendarWords + 1) << 6 }

func (c *calendar) word(w int64) uint64 {
	if w > c.top {
		return 0
	}
	return c.words[w&(calendarWords-1)]
}

// from is the bits of the 64 clocks from x on.
func (c *calendar) from(x int64) uint64 {
	s := uint(x) & 63
	return c.word(x>>6)>>s | c.word(x>>6+1)<<(64-s)
}

// mark occupies n clocks from x on.
func (c *calendar) mark(x, n int64) {
	for n > 0 {
		w, s := x>>6, uint(x)&63
		c.reach(w)
		k := min(n, 64-int64(s))
		c.words[w&(calendarWords-1)] |= (^uint64(0) >> (64 - uint(k))) << s
		x, n = x+k, n-k
	}
}

// unmark frees n clocks from x on.
func (c *calendar) unmark(x, n int64) {
	for n > 0 {
		w, s := x>>6, uint(x)&63
		k := min(n, 64-int64(s))
		if w <= c.top && w > c.top-calendarWords {
			c.words[w&(calendarWords-1)] &^= (^uint64(0) >> (64 - uint(k))) << s
		}
		x, n = x+k, n-k
	}
}

// reach makes a word the newest that is in use, if none is newer.
func (c *calendar) reach(w int64) {
	if w <= c.top {
		return
	}
	if w-c.top >= calendarWords {
		clear(c.words[:])
	} else if from, to := (c.top+1)&(calendarWords-1), w&(calendarWords-1); from <= to {
		clear(c.words[from : to+1])
	} else {
		clear(c.words[from:])
		clear(c.words[:to+1])
	}
	c.top = w
}

// free is the first free clock from x on.
func (c *calendar) free(x int64) int64 {
	for x>>6 <= c.top {
		n := bits.TrailingZeros64(^c.from(x))
		x += int64(n)
		if n < 64 {
			break
		}
	}
	return x
}

// next is the first occupied clock from x on, never without one.
func (c *calendar) next(x int64) int64 {
	x = max(x, c.oldest())
	for x>>6 <= c.top {
		if w := c.word(x>>6) >> (uint(x) & 63); w != 0 {
			return x + int64(bits.TrailingZeros64(w))
		}
		x = x&^63 + 64
	}
	return never
}

// last is the last occupied clock in [a, b]; ok is false when all are free.
func (c *calendar) last(a, b int64) (x int64, ok bool) {
	b = min(b, c.top<<6|63)
	for b >= a {
		w := c.words[b>>6&(calendarWords-1)] << (63 - uint(b)&63)
		if w != 0 {
			b -= int64(bits.LeadingZeros64(w))
			return b, b >= a
		}
		b = b&^63 - 1
	}
	return 0, false
}
