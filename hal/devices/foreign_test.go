package devices_test

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/lower"
	"github.com/nnsoc/nnsoc/hal/service"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// bareDSP is the DSP's driver as an author would make it: no host, no machine.
func bareDSP(t *testing.T, c *soc.Config, own ...lower.Operation) hal.Device {
	t.Helper()
	s := require.V(dsp.FromSoC(c, sim.Preference(hal.FastSingleAnswer)))(t)
	d, err := dspdriver.New(dspdriver.Config{
		Settings: dspdriver.Settings{Lowerings: own},
		Spec:     s, NewMemory: func() (mem.Level, error) { return c.NewEngineMemory(soc.EngineDSP) },
		SpecAt: func(o sim.OPP) (dsp.Spec, error) {
			at := s
			at.ClockHz, at.VoltageV = o.Hz, o.Volts
			return at, nil
		},
	})
	require.NoError(t, err)
	return d
}

// network is one for the DSP, with inputs.
func network(t *testing.T) (*nn.Model, *hal.Buffers) {
	t.Helper()
	m := require.V(zoo.Build("mobilenet_v1_0.25_128_quant"))(t)
	return m, buffersOf(m)
}

func buffersOf(m *nn.Model) *hal.Buffers {
	b := &hal.Buffers{}
	for _, x := range m.Main.Inputs {
		data := make([]byte, m.Main.Operands[x].Bytes())
		for i := range data {
			data[i] = byte(i * 7)
		}
		b.Inputs = append(b.Inputs, data)
	}
	for _, x := range m.Main.Outputs {
		b.Outputs = append(b.Outputs, make([]byte, m.Main.Operands[x].Bytes()))
	}
	return b
}

// partNames are the parts of an execution in order.
func partNames(s *hal.Stats) (list []string) {
	for _, p := range s.Parts {
		list = append(list, p.Name)
	}
	return list
}

// engineFs is the time of an execution on its engine.
func engineFs(s *hal.Stats) (fs int64) {
	for _, p := range s.Parts {
		if p.Name == platform.PartExecution {
			fs += p.TimeFs
		}
	}
	return fs
}

// An external driver has the path of the stock one: in process, through the service, on a
// Machine and without one, by itself and behind a separate machine.
func TestForeignTakesTheSameWay(t *testing.T) {
	c := require.V(soc.Load("pixel4"))(t)
	model, b := network(t)
	run := func(d hal.Device, times int) *hal.Result {
		t.Helper()
		p, err := d.PrepareModel(model, hal.PrepareOptions{})
		require.NoError(t, err)
		var res *hal.Result
		for range times {
			b.MeasureTiming = true
			if res, err = hal.Execute(p, b); err != nil {
				t.Fatal(err)
			}
		}
		return res
	}
	find := func(list []hal.Device) hal.Device {
		return list[slices.IndexFunc(list, func(d hal.Device) bool { return d.Name() == "dsp" })]
	}
	bare := bareDSP(t, c)
	alone := run(bare, 1)
	if len(alone.Stats.Parts) != 0 {
		t.Fatalf("a driver without a host has parts %v", partNames(&alone.Stats))
	}
	served, stop := require.V2(service.Loopback(bare))(t)
	defer stop()
	opened := require.V(devices.Open(c, hal.FastSingleAnswer))(t)
	behind, stopBehind, err := service.Loopback(find(opened)) // what "nnsoc serve" serves
	require.NoError(t, err)
	defer stopBehind()
	const times = 30 // the clocks have come to rest
	machine := func(d hal.Device) hal.Device {
		var options []devices.Option
		if d != nil {
			options = append(options, devices.Attach(d, devices.PlaceOf(c, d)))
		}
		m := require.V(devices.NewMachine(c, hal.FastSingleAnswer, options...))(t)
		if len(m.Devices()) != 4 {
			t.Fatalf("%d devices", len(m.Devices()))
		}
		return find(m.Devices())
	}
	loop := func(d hal.Device) hal.Device {
		list := require.V(devices.Open(c, hal.FastSingleAnswer, devices.Attach(d, soc.EngineDSP)))(t)
		return find(list)
	}
	want := run(machine(nil), times)
	outputs := bytes.Clone(b.Outputs[0])
	for name, d := range map[string]hal.Device{
		"attached": machine(bare), "served": machine(served), "behind a host": machine(behind),
		"opened": loop(bare), "opened, served": loop(served), "the stock driver, opened": find(opened),
	} {
		clear(b.Outputs[0])
		got := run(d, times)
		require.Check(t, bytes.Equal(b.Outputs[0], outputs), "%s: other outputs", name)
		require.Equal(t, partNames(&want.Stats), partNames(&got.Stats), name, "parts")
		// What differs is the memory, which is cold: the engine's own time.
		way := func(s *hal.Stats) float64 { return float64(s.LatencyFs - engineFs(s)) }
		if r := way(&got.Stats) / way(&want.Stats); !(math.Abs(r-1) <= 0.01) {
			t.Errorf("%s: the way takes %.3f of the stock driver's", name, r)
		}
		if r := float64(engineFs(&got.Stats)) / float64(engineFs(&want.Stats)); !(math.Abs(r-1) <= 0.1) {
			t.Errorf("%s: the engine takes %.3f of the stock driver's", name, r)
		}
		if r := got.Stats.EnergyPJ / want.Stats.EnergyPJ; !(math.Abs(r-1) <= 0.05) {
			t.Errorf("%s: energy %.3f of the stock driver's", name, r)
		}
		require.Check(t, got.Timing != hal.NoTiming && got.Timing.InDriver >= got.Timing.OnDevice, "%s: timing %+v", name, got.Timing)
		var cycles int64
		for _, s := range got.Stats.Stalls {
			cycles += s.Cycles
		}
		require.Check(t, cycles == got.Stats.Cycles, "%s: stalls add up to %d of %d cycles", name, cycles, got.Stats.Cycles)
	}
}

