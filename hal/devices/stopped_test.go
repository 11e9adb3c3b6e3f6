package devices_test

import (
	"encoding/binary"
	"math"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim"
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
	ref := func(k byte) nn.Operand {
		return nn.Operand{Type: nn.SubgraphRef, Lifetime: nn.LifetimeSubgraph, Data: []byte{k, 0, 0, 0}}
	}
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
	ref := func(k byte) nn.Operand {
		return nn.Operand{Type: nn.SubgraphRef, Lifetime: nn.LifetimeSubgraph, Data: []byte{k, 0, 0, 0}}
	}
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
				b, err := c.prepared.ConfigureExecutionBurst()
				if err != nil {
					t.Fatal(err)
				}
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
	res, err := hal.Execute(c.prepared, &c.buffers)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range res.Stats.Parts {
		if p.Name == soc.PartExecution {
			return after + sim.Time(p.TimeFs/2)
		}
		after += sim.Time(p.TimeFs)
	}
	return after
}

// TestStoppedAtDeadline: what an engine has not ended at the deadline it stops, so that the host does not simulate the rest: of a loop
// of ten million rounds too. It takes the time until then, is not remembered, and the next execution runs and is right.
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
		if err := c.execute(); err != nil {
			t.Fatal(err)
		}
		if n := m.Simulated(); n != first+1 {
			t.Errorf("%s: %d executions ran, then %d", x.device, first, n)
		}
	}
}
