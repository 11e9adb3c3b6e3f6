package devices_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/sim/soc"
)

func outliner(t *testing.T) *devices.Outliner {
	t.Helper()
	config := require.V(soc.Load("pixel4"))(t)
	o := require.V(devices.NewOutliner(config, hal.FastSingleAnswer))(t)
	return o
}

// TestOutlineTakesClocks: the outline of a GPU runs each work at the clock of its beginning, that
// of a DSP at the clock of the start.
func TestOutlineTakesClocks(t *testing.T) {
	const millisecond = int64(sim.Millisecond)
	for device, want := range map[string][]int64{
		// The governor decides every 5 ms and goes up in the execution: the first point has
		// work for 2 + 2 + 2 ms, and the work that begins then has a second point.
		"gpu": {257, 345, 427},
		"dsp": {1190},
	} {
		o := outliner(t)
		var asked []int64
		load := devices.Load{At: func(hz, _ int64) ([]devices.Work, error) {
			if mhz := hz / 1e6; len(asked) == 0 || asked[len(asked)-1] != mhz { // else the DRAM's has changed
				asked = append(asked, mhz)
			}
			took := 2 * sim.Millisecond
			if hz > 257e6 {
				took = sim.Millisecond
			}
			return slices.Repeat([]devices.Work{{Time: took, Cycles: int64(took.Seconds() * float64(hz)), EnergyPJ: 1}}, 12), nil
		}}
		m := require.V(o.New(func(string, *nn.Model) (devices.Load, error) { return load, nil }, false))(t)
		c := newClient(t, m, device, convolution(nn.TensorQuant8Asymm), hal.PriorityMedium)
		res := require.V(hal.Execute(c.prepared, &c.buffers))(t)
		require.Check(t, fmt.Sprint(asked) == fmt.Sprint(want), "%s: asked for %v MHz, want %v", device, asked, want)
		took := int64(0)
		for _, p := range res.Stats.Parts {
			if p.Name == platform.PartExecution {
				took += p.TimeFs
			}
		}
		full := 12 * millisecond // at any clock but the GPU's lowest
		if device == "gpu" {     // three pieces there: the change comes 50 us behind the decision
			full = (3*2 + 9) * millisecond
		}
		require.Same(t, full, took, device, "fs")
	}
}

// TestOutlineMoves: the traffic of an outline drives the governor of the DRAM as an execution
// would, and work has its time at the resulting clock of the DRAM.
func TestOutlineMoves(t *testing.T) {
	o := outliner(t)
	run := func(bytesPerSecond float64, held int64, beside bool) (asked []int64, stats *hal.Stats) {
		load := devices.Load{At: func(_, memoryHz int64) ([]devices.Work, error) {
			asked = append(asked, memoryHz/1e6)
			const took = 100 * sim.Microsecond
			return slices.Repeat([]devices.Work{{Time: took, Cycles: 25700, DRAMBytes: int64(bytesPerSecond * took.Seconds())}}, 600), nil
		}}
		m, err := o.New(func(string, *nn.Model) (devices.Load, error) { return load, nil }, false)
		require.NoError(t, err)
		require.NoError(t, m.PinClock("gpu", 257e6))
		require.NoError(t, m.PinMemoryClock(held))
		c := newClient(t, m, "gpu", convolution(nn.TensorQuant8Asymm), hal.PriorityMedium)
		var res *hal.Result
		if beside {
			_, err = m.RunConcurrent(func(as *devices.Client) (err error) {
				c.buffers.Client = as
				res, err = hal.Execute(c.prepared, &c.buffers)
				return err
			})
		} else {
			res, err = hal.Execute(c.prepared, &c.buffers)
		}
		require.NoError(t, err)
		return asked, &res.Stats
	}
	vote, top := int64(451e6), int64(1804e6)
	for _, x := range []struct {
		bytesPerSecond float64
		held           int64
		highest        int64
		several        bool
	}{
		{0, 0, vote, false}, // nothing but the GPU's vote
		{20e9, 0, top, true},
		{20e9, 768e6, 768e6, false},
	} {
		if asked, _ := run(x.bytesPerSecond, x.held, true); slices.Max(asked)*1e6 != x.highest || len(asked) > 1 != x.several {
			t.Errorf("%v bytes/s of a client: the DRAM at %v MHz", x.bytesPerSecond, asked)
		}
		asked, stats := run(x.bytesPerSecond, x.held, false)
		if highest := slices.Max(asked) * 1e6; highest != x.highest || len(asked) > 1 != x.several || stats.Memory.HighestHz/1e6 != highest/1e6 {
			t.Errorf("%v bytes/s: the DRAM at %v MHz, at most %d Hz", x.bytesPerSecond, asked, stats.Memory.HighestHz)
		}
	}
}

