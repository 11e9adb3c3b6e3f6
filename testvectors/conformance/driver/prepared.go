package driver

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/compat"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/testvectors/conformance/check"
)

// PreparedChecks returns the checks of what executions of prepared models take and return.
func PreparedChecks() []check.Check {
	return []check.Check{
		{Name: "asynchronous execution reports a bad request twice and a result once", Rows: []string{"A2-1", "E3-1", "E3-2", "I4-2"}, Run: asynchronous, EachDevice: true},
		{Name: "arguments, pools, offsets and omitted values", Rows: []string{"A2-2", "A2-3", "A2-5", "A2-6", "A2-12", "D2-9", "D2-11", "I4-20", "I4-21"}, Run: requestRules, EachDevice: true},
		{Name: "a valid request of a full model succeeds and leaves inputs alone", Rows: []string{"A2-7", "A2-8"}, Run: success, EachDevice: true},
		{Name: "shapes of outputs, and buffers that are too short", Rows: []string{"A4-12", "A5-3", "A5-4", "E1-3", "J-6"}, Run: outputShapes, EachDevice: true},
		{Name: "shapes that a driver reports are checked", Rows: []string{"A5-4"}, Run: wrongShapes},
		{Name: "timing only when it was asked for", Rows: []string{"A5-5", "A5-6", "A5-7", "I4-3"}, Run: timings, EachDevice: true},
		{Name: "reusable executions", Rows: []string{"E1-2"}, Run: reusable, EachDevice: true},
	}
}

func asynchronous(t *check.T) {
	p, m := t.Adder()
	x := notified(t, "prepareModel", func(cb compat.PreparedModelCallback) hal.Status {
		return compat.NewDevice(t.Device).PrepareModel(m, cb)
	})
	b, _ := check.Sums(m)
	for k := range 3 {
		r := b.Request()
		switch k {
		case 0:
			r.Inputs = r.Inputs[1:]
		case 1:
			r.Outputs = nil
		case 2:
			r = nil
		}
		calls := 0
		launch := x.Execute_1_3(r, true, nil, 0, func(s hal.Status, shapes []hal.OutputShape, timing hal.Timing) {
			calls++
			check.Equal(t, "callback", s, hal.InvalidArgument)
			t.Check(len(shapes) == 0 && timing == hal.NoTiming, "shapes or timing of a bad request")
		})
		check.Equal(t, "launch", launch, hal.InvalidArgument)
		check.Equal(t, "calls", calls, 1)
		if r == nil {
			continue
		}
		status, shapes, timing := x.ExecuteSynchronously(r, true)
		check.Equal(t, "synchronous", status, hal.InvalidArgument)
		t.Check(len(shapes) == 0 && timing == hal.NoTiming, "shapes or timing of a bad request")
		t.Status("fenced", check.Err(p.ExecuteFenced(r, nil, hal.ExecuteOptions{}, 0)), hal.InvalidArgument)
		burst := check.V(p.ConfigureExecutionBurst())(t, "burst")
		t.Status("burst", check.Err(burst.Execute(r, hal.ExecuteOptions{})), hal.InvalidArgument)
		t.OK("close", burst.Close())
		t.Status("reusable execution", check.Err(p.CreateReusableExecution(r, hal.ExecuteOptions{})), hal.InvalidArgument)
	}
	check.Equal(t, "no callback", x.Execute(b.Request(), nil), hal.InvalidArgument)
	told := make(chan hal.Status, 2)
	for range 3 {
		check.Equal(t, "launch of a good request", x.Execute_1_3(b.Request(), false, nil, 0, func(s hal.Status, _ []hal.OutputShape, _ hal.Timing) { told <- s }), hal.StatusNone)
		check.Equal(t, "callback", <-told, hal.StatusNone)
		x.ExecuteSynchronously(b.Request(), false)
		check.Equal(t, "further callbacks", len(told), 0)
	}
}

