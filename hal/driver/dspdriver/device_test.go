package dspdriver

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/importer/tflite"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/internal/shared"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/soc"
	"github.com/nnsoc/nnsoc/testvectors/drivertest"
)

// device is pixel4's DSP, the same for all tests: they share its kernels.
func device(t testing.TB) *Device {
	t.Helper()
	d := require.V(pixel4DSP())(t)
	return d
}

var pixel4DSP = sync.OnceValues(func() (*Device, error) { return pixel4Version(66) })

// qemuDevice is pixel4's DSP as QEMU has it: without the Z window.
func qemuDevice(t testing.TB) *Device {
	t.Helper()
	d := require.V(pixel4Version(65))(t)
	return d
}

// pixel4Version is pixel4's DSP with another version of the instruction set.
func pixel4Version(version int) (*Device, error) {
	c, err := soc.Load("pixel4")
	if err != nil {
		return nil, err
	}
	s, err := dsp.FromSoC(c, sim.FastSingleAnswer)
	if err != nil {
		return nil, err
	}
	s.Version = version
	return New(Config{Spec: s, NewMemory: func() (mem.Level, error) {
		l, _, err := c.NewPath("dsp", 0)
		return l, err
	}})
}

// allKernels are the kernels that a prepared model has so far.
func allKernels(p hal.PreparedModel) []*hvx.Linked {
	var list []*hvx.Linked
	for _, programs := range compile.Programs(p) {
		for _, x := range programs {
			list = append(list, x.(*executable).all...)
		}
	}
	return list
}

// network imports a network of the shared data with its first input.
func network(t testing.TB, name string) (*nn.Model, []byte) {
	t.Helper()
	data := require.File(t, shared.Path(t, "models", name, "model.tflite"))
	m := require.V(tflite.Import(data, nil))(t)
	in := require.File(t, shared.Path(t, "models", name, "case0.in0.bin"))
	return m, in
}

// testNetworks are published networks with synthetic weights, small enough for every run.
var testNetworks = []string{
	"mlperf_tiny_ad_quant", "mlperf_tiny_ic_quant", "mlperf_tiny_kws_quant", "mlperf_tiny_vww_quant",
	"mobilenet_v1_0.25_128_quant", "mobilenet_v2_0.35_96_quant",
}

// synthetic is a network of the zoo with an input.
func synthetic(t testing.TB, name string) (*nn.Model, []byte) {
	t.Helper()
	m := require.V(zoo.Build(name))(t)
	return m, tensor.SyntheticInput(&m.Main, 0, 1)
}

// givenNetworks are the quantized networks of the shared data that this device runs.
var givenNetworks = []string{
	"mlperf_tiny_ad_int8", "mlperf_tiny_ic_resnet8_int8", "mlperf_tiny_kws_int8", "mlperf_tiny_vww_int8",
	"tflm_person_detect_int8", "mobilenet_v1_0.25_128_quant", "mobilenet_v1_1.0_224_quant", "mobilenet_v2_1.0_224_quant",
	"tf2_mobilenet_v2_1.0_224_ptq", "ssd_mobilenet_v1_quant_nopost",
}

// TestNetworks demands the reference's bytes of whole networks.
func TestNetworks(t *testing.T) {
	d := device(t)
	run := func(t *testing.T, m *nn.Model, in []byte) {
		res := drivertest.Exact(t, d, m, [][]byte{in}, false)
		t.Logf("%d cycles, %d instructions", res.Stats.Cycles, res.Stats.Instructions)
	}
	for _, name := range testNetworks {
		t.Run("synthetic/"+name, func(t *testing.T) {
			m, in := synthetic(t, name)
			run(t, m, in)
		})
	}
	for _, name := range givenNetworks {
		t.Run("given/"+name, func(t *testing.T) {
			m, in := network(t, name)
			run(t, m, in)
		})
	}
}

