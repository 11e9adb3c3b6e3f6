package session

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/partition"
	"github.com/nnsoc/nnsoc/runtime/partition/cost"
)

// Measured is a network whose operations were measured on each device of a phone.
type Measured struct {
	Problem *partition.Problem
	Loads   *cost.Loads
	// Mismatches are the elements that differed from the reference where engines ran now: costs that were kept ran
	// before.
	Mismatches int
}

// Measure measures a network on each device of a phone as the first estimate of Compile does, a program once or twice, and
// keeps the costs where that keeps them. nil: only an execution tells what the network costs, with control flow, values of
// open shape, or drivers of other processes.
func Measure(m *Phone, f *Network, o nnrt.CompileOptions, progress func(format string, args ...any)) (*Measured, error) {
	x := NewPlanner(m, o, PlanPace())
	x.Progress = progress
	x.pace.Approximate, x.quick = true, true
	x.store = x.store.Other("quick")
	calls := slices.ContainsFunc(f.Model.Main.Operations, func(op nn.Operation) bool { return op.Type == nn.OpIf || op.Type == nn.OpWhile })
	if calls || x.outline(f.Model) == nil {
		return nil, nil
	}
	p, err := nnrt.NewProblem(m.Registry, f.Model, o)
	if err != nil {
		return nil, err
	}
	w := &Measured{Problem: p}
	if w.Loads, err = x.measurer(f.Model, f.Inputs).Loads(p); err != nil {
		return nil, err
	}
	for _, r := range x.runs {
		n, err := f.differs(r)
		if err != nil {
			return nil, err
		}
		w.Mismatches += n
	}
	return w, nil
}

// differs counts the elements of a run's result that differ from the reference. Of several programs those that are alike
// may have left the outputs of one.
func (n *Network) differs(r *PlanRun) (count int, err error) {
	if !r.Outputs || r.Result == nil || len(r.Result.Parts) != 1 {
		return 0, nil
	}
	if err := n.Reference(); err != nil {
		return 0, err
	}
	for _, x := range n.Compare(r.Result) {
		count += x.Mismatches
	}
	return count, nil
}

// Outliner makes outlines of the phone: machines whose engines are held for measured times and compute nothing.
func (p *Phone) Outliner() (*devices.Outliner, error) {
	return devices.NewOutliner(p.Config, p.Preference())
}
