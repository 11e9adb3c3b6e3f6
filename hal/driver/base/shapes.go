package base

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
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

// isBlank reports whether of the shape of a model input nothing is known but its rank, if that.
func isBlank(o *nn.Operand) bool {
	return !o.Known() && !slices.ContainsFunc(o.Dimensions, func(d uint32) bool { return d > 0 })
}

// omissible reports whether every operation that reads an operand can do without it.
func (d *Device) omissible(g *nn.Subgraph, x uint32) bool {
	v := d.cfg.Operations.ModelView(g)
	read := false
	for i := range g.Operations {
		op := &g.Operations[i]
		for k, in := range op.Inputs {
			if in != x {
				continue
			}
			a, err := v.Bind(op)
			if err != nil || !a.Optional(k) {
				return false
			}
			read = true
		}
	}
	return read
}

// isOpen reports whether only a request completes the shape of a model input. A blank input that its operations
// do not require counts as omitted.
func (d *Device) isOpen(g *nn.Subgraph, x uint32) bool {
	o := &g.Operands[x]
	return !o.Known() && !(isBlank(o) && d.omissible(g, x))
}

// hasOpenInput reports whether an input of a model is open.
func (d *Device) hasOpenInput(m *nn.Model) bool {
	return slices.ContainsFunc(m.Main.Inputs, func(x uint32) bool { return d.isOpen(&m.Main, x) })
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

// open is the program of a model with open inputs: it is compiled for each set of
// shapes that requests come with.
type open struct {
	device  *Device
	model   *nn.Model
	options hal.PrepareOptions
	blank   []bool // inputs that may be left out

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

// newOpen is the program of a model for any shapes of its inputs.
func (d *Device) newOpen(m *nn.Model, o hal.PrepareOptions) *open {
	p := &open{device: d, model: m, options: o}
	for _, x := range m.Main.Inputs {
		operand := &m.Main.Operands[x]
		p.blank = append(p.blank, len(operand.Dimensions) == 0 || isBlank(operand) && d.omissible(&m.Main, x))
	}
	return p
}

// Execute implements Program. A request has the dimensions of the open inputs; no bytes are an empty tensor, and of a
// blank input one that is left out.
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

// shapes returns the shapes of the inputs of a request; empty reports that one has no
// elements.
func (p *open) shapes(b *hal.Buffers) (dims [][]uint32, empty bool, err error) {
	g := &p.model.Main
	dims = make([][]uint32, len(g.Inputs))
	for i, x := range g.Inputs {
		o := &g.Operands[x]
		if dims[i] = o.Dimensions; o.Known() {
			continue
		}
		switch n := len(b.Inputs[i]); {
		case n == 0 && p.blank[i]:
		case i < len(b.InputDimensions) && complete(b.InputDimensions[i]):
			dims[i], empty = b.InputDimensions[i], empty || n == 0
		case n > 0:
			return nil, false, hal.Errorf(hal.InvalidArgument, "input %d has shape %v: a request must complete it", i, o.Dimensions)
		default:
			empty = true
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
	m, err := p.device.compile(bound, p.options)
	if err != nil {
		return nil, err
	}
	if len(p.variants) == maxVariants {
		p.variants = slices.Delete(p.variants, 0, 1)
	}
	p.variants = append(p.variants, variant{key, m})
	return m, nil
}

// Bytes is about how much memory the programs for all shapes keep.
func (p *open) Bytes() (n int) {
	p.mu.Lock()
	variants := slices.Clone(p.variants)
	p.mu.Unlock()
	for _, v := range variants {
		n += int(v.model.ProgramBytes())
	}
	return n
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
	_, err := fmt.Fprintln(w, "; compiled when a request gives the shapes of the inputs")
	return err
}

// WriteProgram implements Program: there is none yet.
func (p *open) WriteProgram(io.Writer) error { return nil }

// maxSample bounds the sizes that sample tries.
const maxSample = 64

// sample is a model with shapes for its open inputs that suit its operations and leave no tensor empty: what a device
// answers for it stands for other sizes, which an execution may still decline. All open dimensions have one size, the
// smallest that suits, or else each its own.
func (d *Device) sample(m *nn.Model) (*nn.Model, error) {
	var fallback *nn.Model
	var first error
	try := func(s *nn.Model) *nn.Model {
		err := validate.ModelOf(d.cfg.Operations, s)
		if err == nil {
			s, err = d.resolved(s)
		}
		switch {
		case err == nil && !hasEmpty(&s.Main):
			return s
		case err == nil && fallback == nil:
			fallback = s
		case first == nil:
			first = err
		}
		return nil
	}
	open := func(o *nn.Operand, x uint32) bool { return len(o.Dimensions) == 0 && d.isOpen(&m.Main, x) }
	if !slices.ContainsFunc(m.Main.Inputs, func(x uint32) bool { return open(&m.Main.Operands[x], x) }) {
		for size := uint32(1); size <= maxSample; size++ {
			if s := try(d.sampleOf(m, size)); s != nil {
				return s, nil
			}
		}
	}
	if s := try(d.solved(m)); s != nil {
		return s, nil
	}
	if fallback != nil {
		return fallback, nil
	}
	return nil, hal.Errorf(hal.InvalidArgument, "no shapes of the open inputs were found that suit the model: %w", first)
}

// hasEmpty reports whether a tensor has a dimension of 0.
func hasEmpty(g *nn.Subgraph) bool {
	return slices.ContainsFunc(g.Operands, func(o nn.Operand) bool {
		return !o.IsConst() && o.Lifetime != nn.SubgraphInput && slices.Contains(o.Dimensions, 0)
	})
}

// sampleOf is a model whose open dimensions are of a size.
func (d *Device) sampleOf(m *nn.Model, size uint32) *nn.Model {
	dims := make([][]uint32, len(m.Main.Inputs))
	for i, x := range m.Main.Inputs {
		if dims[i] = m.Main.Operands[x].Dimensions; !d.isOpen(&m.Main, x) {
			continue
		}
		dims[i] = slices.Clone(dims[i])
		for k, d := range dims[i] {
			if d == 0 {
				dims[i][k] = size
			}
		}
	}
	return withInputs(m, dims)
}

// solved is a model with a shape for each open input, found operation by operation: one that satisfies the shape rule
// of the first operation that reads it and gives results of the declared shapes. If an operation has none, its inputs
// get the shapes that match most dimensions.
func (d *Device) solved(m *nn.Model) *nn.Model {
	c := *m
	c.Main.Operands = slices.Clone(m.Main.Operands)
	g := &c.Main
	v := opspec.View{Operands: g.Operands, Table: d.cfg.Operations}
	for i := range g.Operations {
		op := &g.Operations[i]
		s := solver{view: v, op: op}
		for _, x := range op.Inputs {
			if o := &g.Operands[x]; o.Lifetime == nn.SubgraphInput && d.isOpen(g, x) && !slices.Contains(s.inputs, x) {
				s.inputs, s.given = append(s.inputs, x), append(s.given, o.Dimensions)
			}
		}
		if len(s.inputs) > 0 {
			s.ranks(0)
			for k, x := range s.inputs {
				g.Operands[x].Dimensions = s.best[k]
			}
		}
		if dims, err := v.OutputDims(op); err == nil {
			for k, x := range op.Outputs {
				if dims[k] != nil && v.SetDims(x, dims[k]) != nil {
					break
				}
			}
		}
	}
	return &c
}

// Bounds of the search for the shapes of one operation.
const (
	maxSolverTries = 4096 // combinations of dimensions that its operands have
	maxSolverSize  = 256  // of a dimension that is found alone
)

// solver looks for the shapes of an operation's open inputs.
type solver struct {
	view   opspec.View
	op     *nn.Operation
	inputs []uint32
	given  [][]uint32 // of the inputs

	best  [][]uint32
	score int // of best
	tries int
}

// ranks gives the inputs from the k-th on ranks and looks for their dimensions; it reports whether all fits.
func (s *solver) ranks(k int) bool {
	if k == len(s.inputs) {
		s.tries = 0
		return s.dimensions(s.free()) || s.improveEach(s.free())
	}
	o := &s.view.Operands[s.inputs[k]]
	if len(s.given[k]) > 0 {
		o.Dimensions = slices.Clone(s.given[k])
		return s.ranks(k + 1)
	}
	for _, rank := range s.likelyRanks() {
		if o.Dimensions = make([]uint32, rank); s.ranks(k + 1) {
			return true
		}
	}
	return false
}

// likelyRanks are those to try for an input: of the operation's results, of its operands, others.
func (s *solver) likelyRanks() (list []int) {
	for _, x := range slices.Concat(s.op.Outputs, s.op.Inputs) {
		list = distinct(list, len(s.view.Operands[x].Dimensions))
	}
	return distinct(list, 4, 3, 2, 1)
}

// free are the dimensions to find.
func (s *solver) free() (list []*uint32) {
	for _, x := range s.inputs {
		d := s.view.Operands[x].Dimensions
		for i := range d {
			if d[i] == 0 {
				list = append(list, &d[i])
			}
		}
	}
	return list
}

// dimensions tries sizes: those of the same place of other operands, 1, those of other places.
func (s *solver) dimensions(free []*uint32) bool {
	if len(free) == 0 {
		return s.fits()
	}
	for _, size := range s.sizes(free[0]) {
		if *free[0] = size; s.dimensions(free[1:]) {
			return true
		}
		if s.tries > maxSolverTries {
			break
		}
	}
	*free[0] = 0
	return false
}

// distinct appends those of some numbers above 0 that a list does not have.
func distinct[T int | uint32](list []T, some ...T) []T {
	for _, n := range some {
		if n > 0 && !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list
}

// sizes are those to try for a dimension.
func (s *solver) sizes(free *uint32) (list []uint32) {
	place := 0
	for _, x := range s.inputs {
		for i := range s.view.Operands[x].Dimensions {
			if &s.view.Operands[x].Dimensions[i] == free {
				place = i
			}
		}
	}
	all := slices.Concat(s.op.Outputs, s.op.Inputs)
	for _, x := range all {
		if d := s.view.Operands[x].Dimensions; place < len(d) {
			list = distinct(list, d[place])
		}
	}
	list = distinct(list, 1) // before sizes of other places, which multiply: [0, 82, 0, 0] would have 82^4 elements
	for _, x := range all {
		list = distinct(list, s.view.Operands[x].Dimensions...)
	}
	return distinct(list, 2)
}

// improveEach improves the best shapes one dimension at a time, as long as one gets better.
func (s *solver) improveEach(free []*uint32) bool {
	for k, x := range s.inputs {
		if s.best == nil || len(s.best[k]) != len(s.view.Operands[x].Dimensions) {
			return false
		}
		copy(s.view.Operands[x].Dimensions, s.best[k])
	}
	for better := true; better; {
		better = false
		for _, d := range free {
			keep, before := *d, s.score
			for *d = 1; *d <= maxSolverSize; *d++ {
				if s.fits() {
					return true
				}
				if s.score > before {
					keep, before, better = *d, s.score, true
				}
			}
			*d = keep
		}
	}
	return false
}

// fits reports whether the operation accepts the shapes and gives the declared ones, and keeps the best so far.
func (s *solver) fits() bool {
	s.tries++
	score, want := 1, 1
	dims, err := s.view.OutputDims(s.op)
	switch {
	case errors.Is(err, opspec.ErrUnknown): // nothing contradicts
	case err != nil:
		score = 0
	default:
		for i, x := range s.op.Outputs {
			declared := s.view.Operands[x].Dimensions
			if dims[i] == nil {
				continue
			}
			for k, d := range declared {
				if want++; len(declared) == len(dims[i]) && (d == 0 || d == dims[i][k]) {
					score++
				}
			}
			if slices.Contains(dims[i], 0) { // an empty result stands for nothing
				want++
			}
		}
	}
	if s.best == nil || score > s.score || score == want {
		s.best, s.score = nil, score
		for _, x := range s.inputs {
			s.best = append(s.best, slices.Clone(s.view.Operands[x].Dimensions))
		}
	}
	return score == want
}
