package dsp

import (
	"testing"

	"github.com/nnsoc/nnsoc/dsp/internal/asm"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// TestVTCMLoads counts alternating vector loads from VTCM and from L2, in the same packets, from round to round and
// from thread to thread, with a predicate and without one, before and after the first scatter.
func TestVTCMLoads(t *testing.T) {
	const rounds = 40
	for _, c := range []struct {
		name, body string
		vtcm, l2   int64 // loads of a thread in two rounds
	}{
		{"one", "{ v0 = vmem(r0+#0) ; r0 = xor(r0,r9) }\n{ nop }", 1, 1},
		{"two", "{ v0 = vmem(r0+#0) }\n{ v1 = vmem(r7+#1) ; r0 = xor(r0,r9) }\n{ r7 = xor(r7,r9) ; nop }", 2, 2},
		{"unaligned", "{ v0 = vmemu(r0+#0) ; r0 = xor(r0,r9) }\n{ nop }", 1, 1},
		{"predicate", "{ p0 = cmp.gtu(r8,r0) }\n{ if (p0) v0 = vmem(r0+#0) ; r0 = xor(r0,r9) }\n{ nop }", 0, 1},
		{"scatter", "{ v0 = vmem(r0+#0) }\n{ vscatter(r8,m0,v1.h).h = v2 }\n{ v1 = vmem(r8+#2) ; r0 = xor(r0,r9) }\n{ nop }", 3, 1},
	} {
		for _, handlers := range []*asm.Handlers{asm.Host(), nil} {
			core := testCore(t)
			core.asm = handlers
			spec := core.Spec()
			p := assemble(t, codeBase, "{ m0 = r12 }\n{ loop0(1f,r4) }\n1:\n"+c.body+":endloop0\n{ jumpr r31 }\n")
			space := new(mem.Space)
			for _, s := range []mem.Segment{{Name: "dram", Base: outBase, Data: make([]byte, 1<<12)}, {Name: "vtcm", Base: uint64(spec.VTCMBase), Data: make([]byte, 1<<12)}} {
				require.NoError(t, space.Map(s))
			}
			job := Job{Entry: codeBase, Threads: spec.Contexts}
			at := [2]uint32{outBase, spec.VTCMBase}
			for i := range job.Threads {
				job.Args = append(job.Args, []uint32{0: at[i%2], 4: rounds, 7: at[(i+1)%2], 8: spec.VTCMBase, 9: at[0] ^ at[1], 12: 0})
			}
			rep := require.V(core.Run(p, space, []Job{job}, Options{}))(t)
			var got [2]int64
			for _, k := range rep.Counters {
				switch k.Name {
				case "vtcm":
					got[0] = k.Value
				case "l2_read":
					got[1] = k.Value
				}
			}
			n := int64(job.Threads) * rounds / 2
			scatters := int64(0)
			if c.name == "scatter" {
				scatters = 2 * n * (64 / elementsPerRow)
			}
			if want := [2]int64{n*c.vtcm + scatters, n * c.l2}; got[0] != want[0] || got[1] < want[1] || got[1] > want[1]+4 {
				t.Errorf("%s: %d loads from VTCM and %d reads of L2, want %d and as many as fetch the code more than %d", c.name, got[0], got[1], want[0], want[1])
			}
		}
	}
}

// TestReopen: the first scatter puts the pending loads from VTCM into the order of events.
func TestReopen(t *testing.T) {
	for _, c := range []struct{ open, free, want uint64 }{{0, 0b1111, 0}, {0b100, 0b11011, 0b11100}, {0b1, 0b10, 0b11}} {
		p := pipeline{open: c.open, free: c.free}
		if n := p.reopen(); p.open != c.want || n != int64(len(ones(c.want&^c.open))) {
			t.Errorf("open %b, free %b: %b and %d loads from VTCM, want %b", c.open, c.free, p.open, n, c.want)
		}
	}
}

// ones are the numbers of the bits that are set.
func ones(set uint64) (list []int) {
	for i := range 64 {
		if set>>i&1 != 0 {
			list = append(list, i)
		}
	}
	return list
}
