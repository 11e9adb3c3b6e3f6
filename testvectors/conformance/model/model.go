// Package model proves the requirements of models, operations and the tools that read them.
package model

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/compat"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/hal/driver/sample"
	"github.com/nnsoc/nnsoc/hal/nntrace"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/graphdump"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/testvectors/conformance/check"
	"github.com/nnsoc/nnsoc/testvectors/randgraph"
)

// ModelRuleChecks vary one thing of a right model, trace, drawing or driver at a time.
func Checks() []check.Check {
	return []check.Check{
		{Name: "every mark of every layer and phase", Rows: []string{"D1-4", "D1-5", "D1-6"}, Run: everyMark},
		{Name: "nested, subtracted and outermost slices", Rows: []string{"D1-7"}, Run: nestedSlices},
		{Name: "each part of a drawing", Rows: []string{"D4-2", "D4-3", "D4-4", "D4-5"}, Run: partsOfDrawings},
		{Name: "what each version leaves out", Rows: []string{"C4-4", "C4-10", "D3-2", "H3-7", "E6-7", "C4-9", "E1-1", "A0-6"}, Run: versionsLeaveOut},
		{Name: "inputs and outputs of a slice", Rows: []string{"C4-5", "E6-1", "H3-7"}, Run: sliceEnds},
		{Name: "figures that a table lacks", Rows: []string{"B-4", "B-5", "E6-4"}, Run: lackingFigures},
		{Name: "lists, references and scales one beyond", Rows: []string{"D2-4", "D2-5", "E8-1", "E8-2", "E8-4", "A8-2", "D2-3"}, Run: oneBeyond},
		{Name: "each part of what branches and loops are given", Rows: []string{"D2-7", "D2-8"}, Run: partsOfBindings},
		{Name: "dimensions that roles state together", Rows: []string{"A10-2", "D2-10"}, Run: statedTogether},
		{Name: "values of a loop beside their readers, and inputs of another size", Rows: []string{"C6-4", "C6-6", "C6-9"}, Run: valuesOfPlans},
		{Name: "verdicts on drivers that decline or compute wrong", Rows: []string{"E7-5", "E7-6"}, Run: verdicts},
	}
}

func everyMark(t *check.T) {
	parts := []nntrace.Phase{nntrace.InputsOutputs, nntrace.Transformation, nntrace.Computation, nntrace.Results}
	for _, layer := range nntrace.Layers() {
		for _, phase := range nntrace.Phases() {
			for k := range 4 {
				m := nntrace.Mark{Layer: layer, Phase: phase, Detail: "x", Switch: k&1 > 0, Subtract: k&2 > 0}
				back, ok, err := nntrace.ParseMark(m.String())
				t.Check(err == nil && ok && back == m, "%s becomes %+v: %v", m, back, err)
			}
			s := nntrace.Summarize([]nntrace.Event{{Thread: "1", Name: nntrace.Mark{Layer: layer, Phase: phase}.String(), Begin: true, Us: 1}, {Thread: "1", Us: 2}})
			alone := slices.Contains(parts, phase) && layer != nntrace.Driver && layer != nntrace.CPU
			check.Equal(t, fmt.Sprintf("%s %s outside of an execution is warned of", layer, phase), len(s.Warnings) > 0, alone)
		}
	}
}

