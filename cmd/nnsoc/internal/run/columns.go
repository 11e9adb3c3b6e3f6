package run

import (
	"fmt"

	"github.com/nnsoc/nnsoc/bench/report/table"
	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/internal/spelling"
)

// deviceRow is a row of the table of devices: a run, or a device's part of a run that several devices shared.
type deviceRow struct {
	soc  string // with several --soc
	run  *session.Run
	part *session.DevicePart // nil: the whole run
	base *session.Run        // that speed and energy are relative to; nil: none
}

// timed reports whether the row is a whole run with costs.
func (d deviceRow) timed() bool { return d.part == nil && d.run.LatencyUS != nil }

// related returns a value of rows that have a base with costs, else nil.
func (d deviceRow) related(of func(run, base *session.Run) float64) any {
	if !d.timed() || d.base == nil || *d.base.EnergyUJ <= 0 {
		return nil
	}
	return of(d.run, d.base)
}

// deviceColumns are the columns of the table of devices.
var deviceColumns = table.Columns[deviceRow]{
	{Name: "soc", Meaning: "machine", Cell: func(d deviceRow) any { return d.soc }},
	{Name: "device", Meaning: "device that runs the network, or a part of it", Cell: deviceName},
	{Name: "latency", Unit: "us", Digits: 1, Meaning: "mean time of the invocations", Cell: func(d deviceRow) any {
		switch {
		case d.part != nil:
			return d.part.TimeUS
		case d.timed():
			return *d.run.LatencyUS
		}
		return nil
	}},
	{Name: "engine cycles", Meaning: "cycles of the engine's clock in which it works or waits for memory, without the host's part", Cell: func(d deviceRow) any {
		switch {
		case d.part != nil:
			return d.part.EngineCycles
		case d.timed() && d.run.EngineCycles != nil:
			return *d.run.EngineCycles
		}
		return nil
	}},
	{Name: "clock", Unit: "MHz", Meaning: "clock of the engine", Cell: func(d deviceRow) any {
		if !d.timed() || len(d.run.Devices) != 1 {
			return nil
		}
		return d.run.Devices[0].ClockMHz
	}},
	{Name: "energy", Unit: "uJ", Digits: 1, Meaning: "energy of the phone in an invocation", Cell: func(d deviceRow) any {
		switch {
		case d.part != nil:
			return d.part.EnergyUJ
		case d.timed():
			return *d.run.EnergyUJ
		}
		return nil
	}},
	{Name: "speed", Unit: "x", Digits: 2, Meaning: "speed relative to the CPU, with several SoCs to the same device of the first", Cell: func(d deviceRow) any {
		return d.related(func(run, base *session.Run) float64 { return *base.LatencyUS / *run.LatencyUS })
	}},
	{Name: "energy ratio", Unit: "x", Digits: 2, Meaning: "energy relative to the CPU, with several SoCs to the same device of the first", Cell: func(d deviceRow) any {
		return d.related(func(run, base *session.Run) float64 { return *run.EnergyUJ / *base.EnergyUJ })
	}},
	{Name: "mismatches", Meaning: "values that differ from the reference, or why there are none to compare", Cell: func(d deviceRow) any {
		switch {
		case d.part != nil:
			return nil
		case d.run.Status == session.StatusUnsupported, d.run.Status == session.StatusFailed:
			return d.run.Status
		}
		n := 0
		for _, o := range d.run.Outputs {
			n += o.Mismatches
		}
		return n
	}},
	{Name: "bound by", Meaning: "reason with the most cycles", Cell: func(d deviceRow) any {
		if !d.timed() || d.run.EngineCycles == nil {
			return nil
		}
		return largest(d.run.Stalls)
	}},
	{Name: "host", Unit: "s", Digits: 2, Meaning: "user CPU that compiling and simulating took on the host", Cell: func(d deviceRow) any {
		if d.part != nil || d.run.Host == nil {
			return nil
		}
		return d.run.Host.Prepare + d.run.Host.Run
	}},
}

// deviceName names the device of a row.
func deviceName(d deviceRow) any {
	switch {
	case d.part != nil:
		return "on " + d.part.Device
	case d.run.Model != "":
		return d.run.Device + " (float form)"
	}
	return d.run.Device
}

