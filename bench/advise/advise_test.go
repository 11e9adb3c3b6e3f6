package advise

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/refcpu"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// network is a convolution to 40 channels, a depthwise one, a pool, a convolution to 8, and
// a function.
func network(t *testing.T) *nn.Model {
	t.Helper()
	b := builder.New(builder.Config{Format: builder.Float32})
	x := b.Conv(b.Image(8), builder.Conv{Out: 40, Kernel: 3})
	x = b.Depthwise(x, builder.Conv{Kernel: 3})
	x = b.Conv(b.MaxPool(x, builder.Pool{Window: 2, Stride: 2}), builder.Conv{Out: 8, Kernel: 1})
	b.Output(b.Apply(nn.OpTanh, nn.TensorFloat32, builder.Quant{}, x), "y")
	m := require.V(b.Model("forty"))(t)
	return m
}

func outputs(t *testing.T, m *nn.Model) []byte {
	t.Helper()
	require.NoError(t, validate.Model(m))
	c := require.V(refcpu.Compile(m))(t)
	in := make([]byte, 0, 4*8*8*3)
	for i := range 8 * 8 * 3 {
		in = binary.LittleEndian.AppendUint32(in, math.Float32bits(float32(i%11)/11-0.5))
	}
	out := require.V(c.Execute([]refcpu.Tensor{{Dimensions: []uint32{1, 8, 8, 3}, Data: in}}, refcpu.Options{}))(t)
	return out[0].Data
}

// TestNarrow: a narrowed network computes the same as the original network if nothing reads its further channels.
func TestNarrow(t *testing.T) {
	m := network(t)
	e := cloned(m)
	touched := require.V(e.narrow(0, 32))(t)
	if want := []int{0, 1, 2, 3}; !slices.Equal(touched, want) {
		t.Errorf("operations %v change, want %v", touched, want)
	}
	unread := cloned(m)
	last := &unread.m.Main.Operations[3]
	filter := unread.m.Main.Operands[last.Inputs[1]]
	filter.Data = slices.Clone(filter.Data)
	for i := range 8 {
		clear(filter.Data[4*(40*i+32) : 4*40*(i+1)])
	}
	unread.m.Main.Operands[last.Inputs[1]] = filter
	require.Equal(t, outputs(t, unread.model()), outputs(t, e.model()), "(-unread +narrowed)")
	if len(m.Main.Operands[m.Main.Operations[0].Outputs[0]].Dimensions) != 4 || m.Main.Operands[m.Main.Operations[0].Outputs[0]].Dimensions[3] != 40 {
		t.Error("the original network has changed")
	}
	require.Fails(t, require.Err(cloned(m).narrow(3, 4)), "the channels of an output are narrowed")
}

func find(t *testing.T, list []Change, what string) *Change {
	t.Helper()
	for i := range list {
		if strings.Contains(list[i].What, what) {
			return &list[i]
		}
	}
	t.Fatalf("no change %q in %+v", what, list)
	return nil
}

