// Package undo keeps the bytes that the waves of a dispatch overwrite, so that they can be restored, and detects
// whether the results of the waves could depend on their order.
package undo

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/sim/mem"
)

// Writers are distinguished by granules of memory, and those of a granule by the bytes that they wrote.
const (
	pageShift    = 12
	pageBytes    = 1 << pageShift
	granuleShift = 6
	granuleBytes = 1 << granuleShift
	granules     = pageBytes / granuleBytes
)

// several is the writer of a granule that more than one wave has written.
const several = -1

// page is the log of one page that waves wrote.
type page struct {
	segment int
	at      int    // index in the segment
	from    uint64 // the first byte kept, an offset in the segment
	kept    int
	bytes   [pageBytes]byte  // that were there before
	now     [pageBytes]byte  // that waves wrote, by address
	writer  [granules]int32  // number of the wave and 1; 0: none
	written [granules]uint64 // bit per byte
}

// segment is a range of memory that waves wrote.
type segment struct {
	*mem.Segment
	pages []int32 // by page of the address space that it has a part of: index in Log.pages and 1; 0: none
}

// Log records the writes of a dispatch's waves. A dispatch begins with Reset.
type Log struct {
	segments []segment
	pages    []*page // those in use are first
	used     int
	low      uint64 // bounds of the addresses written
	high     uint64
	ordered  bool
}

// Reset forgets all writes, as before the first dispatch of a run.
func (l *Log) Reset() {
	for i := range l.segments {
		l.segments[i].Segment = nil // of a space that may be gone
	}
	l.forget()
	l.segments = l.segments[:0]
}

// Begin forgets the writes of the dispatch before.
func (l *Log) Begin() { l.forget() }

func (l *Log) forget() {
	for _, p := range l.pages[:l.used] {
		l.segments[p.segment].pages[p.at] = 0
	}
	l.used, l.low, l.high, l.ordered = 0, ^uint64(0), 0, false
}

// Save copies n bytes of a segment from an offset on, before a wave may write them.
func (l *Log) Save(s *mem.Segment, off uint64, n int) {
	g := l.segment(s)
	pages := l.segments[g].pages
	head := s.Base & (pageBytes - 1) // of the first page, before the segment
	last := int((head + off + uint64(n) - 1) >> pageShift)
	for at := int((head + off) >> pageShift); at <= last; at++ {
		if pages[at] != 0 {
			continue
		}
		if l.used == len(l.pages) {
			l.pages = append(l.pages, &page{})
		}
		p := l.pages[l.used]
		l.used++
		pages[at] = int32(l.used)
		p.segment, p.at = g, at
		from := max(uint64(at)<<pageShift, head) - head
		to := min(uint64(at+1)<<pageShift-head, uint64(len(s.Data)))
		p.from, p.kept = from, copy(p.bytes[:], s.Data[from:to])
		p.writer = [granules]int32{}
	}
}

// segment is the index of a segment among those written.
func (l *Log) segment(s *mem.Segment) int {
	for i := range l.segments {
		if l.segments[i].Segment == s {
			return i
		}
	}
	n := len(l.segments)
	if n < cap(l.segments) {
		l.segments = l.segments[:n+1]
	} else {
		l.segments = append(l.segments, segment{})
	}
	g := &l.segments[n]
	g.Segment = s
	size := int((s.Base&(pageBytes-1)+uint64(len(s.Data))+pageBytes-1)>>pageShift) + 1
	if cap(g.pages) < size {
		g.pages = make([]int32, size)
	} else {
		g.pages = g.pages[:size]
	}
	return n
}

// Wrote notes that a wave has written n bytes at an address, which are kept. Two that have written a byte alike are in no
// order.
func (l *Log) Wrote(wave int32, addr uint64, n int) {
	l.low, l.high = min(l.low, addr), max(l.high, addr+uint64(n)-1)
	for n > 0 {
		p := l.page(addr)
		if p == nil {
			return // not memory: a lane outside a buffer
		}
		s := &l.segments[p.segment]
		for first := addr; n > 0 && first>>pageShift == addr>>pageShift; {
			k := min(n, granuleBytes-int(addr&(granuleBytes-1)))
			l.mark(p, wave+1, addr, s.Data[addr-s.Base:addr-s.Base+uint64(k)])
			addr += uint64(k)
			n -= k
		}
	}
}

// mark notes the bytes of a granule that a wave has written at an address.
func (l *Log) mark(p *page, writer int32, addr uint64, data []byte) {
	granule, at := addr>>granuleShift&(granules-1), addr&(granuleBytes-1)
	mask := ^uint64(0) >> (granuleBytes - len(data)) << at
	now := p.now[addr&(pageBytes-1):][:len(data)]
	switch p.writer[granule] {
	case 0:
		p.writer[granule], p.written[granule] = writer, 0
	case writer:
	default:
		p.writer[granule] = several
		for again := (p.written[granule] & mask) >> at; again != 0; again &= again - 1 {
			i := bits.TrailingZeros64(again)
			l.ordered = l.ordered || data[i] != now[i]
		}
	}
	p.written[granule] |= mask
	copy(now, data)
}

// page is the page of an address that is written, nil: none is kept.
func (l *Log) page(addr uint64) *page {
	for i := range l.segments {
		if g := &l.segments[i]; g.Contains(addr, 1) {
			return l.pageOf(g, addr)
		}
	}
	return nil
}

// pageOf is the page of a segment that an address is in, nil: there is none, or none is kept.
func (l *Log) pageOf(g *segment, addr uint64) *page {
	if at := addr>>pageShift - g.Base>>pageShift; at < uint64(len(g.pages)) && g.pages[at] != 0 {
		return l.pages[g.pages[at]-1]
	}
	return nil
}

// Ordered reports whether the order of waves decides the results in memory.
func (l *Log) Ordered() bool { return l.ordered }

// Outside reports whether no byte from an address to another was written.
func (l *Log) Outside(from, to uint64) bool { return to < l.low || from > l.high }

// ByOthers reports whether waves other than one may have written some of n bytes at an address, by granules.
func (l *Log) ByOthers(wave int32, addr uint64, n int) bool {
	last := (addr + uint64(n) - 1) >> granuleShift
	for at := addr >> granuleShift; at <= last; at++ {
		for i := range l.segments {
			p := l.pageOf(&l.segments[i], at<<granuleShift)
			if p == nil {
				continue
			}
			if w := p.writer[at&(granules-1)]; w != 0 && w != wave+1 {
				return true
			}
		}
	}
	return false
}

// Undo restores the bytes that memory held when the dispatch began.
func (l *Log) Undo() {
	for _, p := range l.pages[:l.used] {
		copy(l.segments[p.segment].Data[p.from:], p.bytes[:p.kept])
	}
}
