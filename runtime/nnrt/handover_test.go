package nnrt_test

import (
	"sync/atomic"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/sim/platform"
)

// detour is y = conv(x), z = conv(y) and z + depthwise(y): with the depthwise elsewhere, z goes from
// one part of a device to another.
func detour(t *testing.T) *nn.Model {
	t.Helper()
	b := builder.New(builder.Config{Format: builder.Quant8})
	y := b.Conv(b.Image(128), builder.Conv{Out: 32, Stride: 2, Kernel: 3, Act: builder.ReLU})
	z := b.Conv(y, builder.Conv{Out: 32, Kernel: 3, Act: builder.ReLU})
	b.Output(b.Add(z, b.Depthwise(y, builder.Conv{Kernel: 3}), builder.ReLU), "sum")
	m := require.V(b.Model("detour"))(t)
	return m
}

// lender counts the device memory that is in use.
type lender struct {
	hal.Device
	lent, live *atomic.Int64
	fails      bool
}

func (d *lender) Allocate(desc hal.BufferDesc, models []hal.PreparedModel, in, out []hal.BufferRole) (hal.Buffer, error) {
	if d.fails {
		return nil, hal.Errorf(hal.GeneralFailure, "no memory of its own")
	}
	b, err := d.Device.Allocate(desc, models, in, out)
	if err == nil {
		d.lent.Add(1)
		d.live.Add(1)
		b = &lentBuffer{b, d.live}
	}
	return b, err
}

type lentBuffer struct {
	hal.Buffer
	live *atomic.Int64
}

func (b *lentBuffer) Release() {
	b.live.Add(-1)
	b.Buffer.Release()
}

// TestValuesStayOnTheirDevice: values between parts of one device are in memory of the
// device, which is neither mapped nor maintained, unless the plan runs as AOSP's runtime
// does or the device has no memory; values for another device have these costs.
// All memory is freed.
func TestValuesStayOnTheirDevice(t *testing.T) {
	var lent, live atomic.Int64
	cost := func(sequential, fails bool, on ...string) (us map[string]float64) {
		c := onPhone(t, detour(t), on, sequential, func(d hal.Device) hal.Device { return &lender{d, &lent, &live, fails} })
		us = map[string]float64{}
		for _, p := range execute(t, c, nnrt.ExecuteOptions{}).Chain {
			us[p.Name] += float64(p.TimeFs) / 1e9
		}
		return us
	}
	there := cost(false, false, "dsp", "dsp", "cpu", "dsp")
	require.Check(t, lent.Load() != 0, "no device memory")
	lent.Store(0)
	shared, without, apart := cost(true, false, "dsp", "dsp", "cpu", "dsp"), cost(false, true, "dsp", "dsp", "cpu", "dsp"), cost(false, false, "dsp", "npu", "cpu", "dsp")
	require.Check(t, lent.Load() <= 0, "%d pieces of device memory where none is of use", lent.Load())
	t.Logf("us of a value in device memory, of one in shared memory: map %.0f, %.0f; clean %.0f, %.0f; invalidate %.0f, %.0f",
		there[platform.PartMap], shared[platform.PartMap], there[platform.PartClean], shared[platform.PartClean], there[platform.PartInvalidate], shared[platform.PartInvalidate])
	// Twice x, y, z, depthwise and the sum are mapped; z twice less in device memory.
	if r := there[platform.PartMap] / shared[platform.PartMap]; r != 4.0/6 {
		t.Errorf("mapping takes %v us and %v in shared memory", there[platform.PartMap], shared[platform.PartMap])
	}
	for _, part := range []string{platform.PartMap, platform.PartClean, platform.PartInvalidate} {
		if there[part] >= shared[part] || without[part] != shared[part] || apart[part] <= there[part] {
			t.Errorf("%s takes %v us; %v in shared memory, %v of a device without memory, %v from device to device", part, there[part], shared[part], without[part], apart[part])
		}
	}

	// Executions with fences end after the call that starts them.
	c := onPhone(t, detour(t), []string{"dsp", "dsp", "npu", "dsp"}, false, func(d hal.Device) hal.Device { return &lender{d, &lent, &live, false} })
	in := [][]byte{tensor.SyntheticInput(&c.Model.Main, 0, 1)}
	f := require.V(c.ExecuteFenced(in, [][]byte{make([]byte, c.Model.Main.Operands[c.Model.Main.Outputs[0]].Bytes())}, nil, nnrt.ExecuteOptions{}, 0))(t)
	res := require.V(f.Wait())(t)
	equalsReference(t, c.Model, in, res.Result)
	require.Check(t, lent.Load() != 0 && live.Load() == 0, "%d pieces of device memory, of which %d are left", lent.Load(), live.Load())
}