// builder makes one-operation models.
type builder struct {
	m nn.Model
	r *rand.Rand
}

func newBuilder(r *rand.Rand) *builder { return &builder{r: r} }

func (b *builder) operand(o nn.Operand) uint32 {
	o.Lifetime = cmp.Or(o.Lifetime, nn.TemporaryVariable)
	b.m.Main.Operands = append(b.m.Main.Operands, o)
	return uint32(len(b.m.Main.Operands) - 1)
}

func (b *builder) int32(v int) uint32 {
	return b.operand(nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: binary.LittleEndian.AppendUint32(nil, uint32(v))})
}

func (b *builder) int32s(dims []uint32, v ...int) uint32 {
	var data []byte
	for _, x := range v {
		data = binary.LittleEndian.AppendUint32(data, uint32(x))
	}
	return b.operand(nn.Operand{Type: nn.TensorInt32, Dimensions: dims, Lifetime: nn.ConstantCopy, Data: data})
}

func (b *builder) input(o nn.Operand) uint32 {
	o.Lifetime = nn.SubgraphInput
	i := b.operand(o)
	b.m.Main.Inputs = append(b.m.Main.Inputs, i)
	return i
}

func (b *builder) output(o nn.Operand) uint32 {
	o.Lifetime = nn.SubgraphOutput
	i := b.operand(o)
	b.m.Main.Outputs = append(b.m.Main.Outputs, i)
	return i
}

func (b *builder) add(t nn.OperationType, in []uint32, out ...uint32) {
	b.m.Main.Operations = append(b.m.Main.Operations, nn.Operation{Type: t, Inputs: in, Outputs: out})
}

// activation is a random quantized tensor type.
func (b *builder) activation(t nn.OperandType, dims ...int) nn.Operand {
	o := nn.Operand{Type: t, Scale: float32(0.005 + 0.02*b.r.Float64()), ZeroPoint: b.r.Int32N(256)}
	if t == nn.TensorQuant8AsymmSigned {
		o.ZeroPoint -= 128
	}
	for _, d := range dims {
		o.Dimensions = append(o.Dimensions, uint32(d))
	}
	return o
}

func (b *builder) bytes(n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(b.r.Uint32())
	}
	return data
}

// run compares with the reference on random inputs.
func (b *builder) run(t *testing.T, d *Device, what string) {
	t.Helper()
	var in [][]byte
	for _, i := range b.m.Main.Inputs {
		in = append(in, b.bytes(int(b.m.Main.Operands[i].Bytes())))
	}
	t.Run(what, func(t *testing.T) {
		drivertest.Exact(t, d, &b.m, in, b.r.IntN(2) == 0)
		if b.r.IntN(3) == 0 {
			checkRuntimeParameters(t, d, &b.m, in)
		}
	})
}

func pick[T any](r *rand.Rand, l ...T) T { return l[r.IntN(len(l))] }

// quantType is unsigned or signed.
func quantType(r *rand.Rand) nn.OperandType {
	return pick(r, nn.TensorQuant8Asymm, nn.TensorQuant8AsymmSigned)
}

// weights makes a filter and a bias: per tensor with any zero point, or per channel.
func (b *builder) weights(in nn.Operand, dims []int, channels, dim int) (f, bias uint32) {
	n := 1
	for _, d := range dims {
		n *= d
	}
	o := b.activation(in.Type, dims...)
	o.Lifetime, o.Data = nn.ConstantCopy, b.bytes(n)
	biasScale := in.Scale * o.Scale
	switch {
	case b.r.IntN(2) == 0:
		o.Type, o.Scale, o.ZeroPoint = nn.TensorQuant8SymmPerChannel, 0, 0
		o.Channel = &nn.ChannelQuant{Dim: uint32(dim)}
		for range channels {
			o.Channel.Scales = append(o.Channel.Scales, float32(0.001+0.02*b.r.Float64()))
		}
		biasScale = 0
	case in.Type == nn.TensorQuant8AsymmSigned && b.r.IntN(2) == 0:
		o.ZeroPoint = 0
	case b.r.IntN(4) == 0:
		o.ZeroPoint = 0
	}
	var data []byte
	for range channels {
		data = binary.LittleEndian.AppendUint32(data, uint32(b.r.Int32N(20001)-10000))
	}
	return b.operand(o), b.operand(nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{uint32(channels)},
		Scale: biasScale, Lifetime: nn.ConstantCopy, Data: data})
}

