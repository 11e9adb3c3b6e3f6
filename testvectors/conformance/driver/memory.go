package driver

import (
	"fmt"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/hal/driver/sample"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/conformance/check"
)

// MemoryChecks returns the checks of device memory.
func MemoryChecks() []check.Check {
	return []check.Check{
		{Name: "roles of device memory are checked", Rows: []string{"A8-11", "A10-1", "A10-2", "A10-4", "E1-12", "D2-10"}, Run: allocateRules, EachDevice: true},
		{Name: "unsupported memory is a failure", Rows: []string{"A10-3"}, Run: allocateOpen, EachDevice: true},
		{Name: "device memory that is too small for an output fails", Rows: []string{"A5-4", "A10-12"}, Run: shortMemory, EachDevice: true},
		{Name: "outputs that are too small beside device memory", Rows: []string{"A5-3", "A5-4", "A10-8"}, Run: shortBesideMemory, EachDevice: true},
		{Name: "tokens live as long as their buffers", Rows: []string{"A10-5", "A10-10", "E1-14", "I4-9"}, Run: tokens, EachDevice: true},
		{Name: "copies to and from device memory", Rows: []string{"A10-6", "A10-7", "A10-14", "E1-13"}, Run: copies, EachDevice: true},
		{Name: "executions initialize device memory and need it so", Rows: []string{"A10-8", "A10-9", "A10-11", "A10-12", "A11-4", "E1-4", "E1-14", "I4-10"}, Run: memoryState, EachDevice: true},
	}
}

func allocateRules(t *check.T) {
	p, m := t.Adder()
	t.Allocate(p, 1, 0).Release()
	other := t.Prepare(t.Supported(func(typ nn.OperandType) *nn.Model {
		x := check.ReluModel(typ, 3, 2)
		x.Main.Operands[0].Dimensions = []uint32{3, 2}
		return x
	}), hal.PrepareOptions{})
	rank := t.Prepare(t.Supported(func(typ nn.OperandType) *nn.Model {
		x := check.ReluModel(typ, 6)
		x.Main.Operands[0].Dimensions = []uint32{6}
		return x
	}), hal.PrepareOptions{})
	good := hal.BufferRole{Frequency: 1}
	with := func(change func(r *hal.BufferRole)) []hal.BufferRole {
		r := good
		change(&r)
		return []hal.BufferRole{r}
	}
	one := []hal.PreparedModel{p}
	for name, f := range map[string]func() (hal.Buffer, error){
		"no roles": func() (hal.Buffer, error) { return t.Device.Allocate(hal.BufferDesc{}, one, nil, nil) },
		"no prepared model": func() (hal.Buffer, error) {
			return t.Device.Allocate(hal.BufferDesc{}, []hal.PreparedModel{nil}, []hal.BufferRole{good}, nil)
		},
		"a prepared model of another driver": func() (hal.Buffer, error) {
			return t.Device.Allocate(hal.BufferDesc{}, []hal.PreparedModel{hal.UnimplementedPreparedModel{}}, []hal.BufferRole{good}, nil)
		},
		"a prepared model of another device": func() (hal.Buffer, error) {
			twin := check.V(sample.New("sample_all", cpudriver.Config{}))(t, "another device")
			return t.Device.Allocate(hal.BufferDesc{}, []hal.PreparedModel{t.On(twin).Prepare(m, hal.PrepareOptions{})}, []hal.BufferRole{good}, nil)
		},
		"a model index": func() (hal.Buffer, error) {
			return t.Device.Allocate(hal.BufferDesc{}, one, with(func(r *hal.BufferRole) { r.ModelIndex = 1 }), nil)
		},
		"an input index": func() (hal.Buffer, error) {
			return t.Device.Allocate(hal.BufferDesc{}, one, with(func(r *hal.BufferRole) { r.IOIndex = 2 }), nil)
		},
		"an output index": func() (hal.Buffer, error) {
			return t.Device.Allocate(hal.BufferDesc{}, one, nil, with(func(r *hal.BufferRole) { r.IOIndex = 1 }))
		},
		"the same role twice": func() (hal.Buffer, error) {
			return t.Device.Allocate(hal.BufferDesc{}, one, []hal.BufferRole{good, good}, nil)
		},
		"roles of other dimensions": func() (hal.Buffer, error) {
			return t.Device.Allocate(hal.BufferDesc{}, []hal.PreparedModel{p, other}, append(with(func(r *hal.BufferRole) { r.ModelIndex = 1 }), good), nil)
		},
		"roles of another rank": func() (hal.Buffer, error) {
			return t.Device.Allocate(hal.BufferDesc{}, []hal.PreparedModel{p, rank}, append(with(func(r *hal.BufferRole) { r.ModelIndex = 1 }), good), nil)
		},
		"a descriptor of other dimensions": func() (hal.Buffer, error) {
			return t.Device.Allocate(hal.BufferDesc{Dimensions: []uint32{2, 4}}, one, []hal.BufferRole{good}, nil)
		},
		"a descriptor of another rank": func() (hal.Buffer, error) {
			return t.Device.Allocate(hal.BufferDesc{Dimensions: []uint32{6}}, one, []hal.BufferRole{good}, nil)
		},
	} {
		b, err := f()
		t.Status(name, err, hal.InvalidArgument)
		t.Check(b == nil, "%s: there is a buffer", name)
	}
	for _, frequency := range []float32{0, -0.5, 10, float32(math.NaN()), float32(math.Inf(1))} {
		_, err := t.Device.Allocate(hal.BufferDesc{}, one, with(func(r *hal.BufferRole) { r.Frequency = frequency }), nil)
		t.Status("frequency", err, hal.InvalidArgument)
	}
	if m.Main.Operands[0].Scale != m.Main.Operands[2].Scale {
		_, err := t.Device.Allocate(hal.BufferDesc{}, one, []hal.BufferRole{good}, []hal.BufferRole{good})
		t.Status("roles of another scale", err, hal.InvalidArgument)
	}
	if scalars := check.LoopModel(false); check.Supports(t.Device, scalars) {
		_, err := t.Device.Allocate(hal.BufferDesc{}, []hal.PreparedModel{p, t.Prepare(scalars, hal.PrepareOptions{})}, []hal.BufferRole{good, {ModelIndex: 1, Frequency: 1}}, nil)
		t.Status("roles of another type", err, hal.InvalidArgument)
	}
	shifted := check.ReluModel(nn.TensorQuant8Asymm, 2, 3)
	if plain := check.ReluModel(nn.TensorQuant8Asymm, 2, 3); check.Supports(t.Device, plain) {
		shifted.Main.Operands[0].ZeroPoint++
		shifted.Main.Operands[1].ZeroPoint++
		_, err := t.Device.Allocate(hal.BufferDesc{}, []hal.PreparedModel{t.Prepare(plain, hal.PrepareOptions{}), t.Prepare(shifted, hal.PrepareOptions{})},
			[]hal.BufferRole{good, {ModelIndex: 1, Frequency: 1}}, nil)
		t.Status("roles of another zero point", err, hal.InvalidArgument)
	}
	seen := map[uint32]bool{}
	for range 5 {
		b := t.Allocate(p, 2, 0)
		t.Check(!seen[b.Token()], "token %d is given twice", b.Token())
		seen[b.Token()] = true
		defer b.Release()
	}
}

