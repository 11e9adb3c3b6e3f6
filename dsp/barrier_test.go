package dsp

import (
	"encoding/binary"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// barrierText is how threads proceed from one job to the next without an operating system: each loads the address of
// its code and eight arguments from a line that was not in L1D, calls it, counts itself out by locked accesses and
// polls until the last one has begun the next round. r0 counter, r1 round, r2 lines of the thread, r3 rounds, r4
// threads.
const barrierText = `
	{ r7 = r31 ; r6 = memw(r1+#0) }
next:
	{ r8 = memw(r2+#0) }
	{ r11:10 = memd(r2+#8) ; r13:12 = memd(r2+#16) }
	{ r15:14 = memd(r2+#24) ; r17:16 = memd(r2+#32) }
	{ r2 = add(r2,#128) }
	{ callr r8 }
again:
	{ r9 = memw_locked(r0) }
	{ r9 = add(r9,#-1) }
	{ memw_locked(r0,p0) = r9 }
	{ if (!p0) jump:nt again }
	{ r6 = add(r6,#1) ; p1 = cmp.eq(r9,#0) }
	{ if (!p1) jump:t poll }
	{ memw(r0+#0) = r4 }
	{ memw(r1+#0) = r6 ; jump done }
poll:
	{ r9 = memw(r1+#0) }
	{ p0 = cmp.eq(r9,r6) }
	{ if (!p0) jump:t poll }
done:
	{ r3 = add(r3,#-1) ; p0 = cmp.eq(r3,#1) }
	{ if (!p0) jump:t next }
	{ jumpr r7 }
job:
	{ jumpr r31 }
`

// TestBarrier: the presets' cost between two jobs covers that code on their own cores, and is no more than three times
// as much.
func TestBarrier(t *testing.T) {
	for _, preset := range []string{"pixel4", "sd888"} {
		s := presetSpec(t, preset)
		const most = 128
		got := (barrierRounds(t, s, most) - barrierRounds(t, s, most/2)) / (most / 2)
		t.Logf("%s: %d cycles, the preset has %d", preset, got, s.BarrierCycles)
		if got > s.BarrierCycles || 3*got < s.BarrierCycles {
			t.Errorf("%s: barrier_cycles = %d, the code takes %d", preset, s.BarrierCycles, got)
		}
	}
}

// barrierRounds is the cycles of all threads of a core for so many rounds.
func barrierRounds(t *testing.T, s Spec, rounds int) int64 {
	t.Helper()
	c := require.V(newCold(s))(t)
	const counter, round, lines = 0, 64, 128
	data := make([]byte, lines+128*rounds*s.Threads)
	binary.LittleEndian.PutUint32(data[counter:], uint32(s.Threads))
	warm := uint32(codeBase + len(assemble(t, codeBase, barrierText).Code))
	job := Job{Region: 1, Entry: codeBase, Threads: s.Threads}
	for i := range s.Threads {
		from := lines + 128*rounds*i
		for r := range rounds {
			binary.LittleEndian.PutUint32(data[from+128*r:], warm-4)
		}
		job.Args = append(job.Args, []uint32{dataAt + counter, dataAt + round, dataAt + uint32(from), uint32(rounds), uint32(s.Threads)})
	}
	p := assemble(t, codeBase, barrierText+loopOf(len(data)/128, "{ v0 = vmem(r0++#1) }")) // brings the lines to L2
	space := new(mem.Space)
	require.NoError(t, space.Map(mem.Segment{Name: "data", Base: dataAt, Data: data}))
	rep := require.V(c.Run(p, space, []Job{{Entry: warm, Threads: 1, Args: [][]uint32{{dataAt}}}, job}, Options{}))(t)
	if n := binary.LittleEndian.Uint32(data[round:]); n != uint32(rounds) {
		t.Errorf("%s: %d rounds, want %d", s.Name, n, rounds)
	}
	return rep.Regions[1].Cycles
}

// TestFirstJob: a run wakes its threads once; jobs after the first cost a barrier.
func TestFirstJob(t *testing.T) {
	s := microSpec(t, "pixel4")
	s.JobStartCycles, s.BarrierCycles = 500, 70
	c := require.V(newCold(s))(t)
	var jobs []Job
	for i := range 3 {
		jobs = append(jobs, Job{Region: i, Entry: codeBase, Threads: 1})
	}
	rep := require.V(c.Run(assemble(t, codeBase, "\tjumpr r31\n"), new(mem.Space), jobs, Options{}))(t)
	for i, want := range []int64{500, 70, 70} {
		require.Same(t, want, rep.Regions[i].Stalls[sim.StallLaunch], "job", i, "cycles of launch")
	}
}