func requestRules(t *check.T) {
	p, m := t.Adder()
	r, memory, want := check.Shared(m)
	_, err := p.Execute(r, hal.ExecuteOptions{})
	t.OK("parts of one memory", err)
	t.Same("parts of one memory", memory.Data[r.Outputs[0].Location.Offset:][:len(want)], want)
	for _, name := range []hal.MemoryName{hal.Ashmem, hal.MmapFd, hal.HardwareBufferBlob} {
		memory.Name = name
		_, err := p.Execute(r, hal.ExecuteOptions{})
		t.OK(string(name), err)
		check.Equal(t, string(name)+" in HAL 1.0", compat.RequestCompliantWith(compat.V1_0, r), name != hal.HardwareBufferBlob)
	}
	memory.Name = hal.HardwareBuffer
	t.Status("a hardware buffer that is no blob", check.Err(p.Execute(r, hal.ExecuteOptions{})), hal.GeneralFailure)
	in, _ := check.Values(m.Main.Operands[0].Type)
	for i := range in { // at odd offsets, in memory that a driver may not write to
		text := append([]byte{77}, in[i]...)
		r, memory, want := check.Shared(m)
		r.Inputs[i].Location = hal.DataLocation{PoolIndex: uint32(len(r.Pools)), Offset: 1, Length: uint32(len(in[i]))}
		r.Pools = append(r.Pools, hal.RequestPool{Memory: &hal.Memory{Name: hal.Ashmem, Data: text, ReadOnly: true}})
		_, err := p.Execute(r, hal.ExecuteOptions{})
		t.OK("an input at offset 1", err)
		t.Same("an input at offset 1", memory.Data[r.Outputs[0].Location.Offset:][:len(want)], want)
		t.Same("memory that is read", text, append([]byte{77}, in[i]...))
	}
	for name, damage := range map[string]func(r *hal.Request){
		"a pool that is not there":    func(r *hal.Request) { r.Inputs[0].Location.PoolIndex = 1 },
		"an offset behind the end":    func(r *hal.Request) { r.Inputs[0].Location.Offset = 1 << 20 },
		"offset and length overflow":  func(r *hal.Request) { r.Inputs[0].Location.Offset = ^uint32(0) },
		"a length of 2^32-1":          func(r *hal.Request) { r.Outputs[0].Location.Length = ^uint32(0) },
		"an input too many":           func(r *hal.Request) { r.Inputs = append(r.Inputs, r.Inputs[0]) },
		"an output too many":          func(r *hal.Request) { r.Outputs = append(r.Outputs, r.Outputs[0]) },
		"a long input":                func(r *hal.Request) { r.Inputs[0].Location.Length++ },
		"a short input":               func(r *hal.Request) { r.Inputs[0].Location.Length-- },
		"a short output":              func(r *hal.Request) { r.Outputs[0].Location.Length-- },
		"no value at a location":      func(r *hal.Request) { r.Inputs[0].HasNoValue = true },
		"a value left out by mistake": func(r *hal.Request) { r.Inputs[0] = hal.RequestArgument{HasNoValue: true} },
		"dimensions of another rank":  func(r *hal.Request) { r.Inputs[0].Dimensions = []uint32{6} },
		"dimensions of another size":  func(r *hal.Request) { r.Inputs[0].Dimensions = []uint32{2, 4} },
		"a pool of no kind":           func(r *hal.Request) { r.Pools[0].Memory = &hal.Memory{Name: "cloud", Data: memory.Data} },
		"a pool that is nothing":      func(r *hal.Request) { r.Pools = append(r.Pools, hal.RequestPool{}) },
		"an output in read-only pools": func(r *hal.Request) {
			r.Pools[0].Memory = &hal.Memory{Name: hal.Ashmem, Data: memory.Data, ReadOnly: true}
		},
	} {
		r, _, _ := check.Shared(m)
		damage(r)
		if name == "a value left out by mistake" { // the request is well formed, the execution fails
			t.Check(check.Err(p.Execute(r, hal.ExecuteOptions{})) != nil, "%s: no error", name)
			continue
		}
		t.Status(name, check.Err(p.Execute(r, hal.ExecuteOptions{})), hal.InvalidArgument)
		t.Status(name+", validateRequest", validate.Request(m, r), hal.InvalidArgument)
	}
	for v := compat.V1_0; v <= compat.V1_3; v++ {
		pool := func(p hal.RequestPool) bool {
			return compat.RequestCompliantWith(v, &hal.Request{Pools: []hal.RequestPool{p}})
		}
		check.Equal(t, fmt.Sprint("a hardware buffer in HAL ", v), pool(hal.RequestPool{Memory: &hal.Memory{Name: hal.HardwareBufferBlob}}), v >= compat.V1_2)
		check.Equal(t, fmt.Sprint("a token in HAL ", v), pool(hal.RequestPool{Token: 1}), v >= compat.V1_3)
	}
	t.Status("no memory", validate.Pool(nil), hal.InvalidArgument)
}

func success(t *check.T) {
	p, m := t.Adder()
	b, want := check.Sums(m)
	before := [][]byte{bytes.Clone(b.Inputs[0]), bytes.Clone(b.Inputs[1])}
	_, err := hal.Execute(p, b)
	t.OK("execute", err)
	t.Same("execute", b.Outputs[0], want)
	for i := range before {
		t.Same("an input afterwards", b.Inputs[i], before[i])
	}
}