// TestPropose: predictions follow from the shares of a run, by hand.
func TestPropose(t *testing.T) {
	m := network(t)
	stalls := func(reason string, share float64) map[string]float64 {
		return map[string]float64{reason: share, "issue": 1 - share}
	}
	r := &Run{
		Model: m, Device: "dsp", CPU: "cpu", LatencyUS: 1000, Parts: map[string]float64{"binder": 40, "cpu_wake": 60},
		Operations: []Operation{
			{Index: 0, Device: "dsp", US: 200, Stalls: stalls("dram", 0.5)}, {Index: 1, Device: "dsp", US: 100, Stalls: stalls("l2", 0.2)},
			{Index: 2, Device: "dsp", US: 100, Stalls: stalls("l2", 0)}, {Index: 3, Device: "dsp", US: 100, Stalls: stalls("l2", 0)},
			{Index: 4, Device: "cpu", US: 70, Reason: "TANH has no lowering"}, {Index: -1, Device: "dsp", US: 300}, {Index: -1, Device: "cpu", US: 30},
		},
		Keys: []soc.Key{
			{Path: "dram.mt_per_s", Value: 4000, Hi: 1e6}, {Path: "system_cache.kib", Value: 1024, Hi: 1 << 20, Integer: true}, {Path: "host.binder_us", Value: 44, Hi: 1e6},
			{Path: "dsp.clock.fast_mhz", Value: 474, Hi: 1e6}, {Path: "dsp.clock.opps[2].mhz", Value: 474, Hi: 1e6}, {Path: "gpu.clusters", Value: 2, Hi: 64, Integer: true},
			{Path: "host.idle[0].exit_us", Value: 50, Hi: 1e6}, {Path: "host.idle[1].exit_us", Value: 500, Hi: 1e6},
		},
	}
	list := Propose(r)
	for what, want := range map[string]float64{
		"dram.mt_per_s=5000":    100 * (1 - 1/1.25),
		"system_cache.kib=2048": 100 * (1 - 1/math.Sqrt2),
		"host.binder_us=22":     20,
		"--set 'host.idle[0].exit_us=25' --set 'host.idle[1].exit_us=250' (now 50, 500)": 30,
		"--burst": 100,
		"--set dsp.clock.fast_mhz=521.4 --set 'dsp.clock.opps[2].mhz=521.4' (now 474)": 400 * (1 - 1/1.1),
		"1 of TANH less":               70 + 300,
		"half precision":               (100 + 20) / 2.,
		"operation 0: 32 output chann": (100 + 80 + 100 + 100) * (64 - 32) / 64.,
	} {
		if c := find(t, list, what); !(math.Abs(c.PredictedUS-want) < 1e-9) {
			t.Errorf("%s: %v us predicted, want %v", what, c.PredictedUS, want)
		}
	}
	for i := range list {
		require.Check(t, !strings.Contains(list[i].What, "gpu."), "a key of another engine: %s", list[i].What)
		if i > 0 && list[i].PredictedUS > list[i-1].PredictedUS {
			t.Errorf("%s stands behind %s", list[i].What, list[i-1].What)
		}
	}
	if keys := find(t, list, "host.idle[0]").Keys; len(keys) != 2 {
		t.Errorf("%d of the two idle states change", len(keys))
	}
	without := find(t, list, "1 of TANH less").Model
	if op := &without.Main.Operations[4]; op.Type != nn.OpReshape {
		t.Errorf("operation 4 is %v", op.Type)
	}
	outputs(t, without)
}

// TestClose: candidates in order of possible gain, two of an operation at most, none that lost by more than the error
// of estimates; one of several steps is compared in its step.
func TestClose(t *testing.T) {
	c := func(name string, cycles int64) hal.Candidate { return hal.Candidate{Name: name, Cycles: cycles} }
	taken := func(name string, cycles int64) hal.Candidate {
		return hal.Candidate{Name: name, Cycles: cycles, Chosen: true}
	}
	r := &Run{
		Model: network(t), Device: "dsp",
		Operations: []Operation{{Index: 0, Device: "dsp", US: 1000}, {Index: 1, Device: "dsp", US: 100}, {Index: 2, Device: "cpu", US: 5000}},
		Choices: []hal.Choice{
			{Operation: 0, Candidates: []hal.Candidate{taken("a", 600), c("b", 640), c("c", 660), c("d", 670), c("e", 900)}},
			{Operation: 0, Candidates: []hal.Candidate{taken("a", 200), c("b", 220)}},
			{Operation: 1, Candidates: []hal.Candidate{c("fast", 90), taken("a", 100), c("slow", 121)}},
			{Operation: 2, Candidates: []hal.Candidate{taken("a", 100), c("b", 100)}},
		},
	}
	type row struct {
		candidates  map[int]string
		predictedUS float64
	}
	var got []row
	for _, x := range Close(r) {
		got = append(got, row{x.Candidates, math.Round(1e6*x.PredictedUS) / 1e6})
		require.Check(t, x.Kind == Lowering && strings.Contains(x.What, "--candidate"), "%s: %s", x.Kind, x.What)
	}
	want := []row{{map[int]string{0: "b"}, -1000 * 60. / 800}, {map[int]string{0: "c"}, -1000 * 60. / 800}, {map[int]string{1: "fast"}, 10}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(row{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTogether: the best of each operation, and the sum of their savings.
func TestTogether(t *testing.T) {
	one := func(op int, name string, us float64) Change {
		return Change{Kind: Lowering, Candidates: map[int]string{op: name}, PredictedUS: us}
	}
	all := Together([]Change{one(3, "a", 1), one(3, "b", 4), one(5, "c", 2)})
	if diff := cmp.Diff(map[int]string{3: "b", 5: "c"}, all.Candidates); diff != "" || all.PredictedUS != 6 {
		t.Errorf("%v us are saved, (-want +got):\n%s", all.PredictedUS, diff)
	}
}
