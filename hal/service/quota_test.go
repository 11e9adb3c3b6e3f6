//go:build linux

package service_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/service"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// heavy is a model of an ADD with a constant of a mebibyte.
func heavy(t *testing.T) *nn.Model {
	t.Helper()
	const n = 1 << 18
	b := builder.New(builder.Config{})
	x := b.Input(b.Operand(nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{n}}), "x")
	b.Output(b.Apply(nn.OpAdd, nn.TensorFloat32, builder.Quant{}, x, b.Floats([]uint32{n}, make([]float32, n)...), b.Int32(0)), "y")
	m := require.V(b.Model("heavy"))(t)
	return m
}

// What is compiled counts beside the copies of models, until it is released.
func TestProgramsCount(t *testing.T) {
	phone := require.V(soc.Load("pixel4"))(t)
	list := require.V(devices.Open(phone, hal.FastSingleAnswer))(t)
	for _, d := range list[1:] { // the CPU runs models as they are
		_, path := serve(t, d, service.Quotas{Memory: 8 << 20})
		m := heavy(t)
		if s, err := d.SupportedOperations(m); err != nil || !s[0].OK {
			continue
		}
		there := dial(t, path)
		count := func() (n int, kept []hal.PreparedModel) {
			for n = range 16 {
				p, err := there.PrepareModel(m, hal.PrepareOptions{})
				if hal.StatusOf(err) == hal.ResourceExhaustedTransient {
					return n, kept
				}
				require.NoError(t, err, d.Name())
				kept = append(kept, p)
			}
			return n, kept
		}
		if n, kept := count(); n < 1 || n > 3 { // 1 MiB each of a model and of its program, beside that in the client's memory
			t.Errorf("%s: %d programs of 1 MiB and their models within 8 MiB", d.Name(), n)
		} else {
			runtime.KeepAlive(kept)
		}
		require.Report(t, there.Close())
	}
}

// The driver's copies of models count against the client's memory as long as what is
// prepared from them lives, so that one shared memory cannot fill the driver.
func TestModelsCount(t *testing.T) {
	s, path := serve(t, device(), service.Quotas{Memory: 8 << 20})
	m := heavy(t)
	d := dial(t, path)
	var kept []hal.PreparedModel
	var err error
	for len(kept) < 64 && err == nil {
		var p hal.PreparedModel
		if p, err = d.PrepareModel(m, hal.PrepareOptions{}); err == nil {
			kept = append(kept, p)
		}
	}
	if hal.StatusOf(err) != hal.ResourceExhaustedTransient || len(kept) < 2 || len(kept) > 7 {
		t.Errorf("%d models of 1 MiB are prepared within 8 MiB, then: %v", len(kept), err)
	}
	require.Report(t, require.Err(d.SupportedOperations(add())), "a small model beside them")
	require.Report(t, d.Close())
	for end := time.Now().Add(20 * time.Second); s.Held().Total() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("held after the session has ended: %+v", s.Held())
		}
	}
	again := dial(t, path)
	for range 16 { // queries give their memory back
		require.V(again.SupportedOperations(m))(t, "after the session has ended")
	}
	require.Report(t, require.Err(again.PrepareModel(m, hal.PrepareOptions{})))
}

// Device memory counts by its bytes against the client's memory until it is released.
func TestDeviceMemoryCounts(t *testing.T) {
	_, path := serve(t, device(), service.Quotas{Memory: 8 << 20})
	d := dial(t, path)
	p, err := d.PrepareModel(heavy(t), hal.PrepareOptions{})
	require.NoError(t, err)
	var kept []hal.Buffer
	allocate := func() error {
		b, err := d.Allocate(hal.BufferDesc{}, []hal.PreparedModel{p}, []hal.BufferRole{{Frequency: 1}}, nil)
		if err == nil {
			kept = append(kept, b)
		}
		return err
	}
	for len(kept) < 64 && err == nil {
		err = allocate()
	}
	if n := len(kept); hal.StatusOf(err) != hal.ResourceExhaustedTransient || n < 2 || n > 7 {
		t.Fatalf("%d device memories of 1 MiB within 8 MiB, then: %v", n, err)
	}
	kept[0].Release()
	require.Report(t, allocate(), "where one has been released")
	if err := allocate(); hal.StatusOf(err) != hal.ResourceExhaustedTransient {
		t.Errorf("and one more: %v", err)
	}
}
