package inference

import (
	"errors"
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/nntrace"
	"github.com/nnsoc/nnsoc/importer/vela"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/npu"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/registry"
	"github.com/nnsoc/nnsoc/sim"
)

// Session is a network ready to run on a machine. It keeps the NPU's memory and
// decoded weights from run to run and is not safe for concurrent use.
type Session struct {
	net   *vela.Network
	m     *Machine
	core  *npu.Core
	cpu   hal.Device // nil until a step needs it
	steps []step
}

// step is a prepared vela.Step.
type step struct {
	*vela.Step
	program    *npu.Program
	operations []npu.Operation
	regions    npu.Regions
	cpu        *nnrt.Compilation
}

// New prepares a network. It is an error if the machine is not the one that the network was compiled for, or if the CPU
// cannot run one of its parts.
func New(n *vela.Network, m *Machine) (*Session, error) {
	if err := checkOutputs(n); err != nil {
		return nil, err
	}
	core, err := npu.New(m.Spec)
	if err != nil {
		return nil, err
	}
	s := &Session{net: n, m: m, core: core}
	memory := newMemory(n)
	for i := range n.Steps {
		st := step{Step: &n.Steps[i]}
		if st.NPU != nil {
			err = s.prepareNPU(&st, memory)
		} else {
			err = s.prepareCPU(&st)
		}
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", i, err)
		}
		s.steps = append(s.steps, st)
	}
	if slices.ContainsFunc(s.steps, func(st step) bool {
		return slices.ContainsFunc(st.operations, func(o npu.Operation) bool { return o.To == 0 })
	}) {
		for i := range s.steps {
			s.steps[i].regions[0] = memory.region0(s.steps[i].regions[0])
		}
	}
	return s, nil
}

// checkOutputs refuses outputs of the graph that ethos-u operators write and that share bytes of the arena: whoever
// reads them after the last operator finds one of them overwritten. Values of CPU steps lie outside the arena.
func checkOutputs(n *vela.Network) error {
	inArena := map[int]bool{}
	for i := range n.Steps {
		if n.Steps[i].NPU != nil {
			for _, x := range n.Steps[i].Outputs {
				inArena[x] = n.Tensors[x].Offset >= 0
			}
		}
	}
	for i, x := range n.Outputs {
		a := &n.Tensors[x]
		for j, y := range n.Outputs[:i] {
			b := &n.Tensors[y]
			if x == y || !inArena[x] || !inArena[y] {
				continue
			}
			if int64(a.Offset) < int64(b.Offset)+int64(b.Operand.Bytes()) && int64(b.Offset) < int64(a.Offset)+int64(a.Operand.Bytes()) {
				return fmt.Errorf("outputs %d and %d of the graph overlap in the arena: %d bytes at %d, %d bytes at %d; one overwrites the other: compile the network again",
					j, i, b.Operand.Bytes(), b.Offset, a.Operand.Bytes(), a.Offset)
			}
		}
	}
	return nil
}

// memory is the memory shared by the ethos-u operators of a network.
type memory struct {
	arena, fast []byte
	constants   map[*byte][]byte // copies, by the place in the file
}

func newMemory(n *vela.Network) *memory {
	arena, fast := 0, 0
	for i := range n.Steps {
		if o := n.Steps[i].NPU; o != nil {
			arena, fast = max(arena, o.ArenaBytes), max(fast, o.FastBytes)
		}
	}
	return &memory{make([]byte, arena), make([]byte, fast), map[*byte][]byte{}}
}

// region0 is a copy of an operator's constants, which some operator writes to, one for all that have them.
func (m *memory) region0(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	c := m.constants[&b[0]]
	if len(c) != len(b) {
		c = append([]byte(nil), b...)
		m.constants[&b[0]] = c
	}
	return c
}

func (s *Session) prepareNPU(st *step, m *memory) (err error) {
	defer try.Catch(&err)
	o := npu.CustomOp{CommandStream: st.NPU.Payload, Flash: st.NPU.Constants, ArenaBytes: st.NPU.ArenaBytes, FastBytes: st.NPU.FastBytes}
	k := try.V(o.Load())
	try.E(k.Check(&s.m.Spec))
	st.regions = npu.Regions{o.Flash, m.arena[:o.ArenaBytes], m.fast[:o.FastBytes]}
	if o.FastBytes == 0 {
		st.regions[2] = st.regions[1]
	}
	st.operations = try.V(s.core.Operations(&k.Program, &st.regions))
	st.program = &k.Program
	at := 0
	for i := range st.operations {
		st.program.Marks = append(st.program.Marks, npu.Mark{Word: at, ID: i, Operation: i})
		at = st.operations[i].Word + 1
	}
	return nil
}

func (s *Session) prepareCPU(st *step) (err error) {
	defer try.Catch(&err)
	if s.m.CPU == nil {
		return errors.New("the SoC has no CPU for the operators that Vela left to it")
	}
	try.E(nnrt.Validate(st.CPU))
	if s.cpu == nil {
		d := try.V(s.m.CPU())
		s.cpu = d
	}
	r := try.V(registry.New(s.cpu))
	st.cpu, err = nnrt.Compile(r, st.CPU, s.cpu.Name(), nnrt.CompileOptions{})
	return err
}

// Options of a run.
type Options struct {
	// Functional computes the tensors only: no cycles, no energy.
	Functional bool
	// TimingOnly computes no tensors on the NPU: the same times, and outputs that mean nothing.
	TimingOnly bool
	// ConvSingle makes the NPU's convolutions round once, as TensorFlow Lite's
	// int8 kernels do; the hardware rounds twice.
	ConvSingle bool
	// MaxWork bounds the work of an ethos-u operator; 0 means npu.DefaultMaxWork.
	MaxWork int64
	// Span, when set, is called with the spans of the units of "npu" and "cpu". A span's operation is an index of
	// Result.Operations, or -1.
	Span func(device string, s hal.Span)
	// Profile, when set, receives the samples of each ethos-u operator; operation names the regions in them. Operators
	// of the CPU are not in it.
	Profile func(list *sim.Profile, hz int64, operation func(region int) string)
}

