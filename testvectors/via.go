package testvectors

import (
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/registry"
)

// ThroughRuntime is a device of a registry as a client of the runtime sees it: models are
// compiled for it and executed by the runtime. An operation that falls back to the CPU is
// an error, so that a result is the device's.
func ThroughRuntime(r *registry.Registry, d hal.Device) hal.Device { return &runtimeDevice{d, r} }

type runtimeDevice struct {
	hal.Device
	registry *registry.Registry
}

// PrepareModel implements hal.Device.
func (d *runtimeDevice) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	c, err := nnrt.Compile(d.registry, m, d.Name(), nnrt.CompileOptions{Preference: nnrt.Prefer(o.Preference)})
	if err != nil {
		return nil, err
	}
	return &compiled{c: c, model: m}, nil
}

// compiled is a compilation of the runtime as a prepared model.
type compiled struct {
	hal.UnimplementedPreparedModel
	c     *nnrt.Compilation
	model *nn.Model
}

// Execute implements hal.PreparedModel.
func (p *compiled) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	inputs, outputs, err := r.Buffers()
	if err != nil {
		return nil, err
	}
	x, err := p.c.Execute(inputs, nnrt.ExecuteOptions{Functional: o.Functional, Detail: o.Detail, LoopTimeout: o.LoopTimeout})
	if err != nil {
		return nil, err
	}
	if len(x.Fallbacks) > 0 {
		return nil, hal.Errorf(hal.GeneralFailure, "runtime: an operation fell back to the CPU: %v", x.Fallbacks[0])
	}
	res := &hal.Result{OutputDimensions: x.Dimensions, Timing: hal.NoTiming, Insufficient: make([]bool, len(outputs))}
	res.Stats.LatencyFs, res.Stats.EnergyPJ = x.LatencyFs, x.EnergyPJ
	g := &p.model.Main
	var short error
	for i, data := range x.Outputs {
		if len(data) <= len(outputs[i]) {
			copy(outputs[i], data)
			continue
		}
		status := hal.OutputInsufficientSize
		if g.Operands[g.Outputs[i]].Known() {
			status = hal.InvalidArgument
		}
		res.Insufficient[i] = true
		short = hal.Errorf(status, "runtime: output %d has %d bytes, needs %d", i, len(outputs[i]), len(data))
	}
	if short != nil && hal.StatusOf(short) != hal.OutputInsufficientSize {
		return nil, short
	}
	return res, short
}