func outputShapes(t *check.T) {
	for _, dims := range [][]uint32{nil, {0, 3}, {0, 0}} {
		m := t.Supported(func(typ nn.OperandType) *nn.Model { return check.ReluModel(typ, dims...) })
		p := t.Prepare(m, hal.PrepareOptions{})
		n := 6 * m.Main.Operands[0].Type.ElementBytes()
		for _, room := range []int{n, n + 3, n - 1, 1} {
			b := &hal.Buffers{Inputs: [][]byte{make([]byte, n)}, Outputs: [][]byte{make([]byte, room)}, ExecuteOptions: hal.ExecuteOptions{MeasureTiming: true}}
			res, err := hal.Execute(p, b)
			shapes := res.OutputShapes()
			if len(shapes) != 1 || !slices.Equal(shapes[0].Dimensions, []uint32{2, 3}) || shapes[0].IsSufficient != (room >= n) {
				t.Errorf("%v with buffers of %d bytes: shapes %+v", dims, room, shapes)
			}
			if room >= n {
				t.OK("an open output with a sufficient buffer", err)
				continue
			}
			t.Status("an open output with a buffer too small", err, hal.OutputInsufficientSize)
			old := notified(t, "prepareModel", func(cb compat.PreparedModelCallback) hal.Status {
				return compat.NewDevice(t.Device).PrepareModel_1_3(m, hal.PrepareOptions{}, cb)
			})
			status, told, timing := old.ExecuteSynchronously_1_3(b.Request(), true, nil, 0)
			check.Equal(t, "executeSynchronously with a buffer too small", status, hal.OutputInsufficientSize)
			if len(told) != 1 || told[0].IsSufficient || !slices.Equal(told[0].Dimensions, []uint32{2, 3}) || timing != hal.NoTiming {
				t.Errorf("executeSynchronously with a buffer too small: shapes %+v, timing %+v", told, timing)
			}
			check.Equal(t, "timing of a short buffer", res.Timing, hal.NoTiming)
			through := check.V(p.ConfigureExecutionBurst())(t, "configureExecutionBurst")
			res, err = through.Execute(b.Request(), hal.ExecuteOptions{MeasureTiming: true})
			t.Status("through a burst with a buffer too small", err, hal.OutputInsufficientSize)
			check.Equal(t, "shapes through a burst", fmt.Sprint(res.OutputShapes()), fmt.Sprint(told))
			t.OK("close", through.Close())
		}
	}
	m := t.Supported(func(typ nn.OperandType) *nn.Model { return check.ReluModel(typ, 2, 3) })
	n := 6 * m.Main.Operands[0].Type.ElementBytes()
	res, err := hal.Execute(t.Prepare(m, hal.PrepareOptions{}), &hal.Buffers{Inputs: [][]byte{make([]byte, n)}, Outputs: [][]byte{make([]byte, n-1)}})
	t.Status("a known output with a buffer too small", err, hal.InvalidArgument)
	check.Equal(t, "shapes with INVALID_ARGUMENT", len(res.OutputShapes()), 0)
}

// teller is a driver whose programs report the given shapes.
type teller struct{ shapes [][]uint32 }

func (x *teller) Supports(m *nn.Model) ([]hal.Support, error)                 { return []hal.Support{{OK: true}}, nil }
func (x *teller) Compile(*nn.Model, hal.PrepareOptions) (base.Program, error) { return x, nil }
func (x *teller) WriteListing(io.Writer) error                                { return nil }
func (x *teller) WriteProgram(io.Writer) error                                { return nil }
func (x *teller) Execute(*hal.Buffers, base.Place) (*hal.Result, error) {
	return &hal.Result{OutputDimensions: x.shapes}, hal.Errorf(hal.OutputInsufficientSize, "too small")
}

