package app

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/compat"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/hal/driver/sample"
	"github.com/nnsoc/nnsoc/hal/service"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnapi"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/partition"
	"github.com/nnsoc/nnsoc/runtime/registry"
	"github.com/nnsoc/nnsoc/testvectors/conformance/check"
)

// PlanChecks returns the checks of a compilation's plan.
func PlanChecks() []check.Check {
	return []check.Check{
		{Name: "old drivers get the slice of a model that they can say", Rows: []string{"C4-4", "C4-5", "C4-9", "C4-10", "H3-7"}, Run: oldDrivers},
		{Name: "support queries that fail, answer too little or crash", Rows: []string{"C4-6"}, Run: wrongReplies},
		{Name: "a driver whose process ends", Rows: []string{"C4-8"}, Run: driverDies},
		{Name: "the best device of each operation", Rows: []string{"C5-1", "C5-2", "C5-3", "C6-1"}, Run: bestDevices},
		{Name: "steps grow by queues", Rows: []string{"C5-4", "C5-5", "C5-6", "C5-13", "C5-14"}, Run: stepQueues},
		{Name: "IF and WHILE in one flat list of steps", Rows: []string{"C5-7", "C5-12", "C5-12b", "C6-11"}, Run: flatSteps},
		{Name: "sub-models of steps", Rows: []string{"C5-8", "C5-9", "C5-10", "C6-2", "C6-8", "C6-9"}, Run: stepModels},
		{Name: "each part is compiled with a token of its own", Rows: []string{"C5-11"}, Run: cacheTokens},
		{Name: "loops end, have two buffers and a bound of time", Rows: []string{"C6-4", "C6-5"}, Run: loops},
		{Name: "temporaries of unknown and of no size", Rows: []string{"C6-6", "C6-7"}, Run: openTemporaries},
		{Name: "shapes that a driver reports are checked", Rows: []string{"C6-10"}, Run: reportedShapes},
		{Name: "settings of a compilation", Rows: []string{"C0-3", "C2-1", "C2-2", "C2-4", "C2-5", "C2-6", "C2-14", "C6-12"}, Run: compilationSettings},
		{Name: "preference, priority and timeout reach a driver", Rows: []string{"C2-4", "C2-5", "C2-6"}, Run: settingsArrive},
		{Name: "ways of partitioning and falling back", Rows: []string{"C2-3", "C2-8", "C2-9", "C2-10", "C2-12", "C5-12c"}, Run: partitioningModes},
	}
}

func oldDrivers(t *check.T) {
	m := check.Chain(nn.TensorFloat32)   // RELU, RELU6, RELU1
	m.Main.Operations[1].Type = nn.OpNeg // of 1.2
	for v, want := range map[compat.Version]string{compat.V1_0: "[old cpu old]", compat.V1_1: "[old cpu old]", compat.V1_2: "[old]", compat.V1_3: "[old]"} {
		d := &check.QueryRecorder{Picky: check.NewPicky("old", nn.OpRelu, nn.OpNeg, nn.OpRelu1)}
		c := t.Compiled(m, compat.Adapt(v, d))
		check.Equal(t, v.String()+": parts", check.Owners(c), want)
		t.Agrees(v.String(), m, c, check.Floats(-1, 0, 0.5, 1, 5, 9))
		if n := len(d.Query.Main.Operations); n != 2 && v < compat.V1_2 || n != 3 && v >= compat.V1_2 {
			t.Errorf("%v: the driver was asked about %d operations", v, n)
		}
		if got := compat.ModelVersion(d.Query); got > v {
			t.Errorf("%v: the driver was asked about a model of %v", v, got)
		}
	}
	p, err := compat.Adapt(compat.V1_1, check.NewPicky("old", nn.OpRelu)).PrepareModel(check.ReluModel(nn.TensorFloat32, 2, 3), hal.PrepareOptions{Preference: hal.FastSingleAnswer})
	t.OK("prepareModel_1_1", err)
	r := (&hal.Buffers{Inputs: [][]byte{make([]byte, 24)}, Outputs: [][]byte{make([]byte, 24)}}).Request()
	for name, ok := range map[hal.MemoryName]bool{hal.Ashmem: true, hal.MmapFd: true, hal.HardwareBufferBlob: false} {
		r.Pools[0].Memory.Name = name
		_, err := p.Execute(r, hal.ExecuteOptions{Functional: true})
		check.Equal(t, "a pool of "+string(name)+" on a driver of 1.1", err == nil, ok)
	}
	// Temporaries of unknown shape are not for drivers that report no shapes.
	fill := check.FillModel()
	for v, want := range map[compat.Version]string{compat.V1_1: "[cpu]", compat.V1_2: "[cpu b cpu]"} {
		c := t.Compiled(fill, compat.Adapt(v, check.NewPicky("b", nn.OpRelu6)))
		res := t.Agrees(v.String(), fill, c, binary.LittleEndian.AppendUint32(nil, 7))
		var ran []string
		for _, p := range res.Parts {
			ran = append(ran, p.Device)
		}
		if got := fmt.Sprint(slices.Compact(ran)); got != want {
			t.Errorf("%v: dynamic temporaries on %s, want %s", v, got, want)
		}
	}
}

