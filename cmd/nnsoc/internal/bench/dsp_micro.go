package bench

import (
	"fmt"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/isa/hexagon/asm"
	"github.com/nnsoc/nnsoc/sim/mem"
)

const (
	anchorCode = 0x10000
	anchorData = 0x100000
	passes     = 1000
)

// loop is a program that runs packets so many times.
func loop(body string) string {
	return fmt.Sprintf("\t{ loop0(top,#%d) }\ntop:\n%s :endloop0\n\tjumpr r31\n", passes, body)
}

// micro runs a program twice on so many threads, each with its own address in r0 and shift in r1, and returns the
// cycles of both runs.
func (x *anchorRun) micro(text string, threads int, base, step, modifier uint32) (cold, warm float64, err error) {
	defer try.Catch(&err)
	packets := try.V(asm.Assemble(text, anchorCode))
	words := try.V(hexagon.EncodeAll(nil, packets))
	space := new(mem.Space)
	for _, s := range []mem.Segment{
		{Name: "data", Base: anchorData, Data: make([]byte, 32<<20)},
		{Name: "vtcm", Base: uint64(x.spec.VTCMBase), Data: make([]byte, x.spec.VTCMBytes)},
	} {
		try.E(space.Map(s))
	}
	var jobs []dsp.Job
	for region := range 2 {
		j := dsp.Job{Region: region, Name: "micro", Entry: anchorCode, Threads: threads}
		for i := range threads {
			j.Args = append(j.Args, []uint32{base + uint32(i)*step, modifier})
		}
		jobs = append(jobs, j)
	}
	memory, _ := try.V2(x.machine.Config.NewPath("dsp", 0))
	rep := try.V(x.core.Run(&dsp.Program{Base: anchorCode, Code: hexagon.Bytes(words)}, space, jobs, dsp.Options{Memory: memory}))
	return float64(rep.Regions[0].Cycles), float64(rep.Regions[1].Cycles), nil
}

func (x *anchorRun) peak() (float64, error) {
	n := x.spec.Contexts
	_, warm, err := x.micro(loop("{ v0.w += vrmpy(v1.ub,r1.b) ; v2.w += vrmpy(v3.ub,r1.b) }\n{ v4.w += vrmpy(v5.ub,r1.b) ; v6.w += vrmpy(v7.ub,r1.b) }"), n, 0, 0, 0)
	return 2 * passes * 2 * 128 * float64(n) / warm, err
}

func (x *anchorRun) vtcm() (float64, error) {
	_, warm, err := x.micro(loop("{ v0 = vmem(r0+#0) ; vmem(r0+#1) = v1 }\n{ v2 = vmem(r0+#2) ; vmem(r0+#3) = v3 }"), x.spec.Contexts, x.spec.VTCMBase, 4096, 0)
	packets := warm / float64(x.spec.IssueInterval)
	return 4 * passes / packets, err
}

// loadWait is the wait of a scalar load that steps through memory, in core cycles.
func (x *anchorRun) loadWait(step uint32, cold bool) (float64, error) {
	text := loop("{ r2 = memw(r0+#0) ; r0 = add(r0,r1) }\n{ nop }")
	first, second, err := x.micro(text, 1, anchorData, 0, step)
	_, free, err2 := x.micro(text, 1, anchorData, 0, 0)
	if err == nil {
		err = err2
	}
	if cold {
		second = first
	}
	return (second - free) / passes, err
}

func (x *anchorRun) l2() (float64, error) {
	wait, err := x.loadWait(64, false)
	return wait / float64(x.spec.IssueInterval), err
}

func (x *anchorRun) dramNs() (float64, error) {
	wait, err := x.loadWait(30848, true) // other rows, banks and channels
	return wait * 1e9 / float64(x.spec.ClockHz), err
}
