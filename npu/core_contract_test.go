package npu

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/coretest"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// TestContract: the NPU keeps the contract of all cores. Its state keeps nothing from
// run to run: SHRAM and registers are cleared.
func TestContract(t *testing.T) {
	core, other := mustCore(t, "ethos-u65-512"), mustCore(t, "ethos-u65-512")
	m := newMachine(core.Spec(), 3)
	l := conv(20, 20, 24, 40, 3, 1)
	l.ofm = mapBytes(20, 20, 24, 1, false)
	m.emit(t, l)
	once := m.program(t)
	body := once.Commands[:len(once.Commands)-1] // without NPU_OP_STOP
	programs := map[int]*Program{}
	for _, rounds := range []int{1, 2, 66} {
		p := &Program{}
		for i := range rounds {
			p.Marks = append(p.Marks, Mark{Word: len(p.Commands), ID: i % 2})
			p.Commands = append(p.Commands, body...)
			p.Commands = append(p.Commands, uint32(ethosu.OpKernelWait))
		}
		p.Commands = append(p.Commands, once.Commands[len(body):]...)
		programs[rounds] = p
	}
	in := mapBytes(20, 20, 24, 1, false)
	regions := func() *Regions {
		arena := make([]byte, in+mapBytes(20, 20, 40, 1, false))
		for i := range arena[:in] {
			arena[i] = byte(i * 31)
		}
		return &Regions{m.flash, arena}
	}
	// every memory of the machine is that of the suite.
	memories := func(l mem.Level) []mem.Level {
		if l == nil {
			return nil
		}
		list := make([]mem.Level, len(core.Spec().Memories))
		for i := range list {
			list[i] = struct{ mem.Level }{l}
		}
		list[0] = l // the energy is that of one of them
		return list
	}
	options := func(r coretest.Run[*State]) Options {
		return Options{Functional: r.Functional, Memories: memories(r.Memory), State: r.State, Profile: r.Profile}
	}
	suite := coretest.Suite[*State]{
		NewState:   func(l mem.Level) (*State, error) { return core.NewState(memories(l)) },
		OtherState: func(l mem.Level) (*State, error) { return other.NewState(memories(l)) },
		Waits:      "ends without NPU_OP_STOP",
		Run: func(r coretest.Run[*State]) (*sim.Report, []byte, error) {
			data := regions()
			rep, err := core.Run(programs[r.Rounds], data, options(r))
			return rep, data[1][in:], err
		},
		Deadlock: func(r coretest.Run[*State]) error {
			_, err := core.Run(&Program{Commands: body}, regions(), options(r))
			return err
		},
	}
	suite.Test(t)
}

// turns yields the engine at each chance and notes when.
type turns struct {
	over bool
	at   []sim.Time
}

func (x *turns) Pending(sim.Time) bool { return x.over }
func (x *turns) Yield(at sim.Time) []sim.Change {
	x.at = append(x.at, at)
	return nil
}

// TestTurn: another program may have the machine where a region of a run other than the first begins, once everything
// before has ended; an uninterrupted run is as one without turns.
func TestTurn(t *testing.T) {
	c := mustCore(t, "ethos-u65-512")
	m := newMachine(c.Spec(), 3)
	for i := range 3 {
		l := conv(12, 12, 16, 32, 3, 1)
		l.in, l.ofm = 0, (i+1)*8192
		m.emit(t, l)
		if i == 0 { // a copy that outlasts the kernel
			m.b.Set(ethosu.SetDMA0SrcRegion, 1)
			m.b.Set(ethosu.SetDMA0DstRegion, 1)
			m.b.SetAddr(ethosu.SetDMA0Src, 1<<16)
			m.b.SetAddr(ethosu.SetDMA0Dst, 1<<17)
			m.b.SetAddr(ethosu.SetDMA0Len, 1<<16)
			m.b.Op(ethosu.OpDMAStart, 0)
		}
	}
	p := m.program(t)
	run := func(o Options) *sim.Report {
		r := require.V(c.Run(p, &Regions{m.flash, make([]byte, 1<<18)}, o))(t)
		checkReport(t, r)
		return r
	}
	plain := run(Options{})
	never, always := &turns{}, &turns{over: true}
	if r := run(Options{Preemption: never}); fmt.Sprintf("%+v", *r) != fmt.Sprintf("%+v", *plain) || len(never.at) != 0 {
		t.Error("a run that keeps its turn is another")
	}
	var ended sim.Time
	var ends []sim.Time
	r := run(Options{Preemption: always, Span: func(s sim.Span) {
		if len(ends) < len(always.at) {
			ends = append(ends, ended)
		}
		ended = max(ended, s.End)
	}})
	if len(always.at) != 2 || len(ends) != 2 || r.Cycles <= plain.Cycles || r.Stalls[sim.StallDrain] == 0 {
		t.Fatalf("%d turns, %d cycles, %d without", len(always.at), r.Cycles, plain.Cycles)
	}
	for i, at := range always.at {
		if at < ends[i] || i > 0 && at <= always.at[i-1] {
			t.Errorf("turns at %v, what was under way ended at %v", always.at, ends)
		}
	}
	functional := &turns{over: true}
	if run(Options{Preemption: functional, Functional: true}); len(functional.at) != 0 {
		t.Error("a functional run gives way")
	}
}

