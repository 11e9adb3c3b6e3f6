package devices_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// overlapping runs random executions of clients that overlap and returns all that they
// report. Every output is compared with that of the same model alone.
func overlapping(t *testing.T, seed uint64, clients, executions int) string {
	t.Helper()
	m := phone(t)
	var text string
	var list [][]*client
	var run []func(*devices.Client) error
	for i := range clients {
		var mine []*client
		for _, d := range []string{"dsp", "npu", "gpu", "cpu"} {
			kind := nn.TensorQuant8Asymm
			if d == "gpu" {
				kind = nn.TensorFloat32
			}
			mine = append(mine, newClient(t, m, d, streaming(kind, 8<<10), hal.Priority(i%3)))
			require.NoError(t, mine[len(mine)-1].execute())
		}
		list = append(list, mine)
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		run = append(run, func(as *devices.Client) error {
			for range executions {
				as.WaitUntil(as.NowFs() + int64(rng.IntN(300))*1e9)
				if err := mine[rng.IntN(len(mine))].executeAs(as); err != nil {
					return err
				}
			}
			return nil
		})
	}
	ends := require.V(m.RunConcurrent(run...))(t)
	for _, mine := range list {
		for _, c := range mine {
			text += fmt.Sprintln(c.latency)
			for i, o := range c.outputs {
				if o != c.outputs[0] {
					t.Fatalf("seed %d: execution %d has other tensors than alone", seed, i)
				}
			}
		}
	}
	return text + fmt.Sprint(ends)
}

// TestRandomExecutionsOverlap: 1,000 random executions on four engines give the tensors
// of executions alone, and report the same whenever they are repeated, at any GOMAXPROCS.
func TestRandomExecutionsOverlap(t *testing.T) {
	for seed := range uint64(5) {
		first := overlapping(t, seed, 5, 40)
		before := runtime.GOMAXPROCS(1)
		again := overlapping(t, seed, 5, 40)
		runtime.GOMAXPROCS(before)
		require.Equal(t, first, again, "seed", seed)
	}
}

// TestCoreContractOnMachine: what the cores promise alone they keep beside others: the
// stalls of an execution and of each operation add up to its cycles, parts to the latency,
// a functional execution gives the same bytes, and a repetition the same report.
func TestCoreContractOnMachine(t *testing.T) {
	run := func() string {
		m := phone(t)
		var text string
		var list []func(*devices.Client) error
		for _, d := range []string{"dsp", "npu", "gpu", "cpu"} {
			kind := nn.TensorQuant8Asymm
			if d == "gpu" {
				kind = nn.TensorFloat32
			}
			c := newClient(t, m, d, convolution(kind), hal.PriorityMedium)
			functional := c.buffers
			functional.Functional = true
			require.V(hal.Execute(c.prepared, &functional))(t)
			want := bytes.Clone(c.buffers.Outputs[0])
			list = append(list, func(as *devices.Client) error {
				for range 3 {
					clear(c.buffers.Outputs[0])
					b := c.buffers
					b.Client = as
					res, err := hal.Execute(c.prepared, &b)
					if err != nil {
						return err
					}
					require.Check(t, bytes.Equal(want, b.Outputs[0]), "%s: timed and functional executions differ", d)
					addsUp(t, d, &res.Stats)
					text += fmt.Sprintf("%+v\n", res.Stats)
				}
				return nil
			})
		}
		require.V(m.RunConcurrent(list...))(t)
		return text
	}
	require.Equal(t, run(), run())
}

// addsUp checks the sums of an execution's costs.
func addsUp(t *testing.T, device string, s *hal.Stats) {
	t.Helper()
	sum := func(l []hal.StallCycles) (n int64) {
		for _, x := range l {
			n += x.Cycles
		}
		return n
	}
	cycles, parts := int64(0), int64(0)
	for i := range s.Operations {
		o := &s.Operations[i]
		if got := sum(o.Stalls); got != o.Cycles {
			t.Errorf("%s: operation %d: stalls of %d cycles, it took %d", device, o.Index, got, o.Cycles)
		}
		cycles += o.Cycles
	}
	for _, p := range s.Parts {
		parts += p.TimeFs
	}
	if got := sum(s.Stalls); got != s.Cycles || cycles != s.Cycles || parts != s.LatencyFs || s.Cycles == 0 {
		t.Errorf("%s: %d cycles: stalls of %d, operations of %d; latency %d fs, parts of %d", device, s.Cycles, got, cycles, s.LatencyFs, parts)
	}
}
