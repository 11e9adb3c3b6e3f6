package sim

// Reason is the cause that a device cycle is charged to. Every cycle of a run has exactly one, so the reasons of a run
// add up to its cycles.
type Reason uint8

// Reasons, from doing work to having none.
const (
	StallIssue        Reason = iota // an instruction or a beat of work was issued
	StallOperand                    // waiting for the result of an earlier instruction
	StallUnit                       // the execution unit or slot was occupied
	StallBranch                     // refetch after a taken or mispredicted branch
	StallFetch                      // instruction cache miss
	StallL1                         // data served by the first-level cache
	StallL2                         // data served by the second-level cache
	StallSystemCache                // data served by the cache that all engines share
	StallDRAM                       // data served by DRAM
	StallScratchpad                 // scratchpad, LDS or VTCM bank or port
	StallDMA                        // waiting for a DMA transfer
	StallBarrier                    // waiting for other threads, waves or kernels
	StallQueue                      // a queue or counter was full
	StallClock                      // ramping or changing the clock
	StallLaunch                     // submitting work from the host, starting the device
	StallDrain                      // pipeline filling or emptying around an operation
	StallIdle                       // no work for this engine
	StallWeightDecode               // a decoder of weights is slower than the multipliers
	NumReasons
)

var reasonNames = [NumReasons]string{
	"issue", "operand", "unit", "branch", "fetch", "l1", "l2", "system_cache", "dram",
	"scratchpad", "dma", "barrier", "queue", "clock", "launch", "drain", "idle", "weight_decode",
}

// String returns the name used in reports and JSON.
func (r Reason) String() string {
	if r < NumReasons {
		return reasonNames[r]
	}
	return "?"
}

// StallTable counts cycles by reason.
type StallTable [NumReasons]int64

// Total is the sum over all reasons.
func (t *StallTable) Total() int64 {
	var n int64
	for _, c := range t {
		n += c
	}
	return n
}

// Add adds o to t.
func (t *StallTable) Add(o *StallTable) {
	for i, c := range o {
		t[i] += c
	}
}

// Largest is the reason with most cycles; the earlier one of equals.
func (t *StallTable) Largest() Reason {
	best := Reason(0)
	for r := Reason(1); r < NumReasons; r++ {
		if t[r] > t[best] {
			best = r
		}
	}
	return best
}
