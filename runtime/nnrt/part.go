package nnrt

import (
	"fmt"
	"io"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/guarded"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/runtime/partition"
)

// maxDynamicBytes bounds an output whose size a device reports, and all that an execution holds at a time.
const maxDynamicBytes = 1 << 30

// unprepared stands for a part whose inputs get their shapes from other parts: it is
// prepared when they are known.
type unprepared struct{ hal.UnimplementedPreparedModel }

// WriteListing implements hal.PreparedModel.
func (unprepared) WriteListing(w io.Writer) error {
	_, err := fmt.Fprintln(w, "; prepared when an execution knows the shapes of its inputs")
	return err
}

// hasOpenInput reports whether a part of m reads a temporary of unknown shape.
func hasOpenInput(g *nn.Subgraph, part *partition.Part) bool {
	return slices.ContainsFunc(part.Inputs, func(x uint32) bool {
		return g.Operands[x].Lifetime != nn.SubgraphInput && !g.Operands[x].Known()
	})
}

// parts executes single parts of a model on devices, or on the CPU in their place. It knows neither control flow nor which
// parts follow each other.
type parts struct {
	bindings
	options ExecuteOptions
	moved   []Fallback // operations that the CPU ran in place of their devices
}

// part executes the step at an index. If no device can, because a tensor is empty or the
// CPU failed as well, whole is the reason why the whole model moves to the CPU.
func (e *parts) part(at int, client hal.Client) (whole string, ran ranStep, err error) {
	s := &e.steps[at]
	device, prepared, ok, err := e.prepared(s)
	if err != nil {
		return "", ran, err
	}
	if !ok {
		return fmt.Sprintf("an input of operation %d has no elements in this execution, which no model can state", s.operations[0]), ran, nil
	}
	o := &e.options
	req := hal.Buffers{ExecuteOptions: hal.ExecuteOptions{Functional: o.Functional, Detail: o.Detail, LoopTimeout: o.LoopTimeout, InBurst: o.Burst, Client: client}}
	if o.Timeout > 0 {
		req.Deadline = hal.MakeDeadline(device, o.Timeout)
	}
	var trace *partTrace
	if o.Trace != nil {
		trace = &partTrace{device: device.Name(), of: &e.sources[s.source], operations: s.operations}
		req.Trace = trace
	}
	var profile *partProfile
	if o.Profile != nil && !o.Functional {
		profile = &partProfile{device: device.Name(), of: &e.sources[s.source], operations: s.operations}
		req.Profile = profile
	}
	for _, x := range s.inputs {
		v := e.frames[s.source][x]
		req.Inputs, req.InputDimensions = append(req.Inputs, v.data), append(req.InputDimensions, v.dims)
	}
	res, err := e.run(s, device, prepared, &req)
	if err != nil && e.fallsBack(device, err) {
		cause := err
		if device, res, err = e.onCPU(s, &req, err); err != nil && len(e.steps) > 1 {
			return fmt.Sprintf("executing a part of the model: %v, and on the CPU: %v", cause, err), ran, nil
		}
	}
	if err != nil {
		return "", ran, err
	}
	if trace != nil {
		trace.device, trace.stats = device.Name(), res.Stats
	}
	if profile != nil {
		profile.device, profile.stats = device.Name(), res.Stats
	}
	return "", ranStep{step: at, device: device, stats: &res.Stats, trace: trace, profile: profile}, nil
}

// prepared returns what runs a step: the model that Compile prepared, or the part
// with the shapes of earlier steps' results, on the CPU if the device declines it.
// ok is false if a tensor is empty, which a model cannot express.
func (e *parts) prepared(s *step) (d hal.Device, p hal.PreparedModel, ok bool, err error) {
	if _, open := s.prepared.(unprepared); !open {
		return s.device, s.prepared, true, nil
	}
	f := e.frames[s.source]
	m := *e.sources[s.source].model
	m.Main.Operands = slices.Clone(m.Main.Operands)
	for _, x := range s.inputs {
		m.Main.Operands[x].Dimensions = f[x].dims
		if !m.Main.Operands[x].Known() {
			return nil, nil, false, nil
		}
	}
	part := partition.Extract(&m, s.operations)
	g, err := opspec.Resolve(&part.Model.Main)
	if err != nil {
		return nil, nil, true, hal.Errorf(hal.GeneralFailure, "runtime: %w", err)
	}
	part.Model.Main = *g
	for k, x := range part.Model.Main.Outputs {
		if o := &part.Model.Main.Operands[x]; o.Known() {
			f[s.outputs[k]].dims = o.Dimensions
		}
	}
	reason := ""
	support, err := guarded.SupportedOperations(s.device, part.Model)
	if err != nil {
		reason = "its support query failed: " + err.Error()
	} else if i := slices.IndexFunc(support, func(a hal.Support) bool { return !a.OK }); i >= 0 {
		reason = support[i].Reason
	} else if p, err = guarded.PrepareModel(s.device, part.Model, e.Compilation.options); err == nil {
		return s.device, p, true, nil
	} else {
		reason = err.Error()
	}
	if s.device != e.cpu {
		e.move(s, fmt.Sprintf("%s, with the shapes of this execution: %s", s.device.Name(), reason))
	}
	p, err = guarded.PrepareModel(e.cpu, part.Model, e.Compilation.options)
	return e.cpu, p, true, err
}

