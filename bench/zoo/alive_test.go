package zoo_test

import (
	"encoding/binary"
	"math"
	"os"
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/refcpu"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// picture is a smooth image with noise in [-1, 1) for an operand.
func picture(o *nn.Operand) []byte {
	var data []byte
	d, seed := o.Dimensions, uint32(99)
	for y := range d[1] {
		for x := range d[2] {
			for c := range d[3] {
				seed = seed*1664525 + 1013904223
				v := 128 + 70*math.Sin(float64(x*(c+1))/31)*math.Cos(float64(y)/(17+float64(c))) + float64(seed>>26)
				q := byte(min(max(v, 0), 255))
				switch o.Type {
				case nn.TensorFloat32:
					data = binary.LittleEndian.AppendUint32(data, math.Float32bits((float32(q)-128)/128))
				case nn.TensorQuant8AsymmSigned:
					data = append(data, q-128)
				default:
					data = append(data, q)
				}
			}
		}
	}
	return data
}

// execute runs a network on the reference CPU, on a picture or on
// noise, and shows the first output of every operation.
func execute(t *testing.T, m *nn.Model, observe func(op int, o *nn.Operand, data []byte)) (outputs [][]float64) {
	t.Helper()
	require.NoError(t, nnrt.Validate(m), m.Name)
	p := require.V(refcpu.Compile(m))(t, m.Name)
	g := &m.Main
	var in, out [][]byte
	for i, x := range g.Inputs {
		if o := &g.Operands[x]; len(o.Dimensions) == 4 {
			in = append(in, picture(o))
		} else {
			in = append(in, tensor.SyntheticInput(g, i, 7))
		}
	}
	for _, x := range g.Outputs {
		out = append(out, make([]byte, g.Operands[x].Bytes()))
	}
	err := p.Run(in, out, refcpu.Options{Observe: func(op int, outputs [][]byte) {
		observe(op, &g.Operands[g.Operations[op].Outputs[0]], outputs[0])
	}})
	require.NoError(t, err, m.Name)
	for i, x := range g.Outputs {
		outputs = append(outputs, reals(&g.Operands[x], out[i]))
	}
	return outputs
}

// reals converts values of an operand to real numbers.
func reals(o *nn.Operand, data []byte) []float64 { return sample(o, data, 1) }

// sample converts every n-th value.
func sample(o *nn.Operand, data []byte, n int) []float64 {
	v := make([]float64, len(data)/o.Type.ElementBytes()/n)
	for k := range v {
		i := k * n
		switch o.Type {
		case nn.TensorFloat32:
			v[k] = float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
		case nn.TensorQuant8Asymm:
			v[k] = float64(o.Scale) * float64(int32(data[i])-o.ZeroPoint)
		case nn.TensorQuant8AsymmSigned:
			v[k] = float64(o.Scale) * float64(int32(int8(data[i]))-o.ZeroPoint)
		}
	}
	return v
}

// signed is 1 for operands of signed bytes.
func signed(o *nn.Operand) int {
	if o.Type == nn.TensorQuant8AsymmSigned {
		return 1
	}
	return 0
}

func deviation(v []float64) float64 {
	var mean, square float64
	for _, x := range v {
		mean += x / float64(len(v))
		square += x * x / float64(len(v))
	}
	return math.Sqrt(max(square-mean*mean, 0))
}

// families names the cheapest network of each family of architectures; costly are those that run for seconds, with
// NNSOC_SWEEP=1.
var (
	families = []string{
		"mobilenet_v1_0.25_128_quant", "mobilenet_v2_0.35_96_quant", "mobilenet_v3_small_float", "mobilenet_edgetpu_quant", "mnasnet_float",
		"efficientnet_lite0_quant", "resnet_18_quant", "inception_v1_quant", "alexnet_float", "squeezenet_quant", "nasnet_mobile_float",
		"ssd_mobilenet_v1_quant", "deeplab_v3_mnv2_quant", "asr_float", "tts_float",
	}
	costly = []string{
		"resnet_101v2_quant", "densenet121_float", "inception_v3_quant", "inception_resnet_v2_float", "vgg11_float", "mobiledet_dsp_quant",
		"mobilebert_float",
	}
)

// TestFamiliesAreAlive: in each family no layer's values vanish, explode or
// saturate, and the outputs are not constant.
func TestFamiliesAreAlive(t *testing.T) {
	names := families
	if os.Getenv("NNSOC_SWEEP") != "" {
		names = append(names[:len(names):len(names)], costly...)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			m := require.V(zoo.Build(name))(t)
			outputs := execute(t, m, func(op int, o *nn.Operand, data []byte) {
				kind := m.Main.Operations[op].Type
				elements := int(o.Elements())
				if kind == nn.OpSoftmax || kind == nn.OpLstm || elements < 64 {
					return
				}
				// A gate of squeeze-and-excitation multiplies by a sixth.
				if d := deviation(sample(o, data, elements/20_000|1)); !(d > 0.005 && d < 60) {
					t.Errorf("operation %d %s %v: deviation %g", op, kind, o.Dimensions, d)
				}
				if o.Scale == 0 {
					return
				}
				var histogram [256]int
				for _, v := range data {
					histogram[v]++
				}
				used, top := 0, 0.0
				for i := range histogram {
					if n := histogram[byte(i+128*signed(o))]; n > 0 {
						used, top = used+1, float64(n)/float64(elements)
					}
				}
				if used < 30 && elements > 1000 || top > 0.12 {
					t.Errorf("operation %d %s %v: %d values used, the highest by %.1f %%", op, kind, o.Dimensions, used, 100*top)
				}
			})
			for i, v := range outputs {
				low, high := v[0], v[0]
				for _, x := range v {
					low, high = min(low, x), max(high, x)
				}
				o := &m.Main.Operands[m.Main.Outputs[i]]
				if !(high-low > 0.01) || o.Name == "probabilities" && !(high < 0.99) {
					t.Errorf("output %s is from %g to %g", o.Name, low, high)
				}
			}
		})
	}
}

// TestFormsAgree: both forms are one network: the quantized logits follow the
// float ones.
func TestFormsAgree(t *testing.T) {
	for _, name := range []string{"mobilenet_v1_0.25_128", "mobilenet_v2_0.35_128", "resnet_18"} {
		logits := func(form string) (v []float64) {
			m := zoo.MustBuild(name + form)
			execute(t, m, func(op int, o *nn.Operand, data []byte) {
				if op == len(m.Main.Operations)-2 {
					v = reals(o, data)
				}
			})
			return v
		}
		q, f := logits("_quant"), logits("_float")
		var qf, qq, ff float64
		dq, df := mean(q), mean(f)
		for i := range q {
			qf += (q[i] - dq) * (f[i] - df)
			qq += (q[i] - dq) * (q[i] - dq)
			ff += (f[i] - df) * (f[i] - df)
		}
		r := qf / math.Sqrt(qq*ff)
		t.Logf("%s: correlation of the logits %.3f, deviation %.2f", name, r, deviation(f))
		require.Check(t, r > 0.7, "%s: correlation of quantized and float logits is %.3f", name, r)
	}
}

func mean(v []float64) (m float64) {
	for _, x := range v {
		m += x / float64(len(v))
	}
	return m
}

func BenchmarkBuild(b *testing.B) {
	for _, name := range []string{"mobilenet_v1_1.0_224_quant", "mobilenet_v2_1.0_224_float", "resnet_50_float"} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				zoo.MustBuild(name)
			}
		})
	}
}