func wrongReplies(t *check.T) {
	m := check.Chain(nn.TensorFloat32)
	for name, fault := range map[string]sample.Fault{"fails": {Status: hal.GeneralFailure}, "crashes": {Panic: true}, "answers too little": {WrongCount: true}} {
		d, err := sample.NewSynthetic("x", check.NewPicky("x", nn.OpRelu), map[sample.Call]sample.Fault{sample.CallSupportedOperations: fault})
		t.OK("driver", err)
		check.Equal(t, "a query that "+name, check.Owners(t.Compiled(m, d)), "[cpu]")
	}
	d := check.NewPicky("x", nn.OpRelu)
	check.Equal(t, "a query that succeeds", check.Owners(t.Compiled(m, d)), "[x cpu]")
}

func driverDies(t *check.T) {
	d := check.NewPicky("x", nn.OpRelu)
	there, stop := check.V2(service.Loopback(d))(t, "service")
	m := check.Chain(nn.TensorFloat32)
	p, err := there.PrepareModel(check.ReluModel(nn.TensorFloat32, 2, 3), hal.PrepareOptions{Preference: hal.FastSingleAnswer})
	t.OK("prepareModel", err)
	c := t.Compiled(m, there)
	check.Equal(t, "parts", check.Owners(c), "[x cpu]")
	stop()
	b := &hal.Buffers{Inputs: [][]byte{make([]byte, 24)}, Outputs: [][]byte{make([]byte, 24)}, ExecuteOptions: hal.ExecuteOptions{Functional: true}}
	t.Check(check.Err(hal.Execute(p, b)) != nil, "an execution of a driver that is gone")
	r := t.Agrees("a driver that is gone", m, c, check.Floats(-1, 0, 0.5, 1, 5, 9))
	t.Check(len(r.Fallbacks) != 0, "nothing fell back")
	check.Equal(t, "parts compiled afterwards", check.Owners(t.Compiled(m, there)), "[cpu]")
}

// promising is a driver with its own figures.
type promising struct {
	*check.Picky
	exec, power float32
}

func (d *promising) Capabilities() hal.Capabilities {
	c := d.Picky.Capabilities()
	for _, p := range c.OperandPerformance() {
		c.Update(p.Type, hal.PerformanceInfo{ExecTime: d.exec, PowerUsage: d.power})
	}
	return c
}

func bestDevices(t *check.T) {
	all := []nn.OperationType{nn.OpRelu, nn.OpRelu6, nn.OpRelu1}
	for _, c := range []struct {
		what       string
		preference hal.Preference
		a, b       promising
		want       string
	}{
		{"the faster", hal.FastSingleAnswer, promising{exec: 0.5, power: 0.1}, promising{exec: 0.4, power: 0.9}, "[b]"},
		{"the same for sustained speed", hal.SustainedSpeed, promising{exec: 0.5, power: 0.1}, promising{exec: 0.4, power: 0.9}, "[b]"},
		{"the more frugal", hal.LowPower, promising{exec: 0.5, power: 0.1}, promising{exec: 0.4, power: 0.9}, "[a]"},
		{"of equals the first", hal.FastSingleAnswer, promising{exec: 0.5}, promising{exec: 0.5}, "[a]"},
		{"of equals the CPU", hal.FastSingleAnswer, promising{exec: 1}, promising{exec: 1}, "[cpu]"},
		{"nobody is faster", hal.FastSingleAnswer, promising{exec: 1.1}, promising{exec: 2}, "[cpu]"},
	} {
		c.a.Picky, c.b.Picky = check.NewPicky("a", all...), check.NewPicky("b", all...)
		r := check.V(registry.New(cpudriver.New(cpudriver.Config{}), &c.a, &c.b))(t, "registry")
		k, err := nnrt.Compile(r, check.Chain(nn.TensorFloat32), nnrt.ByStrategy, nnrt.CompileOptions{Preference: nnrt.Prefer(c.preference)})
		t.OK("compilation", err)
		check.Equal(t, c.what, check.Owners(k), c.want)
	}
	// An operation that calls others belongs to the driver that supports them, too.
	m := check.ChoiceModel()
	check.Equal(t, "IF on a driver that has it", check.Owners(t.Compiled(m, check.NewPicky("a", nn.OpIf, nn.OpRelu1, nn.OpRelu6))), "[a]")
}

