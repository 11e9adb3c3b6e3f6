package launch

import (
	"cmp"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/cost"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
)

// candidate is a kernel, a variant or a register tile that a step could use, and the issue
// slots of its longest thread by package cost. Those of a list whose estimates do not differ
// are equal, and come in order of preference.
type candidate[K hvx.Kernel] struct {
	kernel K
	slots  int
}

// choose returns the candidate of the fewest slots that fits, the first of equal ones, and what
// was compared. ok is false when none fits.
func choose[K hvx.Kernel](list []candidate[K], fits func(K) bool) (k K, compared []cost.Choice, ok bool) {
	slices.SortStableFunc(list, func(a, b candidate[K]) int { return cmp.Compare(a.slots, b.slots) })
	for _, c := range list {
		x := cost.Choice{Kernel: c.kernel, Slots: c.slots}
		switch {
		case ok:
		case fits(c.kernel):
			k, ok, x.Verdict = c.kernel, true, cost.Chosen
		default:
			x.Verdict = cost.NoRegisters
		}
		compared = append(compared, x)
	}
	return k, compared, ok
}
