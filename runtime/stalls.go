package nnrt

import (
	"sort"

	"github.com/nnsoc/nnsoc/hal"
)

// stallSum adds up cycles by reason over the parts of a run.
type stallSum map[string]int64

// list orders the reasons by cycles, then by name.
func (s stallSum) list() []hal.StallCycles {
	var l []hal.StallCycles
	for reason, cycles := range s {
		if cycles != 0 {
			l = append(l, hal.StallCycles{Reason: reason, Cycles: cycles})
		}
	}
	sort.Slice(l, func(i, j int) bool {
		if l[i].Cycles != l[j].Cycles {
			return l[i].Cycles > l[j].Cycles
		}
		return l[i].Reason < l[j].Reason
	})
	return l
}