// fan is RELU, then RELU6 and RELU1 of it, then the ADD of both.
func fan() *nn.Model {
	f := func(l nn.Lifetime) nn.Operand { return check.Tensor(nn.TensorFloat32, l, 2, 3) }
	return &nn.Model{Name: "fan", Main: nn.Subgraph{
		Operands: []nn.Operand{f(nn.SubgraphInput), f(nn.TemporaryVariable), f(nn.TemporaryVariable), f(nn.TemporaryVariable), f(nn.SubgraphOutput), check.Int32Scalar(0)},
		Operations: []nn.Operation{
			{Type: nn.OpRelu, Inputs: []uint32{0}, Outputs: []uint32{1}},
			{Type: nn.OpRelu6, Inputs: []uint32{1}, Outputs: []uint32{2}},
			{Type: nn.OpRelu1, Inputs: []uint32{1}, Outputs: []uint32{3}},
			{Type: nn.OpAdd, Inputs: []uint32{2, 3, 5}, Outputs: []uint32{4}},
		},
		Inputs: []uint32{0}, Outputs: []uint32{4},
	}}
}

func stepQueues(t *check.T) {
	g := partition.NewGraph(&fan().Main)
	for _, c := range []struct {
		what   string
		device []int // 0 is the CPU, 3 control flow
		want   string
	}{
		{"one device", []int{1, 1, 1, 1}, "[{1 [0 1 2 3]}]"},
		{"a step grows past what another device waits for", []int{1, 2, 1, 1}, "[{1 [0 2]} {2 [1]} {1 [3]}]"},
		{"the last driver first", []int{0, 1, 2, 0}, "[{0 [0]} {2 [2]} {1 [1]} {0 [3]}]"},
		{"the CPU before drivers", []int{1, 2, 0, 0}, "[{1 [0]} {0 [2]} {2 [1]} {0 [3]}]"},
		{"control flow before all, each alone", []int{1, 3, 0, 3}, "[{1 [0]} {3 [1]} {0 [2]} {3 [3]}]"},
	} {
		check.Equal(t, c.what, fmt.Sprint(partition.Steps(g, c.device, 3)), c.want)
	}
	m := fan()
	c := t.Compiled(m, check.NewPicky("a", nn.OpRelu, nn.OpRelu1, nn.OpAdd), check.NewPicky("b", nn.OpRelu6))
	check.Equal(t, "parts", check.Owners(c), "[a b a]")
	r := t.Agrees("one step after the other", m, c, check.Floats(-1, 0, 0.5, 1, 5, 9))
	for i := 1; i < len(r.Parts); i++ {
		t.Check(r.Parts[i].StartFs >= r.Parts[i-1].EndFs, "part %d begins before part %d has ended", i, i-1)
	}
}

// steps are the steps of a compilation, with the jumps between them.
func steps(c *nnrt.Compilation) []string {
	var list []string
	for i := range c.Steps() {
		s := c.Step(i)
		var b strings.Builder
		if !s.Jump {
			list = append(list, strings.TrimSpace(fmt.Sprint(s.Subgraph, " ", s.Operations, " on ", s.Device)))
			continue
		}
		_ = s.Prepared.WriteListing(&b)
		list = append(list, strings.TrimSpace(strings.TrimPrefix(b.String(), ";")))
	}
	return list
}