// move records that the operations of a step run on the CPU.
func (e *parts) move(s *step, reason string) {
	of := &e.sources[s.source]
	for _, i := range s.operations {
		f := Fallback{i, reason}
		if of.caller >= 0 {
			f = Fallback{of.caller, fmt.Sprintf("%s, operation %d (%v): %s", of.name, i, of.model.Main.Operations[i].Type, reason)}
		}
		if !slices.Contains(e.moved, f) {
			e.moved = append(e.moved, f)
		}
	}
}

// run executes a prepared part. Buffers of outputs of unknown shape begin with one
// element; if a device reports that it needs more, the part runs again with that size,
// or with twice the size if the device does not know it. Only the run that succeeds is
// charged; shapes that a failed run reported are discarded.
func (e *parts) run(s *step, d hal.Device, p hal.PreparedModel, req *hal.Buffers) (res *hal.Result, err error) {
	g, f, outputs := &e.sources[s.source].model.Main, e.frames[s.source], s.outputs
	size := make([]int64, len(outputs)) // of outputs of unknown shape
	for k, x := range outputs {
		if f[x].dims == nil && !g.Operands[x].Type.IsScalar() {
			size[k] = int64(g.Operands[x].Type.ElementBytes())
		}
	}
	defer func() {
		for k, x := range outputs {
			if err != nil && size[k] > 0 {
				f[x].dims = nil
			}
		}
	}()
	for {
		req.Outputs = req.Outputs[:0]
		for k, x := range outputs {
			n := size[k]
			if n == 0 {
				n = nn.Elements(f[x].dims) * int64(g.Operands[x].Type.ElementBytes())
			}
			if n < 0 || n > maxDynamicBytes && !g.Operands[x].Known() {
				return nil, hal.Errorf(hal.GeneralFailure, "runtime: output operand %d of shape %v and %d bytes is too large", x, f[x].dims, n)
			}
			if size[k] > 0 && n > manyOpenBytes && n > maxDynamicBytes-e.openBytes(f[x]) {
				return nil, hal.Errorf(hal.GeneralFailure, "runtime: output operand %d of shape %v and %d bytes: the execution would hold more than %d bytes of tensors whose shapes it gives", x, f[x].dims, n, maxDynamicBytes)
			}
			if f[x].buffer == nil {
				f[x].data = e.outputMemory(s.source, x, n)
			}
			req.Outputs = append(req.Outputs, f[x].data)
		}
		res, err := guarded.Execute(d, p, e.options.Through.of(p), e.request(s, req), req.ExecuteOptions)
		if res == nil || err != nil && hal.StatusOf(err) != hal.OutputInsufficientSize {
			return nil, err
		}
		if d := res.OutputDimensions; d != nil && len(d) != len(outputs) {
			return nil, hal.Errorf(hal.GeneralFailure, "runtime: the device reports the shapes of %d outputs, there are %d", len(d), len(outputs))
		}
		if short := slices.Contains(res.Insufficient, true); short != (err != nil) {
			return nil, hal.Errorf(hal.GeneralFailure, "runtime: the device ends with %v, an output being too small: %v", hal.StatusOf(err), short)
		}
		if grown, misfit := e.fit(s, res, size, err != nil); misfit != nil {
			return nil, misfit
		} else if !grown {
			return res, err
		}
	}
}

// manyOpenBytes is the size from which on outputs of unknown shape are counted.
const manyOpenBytes = 1 << 20

