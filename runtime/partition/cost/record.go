package cost

import "github.com/nnsoc/nnsoc/runtime/partition"

// Row is a share of an execution.
type Row struct {
	TimeFs   int64   `json:"time_fs"`
	EnergyPJ float64 `json:"energy_pj"`
}

func (r Row) plus(s Row) Row { return Row{r.TimeFs + s.TimeFs, r.EnergyPJ + s.EnergyPJ} }

func (r Row) cost() partition.Cost {
	return partition.Cost{TimeFs: float64(r.TimeFs), EnergyPJ: r.EnergyPJ}
}

// Record is what an execution of a segment cost. Its rows add up to it.
type Record struct {
	Row
	Failed     bool  `json:"failed,omitempty"` // the device could not do it after all
	Launch     Row   `json:"launch"`
	Transfer   Row   `json:"transfer"`
	Bytes      int64 `json:"bytes"` // of inputs and outputs
	Executions int64 `json:"executions"`
	Operations []Row `json:"operations"`
}

func (r *Record) cost() partition.Cost {
	if r.Failed {
		return never
	}
	return r.Row.cost()
}

// add sums records, without their operations.
func (r *Record) add(s Record) {
	if s.Failed {
		return
	}
	r.Row = r.Row.plus(s.Row)
	r.Launch, r.Transfer = r.Launch.plus(s.Launch), r.Transfer.plus(s.Transfer)
	r.Bytes += s.Bytes
	r.Executions += s.Executions
}

// fixed is the cost of an execution that does nothing.
func (r *Record) fixed() partition.Cost {
	n := float64(max(r.Executions, 1))
	return partition.Cost{TimeFs: float64(r.Launch.TimeFs) / n, EnergyPJ: r.Launch.EnergyPJ / n}
}

// perByte is the cost of a byte of input or output.
func (r *Record) perByte() partition.Cost {
	n := float64(max(r.Bytes, 1))
	return partition.Cost{TimeFs: float64(r.Transfer.TimeFs) / n, EnergyPJ: r.Transfer.EnergyPJ / n}
}
