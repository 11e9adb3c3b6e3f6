package opspec

import (
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// operation is an operation under construction, with operands by the names of its row.
type operation struct {
	nn.Subgraph
	op nn.Operation
}

// newOperation has the inputs of a row's first form: scalars of 1, and tensors of the given
// shapes, which are inputs of the model. A tensor without a shape is left out.
func newOperation(t nn.OperationType, key nn.OperandType, outputs int, shapes map[string][]uint32) *operation {
	o := &operation{op: nn.Operation{Type: t}}
	r := Lookup(t)
	a := Args{Key: key, Row: r}
	for i := range r.forms[0].in {
		s := &r.forms[0].in[i]
		x := nn.Operand{Type: s.fixed, Lifetime: nn.ConstantCopy}
		for _, k := range []nn.OperandType{key, nn.TensorInt32, nn.Float32} {
			if _, ok := a.accepts(s, k); s.class != classFixed && ok {
				x.Type = k
				break
			}
		}
		switch d, given := shapes[s.name]; {
		case x.Type == nn.Float32:
			x.Data = binary.LittleEndian.AppendUint32(nil, math.Float32bits(1))
		case x.Type.IsScalar():
			x.Data = append([]byte{1}, make([]byte, x.Type.ElementBytes()-1)...)
		case given:
			x.Lifetime, x.Dimensions = nn.SubgraphInput, d
		default:
			x.Lifetime = nn.NoValue
		}
		o.op.Inputs = append(o.op.Inputs, uint32(len(o.Operands)))
		o.Operands = append(o.Operands, x)
	}
	for _, alt := range r.forms[0].outs {
		if len(alt.slots) != outputs {
			continue
		}
		for i := range alt.slots {
			x := nn.Operand{Type: key, Lifetime: nn.SubgraphOutput}
			if alt.slots[i].class == classFixed {
				x.Type = alt.slots[i].fixed
			}
			o.op.Outputs = append(o.op.Outputs, uint32(len(o.Operands)))
			o.Operands = append(o.Operands, x)
		}
		break
	}
	return o
}

// at is the named input.
func (o *operation) at(name string) *nn.Operand {
	for i, s := range Lookup(o.op.Type).forms[0].in {
		if s.name == name {
			return &o.Operands[o.op.Inputs[i]]
		}
	}
	return nil
}

func (o *operation) set(name string, v byte) { o.at(name).Data[0] = v }

// dims are the shapes of the outputs in a view of the model.
func (o *operation) dims(v View) ([][]uint32, error) { return v.OutputDims(&o.op) }

// formsOf lists the forms of an operation, none where it lacks the row that TestEveryOperationHasARow demands.
func formsOf(op nn.OperationType) []signature {
	if row := Lookup(op); row != nil {
		return row.forms
	}
	return nil
}

// TestDefaults: each scalar that an operation may end before has a default in its row,
// and readers get that of the row.
func TestDefaults(t *testing.T) {
	for op := nn.OperationType(0); op.Valid(); op++ {
		for _, f := range formsOf(op) {
			for i := f.ends[0]; i < len(f.in); i++ {
				if s := &f.in[i]; s.class == classFixed && s.fixed.IsScalar() && s.standard == nil {
					t.Errorf("%s: %s has no default", op, s.name)
				}
			}
		}
	}
	op := nn.OperationType(nn.ExtensionCode(9, 1))
	type values struct {
		n    int32
		flag bool
	}
	table, err := Standard().With(Row{Op: op, Since: V12, Extension: "org.example.x", Types: "F32@1.2",
		Args: Arguments[values]{Read: func(a *Args) (v values, err error) {
			err = a.scalars(scalar{"n", &v.n}, scalar{"flag", &v.flag})
			return v, err
		}},
		Forms: []Form{{V12, "input:T [1.2 n:int32=-3 flag:bool=1]", "output:T"}}})
	require.NoError(t, err)
	tensor := nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{1}}
	g := &nn.Subgraph{Operands: []nn.Operand{tensor, tensor,
		{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: []byte{5, 0, 0, 0}}, {Type: nn.Bool, Lifetime: nn.ConstantCopy, Data: []byte{0}}}}
	for _, c := range []struct {
		in   []uint32
		want values
	}{{[]uint32{0}, values{-3, true}}, {[]uint32{0, 2, 3}, values{5, false}}} {
		got, err := Read[values](table.ModelView(g), &nn.Operation{Type: op, Inputs: c.in, Outputs: []uint32{1}})
		require.Check(t, err == nil && got == c.want, "%d inputs: %+v, %v, want %+v", len(c.in), got, err, c.want)
	}
	if _, err := Standard().With(Row{Op: op, Extension: "org.example.x", Types: "F32@1.2", Forms: []Form{{V12, "input:T", "output:T"}}}); err == nil ||
		!strings.Contains(err.Error(), "arguments") {
		t.Error("a row without arguments was accepted")
	}
}

