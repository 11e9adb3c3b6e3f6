package npu

import (
	"testing"

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
	// every memory of the machine is the one that the suite gives.
	memories := func(l mem.Level) []mem.Level {
		if l == nil {
			return nil
		}
		list := make([]mem.Level, len(core.Spec().Memories))
		for i := range list {
			list[i] = l
		}
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