func nestedSlices(t *check.T) {
	begin := func(us float64, name string) nntrace.Event {
		return nntrace.Event{Thread: "1", Name: name, Begin: true, Us: us}
	}
	end := func(us float64) nntrace.Event { return nntrace.Event{Thread: "1", Us: us} }
	for what, c := range map[string]struct {
		events   []nntrace.Event
		want     map[string]float64
		total    float64
		overlaps int
		warned   bool
	}{
		"two outermost slices": {[]nntrace.Event{begin(0, "[NN_LR_PC]a"), end(10), begin(20, "[NN_LR_PE]b"), end(25)}, map[string]float64{"LR PC": 10, "LR PE": 5}, 15, 0, false},
		"what is to be subtracted": {[]nntrace.Event{begin(0, "[NN_LR_PE]a"), begin(10, "[SUB][NN_LO_PU]wait"), end(30), end(100)},
			map[string]float64{"LR PE": 80}, 100, 0, false},
		"another layer to be subtracted": {[]nntrace.Event{begin(0, "[NN_LR_PE]a"), begin(10, "[SUB][NN_LC_PE]b"), end(30), end(100)},
			map[string]float64{"LR PE": 80, "LC PE": 20}, 100, 0, false},
		"the same layer and phase inside": {[]nntrace.Event{begin(0, "[NN_LR_PE]a"), begin(10, "[NN_LR_PE]b"), end(30), end(100)}, map[string]float64{"LR PE": 100}, 100, 1, false},
		"the same to be subtracted":       {[]nntrace.Event{begin(0, "[NN_LR_PE]a"), begin(10, "[SUB][NN_LR_PE]b"), end(30), end(100)}, map[string]float64{"LR PE": 100}, 100, 0, false},
		"a driver that takes longer than the call": {[]nntrace.Event{begin(0, "[NN_LI_PE]a"), end(10), {Thread: "2", Name: "[NN_LD_PE]b", Begin: true, Us: 0}, {Thread: "2", Us: 15}},
			map[string]float64{"LI PE": 0, "LD PE": 15}, 25, 0, true},
	} {
		s := nntrace.Summarize(c.events)
		got := map[string]float64{}
		for _, x := range s.Cells {
			got[string(x.Layer)+" "+string(x.Phase)] = x.Us
		}
		check.Equal(t, what+": times", fmt.Sprint(got), fmt.Sprint(c.want))
		check.Equal(t, what+": in all", s.TotalUs, c.total)
		check.Equal(t, what+": overlaps", s.Overlaps, c.overlaps)
		check.Equal(t, what+": warnings", len(s.Warnings) > 0, c.warned)
	}
}

func partsOfDrawings(t *check.T) {
	scalar := func(typ nn.OperandType, data ...byte) nn.Operand {
		return nn.Operand{Type: typ, Lifetime: nn.ConstantCopy, Data: data}
	}
	m := &nn.Model{Main: nn.Subgraph{
		Operands: []nn.Operand{
			check.Tensor(nn.TensorFloat32, nn.SubgraphInput, 1, 0), {Type: nn.TensorQuant8Asymm, Lifetime: nn.TemporaryVariable}, check.Tensor(nn.TensorInt32, nn.SubgraphOutput, 4), check.Tensor(nn.TensorBool8, nn.SubgraphOutput, 2),
			scalar(nn.Bool, 2), scalar(nn.Int32, 0xff, 0xff, 0xff, 0xff), scalar(nn.Uint32, 0xff, 0xff, 0xff, 0xff), scalar(nn.Float16, 0, 0x3c), scalar(nn.Float32, 0, 0, 0x20, 0x40), scalar(nn.Int32, 1),
		},
		Operations: []nn.Operation{
			{Type: nn.OpAdd, Inputs: []uint32{0, 0}, Outputs: []uint32{1}},
			{Type: nn.OpSplit, Inputs: []uint32{1, 4, 5, 6, 7, 8, 9}, Outputs: []uint32{2, 3}},
			{Type: nn.OpRelu, Inputs: []uint32{1}, Outputs: []uint32{3}},
		},
		Inputs: []uint32{0}, Outputs: []uint32{2, 3},
	}}
	var b strings.Builder
	t.OK("drawing", graphdump.Write(&b, "two\nlines", m))
	const want = `// two lines
digraph {
    d0 [label="0 = input[0]\nTF32(1x?)" style=filled fillcolor=black fontcolor=white]
    d1 [label="1\nTQ8A(unknown rank)"]
    d2 [label="2 = output[0]\nTI32(4)" style=filled fillcolor=black fontcolor=white]
    d3 [label="3 = output[1]\nTENSOR_BOOL8(2)" style=filled fillcolor=black fontcolor=white]
    n0 [shape=box ordering=in label="0: ADD"]
    d0 -> n0 [label=0]
    d0 -> n0 [label=1]
    n0 -> d1
    n1 [shape=box ordering=out label="1: SPLIT\n[1] BOOL = true\n[2] I32 = -1\n[3] U32 = 4294967295\n[4] FLOAT16 = 1\n[5] F32 = 2.5\n[6] I32 = ?"]
    d1 -> n1 [label=0]
    n1 -> d2 [label=0]
    n1 -> d3 [label=1]
    n2 [shape=box label="2: RELU"]
    d1 -> n2
    n2 -> d3
}
`
	check.Equal(t, "drawing", b.String(), want)
}

