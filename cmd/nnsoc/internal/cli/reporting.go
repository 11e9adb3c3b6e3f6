package cli

import (
	"github.com/nnsoc/nnsoc/hal"
)

// SchemaVersion counts incompatible changes of the JSON objects.
const SchemaVersion = 1

// ModelReport names a network in a JSON object.
type ModelReport struct {
	Name       string `json:"name"`
	Operations int    `json:"operations"`
	MACs       int64  `json:"macs"`
}

// HostTime is user CPU of this process, in seconds.
type HostTime struct {
	Prepare float64 `json:"prepare"` // partitioning and lowering
	Execute float64 `json:"execute"`
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
