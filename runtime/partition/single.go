package partition

import (
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
)

// Single prefers one device, an index of the problem's, and leaves the rest to
// the CPU. Steps follow each other as in AOSP's runtime.
type Single int

// Name implements Strategy.
func (s Single) Name() string {
	if s == 0 {
		return "cpu"
	}
	return fmt.Sprintf("single:%d", int(s))
}

// Plan implements Strategy.
func (s Single) Plan(p *Problem) (Plan, error) {
	plan := Plan{Device: make([]int, len(p.Graph.Operations)), Sequential: true}
	for i := range plan.Device {
		if p.supports(int(s), i) {
			plan.Device[i] = int(s)
		}
	}
	return plan, nil
}

// Interpreted leaves control flow to the runtime, where it can execute it, and all else to
// the CPU.
type Interpreted struct{}

// Name implements Strategy.
func (Interpreted) Name() string { return "interpreted" }

// Plan implements Strategy.
func (Interpreted) Plan(p *Problem) (Plan, error) {
	return Single(len(p.Devices) - 1).Plan(p.onlyCPU())
}

// onlyCPU is a problem whose other devices support nothing.
func (p *Problem) onlyCPU() *Problem {
	q := *p
	q.Devices = slices.Clone(p.Devices)
	for d := 1; d < p.drivers(); d++ {
		q.Devices[d].Support = make([]hal.Support, len(p.Graph.Operations))
	}
	return &q
}