// Run executes the network once. Inputs are dense buffers in the graph's order.
func (s *Session) Run(inputs [][]byte, o Options) (*Result, error) {
	values := make([][]byte, len(s.net.Tensors))
	for i := range values {
		t := &s.net.Tensors[i]
		values[i] = t.Data
		if t.Variable && t.Data == nil {
			values[i] = make([]byte, t.Operand.Bytes())
		}
	}
	if len(inputs) != len(s.net.Inputs) {
		return nil, fmt.Errorf("%d inputs, the network has %d", len(inputs), len(s.net.Inputs))
	}
	for i, x := range s.net.Inputs {
		if want := s.net.Tensors[x].Operand.Bytes(); int64(len(inputs[i])) != want {
			return nil, fmt.Errorf("input %d has %d bytes, want %d", i, len(inputs[i]), want)
		}
		values[x] = inputs[i]
	}
	r := &Result{}
	for i := range s.steps {
		st := &s.steps[i]
		var err error
		if st.NPU != nil {
			err = s.runNPU(st, i, values, o, r)
		} else {
			err = s.runCPU(st, i, values, o, r)
		}
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", i, err)
		}
	}
	for _, x := range s.net.Outputs {
		r.Outputs = append(r.Outputs, values[x])
	}
	return r, nil
}

func (s *Session) runNPU(st *step, index int, values [][]byte, o Options, r *Result) error {
	for _, x := range st.Inputs {
		if !o.TimingOnly {
			copy(st.regions[1][s.net.Tensors[x].Offset:], values[x])
		}
	}
	c := npu.Options{Functional: o.Functional, TimingOnly: o.TimingOnly, ConvSingle: o.ConvSingle, MaxWork: o.MaxWork}
	if o.Span != nil {
		base, first := r.TimeFs, len(r.Operations)
		c.Span = func(s sim.Span) {
			x := hal.Span{Track: s.Track, Name: s.Name, Operation: -1, StartFs: base + int64(s.Start), EndFs: base + int64(s.End)}
			if s.Region >= 0 {
				x.Operation = first + s.Region
			}
			o.Span("npu", x)
		}
	}
	if s.m.NewLevels != nil && !o.Functional {
		var err error
		if c.Memories, err = s.m.NewLevels(); err != nil {
			return err
		}
	}
	if o.Profile != nil && !o.Functional {
		c.Profile = &sim.Profile{}
	}
	rep, err := s.core.Run(st.program, &st.regions, c)
	if err != nil {
		return err
	}
	if c.Profile != nil {
		first := len(r.Operations)
		o.Profile(c.Profile, rep.Hz, func(region int) string {
			if region < 0 || region >= len(st.operations) {
				return ""
			}
			return fmt.Sprintf("%d %s", first+region, st.operations[region].Name)
		})
	}
	for _, x := range st.Outputs {
		t := &s.net.Tensors[x]
		values[x] = make([]byte, t.Operand.Bytes())
		if !o.TimingOnly {
			copy(values[x], st.regions[1][t.Offset:])
		}
	}
	r.addNPU(index, st.operations, rep, &s.m.Spec)
	return nil
}

func (s *Session) runCPU(st *step, index int, values [][]byte, o Options, r *Result) error {
	in := make([][]byte, len(st.Inputs))
	for i, x := range st.Inputs {
		in[i] = values[x]
	}
	x := nnrt.ExecuteOptions{Functional: o.Functional}
	if o.Span != nil {
		x.Trace = &tracer{o.Span, r.TimeFs, len(r.Operations)}
	}
	res, err := st.cpu.Execute(in, x)
	if err != nil {
		return err
	}
	for i, x := range st.Outputs {
		if want := s.net.Tensors[x].Operand.Bytes(); int64(len(res.Outputs[i])) != want {
			return fmt.Errorf("tensor %d (%s) has %d bytes, want %d", x, s.net.Tensors[x].Operand.Name, len(res.Outputs[i]), want)
		}
		values[x] = res.Outputs[i]
	}
	r.addCPU(index, st.CPU, res)
	return nil
}

// tracer moves the spans of a CPU step after those before.
type tracer struct {
	span  func(device string, s hal.Span)
	base  int64
	first int // index of the step's first operation
}

// Span implements nnrt.Tracer.
func (t *tracer) Span(device string, s hal.Span, op *nnrt.OperationCost, _ int) {
	s.StartFs, s.EndFs, s.Operation = s.StartFs+t.base, s.EndFs+t.base, -1
	if op.Index >= 0 {
		s.Operation = t.first + op.Index
	}
	t.span(device, s)
}

// Sample implements nnrt.Tracer: counters of the CPU are not passed on.
func (t *tracer) Sample(string, nnrt.Counter, int64, float64) {}

// Stall implements nnrt.Tracer.
func (t *tracer) Stall(string, string, int64, float64) {}

// Mark implements nnrt.Tracer: a command stream runs without NNAPI.
func (t *tracer) Mark(string, nntrace.Mark, int64, int64, int) {}

// Operands are the inputs and outputs as operands of NNAPI.
func Operands(n *vela.Network, tensors []int) []*nn.Operand {
	var l []*nn.Operand
	for _, x := range tensors {
		l = append(l, &n.Tensors[x].Operand)
	}
	return l
}
