package run

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/nnsoc/nnsoc/bench/report/table"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/sim/platform"
)

// tensorEntry is the memory that the tensors of a network need, whatever runs it.
type tensorEntry struct {
	ConstantBytes int64 `json:"constant_bytes"`
	// PeakBytes are those of inputs, outputs and values between operations that are needed at
	// the same time, most at PeakOperation, when operations run in their order.
	PeakBytes     int64 `json:"peak_bytes"`
	PeakOperation int   `json:"peak_operation"`
}

// tensorMemory is nil for a network whose shapes are known only when it runs.
func tensorMemory(m *nn.Model) *tensorEntry {
	g, err := (*opspec.Table)(nil).Resolve(&m.Main)
	if err != nil {
		return nil
	}
	first, last := make([]int, len(g.Operands)), make([]int, len(g.Operands))
	for x := range first {
		first[x], last[x] = -1, -1
	}
	for _, x := range g.Inputs {
		first[x] = 0
	}
	for i := range g.Operations {
		for _, x := range g.Operations[i].Inputs {
			last[x] = i
		}
		for _, x := range g.Operations[i].Outputs {
			first[x], last[x] = i, max(last[x], i)
		}
	}
	for _, x := range g.Outputs {
		last[x] = len(g.Operations) - 1
	}
	e := &tensorEntry{}
	change := make([]int64, len(g.Operations)+1)
	for x := range g.Operands {
		o := &g.Operands[x]
		switch {
		case o.IsConst():
			e.ConstantBytes += o.Bytes()
		case first[x] < 0 || last[x] < 0:
		case !o.Known():
			return nil
		default:
			change[first[x]] += o.Bytes()
			change[last[x]+1] -= o.Bytes()
		}
	}
	var live int64
	for i := range g.Operations {
		if live += change[i]; live > e.PeakBytes {
			e.PeakBytes, e.PeakOperation = live, i
		}
	}
	return e
}

// hostParts writes the parts of the path to an engine and back, which tables of operations have as one row, LAUNCH.
func (r *report) hostParts(w io.Writer) error {
	var columns []*deviceEntry
	total := map[string]float64{}
	for i := range r.data.Runs {
		e := &r.data.Runs[i]
		if len(e.LatencyParts) == 0 {
			continue
		}
		columns = append(columns, e)
		for name, us := range e.LatencyParts {
			if name != platform.PartExecution {
				total[name] = max(total[name], us)
			}
		}
	}
	if len(total) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "\nLAUNCH, us\t")
	for _, e := range columns {
		fmt.Fprintf(t, "%s\t", e.Device)
	}
	fmt.Fprintln(t)
	names := slices.SortedFunc(maps.Keys(total), func(a, b string) int {
		return cmp.Or(cmp.Compare(total[b], total[a]), cmp.Compare(a, b))
	})
	for _, name := range names {
		fmt.Fprintf(t, "%s\t", name)
		for _, e := range columns {
			if us, ok := e.LatencyParts[name]; ok {
				fmt.Fprintf(t, "%.1f\t", us)
			} else {
				fmt.Fprint(t, "-\t")
			}
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// everything writes all operations of all timed runs, and their sums by type.
func (r *report) everything(w io.Writer) (err error) {
	defer try.Catch(&err)
	for i := range r.data.Runs {
		if r.data.Runs[i].LatencyUS == nil {
			continue
		}
		res := r.runs[i].result
		rows := slices.Concat(res.Operations, res.Inner, res.Overheads)
		fmt.Fprintf(w, "\nOperations on %s%s:\n", r.data.Runs[i].Device, r.data.Runs[i].rowsOf())
		try.E(operationTable(w, &r.data.Runs[i], r.data.Runs[i].operationRows()))
		try.E(r.lanes(w, rows))
		fmt.Fprintf(w, "\nBy type on %s%s:\n", r.data.Runs[i].Device, r.data.Runs[i].rowsOf())
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(t, "operation\tdevice\tcount\tMMAC\tus\tshare\tenergy uJ\tDRAM KB\t")
		for _, s := range sumsByType(rows) {
			fmt.Fprintf(t, "%s\t%s\t%d\t%.1f\t%.1f\t%.1f %%\t%.1f\t%d\t\n", s.Name(), s.Device, s.count, float64(s.MACs)/1e6, cli.Microseconds(s.TimeFs),
				100*float64(s.TimeFs)/float64(max(res.LatencyFs, 1)), s.EnergyPJ/1e6, s.DRAMBytes/1000)
		}
		try.E(t.Flush())
	}
	return nil
}

// typeSum is the cost of all operations of a type on a device.
type typeSum struct {
	nnrt.OperationCost
	count int
}

// sumsByType are the sums, the most expensive first.
func sumsByType(rows []nnrt.OperationCost) []typeSum {
	var sums []typeSum
	for _, o := range rows {
		i := slices.IndexFunc(sums, func(s typeSum) bool { return s.Name() == o.Name() && s.Device == o.Device })
		if i < 0 {
			sums = append(sums, typeSum{OperationCost: nnrt.OperationCost{Index: o.Index, Type: o.Type, Within: o.Within, Device: o.Device}})
			i = len(sums) - 1
		}
		s := &sums[i]
		s.count++
		s.MACs += o.MACs
		s.TimeFs += o.TimeFs
		s.EnergyPJ += o.EnergyPJ
		s.DRAMBytes += o.DRAMBytes
	}
	slices.SortStableFunc(sums, func(a, b typeSum) int { return cmp.Compare(b.TimeFs, a.TimeFs) })
	return sums
}

// writeOperations writes the operations of all runs as CSV.
func (r *report) writeOperations(w io.Writer) error {
	var rows []operationRow
	for i := range r.data.Runs {
		rows = append(rows, r.data.Runs[i].operationRows()...)
	}
	return table.WriteCSV(w, operationColumns, rows)
}