func versionsLeaveOut(t *check.T) {
	open := check.ReluModel(nn.TensorFloat32, 0, 3)
	relaxed := *check.AddModel(nn.TensorFloat32)
	relaxed.Relaxed = true
	for v := compat.V1_0; v <= compat.V1_3; v++ {
		own := check.NewOdd()
		own.VersionIs, own.Extensions, own.Files = "7", []hal.Extension{{Name: "org.example.mine"}}, [2]int{1, 2}
		d := compat.Adapt(v, own)
		late := v >= compat.V1_2
		check.Equal(t, fmt.Sprint("version string in ", v), d.Version() == "7", late)
		check.Equal(t, fmt.Sprint("type in ", v), d.Type() == hal.DeviceAccelerator, late)
		check.Equal(t, fmt.Sprint("extensions in ", v), len(d.SupportedExtensions()) == 1, late)
		a, b := d.NumberOfCacheFilesNeeded()
		check.Equal(t, fmt.Sprint("cache files in ", v), [2]int{a, b} == [2]int{1, 2}, late)
		_, err := d.PrepareModel(open, hal.PrepareOptions{})
		check.Equal(t, fmt.Sprint("an output of unknown shape in ", v), err == nil, late)
		c, warnings := check.V2(compat.Convert(v, &relaxed))(t, "convert")
		check.Equal(t, fmt.Sprint("the relaxed flag in ", v), c.Relaxed, v >= compat.V1_1)
		check.Equal(t, fmt.Sprint("warnings of it in ", v), len(warnings) > 0, v < compat.V1_1)
		check.Equal(t, "the client's own flag", relaxed.Relaxed, true)
		short := compat.Adapt(v, &shortReplies{check.Driver("short", nn.OpRelu)})
		s, err := short.SupportedOperations(check.Chain(nn.TensorFloat32))
		if v < compat.V1_3 {
			t.Status(fmt.Sprint("too few answers in ", v), err, hal.GeneralFailure)
			check.Equal(t, "answers", len(s), 0)
		}
	}
	own := compat.NewDevice(cpudriver.New(cpudriver.Config{}))
	for typ, since := range map[nn.OperandType]compat.Version{nn.TensorFloat32: compat.V1_0, nn.TensorFloat16: compat.V1_2, nn.TensorQuant8AsymmSigned: compat.V1_3} {
		for v := compat.V1_0; v <= compat.V1_3; v++ {
			s, answers := own.GetSupportedOperations(v, check.AddModel(typ))
			want := hal.StatusNone
			if v < since {
				want = hal.InvalidArgument
			}
			check.Equal(t, fmt.Sprintf("getSupportedOperations of %v for %v", v, typ), s, want)
			check.Equal(t, "answers", len(answers) == 1, v >= since)
		}
	}
	// Unused operands count as well, and the operands of operations of vendors.
	unused := check.AddModel(nn.TensorFloat32)
	unused.Referenced = []nn.Subgraph{check.ReluModel(nn.TensorFloat32, 2).Main}
	check.Equal(t, "a model with a subgraph", compat.ModelVersion(unused), compat.V1_3)
	for typ, want := range map[nn.OperandType]compat.Version{nn.TensorFloat32: compat.V1_0, nn.TensorFloat16: compat.V1_2, nn.TensorQuant8AsymmSigned: compat.V1_3} {
		oem := &nn.Subgraph{Operands: []nn.Operand{check.Tensor(typ, nn.SubgraphInput, 2), check.Tensor(typ, nn.SubgraphOutput, 2)}}
		check.Equal(t, "an operation of OEMs on "+typ.String(), compat.OperationVersion(oem, &nn.Operation{Type: nn.OpOEM, Inputs: []uint32{0}, Outputs: []uint32{1}}), want)
	}
	for _, typ := range []nn.OperandType{nn.OEM, nn.TensorOEMByte} {
		check.Equal(t, typ.String(), compat.OperandTypeVersion(typ), compat.V1_0)
	}
}