func flatSteps(t *check.T) {
	choice := t.Compiled(check.ChoiceModel(), check.NewPicky("a", nn.OpRelu1), check.NewPicky("b", nn.OpRelu6))
	check.Equal(t, "IF", strings.Join(steps(choice), " | "), "IF: then step 1, else step 3 | IF then [0] on a | GOTO step 4 | IF else [0] on b")
	loop := t.Compiled(check.LoopModel(false), check.NewPicky("a", nn.OpAdd))
	check.Equal(t, "WHILE", strings.Join(steps(loop), " | "), "WHILE: condition step 1, body step 3, exit step 5 | WHILE condition [0] on cpu | GOTO step 0 | WHILE body [0] on a | GOTO step 0")
}

func stepModels(t *check.T) {
	m := fan()
	two := check.Tensor(nn.TensorFloat32, nn.ConstantCopy, 2, 3)
	two.Data = check.Floats(2, 2, 2, 2, 2, 2)
	m.Main.Operands = append(m.Main.Operands, two)
	m.Main.Operations[1] = nn.Operation{Type: nn.OpMul, Inputs: []uint32{1, 6, 5}, Outputs: []uint32{2}}
	m.Main.Operands[1].Lifetime = nn.SubgraphOutput
	m.Main.Outputs = []uint32{4, 1}
	p := partition.Extract(m, []int{1, 3})
	check.Equal(t, "inputs: a temporary of other steps and a main output", fmt.Sprint(p.Inputs), "[3 1]")
	check.Equal(t, "outputs", fmt.Sprint(p.Outputs), "[4]")
	p = partition.Extract(m, []int{0, 2})
	check.Equal(t, "inputs of the model", fmt.Sprint(p.Inputs), "[0]")
	check.Equal(t, "outputs: a main output and a temporary for other steps", fmt.Sprint(p.Outputs), "[1 3]")
	// ADD of a temporary, of a main output and of a main input, in this order, for other steps and for the model: the
	// order of a step's inputs and outputs differs.
	p = partition.Extract(boundaries(), []int{2, 3})
	check.Equal(t, "order of inputs: the model's, temporaries, outputs of the model", fmt.Sprint(p.Inputs), "[0 2 1]")
	check.Equal(t, "order of outputs: the model's, temporaries", fmt.Sprint(p.Outputs), "[5 3]")
	for i, x := range p.Model.Main.Inputs {
		check.Equal(t, "the operand of an input", p.Model.Main.Operands[x].Dimensions[0], p.Inputs[i]+1)
	}
	for i, x := range p.Model.Main.Outputs {
		check.Equal(t, "the operand of an output", p.Model.Main.Operands[x].Dimensions[0], p.Outputs[i]+1)
	}
	a := &check.QueryRecorder{Picky: check.NewPicky("a", nn.OpMul, nn.OpAdd)}
	c := t.Compiled(m, a)
	t.Agrees("a main output as the input of a step", m, c, check.Floats(-1, 0, 0.5, 1, 5, 9))
	constants := 0
	part := partition.Extract(m, c.Step(1).Operations).Model
	for i := range part.Main.Operands {
		if part.Main.Operands[i].IsConst() {
			constants++
		}
	}
	check.Equal(t, "constants that go with their step", constants, 2)
	// FILL of constants alone would be a step without inputs.
	fill := &nn.Model{Name: "fill", Main: nn.Subgraph{
		Operands: []nn.Operand{
			{Type: nn.TensorInt32, Dimensions: []uint32{2}, Lifetime: nn.ConstantCopy, Data: []byte{2, 0, 0, 0, 3, 0, 0, 0}},
			{Type: nn.Float32, Lifetime: nn.ConstantCopy, Data: check.Floats(1.5)},
			check.Tensor(nn.TensorFloat32, nn.TemporaryVariable, 2, 3), check.Tensor(nn.TensorFloat32, nn.SubgraphInput, 2, 3), check.Int32Scalar(0), check.Tensor(nn.TensorFloat32, nn.SubgraphOutput, 2, 3),
		},
		Operations: []nn.Operation{
			{Type: nn.OpFill, Inputs: []uint32{0, 1}, Outputs: []uint32{2}},
			{Type: nn.OpAdd, Inputs: []uint32{2, 3, 4}, Outputs: []uint32{5}},
		},
		Inputs: []uint32{3}, Outputs: []uint32{5},
	}}
	c = t.Compiled(fill, check.NewPicky("a", nn.OpFill))
	check.Equal(t, "a step without inputs", check.Owners(c), "[cpu]")
	t.Check(len(c.Fallbacks) != 0, "the step without inputs is no fallback")
	t.Agrees("a step without inputs", fill, c, check.Floats(1, 2, 3, 4, 5, 6))
}

