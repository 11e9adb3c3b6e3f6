package devices_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/service"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// counting is while x < limit { x = x + 1 }.
func counting(limit float32) *nn.Model {
	value := func(l nn.Lifetime) nn.Operand {
		return nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{1}, Lifetime: l}
	}
	number := func(v float32) nn.Operand {
		o := value(nn.ConstantCopy)
		o.Data = binary.LittleEndian.AppendUint32(nil, math.Float32bits(v))
		return o
	}
	ref := nn.SubgraphOperand
	in, out := value(nn.SubgraphInput), value(nn.SubgraphOutput)
	less := nn.Operand{Type: nn.TensorBool8, Dimensions: []uint32{1}, Lifetime: nn.SubgraphOutput}
	linear := nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: make([]byte, 4)}
	return &nn.Model{
		Main: nn.Subgraph{Operands: []nn.Operand{in, ref(0), ref(1), out}, Inputs: []uint32{0}, Outputs: []uint32{3},
			Operations: []nn.Operation{{Type: nn.OpWhile, Inputs: []uint32{1, 2, 0}, Outputs: []uint32{3}}}},
		Referenced: []nn.Subgraph{
			{Operands: []nn.Operand{in, number(limit), less}, Inputs: []uint32{0}, Outputs: []uint32{2},
				Operations: []nn.Operation{{Type: nn.OpLess, Inputs: []uint32{0, 1}, Outputs: []uint32{2}}}},
			{Operands: []nn.Operand{in, number(1), linear, out}, Inputs: []uint32{0}, Outputs: []uint32{3},
				Operations: []nn.Operation{{Type: nn.OpAdd, Inputs: []uint32{0, 1, 2}, Outputs: []uint32{3}}}},
		},
	}
}

// branching is if condition { counting } else { x + 1 }, of inputs x and condition.
func branching(limit float32) *nn.Model {
	m := counting(limit)
	ref := nn.SubgraphOperand
	loop := m.Main
	in, out := loop.Operands[0], loop.Operands[3]
	condition := nn.Operand{Type: nn.TensorBool8, Dimensions: []uint32{1}, Lifetime: nn.SubgraphInput}
	m.Main = nn.Subgraph{Operands: []nn.Operand{in, condition, ref(2), ref(1), out}, Inputs: []uint32{0, 1}, Outputs: []uint32{4},
		Operations: []nn.Operation{{Type: nn.OpIf, Inputs: []uint32{1, 2, 3, 0}, Outputs: []uint32{4}}}}
	m.Referenced = append(m.Referenced, loop)
	return m
}

// TestStoppedInBurst: executions of bursts stop at their deadlines as others do, and so does a loop in a branch.
func TestStoppedInBurst(t *testing.T) {
	for _, burst := range []bool{false, true} {
		for _, model := range []*nn.Model{counting(1e7), branching(1e7)} {
			m := phone(t)
			c := newClient(t, m, "gpu", model, hal.PriorityMedium)
			for _, x := range c.buffers.Inputs {
				clear(x)
			}
			if len(c.buffers.Inputs) > 1 {
				c.buffers.Inputs[1][0] = 1
			}
			execute := c.prepared.Execute
			if burst {
				b := require.V(c.prepared.ConfigureExecutionBurst())(t)
				execute = b.Execute
			}
			const after = 4 * sim.Millisecond
			deadline := m.Devices()[0].Now().Add(time.Duration(after / sim.Nanosecond))
			b := c.buffers
			b.Deadline = &deadline
			from := m.SoC().Now()
			if _, err := execute(b.Request(), b.ExecuteOptions); hal.StatusOf(err) != hal.MissedDeadlineTransient {
				t.Errorf("%s, burst %v: %v", model.Main.Operations[0].Type, burst, err)
			}
			if took := m.SoC().Now() - from; took < after || took > after+5*sim.Millisecond {
				t.Errorf("%s, burst %v: it took %.1f us of %.1f", model.Main.Operations[0].Type, burst, took.Microseconds(), after.Microseconds())
			}
		}
	}
}

// halfway is the time of the first execution on a phone until its engine has done half of its work.
func halfway(t *testing.T, device string, model *nn.Model) (after sim.Time) {
	t.Helper()
	c := newClient(t, phone(t), device, model, hal.PriorityMedium)
	res := require.V(hal.Execute(c.prepared, &c.buffers))(t)
	for _, p := range res.Stats.Parts {
		if p.Name == platform.PartExecution {
			return after + sim.Time(p.TimeFs/2)
		}
		after += sim.Time(p.TimeFs)
	}
	return after
}

