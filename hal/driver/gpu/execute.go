package gpu

import (
	"bufio"
	"fmt"
	"io"

	core "github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/engine"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/layout"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/lower"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/plan"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/statistics"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// executable is a lowered graph on its device. It implements base.Executable and engine.Program.
type executable struct {
	dev     *Device
	graph   *graph.Graph
	program *plan.Program
	places  engine.Places
	idle    engine.Idle[*machine]
	// candidates are those that the client asked for.
	candidates map[int]string
}

// Memories of places.
const (
	inArena = iota
	inConsts
)

// assemble is the executable of a planned graph.
func assemble(d *Device, g *graph.Graph, prog *plan.Program) *executable {
	p := &executable{dev: d, graph: g, program: prog}
	spans := func(tensors []*layout.Tensor) (list []engine.Span) {
		for _, t := range tensors {
			list = append(list, span(t))
		}
		return list
	}
	p.places = engine.Places{Inputs: spans(prog.Inputs), Outputs: spans(prog.Outputs), Counts: spans(prog.Counts)}
	for _, f := range prog.Faults {
		p.places.Faults = append(p.places.Faults, engine.Fault{Operation: f.Op, Reason: f.Reason, Word: span(f.Word)})
	}
	return p
}

// span is the place of a tensor, none where there is no tensor.
func span(t *layout.Tensor) engine.Span {
	if t == nil {
		return engine.Span{}
	}
	s := engine.Span{Memory: inArena, From: int(t.Off), To: int(t.Off) + t.Bytes()}
	if t.Region == layout.Consts {
		s.Memory = inConsts
	}
	return s
}

// Memory implements engine.Program.
func (p *executable) Memory(m *machine, i int) []byte {
	if i == inConsts {
		return p.program.Consts
	}
	return m.arena
}

// machine is what an execution works on; executions do not share one.
type machine struct {
	memory mem.Level    // behind the caches of state, nil: functional executions only
	home   *base.Caches // of the engine whose memory it is, nil: the memory is its own
	state  *core.State
	space  mem.Space
	arena  []byte
}

// cold makes the caches cold, as drivers invalidate them with each submission, and the memory behind them
// if it is the machine's own.
func (m *machine) cold() {
	if m.memory == nil {
		return
	}
	if m.home == nil {
		m.memory.Reset()
	}
	m.state.Reset()
}

// Acquire implements engine.Program.
func (p *executable) Acquire(o *base.RunOptions) (*machine, error) {
	at := &o.Place
	if m, ok := p.idle.Take(at); ok {
		m.cold()
		return m, nil
	}
	m := &machine{memory: at.Memory, home: at.Home(), arena: make([]byte, p.program.Arena)}
	var err error
	switch {
	case at.Memory != nil:
	case p.dev.cfg.NewMemory != nil:
		if m.memory, err = p.dev.cfg.NewMemory(); err != nil {
			return nil, err
		}
	case !o.Functional:
		return nil, fmt.Errorf("no memory for a timed execution")
	}
	if m.state, err = p.dev.core.NewState(m.memory); err != nil {
		return nil, err
	}
	copy(m.arena, p.program.Pages)
	if err := m.space.Map(mem.Segment{Name: "constants", Base: layout.ConstsBase, Data: p.program.Consts, ReadOnly: true}); err != nil {
		return nil, err
	}
	return m, m.space.Map(mem.Segment{Name: "arena", Base: layout.ArenaBase, Data: m.arena})
}

// Release implements engine.Program.
func (p *executable) Release(m *machine) { p.idle.Leave(m, m.home) }

// Run implements base.Executable.
func (p *executable) Run(inputs [][]byte, o base.RunOptions) (base.Run, error) {
	return engine.Run(p, &p.places, p.graph, inputs, o)
}

// Execute implements engine.Program.
func (p *executable) Execute(m *machine, r *base.RunOptions) (hal.Stats, error) {
	profile := statistics.ProfileOf(r.Profile)
	o := core.Options{State: m.state, Profile: profile, Points: r.Points, Look: r.Look, Functional: r.Functional, Turn: r.Turn, Span: statistics.Trace(r.Trace, r.StartFs, 0)}
	report, err := p.dev.core.Run(&m.space, p.program.Dispatches, o)
	if err != nil {
		return hal.Stats{}, err
	}
	if profile != nil {
		statistics.Profile(r.Profile, profile)
	}
	return statistics.Stats(report), nil
}

// Bytes implements base.Executable.
func (p *executable) Bytes() int {
	n := len(p.program.Consts)
	for i := range p.program.Dispatches {
		n += len(p.program.Dispatches[i].Kernel.Code)
	}
	return n
}

// WriteListing implements base.Executable: every kernel with its grid and
// registers, instruction by instruction: byte offset, cycles the unit is
// taken, source operation, text.
func (p *executable) WriteListing(w io.Writer) error {
	out := bufio.NewWriter(w)
	prog := p.program
	fmt.Fprintf(out, "; %s: %d kernels, %d bytes of constants, arena of %d bytes\n", p.dev.cfg.Spec.Name, len(prog.Launches), len(prog.Consts), prog.Arena)
	for i := range prog.Launches {
		l := &prog.Launches[i]
		k := l.Code
		if k.Insts == nil { // it comes from a compilation cache
			var err error
			if k, err = k.Decoded(); err != nil {
				return err
			}
		}
		fmt.Fprintf(out, "\n; kernel %d %s: operation %d %s, grid %v by %d, %d VGPRs, %d bytes, %d issue cycles per pass over the code\n",
			i, k.Name, l.Op, p.graph.NameOf(l.Op), l.Grid.Lanes, l.Grid.Workgroup, k.VGPRs, len(k.Code), k.IssueCycles())
		if err := k.WriteListing(out); err != nil {
			return err
		}
	}
	return out.Flush()
}

// WriteSteps implements base.StepWriter: what lowering makes of the graph, which is lowered
// once more.
func (p *executable) WriteSteps(w io.Writer) error {
	machine := p.dev.machine()
	machine.Candidates = p.candidates
	list, err := lower.Graph(p.graph, machine, p.dev.cfg.Lowerings)
	if err != nil {
		return err
	}
	return list.Write(w)
}

// WriteProgram implements base.Executable: per launch the code, its resources
// and its grid, then constants and places of inputs and outputs.
func (p *executable) WriteProgram(w io.Writer) error {
	prog := p.program
	out := bufio.NewWriter(w)
	for i := range prog.Dispatches {
		d := &prog.Dispatches[i]
		k := d.Kernel
		fmt.Fprintln(out, d.Region, d.Grid, d.Workgroup, k.Base, k.WaveSize, k.VGPRs, k.LDSBytes, k.WorkItemIDs, len(k.Code))
		out.Write(k.Code)
		out.Write(d.Kernarg)
	}
	fmt.Fprintln(out, prog.Arena, len(prog.Consts), len(prog.Pages))
	out.Write(prog.Consts)
	out.Write(prog.Pages)
	if err := p.places.Write(out); err != nil {
		return err
	}
	return out.Flush()
}
