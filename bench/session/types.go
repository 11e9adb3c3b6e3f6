package session

import (
	"cmp"
	"slices"
)

// TypeSum is the cost of all operations of a type on a device.
type TypeSum struct {
	Type      string  `json:"type"`
	Device    string  `json:"device"`
	Count     int     `json:"operation_count"`
	MACs      int64   `json:"macs"`
	TimeUS    float64 `json:"time_us"`
	EnergyUJ  float64 `json:"energy_uj"`
	DRAMBytes int64   `json:"dram_bytes"`
	BoundBy   string  `json:"bound_by"` // the reason with the most cycles of all

	stalls map[string]int64
}

// sumTypes adds up the rows of operations by type and device, the most time first.
func sumTypes(rows []Operation) []TypeSum {
	var sums []TypeSum
	for k := range rows {
		o := &rows[k]
		if o.OperationCost == nil {
			continue
		}
		i := slices.IndexFunc(sums, func(s TypeSum) bool { return s.Type == o.Type && s.Device == o.Device })
		if i < 0 {
			sums = append(sums, TypeSum{Type: o.Type, Device: o.Device, stalls: map[string]int64{}})
			i = len(sums) - 1
		}
		s := &sums[i]
		s.Count++
		s.MACs += o.MACs
		s.TimeUS += o.TimeUS
		s.EnergyUJ += o.EnergyUJ
		s.DRAMBytes += o.DRAMBytes
		for reason, n := range o.Stalls {
			s.stalls[reason] += n
		}
	}
	for i := range sums {
		sums[i].BoundBy = largest(sums[i].stalls)
	}
	slices.SortStableFunc(sums, func(a, b TypeSum) int { return cmp.Compare(b.TimeUS, a.TimeUS) })
	return sums
}

// largest is the key of the largest count, the first by name of equals, "" of none.
func largest(counts map[string]int64) (most string) {
	for name, n := range counts {
		if most == "" || n > counts[most] || n == counts[most] && name < most {
			most = name
		}
	}
	return most
}
