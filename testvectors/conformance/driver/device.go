package driver

import (
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/compat"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/conformance/check"
	"github.com/nnsoc/nnsoc/testvectors/mutation"
)

// DeviceChecks returns the checks of what a device says about itself and about models.
func DeviceChecks() []check.Check {
	return []check.Check{
		{Name: "support queries", Rows: []string{"A1-2", "I4-12"}, Run: supportQueries, EachDevice: true},
		{Name: "an invalid model or option ends in the launch and in the callback", Rows: []string{"A1-3", "A1-7", "A11-1", "A11-2", "A11-7", "D2-12", "E2-21", "E2-22", "I4-1", "I4-2", "I4-24"}, Run: launches, EachDevice: true},
		{Name: "what is declared supported prepares in every connected part", Rows: []string{"A1-4"}, Run: parts, EachDevice: true},
		{Name: "shapes that a request completes", Rows: []string{"A1-5", "A2-4", "J-5", "H3-6", "I3-6"}, Run: openShapes, EachDevice: true},
		{Name: "version, type and name do not change", Rows: []string{"A4-1", "A4-2", "E1-1", "J-2"}, Run: identity, EachDevice: true},
		{Name: "extensions and their codes", Rows: []string{"A4-4", "A4-5", "A4-6", "D3-10"}, Run: extensions, EachDevice: true},
		{Name: "extra parameters of operands", Rows: []string{"A4-11", "D2-4"}, Run: extraParams},
		{Name: "relaxed models compute", Rows: []string{"A3-2", "H2-7", "I2-20"}, Run: relaxedModels, EachDevice: true},
		{Name: "preference and priority are checked", Rows: []string{"A8-6"}, Run: priorities, EachDevice: true},
		{Name: "deadlines of preparing and executing", Rows: []string{"A8-7", "E1-9", "D3-12", "I4-7"}, Run: deadlines, EachDevice: true},
		{Name: "models of HAL 1.3 and cycles of subgraphs", Rows: []string{"A8-2", "E1-1", "D2-6"}, Run: subgraphs, EachDevice: true},
		{Name: "a loop that does not end misses its deadline", Rows: []string{"A9-3", "E1-7", "I4-18"}, Run: endlessLoop, EachDevice: true},
	}
}

func supportQueries(t *check.T) {
	for _, m := range []*nn.Model{check.AddModel(nn.TensorFloat32), check.AddModel(nn.TensorQuant8Asymm), check.LoopModel(false), check.RequantModel(), lookupModel()} {
		before := validate.Model(m)
		a := check.V(t.Device.SupportedOperations(m))(t, "getSupportedOperations")
		check.Equal(t, "answers", len(a), len(m.Main.Operations))
		b := check.V(t.Device.SupportedOperations(m))(t, "getSupportedOperations")
		status, answers := compat.NewDevice(t.Device).GetSupportedOperations(compat.V1_3, m)
		check.Equal(t, "getSupportedOperations_1_3", status, hal.StatusNone)
		if !slices.EqualFunc(a, answers, func(s hal.Support, ok bool) bool { return s.OK == ok }) {
			t.Errorf("%s: getSupportedOperations_1_3 answers %v, the driver %v", m.Name, answers, a)
		}
		t.Check(slices.Equal(a, b) && before == nil && validate.Model(m) == nil, "%s: the answers change or the model does", m.Name)
		for i := range a {
			t.Check(a[i].OK || a[i].Reason != "", "%s: operation %d is declined without a reason", m.Name, i)
		}
	}
	bad := check.Damaged(check.AddModel(nn.TensorFloat32), func(g *nn.Subgraph) { g.Operations[0].Inputs[1] = 77 })
	s, err := t.Device.SupportedOperations(bad)
	t.Status("getSupportedOperations of an invalid model", err, hal.InvalidArgument)
	check.Equal(t, "answers for an invalid model", len(s), 0)
}