// TestStoppedAtDeadline: an engine stops an execution at its deadline, so that the host does not simulate the rest: of a loop
// of ten million rounds too. It lasts until then, is not kept for reuse, and the next execution runs and is right.
func TestStoppedAtDeadline(t *testing.T) {
	for _, x := range []struct {
		device  string
		model   *nn.Model
		endless bool
	}{
		{"gpu", counting(1e7), true},
		{"gpu", convolution(nn.TensorFloat32), false}, {"dsp", convolution(nn.TensorQuant8Asymm), false}, {"npu", convolution(nn.TensorQuant8Asymm), false},
	} {
		m := phone(t)
		c := newClient(t, m, x.device, x.model, hal.PriorityMedium)
		if x.endless {
			clear(c.buffers.Inputs[0])
		}
		missed := func(after sim.Time) {
			t.Helper()
			deadline := m.Devices()[0].Now().Add(time.Duration(after / sim.Nanosecond))
			b := c.buffers
			b.Deadline = &deadline
			from := m.SoC().Now()
			if _, err := hal.Execute(c.prepared, &b); hal.StatusOf(err) != hal.MissedDeadlineTransient {
				t.Errorf("%s: %v", x.device, err)
			}
			if took := m.SoC().Now() - from; took < after || took > after+5*sim.Millisecond {
				t.Errorf("%s: it took %.1f us of %.1f", x.device, took.Microseconds(), after.Microseconds())
			}
			if now := m.Devices()[0].Now(); now != deadline {
				t.Errorf("%s: the devices' clock is at %d, the deadline was %d", x.device, now, deadline)
			}
		}
		if x.endless {
			missed(4 * sim.Millisecond)
			missed(6 * sim.Millisecond)
			continue
		}
		missed(halfway(t, x.device, x.model))
		first := m.Simulated()
		m.Reset()
		require.NoError(t, c.execute())
		if n := m.Simulated(); n != first+1 {
			t.Errorf("%s: %d executions ran, then %d", x.device, first, n)
		}
	}
}

// watched is a driver whose executions are watched: whether one has written outputs.
type watched struct {
	hal.Device
	wrote bool
}

func (d *watched) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	p, err := d.Device.PrepareModel(m, o)
	return &watchedModel{p, d}, err
}

type watchedModel struct {
	hal.PreparedModel
	device *watched
}

func (p *watchedModel) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	res, err := p.PreparedModel.Execute(r, o)
	_, outputs, failed := r.Buffers()
	p.device.wrote = p.device.wrote || failed != nil || bytes.Count(outputs[0], []byte{0xa5}) < len(outputs[0])
	return res, err
}

// TestStoppedWithoutAMachine: engines stop at deadlines on the devices of Open, on served drivers, and on external ones of a
// machine; a deadline that is met changes nothing.
func TestStoppedWithoutAMachine(t *testing.T) {
	c := require.V(soc.Load("pixel4"))(t)
	open := func(name string, options ...devices.Option) hal.Device {
		list := require.V(devices.Open(c, hal.FastSingleAnswer, options...))(t)
		return list[slices.IndexFunc(list, func(d hal.Device) bool { return d.Name() == name })]
	}
	serve := func(d hal.Device) hal.Device {
		there, stop := require.V2(service.Loopback(d))(t)
		t.Cleanup(stop)
		return there
	}
	for name, kind := range map[string]nn.OperandType{"gpu": nn.TensorFloat32, "dsp": nn.TensorQuant8Asymm, "npu": nn.TensorQuant8Asymm} {
		model := convolution(kind)
		engine, _ := soc.EngineNamed(name)
		for where, make := range map[string]func(w *watched) hal.Device{
			"opened":         func(w *watched) hal.Device { return w },
			"opened cold":    func(w *watched) hal.Device { w.Device = open(name, devices.Cold()); return w },
			"served":         func(w *watched) hal.Device { return serve(w) },
			"served, opened": func(w *watched) hal.Device { return open(name, devices.Attach(serve(w), engine)) },
			"served, on a machine": func(w *watched) hal.Device {
				m := require.V(devices.NewMachine(c, hal.FastSingleAnswer, devices.Attach(serve(w), engine)))(t)
				return named(m, name)
			},
		} {
			w := &watched{Device: open(name)}
			d := make(w)
			p, err := d.PrepareModel(model, hal.PrepareOptions{Preference: hal.FastSingleAnswer})
			require.NoError(t, err)
			b := buffersOf(model)
			execute := func(after int64) (*hal.Result, error) {
				for i := range b.Outputs[0] {
					b.Outputs[0][i] = 0xa5
				}
				w.wrote, b.Deadline = false, nil
				if after > 0 {
					deadline := d.Now().Add(time.Duration(after / 1e6))
					b.Deadline = &deadline
				}
				return hal.Execute(p, b)
			}
			var whole *hal.Result
			for range 20 { // the clocks of a machine have come to rest
				if whole, err = execute(0); err != nil {
					t.Fatal(err)
				}
				if where != "served, on a machine" {
					break
				}
			}
			outputs := bytes.Clone(b.Outputs[0])
			_, err = execute(engineFs(&whole.Stats) / 32)
			require.Check(t, hal.StatusOf(err) == hal.MissedDeadlineTransient, "%s %s: %v", name, where, err)
			require.Check(t, !w.wrote, "%s %s: the engine went on behind the deadline", name, where)
			if now := d.Now(); now != *b.Deadline {
				t.Errorf("%s %s: the clock is at %d, the deadline was %d", name, where, now, *b.Deadline)
			}
			if _, err = execute(whole.Stats.LatencyFs - engineFs(&whole.Stats)/4); hal.StatusOf(err) != hal.MissedDeadlineTransient {
				t.Errorf("%s %s, three quarters: %v", name, where, err)
			}
			got, err := execute(whole.Stats.LatencyFs * 11 / 10)
			if err != nil || !bytes.Equal(b.Outputs[0], outputs) {
				t.Errorf("%s %s, a deadline that is met: %v", name, where, err)
				continue
			}
			if r := float64(got.Stats.LatencyFs) / float64(whole.Stats.LatencyFs); !(math.Abs(r-1) <= 0.02) {
				t.Errorf("%s %s: with a deadline that is met %.3f of the time", name, where, r)
			}
		}
	}
}

