package session

import (
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// invocationLoop are the invocations of a loop in which a clock may never settle: its governor raises it after some work and
// lowers it again, for as long as the loop lasts. The mean of such a loop depends on where it is cut off, so the loop
// continues for some of these cycles and the invocations between the first and the last rise count; where clocks settle
// after they have moved, those since then.
type invocationLoop struct {
	soc      *platform.Machine
	governed func(soc.Engine) bool
	pace     *Pace

	results  []*nnrt.Result
	duration sim.Time
	usual    int // results of a loop whose clocks rest
	hz       [soc.NumEngines]int64
	moved    int      // results when a clock moved last
	movedAt  sim.Time // their time; 0: none has moved
	rises    []int    // results when one rose
}

// A loop whose clocks move continues for so many cycles, and for so many times as long at most as one whose clocks rest
// (assumed, D-601).
const (
	mostTurns = 3
	moveTime  = 3
)

// longEnough reports whether a loop has lasted long enough with n invocations.
func (t *invocationLoop) longEnough(n int) bool {
	longest := t.pace.Longest
	if n < t.pace.invocations() && (longest == 0 || t.duration < longest) {
		return false
	}
	if t.usual == 0 {
		t.usual = n
	}
	return longest == 0 || t.movedAt == 0 || len(t.rises) > mostTurns || t.duration >= moveTime*longest
}

// add adds an invocation.
func (t *invocationLoop) add(r *nnrt.Result) {
	t.results = append(t.results, r)
	t.duration += sim.Time(r.LatencyFs)
	rose := false
	for e := range soc.NumEngines {
		if !t.governed(e) {
			continue
		}
		hz := t.soc.Hz(e)
		if before := t.hz[e]; before > 0 && hz != before {
			rose = rose || hz > before
			t.moved, t.movedAt = len(t.results), t.duration
		}
		t.hz[e] = hz
	}
	if rose {
		t.rises = append(t.rises, len(t.results))
	}
}

// counted are the invocations that count.
func (t *invocationLoop) counted() []*nnrt.Result {
	n := len(t.rises)
	switch {
	case n > 1:
		return t.results[t.rises[0]:t.rises[n-1]]
	case t.movedAt > 0 && t.duration-t.movedAt >= t.pace.Longest: // they have settled
		return t.results[t.moved:]
	}
	return t.results[:min(t.usual, len(t.results))]
}