// boundaries is a model whose operands are distinguished by their first dimension, one more than their index; it is
// divided, never run.
func boundaries() *nn.Model {
	f := func(l nn.Lifetime, i uint32) nn.Operand { return check.Tensor(nn.TensorFloat32, l, i+1, 3) }
	return &nn.Model{Name: "boundaries", Main: nn.Subgraph{
		Operands: []nn.Operand{
			f(nn.SubgraphInput, 0), f(nn.SubgraphOutput, 1), f(nn.TemporaryVariable, 2), f(nn.TemporaryVariable, 3),
			check.Int32Scalar(0), f(nn.SubgraphOutput, 5), f(nn.SubgraphOutput, 6),
		},
		Operations: []nn.Operation{
			{Type: nn.OpRelu, Inputs: []uint32{0}, Outputs: []uint32{1}},
			{Type: nn.OpRelu6, Inputs: []uint32{0}, Outputs: []uint32{2}},
			{Type: nn.OpAdd, Inputs: []uint32{2, 1, 4}, Outputs: []uint32{3}},
			{Type: nn.OpAdd, Inputs: []uint32{3, 0, 4}, Outputs: []uint32{5}},
			{Type: nn.OpRelu1, Inputs: []uint32{3}, Outputs: []uint32{6}},
		},
		Inputs: []uint32{0}, Outputs: []uint32{1, 5, 6},
	}}
}

func loops(t *check.T) {
	m := check.LoopModel(false)
	c := t.Compiled(m, check.NewPicky("a", nn.OpAdd), check.NewPicky("b", nn.OpLess))
	for _, from := range []uint32{0, 3, 10, 99} {
		t.Agrees("a loop", m, c, binary.LittleEndian.AppendUint32(nil, from))
	}
	endless := t.Compiled(check.LoopModel(true), check.NewPicky("a", nn.OpAdd))
	_, err := endless.Execute([][]byte{make([]byte, 4)}, nnrt.ExecuteOptions{Functional: true, LoopTimeout: 10 * time.Millisecond})
	t.Status("a loop without end", err, hal.MissedDeadlineTransient)
	late := check.LoopModel(true) // its condition is false at once: no time is looked at
	r, err := t.Compiled(late, check.NewPicky("a", nn.OpAdd)).Execute([][]byte{{99, 0, 0, 0}}, nnrt.ExecuteOptions{Functional: true, LoopTimeout: 1})
	t.OK("a loop that ends before its first round", err)
	check.Equal(t, "its state", fmt.Sprint(r.Outputs[0]), "[99 0 0 0]")
	// A constant as the input of an IF and of its branches.
	constant := check.ChoiceModel()
	constant.Main.Operands[3].Lifetime, constant.Main.Operands[3].Data = nn.ConstantCopy, check.Floats(-1, 0, 0.5, 1, 5, 9)
	constant.Main.Inputs = []uint32{0}
	c = t.Compiled(constant, check.NewPicky("a", nn.OpRelu1), check.NewPicky("b", nn.OpRelu6))
	for condition := range byte(2) {
		t.Agrees("a constant for both branches", constant, c, []byte{condition})
	}
}

func openTemporaries(t *check.T) {
	m := check.FillModel()
	a, b := check.NewPicky("a", nn.OpFill, nn.OpRelu1), check.NewPicky("b", nn.OpRelu6)
	c := t.Compiled(m, a, b)
	for _, n := range []uint32{1, 500, 2} {
		r := t.Agrees(fmt.Sprint(n, " elements"), m, c, binary.LittleEndian.AppendUint32(nil, n))
		check.Equal(t, "fallbacks", len(r.Fallbacks), 0)
	}
	r := t.Agrees("no element", m, c, make([]byte, 4))
	check.Equal(t, "operations that move to the CPU with an empty tensor", len(r.Fallbacks), 3)
	check.Equal(t, "devices", fmt.Sprint(len(r.Parts), r.Parts[0].Device), "1cpu")
}