// shortReplies is a driver that answers for one operation too few.
type shortReplies struct{ *check.Picky }

func (d *shortReplies) SupportedOperations(m *nn.Model) ([]hal.Support, error) {
	s, err := d.Picky.SupportedOperations(m)
	return s[:max(len(s)-1, 0)], err
}

// sliceEnds slices RELU, three HARD_SWISH and an ADD for a version that lacks HARD_SWISH.
func sliceEnds(t *check.T) {
	x := func(l nn.Lifetime) nn.Operand { return check.Tensor(nn.TensorFloat32, l, 2, 3) }
	tmp := nn.TemporaryVariable
	m := &nn.Model{Main: nn.Subgraph{
		Operands: []nn.Operand{x(nn.SubgraphInput), x(tmp), x(tmp), x(tmp), x(nn.SubgraphOutput), check.Int32Scalar(0), x(nn.SubgraphOutput)},
		Operations: []nn.Operation{
			{Type: nn.OpRelu, Inputs: []uint32{0}, Outputs: []uint32{1}}, {Type: nn.OpHardSwish, Inputs: []uint32{1}, Outputs: []uint32{2}},
			{Type: nn.OpHardSwish, Inputs: []uint32{2}, Outputs: []uint32{3}}, {Type: nn.OpAdd, Inputs: []uint32{2, 3, 5}, Outputs: []uint32{4}}, {Type: nn.OpHardSwish, Inputs: []uint32{3}, Outputs: []uint32{6}},
		},
		Inputs: []uint32{0}, Outputs: []uint32{4, 6},
	}}
	t.OK("the model", validate.Model(m))
	for v := compat.V1_0; v < compat.V1_3; v++ {
		s, original := compat.Slice(v, m)
		if s == nil {
			t.Fatalf("no slice for HAL %v", v)
		}
		check.Equal(t, "operations of the slice", fmt.Sprint(original), "[0 3]")
		check.Equal(t, "its inputs: the model's, and one for two operands that are alike", len(s.Main.Inputs), 2)
		check.Equal(t, "its outputs: what others read, and the model's", len(s.Main.Outputs), 2)
		add := s.Main.Operations[1]
		check.Equal(t, "one operand for both values that come from outside", add.Inputs[0], add.Inputs[1])
		d := &check.QueryRecorder{Picky: check.Driver("old", nn.OpAdd)} // of two, the second
		answers := check.V(compat.Adapt(v, d).SupportedOperations(m))(t, "getSupportedOperations")
		var ok []bool
		for _, a := range answers {
			ok = append(ok, a.OK)
		}
		check.Equal(t, "answers in the order of the model", fmt.Sprint(ok), "[false false false true false]")
	}
}

