package base

import (
	"io"
	"sync"
	"sync/atomic"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/vlog"
	"github.com/nnsoc/nnsoc/nn"
)

// Program is a lowered model. Executions may run at once.
type Program interface {
	// Execute runs the program. The buffers fit the model, except that an output whose
	// shape only an execution knows may be too short for it: then the error has status
	// OUTPUT_INSUFFICIENT_SIZE, and the result the shapes.
	Execute(b *hal.Buffers, at Place) (*hal.Result, error)
	// WriteListing and WriteProgram are what hal.PreparedModel calls so.
	WriteListing(w io.Writer) error
	WriteProgram(w io.Writer) error
}

// prepared is a program behind the contract. It implements hal.PreparedModel.
type prepared struct {
	device   *Device
	original *nn.Model // as the client gave it, with the table's codes of extensions
	model    *nn.Model // with the shapes that follow from inputs and constants
	options  hal.PrepareOptions
	program  Program
	// shaped is the program for requests with shapes of inputs that the model leaves blank; made by the first.
	shaping sync.Once
	shaped  atomic.Pointer[open]
	// preparedFs is the time of making it.
	preparedFs int64

	hashed  sync.Once
	costKey string // see alike

	temporaries    sync.Once
	temporaryBytes int64 // see TemporaryBytes
}

// PrepareModel implements hal.Device.
func (d *Device) PrepareModel(m *nn.Model, o hal.PrepareOptions) (p hal.PreparedModel, err error) {
	defer hal.Contain(&err, d.cfg.Name, "PrepareModel")
	if m, err = d.local(m); err != nil {
		return nil, err
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if err := d.missed(o.Deadline); err != nil {
		return nil, err
	}
	x, err := d.prepare(m, o)
	if err != nil {
		return nil, err
	}
	d.Log(vlog.Driver, "prepareModel: %d operations, preference %d, priority %d", len(m.Main.Operations), o.Preference, o.Priority)
	took := d.compileFs(x)
	if len(o.Cache.Model)+len(o.Cache.Data) > 0 {
		if err := x.save(&o.Cache); err != nil {
			d.Log(vlog.Driver, "prepareModel: not saved: %v", err)
		} else {
			took += cacheFs(&o.Cache, saveNsPerByte)
		}
	}
	if err := d.prepareUntil(x, took, o.Deadline); err != nil {
		return nil, err
	}
	return x, nil
}

// prepare compiles a valid model.
func (d *Device) prepare(m *nn.Model, o hal.PrepareOptions) (*prepared, error) {
	if !d.hasOpenInput(m) {
		return d.compile(m, o)
	}
	known, err := d.sample(m)
	if err != nil {
		return nil, err
	}
	if _, err := d.compile(known, o); err != nil {
		return nil, err
	}
	return &prepared{device: d, original: m, model: m, options: o, program: d.newOpen(m, o)}, nil
}

// compile compiles a valid model without completing its inputs.
func (d *Device) compile(m *nn.Model, o hal.PrepareOptions) (*prepared, error) {
	p := &prepared{device: d, original: m, model: m, options: o}
	var err error
	if p.model, err = d.resolved(m); err != nil {
		return nil, err
	}
	if p.program, err = d.compiler.Compile(p.model, o); err != nil {
		return nil, d.failure(d.aboutAny(p.model, err))
	}
	return p, nil
}

// programFor is the program that a request runs.
func (p *prepared) programFor(b *hal.Buffers) Program {
	if _, ok := p.program.(*open); ok {
		return p.program
	}
	g := &p.original.Main
	for i, x := range g.Inputs {
		if len(b.Inputs[i]) > 0 && !g.Operands[x].Known() {
			p.shaping.Do(func() { p.shaped.Store(p.device.newOpen(p.original, p.options)) })
			return p.shaped.Load()
		}
	}
	return p.program
}

// WriteListing implements hal.PreparedModel.
func (p *prepared) WriteListing(w io.Writer) (err error) {
	defer hal.Contain(&err, p.device.cfg.Name, "WriteListing")
	return p.program.WriteListing(w)
}

// WriteSteps prints the steps of the program, if the device has such.
func (p *prepared) WriteSteps(w io.Writer) (err error) {
	defer hal.Contain(&err, p.device.cfg.Name, "WriteSteps")
	x, ok := p.program.(hal.StepPrinter)
	if !ok {
		return hal.Errorf(hal.InvalidArgument, "this device prints no steps")
	}
	return x.WriteSteps(w)
}

// WriteProgram implements hal.PreparedModel.
func (p *prepared) WriteProgram(w io.Writer) (err error) {
	defer hal.Contain(&err, p.device.cfg.Name, "WriteProgram")
	return p.program.WriteProgram(w)
}

// Unwrap returns the driver's program behind a prepared model of a Device.
func Unwrap(p hal.PreparedModel) Program { return p.(*prepared).program }

// Choices implements hal.Chooser; a device that chooses among nothing has none.
func (p *prepared) Choices() (list []hal.Choice, err error) {
	defer hal.Contain(&err, p.device.cfg.Name, "Choices")
	if x, ok := p.program.(hal.Chooser); ok {
		return x.Choices()
	}
	return nil, nil
}

// Cascades implements hal.Cascader; a program without such has none.
func (p *prepared) Cascades() []hal.Cascade {
	if x, ok := p.program.(hal.Cascader); ok {
		return x.Cascades()
	}
	return nil
}

// Explain prints the costs of the program's steps, if the device can.
func (p *prepared) Explain(w io.Writer) (err error) {
	defer hal.Contain(&err, p.device.cfg.Name, "Explain")
	x, ok := p.program.(hal.Explainer)
	if !ok {
		return hal.Errorf(hal.InvalidArgument, "this device explains no steps")
	}
	return x.Explain(w)
}