// outScale makes a random output scale that uses a good part of the range.
func outScale(b *builder, in nn.Operand, terms int) float32 {
	return in.Scale * 0.01 * float32(terms) * float32(0.2+2*b.r.Float64())
}

// conv adds a convolution with padding SAME, and random type, weights, bias and activation, of an n x h x w x c input to k channels
// with kernels of kh x kw at strides of sh and sw. It returns the input and what it added.
func (b *builder) conv(n, h, w, c, k, kh, kw, sh, sw int) (x uint32, what string) {
	in := b.activation(quantType(b.r), n, h, w, c)
	x = b.input(in)
	f, bias := b.weights(in, []int{k, kh, kw, c}, k, 0)
	args := []uint32{x, f, bias, b.int32(nn.PaddingSame), b.int32(sw), b.int32(sh), b.int32(b.r.IntN(4))}
	out := b.activation(in.Type, n, (h+sh-1)/sh, (w+sw-1)/sw, k)
	out.Scale = outScale(b, in, kh*kw*c)
	b.add(nn.OpConv2D, args, b.output(out))
	return x, fmt.Sprintf("%dx%dx%dx%d_k%d_f%dx%d_s%dx%d", n, h, w, c, k, kh, kw, sh, sw)
}

func TestRandomConv(t *testing.T) {
	d := device(t)
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 2))
		b := newBuilder(r)
		n, h, w := 1+r.IntN(2), 1+r.IntN(9), 1+r.IntN(9)
		c := pick(r, 1, 2, 3, 4, 5, 8, 12, 16, 17, 32, 33, 64, 70, 130)
		k := pick(r, 1, 3, 8, 17, 32, 40, 64, 65, 100, 128, 129, 200, 260)
		kh, kw := 1+r.IntN(min(h, 4)), 1+r.IntN(min(w, 4))
		sh, sw := 1+r.IntN(3), 1+r.IntN(3)
		in := b.activation(quantType(r), n, h, w, c)
		x := b.input(in)
		f, bias := b.weights(in, []int{k, kh, kw, c}, k, 0)
		pad := pick(r, nn.PaddingSame, nn.PaddingValid)
		args := []uint32{x, f, bias, b.int32(int(pad)), b.int32(sw), b.int32(sh), b.int32(r.IntN(4))}
		oh, ow := (h+sh-1)/sh, (w+sw-1)/sw
		if pad == nn.PaddingValid {
			oh, ow = (h-kh)/sh+1, (w-kw)/sw+1
		}
		out := b.activation(in.Type, n, oh, ow, k)
		out.Scale = outScale(b, in, kh*kw*c)
		b.add(nn.OpConv2D, args, b.output(out))
		b.run(t, d, fmt.Sprintf("%d_%dx%dx%dx%d_k%d_f%dx%d_s%dx%d_p%d", seed, n, h, w, c, k, kh, kw, sh, sw, pad))
	}
}

func (b *builder) bool(v bool) uint32 {
	data := []byte{0}
	if v {
		data[0] = 1
	}
	return b.operand(nn.Operand{Type: nn.Bool, Lifetime: nn.ConstantCopy, Data: data})
}

func (b *builder) float32(v float32) uint32 {
	return b.operand(nn.Operand{Type: nn.Float32, Lifetime: nn.ConstantCopy,
		Data: binary.LittleEndian.AppendUint32(nil, math.Float32bits(v))})
}
