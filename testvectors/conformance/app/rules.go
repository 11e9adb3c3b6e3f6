package app

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnapi"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/testvectors/conformance/check"
)

// AppRuleChecks vary one thing of a right call at a time.
func RuleChecks() []check.Check {
	return []check.Check{
		{Name: "each wrong answer keeps a driver out", Rows: []string{"C4-2", "C0-1"}, Run: oddDrivers},
		{Name: "codes of errors that are wrapped or unknown", Rows: []string{"C0-10"}, Run: wrappedCodes},
		{Name: "devices of a list, their state and their extensions", Rows: []string{"C2-2", "C3-2", "C3-3", "C3-5", "C0-1"}, Run: deviceLists},
		{Name: "each part of the type of an argument", Rows: []string{"C0-4", "C7-2", "C7-3"}, Run: argumentTypes},
		{Name: "times that are set and reported", Rows: []string{"C0-4", "C7-5", "C7-6", "C7-9", "C0-5"}, Run: appTimes},
		{Name: "what an execution reports, and when", Rows: []string{"C7-1", "C7-11", "C7-12", "C0-6"}, Run: reportedWhen},
		{Name: "drivers that answer nothing are contained", Rows: []string{"C6-1", "C4-6", "C7-13", "C7-8"}, Run: emptyReplies},
		{Name: "conditions, limits and results of control flow", Rows: []string{"C6-4", "C6-11", "C5-12b"}, Run: controlResults},
	}
}

// oddDrivers returns one wrong answer at registration, of each kind and in each place.
func oddDrivers(t *check.T) {
	nan := float32(math.NaN())
	good := hal.Extension{Name: "org.example.good", OperandTypes: []hal.ExtensionOperandType{{Type: 1, IsTensor: true, ByteSize: 1}}}
	cases := map[string]func(d *check.Odd){
		"no name": func(d *check.Odd) { d.NameIs = "" }, "no version": func(d *check.Odd) { d.VersionIs = "" }, "type 0": func(d *check.Odd) { d.TypeIs = 0 },
		"a negative type": func(d *check.Odd) { d.TypeIs = -1 }, "the type after the last": func(d *check.Odd) { d.TypeIs = hal.DeviceAccelerator + 1 }, "type 9": func(d *check.Odd) { d.TypeIs = 9 },
		"an extension twice":         func(d *check.Odd) { d.Extensions = []hal.Extension{good, good} },
		"an extension without a dot": func(d *check.Odd) { d.Extensions = []hal.Extension{{Name: "good"}} },
		"an extension in upper case": func(d *check.Odd) { d.Extensions = []hal.Extension{{Name: "org.Example"}} },
		"a type of an extension twice": func(d *check.Odd) {
			d.Extensions = []hal.Extension{{Name: good.Name, OperandTypes: append(good.OperandTypes[:1:1], good.OperandTypes...)}}
		},
		"a type of an extension without size": func(d *check.Odd) {
			d.Extensions = []hal.Extension{{Name: good.Name, OperandTypes: []hal.ExtensionOperandType{{Type: 1}}}}
		},
	}
	for i, kind := range []string{"model", "data"} {
		for _, n := range []int{-1, hal.MaxCacheFiles + 1} {
			cases[fmt.Sprint(n, " files of ", kind)] = func(d *check.Odd) { d.Files[i] = n }
		}
	}
	for _, bad := range []float32{0, -1, nan} {
		for field, info := range map[string]hal.PerformanceInfo{"time": {ExecTime: bad, PowerUsage: 1}, "power": {ExecTime: 1, PowerUsage: bad}} {
			what := fmt.Sprintf("%s %v of ", field, bad)
			cases[what+"IF"] = func(d *check.Odd) { d.Caps.If = info }
			cases[what+"WHILE"] = func(d *check.Odd) { d.Caps.While = info }
			cases[what+"relaxed scalars"] = func(d *check.Odd) { d.Caps.RelaxedScalar = info }
			cases[what+"relaxed tensors"] = func(d *check.Odd) { d.Caps.RelaxedTensor = info }
			for _, p := range check.NewOdd().Caps.OperandPerformance() {
				cases[what+p.Type.String()] = func(d *check.Odd) { d.Caps.Update(p.Type, info) }
			}
		}
	}
	count := func(d *check.Odd) int { return t.App(d).DeviceCount() }
	for what, n := range map[string][2]int{"none": {0, 0}, "as many as there may be": {hal.MaxCacheFiles, hal.MaxCacheFiles}} {
		d := check.NewOdd()
		d.Files, d.Extensions = n, []hal.Extension{good}
		check.Equal(t, "devices beside a good driver with cache files, "+what, count(d), 2)
	}
	for what, spoil := range cases {
		d := check.NewOdd()
		spoil(d)
		check.Equal(t, "devices beside a driver with "+what, count(d), 1)
	}
}

