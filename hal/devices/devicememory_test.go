package devices_test

import (
	"bytes"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim/soc"
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
			res, err := c.prepared.Execute(r, hal.ExecuteOptions{})
			require.NoError(t, err)
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
			b, err := named(m, x.device).Allocate(hal.BufferDesc{}, []hal.PreparedModel{c.prepared}, roles[0], roles[1])
			require.NoError(t, err)
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
		if !bytes.Equal(got.Data, want) || !bytes.Equal(c.buffers.Outputs[0], want) {
			t.Errorf("%s: another result in device memory", x.device)
		}
		if shared[soc.PartMap] == 0 || half[soc.PartMap] != shared[soc.PartMap]/2 || none[soc.PartMap] != 0 || none[soc.PartUnmap] != 0 {
			t.Errorf("%s: mapping takes %v us, with the input in device memory %v, with all %v, unmapping %v", x.device, shared[soc.PartMap], half[soc.PartMap], none[soc.PartMap], none[soc.PartUnmap])
		}
		if (shared[soc.PartClean] > 0) != x.maintenance || half[soc.PartClean]+none[soc.PartClean] != 0 {
			t.Errorf("%s: cleaning takes %v us, with the input in device memory %v, with all %v", x.device, shared[soc.PartClean], half[soc.PartClean], none[soc.PartClean])
		}
		if (shared[soc.PartInvalidate] > 0) != x.maintenance || half[soc.PartInvalidate] != shared[soc.PartInvalidate] || none[soc.PartInvalidate] != 0 {
			t.Errorf("%s: invalidating takes %v us, with the input in device memory %v, with all %v", x.device, shared[soc.PartInvalidate], half[soc.PartInvalidate], none[soc.PartInvalidate])
		}
		t.Logf("%s, map %.0f + clean %.0f + invalidate %.0f + unmap %.0f us, none of it in device memory", x.device,
			shared[soc.PartMap], shared[soc.PartClean], shared[soc.PartInvalidate], shared[soc.PartUnmap])
	}
}
