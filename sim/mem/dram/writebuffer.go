package dram

// writeBuffer holds the posted writes of a channel.
type writeBuffer struct {
	writes  []bufferedWrite // as many as there can be without allocation
	waiting int64           // bursts in it
	at      int64           // when the last was accepted
	size    int64           // bursts that it can hold
	idle    int64           // bursts that it holds back when the scheduler has nothing to do
	// filter has a bit set for each burst in the buffer: a byte for eight of them, which
	// others have too.
	filter [64]uint8
}

// bufferedWrite is n posted bursts that follow each other in a row.
type bufferedWrite struct {
	Request
	burst uint64 // the first
	n     int64
}

func newWriteBuffer(c *Config) writeBuffer {
	return writeBuffer{writes: make([]bufferedWrite, 0, c.WriteQueue), size: int64(c.WriteQueue), idle: int64(c.WriteIdle)}
}

func (b *writeBuffer) clear() {
	b.writes, b.waiting, b.at, b.filter = b.writes[:0], 0, longAgo, [64]uint8{}
}

// free is how many bursts the buffer can accept.
func (b *writeBuffer) free() int64 { return b.size - b.waiting }

// eight is where eight bursts are in the filter.
func eight(burst uint64) uint64 { return burst >> 3 * 0x9e3779b97f4a7c15 >> 58 }

// add puts n bursts in that were accepted at clock k.
func (b *writeBuffer) add(k int64, burst uint64, n int64, r *Request) {
	b.waiting += n
	b.at = k
	for first, behind := burst, burst+uint64(n); first < behind; {
		next := min(behind, first|7+1)
		b.filter[eight(first)&63] |= uint8(1<<((next-first)&15)-1) << (first & 7)
		first = next
	}
	i := len(b.writes)
	b.writes = b.writes[:i+1]
	w := &b.writes[i]
	w.Request, w.burst, w.n = *r, burst, n
}

// has reports whether the buffer holds a burst.
func (b *writeBuffer) has(burst uint64) bool {
	return b.filter[eight(burst)&63]>>(burst&7)&1 != 0 && b.find(burst)
}

func (b *writeBuffer) find(burst uint64) bool {
	for i := range b.writes {
		if w := &b.writes[i]; burst-w.burst < uint64(w.n) {
			return true
		}
	}
	return false
}
