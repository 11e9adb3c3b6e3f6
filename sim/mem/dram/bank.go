package dram

import "math"

// never is a clock that is never reached.
const never = math.MaxInt64

// longAgo makes "clocks since" constraints hold at clock 0.
const longAgo = math.MinInt64 / 4

// rowHistory is how many activations of a bank are remembered. A power of two.
const rowHistory = 16

// activation is one opening of a row in the plan of a bank.
type activation struct {
	Activation
	read, write int64           // last column command of each kind
	close       int64           // PRE command, never while none is planned
	until       int64           // column commands are before: a refresh was due then
	kept        int             // number of columns
	columns     *delayedColumns // those that a delay moves along
}

// delayedColumns are the column commands of an activation that has not begun. Few activations have any, so they are
// kept apart from the fields that every request reads.
type delayedColumns [16]delayedColumn

// delayedColumn is n column commands in a row, the first some clocks after its ACT.
type delayedColumn struct {
	after int32
	n     int16
	write bool
}

// bank is a bank and its plan: activations in the order of time, of which only the newest can lack a planned end.
type bank struct {
	top     activation // the newest, which nearly every request is for
	ready   int64      // no activation before: refresh
	due     int64      // of the next refresh that is not planned yet; never without
	head    uint32     // after the last of rows, modulo rowHistory
	n       uint32
	rows    [rowHistory]activation         // those before
	columns [rowHistory + 1]delayedColumns // of the activations
}

func (b *bank) reset(due int64) {
	b.head, b.n, b.ready, b.due = 0, 0, longAgo, due
	for i := range b.rows {
		b.rows[i].columns = &b.columns[i]
	}
	b.top.columns = &b.columns[rowHistory]
	a := b.open(-1, longAgo)
	a.close, a.until = longAgo, longAgo
}

// newest is the latest activation, nth(0).
func (b *bank) newest() *activation { return &b.top }

func (b *bank) nth(n uint32) *activation {
	if n == 0 {
		return &b.top
	}
	return &b.rows[(b.head-n)&(rowHistory-1)]
}

// open makes an activation of a row the newest.
func (b *bank) open(row, at int64) *activation {
	oldest := &b.rows[b.head&(rowHistory-1)]
	columns := oldest.columns
	*oldest = b.top
	b.head++
	b.n = min(b.n+1, rowHistory)
	a := &b.top
	a.Activation = Activation{Row: row, At: at, Last: at, Waits: never}
	a.read, a.write, a.close, a.until, a.kept, a.columns = longAgo, longAgo, never, never, 0, columns
	return a
}

// recovery is the time from a column command to the end of its row.
func (t *timing) recovery(write bool) int64 {
	if write {
		return t.wl + t.burst + t.wr
	}
	return t.rtp
}

// precharge is the first clock at which the row can be closed.
func (a *activation) precharge(t *timing) int64 {
	return max(a.At+t.ras, a.read+t.recovery(false), a.write+t.recovery(true))
}

// fits reports whether a column command at x is before the planned end.
func (a *activation) fits(x int64, t *timing, write bool) bool {
	return x+t.recovery(write) <= a.close && x < a.until
}

// use notes n column commands of a request from x on.
func (a *activation) use(x, n, burst int64, r *Request) {
	if a.At > r.Enter && a.kept < len(a.columns) { // it may be delayed
		a.columns[a.kept] = delayedColumn{after: int32(x - a.At), n: int16(n), write: r.Write}
		a.kept++
	}
	a.Columns += int(n)
	last := x + (n-1)*burst
	a.Last = max(a.Last, last)
	if r.Write {
		a.write = max(a.write, last)
	} else {
		a.read = max(a.read, last)
	}
}

// activates are the ACT commands of a channel, planned and past, in order of time.
type activates struct {
	at  [64]int64 // ring
	end uint      // after the last, modulo the size
}

func (a *activates) clear() {
	*a = activates{}
	for i := range a.at {
		a.at[i] = longAgo
	}
}

// nth is the n-th from the end; 0 is the last.
func (a *activates) nth(n uint) int64 { return a.at[(a.end-1-n)&63] }

// first is the first clock from x on at which one more command keeps tRRD and tFAW to those before it, and how many
// commands follow it. Those are not ready before, so they give way (insert).
func (a *activates) first(x int64, t *timing) (int64, uint) {
	after := uint(0)
	for after < 56 && a.nth(after) > x {
		after++
	}
	for {
		x = max(x, a.nth(after)+t.rrd, a.nth(after+3)+t.faw)
		if after == 0 || a.nth(after-1) > x {
			return x, after
		}
		after--
	}
}

// insert plans a command at x, with some commands after it, which move as far as they must.
func (a *activates) insert(x int64, after uint, t *timing) {
	for k := uint(0); k < after; k++ {
		a.at[(a.end-k)&63] = a.at[(a.end-1-k)&63]
	}
	a.at[(a.end-after)&63] = x
	a.end++
	for ; after > 0; after-- {
		at := &a.at[(a.end-after)&63]
		*at = max(*at, a.nth(after)+t.rrd, a.nth(after+3)+t.faw)
	}
}
