//go:build linux

package service

import (
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// A memory in the cache stays mapped in the driver until all that requested it have
// released it, however many others executions use.
func TestCacheMemory(t *testing.T) {
	phone := require.V(soc.Load("pixel4"))(t)
	list := require.V(devices.Open(phone, hal.FastSingleAnswer))(t)
	d, stop := require.V2(Loopback(list[0]))(t)
	defer stop()
	b := builder.New(builder.Config{})
	x := b.Input(b.Operand(nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{4}}), "x")
	b.Output(b.Apply(nn.OpRelu, nn.TensorFloat32, builder.Quant{}, x), "y")
	m := require.V(b.Model("relu"))(t)
	p := require.V(d.PrepareModel(m, hal.PrepareOptions{}))(t)
	opened := require.V(p.ConfigureExecutionBurst())(t)
	burst := opened.(*burstHandle)
	input, cached := hal.NewMemory(16), hal.NewMemory(16)
	input.Data[3], input.Data[7] = 0x40, 0xc0 // 2 and -2
	execute := func(to *hal.Memory) {
		t.Helper()
		whole := func(pool uint32) []hal.RequestArgument {
			return []hal.RequestArgument{{Location: hal.DataLocation{PoolIndex: pool, Length: 16}}}
		}
		r := &hal.Request{Inputs: whole(0), Outputs: whole(1), Pools: []hal.RequestPool{{Memory: input}, {Memory: to}}}
		clear(to.Data)
		require.V(burst.Execute(r, hal.ExecuteOptions{}))(t)
		if to.Data[3] != 0x40 || to.Data[7] != 0 {
			t.Fatalf("relu of 2 and -2 is %x", to.Data)
		}
	}
	mapped := func(when string, want bool) {
		t.Helper()
		burst.mu.Lock()
		defer burst.mu.Unlock()
		require.Same(t, want, burst.slots[cached] != nil, when, "mapped is")
	}
	one, two := burst.CacheMemory(cached), burst.CacheMemory(cached)
	execute(cached)
	mapped("cached twice", true)
	one()
	one() // a second time is none
	mapped("held once more", true)
	for range maxSlots + 6 { // more than a burst keeps when nobody uses them
		execute(hal.NewMemory(16))
	}
	mapped("beside many others", true)
	two()
	mapped("released", false)
	execute(cached)
	mapped("executed", true)
	burst.CacheMemory(nil)()
	late := burst.CacheMemory(cached)
	require.Report(t, burst.Close())
	mapped("closed", false)
	late()
	burst.CacheMemory(cached)()
	mapped("cached when it was closed", false)
	require.Fails(t, require.Err(burst.Execute(&hal.Request{}, hal.ExecuteOptions{})), "a closed burst executes")
}
