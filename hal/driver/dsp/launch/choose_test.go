package launch

import (
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/cost"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
)

// named is a kernel for a list of candidates.
type named string

func (k named) Name() string      { return string(k) }
func (named) Emit(b *hvx.Builder) {}

// TestChoose: the fewest slots that fit, the first of equal ones.
func TestChoose(t *testing.T) {
	list := func() []candidate[named] {
		return []candidate[named]{{"slow", 9}, {"first", 5}, {"second", 5}, {"no registers", 1}}
	}
	for _, c := range []struct {
		except, want named
	}{{"no registers", "first"}, {"none", "no registers"}} {
		got, compared, ok := choose(list(), func(k named) bool { return k != c.except })
		if !ok || got != c.want {
			t.Errorf("without %q: %q, want %q", c.except, got, c.want)
		}
		for _, x := range compared {
			want := cost.Slower
			if x.Kernel == hvx.Kernel(c.want) {
				want = cost.Chosen
			} else if x.Kernel == hvx.Kernel(c.except) {
				want = cost.NoRegisters
			}
			if x.Verdict != want {
				t.Errorf("without %q: %s: verdict %d, want %d", c.except, x.Kernel.Name(), x.Verdict, want)
			}
		}
	}
	if got, _, ok := choose(list(), func(named) bool { return false }); ok {
		t.Errorf("%q is chosen, which does not fit", got)
	}
}
