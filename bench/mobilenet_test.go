package bench_test

import (
	"encoding/binary"
	"math"
	"reflect"
	"testing"

	"github.com/nnsoc/nnsoc/bench"
	"github.com/nnsoc/nnsoc/hal/driver/cpu"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/refcpu"
	nnrt "github.com/nnsoc/nnsoc/runtime"
)

// picture is a smooth image with noise, uint8 or float32 in [-1, 1).
func picture(t nn.OperandType) []byte {
	var data []byte
	seed := uint32(99)
	for y := range 224 {
		for x := range 224 {
			for c := range 3 {
				seed = seed*1664525 + 1013904223
				v := 128 + 70*math.Sin(float64(x*(c+1))/31)*math.Cos(float64(y)/(17+float64(c))) + float64(seed>>26)
				q := byte(min(max(v, 0), 255))
				if t == nn.TensorFloat32 {
					data = binary.LittleEndian.AppendUint32(data, math.Float32bits((float32(q)-128)/128))
				} else {
					data = append(data, q)
				}
			}
		}
	}
	return data
}

// TestMobileNetStructure: the operations and sizes of the hosted network.
func TestMobileNetStructure(t *testing.T) {
	for _, quantized := range []bool{true, false} {
		m := bench.MobileNetV1(quantized)
		if err := nnrt.Validate(m); err != nil {
			t.Fatal(err)
		}
		count := map[nn.OperationType]int{}
		for _, op := range m.Main.Operations {
			count[op.Type]++
		}
		want := map[nn.OperationType]int{
			nn.OpConv2D: 15, nn.OpDepthwiseConv2D: 13, nn.OpAveragePool2D: 1, nn.OpReshape: 1, nn.OpSoftmax: 1,
		}
		if !reflect.DeepEqual(count, want) {
			t.Errorf("operations %v, want %v", count, want)
		}
		if got := nnrt.MACs(m); got != 568_740_352+1024 { // and one per channel of the pooling
			t.Errorf("%d multiply-accumulates, published 569 M", got)
		}
		weights := 0
		for _, o := range m.Main.Operands {
			if len(o.Dimensions) == 4 && o.Lifetime == nn.ConstantReference {
				weights += int(o.Elements())
			}
		}
		if weights != 4_210_112 { // 4.24 M published, with biases and batch normalization
			t.Errorf("%d weights", weights)
		}
		if again := bench.MobileNetV1(quantized); !reflect.DeepEqual(m, again) {
			t.Error("two builds differ")
		}
	}
}

