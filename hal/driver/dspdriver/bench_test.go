package dspdriver

import (
	"encoding/binary"
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/drivertest"
)

func BenchmarkMobileNetV1(b *testing.B) {
	m, in := network(b, "mobilenet_v1_1.0_224_quant")
	benchmark(b, m, in)
}

// BenchmarkGEMM512 is a FULLY_CONNECTED of 512 rows, depth 512, 512 units.
func BenchmarkGEMM512(b *testing.B) {
	const n = 512
	g := builder{}
	x := g.input(nn.Operand{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{n, n}, Scale: 0.02, ZeroPoint: 128})
	w := make([]byte, n*n)
	for i := range w {
		w[i] = byte(i * 7919 >> 3)
	}
	f := g.operand(nn.Operand{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{n, n}, Scale: 0.02, ZeroPoint: 128, Lifetime: nn.ConstantCopy, Data: w})
	bias := g.operand(nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{n}, Scale: float32(0.02) * float32(0.02), Lifetime: nn.ConstantCopy,
		Data: binary.LittleEndian.AppendUint32(make([]byte, 4*n-4), 1)})
	y := g.output(nn.Operand{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{n, n}, Scale: 1, ZeroPoint: 128})
	g.add(nn.OpFullyConnected, []uint32{x, f, bias, g.int32(0)}, y)
	in := make([]byte, n*n)
	for i := range in {
		in[i] = byte(i * 31 >> 2)
	}
	benchmark(b, &g.m, in)
}

func benchmark(b *testing.B, m *nn.Model, in []byte) {
	d := device(b)
	p, err := d.PrepareModel(m, hal.PrepareOptions{})
	require.NoError(b, err)
	r := &hal.Buffers{Inputs: [][]byte{in}, Outputs: drivertest.Outputs(m)}
	var res *hal.Result
	for b.Loop() {
		if res, err = hal.Execute(p, r); err != nil {
			b.Fatal(err)
		}
	}
	macs := int64(0)
	for _, s := range res.Stats.Operations {
		macs += s.MACs
		if testing.Verbose() && s.Index >= 0 {
			b.Logf("%3d %-18v %8d cycles, %4.0f MAC/cycle, %s", s.Index, m.Main.Operations[s.Index].Type, s.Cycles, float64(s.MACs)/float64(s.Cycles), s.BoundBy)
		}
	}
	b.Logf("%v", res.Stats.Stalls)
	b.Logf("%v", res.Stats.Counters)
	b.ReportMetric(float64(macs)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GMAC/s")
	b.ReportMetric(float64(res.Stats.Cycles), "cycles")
	b.ReportMetric(float64(res.Stats.Instructions), "instructions")
}

// BenchmarkCostPerMAC compares networks of different sizes: the host's time and
// the simulated cycles of a multiply-accumulate should not depend on the size.
func BenchmarkCostPerMAC(b *testing.B) {
	for _, n := range []struct {
		name, network string
	}{
		{"MobileNetV1Quarter", "mobilenet_v1_0.25_224_quant"}, {"MobileNetV1", "mobilenet_v1_1.0_224_quant"},
		{"MobileNetV2", "mobilenet_v2_1.0_224_quant"}, {"InceptionV3", "inception_v3_quant"},
	} {
		b.Run(n.name, func(b *testing.B) {
			m := zoo.MustBuild(n.network)
			p, err := device(b).PrepareModel(m, hal.PrepareOptions{})
			require.NoError(b, err)
			r := &hal.Buffers{Inputs: [][]byte{make([]byte, m.Main.Operands[m.Main.Inputs[0]].Bytes())}, Outputs: drivertest.Outputs(m)}
			var res *hal.Result
			for b.Loop() {
				if res, err = hal.Execute(p, r); err != nil {
					b.Fatal(err)
				}
			}
			macs := 0.0
			for _, s := range res.Stats.Operations {
				macs += float64(s.MACs)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/macs, "ns/MAC")
			b.ReportMetric(float64(res.Stats.Cycles)/macs*1000, "cycles/kMAC")
		})
	}
}

func BenchmarkPrepareMobileNetV1(b *testing.B) {
	m, _ := network(b, "mobilenet_v1_1.0_224_quant")
	d := device(b)
	for b.Loop() {
		require.V(d.PrepareModel(m, hal.PrepareOptions{}))(b)
	}
}

// BenchmarkRuntimeParameters executes a model one of whose parameters is an input: with a plan
// at hand, and with values that are always new.
func BenchmarkRuntimeParameters(b *testing.B) {
	m, in := runtimePad()
	for _, c := range []struct {
		name   string
		values int
	}{{"kept", 1}, {"new", 2 * compile.MaxBoundPrograms}} {
		b.Run(c.name, func(b *testing.B) {
			p := require.V(device(b).PrepareModel(m, hal.PrepareOptions{}))(b)
			out := make([]byte, 1<<12)
			k := 0
			for b.Loop() {
				k++
				require.V(hal.Execute(p, &hal.Buffers{Inputs: [][]byte{in, words(k%c.values, 1, 2, 0)}, Outputs: [][]byte{out}}))(b)
			}
		})
	}
}
