package run

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/nnsoc/nnsoc/bench/report/table"
	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/sim/platform"
)

// hostParts writes the parts of the path to an engine and back, which tables of operations have as one row, LAUNCH.
func (r *report) hostParts(w io.Writer) error {
	var columns []*session.Run
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
		res := r.data.Runs[i].Result
		rows := slices.Concat(res.Operations, res.Inner, res.Overheads)
		fmt.Fprintf(w, "\nOperations on %s%s:\n", r.data.Runs[i].Device, rowsOf(&r.data.Runs[i]))
		try.E(operationTable(w, &r.data.Runs[i], operationRows(&r.data.Runs[i])))
		try.E(r.lanes(w, rows))
		fmt.Fprintf(w, "\nBy type on %s%s:\n", r.data.Runs[i].Device, rowsOf(&r.data.Runs[i]))
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
		rows = append(rows, operationRows(&r.data.Runs[i])...)
	}
	return table.WriteCSV(w, operationColumns, rows)
}