// lookupModel is an operation that no accelerator of a phone supports.
func lookupModel() *nn.Model {
	i32, f32 := func(l nn.Lifetime, n uint32) nn.Operand { return check.Tensor(nn.TensorInt32, l, n) }, func(l nn.Lifetime, n uint32) nn.Operand { return check.Tensor(nn.TensorFloat32, l, n) }
	hits := nn.Operand{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{2}, Scale: 1, Lifetime: nn.SubgraphOutput}
	return &nn.Model{Name: "lookup", Main: nn.Subgraph{
		Operands:   []nn.Operand{i32(nn.SubgraphInput, 2), i32(nn.SubgraphInput, 3), f32(nn.SubgraphInput, 3), f32(nn.SubgraphOutput, 2), hits},
		Operations: []nn.Operation{{Type: nn.OpHashtableLookup, Inputs: []uint32{0, 1, 2}, Outputs: []uint32{3, 4}}},
		Inputs:     []uint32{0, 1, 2}, Outputs: []uint32{3, 4},
	}}
}

func launches(t *check.T) {
	d := compat.NewDevice(t.Device)
	m := t.Supported(check.AddModel)
	bad := check.Damaged(m, func(g *nn.Subgraph) { g.Operands[0].Lifetime = nn.TemporaryVariable })
	refused := func(what string, call func(cb compat.PreparedModelCallback) hal.Status) {
		calls, status := 0, hal.StatusNone
		launch := call(func(s hal.Status, p *compat.PreparedModel) {
			calls++
			status = s
			t.Check(p == nil, "%s: there is a prepared model", what)
		})
		check.Equal(t, what+": launch", launch, hal.InvalidArgument)
		check.Equal(t, what+": callback", status, hal.InvalidArgument)
		check.Equal(t, what+": calls", calls, 1)
	}
	refused("invalid model", func(cb compat.PreparedModelCallback) hal.Status { return d.PrepareModel(bad, cb) })
	refused("no model", func(cb compat.PreparedModelCallback) hal.Status { return d.PrepareModel_1_1(nil, 0, cb) })
	for _, p := range []hal.Preference{-1, 3} {
		refused("preference", func(cb compat.PreparedModelCallback) hal.Status { return d.PrepareModel_1_2(m, p, hal.Cache{}, cb) })
	}
	for _, p := range []hal.Priority{-1, 3} {
		refused("priority", func(cb compat.PreparedModelCallback) hal.Status {
			return d.PrepareModel_1_3(m, hal.PrepareOptions{Priority: p}, cb)
		})
	}
	check.Equal(t, "no callback", d.PrepareModel(m, nil), hal.InvalidArgument)
	// A deadline that has passed is reported by the callback.
	now := t.Device.Now()
	told := make(chan hal.Status, 1)
	check.Equal(t, "launch after the deadline", d.PrepareModel_1_3(m, hal.PrepareOptions{Deadline: &now}, func(s hal.Status, _ *compat.PreparedModel) { told <- s }), hal.StatusNone)
	check.Equal(t, "callback after the deadline", <-told, hal.MissedDeadlinePersistent)
	p := notified(t, "prepareModel", func(cb compat.PreparedModelCallback) hal.Status { return d.PrepareModel(m, cb) })
	b, _ := check.Sums(m)
	ended := make(chan hal.Status, 1)
	check.Equal(t, "launch of an execution after the deadline", p.Execute_1_3(b.Request(), true, &now, 0, func(s hal.Status, shapes []hal.OutputShape, timing hal.Timing) {
		t.Check(len(shapes) == 0 && timing == hal.NoTiming, "shapes or timing of a missed deadline")
		ended <- s
	}), hal.StatusNone)
	check.Equal(t, "end of it", <-ended, hal.MissedDeadlinePersistent)
	status, _, _ := p.ExecuteSynchronously_1_3(b.Request(), false, &now, 0)
	check.Equal(t, "synchronous execution after the deadline", status, hal.MissedDeadlinePersistent)
}

func parts(t *check.T) {
	m := t.Supported(check.Chain)
	for from := range m.Main.Operations {
		for to := from + 1; to <= len(m.Main.Operations); to++ {
			c := mutation.Clone(m)
			g := &c.Main
			g.Operations = g.Operations[from:to]
			g.Operands = g.Operands[from : to+1]
			for i := range g.Operands {
				g.Operands[i].Lifetime = nn.TemporaryVariable
			}
			for i := range g.Operations {
				g.Operations[i].Inputs[0] -= uint32(from)
				g.Operations[i].Outputs[0] -= uint32(from)
			}
			g.Operands[0].Lifetime, g.Operands[to-from].Lifetime = nn.SubgraphInput, nn.SubgraphOutput
			g.Inputs, g.Outputs = []uint32{0}, []uint32{uint32(to - from)}
			t.Check(check.Supports(t.Device, c), "operations %d to %d are declined alone", from, to)
			t.Prepare(c, hal.PrepareOptions{})
		}
	}
}

