package launch

import (
	"cmp"
	"slices"
)

// candidate is a kernel, a variant or a register tile that a step could use, and the packets
// of its longest thread by package cost. Those of a list whose estimates do not differ are
// equal, and come in order of preference.
type candidate[K any] struct {
	kernel  K
	packets int
}

// choose returns the candidate of the fewest packets that fits, the first of equal ones. ok
// is false when none fits.
func choose[K any](list []candidate[K], fits func(K) bool) (k K, ok bool) {
	slices.SortStableFunc(list, func(a, b candidate[K]) int { return cmp.Compare(a.packets, b.packets) })
	for _, c := range list {
		if fits(c.kernel) {
			return c.kernel, true
		}
	}
	return k, false
}
