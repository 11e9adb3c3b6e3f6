package gpudriver

import (
	"bytes"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/plan"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// clocked is a host whose executions begin at a point of the engine's clock.
type clocked struct{ sim.OPP }

func (h *clocked) Execute(_ *base.Call, run func(hal.Tracer, base.Place) (*hal.Result, error)) (*hal.Result, error) {
	return run(nil, base.Place{Points: []sim.Change{{OPP: h.OPP}}})
}

// kept is what a device keeps of executions, the program that has executed last first: none once the host has been busy
// with something else for idle.Time.
func (d *Device) kept() []*replay {
	list, _, _ := d.replays.idle.Acquire(&base.Place{})
	return list
}

// TestReplays: executions that come again on the same inputs are timed without being executed, at whatever clock, and have
// the outputs and costs of those that execute; others, and functional ones, execute.
func TestReplays(t *testing.T) {
	residual := newModel(nn.TensorFloat32)
	a, _ := residual.input(1, 1, 9, 9, 24)
	first, second := residual.temporary(1, 9, 9, 24), residual.temporary(1, 9, 9, 24)
	residual.op(nn.OpMul, first, a, a, residual.i32(0))
	residual.op(nn.OpLogistic, second, first)
	residual.op(nn.OpAdd, residual.output(1, 9, 9, 24), second, a, residual.i32(1))
	for _, m := range []*nn.Model{&residual.m, zoo.MustBuild("mobilenet_v1_0.25_128_float"), zoo.MustBuild("mobilenet_v1_0.25_128_quant")} {
		host := &clocked{}
		var devices [2]hal.PreparedModel
		var kept *Device
		for i := range devices {
			d, err := New(Config{Spec: gpu.DefaultSpec(), Texels: true, NewMemory: func() (mem.Level, error) { return flatMemory{}, nil }, Settings: Settings{Host: host}})
			require.NoError(t, err)
			if kept = d; i == 0 {
				d.replays.mu.Lock() // it keeps nothing
			}
			devices[i] = require.V(d.PrepareModel(m, hal.PrepareOptions{}))(t)
		}
		input, output := &m.Main.Operands[m.Main.Inputs[0]], &m.Main.Operands[m.Main.Outputs[0]]
		execute := func(p hal.PreparedModel, seed byte, functional bool) (hal.Stats, []byte) {
			r := &hal.Buffers{Inputs: [][]byte{make([]byte, input.Bytes())}, Outputs: [][]byte{make([]byte, output.Bytes())}}
			r.Functional = functional
			for i := range r.Inputs[0] {
				if r.Inputs[0][i] = byte(i*7) + seed; i%4 == 3 {
					r.Inputs[0][i] = 0x3F // as a float about 1
				}
			}
			res := require.V(hal.Execute(p, r))(t)
			return res.Stats, r.Outputs[0]
		}
		var list []*replay // what is kept while the other device executes
		marked := 0        // length of the arena that is kept, with a byte of the test's behind it
		checked := 0
		for i, x := range []struct {
			seed       byte
			mhz        int64
			functional bool
			again      bool
		}{{0, 500, false, false}, {0, 500, false, true}, {0, 250, false, true}, {1, 250, false, false}, {1, 500, true, true}, {1, 500, false, true}, {0, 250, false, false}, {0, 250, false, true}} {
			host.OPP = sim.OPP{Hz: x.mhz * 1e6, Volts: float64(x.mhz) / 600}
			wantStats, want := execute(devices[0], x.seed, x.functional)
			kept.replays.idle.Put(list, nil)
			stats, got := execute(devices[1], x.seed, x.functional)
			if !bytes.Equal(got, want) || !reflect.DeepEqual(stats, wantStats) {
				t.Errorf("%s, execution %d: equal outputs %v:\n%+v\nwant\n%+v", m.Name, i, bytes.Equal(got, want), stats, wantStats)
			}
			list = kept.kept()
			switch {
			case len(list) == 0: // the host was slow
				marked = 0
				continue
			case len(list) != 1 || !list[0].Complete():
				t.Fatalf("%s, execution %d: %d are kept", m.Name, i, len(list))
			}
			again := len(list[0].arena) == marked
			if marked > 0 {
				if checked++; again != x.again {
					t.Errorf("%s, execution %d: kept from before: %v, want %v", m.Name, i, again, x.again)
				}
			}
			if !again {
				list[0].arena = append(list[0].arena, 0)
				marked = len(list[0].arena)
			}
		}
		if checked == 0 {
			t.Errorf("%s: nothing was kept", m.Name)
		}
	}
}

// TestReplayRoom: an execution that is to be kept has at least three quarters of the memory; the least recently used ones are evicted.
func TestReplayRoom(t *testing.T) {
	d := newDevice(t)
	var list []*replay
	var prepared []hal.PreparedModel
	for range 3 {
		b := newModel(nn.TensorFloat32)
		x, _ := b.input(1, 1, 8, 8, 8)
		b.op(nn.OpTanh, b.output(1, 8, 8, 8), x)
		p := require.V(d.PrepareModel(&b.m, hal.PrepareOptions{}))(t)
		var kept []*replay
		for len(kept) == 0 { // again if the host was slow
			require.V(hal.Execute(p, &hal.Buffers{Inputs: [][]byte{make([]byte, 2048)}, Outputs: [][]byte{make([]byte, 2048)}}))(t)
			kept = d.kept()
		}
		list, prepared = append(kept, list...), append(prepared, p)
	}
	each, oldest := list[0].bytes(), list[2].program.Value()
	rest := len(list[2].inputs) + len(list[2].arena)
	if each < list[0].Bytes()+4096 {
		t.Errorf("%d bytes for inputs, outputs and %d of dispatches", each, list[0].Bytes())
	}
	for _, x := range []struct{ most, left, limit int }{{10 * each, 3, 8 * each}, {8 * each, 3, 6 * each}, {8*each - 1, 2, 7*each - 1}, {each, 1, each}} {
		got, left := replayOf(slices.Clone(list), oldest, rest, x.most)
		if got != list[2] || left[0] != got || len(left) != x.left || got.Limit != x.limit-rest {
			t.Errorf("%d bytes for runs of %d: %d are left, room for %d, want %d and %d", x.most, each, len(left), got.Limit, x.left, x.limit-rest)
		}
	}
	if got, left := replayOf(slices.Clone(list), &plan.Program{}, 0, 10*each); got.Complete() || len(left) != 3 {
		t.Errorf("a new program: %d in the list", len(left))
	}
	runtime.KeepAlive(prepared)
	prepared, oldest = nil, nil
	for n := 0; list[1].program.Value() != nil; n++ { // what the device keeps does not keep a program
		if runtime.GC(); n == 100 {
			t.Fatal("a program does not go with its model")
		}
	}
	if _, left := replayOf(list, &plan.Program{}, 0, 10*each); len(left) != 1 {
		t.Errorf("%d in the list, of programs that are gone", len(left)-1)
	}
}