func allocateOpen(t *check.T) {
	m := t.Supported(func(typ nn.OperandType) *nn.Model { return check.ReluModel(typ) })
	p := t.Prepare(m, hal.PrepareOptions{})
	role := []hal.BufferRole{{Frequency: 1}}
	b, err := t.Device.Allocate(hal.BufferDesc{}, []hal.PreparedModel{p}, nil, role)
	t.Status("memory of unknown shape", err, hal.GeneralFailure, hal.StatusNone)
	t.Check(err == nil || b == nil, "there is a buffer")
	if b = t.DeviceMemory(t.Device.Allocate(hal.BufferDesc{Dimensions: []uint32{2, 3}}, []hal.PreparedModel{p}, nil, role)); b == nil {
		t.Skipf("%s has no device memory", t.Device.Name())
	}
	b.Release()
}

func shortMemory(t *check.T) {
	m := t.Supported(func(typ nn.OperandType) *nn.Model {
		m := check.ReluModel(typ)
		m.Main.Operands[0].Dimensions, m.Main.Operands[1].Dimensions = []uint32{0, 3}, []uint32{0, 3}
		return m
	})
	p := t.Prepare(m, hal.PrepareOptions{})
	b := t.DeviceMemory(t.Device.Allocate(hal.BufferDesc{Dimensions: []uint32{2, 3}}, []hal.PreparedModel{p}, nil, []hal.BufferRole{{Frequency: 1}}))
	if b == nil {
		t.Skipf("%s has no device memory", t.Device.Name())
	}
	defer b.Release()
	n := m.Main.Operands[0].Type.ElementBytes()
	for rows, want := range map[int]hal.Status{2: hal.StatusNone, 5: hal.GeneralFailure} {
		buffers := &hal.Buffers{Inputs: [][]byte{make([]byte, rows*3*n)}, Outputs: [][]byte{make([]byte, rows*3*n)}, InputDimensions: [][]uint32{{uint32(rows), 3}}}
		r := buffers.Request()
		check.WithToken(r, &r.Outputs[0], b.Token())
		t.Status(fmt.Sprint(rows, " rows into device memory of two"), check.Err(p.Execute(r, hal.ExecuteOptions{})), want)
	}
	buffers := &hal.Buffers{Inputs: [][]byte{make([]byte, 6*n)}, Outputs: [][]byte{make([]byte, 6*n)}, InputDimensions: [][]uint32{{2, 3}}}
	for _, rows := range []uint32{1, 5} {
		r := buffers.Request()
		check.WithToken(r, &r.Outputs[0], b.Token())
		r.Outputs[0].Dimensions = []uint32{rows, 3}
		t.Status("other dimensions than the memory's", check.Err(p.Execute(r, hal.ExecuteOptions{})), hal.InvalidArgument)
	}
}

