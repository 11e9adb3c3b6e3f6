package gpudriver

import (
	"testing"

	"github.com/nnsoc/nnsoc/bench"
	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/soc"
)

func pixel4(b *testing.B) *Device {
	c := require.V(soc.Load("pixel4"))(b)
	d, err := New(Config{Spec: gpu.DefaultSpec(), NewMemory: func() (mem.Level, error) {
		_, bus, err := c.NewFabric()
		if err != nil {
			return nil, err
		}
		return bus.Port("gpu"), nil
	}})
	require.NoError(b, err)
	return d
}

func benchmark(b *testing.B, m *nn.Model, functional bool) {
	p, err := pixel4(b).PrepareModel(m, hal.PrepareOptions{})
	require.NoError(b, err)
	r := &hal.Buffers{ExecuteOptions: hal.ExecuteOptions{Functional: functional}}
	for _, x := range m.Main.Inputs {
		r.Inputs = append(r.Inputs, make([]byte, m.Main.Operands[x].Bytes()))
	}
	for _, x := range m.Main.Outputs {
		r.Outputs = append(r.Outputs, make([]byte, m.Main.Operands[x].Bytes()))
	}
	var res *hal.Result
	for b.Loop() {
		r.Inputs[0][0] ^= 1 // on the same inputs it would be timed alone
		if res, err = hal.Execute(p, r); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(res.Stats.Instructions), "instructions/op")
	b.ReportMetric(float64(res.Stats.Instructions)*32*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mlanes/s")
	b.ReportMetric(float64(res.Stats.Cycles), "cycles/op")
	if testing.Verbose() {
		b.Log(res.Stats.Stalls)
		for _, o := range res.Stats.Operations {
			if o.Index < 0 {
				continue
			}
			b.Log(o.Index, m.Main.Operations[o.Index].Type, o.Cycles, o.MACs, o.BoundBy)
		}
	}
}

func BenchmarkMobileNet(b *testing.B) {
	benchmark(b, zoo.MustBuild("mobilenet_v1_1.0_224_float"), false)
}
func BenchmarkMobileNetFunctional(b *testing.B) {
	benchmark(b, zoo.MustBuild("mobilenet_v1_1.0_224_float"), true)
}

func BenchmarkMobileNetRelaxed(b *testing.B) {
	m := zoo.MustBuild("mobilenet_v1_1.0_224_float")
	m.Relaxed = true
	benchmark(b, m, false)
}

func BenchmarkGemm256(b *testing.B) {
	m := require.V(bench.Gemm("f32", 256))(b)
	benchmark(b, m, false)
}

func BenchmarkPrepareMobileNet(b *testing.B) {
	m := zoo.MustBuild("mobilenet_v1_1.0_224_float")
	d := pixel4(b)
	for b.Loop() {
		if _, err := d.PrepareModel(m, hal.PrepareOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
