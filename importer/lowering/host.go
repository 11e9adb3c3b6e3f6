package lowering

import (
	"slices"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/refcpu"
	"github.com/nnsoc/nnsoc/refcpu/hostop"
)

// Host adds an operation of nn.HostExtension and returns its outputs, whose types and shapes, as far as they are known,
// are those of outs. An input None is omitted. An operation of constants is computed at once, but one with an empty result,
// which no constant holds.
func (g *Graph) Host(op nn.OperationType, outs []nn.Operand, attributes []int64, in ...uint32) []uint32 {
	g.Check(g.budget.Operation())
	if len(attributes) == 0 {
		attributes = []int64{0}
	}
	o := nn.Operation{Type: op, Name: g.Node}
	for _, x := range in {
		if x == None {
			x = g.NoValue(nn.TensorFloat32)
		}
		o.Inputs = append(o.Inputs, x)
	}
	o.Inputs = append(o.Inputs, g.Int32Tensor(attributes...))
	for _, x := range outs {
		x.Lifetime, x.Data, x.Channel, x.Name = nn.TemporaryVariable, nil, nil, ""
		o.Outputs = append(o.Outputs, g.Add(x))
	}
	if g.foldHost(&o) {
		return slices.Clone(o.Outputs)
	}
	for _, y := range o.Outputs {
		if p := g.Operand(y); p.Known() {
			g.Spend(p.Bytes())
		}
	}
	g.Sub.Operations = append(g.Sub.Operations, o)
	return slices.Clone(o.Outputs)
}

// foldHost computes a host operation whose inputs are all constants, within bounds.
func (g *Graph) foldHost(o *nn.Operation) bool {
	m := &nn.Model{}
	part := nn.Operation{Type: o.Type}
	for _, x := range o.Inputs {
		p := *g.Operand(x)
		if !p.IsConst() && p.Lifetime != nn.NoValue {
			return false
		}
		part.Inputs = append(part.Inputs, uint32(len(m.Main.Operands)))
		m.Main.Operands = append(m.Main.Operands, p)
	}
	for _, x := range o.Outputs {
		p := *g.Operand(x)
		p.Lifetime = nn.SubgraphOutput
		i := uint32(len(m.Main.Operands))
		part.Outputs, m.Main.Outputs = append(part.Outputs, i), append(m.Main.Outputs, i)
		m.Main.Operands = append(m.Main.Operands, p)
	}
	m.Main.Operations = []nn.Operation{part}
	hostop.Table().Spec().Declare(m)
	limits := refcpu.Limits{Bytes: maxFolded - g.budget.folded, Work: maxFoldWork - g.budget.foldWork}
	if limits.Bytes <= 0 || limits.Work <= 0 {
		return false
	}
	program, err := refcpu.CompileConfig(m, refcpu.Config{Operations: hostop.Table(), Limits: limits})
	g.Check(err)
	values, err := program.Execute(nil, refcpu.Options{})
	g.Check(err)
	size := int64(0)
	for _, v := range values {
		if len(v.Data) == 0 {
			return false
		}
		size += int64(len(v.Data))
	}
	g.budget.folded, g.budget.foldWork = g.budget.folded+size, g.budget.foldWork+size
	g.Spend(size)
	for k, x := range o.Outputs {
		p := g.Operand(x)
		p.Lifetime, p.Dimensions, p.Data = nn.ConstantCopy, values[k].Dimensions, values[k].Data
	}
	return true
}

// openLengths stand for a dimension that only an execution knows. They lie far apart, so that what follows from one does
// not follow from all: a slice of a dimension ends where that does.
var openLengths = []uint32{1, 61, 127}

// openDims are the shapes of an operation's outputs as far as the known dimensions of its inputs give them: where the
// shape rule says the same for several lengths of every dimension that only an execution knows. Where it takes but some of
// them, as of dimensions that must broadcast, these give the ranks. It is nil where the rule asks for values that only an
// execution knows.
func (g *Graph) openDims(o *nn.Operation) (dims [][]uint32) {
	if list, ok := g.Ints(o.Inputs[min(1, len(o.Inputs)-1)]); ok && o.Type == nn.OpReshape {
		for _, d := range list {
			dims = append(dims, []uint32{uint32(max(d, 0))})
		}
		return [][]uint32{slices.Concat(dims...)}
	}
	alike := true
	for _, length := range openLengths {
		d := g.dimsFor(o, length)
		switch {
		case d == nil:
			alike = false
			continue
		case dims == nil:
			dims = d
			continue
		}
		for k := range d {
			if len(d[k]) != len(dims[k]) {
				return nil
			}
			for i := range d[k] {
				if d[k][i] != dims[k][i] {
					dims[k][i] = 0
				}
			}
		}
	}
	for k := range dims {
		if !alike {
			clear(dims[k])
		}
	}
	return dims
}

// dimsFor are the shapes of an operation's outputs with a length for every dimension of its inputs that is open.
func (g *Graph) dimsFor(o *nn.Operation, length uint32) (dims [][]uint32) {
	for _, x := range o.Inputs {
		p := g.Operand(x)
		if p.Type.IsScalar() || p.Lifetime == nn.NoValue || p.Known() {
			continue
		}
		own := p.Dimensions
		defer func() { g.Operand(x).Dimensions = own }()
		p.Dimensions = slices.Clone(own)
		for i, d := range own {
			if d == 0 {
				p.Dimensions[i] = length
			}
		}
	}
	a, err := opspec.View{Operands: g.Sub.Operands}.Bind(o)
	if err != nil {
		return nil
	}
	list, err := a.OutputDims()
	if err != nil {
		return nil
	}
	for _, d := range list {
		dims = append(dims, slices.Clone(d))
	}
	return dims
}
