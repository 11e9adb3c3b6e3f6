package dsp

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/nn"
)

// lower lowers a model whose parameters are constants as d prepares it.
func lower1(t *testing.T, d *Device, m *nn.Model) *planner {
	t.Helper()
	p, err := d.PrepareModel(m, hal.PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return planned(t, base.Programs(p)[0][0].(*plan))
}

// planned plans the graph of a plan once more.
func planned(t *testing.T, p *plan) *planner {
	t.Helper()
	list, err := lowerGraph(p.graph, newObject(p.dev.threads(), p.dev.machine(), &p.dev.kernels))
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := planSteps(list, &p.dev.cfg.Spec)
	if err != nil {
		t.Fatal(err)
	}
	return jobs
}

// banded counts the steps with jobs for several bands of rows.
func banded(l *planner) (n int) {
	last := map[*step]int{}
	for i := range l.jobs {
		s := l.jobs[i].step
		if j, ok := last[s]; ok && l.jobs[i-1].step != s && j >= 0 {
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
		d, err := New(Config{Spec: s, NewMemory: cfg.NewMemory})
		if err != nil {
			t.Fatal(err)
		}
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
	last := map[*step]int{}
	for i := range l.jobs {
		s := l.jobs[i].step
		if j, ok := last[s]; ok && j != i-1 && l.jobs[i].name != "fetch" && l.jobs[i-1].name != "fetch" && s.op > 16 {
			t.Errorf("operation %d of 28x28 and less runs in bands", s.op)
		}
		last[s] = i
	}
}

// TestLookAhead: what fetch jobs of a network bring to VTCM has been asked for by
// jobs before them, and never more than L2 holds.
func TestLookAhead(t *testing.T) {
	d := device(t)
	l := lower1(t, d, zoo.MustBuild("mobilenet_v1_1.0_224_quant"))
	asked := make([]bool, len(l.consts)/vecBytes+1)
	total, missed := 0, 0
	batches := l.vtcm.batches
	for j := range l.jobs {
		if len(batches) > 0 && batches[0].job == j {
			for _, r := range batches[0].ranges {
				for line := (r.src - constBase) / vecBytes; line < (r.src-constBase+r.bytes)/vecBytes; line++ {
					if total++; !asked[line] {
						missed++
					}
				}
			}
			batches = batches[1:]
		}
		at := l.jobs[j].prefetchArg
		if at == 0 {
			continue
		}
		bytes := 0
		for _, a := range l.jobs[j].args {
			rows, stride := a[at+1]&0xffff, a[at+2]
			if a[at] < constBase || a[at] >= arenaBase {
				continue // inputs
			}
			for row := range rows {
				line := (a[at] - constBase + row*stride) / vecBytes
				if int(line) < len(asked) {
					asked[line] = true
				}
			}
			bytes += int(rows) * vecBytes
		}
		if bytes > d.cfg.Spec.L2.Bytes && l.jobs[j].step.op < 26 {
			t.Errorf("job %d (operation %d) asks for %d bytes", j, l.jobs[j].step.op, bytes)
		}
	}
	if missed*10 > total {
		t.Errorf("%d of %d lines of weights are not asked for before they are fetched", missed, total)
	}
}
