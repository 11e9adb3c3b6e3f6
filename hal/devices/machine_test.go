package devices_test

import (
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// phone is a machine of a preset, changed by edits.
func phone(t testing.TB, edits ...func(*soc.Config)) *devices.Machine {
	t.Helper()
	c := require.V(soc.Load("pixel4"))(t)
	for _, edit := range edits {
		edit(c)
	}
	m := require.V(devices.NewMachine(c, hal.FastSingleAnswer))(t)
	return m
}

// client executes a model on a device of a machine, again and again.
type client struct {
	prepared hal.PreparedModel
	buffers  hal.Buffers
	latency  []int64
	outputs  []uint64 // of each execution, the hash of its first output
}

var outputHashes = maphash.MakeSeed()

func newClient(t testing.TB, m *devices.Machine, device string, model *nn.Model, priority hal.Priority) *client {
	t.Helper()
	p := require.V(named(m, device).PrepareModel(model, hal.PrepareOptions{Preference: hal.FastSingleAnswer, Priority: priority}))(t)
	c := &client{prepared: p}
	for _, x := range model.Main.Inputs {
		b := make([]byte, model.Main.Operands[x].Bytes())
		for k := range b {
			b[k] = byte(k * 7)
		}
		c.buffers.Inputs = append(c.buffers.Inputs, b)
	}
	for _, x := range model.Main.Outputs {
		c.buffers.Outputs = append(c.buffers.Outputs, make([]byte, model.Main.Operands[x].Bytes()))
	}
	return c
}

// named is a machine's device.
func named(m *devices.Machine, name string) hal.Device {
	list := m.Devices()
	return list[slices.IndexFunc(list, func(d hal.Device) bool { return d.Name() == name })]
}

func (c *client) execute() error { return c.executeAs(nil) }

// executeAs executes as a client of the machine.
func (c *client) executeAs(as hal.Client) error {
	b := c.buffers
	b.Client = as
	res, err := hal.Execute(c.prepared, &b)
	if err != nil {
		return err
	}
	c.latency = append(c.latency, res.Stats.LatencyFs)
	c.outputs = append(c.outputs, maphash.Bytes(outputHashes, c.buffers.Outputs[0]))
	return nil
}

func (c *client) loop(n int) func(*devices.Client) error {
	return func(as *devices.Client) error {
		for range n {
			if err := c.executeAs(as); err != nil {
				return err
			}
		}
		return nil
	}
}

// streaming is an operation that lives from memory bandwidth.
func streaming(kind nn.OperandType, bytes uint32) *nn.Model {
	if kind == nn.TensorFloat32 {
		bytes /= 4
	}
	s := []uint32{1, bytes / 1024, 32, 32}
	o := oneOperation{op: nn.OpAdd, args: []any{s, s, 0}, out: s, kind: kind}
	return o.model()
}

func convolution(kind nn.OperandType) *nn.Model {
	o := oneOperation{op: nn.OpConv2D, args: []any{[]uint32{1, 32, 32, 32}, weights{64, 3, 3, 32}, weights{64}, nn.PaddingSame, 1, 1, 0}, out: []uint32{1, 32, 32, 64}, kind: kind}
	return o.model()
}

// TestRememberedExecutions: a machine that remembers executions reports what one that
// runs all of them reports, and gives the same tensors.
func TestRememberedExecutions(t *testing.T) {
	for _, device := range []string{"cpu", "gpu", "dsp", "npu"} {
		kind := nn.TensorQuant8Asymm
		if device == "gpu" {
			kind = nn.TensorFloat32
		}
		var got [2]string
		var runs [2]int
		for i := range got {
			m := phone(t)
			m.SimulateAll = i == 1
			c := newClient(t, m, device, convolution(kind), hal.PriorityMedium)
			for k := range 12 {
				require.NoError(t, c.execute())
				if k%4 == 3 {
					m.SoC().Sleep(m.SoC().Now() + 30*sim.Millisecond)
				}
			}
			got[i], runs[i] = fmt.Sprint(c.latency, c.outputs), m.Simulated()
		}
		require.Check(t, got[0] == got[1], "%s: remembered %.200s, simulated %.200s", device, got[0], got[1])
		require.Check(t, runs[1] == 12 && runs[0] < 6, "%s: %d and %d executions on the engine", device, runs[0], runs[1])
	}
}

// TestRememberedTraffic: the same where the governor determines the DRAM's clock: the DSP
// at its lowest point streams, with pauses.
func TestRememberedTraffic(t *testing.T) {
	var got [3]string
	var runs [3]int
	for i := range got {
		m := phone(t, func(c *soc.Config) {
			if i == 2 {
				c.DRAM.Clock.Governor = nil
			}
			c.DSP.Clock.FastMHz = c.DSP.Clock.OPPs[0].MHz
			c.SystemCache, c.GPU.SystemCache, c.DSP.SystemCache, c.NPU.SystemCache = nil, nil, nil, nil
		})
		m.SimulateAll = i == 1
		c := newClient(t, m, "dsp", streaming(nn.TensorQuant8Asymm, 4<<20), hal.PriorityMedium)
		for k := range 24 {
			if k%8 == 0 {
				m.SoC().Sleep(m.SoC().Now() + sim.Second)
			}
			require.NoError(t, c.execute())
		}
		got[i], runs[i] = fmt.Sprint(c.latency), m.Simulated()
	}
	require.Check(t, got[0] != got[2], "the governor changes nothing")
	require.Check(t, got[0] == got[1], "remembered %s, simulated %s", got[0], got[1])
	require.Check(t, runs[1] == 24 && runs[0] < 20 && runs[0] >= 3, "%d and %d executions on the engine", runs[0], runs[1])
}

// TestRememberedSystemCache: the same where executions change the contents of the system-level
// cache, which recur: two programs alternate that do not fit together.
func TestRememberedSystemCache(t *testing.T) {
	var got [2]string
	var runs [2]int
	for i := range got {
		m := phone(t)
		m.SimulateAll = i == 1
		a := newClient(t, m, "npu", fullyConnected(nn.TensorQuant8Asymm, 1024), hal.PriorityMedium)
		b := newClient(t, m, "npu", fullyConnected(nn.TensorQuant8Asymm, 2048), hal.PriorityMedium)
		for range 12 {
			for _, c := range []*client{a, b} {
				require.NoError(t, c.execute())
			}
		}
		got[i], runs[i] = fmt.Sprint(a.latency, b.latency, a.outputs, b.outputs), m.Simulated()
	}
	require.Check(t, got[0] == got[1], "remembered %.300s, simulated %.300s", got[0], got[1])
	require.Check(t, runs[1] == 24 && runs[0] < 12, "%d and %d executions on the engine", runs[0], runs[1])
}

// TestWarm: the measured execution of a warmed-up loop is that of a loop.
func TestWarm(t *testing.T) {
	m := phone(t, func(c *soc.Config) { c.GPU.Clock.Governor.UpShare, c.GPU.Clock.Governor.DownShare = 0.2, 0.1 })
	o := oneOperation{op: nn.OpConv2D, args: []any{[]uint32{1, 64, 64, 32}, weights{64, 3, 3, 32}, weights{64}, nn.PaddingSame, 1, 1, 0}, out: []uint32{1, 64, 64, 64}, kind: nn.TensorFloat32}
	model := o.model()
	c := newClient(t, m, "gpu", model, hal.PriorityMedium)
	require.NoError(t, c.execute())
	require.NoError(t, m.Warm(c.execute))
	for range 3 {
		require.NoError(t, c.execute())
	}
	require.Check(t, c.latency[0] >= c.latency[1]*11/10, "cold %d fs, warm %d fs", c.latency[0], c.latency[1])
	for _, l := range c.latency[2:] {
		if d := float64(l) / float64(c.latency[1]); d < 0.99 || d > 1.01 {
			t.Errorf("warm %d fs, then %d fs", c.latency[1], l)
		}
	}
}

// TestClientWarms: a client that has warmed up finds the clocks of its loop, below the highest on
// a GPU that works for half of the time; where it lives from bandwidth, that of the DRAM too, since
// the warm-up moves as many bytes.
func TestClientWarms(t *testing.T) {
	for name, x := range map[string]struct {
		model  *nn.Model
		slower float64 // than at the clocks of work without a pause, at least
	}{
		"convolution": {convolution(nn.TensorFloat32), 1.05},
		"streaming":   {streaming(nn.TensorFloat32, 4<<20), 0.5},
	} {
		m := phone(t)
		alone := newClient(t, m, "gpu", x.model, hal.PriorityMedium)
		require.NoError(t, m.Warm(alone.execute))
		for range 4 {
			require.NoError(t, alone.execute())
		}
		want := float64(alone.latency[len(alone.latency)-1]) / 1e9
		m = phone(t)
		c := newClient(t, m, "gpu", x.model, hal.PriorityMedium)
		warm := 0 // executions
		require.V(m.RunConcurrent(func(as *devices.Client) error {
			if err := as.Warm(func() error { return c.executeAs(as) }); err != nil {
				return err
			}
			if now := as.NowFs(); now < int64(platform.WarmUp) {
				t.Errorf("%s: warm after %d fs", name, now)
			}
			warm = len(c.latency)
			return c.loop(4)(as)
		}))(t)
		same, first := 0, float64(c.latency[0])/1e9
		for k, fs := range c.latency[warm:] {
			us := float64(fs) / 1e9
			if off := us/want - 1; off > -0.02 && off < 0.02 {
				same++
			} else if off := us/first - 1; !(off > -0.02 && off < 0.02) {
				t.Errorf("%s: execution %d takes %.1f us, %.1f in a loop, %.1f at the clocks of work without a pause", name, k, us, want, first)
			}
		}
		if same < 3 || want < x.slower*first { // the governor may go up once
			t.Errorf("%s: %d executions as in a loop, which takes %.1f us, %.1f at the clocks of work without a pause", name, same, want, first)
		}
		require.Check(t, warm >= 50 && m.Simulated() <= 5, "%s: %d executions to warm up, %d simulated in all", name, warm, m.Simulated())
	}
}

// alone and together are the mean latencies of two clients that stream, more than the
// system-level cache holds: three tensors of 1 MB, which just fit, hit or miss as the
// clients happen to meet.
func streams(t *testing.T, window sim.Time, swap bool) (alone, together [2]float64) {
	t.Helper()
	work := func(m *devices.Machine) [2]*client {
		return [2]*client{newClient(t, m, "dsp", streaming(nn.TensorQuant8Asymm, 4<<20), hal.PriorityMedium),
			newClient(t, m, "gpu", streaming(nn.TensorFloat32, 4<<20), hal.PriorityMedium)}
	}
	for i := range alone {
		m := phone(t)
		c := work(m)[i]
		require.V(m.RunConcurrent(c.loop(2)))(t)
		alone[i] = float64(c.latency[1]) / 1e9
	}
	m := phone(t)
	m.SoC().SetWindow(window)
	c := work(m)
	order := []func(*devices.Client) error{c[0].loop(7), c[1].loop(14)}
	if swap {
		slices.Reverse(order)
	}
	require.V(m.RunConcurrent(order...))(t)
	for i := range together {
		for _, fs := range c[i].latency[1:7] {
			together[i] += float64(fs) / 6e9
		}
	}
	return alone, together
}

// TestContention: a DSP that streams is slowed down by a GPU that streams; who was
// submitted first at an equal instant does not matter, nor does the window.
func TestContention(t *testing.T) {
	alone, both := streams(t, platform.DefaultWindow, false)
	t.Logf("alone %.0f us, together %.0f us", alone, both)
	require.Check(t, both[0] >= 1.01*alone[0], "the DSP takes %.0f us alone and %.0f us beside the GPU", alone[0], both[0])
	_, exact := streams(t, 0, false)
	_, swapped := streams(t, platform.DefaultWindow, true)
	for i := range both {
		for what, x := range map[string]float64{"window 0": exact[i], "swapped": swapped[i]} {
			if r := x / both[i]; r < 0.99 || r > 1.01 {
				t.Errorf("client %d: %.2f us, %s %.2f us", i, both[i], what, x)
			}
		}
	}
}

// TestTogetherIsDeterministic: executions beside each other give the tensors of
// executions alone, and the same times whenever they are repeated.
func TestTogetherIsDeterministic(t *testing.T) {
	var first string
	for range 2 {
		m := phone(t)
		var list []*client
		var run []func(*devices.Client) error
		for i, d := range []string{"dsp", "npu", "gpu", "dsp"} {
			kind := nn.TensorQuant8Asymm
			if d == "gpu" {
				kind = nn.TensorFloat32
			}
			c := newClient(t, m, d, convolution(kind), hal.PriorityMedium)
			list = append(list, c)
			run = append(run, func(as *devices.Client) error {
				as.WaitUntil(as.NowFs() + int64(i)*300e9)
				return c.loop(3)(as)
			})
		}
		ends := require.V(m.RunConcurrent(run...))(t)
		var text string
		for _, c := range list {
			text += fmt.Sprint(c.latency)
			for _, o := range c.outputs {
				require.Check(t, o == c.outputs[0], "other tensors")
			}
		}
		text += fmt.Sprint(ends)
		if first == "" {
			first = text
		} else if text != first {
			t.Errorf("%s, then %s", first, text)
		}
		require.Check(t, list[0].outputs[0] == list[3].outputs[0], "one model, two results")
	}
}

// TestPriority: of two clients that wait for an engine the one of higher priority goes
// first.
func TestPriority(t *testing.T) {
	order := func(a, b hal.Priority) (ends []sim.Time) {
		m := phone(t)
		hold := newClient(t, m, "dsp", streaming(nn.TensorQuant8Asymm, 4<<20), hal.PriorityMedium)
		x := newClient(t, m, "dsp", streaming(nn.TensorQuant8Asymm, 4<<20), a)
		y := newClient(t, m, "dsp", streaming(nn.TensorQuant8Asymm, 4<<20), b)
		later := func(c *client) func(*devices.Client) error {
			return func(as *devices.Client) error {
				as.WaitUntil(as.NowFs() + 100e9)
				return c.executeAs(as)
			}
		}
		ends = require.V(m.RunConcurrent(hold.loop(1), later(x), later(y)))(t)
		return ends
	}
	if e := order(hal.PriorityLow, hal.PriorityHigh); e[2] >= e[1] {
		t.Errorf("high priority ends at %v, low at %v", e[2], e[1])
	}
	if e := order(hal.PriorityHigh, hal.PriorityLow); e[1] >= e[2] {
		t.Errorf("high priority ends at %v, low at %v", e[1], e[2])
	}
}

// TestClientsAndThreads: threads of the host that execute without a client wait until a
// group has ended; a burst, which has no client of its own, does not stop one; a client
// cannot use fences, and only executes on its own machine.
func TestClientsAndThreads(t *testing.T) {
	m := phone(t)
	dsp := newClient(t, m, "dsp", streaming(nn.TensorQuant8Asymm, 1<<16), hal.PriorityMedium)
	npu := newClient(t, m, "npu", streaming(nn.TensorQuant8Asymm, 1<<16), hal.PriorityMedium)
	other := newClient(t, m, "dsp", streaming(nn.TensorQuant8Asymm, 1<<16), hal.PriorityMedium)
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 4 {
			require.Report(t, other.execute())
		}
	})
	burst := require.V(npu.prepared.ConfigureExecutionBurst())(t)
	defer burst.Close()
	_, err := m.RunConcurrent(dsp.loop(4), func(as *devices.Client) error {
		o := hal.ExecuteOptions{Client: as}
		if _, err := burst.Execute(npu.buffers.Request(), o); err != nil {
			return err
		}
		if _, err := npu.prepared.ExecuteFenced(npu.buffers.Request(), nil, o, 0); hal.StatusOf(err) != hal.InvalidArgument {
			t.Errorf("fenced: %v", err)
		}
		elsewhere := newClient(t, phone(t), "npu", streaming(nn.TensorQuant8Asymm, 1<<16), hal.PriorityMedium)
		if err := elsewhere.executeAs(as); hal.StatusOf(err) != hal.InvalidArgument {
			t.Errorf("on another machine: %v", err)
		}
		return nil
	})
	require.Report(t, err)
	wg.Wait()
}