// operationRow is a row of the table of operations: an operation of a run.
type operationRow struct {
	run *session.Run
	*session.Operation
}

// operationRows are the operations of a run that have costs, in their order.
func operationRows(e *session.Run) []operationRow {
	var rows []operationRow
	for i := range e.Operations {
		if e.Operations[i].OperationCost != nil {
			rows = append(rows, operationRow{e, &e.Operations[i]})
		}
	}
	return rows
}

// operationColumns are the columns of the table of operations, in text and in the file of --csv.
var operationColumns = table.Columns[operationRow]{
	{Key: "run", Meaning: "device that was asked for", Cell: func(o operationRow) any { return o.run.Device }},
	{Key: "device", Meaning: "device that ran it", Cell: func(o operationRow) any { return o.Device }},
	{
		Name: "#", Key: "index", Meaning: "index in the network; below 0 costs of a device that belong to no operation",
		Cell: func(o operationRow) any { return o.Index },
		Text: func(o operationRow) any {
			if o.Index < 0 {
				return nil
			}
			return o.Index
		},
	},
	{Name: "operation", Key: "operation", Meaning: "type of the operation", Cell: func(o operationRow) any { return o.Type }},
	{Name: "device", Meaning: "device that ran it", Cell: func(o operationRow) any { return o.Device }},
	{
		Name: "output", Key: "output", Meaning: "shape of the first output",
		Cell: func(o operationRow) any {
			if len(o.Outputs) == 0 {
				return ""
			}
			return fmt.Sprint(o.Outputs[0])
		},
		Text: func(o operationRow) any {
			if o.Index < 0 || len(o.Outputs) == 0 {
				return ""
			}
			return fmt.Sprint(o.Outputs[0])
		},
	},
	{
		Name: "MMAC", Key: "macs", Digits: 1, Meaning: "multiply-accumulates",
		Cell: func(o operationRow) any { return o.MACs },
		Text: func(o operationRow) any { return float64(o.MACs) / 1e6 },
	},
	{Name: "cycles", Key: "cycles", Meaning: "cycles of the engine's clock; those of all rows of a device add up to its total cycles", Cell: func(o operationRow) any { return o.Cycles }},
	{Name: "time", Unit: "us", Key: "time_us", Digits: 1, Meaning: "its part of the latency", Cell: func(o operationRow) any { return o.TimeUS }},
	{Name: "share", Unit: "%", Digits: 1, Meaning: "share of the latency", Cell: func(o operationRow) any { return 100 * o.TimeUS / detailedUS(o.run) }},
	{Key: "energy_uj", Meaning: "its part of the energy", Cell: func(o operationRow) any { return o.EnergyUJ }},
	{Key: "dram_bytes", Meaning: "bytes that it moved from and to DRAM", Cell: func(o operationRow) any { return o.DRAMBytes }},
	{Name: "MAC/cycle", Digits: 1, Meaning: "multiply-accumulates in a cycle", Cell: func(o operationRow) any {
		if o.MACs == 0 || o.Cycles <= 0 {
			return nil
		}
		return float64(o.MACs) / float64(o.Cycles)
	}},
	{Name: "bound by", Key: "bound_by", Meaning: "class of most of the cycles", Cell: func(o operationRow) any { return o.BoundBy }},
	{Key: "node", Meaning: "node of the model file that it computes, alone or with others", Cell: func(o operationRow) any { return o.Node }},
	{Key: "tensor", Meaning: "tensor that it computes first", Cell: func(o operationRow) any { return o.Tensor }},
	{
		Name: "name", Meaning: "node of the model file, or tensor", Cell: func(o operationRow) any { return o.Name() },
		Text: func(o operationRow) any { return spelling.Short(o.Name(), longestName) },
	},
	{Name: "place", Key: "outside_nnapi", Meaning: "of operations that NNAPI lacks: the host, and whether the CPU model knows their time", Cell: func(o operationRow) any { return o.Host }},
}

// longestName bounds the names of a table for people, in characters.
const longestName = 48

// detailedUS is the latency of the invocation whose operations are reported.
func detailedUS(e *session.Run) float64 {
	if e.RowsOf != nil {
		return e.RowsOf.LatencyUS
	}
	return *e.LatencyUS
}