// TestOutlineContends: work that waits for the DRAM takes longer beside another engine that moves bytes, by that engine's
// share of the bandwidth; work that computes does not, nor does any beside an engine that moves nothing.
func TestOutlineContends(t *testing.T) {
	const works, took = 30, 100 * sim.Microsecond
	run := func(waits, bytesPerSecond float64) float64 {
		load := func(device string, _ *nn.Model) (devices.Load, error) {
			w := devices.Work{Time: took, Cycles: 25700, Waits: waits}
			n := works
			if device == "npu" { // at work for as long as the GPU at least
				w.Waits, w.DRAMBytes, n = 0, int64(bytesPerSecond*took.Seconds()), 20*works
			}
			return devices.Load{At: func(int64, int64) ([]devices.Work, error) { return slices.Repeat([]devices.Work{w}, n), nil }}, nil
		}
		m := require.V(outliner(t).New(load, false))(t)
		require.NoError(t, m.PinMemoryClock(1804e6))
		npu, gpu := newClient(t, m, "npu", convolution(nn.TensorQuant8Asymm), hal.PriorityMedium), newClient(t, m, "gpu", convolution(nn.TensorQuant8Asymm), hal.PriorityMedium)
		var stats hal.Stats
		require.V(m.RunConcurrent(
			func(as *devices.Client) error { return npu.executeAs(as) },
			func(as *devices.Client) error {
				as.WaitUntil(int64(5 * sim.Millisecond)) // the NPU is at work
				gpu.buffers.Client = as
				res, err := hal.Execute(gpu.prepared, &gpu.buffers)
				if err == nil {
					stats = res.Stats
				}
				return err
			}))(t)
		for _, p := range stats.Parts {
			if p.Name == platform.PartExecution {
				return float64(p.TimeFs) / float64(works*took)
			}
		}
		t.Fatal("no execution")
		return 0
	}
	for _, x := range []struct{ waits, bytesPerSecond, want float64 }{
		{0.5, 0, 1},
		{0, 14.4e9, 1},
		{0.5, 14.4e9, 1.5}, // half of 28.9 GB/s: waits are twice as long
		{1, 14.4e9, 2},
		{1, 100e9, 10}, // no longer than that
	} {
		got := run(x.waits, x.bytesPerSecond)
		require.Check(t, math.Abs(got-x.want) < 0.03*x.want, "waits %v beside %v bytes/s: %.3f times as long, want %v", x.waits, x.bytesPerSecond, got, x.want)
	}
}

// TestHoldRefuses: only a point of an engine with one clock is held, and one of the DRAM.
func TestHoldRefuses(t *testing.T) {
	m := phone(t)
	for device, hz := range map[string]int64{"gpu": 1, "cpu": 825e6, "toaster": 257e6} {
		require.Check(t, m.PinClock(device, hz) != nil, "%s at %d Hz is held", device, hz)
	}
	require.Fails(t, m.PinMemoryClock(1), "the DRAM at 1 Hz is held")
	require.Report(t, m.PinClock("gpu", 257e6))
}