func lackingFigures(t *check.T) {
	var c hal.Capabilities
	for typ := nn.OperandType(0); typ.Valid(); typ++ {
		check.Equal(t, "the figure of "+typ.String()+" in an empty table", c.Lookup(typ), hal.Slowest)
	}
	for _, typ := range []nn.OperandType{nn.TensorInt32, nn.SubgraphRef, nn.Float32, nn.TensorQuant8Asymm, nn.OEM} {
		c.Update(typ, check.Figure(float32(typ)+1))
	}
	var order []nn.OperandType
	for _, p := range c.OperandPerformance() {
		order = append(order, p.Type)
		check.Equal(t, "the figure of "+p.Type.String(), p.Info, check.Figure(float32(p.Type)+1))
	}
	check.Equal(t, "types of a table", fmt.Sprint(order), fmt.Sprint([]nn.OperandType{nn.Float32, nn.TensorInt32, nn.TensorQuant8Asymm, nn.OEM}))
	check.Equal(t, "the figure of SUBGRAPH", c.Lookup(nn.SubgraphRef), hal.Slowest)
	check.Equal(t, "the figure of a type between others", c.Lookup(nn.Uint32), hal.Slowest)
}

func oneBeyond(t *check.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	one := func() *nn.Model { return check.Chain(nn.TensorFloat32) }
	cases := map[string]func(m *nn.Model){}
	for what, beyond := range map[string]uint32{"the last": 0, "2^32": math.MaxUint32} {
		at := func(m *nn.Model) uint32 { return max(uint32(len(m.Main.Operands)), beyond) }
		cases["an input one beyond "+what] = func(m *nn.Model) { m.Main.Inputs[0] = at(m) }
		cases["an output one beyond "+what] = func(m *nn.Model) { m.Main.Outputs[0] = at(m) }
		cases["an operation that reads one beyond "+what] = func(m *nn.Model) { m.Main.Operations[0].Inputs[0] = at(m) }
		cases["an operation that writes one beyond "+what] = func(m *nn.Model) { m.Main.Operations[0].Outputs = []uint32{at(m)} }
	}
	cases["no operations"] = func(m *nn.Model) {
		m.Main.Operations, m.Main.Outputs, m.Main.Operands = nil, nil, m.Main.Operands[:1]
	}
	cases["no outputs"] = func(m *nn.Model) {
		for i := range m.Main.Operands {
			if m.Main.Operands[i].Lifetime == nn.SubgraphOutput {
				m.Main.Operands[i].Lifetime = nn.TemporaryVariable
			}
		}
		m.Main.Outputs = nil
	}
	for _, n := range []int{-1, 1} {
		cases[fmt.Sprint("right numbers of consumers for ", n, " operands more")] = func(m *nn.Model) {
			counts := make([]uint32, len(m.Main.Operands)+1)
			for i := range m.Main.Operations {
				for _, x := range m.Main.Operations[i].Inputs {
					counts[x]++
				}
			}
			m.Main.Consumers = counts[:len(m.Main.Operands)+n]
		}
	}
	extra := func(o nn.Operand) func(m *nn.Model) {
		return func(m *nn.Model) { m.Main.Operands = append(m.Main.Operands, o) }
	}
	for _, dims := range [][]uint32{{math.MaxUint32, math.MaxUint32}, {1 << 31, 2}, {1 << 30, 1 << 30, 1 << 30}} {
		cases[fmt.Sprint("a tensor of ", dims)] = extra(nn.Operand{Type: nn.TensorFloat32, Dimensions: dims})
	}
	for _, s := range []float32{0, -1, inf, -inf, nan} {
		cases[fmt.Sprint("a scale of ", s)] = extra(nn.Operand{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{2}, Scale: s})
		cases[fmt.Sprint("a scale by channel of ", s)] = extra(nn.Operand{Type: nn.TensorQuant8SymmPerChannel, Dimensions: []uint32{2}, Channel: &nn.ChannelQuant{Scales: []float32{1, s}}})
		if s != 0 {
			cases[fmt.Sprint("floats of scale ", s)] = extra(nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{2}, Scale: s})
		}
		if s < 0 || s != s || s == inf {
			cases[fmt.Sprint("a bias of scale ", s)] = extra(nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{2}, Scale: s})
		}
	}
	for what, q := range map[string]nn.ChannelQuant{"a dimension one beyond": {Dim: 1, Scales: []float32{1, 1}}, "a scale too few": {Scales: []float32{1}}, "a scale too many": {Scales: []float32{1, 1, 1}}} {
		cases["channels with "+what] = extra(nn.Operand{Type: nn.TensorQuant8SymmPerChannel, Dimensions: []uint32{2}, Channel: &q})
	}
	for what, damage := range cases {
		m := one()
		for i := range m.Main.Operations {
			m.Main.Operations[i].Inputs = slices.Clone(m.Main.Operations[i].Inputs)
		}
		damage(m)
		t.Status(what, validate.Model(m), hal.InvalidArgument)
	}
	for _, n := range []int{0, 3, 5} {
		m := check.LoopModel(false)
		m.Main.Operands[2].Data = make([]byte, n)
		t.Status(fmt.Sprint("a reference of ", n, " bytes"), validate.Model(m), hal.InvalidArgument)
	}
	for _, i := range []uint32{2, math.MaxUint32} {
		m := check.LoopModel(false)
		m.Main.Operands[2].Data = binary.LittleEndian.AppendUint32(nil, i)
		t.Status(fmt.Sprint("a reference to subgraph ", i, " of 2"), validate.Model(m), hal.InvalidArgument)
	}
	t.Status("no model", validate.Model(nil), hal.InvalidArgument)
}

