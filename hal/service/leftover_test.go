//go:build linux

package service_test

import (
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/service"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/registry"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// in is a request that reads 16 bytes of one memory and writes 16 to another.
func in(from, to *hal.Memory) *hal.Request {
	whole := func(pool uint32) []hal.RequestArgument {
		return []hal.RequestArgument{{Location: hal.DataLocation{PoolIndex: pool, Length: 16}}}
	}
	return &hal.Request{Inputs: whole(0), Outputs: whole(1), Pools: []hal.RequestPool{{Memory: from}, {Memory: to}}}
}

// crowd uses one burst from many goroutines: most executions meet another that runs, which
// is an error of theirs; what succeeds is right.
func crowd(t *testing.T, p hal.PreparedModel) {
	burst, err := p.ConfigureExecutionBurst()
	if err != nil {
		t.Error(err)
		return
	}
	var wait sync.WaitGroup
	memories := []*hal.Memory{hal.NewMemory(16), hal.NewMemory(16), hal.NewMemory(16)}
	for _, m := range memories {
		copy(m.Data, request(5).Inputs[0])
	}
	for k := range 4 {
		wait.Go(func() {
			for i := range 25 {
				release := burst.CacheMemory(memories[(i+k)%len(memories)])
				to := hal.NewMemory(16)
				if _, err := burst.Execute(in(memories[(i+1)%len(memories)], to), hal.ExecuteOptions{}); err == nil {
					check(t, 5, to.Data)
				}
				release()
			}
		})
	}
	wait.Wait()
	require.Report(t, burst.Close())
}

// Bursts, services, caches and the runtime leave no goroutine behind when they are
// closed, and none that uses them is stuck.
func TestNothingIsLeft(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	done := make(chan struct{})
	go func() {
		defer close(done)
		phone, err := soc.Load("pixel4")
		if err != nil {
			t.Error(err)
			return
		}
		list, err := devices.Open(phone, hal.FastSingleAnswer)
		if err != nil {
			t.Error(err)
			return
		}
		var drivers []hal.Device
		for _, here := range list[:2] { // the CPU and the GPU, which caches
			there, stop, err := service.Loopback(here)
			if err != nil {
				t.Error(err)
				return
			}
			defer stop()
			for _, d := range []hal.Device{here, there} {
				p, err := d.PrepareModel(add(), hal.PrepareOptions{})
				if err != nil {
					t.Error(err)
					return
				}
				crowd(t, p)
			}
			drivers = append(drivers, there)
		}
		runtimeUses(t, drivers)
		require.Report(t, require.Err(service.Crowd(list[0], 8, func(d *service.Device) {
			if p, err := d.PrepareModel(add(), hal.PrepareOptions{}); err == nil {
				crowd(t, p)
			}
		})))
		dies(t, list[0])
	}()
	select {
	case <-done:
	case <-time.After(3 * time.Minute):
		t.Fatal("stuck after 3 minutes")
	}
}

// runtimeUses compiles twice, the second time from the cache, and executes through bursts.
func runtimeUses(t *testing.T, drivers []hal.Device) {
	r, err := registry.New(drivers[0], drivers[1:]...)
	if err != nil {
		t.Error(err)
		return
	}
	o := nnrt.CompileOptions{Cache: registry.Cache{Dir: t.TempDir(), Token: hal.CacheToken{1}}}
	for range 2 {
		c, err := nnrt.Compile(r, add(), "gpu", o)
		if err != nil {
			t.Error(err)
			return
		}
		b := c.NewBurst()
		for range 3 {
			r, err := c.Execute(request(2).Inputs, nnrt.ExecuteOptions{Burst: true, Through: b})
			if err != nil {
				t.Error(err)
				return
			}
			check(t, 2, r.Outputs[0])
		}
		require.Report(t, b.Close())
	}
}

// dies ends a driver while clients use it.
func dies(t *testing.T, d hal.Device) {
	there, stop, err := service.Loopback(d)
	if err != nil {
		t.Error(err)
		return
	}
	p, err := there.PrepareModel(add(), hal.PrepareOptions{})
	require.Report(t, err)
	burst, err := p.ConfigureExecutionBurst()
	require.Report(t, err)
	var wait sync.WaitGroup
	wait.Go(func() {
		from, to := hal.NewMemory(16), hal.NewMemory(16)
		for range 1000 {
			release := burst.CacheMemory(to)
			_, err := burst.Execute(in(from, to), hal.ExecuteOptions{})
			release()
			if err != nil {
				return
			}
		}
	})
	wait.Go(func() {
		for range 1000 {
			fence := hal.NewSyncFence()
			f, err := p.ExecuteFenced(request(1).Request(), []*hal.SyncFence{fence}, hal.ExecuteOptions{Functional: true}, 0)
			fence.Signal(0, nil)
			if err != nil {
				return
			}
			<-f.Fence.Done()
			if _, err := f.ExecutionInfo(); err != nil {
				return
			}
		}
	})
	time.Sleep(20 * time.Millisecond)
	stop()
	wait.Wait()
	_ = burst.Close()
}
