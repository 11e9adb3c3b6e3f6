package lower

import (
	"errors"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/depthwise"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/launch"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// The forms of values in memory are assigned before lowering, by the estimated cost of the steps
// around them: an operation is lowered by itself for a trial with each form of its inputs and
// outputs, conversions included, and layout.Assign finds the assignment with the least sum.

// Accepts is the forms of inputs that a lowering accepts. Others are converted before it, or
// by it.
type Accepts struct {
	// Pitched: whole positions with a pitch between them. An operation that accepts no form reads
	// and writes flat values.
	Pitched bool
	// Plain: bytes with nothing between them, as a client has them. It needs no halo around them,
	// and passes the tensor on under no other name.
	Plain bool
	// Ragged: such bytes whatever the number of channels, so that positions begin anywhere in a vector.
	Ragged bool
	// Makes: it computes bytes with nothing between them where its result is plain.
	Makes bool
	// Small: a pitch of 4, 8 or 16 bytes, as many channels as there are.
	Small bool
}

// LayoutReader is an Operation that accepts other forms than the usual one.
type LayoutReader interface {
	Accepts(op *nn.Operation) Accepts
}

// FormsOf returns the forms that an operation accepts.
func (l *Lowering) FormsOf(op *nn.Operation) Accepts {
	own := compile.Choose(l.own, l.view, op)
	if own != nil {
		if r, ok := own.(LayoutReader); ok {
			return r.Accepts(op)
		}
		return Accepts{Pitched: true}
	}
	if op.Type == nn.OpDepthwiseConv2D {
		c, err := opspec.Read[opspec.Conv](l.view, op)
		return Accepts{Pitched: true, Small: err == nil && l.Direct(&c) && c.StrideW <= 2}
	}
	return l.accepted[op.Type]
}

// Direct reports whether a depthwise convolution has a kernel of its own.
func (l *Lowering) Direct(c *opspec.Conv) bool {
	return c.Multiplier == 1 && c.KH*c.KW <= depthwise.MaxTaps && l.Packable(c.Filter, c.Bias)
}

// Packable reports whether filter and bias are known when the model is prepared.
func (l *Lowering) Packable(filter, bias uint32) bool {
	return l.Graph.Operands[filter].IsConst() && l.Graph.Operands[bias].IsConst()
}

// Form returns the form of an operand in memory.
func (l *Lowering) Form(i uint32) layout.Form {
	if l.forms == nil {
		return layout.Usual
	}
	return l.forms[i]
}

// PitchOf is the pitch of an operand's positions.
func (l *Lowering) PitchOf(i uint32, s layout.Shape) int {
	switch l.Form(i) {
	case layout.Small:
		return s.SmallPitch()
	case layout.Plain:
		return s.C
	}
	return s.Pitch()
}

// assignForms chooses the forms of all operands.
func (l *Lowering) assignForms() {
	g := l.Graph
	l.forms = slices.Repeat([]layout.Form{layout.Usual}, len(g.Operands))
	readers := make([][]*nn.Operation, len(g.Operands))
	makers := make([]*nn.Operation, len(g.Operands))
	for k := range g.Operations {
		op := &g.Operations[k]
		for _, x := range op.Outputs {
			makers[x] = op
		}
		for _, x := range readsOf(g, op) {
			readers[x] = append(readers[x], op)
		}
	}
	var open []uint32 // operands with several forms
	var values [][]layout.Form
	number := map[uint32]int{}
	for i := range g.Operands {
		if forms := candidates(l, uint32(i), makers[i], readers[i]); len(forms) > 1 {
			number[uint32(i)] = len(open)
			open, values = append(open, uint32(i)), append(values, forms)
		}
	}
	if len(open) == 0 {
		return
	}
	var factors []layout.Factor
	add := func(operands []uint32, lower func(t *Lowering) error) {
		var f layout.Factor
		for _, x := range operands {
			if v, ok := number[x]; ok {
				f.Values = append(f.Values, v)
			}
		}
		if len(f.Values) == 0 {
			return
		}
		slices.Sort(f.Values)
		f.Values = slices.Compact(f.Values)
		f.Cost = func(forms []layout.Form) int {
			for k, v := range f.Values {
				l.forms[open[v]] = forms[k]
			}
			return trial(l, lower)
		}
		factors = append(factors, f)
	}
	for k := range g.Operations {
		if op := &g.Operations[k]; !empty(g, op) {
			add(slices.Concat(readsOf(g, op), op.Outputs), func(t *Lowering) error { return lowerForms(t, op) })
		}
	}
	for _, i := range g.Inputs {
		add([]uint32{i}, func(t *Lowering) error {
			d := t.denseTensor(i)
			d.External = true
			t.importValue(i, d)
			return nil
		})
	}
	for _, i := range g.Outputs {
		add([]uint32{i}, func(t *Lowering) error {
			arrive(t, i)
			t.deliver(i)
			return nil
		})
	}
	a := layout.Assign(values, factors)
	for v, x := range open {
		l.forms[x] = a.Forms[v]
		l.list.Forms = append(l.list.Forms, step.FormChoice{Operand: x, Shape: layout.ShapeOf(g.Operands[x].Dimensions), Forms: values[v], Costs: func() []int { return a.Costs(v) }, Chosen: a.Forms[v]})
	}
}

// readsOf are the operands that an operation reads; QUANTIZE reads what its DEQUANTIZE does.
func readsOf(g *graph.Graph, op *nn.Operation) []uint32 {
	if op.Type == nn.OpQuantize {
		if from, ok := Dequantized(g, op); ok {
			return append(slices.Clone(op.Inputs), from)
		}
	}
	return op.Inputs
}

// candidates are the forms that an operand may have: one of few channels a small pitch if some
// reader accepts it, a client's bytes and what its maker computes as such the plain form if all readers do.
func candidates(l *Lowering, i uint32, maker *nn.Operation, readers []*nn.Operation) []layout.Form {
	o := &l.Graph.Operands[i]
	forms := []layout.Form{layout.Usual}
	s := layout.ShapeOf(o.Dimensions)
	if !isBytes(o.Type) || o.IsConst() || o.Lifetime == nn.NoValue || !o.Known() || s.Elements() == 0 || s.Positions() > layout.MaxPositions {
		return forms
	}
	accepting := func(want func(Accepts) bool) func(op *nn.Operation) bool {
		return func(op *nn.Operation) bool { return want(l.FormsOf(op)) }
	}
	if s.SmallPitch() < s.Pitch() && slices.ContainsFunc(readers, accepting(func(a Accepts) bool { return a.Small })) {
		forms = append(forms, layout.Small)
	}
	refuses := accepting(func(a Accepts) bool { return !a.flat() && !(a.Plain && (s.C%layout.VectorBytes == 0 || a.Ragged)) })
	made := slices.Contains(l.Graph.Inputs, i) && len(readers) > 0
	if maker != nil {
		a := l.FormsOf(maker)
		made = a.Makes || a.flat()
	}
	if made && !slices.ContainsFunc(readers, refuses) {
		forms = append(forms, layout.Plain)
	}
	return forms
}

// flat reports whether an operation reads and writes flat values alone.
func (a Accepts) flat() bool { return a == Accepts{} }

// trial estimates the cycles of the steps that lower adds to a separate lowering, with the present
// forms: layout.Impossible where it fails, or where a result is in another form.
func trial(l *Lowering, lower func(t *Lowering) error) (cycles int) {
	o := &step.Object{Threads: l.Threads, Machine: l.Machine, VTCM: l.VTCM, DMA: l.DMA, ZWindow: l.ZWindow, Image: l.Image.Outlines()}
	t := &Lowering{Legalization: l.Legalization, Object: o, list: step.List{Object: o}, Graph: l.Graph, view: l.view, own: l.own, accepted: l.accepted, forms: l.forms, Final: true}
	t.forget()
	if lower(t) != nil {
		return layout.Impossible
	}
	for _, x := range t.list.Tensors {
		if x.Shape.Positions() > layout.MaxPositions || x.Bytes() > layout.MaxArena {
			return layout.Impossible
		}
	}
	for _, s := range addHalos(t.list.Steps) {
		to := &step.Launcher{Object: o, Step: s}
		n, err := to.Estimate((*step.Launcher).Begin)
		if err != nil {
			return layout.Impossible
		}
		cycles += n
	}
	return cycles
}

var errOtherForm = errors.New("the result has another form")

// lowerForms lowers an operation whose inputs are in their assigned forms, with the halos that it
// requests, and converts its results to theirs.
func lowerForms(l *Lowering, op *nn.Operation) error {
	for _, x := range readsOf(l.Graph, op) {
		arrive(l, x)
	}
	if err := l.operation(op); err != nil {
		return err
	}
	for _, x := range readsOf(l.Graph, op) {
		if t := l.Values[x]; t != nil && t.HasHalo() {
			l.list.Steps = append(l.list.Steps, launch.HaloStep(t, l.op))
		}
	}
	for _, x := range op.Outputs {
		o := &l.Graph.Operands[x]
		if l.Form(x) == layout.Plain {
			if l.Flats[x] == nil {
				return errOtherForm
			}
			continue
		}
		if f := l.Flats[x]; f != nil && l.Values[x] == nil && isBytes(o.Type) {
			l.fromFlat(x, f)
		}
		if t := l.Values[x]; t != nil && l.Form(x) == layout.Small != t.HasSmallPitch() {
			return errOtherForm
		}
	}
	return nil
}

// arrive makes the tensor of a value that operations read which are lowered by themselves.
func arrive(l *Lowering, x uint32) {
	o := &l.Graph.Operands[x]
	if !carried(o.Type) || !o.Known() || o.Lifetime == nn.NoValue || o.IsConst() {
		return
	}
	switch s := layout.ShapeOf(o.Dimensions); {
	case !isBytes(o.Type):
		l.Clients[x] = l.denseTensor(x)
	case l.Form(x) == layout.Plain:
		t := l.plain(x)
		t.External = slices.Contains(l.Graph.Inputs, x) && !SignedBytes(o.Type)
	default:
		l.Values[x] = l.NewTensor("", s, l.PitchOf(x, s), ZeroOf(o))
	}
}

// plain makes the tensor of an operand in the plain form, which is both its value and flat. Positions
// that begin anywhere in a vector make it a dense one.
func (l *Lowering) plain(i uint32) *layout.Tensor {
	t := l.Result(i, layout.ShapeOf(l.Graph.Operands[i].Dimensions).C)
	t.Dense = t.Shape.C%layout.VectorBytes != 0
	l.Flats[i] = t
	return t
}

// importValue makes the internal form of a dense value.
func (l *Lowering) importValue(i uint32, dense *layout.Tensor) {
	switch s := layout.ShapeOf(l.Graph.Operands[i].Dimensions); {
	case l.Form(i) != layout.Plain:
		l.copyTensor(l.Result(i, l.PitchOf(i, s)), dense)
	case dense.Signed:
		l.copyTensor(l.plain(i), dense)
	default: // the same bytes
		l.plain(i).External = true
		dense.Unplaced, dense.External = true, false
	}
}

// clientForm reports whether the bytes are those that the client sees: nothing
// between positions, rows or images, and values of an unsigned type.
func clientForm(t *layout.Tensor, typ nn.OperandType) bool {
	return !t.Dense && t.Contiguous() && !SignedBytes(typ)
}
