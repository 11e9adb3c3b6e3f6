package coretest

import (
	"bytes"
	"cmp"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// Suite is a core and a program for it. S is the core's *State.
type Suite[S any] struct {
	// NewState makes a cold state of the core in front of a memory.
	NewState func(mem.Level) (S, error)
	// Reset makes a state cold; nil where nothing of a run outlives it.
	Reset func(S)
	// Run runs one program, the same in all calls, on new data and returns its results. It reads bytes of the memory
	// that no other instruction has read.
	Run func(Run[S]) (*sim.Report, []byte, error)
	// Deadlock runs a program in which work waits for an event that never occurs, or that never ends; Waits is a part
	// of the error, which names the waiter or the work that continues.
	Deadlock func(Run[S]) error
	Waits    string
	// SharedCycles means that threads share the cycles of a region in its profile: each of their reasons gets its part,
	// where a report has the reasons of the thread that ended last.
	SharedCycles bool
	// OtherState makes a state of another core of the same machine.
	OtherState func(mem.Level) (S, error)
}

// Run is one run of the program.
type Run[S any] struct {
	Functional bool
	Memory     mem.Level
	State      S // the zero value for none
	Rounds     int
	Profile    *sim.Profile // nil: none
}

// Test checks the contract.
func (s *Suite[S]) Test(t *testing.T) {
	t.Run("Account", s.account)
	t.Run("Profile", s.profile)
	t.Run("Repeatable", s.repeatable)
	t.Run("Functional", s.functional)
	t.Run("Concurrent", s.concurrent)
	t.Run("Memory", s.memory)
	t.Run("Energy", s.energy)
	t.Run("Refusals", s.refusals)
	t.Run("Warm", s.warm)
	t.Run("Allocations", s.allocations)
	t.Run("Deadlock", s.deadlock)
}

// outcome is the result of a run.
type outcome struct {
	report *sim.Report
	bytes  []byte
}

func (s *Suite[S]) run(t testing.TB, r Run[S]) outcome {
	t.Helper()
	r.Rounds = cmp.Or(r.Rounds, 2)
	rep, b := require.V2(s.Run(r))(t)
	if len(b) == 0 || len(bytes.Trim(b, "\x00")) == 0 {
		t.Fatal("the program leaves nothing")
	}
	return outcome{rep, b}
}

// cold runs the program with a new memory and a new state.
func (s *Suite[S]) cold(t testing.TB) outcome { return s.run(t, Run[S]{Memory: &Flat{}}) }

func (s *Suite[S]) state(t testing.TB, m mem.Level) S {
	t.Helper()
	st := require.V(s.NewState(m))(t)
	return st
}

// same reports where two outcomes differ.
func same(t testing.TB, what string, got, want outcome) {
	t.Helper()
	if !reflect.DeepEqual(got.report, want.report) {
		t.Errorf("%s: the report differs:\n%+v\nwant\n%+v", what, got.report, want.report)
	}
	if !bytes.Equal(got.bytes, want.bytes) {
		t.Errorf("%s: the bytes differ", what)
	}
}

// account: the reasons of a run add up to its cycles, and so do its regions.
func (s *Suite[S]) account(t *testing.T) {
	r := s.cold(t).report
	if r.Cycles <= 0 || r.Instructions <= 0 || r.EnergyPJ <= 0 || r.Hz <= 0 {
		t.Fatalf("a report without costs: %+v", r)
	}
	if n := r.Stalls.Total(); n != r.Cycles {
		t.Errorf("reasons add up to %d of %d cycles", n, r.Cycles)
	}
	if want := (sim.Clock{Hz: r.Hz}).At(r.Cycles); r.Time != want {
		t.Errorf("%d cycles take %d fs, want %d", r.Cycles, r.Time, want)
	}
	var sum sim.StallTable
	var cycles int64
	for i := range r.Regions {
		g := &r.Regions[i]
		cycles += g.Cycles
		sum.Add(&g.Stalls)
		if n := g.Stalls.Total(); n != g.Cycles {
			t.Errorf("region %d: reasons add up to %d of %d cycles", g.ID, n, g.Cycles)
		}
		for why, n := range g.Stalls {
			if n < 0 {
				t.Errorf("region %d: %d cycles of %s", g.ID, n, sim.Reason(why))
			}
		}
	}
	if cycles != r.Cycles || sum != r.Stalls {
		t.Errorf("regions add up to %d cycles %v, the run has %d %v", cycles, sum, r.Cycles, r.Stalls)
	}
}

// profile: the costs of a program's places add up to those of the run's regions, and profiling changes nothing.
func (s *Suite[S]) profile(t *testing.T) {
	want := s.cold(t)
	p := &sim.Profile{}
	got := s.run(t, Run[S]{Memory: &Flat{}, Profile: p})
	same(t, "a run with a profile", got, want)
	sums := map[int]*sim.RegionReport{}
	for i := range want.report.Regions {
		g := &want.report.Regions[i]
		sums[g.ID] = &sim.RegionReport{ID: g.ID}
	}
	instructions := int64(0)
	for i := range p.Samples {
		x := &p.Samples[i]
		if x.Program == "" || x.Text == "" || x.At < 0 && x.At != sim.NoInstruction || x.Count < 0 {
			t.Errorf("a sample of nowhere: %+v", x)
		}
		g := sums[x.Region]
		if g == nil {
			t.Fatalf("a sample of region %d, which the run does not have", x.Region)
		}
		g.Cycles += x.Stalls.Total()
		g.Stalls.Add(&x.Stalls)
		g.EnergyPJ += x.EnergyPJ
		if x.At != sim.NoInstruction {
			instructions += x.Count
		}
		if x.EnergyPJ < -1e-6*want.report.EnergyPJ {
			t.Errorf("%s %s: %g pJ", x.Program, x.Text, x.EnergyPJ)
		}
	}
	for i := range want.report.Regions {
		g, sum := &want.report.Regions[i], sums[want.report.Regions[i].ID]
		if sum.Cycles != g.Cycles || !(math.Abs(sum.EnergyPJ-g.EnergyPJ) <= 1e-9*g.EnergyPJ) {
			t.Errorf("region %d: samples of %d cycles and %g pJ, it has %d and %g", g.ID, sum.Cycles, sum.EnergyPJ, g.Cycles, g.EnergyPJ)
		}
		if !s.SharedCycles && sum.Stalls != g.Stalls {
			t.Errorf("region %d: samples of %v, it has %v", g.ID, sum.Stalls, g.Stalls)
		}
	}
	if instructions == 0 {
		t.Error("no instruction was executed")
	}
}

// repeatable: a new state, a reused one and a reset one yield the same report and the same bytes.
func (s *Suite[S]) repeatable(t *testing.T) {
	want := s.cold(t)
	same(t, "another run", s.cold(t), want)
	m := &Flat{}
	st := s.state(t, m)
	same(t, "a new state", s.run(t, Run[S]{State: st}), want)
	for range 2 {
		m.Reset()
		if s.Reset != nil {
			s.Reset(st)
		}
		same(t, "a state made cold", s.run(t, Run[S]{State: st}), want)
	}
}

// functional: a run without timing leaves the same bytes and reports no cycles.
func (s *Suite[S]) functional(t *testing.T) {
	want := s.cold(t)
	for _, r := range []Run[S]{{Functional: true}, {Functional: true, Memory: &Flat{}}} {
		got := s.run(t, r)
		if !bytes.Equal(got.bytes, want.bytes) {
			t.Error("the bytes differ from those of a timed run")
		}
		if got.report.Cycles != 0 || got.report.Time != 0 || got.report.EnergyPJ != 0 {
			t.Errorf("costs without timing: %+v", got.report)
		}
	}
	same(t, "a timed run behind functional ones", s.cold(t), want)
}

// concurrent: runs of one core and one program at the same time do not see each
// other.
func (s *Suite[S]) concurrent(t *testing.T) {
	want := s.cold(t)
	const runs = 4
	var got [runs]outcome
	var errs [runs]error
	var wg sync.WaitGroup
	for i := range runs {
		wg.Go(func() {
			for range 3 {
				rep, b, err := s.Run(Run[S]{Memory: &Flat{}, Rounds: 2})
				got[i], errs[i] = outcome{rep, b}, err
			}
		})
	}
	wg.Wait()
	for i := range runs {
		if errs[i] != nil {
			t.Fatal(errs[i])
		}
		same(t, "a concurrent run", got[i], want)
	}
}

// memory: a run uses the memory it is given, does not reset it, calls it in roughly rising order, and is longer when it
// is slower.
func (s *Suite[S]) memory(t *testing.T) {
	fast, slow := &Flat{}, &Flat{Latency: 20 * sim.Microsecond}
	a := s.run(t, Run[S]{Memory: fast})
	b := s.run(t, Run[S]{Memory: slow})
	if fast.Reads == 0 || fast.Bytes == 0 {
		t.Error("the memory was not read")
	}
	if fast.Resets+slow.Resets != 0 {
		t.Error("the run reset a memory that is its caller's")
	}
	if b.report.Cycles <= a.report.Cycles || b.report.Stalls[sim.StallDRAM] <= a.report.Stalls[sim.StallDRAM] {
		t.Errorf("%d cycles with a slow memory, %d with a fast one", b.report.Cycles, a.report.Cycles)
	}
	if !bytes.Equal(a.bytes, b.bytes) {
		t.Error("the bytes depend on the memory")
	}
}

// energy: that of a run and of its regions includes the memory's, by access and by time, once.
func (s *Suite[S]) energy(t *testing.T) {
	m := &Flat{PJ: 1e3, MW: 50}
	st := s.state(t, m)
	s.run(t, Run[S]{State: st})
	if s.Reset != nil {
		s.Reset(st)
	}
	before := m.Reads + m.Writes
	got, own := s.run(t, Run[S]{State: st}).report, s.cold(t).report
	want := own.EnergyPJ + 1e3*float64(m.Reads+m.Writes-before) + 50*float64(own.Time)*1e-6
	sum := 0.0
	for i := range got.Regions {
		sum += got.Regions[i].EnergyPJ
	}
	if !(math.Abs(got.EnergyPJ-want) <= 1e-9*want) || !(math.Abs(sum-want) <= 1e-9*want) {
		t.Errorf("%g pJ, %g in its regions, want %g", got.EnergyPJ, sum, want)
	}
}

// refusals: a state of another core, and a memory beside a state with its own.
func (s *Suite[S]) refusals(t *testing.T) {
	other := require.V(s.OtherState(&Flat{}))(t)
	if _, _, err := s.Run(Run[S]{State: other, Rounds: 1}); err == nil || !strings.Contains(err.Error(), "another core") {
		t.Errorf("a state of another core: %v", err)
	}
	if _, _, err := s.Run(Run[S]{State: s.state(t, &Flat{}), Memory: &Flat{}, Rounds: 1}); err == nil || !strings.Contains(err.Error(), "one of the two") {
		t.Errorf("a state and a memory: %v", err)
	}
}

// warm: a run finds the caches as the one before has left them, and then its costs repeat.
func (s *Suite[S]) warm(t *testing.T) {
	m := &Flat{}
	st := s.state(t, m)
	first := s.run(t, Run[S]{State: st})
	second := s.run(t, Run[S]{State: st})
	if !bytes.Equal(first.bytes, second.bytes) {
		t.Error("the bytes depend on what the caches hold")
	}
	if s.Reset == nil {
		same(t, "a second run", second, first)
		return
	}
	if second.report.Cycles >= first.report.Cycles {
		t.Errorf("%d cycles with warm caches, %d with cold ones", second.report.Cycles, first.report.Cycles)
	}
	if n := second.report.Stalls.Total(); n != second.report.Cycles {
		t.Errorf("reasons add up to %d of %d cycles", n, second.report.Cycles)
	}
	m2 := &Flat{}
	st2 := s.state(t, m2)
	s.run(t, Run[S]{State: st2})
	same(t, "a second run of another state", s.run(t, Run[S]{State: st2}), second)
}

// allocations: a longer run on a used state allocates no more than a short one: instructions, accesses and jobs
// allocate nothing.
func (s *Suite[S]) allocations(t *testing.T) {
	st := s.state(t, &Flat{})
	count := func(rounds int) float64 {
		run := func() {
			require.V2(s.Run(Run[S]{State: st, Rounds: rounds}))(t)
		}
		run()
		return testing.AllocsPerRun(5, run)
	}
	const more = 64
	if short, long := count(2), count(2+more); long > short+more/8 {
		t.Errorf("a run %d rounds longer allocates %v times, a short one %v times", more, long, short)
	}
}

// deadlock: a run that cannot end fails with an error that names the cause.
func (s *Suite[S]) deadlock(t *testing.T) {
	for _, functional := range []bool{false, true} {
		err := s.Deadlock(Run[S]{Functional: functional, Memory: &Flat{}, Rounds: 1})
		require.ErrorContains(t, err, s.Waits, "functional", functional)
	}
}
