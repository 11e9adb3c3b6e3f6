package devices_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// layers is a network of convolutions one after the other, whose values stay apart.
func layers(kind nn.OperandType, n int) *nn.Model {
	shape := []uint32{1, 32, 32, 32}
	o := oneOperation{op: nn.OpConv2D, args: []any{shape, weights{32, 3, 3, 32}, weights{32}, nn.PaddingSame, 1, 1, 0}, out: shape, kind: kind}
	m := o.model()
	for range n - 1 {
		next := o.model()
		// Its operands lie behind; its input is the output before.
		first, input, output := uint32(len(m.Main.Operands)), next.Main.Inputs[0], m.Main.Outputs[0]
		at := func(list []uint32) (moved []uint32) {
			for _, x := range list {
				if x == input {
					moved = append(moved, output)
				} else {
					moved = append(moved, first+x)
				}
			}
			return moved
		}
		next.Main.Operands[input] = nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: make([]byte, 4)} // unused
		m.Main.Operands = append(m.Main.Operands, next.Main.Operands...)
		m.Main.Operands[output].Lifetime = nn.TemporaryVariable
		op := next.Main.Operations[0]
		m.Main.Operations = append(m.Main.Operations, nn.Operation{Type: op.Type, Inputs: at(op.Inputs), Outputs: at(op.Outputs)})
		m.Main.Outputs = at(next.Main.Outputs)
	}
	for _, op := range m.Main.Operations {
		x, w, bias, y := &m.Main.Operands[op.Inputs[0]], &m.Main.Operands[op.Inputs[1]], &m.Main.Operands[op.Inputs[2]], &m.Main.Operands[op.Outputs[0]]
		clear(w.Data)
		clear(bias.Data)
		for out := range 32 { // each channel is another, doubled
			at := (out*9+4)*32 + (out*5+3)%32
			if kind == nn.TensorFloat32 {
				binary.LittleEndian.PutUint32(w.Data[4*at:], math.Float32bits(2))
			} else {
				w.Data[at] = 4
			}
		}
		if kind != nn.TensorFloat32 {
			y.Scale = x.Scale * 2
			bias.Scale = x.Scale * w.Scale
		}
	}
	return m
}

// TestPreemption: a short network of high priority waits for an operation of a long one of
// low priority on its engine, and not for the rest of it; both give the tensors that they
// give alone, the long one is longer by the time of the other, and a repetition reports
// the same.
func TestPreemption(t *testing.T) {
	for device, n := range map[string]int{"cpu": 12, "gpu": 12, "dsp": 60, "npu": 60} {
		kind := nn.TensorQuant8Asymm
		if device == "gpu" {
			kind = nn.TensorFloat32
		}
		part := func(s *hal.Stats, names ...string) (fs int64) {
			for _, p := range s.Parts {
				for _, name := range names {
					if p.Name == name {
						fs += p.TimeFs
					}
				}
			}
			return fs
		}
		type outcome struct {
			stats        hal.Stats
			output       []byte
			start, endFs int64
		}
		// run lets the long network begin at 0 and the short one when the long one is at
		// work; without one of them the other is alone.
		run := func(priority hal.Priority, with ...bool) (x [2]outcome) {
			m := phone(t)
			models := [2]*nn.Model{layers(kind, n), layers(kind, 1)}
			var list []func(*devices.Client) error
			for i, p := range [2]hal.Priority{hal.PriorityLow, priority} {
				if !with[i] {
					continue
				}
				c := newClient(t, m, device, models[i], p)
				if kind == nn.TensorFloat32 {
					for in, k := c.buffers.Inputs[0], 0; k < len(in); k += 4 {
						binary.LittleEndian.PutUint32(in[k:], math.Float32bits(float32(k%1021)))
					}
				}
				list = append(list, func(as *devices.Client) error {
					if i == 1 {
						as.WaitUntil(as.NowFs() + map[bool]int64{false: 400e9, true: 2500e9}[device == "cpu"]) // its cores wake up
					}
					b := c.buffers
					b.Client = as
					x[i].start = as.NowFs()
					res, err := hal.Execute(c.prepared, &b)
					if err != nil {
						return err
					}
					x[i].stats, x[i].output, x[i].endFs = res.Stats, bytes.Clone(b.Outputs[0]), as.NowFs()
					addsUp(t, device, &res.Stats)
					return nil
				})
			}
			require.V(m.RunConcurrent(list...))(t)
			return x
		}
		long, short := run(hal.PriorityHigh, true, false)[0], run(hal.PriorityHigh, false, true)[1]
		fair, both := run(hal.PriorityLow, true, true), run(hal.PriorityHigh, true, true)
		var longest int64
		for _, o := range long.stats.Operations {
			if o.Index >= 0 {
				longest = max(longest, o.TimeFs)
			}
		}
		waits := part(&both[1].stats, "queue")
		t.Logf("%s: long network %d us, its longest operation %d us; short one %d us, %d us beside it with the same priority, of which it waits %d us, %d us with a higher one and %d us; preempted for %d us, switches of %d us", device,
			long.stats.LatencyFs/1e9, longest/1e9, short.stats.LatencyFs/1e9, fair[1].stats.LatencyFs/1e9, part(&fair[1].stats, "queue")/1e9, both[1].stats.LatencyFs/1e9, waits/1e9, part(&both[0].stats, "preempted")/1e9, part(&both[0].stats, "switch")/1e9)
		if part(&fair[1].stats, "queue") <= waits || part(&fair[0].stats, "preempted", "switch") != 0 {
			t.Errorf("%s: with one priority the short network waits for %d us, with a higher one for %d us", device, part(&fair[1].stats, "queue")/1e9, waits/1e9)
		}
		bound := longest + part(&both[0].stats, "switch")
		if waits > bound*11/10+5e9 {
			t.Errorf("%s: the short network waits for %d us, the longest operation is one of %d us", device, waits/1e9, longest/1e9)
		}
		require.Check(t, part(&both[0].stats, "preempted") > 0, "%s: the long network was not preempted: %+v", device, both[0].stats.Parts)
		if own, alone := part(&both[0].stats, "execution"), part(&long.stats, "execution"); own < alone*99/100 || own > alone*5/4 {
			t.Errorf("%s: the long network's own time is %d us, %d us alone", device, own/1e9, alone/1e9)
		}
		if e, alone := both[0].stats.EnergyPJ, long.stats.EnergyPJ; e < alone*0.95 || e > alone*1.5 {
			t.Errorf("%s: the long network takes %.0f uJ, %.0f uJ alone", device, e/1e6, alone/1e6)
		}
		if n := len(distinct(long.output)); n < 20 {
			t.Errorf("%s: a tensor of %d values tells nothing", device, n)
		}
		if !bytes.Equal(both[0].output, long.output) || !bytes.Equal(both[1].output, short.output) {
			t.Errorf("%s: other tensors than alone", device)
		}
		if again := run(hal.PriorityHigh, true, true); fmt.Sprint(again) != fmt.Sprint(both) {
			t.Errorf("%s: %+v, then %+v", device, both, again)
		}
	}
}

// distinct are the bytes that occur.
func distinct(b []byte) map[byte]bool {
	m := map[byte]bool{}
	for _, x := range b {
		m[x] = true
	}
	return m
}
