package gpudriver

import (
	"bytes"
	"math"
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// sampling is a host that lets executions be sampled where it has an account.
type sampling struct{ account *sim.Sampled }

func (h *sampling) Execute(_ *base.Call, run func(hal.Tracer, base.Place) (*hal.Result, error)) (*hal.Result, error) {
	return run(nil, base.Place{Sampled: h.account})
}

// TestSampledNetworks: sampled executions of networks give the outputs of full ones and come within 2 % of their latency,
// energy, instructions, occupancy and bytes of L0 and L2, within 5 % of those of DRAM; those after the first simulate
// two fifths of the instructions at most, and what they compare, a few kernels each, is within 5 % in all.
func TestSampledNetworks(t *testing.T) {
	c := require.V(soc.Load("pixel4"))(t)
	for _, x := range []struct {
		name string
		most int // bytes that are kept of executions
	}{{"mobilenet_v1_0.5_160_float", 0}, {"mobilenet_v1_0.5_160_float", 10 << 20}, {"mobilenet_v1_0.5_160_quant", 0}} {
		name := x.name
		host := &sampling{}
		d, err := New(Config{Spec: gpu.DefaultSpec(), Texels: true, NewMemory: func() (mem.Level, error) {
			_, bus, err := c.NewFabric()
			if err != nil {
				return nil, err
			}
			return bus.Port("gpu"), nil
		}, Settings: Settings{Host: host}})
		require.NoError(t, err)
		d.replays.most = x.most
		m := zoo.MustBuild(name)
		p := require.V(d.PrepareModel(m, hal.PrepareOptions{}))(t)
		execute := func() (hal.Stats, []byte) {
			r := &hal.Buffers{}
			for _, x := range m.Main.Inputs {
				data := make([]byte, m.Main.Operands[x].Bytes())
				for i := range data {
					if data[i] = byte(i * 7); i%4 == 3 {
						data[i] = 0x3F // as a float about 1
					}
				}
				r.Inputs = append(r.Inputs, data)
			}
			r.Outputs = [][]byte{make([]byte, m.Main.Operands[m.Main.Outputs[0]].Bytes())}
			res := require.V(hal.Execute(p, r))(t)
			return res.Stats, r.Outputs[0]
		}
		full, want := execute()
		predicted, actual := 0.0, 0.0
		for round := range 3 {
			host.account = &sim.Sampled{}
			part, got := execute()
			if !bytes.Equal(got, want) {
				t.Errorf("%s: other outputs", name)
			}
			within := func(bound float64, what string, got, want float64) {
				if !(math.Abs(got-want) <= bound*want) {
					t.Errorf("%s, execution %d: %s: %g, want %g", name, round, what, got, want)
				}
			}
			within(0.02, "latency", float64(part.LatencyFs), float64(full.LatencyFs))
			within(0.02, "energy", part.EnergyPJ, full.EnergyPJ)
			within(0, "instructions", float64(part.Instructions), float64(full.Instructions))
			within(0.02, "bytes of L0", counterOf(&part, "l0_bytes"), counterOf(&full, "l0_bytes"))
			within(0.02, "lines of L2", counterOf(&part, "l2_read")+counterOf(&part, "l2_write"), counterOf(&full, "l2_read")+counterOf(&full, "l2_write"))
			within(0.05, "bytes of DRAM", counterOf(&part, "dram_bytes"), counterOf(&full, "dram_bytes"))
			within(0.02, "wave cycles", ofOperations(&part, "wave_cycles"), ofOperations(&full, "wave_cycles"))
			x := host.account
			if round > 0 && 5*x.Simulated > 2*x.Instructions || x.Compared == 0 {
				t.Errorf("%s, execution %d: %+v", name, round, *x)
			}
			if list := d.kept(); len(list) != 1 || !list[0].Complete() || d.replays.most > 0 && list[0].bytes() > d.replays.most {
				t.Errorf("%s, execution %d: %d are kept", name, round, len(list))
			} else {
				d.replays.idle.Put(list, nil)
			}
			predicted, actual = predicted+float64(x.Predicted.Cycles), actual+float64(x.Actual.Cycles)
		}
		if !(math.Abs(predicted-actual) <= 0.05*actual) {
			t.Errorf("%s: what was compared: %g cycles, want %g", name, predicted, actual)
		}
	}
}

func counterOf(s *hal.Stats, name string) (n float64) {
	for _, c := range s.Counters {
		if c.Name == name {
			n += float64(c.Value)
		}
	}
	return n
}

func ofOperations(s *hal.Stats, name string) (n float64) {
	for i := range s.Operations {
		n += counterOf(&hal.Stats{Counters: s.Operations[i].Counters}, name)
	}
	return n
}
