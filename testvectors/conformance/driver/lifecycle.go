package driver

import (
	"fmt"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/hal/driver/sample"
	"github.com/nnsoc/nnsoc/hal/service"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/partition"
	"github.com/nnsoc/nnsoc/sim/soc"
	"github.com/nnsoc/nnsoc/testvectors/conformance/check"
)

// LifecycleChecks returns the checks of a driver's life in its process.
func LifecycleChecks() []check.Check {
	return []check.Check{
		{Name: "no driver code sees what breaks a rule, and its panics are contained", Rows: []string{"J-12"}, Run: protected},
		{Name: "reasons to refuse", Rows: []string{"J-3"}, Run: refusals, EachDevice: true},
		{Name: "prepared models live as long as somebody refers to them", Rows: []string{"A1-9", "J-9"}, Run: released, EachDevice: true},
		{Name: "what is larger than a call travels in memory", Rows: []string{"A0-10", "H3-8"}, Run: largeCalls},
		{Name: "the more urgent request waits less, and all end", Rows: []string{"H2-4", "A8-6", "A7-10"}, Run: urgency},
		{Name: "a driver reports the figures that it is given", Rows: []string{"H2-5"}, Run: givenFigures},
		{Name: "a driver that hangs is given up, and the CPU computes", Rows: []string{"H2-9"}, Run: hanging},
		{Name: "parts that cost more than they save are not made", Rows: []string{"H3-1"}, Run: worthwhile},
		{Name: "several models at once, released in any order", Rows: []string{"J-8"}, Run: interleaved, EachDevice: true},
	}
}

// trap is a compiler that panics and counts its calls.
type trap struct{ calls int }

func (x *trap) Supports(*nn.Model) ([]hal.Support, error) {
	x.calls++
	panic("trap")
}

func (x *trap) Compile(*nn.Model, hal.PrepareOptions) (base.Program, error) {
	x.calls++
	panic("trap")
}

func protected(t *check.T) {
	x := &trap{}
	d := base.New(base.Config{Name: "trap", Version: "1"}, x)
	bad := check.Damaged(check.AddModel(nn.TensorFloat32), func(g *nn.Subgraph) { g.Inputs[0] = 99 })
	t.Status("an invalid model", check.Err(d.SupportedOperations(bad)), hal.InvalidArgument)
	t.Status("an invalid model", check.Err(d.PrepareModel(bad, hal.PrepareOptions{})), hal.InvalidArgument)
	_, err := d.PrepareModel(check.AddModel(nn.TensorFloat32), hal.PrepareOptions{Preference: 7})
	t.Status("an invalid preference", err, hal.InvalidArgument)
	check.Equal(t, "calls of driver code", x.calls, 0)
	t.Status("a panic in a query", check.Err(d.SupportedOperations(check.AddModel(nn.TensorFloat32))), hal.GeneralFailure)
	_, err = d.PrepareModel(check.AddModel(nn.TensorFloat32), hal.PrepareOptions{})
	t.Status("a panic in preparing", err, hal.GeneralFailure)
	t.Check(err != nil && strings.Contains(err.Error(), "lifecycle.go:"), "the error does not say where: %v", err)
	check.Equal(t, "calls of driver code", x.calls, 2)
}

func refusals(t *check.T) {
	n := 0
	for typ := nn.TensorFloat32; typ.Valid(); typ++ {
		m := check.AddModel(typ)
		s, err := t.Device.SupportedOperations(m)
		if err != nil {
			t.Status(typ.String(), err, hal.InvalidArgument) // ADD has no such type
			continue
		}
		if !s[0].OK {
			n++
			if len(s[0].Reason) < 5 {
				t.Errorf("%s is declined because of %q", typ, s[0].Reason)
			}
			continue
		}
		t.Prepare(m, hal.PrepareOptions{})
	}
	t.Check(t.Device.Type() != hal.DeviceAccelerator || n != 0, "an accelerator that refuses nothing")
}

func released(t *check.T) {
	m := t.Supported(check.AddModel)
	t.Prepare(m, hal.PrepareOptions{})
	before := working("/hal/burst.")
	for range 8 { // prepared models and bursts that are not closed
		p := t.Prepare(m, hal.PrepareOptions{})
		b := check.V(p.ConfigureExecutionBurst())(t, "configureExecutionBurst")
		buffers, want := check.Sums(m)
		_, err := b.Execute(buffers.Request(), hal.ExecuteOptions{})
		t.OK("burst", err)
		t.Same("burst", buffers.Outputs[0], want)
	}
	eventually(t, "goroutines of bursts that nobody refers to", func() int {
		runtime.GC()
		return max(0, working("/hal/burst.")-before)
	}, 0)
}

