package nnrt_test

import (
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/partition"
	"github.com/nnsoc/nnsoc/runtime/partition/cost"
	"github.com/nnsoc/nnsoc/runtime/registry"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// loop is
//
//	for i < rounds { x = body(x); i = i + 1 }
//
// for an image x, and behind it what after makes of the first x and the last.
func loop(t *testing.T, side, channels uint32, rounds int32, turn func(b *builder.Builder, x builder.Tensor) builder.Tensor,
	after func(b *builder.Builder, first, last builder.Tensor) builder.Tensor) *nn.Model {
	t.Helper()
	counter := func(b *builder.Builder) builder.Tensor {
		return b.Input(b.Operand(nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{1}}), "i")
	}
	built := func(b *builder.Builder) *nn.Model {
		m := require.V(b.Model("loop"))(t)
		return m
	}
	condition := builder.New(builder.Config{Format: builder.Quant8})
	i := counter(condition)
	condition.Values("x", 1, side, side, channels)
	condition.Output(condition.Apply(nn.OpLess, nn.TensorBool8, builder.Quant{}, i, condition.Ints(rounds)), "more")

	b := builder.New(builder.Config{Format: builder.Quant8})
	i = counter(b)
	x := b.Values("x", 1, side, side, channels)
	y := turn(b, x)
	b.Output(b.Apply(nn.OpAdd, nn.TensorInt32, builder.Quant{}, i, b.Ints(1), b.Int32(0)), "i")
	b.Output(y, "x")
	body := built(b)
	body.Main.Operands[y].Scale, body.Main.Operands[y].ZeroPoint = body.Main.Operands[x].Scale, body.Main.Operands[x].ZeroPoint

	main := builder.New(builder.Config{Format: builder.Quant8})
	i = counter(main)
	x = main.Values("x", 1, side, side, channels)
	call := func(k uint32) builder.Tensor {
		return main.Operand(nn.SubgraphOperand(k))
	}
	end, last := main.Operand(body.Main.Operands[i]), main.Operand(body.Main.Operands[x])
	main.ApplyTo(nn.OpWhile, []builder.Tensor{end, last}, call(0), call(1), i, x)
	main.SetSpread(last, builder.Spread{Deviation: 0.577})
	y = after(main, x, last)
	main.Output(end, "rounds")
	main.Output(y, "y")
	m := built(main)
	m.Main.Operands[last].Lifetime = nn.TemporaryVariable
	m.Referenced = []nn.Subgraph{built(condition).Main, body.Main}
	return m
}

// refining is a loop of two convolutions one after the other, then another.
func refining(t *testing.T, side, channels uint32, rounds int32) *nn.Model {
	t.Helper()
	rectified, linear := builder.Conv{Out: channels, Kernel: 3, Act: builder.ReLU}, builder.Conv{Out: channels, Kernel: 3}
	return loop(t, side, channels, rounds,
		func(b *builder.Builder, x builder.Tensor) builder.Tensor { return b.Conv(b.Conv(x, rectified), linear) },
		func(b *builder.Builder, _, last builder.Tensor) builder.Tensor { return b.Conv(last, rectified) })
}

// warmLoop executes a plan on a machine of its own, the first times without telling.
func warmLoop(t *testing.T, p *partition.Problem, plan partition.Plan, inputs [][]byte, each func(*nnrt.Result)) error {
	r, machine := machineRegistry(t)
	c, err := nnrt.CompilePlan(r, p, plan, nnrt.CompileOptions{})
	if err != nil {
		return err
	}
	machine.Reset()
	for i := range 6 {
		res, err := c.Execute(inputs, nnrt.ExecuteOptions{})
		if err != nil {
			return err
		}
		if i >= 4 {
			each(res)
		}
	}
	return nil
}

// machineRegistry has the CPU and the NPU of a machine.
func machineRegistry(t *testing.T) (*registry.Registry, *devices.Machine) {
	t.Helper()
	config := require.V(soc.Load("pixel4"))(t)
	machine := require.V(devices.NewMachine(config, hal.FastSingleAnswer))(t)
	list := machine.Devices()
	r := require.V(registry.New(list[0], list[slices.IndexFunc(list, func(d hal.Device) bool { return d.Name() == "npu" })]))(t)
	r.SetMachine(machine)
	return r, machine
}

// TestControlFlowPlacement: strategies that know costs place the operations of a WHILE on
// devices where that pays, and leave it to the CPU as a whole where it does not. What they
// come to equals the reference and is not slower than AOSP's rule.
func TestControlFlowPlacement(t *testing.T) {
	const rounds = 4
	for side, pays := range map[uint32]bool{8: false, 64: true} {
		m := refining(t, side, 64, rounds)
		r, _ := machineRegistry(t)
		p, err := nnrt.NewProblem(r, m, nnrt.CompileOptions{})
		require.NoError(t, err)
		in := [][]byte{make([]byte, 4), tensor.SyntheticInput(&m.Main, 1, 1)}
		measurer := cost.Measurer{Store: cost.NewStore("", ""), Inputs: in,
			Loop: func(p *partition.Problem, plan partition.Plan, _ cost.Clock, inputs [][]byte, each func(*nnrt.Result)) error {
				return warmLoop(t, p, plan, inputs, each)
			}}
		if p.Costs, err = measurer.Measured(p); err != nil {
			t.Fatal(err)
		}
		if n := p.Costs.Rounds[0]; n != [2]float64{rounds + 1, rounds} {
			t.Errorf("condition and body ran %v times", n)
		}
		took := map[string]float64{}
		for _, name := range []string{"aosp", "cpu", "greedy-merge", "dp", "mincut", "branch-bound", "auto"} {
			s := require.V(partition.Parse(name, p.Devices))(t)
			plan, predicted := require.V2(partition.Solve(p, s))(t)
			var res *nnrt.Result
			require.NoError(t, warmLoop(t, p, plan, in, func(r *nnrt.Result) { res = r }), name)
			equalsReference(t, m, in, res)
			us := float64(res.LatencyFs) / 1e9
			took[name] = us
			t.Logf("side %d, %s: WHILE on %s, the body on %v, %.0f us", side, name, p.DeviceName(plan.Device[0]), bodyOf(p, plan), us)
			if slack := 1.001; name != "cpu" && us > slack*took["aosp"] || name != "aosp" && name != "cpu" && us > slack*took["cpu"] {
				t.Errorf("side %d: %s takes %.0f us, aosp %.0f us, the CPU %.0f us", side, name, us, took["aosp"], took["cpu"])
			}
			if d := us * 1e9 / predicted.LatencyFs; d < 0.9 || d > 1.1 {
				t.Errorf("side %d: %s takes %.0f us, predicted are %.0f us", side, name, us, predicted.LatencyFs/1e9)
			}
			if name != "aosp" && name != "cpu" && (p.DeviceName(plan.Device[0]) == partition.Interpreter) != pays {
				t.Errorf("side %d: %s leaves the WHILE to the %s", side, name, p.DeviceName(plan.Device[0]))
			}
		}
	}
}

// bodyOf are the devices of a body that is interpreted.
func bodyOf(p *partition.Problem, plan partition.Plan) (names []string) {
	if plan.Subgraphs != nil {
		for _, d := range plan.Subgraphs[1].Device {
			names = append(names, p.Devices[d].Name)
		}
	}
	return names
}
