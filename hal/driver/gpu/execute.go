package gpu

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	core "github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/lower"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// prepared is a compiled model on its device.
type prepared struct {
	dev     *Device
	program *program
	idle    chan *machine
}

// machine is a core with its arena; executions do not share one.
type machine struct {
	core  *core.Core
	space mem.Space
	arena []byte
}

func (p *prepared) machine(functional bool) (*machine, error) {
	select {
	case m := <-p.idle:
		return m, nil
	default:
	}
	var memory mem.Level
	if p.dev.cfg.NewMemory != nil {
		var err error
		if memory, err = p.dev.cfg.NewMemory(); err != nil {
			return nil, err
		}
	} else if !functional {
		return nil, fmt.Errorf("no memory for a timed execution")
	}
	c, err := core.New(p.dev.cfg.Spec, memory)
	if err != nil {
		return nil, err
	}
	m := &machine{core: c, arena: make([]byte, p.program.arena)}
	copy(m.arena, p.program.pages)
	if err := m.space.Map(mem.Segment{Name: "constants", Base: constsBase, Data: p.program.consts, ReadOnly: true}); err != nil {
		return nil, err
	}
	return m, m.space.Map(mem.Segment{Name: "arena", Base: arenaBase, Data: m.arena})
}

func (p *prepared) release(m *machine) {
	select {
	case p.idle <- m:
	default:
	}
}

// kernelArguments are the addresses every kernel gets.
func kernelArguments() []byte {
	b := binary.LittleEndian.AppendUint64(nil, arenaBase)
	return binary.LittleEndian.AppendUint64(b, constsBase)
}

// Execute implements hal.PreparedModel.
func (p *prepared) Execute(r *hal.Request) (*hal.Result, error) {
	prog := p.program
	for i, t := range prog.inputs {
		if len(r.Inputs[i]) != t.bytes() {
			return nil, hal.Errorf(hal.InvalidArgument, "input %d has %d bytes, want %d", i, len(r.Inputs[i]), t.bytes())
		}
	}
	for i, t := range prog.outputs {
		if len(r.Outputs[i]) < t.bytes() {
			return nil, hal.Errorf(hal.OutputInsufficientSize, "output %d has %d bytes, needs %d", i, len(r.Outputs[i]), t.bytes())
		}
	}
	m, err := p.machine(r.Functional)
	if err != nil {
		return nil, err
	}
	report, err := p.run(m, r)
	if err != nil {
		return nil, err // the machine is dropped
	}
	defer p.release(m)
	res := &hal.Result{Stats: lower.Stats(report, p.dev.cfg.Launch), OutputDimensions: prog.dims()}
	for i := range res.Stats.Operations {
		if s := &res.Stats.Operations[i]; s.Index >= 0 && s.Index < len(prog.macs) {
			s.MACs = prog.macs[s.Index]
		}
	}
	for i, t := range prog.outputs {
		if t.region == consts {
			copy(r.Outputs[i], prog.consts[t.off:int(t.off)+t.bytes()])
		} else {
			copy(r.Outputs[i], m.arena[t.off:int(t.off)+t.bytes()])
		}
	}
	return res, nil
}

func (p *prepared) run(m *machine, r *hal.Request) (*sim.Report, error) {
	for i, t := range p.program.inputs {
		copy(m.arena[t.off:], r.Inputs[i])
	}
	o := core.Options{Functional: r.Functional, Span: lower.Trace(r.Trace, 0, p.dev.cfg.Launch, 0)}
	return m.core.Run(&m.space, p.program.dispatches, o)
}

// WriteListing implements hal.PreparedModel: every kernel with its grid and
// registers, instruction by instruction: byte offset, cycles the unit is
// taken, source operation, text.
func (p *prepared) WriteListing(w io.Writer) error {
	out := bufio.NewWriter(w)
	prog := p.program
	fmt.Fprintf(out, "; %s: %d kernels, %d bytes of constants, arena of %d bytes\n", p.dev.cfg.Spec.Name, len(prog.launches), len(prog.consts), prog.arena)
	for i, l := range prog.launches {
		k := l.program
		fmt.Fprintf(out, "\n; kernel %d %s: operation %d %s, grid %v by %v, %d VGPRs, %d bytes, %d issue cycles per pass over the code\n",
			i, k.Name, l.op, prog.g.Operations[l.op].Type, l.grid, l.workgroup, k.VGPRs, len(k.Code), k.IssueCycles())
		if err := k.WriteListing(out); err != nil {
			return err
		}
	}
	return out.Flush()
}

// WriteProgram implements hal.PreparedModel: per launch the code, its resources
// and its grid, then constants and places of inputs and outputs.
func (p *prepared) WriteProgram(w io.Writer) error {
	prog := p.program
	out := bufio.NewWriter(w)
	for i := range prog.dispatches {
		d := &prog.dispatches[i]
		k := d.Kernel
		fmt.Fprintln(out, d.Region, d.Grid, d.Workgroup, k.Base, k.WaveSize, k.VGPRs, k.LDSBytes, k.WorkItemIDs, len(k.Code))
		out.Write(k.Code)
		out.Write(d.Kernarg)
	}
	fmt.Fprintln(out, prog.arena, len(prog.consts), len(prog.pages))
	out.Write(prog.consts)
	out.Write(prog.pages)
	for _, list := range [2][]*tensor{prog.inputs, prog.outputs} {
		for _, t := range list {
			fmt.Fprintln(out, t.region, t.off, t.elem, t.n)
		}
	}
	return out.Flush()
}
