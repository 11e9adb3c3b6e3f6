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

// A model that nobody refers to is freed when its client's quota is exhausted, and so is one that only a forgotten burst
// refers to, while others are kept; where all are kept, the quota's error comes.
func TestForgottenModels(t *testing.T) {
	_, path := serve(t, timed(t), service.Quotas{Prepared: 4})
	there := dial(t, path)
	prepare := func() (hal.PreparedModel, error) { return there.PrepareModel(add(), hal.PrepareOptions{}) }
	kept := []hal.PreparedModel{require.V(prepare())(t)}
	for range 12 {
		p := require.V(prepare())(t)
		require.V(p.ConfigureExecutionBurst())(t)
	}
	for range 3 {
		kept = append(kept, require.V(prepare())(t))
	}
	require.Same(t, hal.ResourceExhaustedTransient, hal.StatusOf(require.Err(prepare())), "all are kept")
	runtime.KeepAlive(kept)
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

// Copies of what a request names count while it is executed.
func TestCopiesCount(t *testing.T) {
	_, path := serve(t, device(), service.Quotas{Memory: 12 << 20})
	d := dial(t, path)
	p := require.V(d.PrepareModel(heavy(t), hal.PrepareOptions{}))(t)
	values := hal.Buffers{Inputs: [][]byte{make([]byte, 1<<20)}, Outputs: [][]byte{make([]byte, 1<<20)}}
	values.Functional = true
	require.Report(t, require.Err(hal.Execute(p, &values)), "alone")
	var kept []hal.Buffer
	for len(kept) < 64 {
		b, err := d.Allocate(hal.BufferDesc{}, []hal.PreparedModel{p}, []hal.BufferRole{{Frequency: 1}}, nil)
		if err != nil {
			break
		}
		kept = append(kept, b)
	}
	err := require.Err(hal.Execute(p, &values))
	require.Same(t, hal.ResourceExhaustedTransient, hal.StatusOf(err), "execution beside full memory", err)
	for _, b := range kept {
		b.Release()
	}
	require.Report(t, require.Err(hal.Execute(p, &values)), "after the release")
}

// addBytes is a model of one ADD of 16 quantized values and a constant.
func addBytes() *nn.Model {
	of := func(l nn.Lifetime, data []byte) nn.Operand {
		return nn.Operand{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{16}, Scale: 1, Lifetime: l, Data: data}
	}
	return &nn.Model{Main: nn.Subgraph{
		Operands: []nn.Operand{
			of(nn.SubgraphInput, nil), of(nn.ConstantCopy, make([]byte, 16)), {Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: make([]byte, 4)}, of(nn.SubgraphOutput, nil),
		},
		Operations: []nn.Operation{{Type: nn.OpAdd, Inputs: []uint32{0, 1, 2}, Outputs: []uint32{3}}},
		Inputs:     []uint32{0}, Outputs: []uint32{3},
	}}
}

// All that calls and objects count is given back: nothing is used when the last session has ended.
func TestAllIsGivenBack(t *testing.T) {
	phone := require.V(soc.Load("pixel4"))(t)
	for _, dev := range require.V(devices.Open(phone, hal.FastSingleAnswer))(t) {
		s, path := serve(t, dev, service.Quotas{})
		d := require.V(service.Dial(path))(t)
		m := add()
		if list := require.V(d.SupportedOperations(m))(t); !list[0].OK {
			m = addBytes()
		}
		p := require.V(d.PrepareModel(m, hal.PrepareOptions{}))(t, dev.Name())
		r := request(1)
		require.Report(t, require.Err(hal.Execute(p, r)), dev.Name())
		b := require.V(p.ConfigureExecutionBurst())(t)
		require.Report(t, require.Err(b.Execute(r.Request(), hal.ExecuteOptions{})), dev.Name())
		f := require.V(p.ExecuteFenced(r.Request(), nil, hal.ExecuteOptions{Functional: true}, 0))(t)
		<-f.Fence.Done()
		bad := request(1)
		bad.Inputs[0] = bad.Inputs[0][:4]
		require.Fails(t, require.Err(hal.Execute(p, bad)), dev.Name())
		require.Report(t, require.Err(d.Allocate(hal.BufferDesc{}, []hal.PreparedModel{p}, []hal.BufferRole{{Frequency: 1}}, nil)), dev.Name())
		require.Check(t, len(s.Used()) > 0, "%s: nothing is used", dev.Name())
		require.Report(t, d.Close())
		for end := time.Now().Add(20 * time.Second); len(s.Used()) > 0; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: used after the session has ended: %v", dev.Name(), s.Used())
			}
		}
	}
}
