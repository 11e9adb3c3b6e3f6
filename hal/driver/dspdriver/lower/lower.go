package lower

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/launch"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/graph/legal"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Operation lowers operations that this driver cannot lower, or otherwise; see
// compile.OperationLowering.
type Operation = compile.OperationLowering[*Lowering]

// Lowering lowers the operations of one graph. It is used twice: to find out whether an
// operation can be lowered, when steps are thrown away, and to lower.
type Lowering struct {
	*step.Object
	compile.Legalization[*Lowering]
	Graph    *graph.Graph
	view     opspec.View
	own      []Operation // of the user
	list     step.List
	op       int                          // of the model, being lowered
	Values   []*layout.Tensor             // of each operand, nil while it has none
	Flats    []*layout.Tensor             // of each operand in flat form
	Clients  []*layout.Tensor             // of each model input: the bytes of the client
	forms    []layout.Form                // of each operand, nil: all have the usual one
	usual    []*layout.Tensor             // of each operand that is converted for readers of no other form
	accepted map[nn.OperationType]Accepts // of the operations of the table
	accepts  Accepts                      // of the operation being lowered
	Final    bool                         // what is lowered will run; otherwise a query for support keeps nothing
}

// Families is the table of lowerings of all families of operations, and the forms of values that
// the lowerings accept.
type Families struct {
	Table *legal.Table[*Lowering]
	Forms map[nn.OperationType]Accepts
}

// Limits of values.
var (
	noForm   = legal.Limit("this DSP has no form for it")
	computed = legal.Limit("operands must have a value")
	allData  = legal.Limit("constants need all their bytes")
	MaxRuns  = legal.Limit("at most %d separate runs of elements", layout.MaxPositions)
)

// New begins to lower a graph, to find out whether its operations can be lowered; first come
// before this driver's own lowerings.
func New(f Families, g *graph.Graph, o *step.Object, first []Operation) *Lowering {
	v := g.View()
	return &Lowering{Legalization: compile.Legalize(f.Table, first, g, v), Object: o, Graph: g, view: v, own: first, accepted: f.Forms}
}

// Graph makes the steps of a graph whose shapes and parameters are known.
func Graph(f Families, g *graph.Graph, o *step.Object, first []Operation) (_ *step.List, err error) {
	defer try.Catch(&err)
	v := g.View()
	v.Final = true
	l := &Lowering{Legalization: compile.Legalize(f.Table, first, g, v), Object: o, list: step.List{Object: o}, Graph: g, view: v, own: first, accepted: f.Forms, Final: true}
	l.assignForms()
	weights := 0
	for i := range g.Operands {
		weights += len(g.Operands[i].Data)
	}
	o.Reserve(weights)
	l.forget()
	for _, i := range g.Inputs {
		// A parameter that an execution has brought, or an operand it left out.
		if o := &g.Operands[i]; o.IsConst() || o.Lifetime == nn.NoValue {
			l.list.Inputs = append(l.list.Inputs, nil)
			continue
		}
		d := l.denseTensor(i)
		d.External = true
		l.list.Inputs = append(l.list.Inputs, d)
		l.Clients[i] = d
	}
	for i := range g.Operations {
		op := &g.Operations[i]
		l.op = g.Origin[i]
		if empty(g, op) {
			for _, x := range op.Outputs {
				l.FlatResult(x)
			}
			continue
		}
		if err := l.operation(op); err != nil {
			return nil, fmt.Errorf("operation %d: %w", l.op, err)
		}
	}
	uses := g.Uses()
	for _, i := range g.Outputs {
		if l.Values[i] == nil && l.Flats[i] == nil && l.Clients[i] == nil {
			return nil, computed.Broken("output operand %d", i)
		}
		if l.op = 0; len(g.Origin) > 0 {
			l.op = g.Origin[len(g.Origin)-1]
		}
		if k := uses.Producer(i); k >= 0 {
			l.op = g.Origin[k]
		}
		d := l.deliver(i)
		d.External = true
		l.list.Outputs = append(l.list.Outputs, d)
	}
	l.list.Steps = addHalos(l.list.Steps)
	return &l.list, nil
}

// deliver makes the tensor that the client reads of an output.
func (l *Lowering) deliver(i uint32) *layout.Tensor {
	if l.Flats[i] != nil || l.Values[i] == nil {
		return l.flatOutput(i, l.Flat(i))
	}
	d := l.Values[i]
	if !clientForm(d, l.Graph.Operands[i].Type) || d.External {
		d = l.denseTensor(i)
		l.copyTensor(d, l.Values[i])
	}
	return d
}

// operation lowers an operation by the first lowering that accepts it.
func (l *Lowering) operation(op *nn.Operation) error {
	l.accepts = l.FormsOf(op)
	return l.LowerWith(l, op)
}

// empty reports whether an operation has nothing to compute.
func empty(g *graph.Graph, op *nn.Operation) bool {
	if g.OpenShape(op.Type) {
		return false
	}
	for _, x := range op.Outputs {
		if o := &g.Operands[x]; o.Type.IsScalar() || len(o.Dimensions) == 0 || o.Elements() != 0 {
			return false
		}
	}
	return true
}

// forget drops the tensors of all operands.
func (l *Lowering) forget() {
	n := len(l.Graph.Operands)
	l.Values, l.Flats, l.Clients, l.usual = make([]*layout.Tensor, n), make([]*layout.Tensor, n), make([]*layout.Tensor, n), make([]*layout.Tensor, n)
}

// addHalos inserts, behind the last step that writes a tensor with a halo,
// one that fills it.
func addHalos(steps []*step.Step) []*step.Step {
	lastWrite := map[*layout.Tensor]int{}
	for i, s := range steps {
		for _, t := range s.Writes {
			lastWrite[t] = i
		}
	}
	var list []*step.Step
	for i, s := range steps {
		list = append(list, s)
		for _, t := range s.Writes {
			if t.HasHalo() && lastWrite[t] == i {
				list = append(list, launch.HaloStep(t, s.Op))
			}
		}
	}
	return list
}
