package nnrt

import (
	"slices"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/guarded"
)

// Fenced is an execution that begins when fences signal, and that signals one itself.
type Fenced struct {
	Fence *hal.SyncFence
	// Wait returns the result after the fence has signalled. Timing is that since the
	// call, AfterFences that since the last fence that it waited for.
	Wait func() (*FencedResult, error)
}

// FencedResult is the result of a Fenced.
type FencedResult struct {
	*Result
	Launched, AfterFences hal.Timing // sums of the parts, which follow each other
}

// CanFence reports whether ExecuteFenced is possible: every part has a driver, the
// shapes of all operands between and behind them are known, and there is no control
// flow. Otherwise a caller waits for the fences and calls Execute.
func (c *Compilation) CanFence() bool {
	return c.links != nil && !slices.ContainsFunc(c.steps, func(s step) bool {
		_, open := s.prepared.(unprepared)
		return open || s.device == c.cpu || !known(&c.Model.Main, s.outputs)
	})
}

// LastDriver is the driver that runs the last part, nil where the CPU does or where shapes
// between parts are not known: AOSP's runtime gives no fence then.
func (c *Compilation) LastDriver() hal.Device {
	open := func(s step) bool {
		_, open := s.prepared.(unprepared)
		return open || !known(&c.sources[s.source].model.Main, s.outputs)
	}
	last := &c.steps[len(c.steps)-1]
	if _, control := last.prepared.(*jump); control || last.device == c.cpu || slices.ContainsFunc(c.steps, open) {
		return nil
	}
	return last.device
}

// ExecuteFenced starts an execution that begins when all fences have signalled. Each
// part waits for the fence of the one before. outputs are the buffers of the model's
// outputs; they hold the results when the fence signals. afterFences bounds the time
// on the device's clock from then on; 0 is no bound. Nothing falls back to the CPU
// once it has begun.
func (c *Compilation) ExecuteFenced(inputs, outputs [][]byte, waitFor []*hal.SyncFence, o ExecuteOptions, afterFences time.Duration) (*Fenced, error) {
	if !c.CanFence() {
		return nil, hal.Errorf(hal.InvalidArgument, "runtime: an execution with a part on the CPU, with open shapes or with control flow has no fences")
	}
	e, err := newExecution(c, inputs, o)
	if err != nil {
		return nil, err
	}
	defer e.release() // what has been started keeps its memory
	f, g := e.frames[0], &c.Model.Main
	for i, x := range g.Outputs {
		n := g.Operands[x].Bytes()
		if f[x].buffer != nil {
			continue
		}
		if i >= len(outputs) || int64(len(outputs[i])) < n {
			return nil, hal.Errorf(hal.OutputInsufficientSize, "runtime: output %d needs %d bytes", i, n)
		}
		f[x].data = outputs[i][:n:n]
	}
	var parts []*hal.FencedExecution
	for i := range c.steps {
		s := &c.steps[i]
		req := hal.Buffers{ExecuteOptions: hal.ExecuteOptions{MeasureTiming: true, Functional: o.Functional, Detail: o.Detail, LoopTimeout: o.LoopTimeout, Client: o.Client}}
		if o.Timeout > 0 {
			req.Deadline = hal.MakeDeadline(s.device, o.Timeout)
		}
		for _, x := range s.inputs {
			req.Inputs, req.InputDimensions = append(req.Inputs, f[x].data), append(req.InputDimensions, f[x].dims)
		}
		for _, x := range s.outputs {
			if f[x].data == nil && f[x].buffer == nil {
				f[x].data = e.outputMemory(0, x, g.Operands[x].Bytes())
			}
			req.Outputs = append(req.Outputs, f[x].data)
		}
		p, err := guarded.ExecuteFenced(s.device, s.prepared, e.request(s, &req), waitFor, req.ExecuteOptions, afterFences)
		if err != nil {
			for _, p := range parts { // those that have begun write to the caller's buffers
				<-p.Fence.Done()
			}
			return nil, err
		}
		parts = append(parts, p)
		waitFor = []*hal.SyncFence{p.Fence}
	}
	return &Fenced{waitFor[0], func() (*FencedResult, error) { return e.fenced(parts) }}, nil
}

// fenced collects the results of parts.
func (e *execution) fenced(parts []*hal.FencedExecution) (*FencedResult, error) {
	r := &FencedResult{Result: e.result}
	for i, p := range parts {
		<-p.Fence.Done()
		info, err := p.ExecutionInfo()
		if err == nil && info.Result == nil {
			err = hal.Errorf(hal.GeneralFailure, "%s: a fenced execution without a result", e.steps[i].device.Name())
		}
		if err != nil {
			return nil, err
		}
		e.ran = append(e.ran, ranStep{step: i, device: e.steps[i].device, stats: &info.Result.Stats})
		if i == 0 {
			r.Launched, r.AfterFences = info.TimingLaunched, info.TimingFenced
			continue
		}
		// Later parts wait for the ones before, which their own launch time includes.
		r.Launched, r.AfterFences = sum(r.Launched, info.TimingFenced), sum(r.AfterFences, info.TimingFenced)
	}
	e.schedule()
	e.shapes()
	for _, x := range e.Model.Main.Outputs {
		r.Outputs = append(r.Outputs, e.frames[0][x].data)
		r.Dimensions = append(r.Dimensions, e.frames[0][x].dims)
	}
	return r, nil
}

// sum adds two timings, either of which may be unknown.
func sum(a, b hal.Timing) hal.Timing {
	plus := func(x, y uint64) uint64 {
		if x == hal.NoTime || y == hal.NoTime || x+y < x {
			return hal.NoTime
		}
		return x + y
	}
	return hal.Timing{OnDevice: plus(a.OnDevice, b.OnDevice), InDriver: plus(a.InDriver, b.InDriver)}
}