// shortBesideMemory executes a model of two outputs of open shape, the first in device
// memory: which of the two is too small decides the status.
func shortBesideMemory(t *check.T) {
	m := t.Supported(func(typ nn.OperandType) *nn.Model {
		m := check.ReluModel(typ)
		g := &m.Main
		g.Operands[0].Dimensions, g.Operands[1].Dimensions = []uint32{0, 3}, []uint32{0, 3}
		g.Operands = append(g.Operands, g.Operands[1])
		second := uint32(len(g.Operands) - 1)
		g.Operations = append(g.Operations, nn.Operation{Type: nn.OpRelu, Inputs: []uint32{0}, Outputs: []uint32{second}})
		g.Outputs = append(g.Outputs, second)
		return m
	})
	p := t.Prepare(m, hal.PrepareOptions{})
	b := t.DeviceMemory(t.Device.Allocate(hal.BufferDesc{Dimensions: []uint32{2, 3}}, []hal.PreparedModel{p}, nil, []hal.BufferRole{{Frequency: 1}}))
	if b == nil {
		t.Skipf("%s has no device memory", t.Device.Name())
	}
	defer b.Release()
	n := m.Main.Operands[0].Type.ElementBytes()
	for _, c := range []struct {
		what string
		rows uint32 // of the value
		room int    // bytes of the second output
		want hal.Status
	}{
		{"both large enough", 2, 6 * n, hal.StatusNone},
		{"the second output too small", 2, 6*n - 1, hal.OutputInsufficientSize},
		{"device memory too small", 5, 15 * n, hal.GeneralFailure},
		{"both too small", 5, n, hal.GeneralFailure},
	} {
		buffers := &hal.Buffers{Inputs: [][]byte{make([]byte, int(c.rows)*3*n)}, InputDimensions: [][]uint32{{c.rows, 3}}, Outputs: [][]byte{make([]byte, 6*n), make([]byte, c.room)}}
		r := buffers.Request()
		check.WithToken(r, &r.Outputs[0], b.Token())
		res, err := p.Execute(r, hal.ExecuteOptions{})
		t.Status(c.what, err, c.want)
		copied := hal.StatusNone
		if c.want != hal.StatusNone {
			copied = hal.GeneralFailure // the memory holds no value
		}
		t.Status(c.what+": copyTo", b.CopyTo(hal.NewMemory(6*n)), copied)
		shapes := res.OutputShapes()
		if c.want == hal.GeneralFailure {
			check.Equal(t, c.what+": shapes", len(shapes), 0)
			continue
		}
		for i, sufficient := range []bool{true, c.room >= 6*n} {
			t.Check(len(shapes) == 2 && shapes[i].IsSufficient == sufficient && slices.Equal(shapes[i].Dimensions, []uint32{2, 3}), "%s: shapes %+v", c.what, shapes)
		}
	}
}

func tokens(t *check.T) {
	p, m := t.Adder()
	b := t.Allocate(p, 1, 0)
	_, _ = check.ShareOutput(m, b)
	r, out, want := check.ShareInput(m, b)
	_, err := p.Execute(r, hal.ExecuteOptions{})
	t.OK("an input in device memory", err)
	t.Same("an input in device memory", out, want)
	q := t.Prepare(m, hal.PrepareOptions{})
	t.Status("another prepared model", check.Err(q.Execute(r, hal.ExecuteOptions{})), hal.InvalidArgument)
	for name, damage := range map[string]func(r *hal.Request){
		"token 0":       func(r *hal.Request) { r.Pools[len(r.Pools)-1].Token = 0 },
		"token 100":     func(r *hal.Request) { r.Pools[len(r.Pools)-1].Token = 1 << 30 },
		"an offset":     func(r *hal.Request) { r.Inputs[0].Location.Offset = 1 },
		"a length":      func(r *hal.Request) { r.Inputs[0].Location.Length = 6 },
		"another input": func(r *hal.Request) { r.Inputs[0], r.Inputs[1] = r.Inputs[1], r.Inputs[0] },
		"an output":     func(r *hal.Request) { r.Inputs[0], r.Outputs[0] = r.Outputs[0], r.Inputs[0] },
		"dimensions":    func(r *hal.Request) { r.Inputs[0].Dimensions = []uint32{3, 2} },
	} {
		r, _, _ := check.ShareInput(m, b)
		damage(r)
		t.Status(name, check.Err(p.Execute(r, hal.ExecuteOptions{})), hal.InvalidArgument)
		t.Status(name+", fenced", check.Err(p.ExecuteFenced(r, nil, hal.ExecuteOptions{}, 0)), hal.InvalidArgument)
		if name == "an offset" || name == "a length" {
			t.Status(name+", validateRequest", validate.Request(m, r), hal.InvalidArgument)
		}
	}
	b.Release()
	t.Status("a token whose buffer is released", check.Err(p.Execute(r, hal.ExecuteOptions{})), hal.InvalidArgument)
}