// TestLoopTimeoutCostsItsTime: a loop is stopped at the end of its time within its body, as at a deadline, and the machine and the
// devices' clock have gone on until then.
func TestLoopTimeoutCostsItsTime(t *testing.T) {
	const limit = 3 * sim.Millisecond
	for _, device := range []string{"cpu", "gpu"} {
		m := phone(t)
		c := newClient(t, m, device, counting(1e7), hal.PriorityMedium)
		clear(c.buffers.Inputs[0])
		b := c.buffers
		b.LoopTimeout = time.Duration(limit / sim.Nanosecond)
		opened := require.V(devices.Open(loadPhone(t), hal.FastSingleAnswer))(t)
		alone := opened[slices.IndexFunc(opened, func(d hal.Device) bool { return d.Name() == device })]
		p := require.V(alone.PrepareModel(counting(1e7), hal.PrepareOptions{}))(t)
		for where, x := range map[string]struct {
			hal.Device
			hal.PreparedModel
		}{"machine": {named(m, device), c.prepared}, "opened": {alone, p}} {
			from := x.Now()
			if _, err := hal.Execute(x.PreparedModel, &b); hal.StatusOf(err) != hal.MissedDeadlineTransient {
				t.Errorf("%s, %s: %v", device, where, err)
			}
			if took := sim.Time(x.Now()-from) * sim.Nanosecond; took < limit || took > limit+5*sim.Millisecond {
				t.Errorf("%s, %s: it took %.1f us of %.1f", device, where, took.Microseconds(), limit.Microseconds())
			}
		}
		if now := m.SoC().Now(); now < limit || now > limit+5*sim.Millisecond {
			t.Errorf("%s: the machine is at %.1f us", device, now.Microseconds())
		}
	}
}

// TestLoopStopsInItsBody: the engine stops at the end of a loop's time, not where a round ends.
func TestLoopStopsInItsBody(t *testing.T) {
	m := phone(t)
	c := newClient(t, m, "gpu", counting(1e7), hal.PriorityMedium)
	clear(c.buffers.Inputs[0])
	b := c.buffers
	var way []sim.Time
	for _, us := range []time.Duration{1, 31, 77} { // a round lasts more than 5
		m.Reset()
		b.LoopTimeout = us * time.Microsecond
		if _, err := hal.Execute(c.prepared, &b); hal.StatusOf(err) != hal.MissedDeadlineTransient {
			t.Fatal(err)
		}
		way = append(way, m.SoC().Now()-sim.Time(us)*sim.Microsecond)
	}
	if slices.Max(way)-slices.Min(way) > sim.Microsecond {
		t.Errorf("beside the limit of the loop executions take %v fs, not the same time", way)
	}
}
