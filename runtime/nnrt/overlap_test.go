package nnrt_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/hal/nntrace"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/nn/compare"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/partition"
	"github.com/nnsoc/nnsoc/runtime/registry"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// branches is a model of two convolutions of one input and their sum.
func branches(t *testing.T) *nn.Model {
	t.Helper()
	b := builder.New(builder.Config{Format: builder.Quant8})
	x := b.Image(144)
	y := b.Conv(x, builder.Conv{Out: 32, Kernel: 3, Act: builder.ReLU})
	z := b.Conv(x, builder.Conv{Out: 32, Kernel: 3, Act: builder.ReLU})
	b.Output(b.Add(y, z, builder.ReLU), "sum")
	m := require.V(b.Model("branches"))(t)
	return m
}

// timeline keeps what a tracer gets, device by device.
type timeline map[string][]hal.Span

func (t timeline) Span(device string, s hal.Span, _ *nnrt.OperationCost, _ int) {
	t[device] = append(t[device], s)
}
func (t timeline) Sample(string, nnrt.Counter, int64, float64) {}
func (t timeline) Stall(string, string, int64, float64)        {}
func (t timeline) Mark(thread string, m nntrace.Mark, start, end int64, _ int) {
	t[thread] = append(t[thread], hal.Span{Name: m.String(), StartFs: start, EndFs: end})
}

// onPhone compiles a model for a machine of its own, each operation for a device.
// Devices may be changed by wrap.
func onPhone(t *testing.T, m *nn.Model, on []string, sequential bool, wrap func(hal.Device) hal.Device) *nnrt.Compilation {
	t.Helper()
	return onPhoneWrapped(t, m, on, nil, sequential, wrap)
}

// onPhoneWith also has the devices of the operations of subgraphs.
func onPhoneWith(t *testing.T, m *nn.Model, on []string, subgraphs map[uint32][]string, sequential bool) *nnrt.Compilation {
	t.Helper()
	return onPhoneWrapped(t, m, on, subgraphs, sequential, nil)
}

func onPhoneWrapped(t *testing.T, m *nn.Model, on []string, subgraphs map[uint32][]string, sequential bool, wrap func(hal.Device) hal.Device) *nnrt.Compilation {
	t.Helper()
	config := require.V(soc.Load("pixel4"))(t)
	machine := require.V(devices.NewMachine(config, hal.FastSingleAnswer))(t)
	list := slices.Clone(machine.Devices())
	for i := range list {
		if wrap != nil && i > 0 {
			list[i] = wrap(list[i])
		}
	}
	r := require.V(registry.New(list[0], list[1:]...))(t)
	r.SetMachine(machine)
	o := nnrt.CompileOptions{}
	p := require.V(nnrt.NewProblem(r, m, o))(t)
	planOf := func(on []string) partition.Plan {
		plan := partition.Plan{Sequential: sequential}
		for _, name := range on {
			k := slices.IndexFunc(list, func(d hal.Device) bool { return d.Name() == name })
			if name == partition.Interpreter {
				k = len(list)
			}
			plan.Device = append(plan.Device, k)
		}
		return plan
	}
	plan := planOf(on)
	for k, on := range subgraphs {
		if plan.Subgraphs == nil {
			plan.Subgraphs = map[uint32]partition.Plan{}
		}
		plan.Subgraphs[k] = planOf(on)
	}
	c := require.V(nnrt.CompilePlan(r, p, plan, o))(t)
	return c
}

// execute executes a compilation twice, the second time on engines that are awake, and
// compares with the reference.
func execute(t *testing.T, c *nnrt.Compilation, o nnrt.ExecuteOptions) (res *nnrt.Result) {
	t.Helper()
	in := [][]byte{tensor.SyntheticInput(&c.Model.Main, 0, 1)}
	trace := o.Trace
	for i := range 2 {
		if o.Trace = nil; i == 1 {
			o.Trace = trace
		}
		var err error
		if res, err = c.Execute(in, o); err != nil {
			t.Fatal(err)
		}
	}
	equalsReference(t, c.Model, in, res)
	return res
}

func equalsReference(t *testing.T, m *nn.Model, in [][]byte, res *nnrt.Result) {
	t.Helper()
	want := require.V(cpudriver.ReferenceTensors(m, in))(t)
	require.Report(t, compare.Err(nnrt.Compare(m, want, res)))
}

// executeBranches runs branches on one machine: the first on the NPU, the second on the
// DSP, the sum on the CPU.
func executeBranches(t *testing.T, sequential bool, trace nnrt.Tracer) *nnrt.Result {
	t.Helper()
	return execute(t, onPhone(t, branches(t), []string{"npu", "dsp", "cpu"}, sequential, nil), nnrt.ExecuteOptions{Trace: trace})
}