// Concurrent callers find the engine busy and wait for it; a single one never does.
func TestOpenQueues(t *testing.T) {
	list := require.V(devices.Open(loadPhone(t), hal.FastSingleAnswer))(t)
	for _, d := range list[1:] {
		kind := nn.TensorQuant8Asymm
		if d.Name() == "gpu" {
			kind = nn.TensorFloat32
		}
		openQueues(t, d, convolution(kind))
	}
}

func openQueues(t *testing.T, d hal.Device, model *nn.Model) {
	t.Helper()
	p := require.V(d.PrepareModel(model, hal.PrepareOptions{}))(t)
	alone, wake := int64(0), int64(0)
	for range 3 {
		res := require.V(hal.Execute(p, buffersOf(model)))(t)
		if slices.Contains(partNames(&res.Stats), platform.PartQueue) {
			t.Fatalf("%s: a caller alone waits for the engine", d.Name())
		}
		alone = engineFs(&res.Stats)
		if i := slices.IndexFunc(res.Stats.Parts, func(p hal.Part) bool { return p.Name == platform.PartWake }); i >= 0 {
			wake = res.Stats.Parts[i].TimeFs // the first caller's, for all
		}
	}
	const callers = 4
	// All have called when the first may continue.
	var called, done sync.WaitGroup
	called.Add(callers)
	var mu sync.Mutex
	var waits []int64
	for range callers {
		done.Go(func() {
			b := buffersOf(model)
			b.Trace = meet{sync.OnceFunc(func() { called.Done(); called.Wait() })}
			res, err := hal.Execute(p, b)
			if err != nil {
				t.Error(err)
				return
			}
			var wait int64
			for _, x := range res.Stats.Parts {
				if x.Name == platform.PartQueue {
					wait += x.TimeFs
				}
			}
			mu.Lock()
			defer mu.Unlock()
			waits = append(waits, wait)
		})
	}
	done.Wait()
	slices.Sort(waits)
	for i, w := range waits {
		want := int64(i) * alone
		if i > 0 {
			want += wake
		}
		if !(math.Abs(float64(w-want)) <= 0.02*float64(alone)) {
			t.Errorf("%s: caller %d waits %d fs, want %d executions of %d", d.Name(), i, w, i, alone)
		}
	}
}

// meet is a tracer that calls a function at the first span. It implements hal.Tracer.
type meet struct{ f func() }

// Span implements hal.Tracer.
func (m meet) Span(hal.Span) { m.f() }

// teller is a driver that reports given costs of its executions.
type teller struct {
	hal.Device
	costs func(*hal.Stats)
}

func (d *teller) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	p, err := d.Device.PrepareModel(m, o)
	return &tellerModel{p, d}, err
}

type tellerModel struct {
	hal.PreparedModel
	d *teller
}

func (p *tellerModel) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	res, err := p.PreparedModel.Execute(r, o)
	if err == nil {
		p.d.costs(&res.Stats)
	}
	return res, err
}

