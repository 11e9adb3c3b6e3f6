package onnx

import (
	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/nn"
)

// none is the operand of a form that a value does not have.
const none = lowering.None

// graph is a scope of names in the file: the graph of the model, the body of a loop or
// branch, or a function where it is called. Scopes that are inlined share the NNAPI
// subgraph with the scope around them.
//
// Its methods fail by panic with a *lowering.Fault or a lowering.Refusal; catch converts that to an error at the
// boundaries: the whole graph and each of its nodes.
type graph struct {
	*lowering.Graph
	im           *importer
	parent       *graph
	file         *onnxfile.Graph
	opset        int64
	initializers map[string]*onnxfile.Tensor
	values       map[string]*value
	uses         map[string][]use
	fused        map[*onnxfile.Node]bool        // converted with the node before them
	arguments    map[string]*onnxfile.Attribute // of the function that is being inlined
	producers    map[string]*onnxfile.Node      // by output
	where        string
}

// use is a node that reads a name; node is nil for an output of the graph.
type use struct {
	node  *onnxfile.Node
	input int
}

// open begins a scope.
func (im *importer) open(file *onnxfile.Graph, parent *graph, to *lowering.Graph, opset int64) *graph {
	g := &graph{
		Graph: to, im: im, parent: parent, file: file, opset: opset, initializers: map[string]*onnxfile.Tensor{},
		values: map[string]*value{}, uses: map[string][]use{}, fused: map[*onnxfile.Node]bool{}, producers: map[string]*onnxfile.Node{},
	}
	if parent != nil {
		g.where, g.arguments = parent.where, parent.arguments
	}
	for _, t := range file.Initializers {
		g.initializers[t.Name] = t
	}
	for _, n := range file.Nodes {
		for k, name := range n.Inputs {
			g.uses[name] = append(g.uses[name], use{n, k})
		}
		for _, name := range n.Outputs {
			g.producers[name] = n
		}
		for _, a := range n.Attributes {
			if a.Graph != nil { // reads of an inner graph are reads here as well
				for name := range freeNames(a.Graph) {
					g.uses[name] = append(g.uses[name], use{})
				}
			}
		}
	}
	for _, v := range file.Outputs {
		g.uses[v.Name] = append(g.uses[v.Name], use{})
	}
	return g
}

// freeNames are the names that a graph reads from the scopes around it.
func freeNames(file *onnxfile.Graph) map[string]bool {
	own, free := map[string]bool{"": true}, map[string]bool{}
	for _, v := range file.Inputs {
		own[v.Name] = true
	}
	for _, t := range file.Initializers {
		own[t.Name] = true
	}
	read := func(name string) {
		if !own[name] {
			free[name] = true
		}
	}
	for _, n := range file.Nodes {
		for _, name := range n.Inputs {
			read(name)
		}
		for _, a := range n.Attributes {
			if a.Graph != nil {
				for name := range freeNames(a.Graph) {
					read(name)
				}
			}
		}
		for _, name := range n.Outputs {
			own[name] = true
		}
	}
	for _, v := range file.Outputs {
		read(v.Name)
	}
	return free
}

// format begins each error.
const format = "onnx"

// catch ends a panic of Failf or Refusef.
func (g *graph) catch(err *error) {
	if e := lowering.Ended(format, g.where, recover()); e != nil {
		*err = e
	}
}

// find is the value of a name here or in the scopes around; ok is false where there is
// none. Constants of another NNAPI subgraph are copied into this one.
func (g *graph) find(name string) (v *value, ok bool) {
	if v, ok := g.values[name]; ok {
		return v, true
	}
	if t, ok := g.initializers[name]; ok {
		v := g.constant(t)
		g.values[name] = v
		return v, true
	}
	for i := range g.file.Sparse {
		if g.file.Sparse[i].Values.Name == name {
			v := g.dense(&g.file.Sparse[i])
			g.values[name] = v
			return v, true
		}
	}
	if g.parent == nil {
		return nil, false
	}
	v, ok = g.parent.find(name)
	if !ok || v.missing || v.from == g.Graph {
		return v, ok
	}
	if v.sequence || v.absent {
		g.Refusef("%q is no tensor, and subgraphs have tensors only", name)
	}
	x := v.forms[real]
	if x == none || !v.from.IsConst(x) {
		return nil, false
	}
	o := *v.from.Operand(x)
	y := g.Add(o)
	if s, ok := v.from.Shape[x]; ok {
		g.Shape[y] = s
	}
	if w, ok := v.from.Wide[x]; ok {
		g.Wide[y] = w
	}
	v = g.valueOf(y)
	g.values[name] = v
	return v, true
}

// lookup is the value of a name, which must be there.
func (g *graph) lookup(name string) *value {
	v, ok := g.find(name)
	if !ok {
		g.Failf("%q is read before it is written", name)
	}
	return v
}

// valueOf is a value of one operand in the file's order of dimensions.
func (g *graph) valueOf(x uint32) *value {
	v := plainValue(x)
	v.from = g.Graph
	return v
}

// constantFloats is the value of a name that is a constant of reals.
func (g *graph) constantFloats(name string) ([]float32, bool) {
	v, ok := g.find(name)
	if !ok || v.missing || v.forms[real] == none || !g.IsConst(v.forms[real]) {
		return nil, false
	}
	return g.floatsOf(v.forms[real])
}

// floatsOf are the elements of a constant of reals.
func (g *graph) floatsOf(x uint32) ([]float32, bool) {
	switch o := g.Operand(x); o.Type {
	case nn.TensorFloat32, nn.TensorFloat16:
		return floatElements(o), true
	}
	return nil, false
}
