package base

import (
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/nn"
)

// resolved is a valid model with the shapes that follow from its inputs and
// constants: of temporaries and outputs that the model leaves open. Drivers see
// these shapes, in a query as in a compilation.
func (d *Device) resolved(m *nn.Model) (*nn.Model, error) {
	g, err := d.cfg.Operations.Resolve(&m.Main)
	if err != nil {
		return nil, hal.Errorf(hal.InvalidArgument, "%w", err)
	}
	c := *m
	c.Main = *g
	return &c, nil
}

// isOpen reports whether only a request completes the shape of a model input.
// An input of which no dimension is known is an optional one that is left out.
func isOpen(o *nn.Operand) bool {
	return !o.Type.IsScalar() && slices.Contains(o.Dimensions, 0) && slices.ContainsFunc(o.Dimensions, func(d uint32) bool { return d > 0 })
}

// hasOpenInput reports whether an input of a model is open.
func hasOpenInput(m *nn.Model) bool {
	return slices.ContainsFunc(m.Main.Inputs, func(x uint32) bool { return isOpen(&m.Main.Operands[x]) })
}

// withInputs is a model with these shapes of its inputs.
func withInputs(m *nn.Model, dims [][]uint32) *nn.Model {
	c := *m
	c.Main.Operands = slices.Clone(m.Main.Operands)
	for i, x := range m.Main.Inputs {
		c.Main.Operands[x].Dimensions = dims[i]
	}
	return &c
}

// maxSample bounds the sizes that sample tries.
const maxSample = 64

// sample is a model whose open dimensions have the smallest size that suits its
// operations and leaves no tensor empty: what a device answers for it stands for
// other sizes, which an execution may still decline.
func (d *Device) sample(m *nn.Model) (*nn.Model, error) {
	var fallback *nn.Model
	var first error
	for size := uint32(1); size <= maxSample; size++ {
		s := sampleOf(m, size)
		err := validate.ModelOf(d.cfg.Operations, s)
		if err == nil {
			s, err = d.resolved(s)
		}
		switch {
		case err == nil && !hasEmpty(&s.Main):
			return s, nil
		case err == nil && fallback == nil:
			fallback = s
		case first == nil:
			first = err
		}
	}
	if fallback != nil {
		return fallback, nil
	}
	return nil, first
}

// hasEmpty reports whether a tensor has a dimension of 0.
func hasEmpty(g *nn.Subgraph) bool {
	return slices.ContainsFunc(g.Operands, func(o nn.Operand) bool { return !o.IsConst() && slices.Contains(o.Dimensions, 0) })
}

// sampleOf is a model whose open dimensions are of a size.
func sampleOf(m *nn.Model, size uint32) *nn.Model {
	dims := make([][]uint32, len(m.Main.Inputs))
	for i, x := range m.Main.Inputs {
		o := &m.Main.Operands[x]
		if dims[i] = o.Dimensions; !isOpen(o) {
			continue
		}
		dims[i] = slices.Clone(o.Dimensions)
		for k, d := range dims[i] {
			if d == 0 {
				dims[i][k] = size
			}
		}
	}
	return withInputs(m, dims)
}

// open is the program of a model with open inputs: it is compiled for each set of
// shapes that requests come with.
type open struct {
	device  *Device
	model   *nn.Model
	options hal.PrepareOptions

	mu sync.Mutex
	// variants are the models compiled so far by the shapes of their inputs, the
	// last used one last.
	variants []variant
}

type variant struct {
	key   string
	model *prepared
}

// maxVariants bounds the compiled models that an open one keeps.
const maxVariants = 8

// Execute implements Program. Where the request has no dimensions of an open input, the
// length of its buffer tells; no bytes are an empty tensor.
func (p *open) Execute(b *hal.Buffers, at Place) (*hal.Result, error) {
	dims, empty, err := p.shapes(b)
	if err != nil {
		return nil, err
	}
	bound := withInputs(p.model, dims)
	if empty {
		return p.device.nothing(bound)
	}
	v, err := p.variant(fmt.Sprint(dims), bound)
	if err != nil {
		return nil, err
	}
	return v.program.Execute(b, at)
}

// shapes are the shapes of the inputs of a request; empty says that one has no
// elements.
func (p *open) shapes(b *hal.Buffers) (dims [][]uint32, empty bool, err error) {
	g := &p.model.Main
	dims = make([][]uint32, len(g.Inputs))
	for i, x := range g.Inputs {
		o := &g.Operands[x]
		if dims[i] = o.Dimensions; !isOpen(o) {
			continue
		}
		n := len(b.Inputs[i])
		empty = empty || n == 0
		switch given := i < len(b.InputDimensions) && len(b.InputDimensions[i]) > 0; {
		case given && !slices.Contains(b.InputDimensions[i], 0):
			dims[i] = b.InputDimensions[i]
		case n > 0 || len(o.Dimensions) == 0:
			return nil, false, hal.Errorf(hal.InvalidArgument, "input %d has shape %v: a request must complete it", i, o.Dimensions)
		}
	}
	return dims, empty, nil
}

// variant is the model compiled for shapes.
func (p *open) variant(key string, bound *nn.Model) (*prepared, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.IndexFunc(p.variants, func(v variant) bool { return v.key == key }); i >= 0 {
		v := p.variants[i]
		p.variants = append(slices.Delete(p.variants, i, i+1), v)
		return v.model, nil
	}
	if err := validate.ModelOf(p.device.cfg.Operations, bound); err != nil {
		return nil, err
	}
	m, err := p.device.prepare(bound, p.options)
	if err != nil {
		return nil, err
	}
	if len(p.variants) == maxVariants {
		p.variants = slices.Delete(p.variants, 0, 1)
	}
	p.variants = append(p.variants, variant{key, m})
	return m, nil
}

// nothing is the result of an execution whose outputs have no elements: their
// shapes, and no costs, because the device does not start.
func (d *Device) nothing(m *nn.Model) (*hal.Result, error) {
	g, err := d.cfg.Operations.Complete(&m.Main, func(nn.OperationType) bool { return false })
	if err != nil {
		return nil, hal.Errorf(hal.GeneralFailure, "%s driver: %w", d.cfg.Name, err)
	}
	res := &hal.Result{}
	for i, x := range g.Outputs {
		o := &g.Operands[x]
		if !slices.Contains(o.Dimensions, 0) {
			return nil, hal.Errorf(hal.GeneralFailure, "%s driver: output %d of shape %v from an empty input is not supported", d.cfg.Name, i, o.Dimensions)
		}
		res.OutputDimensions = append(res.OutputDimensions, o.Dimensions)
	}
	return res, nil
}

// WriteListing implements Program.
func (p *open) WriteListing(w io.Writer) error {
	_, err := fmt.Fprintln(w, "; compiled when a request tells the shapes of the inputs")
	return err
}

// WriteProgram implements Program: there is none yet.
func (p *open) WriteProgram(io.Writer) error { return nil }