// TestStreams: further commands that a stream may hold, and those refused before a run or in it.
func TestStreams(t *testing.T) {
	c := mustCore(t, "ethos-u55-128")
	words := func(cmds ...ethosu.Command) []uint32 {
		return append(ethosu.Encode(cmds), uint32(ethosu.OpStop))
	}
	dma := func(param uint16, n uint32) []uint32 {
		return words(ethosu.Command{Code: ethosu.SetDMA0DstRegion, Param: 1}, ethosu.Command{Code: ethosu.SetDMA0Len, Payload: n}, ethosu.Command{Code: ethosu.OpDMAStart, Param: param})
	}
	for _, x := range []struct {
		p    *Program
		o    Options
		want string
	}{
		{&Program{Commands: words(ethosu.Command{Code: ethosu.OpIRQ, Param: 7}, ethosu.Command{Code: ethosu.OpPMUMask, Param: 1})}, Options{}, ""},
		{&Program{Commands: words(), Marks: []Mark{{Word: 1}, {Word: 0}}}, Options{}, "npu: mark 1 at word 0 precedes mark 0"},
		{&Program{Commands: words(), Marks: []Mark{{Word: 0}, {Word: 0}}}, Options{}, ""},
		{&Program{Commands: words()}, Options{Enter: -1}, "npu: a run that begins at word -1 of 1"},
		{&Program{Commands: words()}, Options{Enter: 2}, "npu: a run that begins at word 2 of 1"},
		{&Program{Commands: words()}, Options{Enter: 1}, "npu: command stream of 1 words ends without NPU_OP_STOP"},
		{&Program{Commands: dma(1, 16)}, Options{}, "DMA channel and mode 0x1"},
		{&Program{Commands: dma(0, 64)}, Options{MaxWork: 64}, ""},
		{&Program{Commands: dma(0, 64)}, Options{MaxWork: 63}, "the run exceeds its limit of work"},
	} {
		_, err := c.Run(x.p, &Regions{make([]byte, 64), make([]byte, 64)}, x.o)
		if (err == nil) != (x.want == "") || err != nil && !strings.HasSuffix(err.Error(), x.want) {
			t.Errorf("%v, want %q", err, x.want)
		}
	}
}

// TestOneMemory: two base pointers to the same bytes are one memory: a kernel that needs the results of a copy through
// the other waits for it, or the run is refused.
func TestOneMemory(t *testing.T) {
	c := mustCore(t, "ethos-u55-128")
	m := newMachine(c.Spec(), 1)
	l := conv(4, 4, 16, 16, 1, 1)
	l.ofm = 1024
	m.emit(t, l)
	kernel := m.program(t).Commands
	arena := make([]byte, 4096)
	copied := copyProgram(t, ethosu.U55, 64, 1).Commands // to region 2
	copied = copied[:len(copied)-1]
	for name, x := range map[string]struct {
		second []byte
		wait   bool
		fails  bool
	}{"another": {make([]byte, 4096), false, false}, "the same": {arena, false, true}, "the same, waits": {arena, true, false}, "none": {nil, true, true}} {
		first := copied
		if !x.wait {
			first = copied[:len(copied)-1]
		}
		r := &Regions{append(slices.Clone(m.flash), make([]byte, 64)...), arena, x.second}
		if _, err := c.Run(&Program{Commands: append(slices.Clone(first), kernel...)}, r, Options{}); (err != nil) != x.fails {
			t.Errorf("%s: %v", name, err)
		}
	}
}
