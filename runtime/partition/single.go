package partition

import (
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/nn"
)

// Single prefers one candidate and leaves the rest to the CPU.
type Single struct{ Candidate int }

// Name implements Strategy.
func (Single) Name() string { return "single" }

// Assign implements Strategy.
func (s Single) Assign(m *nn.Model, _ hal.Preference, c []Candidate) []int {
	a := make([]int, len(m.Main.Operations))
	for i := range a {
		if c[s.Candidate].Support[i].OK {
			a[i] = s.Candidate
		}
	}
	return a
}