func wrappedCodes(t *check.T) {
	for _, s := range []hal.Status{-1, 9, 99} {
		check.Equal(t, fmt.Sprint("status ", int(s)), nnapi.FromStatus(s), nnapi.OpFailed)
	}
	for _, c := range []nnapi.ResultCode{-1, 15, 99} {
		check.Equal(t, fmt.Sprint("the status of code ", int(c)), c.Status(), hal.GeneralFailure)
		check.Equal(t, fmt.Sprint("the name of code ", int(c)), c.String(), fmt.Sprintf("ResultCode(%d)", int(c)))
	}
	t.Code("no error", nil, nnapi.NoError)
	t.Code("an error of no layer", errors.New("x"), nnapi.OpFailed)
	for c := nnapi.OutOfMemory; c <= nnapi.DeadObject; c++ {
		t.Code("a wrapped error", fmt.Errorf("outer: %w", &nnapi.Error{Code: c, Err: errors.New("x")}), c)
	}
	for s := hal.DeviceUnavailable; s <= hal.ResourceExhaustedPersistent; s++ {
		t.Code("a wrapped status", fmt.Errorf("outer: %w", hal.Errorf(s, "x")), nnapi.FromStatus(s))
	}
}

func deviceLists(t *check.T) {
	own, r := check.NewOdd(), t.App(check.Driver("a", nn.OpRelu))
	own.Extensions = []hal.Extension{{Name: "org.example.mine"}}
	other := t.App(own)
	foreign := t.All(other)[0]
	m := t.Built(nn.OpRelu)
	a := t.All(r)[0]
	for what, c := range map[string]struct {
		list []*nnapi.Device
		code nnapi.ResultCode
	}{
		"no devices": {nil, nnapi.BadData}, "a null device": {[]*nnapi.Device{a, nil}, nnapi.UnexpectedNull},
		"a device twice": {[]*nnapi.Device{a, a}, nnapi.BadData}, "a device of another runtime": {[]*nnapi.Device{a, foreign}, nnapi.BadData},
		"a good list": {t.All(r), nnapi.NoError},
	} {
		t.Code("createForDevices with "+what, check.Err(r.NewCompilationForDevices(m, c.list)), c.code)
		t.Code("getSupportedOperationsForDevices with "+what, check.Err(r.SupportedOperations(m, c.list)), c.code)
	}
	t.Code("device -1", check.Err(r.Device(-1)), nnapi.BadData)
	for status, code := range map[hal.DeviceStatus]nnapi.ResultCode{
		hal.DeviceAvailable: nnapi.NoError, hal.DeviceBusy: nnapi.NoError, hal.DeviceOffline: nnapi.UnavailableDevice,
	} {
		own.StatusIs = status
		t.Code(fmt.Sprint("waiting for a device of status ", status), foreign.Wait(), code)
	}
	check.Equal(t, "an extension that the device has", foreign.ExtensionSupport("org.example.mine"), true)
	check.Equal(t, "one that it has not", foreign.ExtensionSupport("org.example.other"), false)
}

