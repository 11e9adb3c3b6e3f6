package devices_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/lower"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// flipKernel gives words the other sign bit. Arguments: address of 32 sign bits, input, output, vectors.
type flipKernel struct{}

func (flipKernel) Name() string { return "flip" }

func (flipKernel) Emit(b *hvx.Builder) {
	in := b.Args("signs", "src", "dst", "vectors")
	signs := b.Load(in[0], 0, hvx.AliasConst, "bits")
	b.Loop0(in[3], func() {
		v := b.V("v")
		b.Op(hexagon.V6_vL32b_pi, v, in[1], 1).Loads(hvx.AliasIn)
		b.Op(hexagon.V6_vxor, v, v, signs)
		b.Op(hexagon.V6_vS32b_pi, in[2], 1, v).Stores(hvx.AliasOut)
	})
	b.Ret()
}

// flipped is a step: all of a tensor by flipKernel, on one thread.
type flipped struct{ In, Out *layout.Tensor }

func (w flipped) Launch(l *step.Launcher, _ step.Rows) {
	signs := l.Constant(bytes.Repeat([]byte{0, 0, 0, 0x80}, layout.VectorBytes/4))
	vectors := layout.CeilDiv(w.In.Bytes(), layout.VectorBytes)
	l.Launch(l.Kernel(flipKernel{}), [][]uint32{{signs, w.In.Addr, w.Out.Addr, uint32(vectors)}})
}

// flip lowers NEG of TENSOR_FLOAT32, which the DSP's driver refuses.
type flip struct{}

func (flip) Identity() string { return "test/flip-1" }

func (flip) Check(v opspec.View, op *nn.Operation) error {
	u, err := opspec.Read[opspec.Unary](v, op)
	if err == nil && (op.Type != nn.OpNeg || u.Type != nn.TensorFloat32) {
		err = fmt.Errorf("%s of %s", op.Type, u.Type)
	}
	return err
}

func (flip) Lower(l *lower.Lowering, op *nn.Operation) error {
	u, err := opspec.Read[opspec.Unary](l.View(), op)
	if err != nil {
		return err
	}
	in, out := l.FlatPair(u.Input, u.Output)
	l.Add("flip", []*layout.Tensor{in}, []*layout.Tensor{out}, flipped{in, out})
	return nil
}

// A user's lowering runs on the phone's DSP by each path to it: it computes the reference's results, twice the
// work lasts longer on the engine, it costs the host's path, and a machine's time advances by its latency.
func TestOwnLowerings(t *testing.T) {
	c := loadPhone(t)
	with := devices.DSP(func(cfg *dspdriver.Config) { cfg.Lowerings = append(cfg.Lowerings, flip{}) })
	machine := func(o ...devices.Option) *devices.Machine {
		t.Helper()
		m := require.V(devices.NewMachine(c, hal.FastSingleAnswer, o...))(t)
		return m
	}
	open := func(o ...devices.Option) hal.Device {
		t.Helper()
		list := require.V(devices.Open(c, hal.FastSingleAnswer, o...))(t)
		return list[slices.IndexFunc(list, func(d hal.Device) bool { return d.Name() == "dsp" })]
	}
	outside := devices.Attach(bareDSP(t, c, flip{}), soc.EngineDSP)
	if s, err := open().SupportedOperations(negation(1 << 12)); err != nil || s[0].OK {
		t.Fatalf("the driver has NEG of TENSOR_FLOAT32 by itself: %v %v", s, err)
	}
	var path [2]float64 // of the first way, by length
	for _, x := range []struct {
		name   string
		device hal.Device
		m      *devices.Machine
	}{
		{"NewMachine", nil, machine(with)}, {"NewMachine, attached", nil, machine(outside)},
		{"Open", open(with), nil}, {"Open, attached", open(outside), nil},
	} {
		if x.m != nil {
			x.device = named(x.m, "dsp")
		}
		var engine [2]int64
		for i, n := range []uint32{1 << 14, 1 << 15} {
			s := runNegation(t, x.name, x.device, x.m, n)
			engine[i] = engineFs(s)
			way := float64(s.LatencyFs - engine[i])
			path[i] = cmp.Or(path[i], way)
			// A driver from outside has a memory of its own, which is cold: the CPU sleeps deeper meanwhile.
			if way < float64(100*sim.Microsecond) || !(math.Abs(way/path[i]-1) <= 0.05) {
				t.Errorf("%s: the way takes %v fs beside the engine's %d, parts %v", x.name, way, engine[i], partNames(s))
			}
		}
		if engine[0] <= 0 || float64(engine[1]) < 1.3*float64(engine[0]) {
			t.Errorf("%s: the engine takes %d fs, of twice as much %d", x.name, engine[0], engine[1])
		}
	}
}

// negation is NEG of n numbers.
func negation(n uint32) *nn.Model {
	o := oneOperation{op: nn.OpNeg, args: []any{[]uint32{n}}, out: []uint32{n}, kind: nn.TensorFloat32}
	return o.model()
}

// runNegation runs NEG of n numbers on a device, of a machine where there is one, until its clocks are at rest.
func runNegation(t *testing.T, name string, d hal.Device, m *devices.Machine, n uint32) *hal.Stats {
	t.Helper()
	model := negation(n)
	p, err := d.PrepareModel(model, hal.PrepareOptions{Preference: hal.FastSingleAnswer})
	require.NoError(t, err, name)
	b := buffersOf(model)
	for i := range n {
		binary.LittleEndian.PutUint32(b.Inputs[0][4*i:], math.Float32bits(float32(int(i)-100)/32))
	}
	want := require.V(cpudriver.Reference(model, b.Inputs))(t)
	var res *hal.Result
	for range 30 {
		clear(b.Outputs[0])
		var from sim.Time
		if m != nil {
			from = m.SoC().Now()
		}
		if res, err = hal.Execute(p, b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !bytes.Equal(b.Outputs[0], want[0]) {
			t.Fatalf("%s: other outputs than the reference's", name)
		}
		if m != nil && m.SoC().Now()-from != sim.Time(res.Stats.LatencyFs) {
			t.Fatalf("%s: the machine's time went on by %d fs, latency %d", name, m.SoC().Now()-from, res.Stats.LatencyFs)
		}
	}
	return &res.Stats
}