func openShapes(t *check.T) {
	m := t.Supported(func(typ nn.OperandType) *nn.Model {
		m := check.ReluModel(typ)
		m.Main.Operands[0].Dimensions = []uint32{0, 3}
		return m
	})
	p := t.Prepare(m, hal.PrepareOptions{})
	n := m.Main.Operands[0].Type.ElementBytes()
	for _, rows := range []int{2, 5} {
		b := &hal.Buffers{Inputs: [][]byte{make([]byte, rows*3*n)}, Outputs: [][]byte{make([]byte, rows*3*n)}, InputDimensions: [][]uint32{{uint32(rows), 3}}}
		res := check.V(hal.Execute(p, b))(t, "execution")
		t.Check(slices.Equal(res.OutputDimensions[0], []uint32{uint32(rows), 3}), "%d rows: shape %v", rows, res.OutputDimensions)
	}
	for _, dims := range [][]uint32{{2}, {2, 4}, {3, 2}, {2, 3, 1}} {
		b := &hal.Buffers{Inputs: [][]byte{make([]byte, 6*n)}, Outputs: [][]byte{make([]byte, 6*n)}, InputDimensions: [][]uint32{dims}}
		t.Status("dimensions that contradict the model", check.Err(hal.Execute(p, b)), hal.InvalidArgument)
		t.Status("dimensions that contradict the model, validateRequest", validate.Request(m, b.Request()), hal.InvalidArgument)
	}
	for what, dims := range map[string][]uint32{"no dimensions": nil, "a dimension that stays open": {0, 3}} {
		b := &hal.Buffers{Inputs: [][]byte{make([]byte, 6*n)}, Outputs: [][]byte{make([]byte, 6*n)}, InputDimensions: [][]uint32{dims}}
		t.Status("an input with "+what, check.Err(hal.Execute(p, b)), hal.InvalidArgument)
		t.Status("an input with "+what+", validateRequest", validate.Request(m, b.Request()), hal.InvalidArgument)
	}
	static := t.Supported(func(typ nn.OperandType) *nn.Model { return check.ReluModel(typ, 2, 3) })
	r := (&hal.Buffers{Inputs: [][]byte{make([]byte, 6*n)}, Outputs: [][]byte{make([]byte, 6*n)}}).Request()
	r.Outputs[0].Dimensions = []uint32{3, 2}
	_, err := t.Prepare(static, hal.PrepareOptions{}).Execute(r, hal.ExecuteOptions{})
	t.Status("output dimensions that contradict the model", err, hal.InvalidArgument)
}

func identity(t *check.T) {
	d := t.Device
	t.Check(d.Version() != "" && d.Name() != "" && d.Name() == strings.ToLower(d.Name()), "name %q, version %q", d.Name(), d.Version())
	t.Check(d.Type() >= hal.DeviceOther && d.Type() <= hal.DeviceAccelerator, "type %d", d.Type())
	want := map[string]hal.DeviceType{"cpu": hal.DeviceCPU, "gpu": hal.DeviceGPU, "dsp": hal.DeviceAccelerator, "npu": hal.DeviceAccelerator}
	if w, ok := want[d.Name()]; ok {
		check.Equal(t, "type", d.Type(), w)
	}
	v := d.Version()
	t.Supported(check.AddModel)
	check.Equal(t, "version later", d.Version(), v)
}