// wrongShapes: an output of known shape is never too small, one that fits is not either, and of two outputs the one
// that is short is reported.
func wrongShapes(t *check.T) {
	two := func(dims []uint32) *nn.Model { // the best of three values, and their places
		return &nn.Model{Name: "best", Main: nn.Subgraph{
			Operands:   []nn.Operand{check.Tensor(nn.TensorFloat32, nn.SubgraphInput, 3), check.Tensor(nn.Int32, nn.SubgraphInput), check.Tensor(nn.TensorFloat32, nn.SubgraphOutput, dims...), check.Tensor(nn.TensorInt32, nn.SubgraphOutput, dims...)},
			Operations: []nn.Operation{{Type: nn.OpTopkV2, Inputs: []uint32{0, 1}, Outputs: []uint32{2, 3}}},
			Inputs:     []uint32{0, 1}, Outputs: []uint32{2, 3},
		}}
	}
	for _, c := range []struct {
		what     string
		dims     []uint32
		given    []uint32 // by the request
		reported []uint32 // of the first output
		sizes    [2]int
		want     hal.Status
		short    [2]bool
	}{
		{"outputs of known shape", []uint32{2}, nil, []uint32{2}, [2]int{8, 8}, hal.GeneralFailure, [2]bool{}},
		{"an output of another shape than is known", []uint32{2}, nil, []uint32{3}, [2]int{8, 8}, hal.GeneralFailure, [2]bool{}},
		{"outputs that fit", []uint32{0}, nil, []uint32{2}, [2]int{8, 8}, hal.GeneralFailure, [2]bool{}},
		{"an output of another shape than the request gives", []uint32{0}, []uint32{2}, []uint32{3}, [2]int{8, 8}, hal.GeneralFailure, [2]bool{}},
		{"one output that does not", []uint32{0}, nil, []uint32{2}, [2]int{8, 4}, hal.OutputInsufficientSize, [2]bool{false, true}},
	} {
		d := base.New(base.Config{Name: "teller", Version: "1"}, &teller{[][]uint32{c.reported, {2}}})
		p := check.V(d.PrepareModel(two(c.dims), hal.PrepareOptions{}))(t, "prepareModel")
		r := (&hal.Buffers{Inputs: [][]byte{make([]byte, 12), {2, 0, 0, 0}}, Outputs: [][]byte{make([]byte, c.sizes[0]), make([]byte, c.sizes[1])}}).Request()
		r.Outputs[0].Dimensions = c.given
		res, err := p.Execute(r, hal.ExecuteOptions{})
		t.Status(c.what, err, c.want)
		if s := res.OutputShapes(); c.want == hal.OutputInsufficientSize && (len(s) != 2 || s[0].IsSufficient == c.short[0] || s[1].IsSufficient == c.short[1]) {
			t.Errorf("%s: shapes %+v", c.what, s)
		}
	}
}

func timings(t *check.T) {
	p, m := t.Adder()
	for _, measure := range []bool{false, true} {
		b, _ := check.Sums(m)
		b.MeasureTiming = measure
		before := t.Device.Now()
		res := check.V(hal.Execute(p, b))(t, "execute")
		t.OK("costs", res.Stats.Check(len(m.Main.Operations)))
		if !measure {
			check.Equal(t, "timing that nobody asked for", res.Timing, hal.NoTiming)
			continue
		}
		t.Check(res.Timing.InDriver != hal.NoTime && res.Timing.OnDevice <= res.Timing.InDriver, "timing %+v", res.Timing)
		if res.Timing.InDriver > uint64(res.Stats.LatencyFs/1e9) {
			t.Errorf("%d us in the driver of an execution of %d fs", res.Timing.InDriver, res.Stats.LatencyFs)
		}
		outside := int64(0) // of the driver: the runtime's work and calls between processes
		for _, x := range res.Stats.Parts {
			if slices.Contains([]string{platform.PartRuntime, platform.PartBinder, platform.PartBurst, platform.PartThread}, x.Name) {
				outside += x.TimeFs
			}
		}
		if res.Timing.InDriver > uint64((res.Stats.LatencyFs-outside)/1e9) {
			t.Errorf("%d us in the driver of %d fs, %d of them outside", res.Timing.InDriver, res.Stats.LatencyFs, outside)
		}
		if gone := uint64(t.Device.Now()-before) / 1000; gone < res.Timing.InDriver {
			t.Errorf("the clock moved by %d us in an execution of %d us", gone, res.Timing.InDriver)
		}
	}
	b, _ := check.Sums(m)
	b.MeasureTiming, b.Functional = true, true
	res := check.V(hal.Execute(p, b))(t, "functional")
	check.Equal(t, "timing of a functional execution", res.Timing, hal.NoTiming)
}

func reusable(t *check.T) {
	p, m := t.Adder()
	b, want := check.Sums(m)
	e := check.V(p.CreateReusableExecution(b.Request(), hal.ExecuteOptions{MeasureTiming: true}))(t, "createReusableExecution")
	for range 3 {
		clear(b.Outputs[0])
		res := check.V(e.Compute())(t, "compute")
		t.Same("compute", b.Outputs[0], want)
		check.Measured(t, res)
	}
	clear(b.Outputs[0])
	f := check.V(e.ComputeFenced(nil, 0))(t, "computeFenced")
	<-f.Fence.Done()
	_, err := f.ExecutionInfo()
	t.OK("computeFenced", err)
	t.Same("computeFenced", b.Outputs[0], want)
}
