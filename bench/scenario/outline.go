package scenario

import (
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/partition"
	"github.com/nnsoc/nnsoc/runtime/partition/cost"
	"github.com/nnsoc/nnsoc/runtime/registry"
)

// Outline gives the runner a machine whose engines compute nothing: an execution holds its engine for the time that its
// operations had when that engine ran all that it supports of the network (Workload.Loads), longer where other engines move
// bytes to and from the DRAM. Software, clocks, governors, queues and heat are those of any run. Runs take milliseconds of
// the host and depend on nothing that ran before.
func (r *Runner) Outline(o *devices.Outliner) error {
	m, err := o.New(r.load, false)
	if err != nil {
		return err
	}
	list := m.Devices()
	x, err := registry.New(list[0], list[1:]...)
	if err != nil {
		return err
	}
	x.SetMachine(m)
	r.Machine, r.Registry, r.outlined = m, x, true
	return nil
}

// load is the load of the program that is prepared next.
func (r *Runner) load(device string, m *nn.Model) (l devices.Load, err error) {
	if len(r.pending) == 0 || r.pending[0].Device != device || r.pending[0].Operations != len(m.Main.Operations) {
		return l, fmt.Errorf("scenario: a program of %d operations for %s, which was not expected", len(m.Main.Operations), device)
	}
	next := r.pending[0]
	r.pending = r.pending[1:]
	return devices.LoadOf(next.At), nil
}

// outlineRoute prepares a network for a route on the outline.
func (r *Runner) outlineRoute(p *Problem, network int, route Route) (*nnrt.Compilation, error) {
	w := &r.Workloads[network]
	var strategy partition.Strategy = partition.AOSP{}
	switch {
	case !route.whole():
		strategy = &byParts{p.Parts[network], route}
	case route[0] != Divided:
		strategy = partition.Single(route[0])
	}
	plan, err := partition.Make(w.Problem, strategy)
	if err != nil {
		return nil, err
	}
	if d := route[0]; route.whole() && d > 0 && !slices.Contains(plan.Device, d) {
		return nil, fmt.Errorf("%s: %s", w.Model.Name, r.refusal(network, d, nil))
	}
	plan = w.Problem.Canonical(plan)
	loads, ok := w.Loads.Of(plan)
	if !ok {
		return nil, fmt.Errorf("scenario: %s on %s: an operation that was not measured there", w.Model.Name, p.names(route))
	}
	r.pending = loads
	o := r.options(network)
	o.Partitioning = nnrt.WithoutFallback
	return nnrt.CompilePlan(r.Registry, w.Problem, plan, o)
}

// outlinePiece prepares some parts of a network, by themselves, for a device of the outline.
func (r *Runner) outlinePiece(p *Problem, parts []Part, x piece, device int) (*nnrt.Compilation, error) {
	w, e := &r.Workloads[x.network], r.extract(parts, x)
	var operations []int
	for _, part := range parts[x.from:x.to] {
		operations = append(operations, part.Operations...)
	}
	if why := r.refusal(x.network, device, operations); why != "" {
		return nil, fmt.Errorf("%s: %s", p.Devices[device], why)
	}
	bytes := int64(0)
	for _, list := range [][]uint32{e.Inputs, e.Outputs} {
		for _, i := range list {
			bytes += max(0, w.Model.Main.Operands[i].Bytes())
		}
	}
	load, ok := w.Loads.Part(device, operations, bytes)
	if !ok {
		return nil, fmt.Errorf("%s: an operation that was not measured there", p.Devices[device])
	}
	r.pending = []cost.Load{load}
	o := r.options(x.network)
	o.Partitioning = nnrt.WithoutFallback
	return nnrt.Compile(r.Registry, e.Model, p.Devices[device], o)
}

// refusal is why a device does not run the first operation that it does not, "" without one; nil are all operations.
func (r *Runner) refusal(network, device int, operations []int) string {
	support := r.Workloads[network].Problem.Devices[device].Support
	if operations == nil {
		for i := range support {
			operations = append(operations, i)
		}
	}
	for _, i := range operations {
		if s := support[i]; !s.OK {
			return s.Reason
		}
	}
	return ""
}