// argumentTypes changes one part of the type that an argument is passed with.
func argumentTypes(t *check.T) {
	open := nnapi.OperandType{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{0, 3}, Scale: 0.5, ZeroPoint: 2}
	m := nnapi.NewModel()
	t.OK("operand", m.AddOperand(open))
	t.OK("operand", m.AddOperand(open))
	t.OK("operation", m.AddOperation(nn.OpRelu, []uint32{0}, []uint32{1}))
	t.OK("inputs", m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{1}))
	t.OK("finish", m.Finish())
	c := t.Finished(t.App(check.Driver("a", nn.OpRelu)), m)
	whole := open
	whole.Dimensions = []uint32{2, 3}
	memory := nnapi.NewMemory(64)
	for what, change := range map[string]func(x *nnapi.OperandType){
		"another type": func(x *nnapi.OperandType) { x.Type = nn.TensorQuant8AsymmSigned }, "another scale": func(x *nnapi.OperandType) { x.Scale = 0.25 },
		"another zero point": func(x *nnapi.OperandType) { x.ZeroPoint = 3 }, "fewer columns": func(x *nnapi.OperandType) { x.Dimensions = []uint32{3, 2} },
		"more columns": func(x *nnapi.OperandType) { x.Dimensions = []uint32{2, 4} }, "another rank": func(x *nnapi.OperandType) { x.Dimensions = []uint32{2, 3, 1} },
	} {
		x := whole
		change(&x)
		n := 1
		for _, d := range x.Dimensions {
			n *= int(d)
		}
		e := check.V(nnapi.NewExecution(c))(t, "create")
		t.Code("an input of "+what, e.SetInput(0, &x, make([]byte, n)), nnapi.BadData)
		t.Code("an output of "+what, e.SetOutput(0, &x, make([]byte, n)), nnapi.BadData)
		t.Code("an input in a memory of "+what, e.SetInputFromMemory(0, &x, memory, 0, n), nnapi.BadData)
		t.Code("an output in a memory of "+what, e.SetOutputFromMemory(0, &x, memory, 0, n), nnapi.BadData)
	}
	e := check.V(nnapi.NewExecution(c))(t, "create")
	for what, x := range map[string]*nnapi.OperandType{"the model's type": nil, "a type that is as open": &open} {
		t.Code("an input of unknown size by "+what, e.SetInput(0, x, make([]byte, 6)), nnapi.BadData)
		t.Code("an input of unknown size in a memory by "+what, e.SetInputFromMemory(0, x, memory, 0, 6), nnapi.BadData)
	}
	t.OK("an output of unknown size", e.SetOutput(0, nil, make([]byte, 6)))
	t.Code("padding after an output", e.EnableInputAndOutputPadding(true), nnapi.BadState)
	t.OK("an input", e.SetInput(0, &whole, make([]byte, 6)))
	t.Code("padding after an input", e.EnableInputAndOutputPadding(true), nnapi.BadState)
	t.OK("compute", e.Compute())
}