func copies(t *check.T) {
	p, m := t.Adder()
	b := t.Allocate(p, 2, 0)
	defer b.Release()
	in, _ := check.Values(m.Main.Operands[0].Type)
	n := len(in[0])
	t.Status("copyTo of uninitialized memory", b.CopyTo(hal.NewMemory(n)), hal.GeneralFailure)
	t.OK("copyFrom", b.CopyFrom(&hal.Memory{Name: hal.Ashmem, Data: in[0]}, []uint32{2, 3}))
	dst := hal.NewMemory(n)
	t.OK("copyTo", b.CopyTo(dst))
	t.Same("copyTo", dst.Data, in[0])
	for _, size := range []int{n - 1, n + 1, 0} {
		t.Status("copyTo of another size", b.CopyTo(hal.NewMemory(size)), hal.InvalidArgument)
	}
	for _, c := range []struct {
		size int
		dims []uint32
	}{{n - 1, nil}, {n + 1, nil}, {n, []uint32{3, 2}}, {n, []uint32{6}}} {
		t.OK("copyFrom", b.CopyFrom(&hal.Memory{Name: hal.Ashmem, Data: in[0]}, nil))
		t.Status("copyFrom of another size or shape", b.CopyFrom(hal.NewMemory(c.size), c.dims), hal.InvalidArgument)
		t.Status("copyTo after a failed copyFrom", b.CopyTo(dst), hal.GeneralFailure)
	}
}

func memoryState(t *check.T) {
	p, m := t.Adder()
	in := t.Allocate(p, 2, 0)
	out := t.Allocate(p, 0, 1)
	defer in.Release()
	defer out.Release()
	request := func() *hal.Request {
		b, _ := check.Sums(m)
		r := b.Request()
		check.WithToken(r, &r.Inputs[0], in.Token())
		check.WithToken(r, &r.Outputs[0], out.Token())
		return r
	}
	_, want := check.Sums(m)
	got := hal.NewMemory(len(want))
	t.Status("an uninitialized input", check.Err(p.Execute(request(), hal.ExecuteOptions{})), hal.GeneralFailure)
	data, _ := check.Values(m.Main.Operands[0].Type)
	t.OK("copyFrom", in.CopyFrom(&hal.Memory{Name: hal.Ashmem, Data: data[0]}, nil))
	_, err := p.Execute(request(), hal.ExecuteOptions{})
	t.OK("execute", err)
	t.OK("copyTo", out.CopyTo(got))
	t.Same("the output", got.Data, want)
	now := t.Device.Now()
	_, err = p.Execute(request(), hal.ExecuteOptions{Deadline: &now})
	t.Status("a failed execution", err, hal.MissedDeadlinePersistent)
	t.Status("the output of a failed execution", out.CopyTo(got), hal.GeneralFailure)
	f := check.V(p.ExecuteFenced(request(), nil, hal.ExecuteOptions{}, 0))(t, "fenced")
	<-f.Fence.Done()
	t.OK("copyTo after a fenced execution", out.CopyTo(got))
	t.Same("the output of a fenced execution", got.Data, want)
	both := request() // one buffer as both inputs
	check.WithToken(both, &both.Inputs[1], in.Token())
	_, err = p.Execute(both, hal.ExecuteOptions{})
	t.OK("one buffer as two inputs", err)
	bad := request()
	bad.Outputs[0].Dimensions = []uint32{3, 2}
	t.Status("other dimensions of the output", check.Err(p.Execute(bad, hal.ExecuteOptions{})), hal.InvalidArgument)
	if m.Main.Operands[0].Type == nn.TensorFloat32 {
		shared := t.Allocate(p, 1, 1)
		defer shared.Release()
		t.OK("copyFrom", shared.CopyFrom(&hal.Memory{Name: hal.Ashmem, Data: data[0]}, nil))
		same := request()
		check.WithToken(same, &same.Inputs[0], shared.Token())
		check.WithToken(same, &same.Outputs[0], shared.Token())
		t.Status("one buffer as input and output", check.Err(p.Execute(same, hal.ExecuteOptions{})), hal.InvalidArgument)
	}
}