// fit compares reported shapes with the outputs and the sizes of their buffers, and enlarges those that are too small.
func (e *parts) fit(s *step, res *hal.Result, size []int64, short bool) (grown bool, err error) {
	g, f := &e.sources[s.source].model.Main, e.frames[s.source]
	for k, x := range s.outputs {
		o, v := &g.Operands[x], f[x]
		var reported []uint32
		if len(res.OutputDimensions) > 0 {
			reported = res.OutputDimensions[k]
		}
		switch {
		case e.options.CheckShapes && !short && reported != nil && !completes(o, reported):
			return false, hal.Errorf(hal.GeneralFailure, "runtime: the device reports the shape %v of output operand %d, which is %v%v", reported, x, o.Type, o.Dimensions)
		case size[k] == 0 && (short || reported == nil):
			continue
		case reported == nil:
			return false, hal.Errorf(hal.GeneralFailure, "runtime: the device does not report the shape of output operand %d", x)
		case size[k] == 0:
			v.dims = reported // a caller compares the reported shape
			continue
		}
		v.dims = reported
		n := nn.Elements(reported) * int64(o.Type.ElementBytes())
		if short && slices.Contains(reported, 0) { // it does not know the size
			n = max(n, 2*size[k])
		}
		switch {
		case n < 0:
			return false, hal.Errorf(hal.GeneralFailure, "runtime: output operand %d of shape %v is too large", x, reported)
		case v.buffer != nil: // device memory does not grow
		case n > size[k]:
			if size[k] > int64(o.Type.ElementBytes()) { // it has reported another before
				n = max(n, 2*size[k])
			}
			size[k], grown = n, true
		case !short:
			v.data = v.data[:n]
		}
	}
	return grown, nil
}

// completes reports whether a shape is that of an operand, or completes it.
func completes(o *nn.Operand, dims []uint32) bool {
	if len(o.Dimensions) == 0 {
		return true // its rank is not known, or it is a scalar
	}
	return slices.EqualFunc(o.Dimensions, dims, func(want, got uint32) bool { return want == 0 || want == got })
}

// fallsBack reports whether a part that failed on a device runs again on the
// CPU, as AOSP's runtime does where no device was requested by name. A missed
// deadline stands; OUTPUT_INSUFFICIENT_SIZE here means that a buffer of the reported size was refused.
func (c *Compilation) fallsBack(d hal.Device, err error) bool {
	if d == c.cpu || c.Device != ByStrategy || c.partitioning == WithoutFallback {
		return false
	}
	switch hal.StatusOf(err) {
	case hal.MissedDeadlineTransient, hal.MissedDeadlinePersistent:
		return false
	}
	return true
}

// onCPU runs a step that failed on its device.
func (e *parts) onCPU(s *step, req *hal.Buffers, cause error) (hal.Device, *hal.Result, error) {
	m := *e.sources[s.source].model
	m.Main.Operands = slices.Clone(m.Main.Operands)
	for _, x := range s.inputs {
		m.Main.Operands[x].Dimensions = e.frames[s.source][x].dims
	}
	part := partition.Extract(&m, s.operations)
	p, err := guarded.PrepareModel(e.cpu, part.Model, e.Compilation.options)
	if err != nil {
		return e.cpu, nil, err
	}
	e.move(s, "executing its part of the model: "+cause.Error())
	req.Deadline = nil // it was of the device's clock
	writeBack, err := e.fetch(s)
	if err != nil {
		return e.cpu, nil, err
	}
	for k, x := range s.inputs {
		req.Inputs[k] = e.frames[s.source][x].data
	}
	res, err := e.run(s, e.cpu, p, req)
	if err == nil {
		err = writeBack()
	}
	return e.cpu, res, err
}

// runOnCPU runs the model on the CPU alone.
func (c *Compilation) runOnCPU(inputs [][]byte, o ExecuteOptions, reason string) (_ *Result, err error) {
	p, err := guarded.PrepareModel(c.cpu, c.Model, c.options)
	if err != nil {
		return nil, err
	}
	all := step{device: c.cpu, prepared: p, inputs: c.Model.Main.Inputs, outputs: c.Model.Main.Outputs}
	for i := range c.Model.Main.Operations {
		all.operations = append(all.operations, i)
	}
	whole := *c
	main := c.sources[0]
	main.nodes, main.sections = []int{0}, nil
	whole.steps, whole.order, whole.links, whole.sources = []step{all}, nil, nil, []source{main}
	to := o.OutputBuffers
	inputs = slices.Clone(inputs)
	for i, b := range o.InputBuffers {
		if b != nil {
			if inputs[i], err = fetched(b); err != nil {
				return nil, err
			}
		}
	}
	o.InputBuffers, o.OutputBuffers = nil, nil
	r, err := whole.Execute(inputs, o)
	if err != nil {
		return nil, err
	}
	for i, b := range to {
		if b != nil {
			if err := b.CopyFrom(&hal.Memory{Name: hal.Ashmem, Data: r.Outputs[i], ReadOnly: true}, r.Dimensions[i]); err != nil {
				return nil, err
			}
			r.Outputs[i] = nil
		}
	}
	for i, name := range c.owner {
		if name != c.cpu.Name() {
			r.Fallbacks = append(r.Fallbacks, Fallback{i, reason})
		}
	}
	return r, nil
}