// partsOfBindings changes one part of an operand inside a subgraph, or one list.
func partsOfBindings(t *check.T) {
	quant := func() *nn.Model {
		m := check.ChoiceModel()
		graphs := []*nn.Subgraph{&m.Main, &m.Referenced[0], &m.Referenced[1]}
		for _, g := range graphs {
			for i := range g.Operands {
				if o := &g.Operands[i]; o.Type == nn.TensorFloat32 {
					o.Type, o.Scale, o.ZeroPoint = nn.TensorQuant8Asymm, 0.5, 3
				}
			}
		}
		return m
	}
	t.OK("an IF of quantized tensors", validate.Model(quant()))
	for k := range 2 {
		for what, damage := range map[string]func(g *nn.Subgraph){
			"scale": func(g *nn.Subgraph) { g.Operands[0].Scale, g.Operands[1].Scale = 0.25, 0.25 }, "zero point": func(g *nn.Subgraph) { g.Operands[0].ZeroPoint, g.Operands[1].ZeroPoint = 4, 4 },
			"type": func(g *nn.Subgraph) {
				g.Operands[0].Type, g.Operands[1].Type = nn.TensorQuant8AsymmSigned, nn.TensorQuant8AsymmSigned
			},
			"rank": func(g *nn.Subgraph) { g.Operands[0].Dimensions, g.Operands[1].Dimensions = []uint32{6}, []uint32{6} },
			"an input more": func(g *nn.Subgraph) {
				g.Operands = append(g.Operands, g.Operands[0])
				g.Inputs = append(g.Inputs, uint32(len(g.Operands)-1))
			},
			"number of outputs": func(g *nn.Subgraph) {
				again, x := g.Operations[0], uint32(len(g.Operands))
				g.Operands = append(g.Operands, g.Operands[again.Outputs[0]])
				again.Outputs = []uint32{x}
				g.Operations, g.Outputs = append(g.Operations, again), append(g.Outputs, x)
				g.Operands[x].Lifetime = nn.SubgraphOutput
			},
		} {
			m := quant()
			damage(&m.Referenced[k])
			t.Status(fmt.Sprint("branch ", k, " with another ", what), validate.Model(m), hal.InvalidArgument)
		}
	}
	more := func(g *nn.Subgraph) {
		g.Operands = append(g.Operands, nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{1}, Lifetime: nn.SubgraphInput})
		g.Inputs = append(g.Inputs, uint32(len(g.Operands)-1))
	}
	for k, part := range []string{"condition", "body"} {
		m := check.LoopModel(false)
		more(&m.Referenced[k])
		t.Status("a "+part+" with an input more", validate.Model(m), hal.InvalidArgument)
	}
	m := check.LoopModel(false) // two results of a body with one output
	m.Main.Operands = append(m.Main.Operands, m.Main.Operands[1])
	m.Main.Operations[0].Outputs = append(m.Main.Operations[0].Outputs, 4)
	m.Main.Outputs = append(m.Main.Outputs, 4)
	t.Status("a WHILE with more results than its body has outputs", validate.Model(m), hal.InvalidArgument)
	t.OK("a WHILE with a state that it does not return", validate.Model(castState(nn.TensorFloat32)))
	t.Status("a WHILE whose state enters as a float and leaves as an integer", validate.Model(castState(nn.TensorInt32)), hal.InvalidArgument)
}