func extensions(t *check.T) {
	for _, e := range t.Device.SupportedExtensions() {
		if err := validate.Extension(e); err != nil {
			t.Errorf("%v", err)
		}
		if e.Name == nn.QuantizationExtension && !check.Supports(t.Device, check.RequantModel()) {
			t.Errorf("the extension %s is listed, but its operation is declined", e.Name)
		}
	}
	for name, e := range map[string]hal.Extension{
		"upper case":        {Name: "org.Nnsoc.x"},
		"no dot":            {Name: "nnsoc"},
		"a strange letter":  {Name: "org.nnsoc-x"},
		"a type twice":      {Name: "org.x", OperandTypes: []hal.ExtensionOperandType{{Type: 1, ByteSize: 1}, {Type: 1, ByteSize: 2}}},
		"a type of no size": {Name: "org.x", OperandTypes: []hal.ExtensionOperandType{{Type: 1}}},
	} {
		t.Status("extension with "+name, validate.Extension(e), hal.InvalidArgument)
	}
	code := nn.ExtensionCode(3, 7)
	prefix, number := nn.SplitExtensionCode(code)
	check.Equal(t, "prefix", prefix, 3)
	check.Equal(t, "number", number, 7)
	if !nn.IsExtensionOperandType(nn.OperandType(code)) || nn.IsExtensionOperandType(nn.TensorFloat32) ||
		!nn.IsExtensionOperationType(nn.OpRequantize) || nn.IsExtensionOperationType(nn.OpAdd) {
		t.Errorf("extension codes are not distinguished")
	}
	if n, _ := nn.SplitExtensionCode(nn.OpRequantize.Code()); n == 0 {
		t.Errorf("the extension has prefix 0")
	}
}

func extraParams(t *check.T) {
	per := nn.Operand{Type: nn.TensorQuant8SymmPerChannel, Dimensions: []uint32{2, 3}, Lifetime: nn.SubgraphInput, Channel: &nn.ChannelQuant{Dim: 1, Scales: []float32{1, 2, 3}}}
	model := func(change func(o *nn.Operand)) *nn.Model {
		o := per
		o.Channel = &nn.ChannelQuant{Dim: per.Channel.Dim, Scales: slices.Clone(per.Channel.Scales)}
		change(&o)
		m := check.AddModel(nn.TensorFloat32)
		m.Main.Operands = append(m.Main.Operands, o)
		m.Main.Inputs = append(m.Main.Inputs, 4)
		return m
	}
	t.OK("per channel", validate.Model(model(func(*nn.Operand) {})))
	for name, change := range map[string]func(o *nn.Operand){
		"no channels":         func(o *nn.Operand) { o.Channel = nil },
		"too few scales":      func(o *nn.Operand) { o.Channel.Scales = o.Channel.Scales[1:] },
		"a dimension more":    func(o *nn.Operand) { o.Channel.Dim = 2 },
		"a scale of 0":        func(o *nn.Operand) { o.Channel.Scales[1] = 0 },
		"a scale of its own":  func(o *nn.Operand) { o.Scale = 1 },
		"a zero point":        func(o *nn.Operand) { o.ZeroPoint = 1 },
		"channels of a float": func(o *nn.Operand) { o.Type = nn.TensorFloat32 },
	} {
		t.Status(name, validate.Model(model(change)), hal.InvalidArgument)
	}
}

func relaxedModels(t *check.T) {
	m := *check.AddModel(nn.TensorFloat32)
	if !check.Supports(t.Device, &m) {
		t.Skipf("no float32")
	}
	m.Relaxed = true
	t.Compute("relaxed", t.Prepare(&m, hal.PrepareOptions{}), &m) // small integers are exact in float16
	check.Equal(t, "version of a relaxed model", compat.ModelVersion(&m), compat.V1_1)
}

func priorities(t *check.T) {
	m := t.Supported(check.AddModel)
	for _, p := range []hal.Priority{hal.PriorityLow, hal.PriorityMedium, hal.PriorityHigh} {
		for _, e := range []hal.Preference{hal.LowPower, hal.FastSingleAnswer, hal.SustainedSpeed} {
			t.Compute("priority and preference", t.Prepare(m, hal.PrepareOptions{Priority: p, Preference: e}), m)
		}
	}
	for _, p := range []hal.Priority{-1, 3} {
		t.Status("priority", check.Err(t.Device.PrepareModel(m, hal.PrepareOptions{Priority: p})), hal.InvalidArgument)
		_, err := t.Device.PrepareModel(m, hal.PrepareOptions{Preference: hal.Preference(p)})
		t.Status("preference", err, hal.InvalidArgument)
	}
}

