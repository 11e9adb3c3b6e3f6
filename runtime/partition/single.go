package partition

import "fmt"

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
