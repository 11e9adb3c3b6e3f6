package devices_test

import (
	"bytes"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim/platform"
)

// TestDeviceMemory: an operand in memory of the device is neither mapped nor cleaned nor
// invalidated, the other operands of the request are, and the result is the same.
func TestDeviceMemory(t *testing.T) {
	for _, x := range []struct {
		device      string
		kind        nn.OperandType
		maintenance bool
	}{{"dsp", nn.TensorQuant8Asymm, true}, {"npu", nn.TensorQuant8Asymm, true}, {"gpu", nn.TensorFloat32, false}} {
		m := phone(t)
		c := newClient(t, m, x.device, convolution(x.kind), hal.PriorityMedium)
		parts := func(r *hal.Request) (us map[string]float64) {
			res := require.V(c.prepared.Execute(r, hal.ExecuteOptions{}))(t)
			us = map[string]float64{}
			for _, p := range res.Stats.Parts {
				us[p.Name] += float64(p.TimeFs) / 1e9
			}
			return us
		}
		shared := parts(c.buffers.Request())
		want := bytes.Clone(c.buffers.Outputs[0])

		all := c.buffers.Request()
		var memory []hal.Buffer
		for k, roles := range [2][2][]hal.BufferRole{{{{Frequency: 1}}, nil}, {nil, {{Frequency: 1}}}} {
			b := require.V(named(m, x.device).Allocate(hal.BufferDesc{}, []hal.PreparedModel{c.prepared}, roles[0], roles[1]))(t)
			memory = append(memory, b)
			all.Pools[k] = hal.RequestPool{Token: b.Token()}
		}
		all.Inputs[0], all.Outputs[0] = hal.RequestArgument{}, hal.RequestArgument{Location: hal.DataLocation{PoolIndex: 1}}
		require.NoError(t, memory[0].CopyFrom(&hal.Memory{Name: hal.Ashmem, Data: c.buffers.Inputs[0], ReadOnly: true}, nil))
		input := c.buffers.Request()
		input.Pools[0], input.Inputs[0] = all.Pools[0], all.Inputs[0]

		half, none := parts(input), parts(all)
		got := hal.NewMemory(len(want))
		require.NoError(t, memory[1].CopyTo(got))
		require.Check(t, bytes.Equal(got.Data, want) && bytes.Equal(c.buffers.Outputs[0], want), "%s: another result in device memory", x.device)
		if shared[platform.PartMap] == 0 || half[platform.PartMap] != shared[platform.PartMap]/2 || none[platform.PartMap] != 0 || none[platform.PartUnmap] != 0 {
			t.Errorf("%s: mapping takes %v us, with the input in device memory %v, with all %v, unmapping %v", x.device, shared[platform.PartMap], half[platform.PartMap], none[platform.PartMap], none[platform.PartUnmap])
		}
		if (shared[platform.PartClean] > 0) != x.maintenance || half[platform.PartClean]+none[platform.PartClean] != 0 {
			t.Errorf("%s: cleaning takes %v us, with the input in device memory %v, with all %v", x.device, shared[platform.PartClean], half[platform.PartClean], none[platform.PartClean])
		}
		if (shared[platform.PartInvalidate] > 0) != x.maintenance || half[platform.PartInvalidate] != shared[platform.PartInvalidate] || none[platform.PartInvalidate] != 0 {
			t.Errorf("%s: invalidating takes %v us, with the input in device memory %v, with all %v", x.device, shared[platform.PartInvalidate], half[platform.PartInvalidate], none[platform.PartInvalidate])
		}
		t.Logf("%s, map %.0f + clean %.0f + invalidate %.0f + unmap %.0f us, none of it in device memory", x.device,
			shared[platform.PartMap], shared[platform.PartClean], shared[platform.PartInvalidate], shared[platform.PartUnmap])
	}
}