func deadlines(t *check.T) {
	m := t.Supported(check.AddModel)
	now, short, never := t.Device.Now(), hal.MakeDeadline(t.Device, 5e6), hal.MaxTimePoint
	missed := []hal.Status{hal.StatusNone, hal.MissedDeadlineTransient, hal.MissedDeadlinePersistent}
	for _, c := range []struct {
		what     string
		deadline *hal.TimePoint
		want     []hal.Status
	}{{"now", &now, missed[1:]}, {"short", short, missed}, {"never", &never, missed[:1]}} {
		_, err := t.Device.PrepareModel(m, hal.PrepareOptions{Deadline: c.deadline})
		t.Status("prepareModel, deadline "+c.what, err, c.want...)
		b, want := check.Sums(m)
		b.Deadline, b.MeasureTiming = c.deadline, true
		res, err := hal.Execute(t.Prepare(m, hal.PrepareOptions{}), b)
		t.Status("execute, deadline "+c.what, err, c.want...)
		if err == nil {
			t.Same("execute, deadline "+c.what, b.Outputs[0], want)
		} else if res != nil {
			t.Errorf("a missed deadline has a result")
		}
	}
	t.Check(hal.TimePoint(5).Add(-6) == 0 && hal.MaxTimePoint.Add(1) == hal.MaxTimePoint && hal.TimePoint(5).Add(2) == 7, "instants do not saturate")
}

func subgraphs(t *check.T) {
	m := check.LoopModel(false)
	t.OK("a valid loop", validate.Model(m))
	check.Equal(t, "version", compat.ModelVersion(m), compat.V1_3)
	cyclic := check.LoopModel(false)
	cyclic.Referenced[1].Operands = append(cyclic.Referenced[1].Operands, nn.SubgraphOperand(1))
	t.Status("getSupportedOperations of a cycle", check.Err(t.Device.SupportedOperations(cyclic)), hal.InvalidArgument)
	t.Status("prepareModel of a cycle", check.Err(t.Device.PrepareModel(cyclic, hal.PrepareOptions{})), hal.InvalidArgument)
	for what, data := range map[string][]byte{"the first subgraph beyond": {2, 0, 0, 0}, "a subgraph far beyond": {9, 0, 0, 0}, "a number of 5 bytes": {0, 0, 0, 0, 0}, "a number of 3 bytes": {0, 0, 0}} {
		beyond := check.LoopModel(false)
		beyond.Main.Operands[2].Data = data
		t.Status(what, validate.Model(beyond), hal.InvalidArgument)
	}
	inner := check.LoopModel(false)
	inner.Referenced[0].Operations[0].Inputs[0] = 99
	t.Status("a fault inside a subgraph", validate.Model(inner), hal.InvalidArgument)
}

func endlessLoop(t *check.T) {
	m := check.LoopModel(true)
	if !check.Supports(t.Device, m) {
		t.Skipf("no WHILE")
	}
	p := t.Prepare(m, hal.PrepareOptions{})
	buffers := func() *hal.Buffers {
		return &hal.Buffers{Inputs: [][]byte{make([]byte, 4)}, Outputs: [][]byte{make([]byte, 4)}, ExecuteOptions: hal.ExecuteOptions{LoopTimeout: 1e6}}
	}
	missed := []hal.Status{hal.MissedDeadlineTransient, hal.MissedDeadlinePersistent}
	t.Status("synchronous", check.Err(hal.Execute(p, buffers())), missed...)
	b := buffers()
	f := check.V(p.ExecuteFenced(b.Request(), nil, b.ExecuteOptions, 0))(t, "fenced")
	<-f.Fence.Done()
	t.Status("fenced", check.Err(f.ExecutionInfo()), missed...)
	ends := check.LoopModel(false)
	b = buffers()
	b.LoopTimeout = 0
	_, err := hal.Execute(t.Prepare(ends, hal.PrepareOptions{}), b)
	t.OK("a loop that ends", err)
	t.Same("a loop that ends", b.Outputs[0], []byte{10, 0, 0, 0})
	o := hal.ExecuteOptions{}
	check.Equal(t, "default", o.LoopLimit(), 2e9)
	o.LoopTimeout = 99e9
	check.Equal(t, "maximum", o.LoopLimit(), 15e9)
}
