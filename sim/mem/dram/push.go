package dram

// maxPushed bounds the runs of column commands that move at once.
const maxPushed = 64

// pushedRun is column commands of a kind without a gap, and how far they have moved.
type pushedRun struct {
	start, end, by int64
	write          bool
}

// push moves column commands that begin after x behind those that are now planned from x to end, as far as bus and
// turnaround need. Results that were returned stand; later requests see the delay.
//
// An example: a write is planned at 100 and a read of an open row is ready at 80. The read has 80, and the write moves to
// 110, 30 clocks later, as the bus turns around.
func (p *plan) push(x, end int64, write bool) {
	moved, n := &p.moved, 0
	last := [2]int64{longAgo, longAgo} // column command of reads, of writes
	last[kind(write)] = end - p.t.burst
	for n < maxPushed {
		r, ok := p.runAfter(x)
		if !ok {
			break
		}
		turn := p.t.writeRead
		if r.write {
			turn = p.t.readWrite
		}
		own := kind(r.write)
		r.by = max(last[own]+p.t.burst, last[1-own]+turn) - r.start
		if r.by <= 0 {
			break
		}
		p.calendar(r.write).unmark(r.start, r.end-r.start)
		x = r.start
		r.start, r.end = r.start+r.by, r.end+r.by
		last[own] = r.end - p.t.burst
		moved[n] = r
		n++
	}
	if n > 0 {
		p.settle(moved[:n])
	}
}

// settle plans runs where they have moved to; rows that are open stay so for them.
func (p *plan) settle(moved []pushedRun) {
	for i := range moved {
		r := &moved[i]
		p.calendar(r.write).mark(r.start, r.end-r.start)
		p.noteLast(r.end-p.t.burst, r.write)
	}
	end := p.last + p.t.burst
	p.tail = columnRun{end, end, end, p.lastWrite == p.last}
	for i := range p.banks {
		if a := p.banks[i].newest(); a.close == never {
			a.read, a.write = pushed(a.read, false, moved), pushed(a.write, true, moved)
			a.Last = max(a.Last, a.read, a.write)
		}
	}
}

// pushed is where a column command is after runs have moved.
func pushed(x int64, write bool, moved []pushedRun) int64 {
	for i := range moved {
		if r := &moved[i]; r.write == write && x+r.by >= r.start && x+r.by < r.end {
			return x + r.by
		}
	}
	return x
}

// kind is the index of reads or writes.
func kind(write bool) int {
	if write {
		return 1
	}
	return 0
}

// runAfter is the next column commands of a kind, without a gap, that begin after x.
func (p *plan) runAfter(x int64) (pushedRun, bool) {
	read, written := p.reads.next(x+1), p.writes.next(x+1)
	start, write := read, written < read
	if write {
		start = written
	}
	if start == never {
		return pushedRun{}, false
	}
	return pushedRun{start: start, end: p.calendar(write).free(start), write: write}, true
}
