package convolution

import (
	"cmp"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/cost"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
	"github.com/nnsoc/nnsoc/internal/try"
)

// run is work with a kernel of its own. Its records are packed when the kernel is chosen; until
// then it can be launched for an estimate.
type run interface {
	step.Work
	pack()
}

// candidate is a kernel that a step could use: the first of some forms, each of which needs
// fewer registers than the ones before, or is no better.
type candidate[K hvx.Kernel] struct {
	forms  []K
	cycles int // estimated for the first form
}

// choose begins the work of a step with the candidate of the fewest estimated cycles, the first
// of equal ones, and packs its records; one that Object.Candidates names has priority. Where it
// does not fit the registers, its next form becomes a candidate. The step records the candidates
// that were compared.
func choose[K hvx.Kernel](l *step.Launcher, list [][]K, begin func(l *step.Launcher, k K) run) step.Work {
	list = slices.DeleteFunc(list, func(forms []K) bool { return len(forms) == 0 })
	var last error
	var queue []candidate[K] // the fewest cycles first
	add := func(forms []K) {
		for ; len(forms) > 0; forms = forms[1:] {
			c := candidate[K]{forms: forms}
			if len(list) > 1 { // there is something to compare
				var err error
				c.cycles, err = l.Estimate(func(l *step.Launcher) step.Work { return begin(l, forms[0]) })
				if err != nil {
					last = err
					continue
				}
			}
			at, _ := slices.BinarySearchFunc(queue, c.cycles+1, func(c candidate[K], n int) int { return cmp.Compare(c.cycles, n) })
			queue = slices.Insert(queue, at, c)
			return
		}
	}
	for _, forms := range list {
		add(forms)
	}
	if name := l.Candidates[l.Step.Op]; name != "" {
		if i := slices.IndexFunc(queue, func(c candidate[K]) bool { return c.forms[0].Name() == name }); i > 0 {
			c := queue[i]
			queue = slices.Insert(slices.Delete(queue, i, i+1), 0, c)
		}
	}
	l.Step.Choices = nil
	note := func(c candidate[K], v cost.Verdict) {
		l.Step.Choices = append(l.Step.Choices, cost.Choice{Kernel: c.forms[0], Cycles: c.cycles, Verdict: v})
	}
	for len(queue) > 0 {
		c := queue[0]
		queue = queue[1:]
		w, err := attempt(func() run { return begin(l, c.forms[0]) })
		if err != nil {
			last = err
			note(c, cost.NoRegisters)
			add(c.forms[1:])
			continue
		}
		note(c, cost.Chosen)
		for _, x := range queue {
			v := cost.Slower
			if x.cycles < c.cycles {
				v = cost.PassedOver
			}
			note(x, v)
		}
		if !l.IsTrial {
			w.pack()
		}
		return w
	}
	try.E(last)
	return nil
}

// attempt begins work whose kernel may not fit the registers.
func attempt(begin func() run) (w run, err error) {
	defer try.Catch(&err)
	return begin(), nil
}
