package cli

import (
	"github.com/nnsoc/nnsoc/hal"
)

// SchemaVersion counts incompatible changes of the JSON objects. 2: names as in docs/JSON.md.
const SchemaVersion = 2

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