// TestPartsOverlapOnTheMachine: branches on different engines run beside each other on
// the machine's clock and contend for its memory; the sum waits for both; parts, stalls
// and the timeline add up; the same happens twice.
func TestPartsOverlapOnTheMachine(t *testing.T) {
	trace := timeline{}
	both, apart := executeBranches(t, false, trace), executeBranches(t, true, nil)
	npu, dsp, sum := both.Parts[0], both.Parts[1], both.Parts[2]
	if npu.Device != "npu" || dsp.Device != "dsp" || sum.Device != "cpu" {
		t.Fatalf("parts %+v", both.Parts)
	}
	if npu.StartFs != dsp.StartFs || sum.StartFs != max(npu.EndFs, dsp.EndFs) || both.LatencyFs != sum.EndFs {
		t.Errorf("parts %+v, latency %d", both.Parts, both.LatencyFs)
	}
	require.Check(t, both.LatencyFs < apart.LatencyFs, "%d fs beside each other, %d fs one after the other", both.LatencyFs, apart.LatencyFs)
	stalled := func(r *nnrt.Result) (cycles int64) {
		for _, s := range r.On("dsp").Stalls {
			if s.Reason == "system_cache" || s.Reason == "dram" || s.Reason == "dma" {
				cycles += s.Cycles
			}
		}
		return cycles
	}
	// What the branches move does not stay in the caches.
	if a, b := stalled(apart), stalled(both); b <= a {
		t.Errorf("the DSP waits %d cycles for the memory beside the NPU, %d alone", b, a)
	}
	for _, d := range both.Devices {
		total := int64(0)
		for _, s := range d.Stalls {
			total += s.Cycles
		}
		require.Check(t, total == d.Cycles, "%s: stalls of %d cycles in %d", d.Device, total, d.Cycles)
	}
	for i, p := range both.Parts {
		for _, s := range trace[p.Device] {
			require.Check(t, s.StartFs >= p.StartFs && s.EndFs <= p.EndFs, "part %d: span %+v outside of %+v", i, s, p)
		}
	}
	if len(trace["application"]) < 10 || trace["application"][0].EndFs != both.LatencyFs || len(trace["application, dsp"]) < 10 {
		t.Errorf("marks of threads %d, %d: %+v", len(trace["application"]), len(trace["application, dsp"]), trace["application"])
	}
	if again := executeBranches(t, false, nil); fmt.Sprint(again.Parts, again.EnergyPJ) != fmt.Sprint(both.Parts, both.EnergyPJ) {
		t.Errorf("%+v, then %+v", both.Parts, again.Parts)
	}
}

// TestEnginesStayAwake: of two parts of one execution on an engine, the second finds it
// awake; only the CPU's cores sleep while other engines compute one after the other.
func TestEnginesStayAwake(t *testing.T) {
	const cores = 1461e9
	for i, r := range []*nnrt.Result{executeBranches(t, false, nil), executeBranches(t, true, nil)} {
		for _, p := range r.Chain {
			if strings.HasPrefix(p.Name, "wake") && p.TimeFs > 0 && (i == 0 || p.TimeFs != cores) {
				t.Errorf("%s takes %d fs although its engine has just worked", p.Name, p.TimeFs)
			}
		}
	}
}

// forkedLoop is a loop of some rounds, each of two convolutions of its image and their sum,
// and beside it a convolution that does not wait for it.
func forkedLoop(t *testing.T, rounds int32) *nn.Model {
	t.Helper()
	conv := builder.Conv{Out: 32, Kernel: 3, Act: builder.ReLU}
	return loop(t, 96, conv.Out, rounds,
		func(b *builder.Builder, x builder.Tensor) builder.Tensor {
			return b.Add(b.Conv(x, conv), b.Conv(x, conv), builder.ReLU)
		},
		func(b *builder.Builder, first, last builder.Tensor) builder.Tensor {
			return b.Add(last, b.Conv(first, conv), builder.ReLU)
		})
}

// TestControlFlowOverlaps: the parts of a WHILE's body that do not wait for each other run
// beside each other on different engines, and so does the WHILE beside what does not wait
// for it; the results are those of the reference, the same happens twice, and a sequential
// plan is slower.
func TestControlFlowOverlaps(t *testing.T) {
	m := forkedLoop(t, 3)
	// Of the body: convolutions on NPU and DSP, their sum and the counter on the CPU. Of the
	// main subgraph: the WHILE in the runtime, a convolution on the NPU, a sum on the CPU.
	run := func(sequential bool) (*nnrt.Result, *nnrt.Compilation) {
		c := onPhoneWith(t, m, []string{partition.Interpreter, "npu", "cpu"}, map[uint32][]string{0: {"cpu"}, 1: {"npu", "dsp", "cpu", "cpu"}}, sequential)
		in := [][]byte{make([]byte, 4), tensor.SyntheticInput(&m.Main, 1, 1)}
		var res *nnrt.Result
		for range 2 { // the second time on engines that are awake
			var err error
			if res, err = c.Execute(in, nnrt.ExecuteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		equalsReference(t, m, in, res)
		return res, c
	}
	both, _ := run(false)
	apart, _ := run(true)
	pairs, around := 0, 0
	for i, a := range both.Parts {
		for _, b := range both.Parts[i+1:] {
			overlap := min(a.EndFs, b.EndFs) - max(a.StartFs, b.StartFs)
			switch {
			case overlap <= 0:
			case a.Subgraph == "WHILE body" && b.Subgraph == a.Subgraph:
				pairs++
			case (a.Subgraph == "") != (b.Subgraph == ""):
				around++
			}
		}
	}
	if pairs < 3 || around == 0 {
		t.Errorf("%d pairs of parts of the body overlap, %d of the WHILE and what is beside it: %+v", pairs, around, both.Parts)
	}
	require.Check(t, both.LatencyFs < apart.LatencyFs, "%d fs with overlap, %d in sequence", both.LatencyFs, apart.LatencyFs)
	if rounds := both.Rounds[0]; rounds != [2]int{4, 3} {
		t.Errorf("the condition and the body ran %v times, want 4 and 3", rounds)
	}
	if again, _ := run(false); fmt.Sprint(again.Parts, again.EnergyPJ) != fmt.Sprint(both.Parts, both.EnergyPJ) {
		t.Errorf("%+v, then %+v", both.Parts, again.Parts)
	}
}