func appTimes(t *check.T) {
	r := t.App()
	all, one := t.Finished(r, t.Built(nn.OpRelu)), t.Finished(r, t.Built(nn.OpRelu), t.All(r)...)
	plain := func(c *nnapi.Compilation) *nnapi.Execution { return t.Execution(c, make([]byte, 24), 1, 2, 3, 4, 5, 6) }
	e := plain(one)
	t.Code("a loop timeout below 0", e.SetLoopTimeout(-1), nnapi.BadData)
	t.Code("a timeout below 0", e.SetTimeout(-1), nnapi.BadData)
	t.Code("a duration below 0", check.Err(e.StartComputeWithDependencies(nil, -1)), nnapi.BadData)
	t.Code("a duration for all devices", check.Err(plain(all).StartComputeWithDependencies(nil, time.Second)), nnapi.BadData)

	// 1 ns on each way to compute is missed; a timeout of 0 removes it again.
	missed := func(what string, err error) {
		if code := nnapi.CodeOf(err); code != nnapi.MissedDeadlineTransient && code != nnapi.MissedDeadlinePersistent {
			t.Errorf("%s: %v, want a missed deadline: %v", what, code, err)
		}
	}
	t.OK("a timeout", e.SetTimeout(1))
	missed("compute within 1 ns", e.Compute())
	e = plain(one)
	t.OK("a timeout", e.SetTimeout(1))
	v := check.V(e.StartCompute())(t, "start")
	missed("startCompute within 1 ns", v.Wait())
	v = check.V(plain(one).StartComputeWithDependencies(nil, 1))(t, "start")
	missed("an execution with dependencies within 1 ns", v.Wait())
	e = plain(one)
	t.OK("a timeout", e.SetTimeout(1))
	t.OK("no timeout", e.SetTimeout(0))
	t.OK("compute without timeout", e.Compute())

	// Durations: each code after a success, none after a failure.
	e = plain(one)
	t.OK("timing", e.SetMeasureTiming(true))
	t.OK("compute", e.Compute())
	var ns [4]uint64
	for code := range ns {
		ns[code] = check.V(e.Duration(nnapi.DurationCode(code)))(t, fmt.Sprint("duration ", code))
	}
	if ns[nnapi.OnHardware] > ns[nnapi.InDriver] || ns[nnapi.InDriver] == 0 || ns[nnapi.OnHardware] != ns[nnapi.FencedOnHardware] || ns[nnapi.InDriver] != ns[nnapi.FencedInDriver] {
		t.Errorf("durations of an execution without fences: %v", ns)
	}
	for _, code := range []nnapi.DurationCode{-1, 4} {
		n, err := e.Duration(code)
		t.Code(fmt.Sprint("duration ", code), err, nnapi.BadData)
		check.Equal(t, fmt.Sprint("duration ", code), n, uint64(nnapi.NoDuration))
	}
	e = plain(one)
	t.OK("timing", e.SetMeasureTiming(true))
	t.OK("a timeout", e.SetTimeout(1))
	missed("compute", e.Compute())
	n, err := e.Duration(nnapi.InDriver)
	t.Code("a duration of a failure", err, nnapi.BadState)
	check.Equal(t, "a duration of a failure", n, uint64(nnapi.NoDuration))

	// Events of fences.
	for what, c := range map[string]struct {
		signal error
		code   nnapi.ResultCode
	}{"success": {nil, nnapi.NoError}, "an error": {errors.New("lost"), nnapi.OpFailed}} {
		f := hal.NewSyncFence()
		v := check.V(nnapi.NewEventFromSyncFence(f))(t, "event")
		f.Signal(1, c.signal)
		t.Code("waiting for a fence that signals "+what, v.Wait(), c.code)
		same := check.V(v.SyncFence())(t, "the event's fence")
		check.Equal(t, "the event's fence is the one given", same == f, true)
	}
	t.Code("an event of an empty fence", check.Err(nnapi.NewEventFromSyncFence(&hal.SyncFence{})), nnapi.BadData)
	v = check.V(plain(one).StartCompute())(t, "start")
	t.Code("the fence of an event without", check.Err(v.SyncFence()), nnapi.BadData)
	t.OK("wait", v.Wait())
}

// twoOutputs splits a vector of unknown length into its halves.
func twoOutputs(t *check.T) *nnapi.Model {
	m := nnapi.NewModel()
	open := nnapi.OperandType{Type: nn.TensorFloat32, Dimensions: []uint32{0}}
	t.OK("operand", m.AddOperand(open))
	for range 2 {
		t.OK("operand", m.AddOperand(nnapi.OperandType{Type: nn.Int32}))
	}
	t.OK("operand", m.AddOperand(open))
	t.OK("operand", m.AddOperand(open))
	t.OK("axis", m.SetOperandValue(1, make([]byte, 4)))
	t.OK("parts", m.SetOperandValue(2, []byte{2, 0, 0, 0}))
	t.OK("operation", m.AddOperation(nn.OpSplit, []uint32{0, 1, 2}, []uint32{3, 4}))
	t.OK("inputs", m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{3, 4}))
	t.OK("finish", m.Finish())
	return m
}

