// Package partition decides which device runs which operation. A strategy
// answers per operation; Steps then groups the answers into the sub-models
// that are compiled, as AOSP's runtime does.
package partition

import (
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/nn"
)

// Candidate is a device and what it says about the model.
type Candidate struct {
	Capabilities hal.Capabilities
	Support      []hal.Support // per operation of the main subgraph
}

// Strategy assigns each operation to a candidate. Candidate 0 is the CPU and
// supports everything, so there is always an answer.
type Strategy interface {
	Name() string
	Assign(m *nn.Model, pref hal.Preference, c []Candidate) []int
}

// Step is a group of operations that run together on one candidate.
type Step struct {
	Candidate  int
	Operations []int // indexes in the model, in execution order
}

// Steps groups an assignment. Operations are taken as soon as their inputs are
// available: a step grows while its device has such operations and the next
// step belongs to the first device that has any.
func Steps(g *nn.Subgraph, assign []int, candidates int) []Step {
	missing := make([]int, len(g.Operations)) // inputs not yet produced
	users := make([][]int, len(g.Operands))
	produced := make([]bool, len(g.Operands))
	for i := range g.Operations {
		for _, x := range g.Operations[i].Outputs {
			produced[x] = true
		}
	}
	ready := make([][]int, candidates)
	for i := range g.Operations {
		for _, x := range g.Operations[i].Inputs {
			if produced[x] {
				missing[i]++
				users[x] = append(users[x], i)
			}
		}
		if missing[i] == 0 {
			ready[assign[i]] = append(ready[assign[i]], i)
		}
	}
	var steps []Step
	for {
		d := 0
		for d < candidates && len(ready[d]) == 0 {
			d++
		}
		if d == candidates {
			return steps
		}
		s := Step{Candidate: d}
		for len(ready[d]) > 0 {
			op := ready[d][0]
			ready[d] = ready[d][1:]
			s.Operations = append(s.Operations, op)
			for _, x := range g.Operations[op].Outputs {
				for _, u := range users[x] {
					if missing[u]--; missing[u] == 0 {
						ready[assign[u]] = append(ready[assign[u]], u)
					}
				}
			}
		}
		steps = append(steps, s)
	}
}