// TestMobileNetIsAlive: no layer saturates, dies or repeats a value: every
// channel count of an activation uses its range.
func TestMobileNetIsAlive(t *testing.T) {
	m := bench.MobileNetV1(true)
	p, err := refcpu.Compile(m)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]byte, 1001)
	last := len(m.Main.Operations) - 1
	err = p.Run([][]byte{picture(nn.TensorQuant8Asymm)}, [][]byte{out}, refcpu.Options{
		Observe: func(op int, outputs [][]byte) {
			if op == last {
				return
			}
			var histogram [256]int
			v := outputs[0]
			for _, b := range v {
				histogram[b]++
			}
			used, most := 0, 0
			for _, n := range histogram {
				if n > 0 {
					used++
				}
				most = max(most, n)
			}
			name := m.Main.Operations[op].Type
			low, high := float64(histogram[0])/float64(len(v)), float64(histogram[255])/float64(len(v))
			// A rectified bell is zero half of the time and clips beyond three sigma.
			if used < 40 || low > 0.7 || high > 0.05 || float64(most) > 0.7*float64(len(v)) {
				t.Errorf("operation %d %s: %d values used, %.2f at the bottom, %.3f at the top", op, name, used, low, high)
			}
			t.Logf("operation %2d %-17s %3d values, %.2f at 0, %.4f at 255", op, name, used, low, high)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	top := 0
	for i, b := range out {
		if b > out[top] {
			top = i
		}
	}
	if out[top] == 0 || out[top] == 255 {
		t.Errorf("probability of the first class is %d/256", out[top])
	}
}

// TestMobileNetFormsAgree: both forms are one network: the float logits follow
// the quantized ones.
func TestMobileNetFormsAgree(t *testing.T) {
	logits := func(quantized bool) []float64 {
		m := bench.MobileNetV1(quantized)
		p, err := refcpu.Compile(m)
		if err != nil {
			t.Fatal(err)
		}
		typ := m.Main.Operands[m.Main.Inputs[0]].Type
		var v []float64
		out := make([]byte, 1001*typ.ElementBytes())
		err = p.Run([][]byte{picture(typ)}, [][]byte{out}, refcpu.Options{Observe: func(op int, outputs [][]byte) {
			if m.Main.Operations[op].Type != nn.OpReshape {
				return
			}
			for i := 0; i < len(outputs[0]); i += typ.ElementBytes() {
				if quantized {
					v = append(v, (float64(outputs[0][i])-100)*0.125)
				} else {
					v = append(v, float64(math.Float32frombits(binary.LittleEndian.Uint32(outputs[0][i:]))))
				}
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	q, f := logits(true), logits(false)
	var qf, qq, ff, qm, fm float64
	for i := range q {
		qm += q[i] / float64(len(q))
		fm += f[i] / float64(len(q))
	}
	for i := range q {
		qf += (q[i] - qm) * (f[i] - fm)
		qq += (q[i] - qm) * (q[i] - qm)
		ff += (f[i] - fm) * (f[i] - fm)
	}
	r := qf / math.Sqrt(qq*ff)
	t.Logf("correlation of the logits %.3f, deviation %.2f", r, math.Sqrt(ff/float64(len(f))))
	if !(r > 0.8) {
		t.Errorf("correlation of quantized and float logits is %.3f", r)
	}
}

func TestGemm(t *testing.T) {
	for typ := range bench.GemmTypes {
		m, err := bench.Gemm(typ, 48)
		if err != nil {
			t.Fatal(err)
		}
		if got := nnrt.MACs(m); got != 48*48*48 {
			t.Errorf("%s: %d multiply-accumulates", typ, got)
		}
		out, err := cpu.Reference(m, [][]byte{bench.GemmInput(m)})
		if err != nil {
			t.Fatalf("%s: %v", typ, err)
		}
		used := map[string]bool{}
		n := m.Main.Operands[m.Main.Outputs[0]].Type.ElementBytes()
		for i := 0; i < len(out[0]); i += n {
			used[string(out[0][i:i+n])] = true
		}
		if len(used) < 40 {
			t.Errorf("%s: only %d different results", typ, len(used))
		}
	}
	for _, size := range []int{0, -1, bench.MaxGemm + 1} {
		if _, err := bench.Gemm("u8", size); err == nil {
			t.Errorf("size %d accepted", size)
		}
	}
	if _, err := bench.Gemm("u4", 8); err == nil {
		t.Error("type u4 accepted")
	}
}

func BenchmarkBuildMobileNet(b *testing.B) {
	for range b.N {
		bench.MobileNetV1(true)
	}
}

// TestNetworkSizes: multiply-accumulates of the other networks, as published.
func TestNetworkSizes(t *testing.T) {
	for _, c := range []struct {
		m          *nn.Model
		operations int
		mmac       int64
	}{
		{bench.MobileNetV1Quarter(), 31, 41},
		{bench.MobileNetV2(), 66, 300},
		{bench.InceptionV3(), 126, 5713},
	} {
		if err := nnrt.Validate(c.m); err != nil {
			t.Errorf("%s: %v", c.m.Name, err)
		}
		if n := len(c.m.Main.Operations); n != c.operations {
			t.Errorf("%s: %d operations, want %d", c.m.Name, n, c.operations)
		}
		if got := nnrt.MACs(c.m) / 1e6; got != c.mmac {
			t.Errorf("%s: %d million multiply-accumulates, want %d", c.m.Name, got, c.mmac)
		}
	}
}
