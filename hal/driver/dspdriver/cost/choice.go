package cost

import "github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"

// Choice is a kernel that a step could use, estimated before it has code.
type Choice struct {
	Kernel  hvx.Kernel
	Cycles  int // 0 where there was nothing to compare
	Verdict Verdict
}

// Verdict is what became of a candidate.
type Verdict uint8

const (
	Slower      Verdict = iota + 1 // another one needs fewer cycles
	Chosen                         // the first one that fits
	NoRegisters                    // it needs fewer cycles than the chosen one but more registers than there are
	PassedOver                     // it needs fewer cycles than the chosen one, which was requested
)

// String is a verdict for readers.
func (v Verdict) String() string {
	return [...]string{Slower: "slower", Chosen: "chosen", NoRegisters: "needs too many registers", PassedOver: "passed over"}[v]
}
