package partition

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/runtime/partition"
)

// maxDivide bounds the operations of --divide.
const maxDivide = 64

// divideName is the strategy of --divide.
const divideName = "divide"

// dividedOperation is an operation that strategy divide divided among devices, or did not.
type dividedOperation struct {
	Operation int          `json:"index"` // in the network as it is; `assignment` of the strategy is that of the divided network
	Type      string       `json:"type"`
	Divided   bool         `json:"divided"`        // devices share it
	Unit      string       `json:"unit,omitempty"` // rows of the output, or units of a fully connected layer
	Runs      []dividedRun `json:"runs,omitempty"`
	AloneUS   float64      `json:"alone_us"`             // on the fastest device
	DividedUS float64      `json:"divided_us,omitempty"` // predicted, with all that dividing adds
	AddedUS   float64      `json:"added_us,omitempty"`   // of it the call of a device and what it reads and writes
	Reason    string       `json:"reason,omitempty"`     // why it was not divided
}

// dividedRun is the run of one device.
type dividedRun struct {
	Device      string  `json:"device"`       // the fastest for the operation first
	Length      int     `json:"length"`       // rows or units
	PredictedUS float64 `json:"predicted_us"` // with the call of the device and what it reads and writes
}

// checkDivide checks --divide beside the other flags.
func (f *partitionFlags) checkDivide(objective partition.Objective) error {
	switch {
	case f.divide < 0 || f.divide > maxDivide:
		return fmt.Errorf("--divide %d, want 0 to %d", f.divide, maxDivide)
	case f.divide == 0:
		return nil
	case f.export != "":
		return errors.New("--divide does nothing with --export: the problem is that of the network as it is")
	case objective == partition.Energy || objective == partition.Throughput || objective == partition.FirstResult:
		return fmt.Errorf("--divide with --objective %s: parts that run at once shorten the latency of one input alone; --objective latency, energy-delay or an expression of latency has use of it", objective)
	}
	return nil
}

// divide adds strategy divide: operations of the plan of auto are divided where that is predicted to pay, and the plan of the divided
// network runs. Its results are compared with the reference of the network as it is.
func (x *comparison) divide(r *PartitionReport, f *input.Form, most int) (err error) {
	defer try.Catch(&err)
	x.progress.Update("%s: plan", divideName)
	p := r.problem
	base, _ := try.V2(partition.Solve(p, partition.Auto{}))
	list := partition.Divisions(p, most)
	for _, d := range list {
		e := dividedOperation{Operation: d.Operation, Type: p.Graph.Operations[d.Operation].Type, Divided: d.Why == "", Unit: d.Unit, AloneUS: d.AloneFs / 1e9, DividedUS: d.DividedFs / 1e9, AddedUS: d.AddedFs / 1e9, Reason: d.Why}
		for _, run := range d.Runs {
			e.Runs = append(e.Runs, dividedRun{p.DeviceName(run.Device), run.Length, run.TimeFs / 1e9})
		}
		r.Divided = append(r.Divided, e)
	}
	m, plan := try.V2(partition.DivideAll(p, base, list))
	if m == p.Model {
		return nil
	}
	form := &input.Form{Model: m, Inputs: f.Inputs, Expected: f.Expected, Noise: f.Noise}
	q := try.V(x.Problem(form, x.Costs))
	e := try.V(x.one(form, q, q.Named(divideName, plan), 0))
	best := e.score
	for _, x := range r.entries {
		best = min(best, x.score)
	}
	e.GapToOptimum = e.score/best - 1
	r.entries, r.Strategies = append(r.entries, e), append(r.Strategies, e)
	r.front()
	return nil
}

// explainDivisions says what was divided and what that costs, or why it was not.
func (r *PartitionReport) explainDivisions(out io.Writer) {
	for _, d := range r.Divided {
		at := fmt.Sprintf("%s %d", d.Type, d.Operation)
		if !d.Divided {
			fmt.Fprintf(out, "%s: not divided: %s\n", at, d.Reason)
			continue
		}
		var runs []string
		for _, x := range d.Runs {
			runs = append(runs, fmt.Sprintf("%d %s on %s (%.0f us)", x.Length, d.Unit, x.Device, x.PredictedUS))
		}
		fmt.Fprintf(out, "%s: divided: %s; alone on %s it takes %.0f us; the call of %s and its copies are %.0f\n", at, strings.Join(runs, ", "), d.Runs[0].Device, d.AloneUS, d.Runs[0].Device, d.AddedUS)
	}
	k := slices.IndexFunc(r.Strategies, func(e *strategyEntry) bool { return e.Name == divideName })
	if k < 0 {
		return
	}
	best := 0.0
	for _, e := range r.Strategies {
		if e.Name != divideName && e.Simulated {
			best = min(cmp.Or(best, e.score), e.score)
		}
	}
	if best > 0 {
		fmt.Fprintf(out, "dividing operations: %.2f times as good as the best plan of whole operations\n", best/r.Strategies[k].score)
	}
}
