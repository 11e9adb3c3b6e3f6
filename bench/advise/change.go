package advise

import (
	"cmp"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Kinds of changes.
const (
	Network = "network" // another network: its results may differ
	Calls   = "calls"   // another way to execute it
	Machine = "machine" // another SoC
)

// Change is a proposal.
type Change struct {
	Kind string
	What string // the change
	Why  string // the evidence in the run
	// PredictedUS is the latency that it is expected to save.
	PredictedUS float64 // below 0: to lose

	// What to simulate: a network in place of the run's, keys of the SoC, burst objects.
	Model *nn.Model
	Keys  []soc.Change
	Burst bool
	// Candidates are kernels to use, by operation (nnrt.CompileOptions).
	Candidates map[int]string
}

// Run is the result of a run of a network on a device.
type Run struct {
	Model     *nn.Model
	Device    string
	CPU       string // runs the operations that the device declines
	LatencyUS float64
	// Parts are the microseconds of the chain that the latency is, by name ("binder").
	Parts      map[string]float64
	Operations []Operation
	Burst      bool      // it executed through burst objects
	Keys       []soc.Key // the numbers of the SoC
	Choices    []hal.Choice
}

// Operation is the cost of an operation of the network.
type Operation struct {
	Index  int // below 0: a launch or transfer
	Device string
	US     float64
	Stalls map[string]float64 // shares of its time by reason, which add up to 1
	Reason string             // why the device declined it; "" where it runs there
}

// Propose returns changes, the largest predicted gain first.
func Propose(r *Run) []Change {
	list := slices.Concat(networkChanges(r), CallChanges(r), machineChanges(r))
	list = slices.DeleteFunc(list, func(c Change) bool { return !(c.PredictedUS > 0) })
	slices.SortStableFunc(list, func(x, y Change) int { return cmp.Compare(y.PredictedUS, x.PredictedUS) })
	return list
}

// us is the time of the device's operations by reason.
func (r *Run) us(reasons ...string) float64 { return r.usOf(nil, reasons...) }

// usOf is us of operations of some types; nil is all.
func (r *Run) usOf(types []nn.OperationType, reasons ...string) float64 {
	sum := 0.0
	for i := range r.Operations {
		o := &r.Operations[i]
		if o.Index < 0 || o.Device != r.Device || types != nil && !slices.Contains(types, r.Model.Main.Operations[o.Index].Type) {
			continue
		}
		for _, reason := range reasons {
			sum += o.US * o.Stalls[reason]
		}
	}
	return sum
}

// engineUS is the time of the device's operations.
func (r *Run) engineUS() (sum float64) {
	for i := range r.Operations {
		if o := &r.Operations[i]; o.Index >= 0 && o.Device == r.Device {
			sum += o.US
		}
	}
	return sum
}