// liar is a driver that reports shapes, and that outputs are too small, with a status.
type liar struct {
	*check.Picky
	dims   [][]uint32
	short  []bool
	status hal.Status
}

func (d *liar) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	p, err := d.Picky.PrepareModel(m, o)
	return &liarModel{p, d}, err
}

type liarModel struct {
	hal.PreparedModel
	*liar
}

func (p *liarModel) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	res, err := p.PreparedModel.Execute(r, o)
	if res != nil {
		c := *res
		c.OutputDimensions, c.Insufficient = p.dims, p.short
		res = &c
	}
	if err == nil && p.status != hal.StatusNone {
		err = hal.Errorf(p.status, "so it says")
	}
	return res, err
}

func reportedShapes(t *check.T) {
	right := [][]uint32{{2, 3}}
	for what, c := range map[string]struct {
		dims   [][]uint32
		short  []bool
		status hal.Status
		ok     bool
	}{
		"the model's shape": {dims: right, ok: true}, "no shapes": {ok: true}, "an output that suffices": {dims: right, short: []bool{false}, ok: true},
		"another shape": {dims: [][]uint32{{3, 2}}}, "another rank": {dims: [][]uint32{{6}}}, "an unknown dimension": {dims: [][]uint32{{0, 3}}},
		"two shapes for one output":                         {dims: [][]uint32{{2, 3}, {2, 3}}},
		"NONE with an output too small":                     {dims: right, short: []bool{true}},
		"OUTPUT_INSUFFICIENT_SIZE with none too small":      {dims: right, short: []bool{false}, status: hal.OutputInsufficientSize},
		"OUTPUT_INSUFFICIENT_SIZE without telling of which": {dims: right, status: hal.OutputInsufficientSize},
	} {
		r, err := registry.New(cpudriver.New(cpudriver.Config{}), &liar{check.NewPicky("liar", nn.OpRelu), c.dims, c.short, c.status})
		t.OK("registry", err)
		k, err := nnrt.Compile(r, check.ReluModel(nn.TensorFloat32, 2, 3), nnrt.ByStrategy, nnrt.CompileOptions{Partitioning: nnrt.WithoutFallback})
		t.OK("compilation", err)
		_, err = k.Execute([][]byte{make([]byte, 24)}, nnrt.ExecuteOptions{Functional: true, CheckShapes: true})
		if (err == nil) != c.ok {
			t.Errorf("%s: error %v", what, err)
		} else if err != nil {
			t.Status(what, err, hal.GeneralFailure)
		}
	}
}

// optionsRecorder keeps the options of its compilations.
type optionsRecorder struct {
	*check.Picky
	options []hal.PrepareOptions
}

func (d *optionsRecorder) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	d.options = append(d.options, o)
	return d.Picky.PrepareModel(m, o)
}

func settingsArrive(t *check.T) {
	d := &optionsRecorder{Picky: check.NewPicky("a", nn.OpRelu)}
	r := t.App(d)
	for app, want := range map[nnapi.Priority]hal.Priority{nnapi.PriorityLow: hal.PriorityLow, nnapi.PriorityMedium: hal.PriorityMedium, nnapi.PriorityHigh: hal.PriorityHigh} {
		for _, p := range []hal.Preference{hal.LowPower, hal.FastSingleAnswer, hal.SustainedSpeed} {
			c := check.V(r.NewCompilationForDevices(t.Built(nn.OpRelu), t.All(r)[:1]))(t, "create")
			t.OK("preference", c.SetPreference(p))
			t.OK("priority", c.SetPriority(app))
			t.OK("timeout", c.SetTimeout(time.Hour))
			d.options = nil
			deadline := d.Now().Add(time.Hour)
			t.OK("finish", c.Finish())
			if len(d.options) != 1 {
				t.Fatalf("%d models are prepared", len(d.options))
			}
			o := d.options[0]
			check.Equal(t, "preference", o.Preference, p)
			check.Equal(t, "priority", o.Priority, want)
			t.Check(o.Deadline != nil && *o.Deadline == deadline, "the deadline of an hour is %v, want %v", o.Deadline, deadline)
		}
	}
}