// lstmShapes returns the shapes of an LSTM for a batch of 2 with 3 inputs, 5 units and 4 outputs.
func lstmShapes() map[string][]uint32 {
	return map[string][]uint32{
		"input": {2, 3}, "input_to_input_weights": {5, 3}, "input_to_forget_weights": {5, 3}, "input_to_cell_weights": {5, 3},
		"input_to_output_weights": {5, 3}, "recurrent_to_input_weights": {5, 4}, "recurrent_to_forget_weights": {5, 4},
		"recurrent_to_cell_weights": {5, 4}, "recurrent_to_output_weights": {5, 4}, "input_gate_bias": {5}, "forget_gate_bias": {5},
		"cell_gate_bias": {5}, "output_gate_bias": {5}, "projection_weights": {4, 5}, "output_state_in": {2, 4}, "cell_state_in": {2, 5},
	}
}

// TestLstm: the shapes of an LSTM's outputs, and what it refuses. Whether its scratch output
// has a part for the input gate, a request decides that may leave weights out.
func TestLstm(t *testing.T) {
	o := newOperation(nn.OpLstm, nn.TensorFloat32, 4, lstmShapes())
	if _, err := o.dims(ModelView(&o.Subgraph)); !errors.Is(err, ErrUnknown) {
		t.Errorf("weights that a request may leave out: %v", err)
	}
	got, err := o.dims(finalView(&o.Subgraph))
	want := [][]uint32{{2, 20}, {2, 4}, {2, 5}, {2, 4}}
	require.Check(t, err == nil && reflect.DeepEqual(got, want), "shapes %v, %v, want %v", got, err, want)
	scratch := &o.Operands[o.op.Outputs[0]]
	scratch.Dimensions = []uint32{2, 20}
	if got, err := o.dims(ModelView(&o.Subgraph)); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("a scratch output that needs the weights: shapes %v, %v, want %v", got, err, want)
	}
	scratch.Dimensions = []uint32{2, 15}
	if _, err := o.dims(ModelView(&o.Subgraph)); !errors.Is(err, ErrUnknown) {
		t.Errorf("a scratch output without a part for the input gate: %v", err)
	}
	coupled := lstmShapes()
	for _, name := range []string{"input_to_input_weights", "recurrent_to_input_weights", "input_gate_bias"} {
		delete(coupled, name)
	}
	o = newOperation(nn.OpLstm, nn.TensorFloat32, 4, coupled)
	got, err = o.dims(ModelView(&o.Subgraph))
	if want := [][]uint32{{2, 15}, {2, 4}, {2, 5}, {2, 4}}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("coupled gates: shapes %v, %v, want %v", got, err, want)
	}
	for reason, change := range map[string]func(map[string][]uint32){
		"without recurrent_to_input":  func(s map[string][]uint32) { delete(s, "recurrent_to_input_weights") },
		"input_gate_bias: is missing": func(s map[string][]uint32) { delete(s, "input_gate_bias") },
		"without a projection":        func(s map[string][]uint32) { delete(s, "projection_weights") },
		"only some gates":             func(s map[string][]uint32) { s["cell_layer_norm_weights"] = []uint32{5} },
		"shape [2 6]":                 func(s map[string][]uint32) { s["cell_state_in"] = []uint32{2, 6} },
	} {
		s := lstmShapes()
		change(s)
		o := newOperation(nn.OpLstm, nn.TensorFloat32, 4, s)
		require.ErrorContains(t, require.Err(Read[Lstm](finalView(&o.Subgraph), &o.op)), reason)
	}
}

