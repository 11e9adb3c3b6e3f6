package tflite

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/importer/tflite/internal/flatbuffer"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/refcpu/hostop"
)

// Limits of an import, far above those of real networks.
const (
	maxSubgraphs = 1 << 10 // conversions of subgraphs
	maxDepth     = 16      // of IF and WHILE in one another
)

// Options steer Import. The zero value, or nil, imports the file as it is.
type Options struct {
	// Shapes overrides the file's shapes of inputs of the network, by name. Shapes of other tensors follow from the
	// inputs.
	Shapes map[string][]uint32
	// Signature is the key of the signature to import, with its names of inputs and outputs; empty: subgraph 0 with the
	// names of its tensors.
	Signature string
	// Note, unless nil, hears of a choice that the file leaves open.
	Note func(text string)
}

// Error is a model that cannot be imported.
type Error = lowering.Error

// Import reads a model file. The model's constants alias data, which must not
// change afterwards. Every failure is an *Error; a network that NNAPI cannot
// express fails with an *Unsupported in it.
func Import(data []byte, o *Options) (*nn.Model, error) {
	root, err := openModel(data)
	if err != nil {
		return nil, err
	}
	im := &importer{data: data, root: root, rows: builtins(), model: &nn.Model{}, variables: map[string]*variable{}, refused: map[place]refusal{}}
	if o != nil {
		im.shapes = o.Shapes
		if err := im.choose(o); err != nil {
			return nil, err
		}
	}
	if err := im.main(); err != nil {
		return nil, err
	}
	return im.model, nil
}

// openModel verifies a file.
func openModel(data []byte) (flatbuffer.Table, error) {
	root, err := flatbuffer.OpenModel(data)
	switch {
	case err != nil:
	case root.Int("version") != 3:
		err = fmt.Errorf("schema version %d, want 3", root.Int("version"))
	case root.Tables("subgraphs") == 0:
		err = fmt.Errorf("no subgraphs")
	default:
		return root, nil
	}
	return root, &Error{Format: format, Err: err}
}

// importer is one import.
type importer struct {
	data   []byte
	root   flatbuffer.Table
	rows   map[int]*builtin
	shapes map[string][]uint32
	entry  int // the subgraph that is the network
	// inputNames and outputNames are what a signature calls the tensors of the entry.
	inputNames, outputNames map[int]string

	model     *nn.Model
	variables map[string]*variable
	refused   map[place]refusal
	depth     int

	budget    lowering.Budget
	subgraphs int
}

// main converts the entry and the subgraphs that it refers to.
func (im *importer) main() (err error) {
	g, err := im.open(im.entry)
	if err == nil {
		err = g.convertMain()
	}
	if len(im.refused) > 0 {
		return &Error{Format: format, Err: im.unsupported()}
	}
	if err != nil {
		return err
	}
	g.Sub.Name = g.table.Text("name")
	im.model.Main = lowering.Compact(g.Sub)
	for i, sub := range im.model.Referenced {
		im.model.Referenced[i] = lowering.Compact(sub)
	}
	hostop.Table().Spec().Declare(im.model)
	return nil
}

// convertMain declares the main subgraph's inputs, converts its operators and sets its outputs and states.
func (g *graph) convertMain() (err error) {
	defer g.catch(&err)
	im := g.im
	inputs := g.table.Vector("inputs")
	var names []string
	for k := range inputs.N {
		t := g.tensorAt("input", k, inputs.Int(k))
		tensor := g.tensors[t]
		name := tensor.Text("name")
		if s, ok := im.inputNames[t]; ok {
			name = s
		}
		names = append(names, fmt.Sprintf("%q", name))
		o, ok := g.declare(t)
		o.Name = name
		if !ok || g.isComplex(t) {
			im.refused[place{g.index, -1 - k}] = refusal{name: "input " + fmt.Sprintf("%q", name), reason: "is a tensor of type " + typeName(tensor.Int("type")) + ", which NNAPI lacks"}
			o.Type = nn.TensorInt32
		}
		shape := g.fileShape(t)
		if s, ok := im.shapes[name]; ok {
			shape = s
			g.resized = true
		}
		for d, n := range shape {
			if n == 0 {
				g.Failf("input %q has the shape %v: dimension %d is open; --shape %s=%s gives it", name, shape, d, name, shapeToGive(shape))
			}
		}
		if scale, ok := g.unsigned16(t); ok {
			o.Type, o.Scale = nn.TensorQuant16Asymm, scale
			g.input(t, o, shape)
			g.value[t] = g.Emit(nn.OpDequantize16, nn.Operand{Type: nn.TensorFloat32}, g.value[t])
			g.SetShape(g.value[t], shape)
			continue
		}
		g.input(t, o, shape)
	}
	for name := range im.shapes {
		if !slices.Contains(names, fmt.Sprintf("%q", name)) {
			g.Failf("a shape is given for %q; the inputs are %s", name, strings.Join(names, ", "))
		}
	}
	g.convertOperators()
	g.readOutputs()
	g.keepSteps()
	g.readStates()
	return nil
}

// shapeToGive is a shape as --shape takes it, with N for the dimensions that the file leaves open.
func shapeToGive(shape []uint32) string {
	list := make([]string, len(shape))
	for i, n := range shape {
		if list[i] = strconv.FormatUint(uint64(n), 10); n == 0 {
			list[i] = "N"
		}
	}
	return strings.Join(list, ",")
}

// open begins a subgraph of the file.
func (im *importer) open(index int) (*graph, error) {
	n := im.root.Tables("subgraphs")
	if index < 0 || index >= n {
		return nil, &Error{Format: format, Err: fmt.Errorf("subgraph %d of %d", index, n)}
	}
	if im.subgraphs++; im.subgraphs > maxSubgraphs {
		return nil, &Error{Format: format, Err: fmt.Errorf("subgraphs are used more than %d times", maxSubgraphs)}
	}
	t := im.root.TableAt("subgraphs", index)
	g := &graph{Graph: lowering.New(&im.budget), im: im, index: index, table: t, handles: map[int]string{}, imaginaries: map[int]uint32{}}
	count := t.Tables("tensors")
	g.tensors, g.value = make([]flatbuffer.Table, count), make([]uint32, count)
	for i := range count {
		g.tensors[i], g.value[i] = t.TableAt("tensors", i), none
	}
	return g, nil
}

// place is an operator of the file; inputs of the network have negative
// operator numbers.
type place struct{ subgraph, operator int }

// refusal is why something of a file has no NNAPI form.
type refusal struct{ name, reason, node, instead string }

// Unsupported is the error of a network that NNAPI cannot express: all
// operators that have no NNAPI form, and how often each occurs.
type Unsupported = lowering.Unsupported

// unsupported counts the refusals.
func (im *importer) unsupported() *Unsupported {
	u := &Unsupported{}
	inOrder := func(a, b place) int {
		return cmp.Or(cmp.Compare(a.subgraph, b.subgraph), cmp.Compare(a.operator, b.operator))
	}
	for _, at := range slices.SortedFunc(maps.Keys(im.refused), inOrder) {
		r := im.refused[at]
		u.Add(r.name, r.reason, r.node, r.instead)
	}
	return u
}