func compilationSettings(t *check.T) {
	r := t.App(check.Driver("a", nn.OpRelu))
	t.Code("no model", check.Err(r.NewCompilation(nil)), nnapi.UnexpectedNull)
	t.Code("a model that is not finished", check.Err(r.NewCompilation(nnapi.NewModel())), nnapi.BadState)
	m, list := t.Built(nn.OpRelu), t.All(r)
	for what, x := range map[string]struct {
		devices []*nnapi.Device
		code    nnapi.ResultCode
	}{
		"no devices": {nil, nnapi.BadData}, "a null device": {[]*nnapi.Device{nil}, nnapi.UnexpectedNull}, "a device twice": {[]*nnapi.Device{list[0], list[0]}, nnapi.BadData},
	} {
		t.Code(what, check.Err(r.NewCompilationForDevices(m, x.devices)), x.code)
	}
	c := check.V(r.NewCompilation(m))(t, "create")
	t.Code("preference 3", c.SetPreference(3), nnapi.BadData)
	t.OK("preference", c.SetPreference(hal.SustainedSpeed))
	t.Code("priority 95", c.SetPriority(95), nnapi.BadData)
	t.OK("priority", c.SetPriority(nnapi.PriorityHigh))
	t.Code("a timeout for all devices", c.SetTimeout(time.Second), nnapi.BadData)
	t.Code("alignment before finish", check.Err(c.PreferredMemoryAlignmentForInput(0)), nnapi.BadState)
	t.OK("finish", c.Finish())
	for what, err := range map[string]error{
		"preference": c.SetPreference(hal.LowPower), "priority": c.SetPriority(nnapi.PriorityLow), "timeout": c.SetTimeout(0),
		"caching": c.SetCaching("x", make([]byte, 32)), "finish": c.Finish(),
	} {
		t.Code(what+" after finish", err, nnapi.BadState)
	}
	for what, of := range map[string]func(uint32) (int, error){
		"alignment of inputs": c.PreferredMemoryAlignmentForInput, "alignment of outputs": c.PreferredMemoryAlignmentForOutput,
		"padding of inputs": c.PreferredMemoryPaddingForInput, "padding of outputs": c.PreferredMemoryPaddingForOutput,
	} {
		n, err := of(0)
		t.Check(err == nil && n == 64, "%s: %d, error %v", what, n, err)
		t.Code(what+" past the last", check.Err(of(1)), nnapi.BadData)
	}
	one := check.V(r.NewCompilationForDevices(m, list[:1]))(t, "create")
	t.OK("a timeout for one device", one.SetTimeout(time.Hour))
	t.OK("finish", one.Finish())
}

func partitioningModes(t *check.T) {
	failing := func() *unprepared { return &unprepared{check.Driver("bad", nn.OpRelu6)} }
	chain := func() *nnapi.Model { return t.Built(nn.OpRelu, nn.OpRelu6, nn.OpRelu1) }
	r := t.App(failing())
	c := t.Finished(r, chain())
	t.Relus("with fallback", c, 0, 0, 0.5, 1, 1, 1)
	r.SetPartitioning(nnrt.WithoutFallback)
	c = check.V(r.NewCompilation(chain()))(t, "create")
	t.Code("without fallback", c.Finish(), nnapi.OpFailed)
	counted := check.Driver("a", nn.OpRelu, nn.OpRelu6, nn.OpRelu1)
	r = t.App(counted)
	r.SetPartitioning(nnrt.WithoutPartitioning)
	t.Relus("without partitioning", t.Finished(r, chain()), 0, 0, 0.5, 1, 1, 1)
	check.Equal(t, "models that the driver prepared", len(counted.Prepared), 0)

	some := check.Driver("some", nn.OpRelu)
	r = t.App(some)
	list := t.All(r)
	c = check.V(r.NewCompilationForDevices(chain(), list[:1]))(t, "create")
	err := c.Finish()
	t.Code("a list of devices that cannot do it", err, nnapi.BadData)
	t.Check(err != nil && bytes.Contains([]byte(err.Error()), []byte("RELU6")), "the error does not name the operation: %v", err)
	t.Relus("a list with the CPU", t.Finished(r, chain(), list...), 0, 0, 0.5, 1, 1, 1)
	check.Equal(t, "models that the driver of the list prepared", fmt.Sprint(some.Prepared), "[1]")
	bad := t.App(failing())
	c = check.V(bad.NewCompilationForDevices(t.Built(nn.OpRelu6), t.All(bad)[:1]))(t, "create")
	t.Code("a driver of the list that fails", c.Finish(), nnapi.OpFailed)
}