// castState is a WHILE with a second state, which the operation does not return: a
// TENSOR_FLOAT32 that the body casts to another type.
func castState(to nn.OperandType) *nn.Model {
	m := check.LoopModel(false)
	add := func(g *nn.Subgraph, o nn.Operand) uint32 {
		g.Operands = append(g.Operands, o)
		return uint32(len(g.Operands) - 1)
	}
	state := nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{1}, Lifetime: nn.SubgraphInput}
	var in uint32
	for _, g := range []*nn.Subgraph{&m.Main, &m.Referenced[0], &m.Referenced[1]} {
		in = add(g, state)
		g.Inputs = append(g.Inputs, in)
	}
	loop := &m.Main.Operations[0]
	loop.Inputs = append(slices.Clone(loop.Inputs), m.Main.Inputs[len(m.Main.Inputs)-1])
	body := &m.Referenced[1]
	out := add(body, nn.Operand{Type: to, Dimensions: []uint32{1}, Lifetime: nn.SubgraphOutput})
	body.Operations = append(body.Operations, nn.Operation{Type: nn.OpCast, Inputs: []uint32{in}, Outputs: []uint32{out}})
	body.Outputs = append(body.Outputs, out)
	return m
}

func statedTogether(t *check.T) {
	model := func(dims ...uint32) *nn.Model { return check.ReluModel(nn.TensorFloat32, dims...) }
	role := func(k uint32) hal.BufferRole { return hal.BufferRole{ModelIndex: k, Frequency: 1} }
	for _, c := range []struct {
		a, b, desc, want []uint32
		ok               bool
	}{
		{[]uint32{0, 3}, []uint32{2, 0}, nil, []uint32{2, 3}, true}, {[]uint32{0, 0}, []uint32{0, 0}, []uint32{2, 3}, []uint32{2, 3}, true},
		{[]uint32{2, 3}, nil, []uint32{0, 3}, []uint32{2, 3}, true},
		{[]uint32{2, 3}, []uint32{2, 4}, nil, nil, false}, {[]uint32{2, 3}, []uint32{2, 3, 1}, nil, nil, false}, {[]uint32{2, 3}, []uint32{2, 3}, []uint32{3, 3}, nil, false},
	} {
		o, err := validate.MemoryDesc(hal.BufferDesc{Dimensions: c.desc}, []*nn.Model{model(c.a...), model(c.b...)}, []hal.BufferRole{role(0)}, []hal.BufferRole{role(1)})
		what := fmt.Sprint(c.a, " and ", c.b, " with ", c.desc)
		if !c.ok {
			t.Status(what, err, hal.InvalidArgument)
			continue
		}
		t.OK(what, err)
		check.Equal(t, what, fmt.Sprint(o.Dimensions), fmt.Sprint(c.want))
	}
}

