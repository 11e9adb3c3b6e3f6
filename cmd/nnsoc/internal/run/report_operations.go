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
	"github.com/nnsoc/nnsoc/internal/try"
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
		fmt.Fprintf(w, "\nOperations on %s%s:\n", r.data.Runs[i].Device, rowsOf(&r.data.Runs[i]))
		try.E(operationTable(w, &r.data.Runs[i], operationRows(&r.data.Runs[i])))
		try.E(r.lanes(w, slices.Concat(res.Operations, res.Inner, res.Overheads)))
		fmt.Fprintf(w, "\nBy type on %s%s:\n", r.data.Runs[i].Device, rowsOf(&r.data.Runs[i]))
		try.E(table.WriteText(w, typeColumns, r.typeRows(&r.data.Runs[i], len(r.data.Runs[i].Types))))
	}
	return nil
}

// typeRow is a row of the table of types.
type typeRow struct {
	*session.TypeSum
	latencyUS float64
	peak      float64 // MACs per second of the device, 0 where it is unknown
}

// typeColumns are the columns of the table of types.
var typeColumns = table.Columns[typeRow]{
	{Name: "operation", Meaning: "type of the operation", Cell: func(r typeRow) any { return r.Type }},
	{Name: "device", Meaning: "device that ran it", Cell: func(r typeRow) any { return r.Device }},
	{Name: "count", Meaning: "operations of the type", Cell: func(r typeRow) any { return r.Count }},
	{Name: "MMAC", Digits: 1, Meaning: "millions of multiply-accumulates", Cell: func(r typeRow) any { return float64(r.MACs) / 1e6 }},
	{Name: "time", Unit: "us", Digits: 1, Meaning: "their part of the latency", Cell: func(r typeRow) any { return r.TimeUS }},
	{Name: "share", Unit: "%", Digits: 1, Meaning: "share of the latency", Cell: func(r typeRow) any { return 100 * r.TimeUS / r.latencyUS }},
	{Name: "of peak", Unit: "%", Digits: 1, Meaning: "multiply-accumulates per second, as a share of the most that the engine can do", Cell: func(r typeRow) any {
		if r.MACs == 0 || r.peak == 0 || r.TimeUS <= 0 {
			return nil
		}
		return 100 * float64(r.MACs) / (r.TimeUS / 1e6) / r.peak
	}},
	{Name: "energy", Unit: "uJ", Digits: 1, Meaning: "their part of the energy", Cell: func(r typeRow) any { return r.EnergyUJ }},
	{Name: "DRAM", Unit: "KB", Digits: 1, Meaning: "bytes that they moved from and to DRAM", Cell: func(r typeRow) any { return float64(r.DRAMBytes) / 1e3 }},
	{Name: "bound by", Meaning: "reason with the most cycles of all", Cell: func(r typeRow) any { return r.BoundBy }},
}

// typeRows are the sums of a run by type, at most n of them.
func (r *report) typeRows(e *session.Run, n int) (rows []typeRow) {
	for i := range e.Types[:min(n, len(e.Types))] {
		s := &e.Types[i]
		rows = append(rows, typeRow{s, detailedUS(e), r.data.Roofs[s.Device].MACsPerS})
	}
	return rows
}

// writeOperations writes the operations of all runs as CSV.
func (r *report) writeOperations(w io.Writer) error {
	var rows []operationRow
	for i := range r.data.Runs {
		rows = append(rows, operationRows(&r.data.Runs[i])...)
	}
	return table.WriteCSV(w, operationColumns, rows)
}