// working is the number of goroutines whose stacks enter one of the packages, as "/hal/burst." names them. What else the
// process does is not counted.
func working(packages ...string) (n int) {
	var stacks strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&stacks, 2) // a Builder takes every write
	for stack := range strings.SplitSeq(stacks.String(), "\n\n") {
		if slices.ContainsFunc(packages, func(p string) bool { return strings.Contains(stack, p) }) {
			n++
		}
	}
	return n
}

func interleaved(t *check.T) {
	a := t.Supported(check.AddModel)
	b := t.Supported(check.Chain)
	p, q := t.Prepare(a, hal.PrepareOptions{}), t.Prepare(b, hal.PrepareOptions{})
	in := make([]byte, b.Main.Operands[0].Bytes())
	for range 2 {
		t.Compute("the first", p, a)
		x := &hal.Buffers{Inputs: [][]byte{in}, Outputs: [][]byte{make([]byte, len(in))}}
		_, err := hal.Execute(q, x)
		t.OK("the second", err)
	}
	p = nil
	_, err := hal.Execute(q, &hal.Buffers{Inputs: [][]byte{in}, Outputs: [][]byte{make([]byte, len(in))}})
	t.OK("the second after the first is gone", err)
	_ = p
}

// largeCalls sends a constant and tensors larger than any message through a process boundary, within the model
// and in a pool of the app.
func largeCalls(t *check.T) {
	const n = 5 << 20 // elements of 4 bytes
	d, stop := check.V2(service.Loopback(cpudriver.New(cpudriver.Config{})))(t, "service")
	defer stop()
	ones := make([]byte, 4*n)
	for i := 0; i < len(ones); i += 4 {
		copy(ones[i:], check.Floats(1))
	}
	for _, lifetime := range []nn.Lifetime{nn.ConstantCopy, nn.ConstantReference} {
		m := check.AddModel(nn.TensorFloat32)
		for i := range 3 {
			m.Main.Operands[i].Dimensions = []uint32{n}
		}
		m.Main.Operands[1].Lifetime, m.Main.Operands[1].Data = lifetime, ones
		m.Main.Inputs = m.Main.Inputs[:1]
		p := check.V(d.PrepareModel(m, hal.PrepareOptions{}))(t, "prepareModel of "+lifetime.String())
		b := &hal.Buffers{Inputs: [][]byte{ones}, Outputs: [][]byte{make([]byte, 4*n)}, ExecuteOptions: hal.ExecuteOptions{Functional: true}}
		_, err := hal.Execute(p, b)
		t.OK("execute", err)
		for _, i := range []int{0, 4 * (n / 2), 4 * (n - 1)} {
			t.Same("1 + 1", b.Outputs[0][i:i+4], check.Floats(2))
		}
	}
}

// urgency submits two long requests of low priority to one engine of a phone, then, while the second waits for the first,
// short ones of another priority.
// A prepared model from a cache has the priority that it was saved with.
func urgency(t *check.T) {
	c := check.V(soc.Load("pixel4"))(t, "phone")
	long := &nn.Model{Name: "long"}
	const steps, size = 12, 1 << 16
	for i := range steps + 1 {
		o := check.Tensor(nn.TensorFloat32, nn.TemporaryVariable, size)
		if i > 0 {
			long.Main.Operations = append(long.Main.Operations, nn.Operation{Type: nn.OpTanh, Inputs: []uint32{uint32(i - 1)}, Outputs: []uint32{uint32(i)}})
		}
		long.Main.Operands = append(long.Main.Operands, o)
	}
	long.Main.Operands[0].Lifetime, long.Main.Operands[steps].Lifetime = nn.SubgraphInput, nn.SubgraphOutput
	long.Main.Inputs, long.Main.Outputs = []uint32{0}, []uint32{steps}
	waits := func(device int, urgent hal.Priority, cached bool) (queued int64) {
		m := check.V(devices.NewMachine(c, hal.FastSingleAnswer))(t, "machine")
		ended := 0
		client := func(model *nn.Model, p hal.Priority, start int64, reported func(s *hal.Stats)) func(*devices.Client) error {
			d, f := m.Devices()[device], check.NewFiles()
			prepared := check.V(d.PrepareModel(model, hal.PrepareOptions{Priority: p, Cache: f.Cache()}))(t, "prepareModel")
			if cached {
				prepared = check.V(d.PrepareModelFromCache(nil, f.Cache()))(t, "prepareModelFromCache")
			}
			n := model.Main.Operands[0].Bytes()
			return func(as *devices.Client) error {
				as.WaitUntil(as.NowFs() + start)
				b := &hal.Buffers{Inputs: [][]byte{make([]byte, n)}, Outputs: [][]byte{make([]byte, n)}}
				b.Client = as
				res, err := hal.Execute(prepared, b)
				if err == nil {
					ended++
					reported(&res.Stats)
				}
				return err
			}
		}
		short := func(s *hal.Stats) {
			for _, p := range s.Parts {
				if p.Name == "queue" {
					queued += p.TimeFs
				}
			}
		}
		relu, none := check.ReluModel(nn.TensorFloat32, 2, 3), func(*hal.Stats) {}
		_, err := m.RunConcurrent(client(long, hal.PriorityLow, 0, none), client(long, hal.PriorityLow, 0, none), client(relu, urgent, 300e9, short), client(relu, urgent, 400e9, short))
		t.OK("together", err)
		check.Equal(t, "requests that end", ended, 4)
		return queued
	}
	for _, c := range []struct {
		device int
		cached bool
	}{{0, false}, {1, false}, {1, true}} {
		fair, urgent := waits(c.device, hal.PriorityLow, c.cached), waits(c.device, hal.PriorityHigh, c.cached)
		if !(fair > 0 && urgent < fair) {
			t.Errorf("device %d, from a cache %v: short requests wait for %d us, with a higher priority for %d", c.device, c.cached, fair/1e9, urgent/1e9)
		}
	}
}

