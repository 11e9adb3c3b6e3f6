package nnapi

import (
	"slices"
	"sync"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// Execution is one use of a compilation: inputs, outputs and what to measure.
type Execution struct {
	c *Compilation

	mu              sync.Mutex
	state           executionState
	mode            ExecutionMode
	inputs, outputs []slot
	reusable        bool
	padding         bool
	measure         bool
	timeout, loop   time.Duration
	result          *nnrt.Result
	dims            [][]uint32 // of the outputs, nil where nothing is known
	err             error
	fencedTiming    *hal.Timing // since the fences of an execution with fences
	observation     Observation // nil: nobody follows it
}

type executionState int

const (
	preparation executionState = iota
	computation
	completed
)

// slot is an argument.
type slot struct {
	set    bool
	data   []byte // nil for an omitted operand and for opaque memory
	memory *Memory
	dims   []uint32
}

// opaque reports whether the argument is the memory of a MemoryDesc.
func (s slot) opaque() bool { return s.memory != nil && s.memory.roles != nil }

// unwritable reports whether the argument lies in a file that the runtime only reads.
func (s slot) unwritable() bool { return s.memory != nil && s.memory.readOnly }

// omitted reports whether the argument was left out.
func (s slot) omitted() bool { return s.data == nil && s.memory == nil }

// known reports whether the model or the app gives the shape of an output.
func (e *Execution) known(i int) bool {
	o, _ := e.c.output(uint32(i))
	full := *o
	full.Dimensions = e.outputs[i].dims
	return full.Known()
}

// onDevice reports whether the argument is device memory.
func (s slot) onDevice() bool { return s.opaque() && s.memory.buffer != nil }

// buffer is the bytes of the argument, nil when it is omitted or in device memory.
func (s *slot) buffer() []byte {
	if s.opaque() {
		return s.memory.data
	}
	return s.data
}

// buffers are the device memories among arguments, nil for the others.
func buffers(list []slot) []hal.Buffer {
	l := make([]hal.Buffer, len(list))
	for i := range list {
		if list[i].onDevice() {
			l[i] = list[i].memory.buffer
		}
	}
	return l
}

// NewExecution is Execution_create.
func NewExecution(c *Compilation) (*Execution, error) {
	const call = "Execution_create"
	if c == nil {
		return nil, fail(UnexpectedNull, "%s: no compilation", call)
	}
	if !c.isFinished() {
		return nil, fail(BadState, "%s: the compilation is not finished", call)
	}
	g := &c.model.model.Main
	return &Execution{c: c, inputs: make([]slot, len(g.Inputs)), outputs: make([]slot, len(g.Outputs))}, nil
}

// modify guards the calls before computing.
func (e *Execution) modify(call string, do func() error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.state != preparation {
		return fail(BadState, "%s: the execution has begun", call)
	}
	return do()
}

// SetInput sets the value of an input: a buffer that must not change until the
// execution has ended. t may complete the shape; nil leaves it to the model. No
// data omits an optional operand.
func (e *Execution) SetInput(i uint32, t *OperandType, data []byte) error {
	return e.fromBuffer("Execution_setInput", "input", i, t, data, true)
}

// SetOutput gives the buffer of an output. Where the shape is unknown the buffer
// may be too small, which is OUTPUT_INSUFFICIENT_SIZE.
func (e *Execution) SetOutput(i uint32, t *OperandType, buffer []byte) error {
	return e.fromBuffer("Execution_setOutput", "output", i, t, buffer, false)
}

func (e *Execution) fromBuffer(call, kind string, i uint32, t *OperandType, data []byte, input bool) error {
	return e.modify(call, func() error {
		list, of := e.arguments(input)
		o, ok := of(i)
		if !ok {
			return fail(BadData, "%s: %s %d of %d", call, kind, i, len(list))
		}
		dims, err := shape(call, o, t, !input || data == nil)
		if err != nil {
			return err
		}
		if list[i].set {
			return fail(BadState, "%s: argument %d is set", call, i)
		}
		if data != nil && len(data) == 0 {
			return fail(BadData, "%s: a buffer of no bytes; an argument that is left out has none", call)
		}
		if data != nil {
			if err := e.fits(call, o, dims, data); err != nil {
				return err
			}
		}
		list[i] = slot{set: true, data: data, dims: dims}
		return nil
	})
}

// arguments are the inputs or outputs, and what gives their operands.
func (e *Execution) arguments(input bool) ([]slot, func(uint32) (*nn.Operand, bool)) {
	if input {
		return e.inputs, e.c.input
	}
	return e.outputs, e.c.output
}

// SetInputFromMemory gives an input a range of a memory, 0 and 0 for opaque memory.
func (e *Execution) SetInputFromMemory(i uint32, t *OperandType, m *Memory, offset, length int) error {
	return e.fromMemory("Execution_setInputFromMemory", i, t, m, offset, length, true)
}

// SetOutputFromMemory gives an output a range of a memory, 0 and 0 for opaque
// memory.
func (e *Execution) SetOutputFromMemory(i uint32, t *OperandType, m *Memory, offset, length int) error {
	return e.fromMemory("Execution_setOutputFromMemory", i, t, m, offset, length, false)
}

func (e *Execution) fromMemory(call string, i uint32, t *OperandType, m *Memory, offset, length int, input bool) error {
	return e.modify(call, func() (err error) {
		list, of := e.arguments(input)
		o, ok := of(i)
		if !ok {
			return fail(BadData, "%s: argument %d of %d", call, i, len(list))
		}
		if m == nil {
			return fail(UnexpectedNull, "%s: no memory", call)
		}
		dims, err := shape(call, o, t, !input || m.roles != nil)
		if err != nil {
			return err
		}
		if m.private {
			if offset != 0 || length != 0 {
				return fail(BadData, "%s: a hardware buffer of another format than blob has no range, got %d bytes at offset %d", call, length, offset)
			}
			return set(call, list, i, slot{memory: m, dims: dims})
		}
		if m.roles == nil {
			b, err := m.part(call, offset, length)
			if err != nil {
				return err
			}
			if list[i].set {
				return fail(BadState, "%s: argument %d is set", call, i)
			}
			if err := e.fits(call, o, dims, b); err != nil {
				return err
			}
			return set(call, list, i, slot{data: b, memory: m, dims: dims})
		}
		if offset != 0 || length != 0 {
			return fail(BadData, "%s: opaque memory has no range, got %d bytes at offset %d", call, length, offset)
		}
		if !m.hasRole(role{e.c, input, i}) {
			return fail(BadData, "%s: the memory has no such role", call)
		}
		if m.isFree() {
			return fail(BadState, "%s: the memory was freed", call)
		}
		if dims, ok = combine(dims, m.operand.Dimensions); !ok {
			return fail(BadData, "%s: the memory has dimensions %v", call, m.operand.Dimensions)
		}
		return set(call, list, i, slot{memory: m, dims: dims})
	})
}

// shape completes the dimensions of an operand; unless open is set they must be known then.
func shape(call string, o *nn.Operand, t *OperandType, open bool) ([]uint32, error) {
	dims, err := completeShape(call, o, t)
	if err != nil {
		return nil, err
	}
	if full := *o; !open {
		if full.Dimensions = dims; !full.Known() {
			return nil, fail(BadData, "%s: dimensions %v of an input are not known", call, dims)
		}
	}
	return dims, nil
}

func completeShape(call string, o *nn.Operand, t *OperandType) ([]uint32, error) {
	if t == nil {
		return o.Dimensions, nil
	}
	if t.Type != o.Type || t.Scale != o.Scale || t.ZeroPoint != o.ZeroPoint {
		return nil, fail(BadData, "%s: %v of scale %v, zero point %d; the operand is %v, %v, %d", call, t.Type, t.Scale, t.ZeroPoint, o.Type, o.Scale, o.ZeroPoint)
	}
	if o.Type.IsScalar() && len(t.Dimensions) > 0 {
		return nil, fail(BadData, "%s: dimensions %v of %v", call, t.Dimensions, o.Type)
	}
	if len(o.Dimensions) == 0 {
		return slices.Clone(t.Dimensions), nil
	}
	if !slices.EqualFunc(o.Dimensions, t.Dimensions, func(want, got uint32) bool { return want == 0 || want == got }) {
		return nil, fail(BadData, "%s: dimensions %v, the operand has %v", call, t.Dimensions, o.Dimensions)
	}
	return slices.Clone(t.Dimensions), nil
}

// fits checks the length of a buffer. One of an unknown shape may have any, and one of OEM, which only a driver knows.
func (e *Execution) fits(call string, o *nn.Operand, dims []uint32, data []byte) error {
	full := *o
	full.Dimensions = dims
	if !full.Known() || o.Type == nn.OEM {
		return nil
	}
	n, want := int64(len(data)), full.Bytes()
	if want < 0 {
		return fail(BadData, "%s: %v%v is too large", call, o.Type, dims)
	}
	if n < want || n > want && !e.padding {
		return fail(BadData, "%s: %d bytes, %v%v has %d", call, n, o.Type, dims, want)
	}
	return nil
}

func set(call string, list []slot, i uint32, s slot) error {
	if list[i].set {
		return fail(BadState, "%s: argument %d is set", call, i)
	}
	s.set = true
	list[i] = s
	return nil
}

// EnableInputAndOutputPadding lets buffers be longer than their operands.
func (e *Execution) EnableInputAndOutputPadding(on bool) error {
	const call = "Execution_enableInputAndOutputPadding"
	return e.modify(call, func() error {
		isSet := func(s slot) bool { return s.set }
		if slices.ContainsFunc(e.inputs, isSet) || slices.ContainsFunc(e.outputs, isSet) {
			return fail(BadState, "%s: arguments are set", call)
		}
		e.padding = on
		return nil
	})
}

// SetReusable lets the execution compute more than once.
func (e *Execution) SetReusable(on bool) error {
	return e.modify("Execution_setReusable", func() error { e.reusable = on; return nil })
}

// SetMeasureTiming requests Duration; it needs one explicit device.
func (e *Execution) SetMeasureTiming(on bool) error {
	const call = "Execution_setMeasureTiming"
	if !e.c.one() {
		return fail(BadData, "%s: the compilation is not for one explicit device", call)
	}
	return e.modify(call, func() error { e.measure = on; return nil })
}

// SetTimeout bounds the time on the device's clock; it needs one explicit device.
func (e *Execution) SetTimeout(d time.Duration) error {
	const call = "Execution_setTimeout"
	if !e.c.one() {
		return fail(BadData, "%s: the compilation is not for one explicit device", call)
	}
	return e.modify(call, func() error {
		if d < 0 {
			return fail(BadData, "%s: %v", call, d)
		}
		e.timeout = d
		return nil
	})
}

// Bounds of SetLoopTimeout.
const (
	DefaultLoopTimeout = hal.DefaultLoopTimeout
	MaximumLoopTimeout = hal.MaximumLoopTimeout
)

// SetLoopTimeout bounds each WHILE, by MaximumLoopTimeout at most. A bound of 0 leaves no
// time for a round.
func (e *Execution) SetLoopTimeout(d time.Duration) error {
	const call = "Execution_setLoopTimeout"
	return e.modify(call, func() error {
		if d < 0 {
			return fail(BadData, "%s: %v", call, d)
		}
		e.loop = max(min(d, MaximumLoopTimeout), 1) // 0 is the default one layer below
		return nil
	})
}
