package devices_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// TestTogether: executions of callers that do not know of each other share an engine: the time of two is that of queueing for it,
// results stay, and a caller alone is as fast as without company.
func TestTogether(t *testing.T) {
	m := require.V(devices.NewMachine(require.V(soc.Load("pixel4"))(t), hal.FastSingleAnswer))(t)
	m.SimulateAll = true // an execution that is remembered ends before others come
	m.Together(time.Second)
	model := require.V(zoo.Build("mlperf_tiny_kws_quant"))(t)
	npu := m.Devices()[3]
	p := require.V(npu.PrepareModel(model, hal.PrepareOptions{}))(t)
	in, out := model.Main.Operands[model.Main.Inputs[0]].Bytes(), model.Main.Operands[model.Main.Outputs[0]].Bytes()
	execute := func() (fs int64) {
		res, err := hal.Execute(p, &hal.Buffers{Inputs: [][]byte{make([]byte, in)}, Outputs: [][]byte{make([]byte, out)}})
		if err != nil {
			t.Error(err)
			return 0
		}
		return res.Stats.LatencyFs
	}
	execute()
	alone := execute()
	const callers, rounds = 3, 2000 // a caller stops at the first wait: the host decides when others come
	longest := make([]int64, callers)
	var waited atomic.Bool
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			for round := 0; round < rounds && !waited.Load(); round++ {
				longest[i] = max(longest[i], execute())
				if longest[i] >= alone*5/4 {
					waited.Store(true)
				}
			}
		})
	}
	all.Wait()
	most := max(longest[0], longest[1], longest[2])
	t.Logf("alone %d us, beside others at most %d us", alone/1e9, most/1e9)
	if most < alone*5/4 {
		t.Errorf("alone %d fs, beside others at most %d fs: nobody waited", alone, most)
	}
	if after := execute(); after > alone*3/2 {
		t.Errorf("alone again %d fs, before %d fs", after, alone)
	}
}
