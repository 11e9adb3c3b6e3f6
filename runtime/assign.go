package nnrt

import (
	"strings"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/runtime/partition"
)

// assignment is which device runs which operation, and why not another.
type assignment struct {
	candidates []partition.Candidate // devices that were asked
	wanted     []int                 // the choice if every device supported everything
	chosen     []int                 // device per operation
	failed     []string              // why chosen was withdrawn later
	named      bool                  // one device was asked for by name
}

// assignDevices asks the devices what they support and lets the strategy that
// device stands for choose among the answers.
func assignDevices(r *Registry, m *nn.Model, device string, p hal.Preference) (*assignment, error) {
	n := len(m.Main.Operations)
	a := &assignment{candidates: make([]partition.Candidate, len(r.devices)), failed: make([]string, n), named: device != Auto}
	var strategy partition.Strategy = partition.Best{}
	target := 0
	if a.named {
		var err error
		if target, err = r.index(device); err != nil {
			return nil, err
		}
		strategy = partition.Single{Candidate: target}
	}
	all := make([]partition.Candidate, len(r.devices)) // the candidates, supporting everything
	for i, d := range r.devices {
		if i != 0 && a.named && i != target {
			a.candidates[i].Support = make([]hal.Support, n) // not asked: its answer would not be used
			all[i] = a.candidates[i]
			continue
		}
		support, err := supportedOperations(d, m)
		if err != nil && i == 0 {
			return nil, err
		}
		if err != nil {
			support = make([]hal.Support, n)
			for k := range support {
				support[k].Reason = "its support query failed: " + err.Error()
			}
		}
		a.candidates[i] = partition.Candidate{Capabilities: d.Capabilities(), Support: support}
		all[i] = a.candidates[i]
		all[i].Support = make([]hal.Support, n)
		for k := range all[i].Support {
			all[i].Support[k].OK = true
		}
	}
	for i, s := range a.candidates[0].Support {
		if !s.OK {
			return nil, hal.Errorf(hal.InvalidArgument, "operation %d (%v): %s", i, m.Main.Operations[i].Type, s.Reason)
		}
	}
	a.wanted = strategy.Assign(m, p, all)
	a.chosen = strategy.Assign(m, p, a.candidates)
	return a, nil
}

// fallbacks lists the operations that ended on the CPU although a device was
// wanted for them.
func (a *assignment) fallbacks(r *Registry) []Fallback {
	var list []Fallback
	for i, d := range a.chosen {
		if d == 0 && (a.wanted[i] != 0 || a.failed[i] != "") {
			list = append(list, Fallback{i, a.reason(r, i)})
		}
	}
	return list
}

// reason is why operation i did not get a device.
func (a *assignment) reason(r *Registry, i int) string {
	if a.failed[i] != "" {
		return a.failed[i]
	}
	if a.named {
		return a.candidates[a.wanted[i]].Support[i].Reason
	}
	var all []string
	for d := 1; d < len(a.candidates); d++ {
		if s := a.candidates[d].Support[i]; !s.OK {
			all = append(all, r.devices[d].Name()+": "+s.Reason)
		}
	}
	return strings.Join(all, "; ")
}

// supportedOperations asks a device, which may be anybody's: it may panic or
// answer too little.
func supportedOperations(d hal.Device, m *nn.Model) (s []hal.Support, err error) {
	defer hal.Contain(&err, d.Name(), "SupportedOperations")
	if s, err = d.SupportedOperations(m); err == nil && len(s) != len(m.Main.Operations) {
		err = hal.Errorf(hal.GeneralFailure, "%s: answers for %d of %d operations", d.Name(), len(s), len(m.Main.Operations))
	}
	return s, err
}

// prepareModel prepares a part on a device, which may panic.
func prepareModel(d hal.Device, m *nn.Model, o hal.PrepareOptions) (p hal.PreparedModel, err error) {
	defer hal.Contain(&err, d.Name(), "PrepareModel")
	if p, err = d.PrepareModel(m, o); err == nil && p == nil {
		err = hal.Errorf(hal.GeneralFailure, "%s: prepared nothing and gives no error", d.Name())
	}
	return p, err
}

// execute runs a prepared part, which may panic.
func execute(d hal.Device, p hal.PreparedModel, b *hal.Buffers) (res *hal.Result, err error) {
	defer hal.Contain(&err, d.Name(), "Execute")
	return hal.Execute(p, b)
}
