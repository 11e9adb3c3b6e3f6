package devices_test

import (
	"math"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/service"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Clocks that no machine has are refused by every device, in process and as a service; a clock of
// another kind of engine is none of its own.
func TestClocksOfClients(t *testing.T) {
	c := require.V(soc.Load("pixel4"))(t)
	list := require.V(devices.Open(c, hal.FastSingleAnswer))(t)
	good := hal.ClockPoint{Hz: 500_000_000, Volts: 0.8}
	with := func(edit func(*hal.ClockPoint)) hal.ClockPoint { p := good; edit(&p); return p }
	for i, d := range list {
		b := builder.New(builder.Config{Format: []builder.Format{builder.Float32, builder.Float32, builder.Quant8, builder.Quant8}[i]})
		x := b.Values("x", 1, 8)
		b.Output(b.Add(x, x, builder.NoActivation), "y")
		m := require.V(b.Model("twice"))(t)
		there, stop := require.V2(service.Loopback(d))(t)
		defer stop()
		for _, d := range []hal.Device{d, there} {
			p := require.V(d.PrepareModel(m, hal.PrepareOptions{}))(t)
			run := func(clock ...hal.ClockPoint) (*hal.Result, error) {
				b := buffersOf(m)
				b.EngineOnly, b.Clock = true, clock
				return hal.Execute(p, b)
			}
			fast := require.V(run(with(func(p *hal.ClockPoint) { p.Hz *= 2 })))(t, d.Name())
			slow, err := run(good)
			if err != nil || len(slow.Stats.Parts) != 0 {
				t.Fatalf("%s: %v, parts %v", d.Name(), err, partNames(&slow.Stats))
			}
			if d.Type() != hal.DeviceCPU && slow.Stats.LatencyFs <= fast.Stats.LatencyFs {
				t.Errorf("%s: %d fs at 500 MHz, %d at 1 GHz", d.Name(), slow.Stats.LatencyFs, fast.Stats.LatencyFs)
			}
			for _, bad := range [][]hal.ClockPoint{
				{with(func(p *hal.ClockPoint) { p.Hz = 0 })}, {with(func(p *hal.ClockPoint) { p.Hz = -1 })},
				{with(func(p *hal.ClockPoint) { p.Hz = math.MaxInt64 })}, {with(func(p *hal.ClockPoint) { p.Volts = math.NaN() })},
				{with(func(p *hal.ClockPoint) { p.Cluster = 1 << 30 })}, {with(func(p *hal.ClockPoint) { p.AtFs = 5 })},
				{good, with(func(p *hal.ClockPoint) { p.AtFs = 7 }), with(func(p *hal.ClockPoint) { p.AtFs = 6 })},
				make([]hal.ClockPoint, 1<<13),
			} {
				if _, err := run(bad...); hal.StatusOf(err) != hal.InvalidArgument {
					t.Errorf("%s takes the clock %.80v: %v", d.Name(), bad, err)
				}
			}
		}
	}
}

// compiling is a driver that compiles for 3 ms of its own clock.
type compiling struct {
	hal.Device
	now hal.TimePoint
}

func (d *compiling) Now() hal.TimePoint { return d.now }

func (d *compiling) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	d.now = d.now.Add(3 * time.Millisecond)
	return d.Device.PrepareModel(m, o)
}

// The time that a driver from outside compiles passes on the machine's clock.
func TestForeignCompiles(t *testing.T) {
	c := require.V(soc.Load("pixel4"))(t)
	m := require.V(devices.NewMachine(c, hal.FastSingleAnswer))(t)
	d := m.Foreign(&compiling{bareDSP(t, c), 1e15}, soc.EngineDSP)
	before := d.Now()
	model, _ := network(t)
	_, err := d.PrepareModel(model, hal.PrepareOptions{})
	require.NoError(t, err)
	if took := d.Now() - before; took != 3e6 {
		t.Errorf("preparing takes %d ns, want 3 ms", took)
	}
}
