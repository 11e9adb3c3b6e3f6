package dsp

import (
	"fmt"
	"testing"

	"github.com/nnsoc/nnsoc/internal/cputime"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// storeTexts write r2 vectors to r0, from one register or from r1.
var storeTexts = []struct{ name, text string }{
	{"fill", "{ loop0(1f,r2) ; v0 = vsplat(r1) }\n1:\n{ vmem(r0++#1) = v0 ; nop }:endloop0\n{ jumpr r31 }"},
	{"copy", "{ loop0(1f,r2) }\n1:\n{ v0 = vmem(r1++#1) ; vmem(r0++#1) = v0.new }:endloop0\n{ jumpr r31 }"},
	{"copy unaligned", "{ loop0(1f,r2) ; r0 = add(r0,#3) }\n1:\n{ v0 = vmemu(r1++#1) }\n{ vmemu(r0++#1) = v0 ; nop }:endloop0\n{ jumpr r31 }"},
}

// storeRun is one of storeTexts over a number of vectors.
func storeRun(t testing.TB, text string, vectors int) (*Program, *mem.Space, []Job) {
	t.Helper()
	space := new(mem.Space)
	for i, base := range []uint64{outBase, actBase} {
		require.NoError(t, space.Map(mem.Segment{Name: fmt.Sprint(i), Base: base, Data: make([]byte, 128*(vectors+2))}))
	}
	return assemble(t, 0x10000, text), space, []Job{{Entry: 0x10000, Threads: 1, Args: [][]uint32{{outBase, actBase, uint32(vectors)}}}}
}

// BenchmarkStores is the user CPU of a vector store, in L2 and beyond.
func BenchmarkStores(b *testing.B) {
	for _, s := range storeTexts {
		for _, kib := range []int{64, 8192} {
			b.Run(fmt.Sprintf("%s/%dKiB", s.name, kib), func(b *testing.B) {
				vectors := kib * 8
				p, space, jobs := storeRun(b, s.text, vectors)
				for len(jobs) < 1<<16/vectors {
					jobs = append(jobs, jobs[0])
				}
				c := testCore(b)
				begin := cputime.User()
				for b.Loop() {
					require.V(c.Run(p, space, jobs, Options{}))(b)
				}
				b.ReportMetric(float64(cputime.User()-begin)/float64(b.N*len(jobs)*vectors), "user-ns/store")
			})
		}
	}
}

// TestNoAllocationWhileRunning: a run allocates to begin with, not per packet.
func TestNoAllocationWhileRunning(t *testing.T) {
	c := testCore(t)
	allocs := func(vectors int) float64 {
		p, space, jobs := storeRun(t, storeTexts[1].text, vectors)
		return testing.AllocsPerRun(3, func() {
			require.V(c.Run(p, space, jobs, Options{}))(t)
		})
	}
	if few, many := allocs(64), allocs(1<<15); many > few+8 {
		t.Errorf("%.0f allocations for 64 vectors, %.0f for %d", few, many, 1<<15)
	}
}
