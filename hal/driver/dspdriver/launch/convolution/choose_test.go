package convolution

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/cost"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// counted is a kernel for a list of candidates: a loop of so many rounds.
type counted struct {
	name   string
	rounds int
}

func (k counted) Name() string { return k.name }

func (k counted) Emit(b *hvx.Builder) {
	x := b.Imm(0)
	b.Loop0(k.rounds, func() { b.Op(hexagon.A2_addi, x, x, 1) })
	b.Ret()
}

// countedRun is work with such a kernel.
type countedRun struct {
	code   *hvx.Linked
	packed bool
}

func (r *countedRun) Launch(l *step.Launcher, _ step.Rows) {
	l.Launch(r.code, [][]uint32{nil})
}

func (r *countedRun) pack() { r.packed = true }

// TestChoose: the fewest cycles, the first of equal ones, the next form where one does not fit.
func TestChoose(t *testing.T) {
	slow, first, second := counted{"slow", 9}, counted{"first", 6}, counted{"second", 6}
	fast, next := counted{"fast", 2}, counted{"next form", 4}
	for _, c := range []struct {
		except []counted // have no registers
		asked  string    // for by a client
		want   counted
		order  []counted // of what is compared
	}{
		{nil, "", fast, []counted{fast, first, second, slow}},
		{[]counted{fast}, "", next, []counted{fast, next, first, second, slow}},
		{[]counted{fast, next}, "", first, []counted{fast, next, first, second, slow}},
		{[]counted{fast, next, first}, "", second, []counted{fast, next, first, second, slow}},
		{nil, "second", second, []counted{second, fast, first, slow}},
		{[]counted{second}, "second", fast, []counted{second, fast, first, slow}},
		{nil, "another", fast, []counted{fast, first, second, slow}},
	} {
		l := &step.Launcher{Object: &step.Object{Candidates: map[int]string{0: c.asked}, Threads: 1, Machine: cost.Machine{IssueInterval: 2, MemoryRate: 1e6}, Image: hvx.NewImage(0, hvx.Machine{IssueInterval: 2}, &hvx.Cache{})}, Step: &step.Step{}}
		w := choose(l, [][]counted{{slow}, {first}, {}, {second}, {fast, next}}, func(to *step.Launcher, k counted) run {
			if to == l && slices.Contains(c.except, k) {
				to.Fail(fmt.Errorf("%s has no registers", k.name))
			}
			return &countedRun{code: to.Kernel(k)}
		})
		if r := w.(*countedRun); r.code.Name != c.want.name || !r.packed {
			t.Errorf("without %v: %q, packed %v, want %q", c.except, r.code.Name, r.packed, c.want.name)
		}
		var order []counted
		for _, x := range l.Step.Choices {
			k := x.Kernel.(counted)
			order = append(order, k)
			want := cost.Slower
			if k == c.want {
				want = cost.Chosen
			} else if slices.Contains(c.except, k) {
				want = cost.NoRegisters
			} else if k.rounds < c.want.rounds {
				want = cost.PassedOver
			}
			if x.Verdict != want || x.Cycles <= 0 {
				t.Errorf("without %v: %s: %d cycles, verdict %d, want %d", c.except, k.name, x.Cycles, x.Verdict, want)
			}
		}
		require.Equal(t, c.order, order, "without", c.except, "compared")
	}
	l := &step.Launcher{Object: &step.Object{Image: hvx.NewImage(0, hvx.Machine{IssueInterval: 2}, &hvx.Cache{})}, Step: &step.Step{}}
	var err error
	func() {
		defer try.Catch(&err)
		choose(l, [][]counted{{slow}}, func(l *step.Launcher, _ counted) run { l.Fail(errors.New("none")); return nil })
	}()
	require.Same(t, "operation 0: none", err.Error(), "of a kernel that does not fit")
}