func givenFigures(t *check.T) {
	for _, v := range []float32{0.25, 4} {
		caps := hal.Capabilities{RelaxedScalar: check.Figure(v), RelaxedTensor: check.Figure(v), If: check.Figure(v), While: check.Figure(v), Operand: map[nn.OperandType]hal.PerformanceInfo{nn.TensorFloat32: check.Figure(v)}}
		got := base.New(base.Config{Name: "told", Version: "1", Capabilities: caps}, &trap{}).Capabilities()
		check.Equal(t, "a type", got.Operand[nn.TensorFloat32], check.Figure(v))
		check.Equal(t, "relaxed", got.RelaxedTensor, check.Figure(v))
		check.Equal(t, "a loop", got.While, check.Figure(v))
	}
}

func hanging(t *check.T) {
	for _, call := range []sample.Call{sample.CallSupportedOperations, sample.CallPrepareModel, sample.CallExecute} {
		d, err := sample.NewSynthetic("hangs", check.NewPicky("hangs", nn.OpRelu, nn.OpRelu1, nn.OpRelu6), map[sample.Call]sample.Fault{call: {Hang: true}})
		t.OK("driver", err)
		watched := nnrt.WithTimeout(d, 20*time.Millisecond)
		m := check.Chain(nn.TensorFloat32)
		c := t.Compiled(m, watched)
		t.Agrees("a driver that hangs in "+call.String(), m, c, check.Floats(-1, 0, 0.5, 1, 5, 9))
		_, err = watched.PrepareModel(m, hal.PrepareOptions{})
		t.Status("a call of a driver that was given up", err, hal.DeviceUnavailable)
		check.Equal(t, "its status", watched.Status(), hal.DeviceOffline)
		d.Release()
	}
}

// worthwhile: a device that saves a microsecond of one operation and costs a hundred to go to.
func worthwhile(t *check.T) {
	m := check.Chain(nn.TensorFloat32)
	all := []hal.Support{{OK: true}, {OK: true}, {OK: true}}
	device := func(name string, v float32) partition.Device {
		return partition.Device{Name: name, Support: all, Capabilities: hal.Capabilities{Operand: map[nn.OperandType]hal.PerformanceInfo{nn.TensorFloat32: check.Figure(v)}}}
	}
	const us = 1e9
	fs := func(v ...float64) (list []partition.Cost) {
		for _, x := range v {
			list = append(list, partition.Cost{TimeFs: x * us, EnergyPJ: 1})
		}
		return list
	}
	for _, c := range []struct {
		what  string
		fixed float64
		want  []int
	}{{"dear", 100, []int{0, 0, 0}}, {"cheap", 0.1, []int{0, 1, 0}}} {
		for _, s := range []partition.Strategy{partition.MinCut{}, partition.BranchAndBound{}} {
			p := &partition.Problem{Model: m, Graph: partition.NewGraph(&m.Main), Preference: hal.FastSingleAnswer, Devices: []partition.Device{device("cpu", 1), device("a", 0.5)},
				Costs: partition.Costs{Operation: [][]partition.Cost{fs(2, 2, 2), fs(3, 1, 3)}, Fixed: fs(0, c.fixed), PerByte: fs(0, 0)}}
			plan := check.V(s.Plan(p))(t, s.Name())
			check.Equal(t, s.Name()+" of a device that is "+c.what+" to go to", fmt.Sprint(plan.Device), fmt.Sprint(c.want))
		}
	}
}
