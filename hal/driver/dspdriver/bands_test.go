package dspdriver

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/lower"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/lower/family"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/plan"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// lower1 lowers a model whose parameters are constants as d prepares it.
func lower1(t *testing.T, d *Device, m *nn.Model) *plan.Program {
	t.Helper()
	p := require.V(d.PrepareModel(m, hal.PrepareOptions{}))(t)
	return planned(t, compile.Programs(p)[0][0].(*executable))
}

// planned plans the graph of an executable once more.
func planned(t *testing.T, p *executable) *plan.Program {
	t.Helper()
	list := require.V(lower.Graph(family.All(), p.Graph, plan.NewObject(&p.dev.cfg.Spec, p.dev.kernels), nil))(t)
	jobs := require.V(plan.New(list, &p.dev.cfg.Spec))(t)
	return jobs
}

// banded counts the steps with jobs for several bands of rows.
func banded(l *plan.Program) (n int) {
	last := map[*step.Step]int{}
	for i := range l.Jobs {
		s := l.Jobs[i].Step
		if j, ok := last[s]; ok && l.Jobs[i-1].Step != s && j >= 0 {
			n++
			last[s] = -1
			continue
		} else if ok {
			continue
		}
		last[s] = i
	}
	return n
}

// TestBands runs random graphs on a machine whose L2 holds so little that steps
// run in bands and operands are fetched ahead.
func TestBands(t *testing.T) {
	cfg := device(t).cfg
	base := cfg.Spec
	base.L2.Bytes, base.BarrierCycles = 8<<10, 0
	n := 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 31))
		s := base
		s.Threads = pick(r, 1, 3, 4)
		s.Contexts = s.Threads
		s.VTCMBytes = pick(r, base.VTCMBytes, 0, 40<<10)
		d := require.V(New(Config{Spec: s, NewMemory: cfg.NewMemory}))(t)
		b := newBuilder(r)
		in := b.activation(quantType(r), pick(r, 1, 1, 1, 2), 3+r.IntN(14), 3+r.IntN(14), pick(r, 3, 16, 33, 128))
		values := []uint32{b.input(in)}
		for range 3 + r.IntN(6) {
			// Mostly a chain, so that steps follow their producers.
			y := b.grow(values[max(0, len(values)-1-r.IntN(2)):])
			if b.m.Main.Operands[y].Dimensions[3] < 300 {
				values = append(values, y)
			}
		}
		b.finish()
		n += banded(lower1(t, d, &b.m))
		b.run(t, d, fmt.Sprintf("%d_%v_%d", seed, in.Dimensions, len(b.m.Main.Operations)))
	}
	if n < 40 {
		t.Errorf("%d steps ran in bands", n)
	}
}

// TestBandsOfMobileNet: the first operations, and none of those whose tensors
// stay in L2.
func TestBandsOfMobileNet(t *testing.T) {
	l := lower1(t, device(t), zoo.MustBuild("mobilenet_v2_1.0_224_quant"))
	if n := banded(l); n < 8 {
		t.Errorf("%d steps run in bands", n)
	}
	last := map[*step.Step]int{}
	for i := range l.Jobs {
		s := l.Jobs[i].Step
		if j, ok := last[s]; ok && j != i-1 && l.Jobs[i].Name != "fetch" && l.Jobs[i-1].Name != "fetch" && s.Op > 16 {
			t.Errorf("operation %d of 28x28 and less runs in bands", s.Op)
		}
		last[s] = i
	}
}
