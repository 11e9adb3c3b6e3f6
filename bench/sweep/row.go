package sweep

import (
	"maps"
	"slices"
)

// Row is the result of a point.
type Row struct {
	Index   int               `json:"index"`
	Model   string            `json:"model"`
	Device  string            `json:"device"`
	SoC     string            `json:"soc"`
	SoCHash string            `json:"soc_hash"` // of all keys
	Build   string            `json:"build"`
	Keys    map[string]string `json:"soc_keys,omitempty"`
	Status  string            `json:"status"`
	Error   string            `json:"error,omitempty"`
	// Numbers are the measurements, by the names of columns.
	Numbers map[string]float64 `json:"numbers,omitempty"`
}

// Statuses of rows besides those of a run.
const (
	StatusOK    = "ok"
	StatusError = "error"
)

// leading are the columns of numbers that are first.
var leading = []string{"latency_us", "first_us", "energy_uj", "total_cycles", "clock_mhz", "mismatches", "fallback_operations"}

// numberNames are the names of the numbers of rows: the leading ones, then all others in
// alphabetic order.
func numberNames(rows []Row) []string {
	seen := map[string]bool{}
	for i := range rows {
		for k := range rows[i].Numbers {
			seen[k] = true
		}
	}
	var list []string
	for _, k := range leading {
		if seen[k] {
			list = append(list, k)
			delete(seen, k)
		}
	}
	return append(list, slices.Sorted(maps.Keys(seen))...)
}