func reportedWhen(t *check.T) {
	r := t.App()
	m := twoOutputs(t)
	unfinished := check.V(r.NewCompilation(m))(t, "create")
	t.Code("a burst of a compilation that is not finished", check.Err(nnapi.NewBurst(unfinished)), nnapi.BadState)
	t.Code("a burst of nothing", check.Err(nnapi.NewBurst(nil)), nnapi.UnexpectedNull)
	c := t.Finished(r, m)
	x := nnapi.OperandType{Type: nn.TensorFloat32, Dimensions: []uint32{6}}
	for short := -1; short < 2; short++ {
		e, err := nnapi.NewExecution(c)
		t.OK("create", err)
		t.OK("input", e.SetInput(0, &x, check.Floats(1, 2, 3, 4, 5, 6)))
		want := nnapi.NoError
		for i := range 2 {
			room := 12
			if i == short {
				room, want = 8, nnapi.OutputInsufficientSize
			}
			t.OK("output", e.SetOutput(uint32(i), nil, make([]byte, room)))
			t.Code("dimensions before computing", check.Err(e.OutputDimensions(uint32(i))), nnapi.BadState)
		}
		t.Code(fmt.Sprint("compute with output ", short, " too small"), e.Compute(), want)
		for i := range 2 {
			dims, err := e.OutputDimensions(uint32(i))
			code := nnapi.NoError
			if i == short {
				code = nnapi.OutputInsufficientSize
			}
			t.Code(fmt.Sprintf("output %d where %d is too small", i, short), err, code)
			check.Equal(t, "its dimensions", fmt.Sprint(dims), "[3]")
		}
		for what, err := range map[string]error{
			"setInput": e.SetInput(0, &x, make([]byte, 24)), "setOutput": e.SetOutput(0, nil, make([]byte, 12)),
			"setLoopTimeout": e.SetLoopTimeout(0), "setReusable": e.SetReusable(true),
			"enableInputAndOutputPadding": e.EnableInputAndOutputPadding(true), "compute": e.Compute(),
		} {
			t.Code(what+" after an execution", err, nnapi.BadState)
		}
		for what, err := range map[string]error{"setTimeout": e.SetTimeout(0), "setMeasureTiming": e.SetMeasureTiming(true)} {
			t.Code(what+" without one device, after an execution", err, nnapi.BadData)
		}
		t.Code("startCompute after an execution", check.Err(e.StartCompute()), nnapi.BadState)
		_, err = e.StartComputeWithDependencies(nil, 0)
		t.Code("startComputeWithDependencies after an execution", err, nnapi.BadState)
	}
	rank := nnapi.NewModel() // its output is a scalar
	t.OK("operand", rank.AddOperand(check.Vector()))
	t.OK("operand", rank.AddOperand(nnapi.OperandType{Type: nn.Int32}))
	t.OK("operation", rank.AddOperation(nn.OpRank, []uint32{0}, []uint32{1}))
	t.OK("inputs", rank.IdentifyInputsAndOutputs([]uint32{0}, []uint32{1}))
	t.OK("finish", rank.Finish())
	out := make([]byte, 4)
	e := t.Execution(t.Finished(r, rank), out, 1, 2, 3, 4, 5, 6)
	t.OK("RANK", e.Compute())
	check.Equal(t, "RANK", binary.LittleEndian.Uint32(out), 2)
	t.Code("the dimensions of a scalar", check.Err(e.OutputDimensions(0)), nnapi.BadData)
	broke := t.App(&broken{Picky: check.Driver("broken", nn.OpRelu), status: hal.GeneralFailure})
	e = t.Execution(t.Finished(broke, t.Built(nn.OpRelu), t.All(broke)[0]), make([]byte, 24), 1, 2, 3, 4, 5, 6)
	t.Code("a driver that fails", e.Compute(), nnapi.OpFailed)
	t.Code("dimensions after a failure", check.Err(e.OutputDimensions(0)), nnapi.BadState)
}

// mute is a driver that returns nothing for one call, without an error.
type mute struct {
	*check.Picky
	call string
}

type muteModel struct {
	hal.PreparedModel
	call string
}

func (d *mute) SupportedOperations(m *nn.Model) ([]hal.Support, error) {
	switch d.call {
	case "support":
		return nil, nil
	case "a panicking support query":
		panic("on purpose")
	}
	return d.Picky.SupportedOperations(m)
}

func (d *mute) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	switch d.call {
	case "a prepared model":
		return nil, nil
	case "a panicking preparation":
		panic("on purpose")
	}
	p, err := d.Picky.PrepareModel(m, o)
	return &muteModel{p, d.call}, err
}

func (p *muteModel) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	switch p.call {
	case "a result":
		return nil, nil
	case "a panicking execution":
		panic("on purpose")
	}
	return p.PreparedModel.Execute(r, o)
}

func (p *muteModel) ConfigureExecutionBurst() (hal.Burst, error) {
	switch p.call {
	case "a burst":
		return nil, nil
	case "a panicking burst":
		panic("on purpose")
	}
	return p.PreparedModel.ConfigureExecutionBurst()
}