// Costs that are none, or do not add up, fail an execution of a driver from outside: they would pass on to times, energies and rails.
func TestForeignCosts(t *testing.T) {
	c := require.V(soc.Load("pixel4"))(t)
	model, b := network(t)
	for _, x := range []struct {
		want  string // part of the error; "" is none
		costs func(*hal.Stats)
	}{
		{"", func(*hal.Stats) {}},
		{"", func(s *hal.Stats) { *s = hal.Stats{} }}, // a driver without a timing model
		{"a latency of -1 fs", func(s *hal.Stats) { s.LatencyFs = -1 }},
		{"a latency of 9223372036854775807 fs", func(s *hal.Stats) { s.LatencyFs = math.MaxInt64 }},
		{"-1 launches", func(s *hal.Stats) { s.Launches = -1 }},
		{"2147483647 launches", func(s *hal.Stats) { s.Launches = math.MaxInt32 }},
		{"an energy of NaN pJ", func(s *hal.Stats) { s.EnergyPJ = math.NaN() }},
		{"an energy of +Inf pJ", func(s *hal.Stats) { s.EnergyPJ = math.Inf(1) }},
		{"an energy of -1 pJ", func(s *hal.Stats) { s.EnergyPJ = -1 }},
		{"clock -1 Hz", func(s *hal.Stats) { s.ClockHz = -1 }},
		{"ReadBytes:-1", func(s *hal.Stats) { s.Memory.ReadBytes = -1 }},
		{"costs of operation 99 of", func(s *hal.Stats) { s.Operations[0].Index = 99 }},
		{"costs of operation -3 of", func(s *hal.Stats) { s.Operations[0].Index = -3 }},
		{"a cost below 0: -1 fs", func(s *hal.Stats) { s.Operations[0].TimeFs = -1 }},
		{"NaN pJ", func(s *hal.Stats) { s.Operations[0].EnergyPJ = math.NaN() }},
		{"-1 multiply-accumulates", func(s *hal.Stats) { s.Operations[0].MACs = -1 }},
		{"-1 bytes of DRAM", func(s *hal.Stats) { s.Operations[0].DRAMBytes = -1 }},
		{"move 2^63 bytes", func(s *hal.Stats) {
			s.Operations[0].DRAMBytes, s.Operations[1].DRAMBytes = math.MaxInt64, math.MaxInt64
		}},
		{"operations up to", func(s *hal.Stats) { s.Operations[0].TimeFs = math.MaxInt64 }},
		{"sum over operations is", func(s *hal.Stats) { s.LatencyFs++ }},
		{"energy of operations", func(s *hal.Stats) { s.EnergyPJ *= 2 }},
		{"stalls", func(s *hal.Stats) { s.Stalls[0].Cycles++ }},
		{"sum over stalls", func(s *hal.Stats) { s.Stalls = nil }},
		{"sum over stalls", func(s *hal.Stats) { s.Operations[0].Stalls = nil }},
		{`is bound by "luck"`, func(s *hal.Stats) { s.Operations[0].BoundBy = "luck" }},
		{"part x:", func(s *hal.Stats) { s.Parts = []hal.Part{{Name: "x", TimeFs: -1}} }},
		{"sum over parts is", func(s *hal.Stats) { s.Parts = []hal.Part{{Name: "x"}} }},
		{"energy of parts: NaN", func(s *hal.Stats) { s.Parts = []hal.Part{{Name: "x", TimeFs: s.LatencyFs, EnergyPJ: math.NaN()}} }},
		{"energy of components", func(s *hal.Stats) { s.Components = []hal.ComponentEnergy{{Name: "x", EnergyPJ: math.NaN()}} }},
	} {
		m := require.V(devices.NewMachine(c, hal.FastSingleAnswer, devices.Attach(&teller{bareDSP(t, c), x.costs}, soc.EngineDSP)))(t)
		d := m.Devices()[slices.IndexFunc(m.Devices(), func(d hal.Device) bool { return d.Name() == "dsp" })]
		p := require.V(d.PrepareModel(model, hal.PrepareOptions{}))(t)
		if _, err := hal.Execute(p, b); (err == nil) != (x.want == "") || err != nil && (hal.StatusOf(err) != hal.GeneralFailure || !strings.Contains(err.Error(), x.want)) {
			t.Errorf("%v, want %q", err, x.want)
		}
	}
}
