package dsp

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/coretest"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// TestContract: the DSP keeps the contract of all cores.
func TestContract(t *testing.T) {
	core := require.V(New(testSpec(t)))(t)
	other := require.V(New(testSpec(t)))(t)
	options := func(r coretest.Run[*State]) Options {
		return Options{Functional: r.Functional, Memory: r.Memory, State: r.State}
	}
	add := assemble(t, codeBase, loopOf(32, "{ v0 = vmem(r0++#1) }\n{ v1.w = vadd(v0.w,v0.w) }\n{ vmem(r1++#1) = v1 }"))
	endless := assemble(t, codeBase, "again:\n\t{ jump again }\n")
	suite := coretest.Suite[*State]{
		SharedCycles: true, NewState: core.NewState, OtherState: other.NewState, Reset: (*State).Reset, Waits: "packet limit reached",
		Run: func(r coretest.Run[*State]) (*sim.Report, []byte, error) {
			data := make([]byte, 3*4096)
			for i := range data[:4096] {
				data[i] = byte(i*7 + 1)
			}
			space := new(mem.Space)
			if err := space.Map(mem.Segment{Name: "data", Base: dataAt, Data: data}); err != nil {
				return nil, nil, err
			}
			args := [][]uint32{{dataAt, dataAt + 4096}, {dataAt, dataAt + 8192}}
			jobs := make([]Job, r.Rounds)
			for i := range jobs {
				jobs[i] = Job{Region: i % 2, Name: "add", Entry: codeBase, Threads: 2, Args: args}
			}
			o := options(r)
			if r.Profile != nil {
				o.Profile = &Profile{}
			}
			rep, err := core.Run(add, space, jobs, o)
			if r.Profile != nil && err == nil {
				spec := core.Spec()
				o.Profile.AddTo(r.Profile, &spec, add, rep, func(uint32) (string, uint32) { return "add", codeBase })
			}
			return rep, data[4096:], err
		},
		Deadlock: func(r coretest.Run[*State]) error {
			o := options(r)
			o.MaxPackets = 10_000
			_, err := core.Run(endless, new(mem.Space), []Job{{Entry: codeBase, Threads: 2}}, o)
			return err
		},
	}
	suite.Test(t)
}