// emptyReplies: the runtime computes on the CPU where a driver's call returns nothing, and fails where the driver was
// named; nothing panics.
func emptyReplies(t *check.T) {
	for _, call := range []string{"support", "a prepared model", "a result", "a burst", "a panicking support query", "a panicking preparation", "a panicking execution", "a panicking burst"} {
		d := &mute{check.Driver("mute", nn.OpRelu), call}
		r := t.App(d)
		c := t.Finished(r, t.Built(nn.OpRelu))
		t.Relus("a driver that lacks "+call, c, 0, 0, 0.5, 1, 5, 9)
		b := check.V(nnapi.NewBurst(c))(t, "burst")
		out := make([]byte, 24)
		t.OK("a burst of a driver that lacks "+call, t.Execution(c, out, -1, 0, 0.5, 1, 5, 9).BurstCompute(b))
		t.Same("a burst of a driver that lacks "+call, out, check.Floats(0, 0, 0.5, 1, 5, 9))
		t.OK("free", b.Free())
		named := check.V(r.NewCompilationForDevices(t.Built(nn.OpRelu), t.All(r)[:1]))(t, "create")
		err := named.Finish()
		if early := call != "a result" && call != "a burst" && call != "a panicking execution" && call != "a panicking burst"; (err != nil) != early {
			t.Errorf("compiling for one device that lacks %s: %v", call, err)
		}
		if err == nil {
			err = t.Execution(named, make([]byte, 24), 1, 2, 3, 4, 5, 6).Compute()
		}
		if ok := call == "a burst" || call == "a panicking burst"; (err == nil) != ok {
			t.Errorf("the one device lacks %s: %v", call, err)
		}
		t.Check(nnapi.CodeOf(err) != nnapi.NoError || err == nil, "%v has no code", err)
	}
	// Without a fallback, a failure is final; beside a part on the CPU too.
	for _, ops := range [][]nn.OperationType{{nn.OpRelu}, {nn.OpRelu, nn.OpRelu6}} {
		r := t.App(&mute{check.Driver("mute", nn.OpRelu), "a result"})
		r.SetPartitioning(nnrt.WithoutFallback)
		t.Code("an execution without fallback", t.Execution(t.Finished(r, t.Built(ops...)), make([]byte, 24), 1, 2, 3, 4, 5, 6).Compute(), nnapi.OpFailed)
	}
}

func controlResults(t *check.T) {
	// Every byte but 0 is true.
	m := check.ChoiceModel()
	c := t.Compiled(m, check.NewPicky("a", nn.OpRelu1), check.NewPicky("b", nn.OpRelu6))
	for _, condition := range []byte{0, 1, 2, 255} {
		r := t.Agrees(fmt.Sprint("condition ", condition), m, c, []byte{condition}, check.Floats(-1, 0, 0.5, 1, 5, 9))
		want := float32(6)
		if condition != 0 {
			want = 1
		}
		t.Same("the branch's result", r.Outputs[0][20:], check.Floats(want))
		taken := map[bool][2]int{true: {1, 0}, false: {0, 1}}[condition != 0]
		check.Equal(t, "branches that ran", r.Rounds[0], taken)
	}
	// The limit of a loop counts simulated time: twice the limit allows about twice the iterations.
	endless := t.Compiled(check.LoopModel(true), check.NewPicky("a", nn.OpAdd))
	for _, limit := range []time.Duration{time.Millisecond, hal.DefaultLoopTimeout} {
		o := nnrt.ExecuteOptions{Functional: true, LoopTimeout: limit}
		_, err := endless.Execute([][]byte{make([]byte, 4)}, o)
		t.Status(fmt.Sprint("a loop without end, at most ", limit), err, hal.MissedDeadlineTransient)
	}
	// A loop whose first state is a constant, or read by no other operation, leaves the client's inputs alone.
	loop := check.LoopModel(false)
	in := binary.LittleEndian.AppendUint32(nil, 3)
	r, err := t.Compiled(loop, check.NewPicky("a", nn.OpAdd)).Execute([][]byte{in}, nnrt.ExecuteOptions{Functional: true})
	t.OK("a loop", err)
	check.Equal(t, "the loop's input", binary.LittleEndian.Uint32(in), 3)
	t.Check(&r.Outputs[0][0] != &in[0], "a loop's output is its input")
	none := []byte{99, 0, 0, 0}
	r, err = t.Compiled(loop, check.NewPicky("a", nn.OpAdd)).Execute([][]byte{none}, nnrt.ExecuteOptions{Functional: true})
	t.OK("a loop of no rounds", err)
	t.Check(&r.Outputs[0][0] != &none[0], "the output of a loop without rounds is its input")
}