// TestDirections: a bidirectional RNN's two ways, merged or apart, with an auxiliary input
// beside the input or for the backward cell instead of it.
func TestDirections(t *testing.T) {
	shapes := map[string][]uint32{
		"input": {2, 7, 3}, "fw_weights": {5, 3}, "fw_recurrent_weights": {5, 5}, "fw_bias": {5}, "fw_hidden_state": {2, 5},
		"bw_weights": {6, 3}, "bw_recurrent_weights": {6, 6}, "bw_bias": {6}, "bw_hidden_state": {2, 6},
	}
	read := func(outputs int, major, merge byte) (Rnn, *operation, error) {
		o := newOperation(nn.OpBidirectionalSequenceRnn, nn.TensorFloat32, outputs, shapes)
		o.set("time_major", major)
		o.set("merge_outputs", merge)
		r, err := Read[Rnn](ModelView(&o.Subgraph), &o.op)
		return r, o, err
	}
	r, _, err := read(4, 0, 0)
	if want := [][]uint32{{2, 7, 5}, {2, 7, 6}, {2, 5}, {2, 6}}; err != nil || !reflect.DeepEqual(r.Dims, want) {
		t.Errorf("apart: %v, %v, want %v", r.Dims, err, want)
	}
	r, _, err = read(1, 0, 1)
	if want := [][]uint32{{2, 7, 11}}; err != nil || !reflect.DeepEqual(r.Dims, want) || r.Cells[0].Output != r.Cells[1].Output {
		t.Errorf("merged: %+v, %v, want %v", r, err, want)
	}
	if _, _, err := read(2, 0, 1); err == nil {
		t.Error("merged outputs that are two were accepted")
	}
	if _, _, err := read(2, 1, 0); err == nil { // then it is a batch of 7
		t.Error("states of another batch were accepted")
	}
	shapes["aux_input"], shapes["bw_weights"] = []uint32{2, 7, 4}, []uint32{6, 4}
	r, o, err := read(2, 0, 0)
	if x := &r.Cells[1]; err != nil || x.Aux.Operand != None || &o.Operands[x.Input.Operand] != o.at("aux_input") {
		t.Errorf("auxiliary input of the backward cell: %+v, %v", r, err)
	}
	shapes["fw_aux_weights"] = []uint32{5, 4}
	if _, _, err := read(2, 0, 0); err == nil {
		t.Error("auxiliary weights of one direction were accepted")
	}
	shapes["bw_aux_weights"], shapes["bw_weights"] = []uint32{6, 4}, []uint32{6, 3}
	r, o, err = read(2, 0, 0)
	if x := &r.Cells[1]; err != nil || &o.Operands[x.Aux.Operand] != o.at("aux_input") || &o.Operands[x.Input.Operand] != o.at("input") {
		t.Errorf("auxiliary input beside the input: %+v, %v", r, err)
	}
}