func valuesOfPlans(t *check.T) {
	m := check.LoopModel(false) // the sum of a loop's initial and final state
	g := &m.Main
	g.Operands[1].Lifetime = nn.TemporaryVariable
	g.Operands = append(g.Operands, check.Int32Scalar(0), nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{1}, Lifetime: nn.SubgraphOutput})
	g.Operations = append(g.Operations, nn.Operation{Type: nn.OpAdd, Inputs: []uint32{0, 1, 4}, Outputs: []uint32{5}})
	g.Outputs = []uint32{5}
	c := t.Compiled(m, check.NewPicky("a", nn.OpAdd))
	for from, want := range map[uint32]uint32{3: 13, 0: 10, 99: 198} {
		in := binary.LittleEndian.AppendUint32(nil, from)
		r := check.V(c.Execute([][]byte{in}, nnrt.ExecuteOptions{Functional: true}))(t, "a loop and its beginning")
		check.Equal(t, fmt.Sprint("a loop from ", from, " and its beginning"), binary.LittleEndian.Uint32(r.Outputs[0]), want)
		check.Equal(t, "the input", binary.LittleEndian.Uint32(in), from)
	}
	fill := check.FillModel() // one operation on a driver, whose output size is known to an execution only
	fill.Main.Operations, fill.Main.Outputs = fill.Main.Operations[:1], []uint32{2}
	fill.Main.Operands = fill.Main.Operands[:3]
	fill.Main.Operands[2].Lifetime = nn.SubgraphOutput
	f := t.Compiled(fill, check.NewPicky("a", nn.OpFill))
	for _, n := range []uint32{0, 1, 2, 700, 0} {
		r, err := f.Execute([][]byte{binary.LittleEndian.AppendUint32(nil, n)}, nnrt.ExecuteOptions{Functional: true})
		t.OK("FILL", err)
		check.Equal(t, fmt.Sprint("bytes of ", n, " elements"), len(r.Outputs[0]), int(4*n))
		check.Equal(t, "dimensions", fmt.Sprint(r.Dimensions[0]), fmt.Sprint([]uint32{n}))
	}
	relu := t.Compiled(check.ReluModel(nn.TensorFloat32, 2, 3), check.NewPicky("a", nn.OpRelu))
	for n, ok := range map[int]bool{23: false, 24: true, 25: false, 48: false, 0: false} {
		_, err := relu.Execute([][]byte{make([]byte, n)}, nnrt.ExecuteOptions{Functional: true})
		if ok {
			t.OK("an input of its size", err)
		} else {
			t.Status(fmt.Sprint("an input of ", n, " bytes for 24"), err, hal.InvalidArgument)
		}
	}
	for _, n := range []int{0, 2} {
		_, err := relu.Execute(make([][]byte, n), nnrt.ExecuteOptions{Functional: true})
		t.Status(fmt.Sprint(n, " inputs for 1"), err, hal.InvalidArgument)
	}
}

func verdicts(t *check.T) {
	const count = 12
	wrong := check.V(sample.NewFaulty("faulty:wrong", cpudriver.New(cpudriver.Config{})))(t, "driver")
	for what, c := range map[string]struct {
		d                          hal.Device
		passes, fails, unsupported bool
	}{"computes": {check.NewOdd().Device, true, false, false}, "declines all": {check.NewPicky("idle"), false, false, true}, "computes wrong": {wrong, false, true, false}} {
		r, err := randgraph.Run(c.d, randgraph.Options{Seed: 3, Count: count, Functional: true, Workers: 1})
		t.OK("random graphs", err)
		check.Equal(t, "cases", r.Passed+r.Failed+r.Unsupported, count)
		if (r.Passed > count/2) != c.passes || (r.Failed > count/2) != c.fails || (r.Unsupported == count) != c.unsupported || r.Failed != len(r.Failures) {
			t.Errorf("a driver that %s: %d passed, %d failed, %d unsupported", what, r.Passed, r.Failed, r.Unsupported)
		}
	}
}
