package dram

import "math"

// Request is a Scheduler's view of a burst that has entered the queue of its channel. Instants are clocks of the
// channel.
type Request struct {
	Enter  int64 // when it entered the queue
	Master int   // originating port of the bus
	Bank   int
	Row    int64
	Write  bool
}

// Activation is one opening of a row, planned or past. Instants are clocks of the
// channel.
type Activation struct {
	Row     int64
	At      int64 // ACT command
	Last    int64 // last column command so far
	Columns int   // column commands so far
	// Waits is when the oldest request that waits for another row of the bank entered the queue, Passed the number of
	// column commands of younger requests that went before it.
	Waits  int64
	Passed int
}

// Scheduler decides which requests of a channel may pass others. A channel plans each request on arrival, at the first
// clocks that the banks and buses have free, after the commands planned before; a Scheduler narrows the choice.
//
// Both methods are called for each burst, must not allocate, and must return the same results for the same calls.
type Scheduler interface {
	// Earliest is the first clock at which a request may have a command, not before
	// it entered. last is the latest column command that is planned for the channel.
	Earliest(r Request, last int64) int64
	// MayPass reports whether a request may use a row before an older request for
	// another row of the bank closes it.
	MayPass(r Request, a Activation) bool
}

// FCFS serves the requests of a channel in the order of arrival.
type FCFS struct{}

// Earliest implements Scheduler.
func (FCFS) Earliest(r Request, last int64) int64 { return max(r.Enter, last) }

// MayPass implements Scheduler.
func (FCFS) MayPass(Request, Activation) bool { return false }

// FRFCFS serves requests for open rows first, then the oldest that can be served
// (Rixner et al., Memory access scheduling, ISCA 2000).
type FRFCFS struct {
	// RowHitCap is how many bursts may pass an older request for another row of the
	// bank; 0 is no limit.
	RowHitCap int
	// AgeLimit is for how many clocks a request may be passed; 0 is no limit.
	AgeLimit int64
}

// Earliest implements Scheduler.
func (FRFCFS) Earliest(r Request, _ int64) int64 { return r.Enter }

// MayPass implements Scheduler.
func (s FRFCFS) MayPass(r Request, a Activation) bool {
	return (s.RowHitCap == 0 || a.Passed < s.RowHitCap) && (s.AgeLimit == 0 || r.Enter-a.Waits <= s.AgeLimit)
}

// LeaveOpen is the result of a RowPolicy that does not close a row.
const LeaveOpen = math.MaxInt64

// RowPolicy decides when a row without waiting requests is closed.
type RowPolicy interface {
	// Close is the clock at which the row is precharged, at the earliest, if no request for it arrives before;
	// LeaveOpen leaves it until another row is needed.
	Close(a Activation) int64
}

// OpenRows leaves rows open.
type OpenRows struct{}

// Close implements RowPolicy.
func (OpenRows) Close(Activation) int64 { return LeaveOpen }

// ClosedRows closes a row with its last column command.
type ClosedRows struct{}

// Close implements RowPolicy.
func (ClosedRows) Close(a Activation) int64 { return a.Last }

// TimeoutRows closes a row that has not been used for a number of clocks.
type TimeoutRows struct{ Clocks int64 }

// Close implements RowPolicy.
func (p TimeoutRows) Close(a Activation) int64 { return a.Last + p.Clocks }
