package cli

import (
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// SchemaVersion counts incompatible changes of the JSON objects. 2: names as in docs/JSON.md.
const SchemaVersion = 2

// ModelReport is a network in a JSON object.
type ModelReport struct {
	Model          string `json:"model"`
	OperationCount int    `json:"operation_count"`
	MACs           int64  `json:"macs"`
}

// NewModelReport describes a network.
func NewModelReport(m *nn.Model) ModelReport {
	return ModelReport{m.Name, len(m.Main.Operations), opspec.MACs(m)}
}

// HostTime is user CPU of this process.
type HostTime struct {
	Prepare float64 `json:"prepare_user_s"` // partitioning and lowering
	Execute float64 `json:"execute_user_s"` // the simulation
}

// Microseconds converts femtoseconds.
func Microseconds(fs int64) float64 { return float64(fs) / 1e9 }

// StallMap returns cycles by reason.
func StallMap(l []hal.StallCycles) map[string]int64 {
	m := map[string]int64{}
	for _, s := range l {
		m[s.Reason] = s.Cycles
	}
	return m
}