// TestDetectionArguments: what the operations that choose regions refuse.
func TestDetectionArguments(t *testing.T) {
	for _, c := range []struct {
		op      nn.OperationType
		outputs int
		shapes  map[string][]uint32
		reasons map[string]func(*operation)
	}{
		{nn.OpBoxWithNmsLimit, 4, map[string][]uint32{"scores": {6, 3}, "roi": {6, 12}, "batches": {6}}, map[string]func(*operation){
			"nms_kernel: 3 is not": func(o *operation) { o.set("nms_kernel", 3) },
			"sigma: -":             func(o *operation) { o.set("nms_kernel", NmsGaussian); o.at("sigma").Data[3] = 0xbf },
			"no class":             func(o *operation) { o.at("scores").Dimensions = []uint32{6, 0} },
			"[n, 12] and [n]":      func(o *operation) { o.at("roi").Dimensions = []uint32{6, 4} },
			"for 5 regions": func(o *operation) {
				o.at("roi").Dimensions, o.at("batches").Dimensions = []uint32{5, 12}, []uint32{5}
			},
		}},
		{nn.OpGenerateProposals, 3, map[string][]uint32{"scores": {1, 2, 5, 6}, "deltas": {1, 8, 5, 6}, "anchors": {2, 4}, "image_info": {1, 2}},
			map[string]func(*operation){
				"deltas: 1 images": func(o *operation) { o.at("deltas").Dimensions = []uint32{1, 5, 6, 8} }, // the flag says NCHW
				"anchors: shape":   func(o *operation) { o.at("anchors").Dimensions = []uint32{3, 4} },
				"image_info":       func(o *operation) { o.at("image_info").Dimensions = []uint32{2, 2} },
			}},
		{nn.OpDetectionPostprocessing, 4, map[string][]uint32{"scores": {1, 6, 3}, "deltas": {1, 6, 4}, "anchors": {6, 4}}, map[string]func(*operation){
			"max_detections: 0": func(o *operation) { o.set("max_detections", 0) },
			"per_class: 0":      func(o *operation) { o.set("max_detections_per_class", 0) },
			"deltas: 3 values":  func(o *operation) { o.at("deltas").Dimensions = []uint32{1, 6, 3} },
			"anchors: shape":    func(o *operation) { o.at("anchors").Dimensions = []uint32{1, 6, 4} },
		}},
	} {
		o := newOperation(c.op, nn.TensorFloat32, c.outputs, c.shapes)
		if _, err := o.dims(finalView(&o.Subgraph)); err != nil && !errors.Is(err, ErrUnknown) {
			t.Errorf("%s: %v", c.op, err)
		}
		for reason, change := range c.reasons {
			o := newOperation(c.op, nn.TensorFloat32, c.outputs, c.shapes)
			change(o)
			require.ErrorContains(t, require.Err(o.dims(finalView(&o.Subgraph))), reason, c.op)
		}
	}
}

// TestWithoutDefaults gives a CONV_2D every combination of its optional operands and
// counts the inputs that remain.
func TestWithoutDefaults(t *testing.T) {
	scalar := func(v byte) nn.Operand {
		return nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: []byte{v, 0, 0, 0}}
	}
	flag := func(v byte) nn.Operand {
		return nn.Operand{Type: nn.Bool, Lifetime: nn.ConstantCopy, Data: []byte{v}}
	}
	tensor := nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{1, 4, 4, 1}, Lifetime: nn.SubgraphInput}
	required := []nn.Operand{tensor, tensor, tensor, scalar(1), scalar(1), scalar(1), scalar(0)}
	input := flag(0)
	input.Lifetime, input.Data = nn.SubgraphInput, nil
	for _, c := range []struct {
		name     string
		optional []nn.Operand
		want     int
	}{
		{"none", nil, 7},
		{"layout", []nn.Operand{flag(0)}, 7},
		{"other layout", []nn.Operand{flag(1)}, 8},
		{"layout that is an input", []nn.Operand{input}, 8},
		{"all", []nn.Operand{flag(0), scalar(1), scalar(1)}, 7},
		{"other layout, dilation of 1", []nn.Operand{flag(1), scalar(1), scalar(1)}, 8},
		{"one dilation of 2", []nn.Operand{flag(0), scalar(2), scalar(1)}, 10},
		{"the other of 2", []nn.Operand{flag(0), scalar(1), scalar(2)}, 10},
	} {
		g := nn.Subgraph{Operands: append(append([]nn.Operand{}, required...), c.optional...)}
		op := nn.Operation{Type: nn.OpConv2D}
		for i := range g.Operands {
			op.Inputs = append(op.Inputs, uint32(i))
		}
		out := tensor
		out.Lifetime = nn.SubgraphOutput
		g.Operands, op.Outputs = append(g.Operands, out), []uint32{uint32(len(g.Operands))}
		a := require.V(ModelView(&g).Bind(&op))(t, c.name)
		require.Same(t, c.want, len(a.WithoutDefaults()), c.name, "inputs remain")
	}
}

// finalView is the view of a subgraph whose inputs have their final shapes.
func finalView(g *nn.Subgraph) View { return View{Operands: g.Operands, Final: true} }
