package base

import (
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/validate"
)

// Execute implements hal.PreparedModel. A request with an output buffer that is
// too short ends in OUTPUT_INSUFFICIENT_SIZE and a result with the shapes of
// all outputs.
func (p *prepared) Execute(r *hal.Request) (res *hal.Result, err error) {
	defer hal.Contain(&err, p.device.cfg.Name, "Execute")
	short := validate.Request(p.model, r)
	if short != nil {
		if hal.StatusOf(short) != hal.OutputInsufficientSize {
			return nil, short
		}
		if dims, all := p.known(); all {
			return &hal.Result{OutputDimensions: dims}, short
		}
		r = p.roomy(r) // the other shapes are told by an execution
	}
	res, err = p.program.Execute(r)
	if err != nil {
		if hal.StatusOf(err) != hal.OutputInsufficientSize {
			res = nil
		}
		return res, p.device.executionFailure(err)
	}
	if err := p.check(r, res); err != nil {
		return nil, err
	}
	return res, short
}

// executionFailure is an error of an execution: without a status of its own it
// is a failure of the device.
func (d *Device) executionFailure(err error) error {
	return hal.Errorf(hal.StatusOf(err), "%s driver: %w", d.cfg.Name, err)
}

// known are the shapes of the outputs, and whether the model states all.
func (p *prepared) known() (dims [][]uint32, all bool) {
	g := &p.model.Main
	all = true
	for _, x := range g.Outputs {
		o := &g.Operands[x]
		dims, all = append(dims, o.Dimensions), all && o.Known()
	}
	return dims, all
}

// roomy is a request like r in which no output of known shape is too short.
func (p *prepared) roomy(r *hal.Request) *hal.Request {
	c, g := *r, &p.model.Main
	c.Outputs = append([][]byte(nil), r.Outputs...)
	for i, b := range c.Outputs {
		if o := &g.Operands[g.Outputs[i]]; o.Known() && int64(len(b)) < o.Bytes() {
			c.Outputs[i] = make([]byte, o.Bytes())
		}
	}
	return &c
}

// check compares what an execution reports with the model.
func (p *prepared) check(r *hal.Request, res *hal.Result) error {
	g := &p.model.Main
	if res == nil || len(res.OutputDimensions) != len(g.Outputs) {
		return p.outputs("no shapes of the outputs")
	}
	for i, x := range g.Outputs {
		o, dims := &g.Operands[x], res.OutputDimensions[i]
		if n := int64(o.Type.ElementBytes()) * nn.Elements(dims); n < 0 || n > int64(len(r.Outputs[i])) {
			return p.outputs("output %d of shape %v, reported as done, has a buffer of %d bytes", i, dims, len(r.Outputs[i]))
		}
	}
	return nil
}
