package npu

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/importer/tflite"
	"github.com/nnsoc/nnsoc/nn"
	core "github.com/nnsoc/nnsoc/npu"
	"github.com/nnsoc/nnsoc/refcpu"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// machines are the shapes under test: one core, two cores, small and large.
func machines(t *testing.T) []*Device {
	var l []*Device
	for _, name := range []string{"pixel4", "ethos-u55-32", "ethos-u65-512"} {
		c, err := soc.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := core.FromSoC(c, sim.FastSingleAnswer)
		if err != nil {
			t.Fatal(err)
		}
		d, err := New(Config{Spec: s, OnChipBytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		l = append(l, d)
	}
	return l
}

// check runs a model on a device and demands the reference's bytes.
func check(t *testing.T, d *Device, m *nn.Model, inputs [][]byte, functional bool) *hal.Result {
	t.Helper()
	support, err := d.SupportedOperations(m)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range support {
		if !s.OK {
			t.Fatalf("%s: operation %d %v: %s", d.Version(), i, m.Main.Operations[i].Type, s.Reason)
		}
	}
	p, err := d.PrepareModel(m, hal.PrepareOptions{})
	if err != nil {
		t.Fatalf("%s: %v", d.Version(), err)
	}
	ref, err := refcpu.Compile(m)
	if err != nil {
		t.Fatal(err)
	}
	want, got := outputs(m), outputs(m)
	if err := ref.Run(inputs, want, refcpu.Options{}); err != nil {
		t.Fatal(err)
	}
	res, err := hal.Execute(p, &hal.Buffers{Inputs: inputs, Outputs: got, ExecuteOptions: hal.ExecuteOptions{Functional: functional}})
	if err != nil {
		t.Fatalf("%s: %v", d.Version(), err)
	}
	for i := range want {
		if !bytes.Equal(got[i], want[i]) {
			n, first := 0, -1
			for k := range want[i] {
				if got[i][k] != want[i][k] {
					n++
					if first < 0 {
						first = k
					}
				}
			}
			t.Fatalf("%s: output %d: %d of %d bytes differ, first %d: %d, want %d", d.Version(), i, n, len(want[i]), first, got[i][first], want[i][first])
		}
	}
	if !functional {
		var sum int64
		for _, s := range res.Stats.Stalls {
			sum += s.Cycles
		}
		if sum != res.Stats.Cycles || sum == 0 {
			t.Errorf("%s: stalls add up to %d of %d cycles", d.Version(), sum, res.Stats.Cycles)
		}
	}
	return res
}

func outputs(m *nn.Model) [][]byte {
	var l [][]byte
	for _, x := range m.Main.Outputs {
		l = append(l, make([]byte, m.Main.Operands[x].Bytes()))
	}
	return l
}

// TestNetworks demands the reference's bytes of whole networks.
func TestNetworks(t *testing.T) {
	dir := os.Getenv("NNSOC_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared")
	}
	for _, name := range []string{
		"mlperf_tiny_ad_int8", "mlperf_tiny_ic_resnet8_int8", "mlperf_tiny_kws_int8", "mlperf_tiny_vww_int8",
		"tflm_person_detect_int8", "mobilenet_v1_0.25_128_quant", "mobilenet_v2_1.0_224_quant", "tf2_mobilenet_v2_1.0_224_ptq",
		"ssd_mobilenet_v1_quant_nopost",
	} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(dir, "models", name, "model.tflite"))
			if err != nil {
				t.Skip("skipped: needs shared data")
			}
			m, err := tflite.Import(data, nil)
			if err != nil {
				t.Fatal(err)
			}
			in, err := os.ReadFile(filepath.Join(dir, "models", name, "case0.in0.bin"))
			if err != nil {
				t.Fatal(err)
			}
			check(t, machines(t)[0], m, [][]byte{in}, false)
		})
	}
}

// randomModel is one operation on random data.
type randomModel struct {
	r *rand.Rand
	g nn.Subgraph
}

func (m *randomModel) add(o nn.Operand) uint32 {
	m.g.Operands = append(m.g.Operands, o)
	return uint32(len(m.g.Operands) - 1)
}

func (m *randomModel) int32(v int) uint32 {
	return m.add(nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: binary.LittleEndian.AppendUint32(nil, uint32(v))})
}

func (m *randomModel) float32(v uint32) uint32 {
	return m.add(nn.Operand{Type: nn.Float32, Lifetime: nn.ConstantCopy, Data: binary.LittleEndian.AppendUint32(nil, v)})
}

func (m *randomModel) int32s(dims []uint32, v ...int) uint32 {
	var d []byte
	for _, x := range v {
		d = binary.LittleEndian.AppendUint32(d, uint32(x))
	}
	return m.add(nn.Operand{Type: nn.TensorInt32, Dimensions: dims, Lifetime: nn.ConstantCopy, Data: d})
}

func (m *randomModel) typ() nn.OperandType {
	if m.r.IntN(2) == 0 {
		return nn.TensorQuant8Asymm
	}
	return nn.TensorQuant8AsymmSigned
}

func (m *randomModel) zero(t nn.OperandType) int32 {
	z := int32(m.r.IntN(256))
	if t == nn.TensorQuant8AsymmSigned {
		z -= 128
	}
	return z
}

func (m *randomModel) tensor(t nn.OperandType, scale float32, l nn.Lifetime, dims ...int) uint32 {
	o := nn.Operand{Type: t, Scale: scale, ZeroPoint: m.zero(t), Lifetime: l}
	for _, d := range dims {
		o.Dimensions = append(o.Dimensions, uint32(d))
	}
	if l == nn.ConstantCopy {
		o.Data = make([]byte, o.Bytes())
		for i := range o.Data {
			o.Data[i] = byte(m.r.Uint32())
		}
	}
	return m.add(o)
}

func (m *randomModel) done(op nn.OperationType, out uint32, in ...uint32) *nn.Model {
	m.g.Operations = []nn.Operation{{Type: op, Inputs: in, Outputs: []uint32{out}}}
	for _, x := range in {
		if m.g.Operands[x].Lifetime == nn.SubgraphInput {
			m.g.Inputs = append(m.g.Inputs, x)
		}
	}
	m.g.Operands[out].Lifetime = nn.SubgraphOutput
	m.g.Outputs = []uint32{out}
	return &nn.Model{Main: m.g}
}

// same gives operand x the quantization of y.
func (m *randomModel) same(x, y uint32) uint32 {
	m.g.Operands[x].Scale, m.g.Operands[x].ZeroPoint = m.g.Operands[y].Scale, m.g.Operands[y].ZeroPoint
	return x
}

// generators make one random operation each.
var generators = map[string]func(m *randomModel) *nn.Model{
	"CONV_2D": func(m *randomModel) *nn.Model {
		t, r := m.typ(), m.r
		n, h, w, c, k := 1+r.IntN(2), 1+r.IntN(12), 1+r.IntN(12), 1+r.IntN(40), 1+r.IntN(70)
		kh, kw := 1+r.IntN(4), 1+r.IntN(4)
		x := m.tensor(t, 0.05, nn.SubgraphInput, n, h, w, c)
		return m.conv(nn.OpConv2D, t, x, n, h, w, k, kh, kw, []int{k, kh, kw, c}, 0)
	},
	"DEPTHWISE_CONV_2D": func(m *randomModel) *nn.Model {
		t, r := m.typ(), m.r
		h, w, c, mult := 1+r.IntN(12), 1+r.IntN(12), 1+r.IntN(40), 1+r.IntN(2)
		kh, kw := 1+r.IntN(4), 1+r.IntN(4)
		x := m.tensor(t, 0.05, nn.SubgraphInput, 1, h, w, c)
		return m.conv(nn.OpDepthwiseConv2D, t, x, 1, h, w, c*mult, kh, kw, []int{1, kh, kw, c * mult}, mult)
	},
	"FULLY_CONNECTED": func(m *randomModel) *nn.Model {
		t, r := m.typ(), m.r
		b, d, u := 1+r.IntN(9), 1+r.IntN(90), 1+r.IntN(70)
		x := m.tensor(t, 0.05, nn.SubgraphInput, b, d)
		w := m.tensor(t, 0.01, nn.ConstantCopy, u, d)
		y := m.tensor(t, 0.07, nn.TemporaryVariable, b, u)
		return m.done(nn.OpFullyConnected, y, x, w, m.bias(u, 0.05*0.01), m.int32(r.IntN(4)))
	},
	"AVERAGE_POOL_2D": func(m *randomModel) *nn.Model { return m.pool(nn.OpAveragePool2D) },
	"MAX_POOL_2D":     func(m *randomModel) *nn.Model { return m.pool(nn.OpMaxPool2D) },
	"ADD":             func(m *randomModel) *nn.Model { return m.binary(nn.OpAdd) },
	"MUL":             func(m *randomModel) *nn.Model { return m.binary(nn.OpMul) },
	"CONCATENATION": func(m *randomModel) *nn.Model {
		t, r := m.typ(), m.r
		dims, axis := []int{1 + r.IntN(3), 1 + r.IntN(5), 1 + r.IntN(5), 1 + r.IntN(20)}, r.IntN(4)
		y := m.tensor(t, 0.06, nn.TemporaryVariable, dims...)
		total, n := 0, 1+r.IntN(3)
		var in []uint32
		for range n {
			d := append([]int(nil), dims...)
			d[axis] = 1 + r.IntN(7)
			total += d[axis]
			x := m.tensor(t, 0.03+0.05*r.Float32(), nn.SubgraphInput, d...)
			if r.IntN(2) == 0 {
				m.same(x, y)
			}
			in = append(in, x)
		}
		m.g.Operands[y].Dimensions[axis] = uint32(total)
		return m.done(nn.OpConcatenation, y, append(in, m.int32(axis))...)
	},
	"SOFTMAX": func(m *randomModel) *nn.Model {
		t, r := m.typ(), m.r
		b, d := 1+r.IntN(5), 1+r.IntN(300)
		x := m.tensor(t, 0.02+0.2*r.Float32(), nn.SubgraphInput, b, d)
		y := m.tensor(t, 1.0/256, nn.TemporaryVariable, b, d)
		m.g.Operands[y].ZeroPoint = map[bool]int32{true: -128, false: 0}[(t != nn.TensorQuant8Asymm)]
		return m.done(nn.OpSoftmax, y, x, m.float32(0x3f800000))
	},
	"LOGISTIC": func(m *randomModel) *nn.Model {
		t, r := m.typ(), m.r
		b, d := 1+r.IntN(5), 1+r.IntN(3000)
		x := m.tensor(t, 0.02+0.1*r.Float32(), nn.SubgraphInput, b, d)
		y := m.tensor(t, 1.0/256, nn.TemporaryVariable, b, d)
		m.g.Operands[y].ZeroPoint = map[bool]int32{true: -128, false: 0}[(t != nn.TensorQuant8Asymm)]
		return m.done(nn.OpLogistic, y, x)
	},
	"RELU": func(m *randomModel) *nn.Model {
		t, r := m.typ(), m.r
		x := m.tensor(t, 0.02+0.1*r.Float32(), nn.SubgraphInput, 1+r.IntN(5), 1+r.IntN(2000))
		o := m.g.Operands[x]
		o.Lifetime = nn.TemporaryVariable
		return m.done([]nn.OperationType{nn.OpRelu, nn.OpRelu1, nn.OpRelu6}[r.IntN(3)], m.add(o), x)
	},
	"PAD": func(m *randomModel) *nn.Model {
		t, r := m.typ(), m.r
		n, h, w, c := 1+r.IntN(2), 1+r.IntN(9), 1+r.IntN(9), 1+r.IntN(40)
		x := m.tensor(t, 0.1, nn.SubgraphInput, n, h, w, c)
		p := []int{r.IntN(4), r.IntN(4), r.IntN(4), r.IntN(4)}
		y := m.same(m.tensor(t, 0.1, nn.TemporaryVariable, n, h+p[0]+p[1], w+p[2]+p[3], c), x)
		return m.done(nn.OpPad, y, x, m.int32s([]uint32{4, 2}, 0, 0, p[0], p[1], p[2], p[3], 0, 0))
	},
	"MEAN": func(m *randomModel) *nn.Model {
		t, r := m.typ(), m.r
		n, h, w, c := 1+r.IntN(2), 1+r.IntN(9), 1+r.IntN(9), 1+r.IntN(40)
		x := m.tensor(t, 0.1, nn.SubgraphInput, n, h, w, c)
		y := m.same(m.tensor(t, 0.1, nn.TemporaryVariable, n, c), x)
		return m.done(nn.OpMean, y, x, m.int32s([]uint32{2}, 1, 2), m.int32(0))
	},
}

func (m *randomModel) bias(n int, scale float32) uint32 {
	b := m.add(nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{uint32(n)}, Scale: scale, Lifetime: nn.ConstantCopy})
	for range n {
		m.g.Operands[b].Data = binary.LittleEndian.AppendUint32(m.g.Operands[b].Data, uint32(int32(m.r.IntN(20000)-10000)))
	}
	return b
}

func (m *randomModel) conv(op nn.OperationType, t nn.OperandType, x uint32, n, h, w, k, kh, kw int, fdims []int, mult int) *nn.Model {
	r := m.r
	sy, sx, dy, dx := 1+r.IntN(2), 1+r.IntN(3), 1+r.IntN(2), 1+r.IntN(2)
	top, bottom, left, right := r.IntN(kh), r.IntN(kh), r.IntN(kw), r.IntN(kw)
	oh := (h+top+bottom-(kh-1)*dy-1)/sy + 1
	ow := (w+left+right-(kw-1)*dx-1)/sx + 1
	if h+top+bottom < (kh-1)*dy+1 || w+left+right < (kw-1)*dx+1 {
		return nil
	}
	f := m.tensor(t, 0.01, nn.ConstantCopy, fdims...)
	biasScale := float32(0.05) * 0.01
	if r.IntN(2) == 0 { // one scale per output channel
		o := &m.g.Operands[f]
		o.Type, o.Scale, o.ZeroPoint = nn.TensorQuant8SymmPerChannel, 0, 0
		o.Channel = &nn.ChannelQuant{}
		if op == nn.OpDepthwiseConv2D {
			o.Channel.Dim = 3
		}
		for range k {
			o.Channel.Scales = append(o.Channel.Scales, 0.002+0.02*r.Float32())
		}
		biasScale = 0
	}
	y := m.tensor(t, 0.1, nn.TemporaryVariable, n, oh, ow, k)
	in := []uint32{x, f, m.bias(k, biasScale), m.int32(left), m.int32(right), m.int32(top), m.int32(bottom), m.int32(sx), m.int32(sy)}
	if op == nn.OpDepthwiseConv2D {
		in = append(in, m.int32(mult))
	}
	nhwc := m.add(nn.Operand{Type: nn.Bool, Lifetime: nn.ConstantCopy, Data: []byte{0}})
	in = append(in, m.int32(r.IntN(4)), nhwc, m.int32(dx), m.int32(dy))
	return m.done(op, y, in...)
}

func (m *randomModel) pool(op nn.OperationType) *nn.Model {
	t, r := m.typ(), m.r
	n, h, w, c := 1+r.IntN(2), 1+r.IntN(14), 1+r.IntN(14), 1+r.IntN(40)
	kh, kw := 1+r.IntN(min(h, 8)), 1+r.IntN(min(w, 8))
	sy, sx, padding := 1+r.IntN(3), 1+r.IntN(3), 1+r.IntN(2)
	oh, ow := (h+sy-1)/sy, (w+sx-1)/sx
	if padding == nn.PaddingValid {
		oh, ow = (h-kh)/sy+1, (w-kw)/sx+1
	}
	x := m.tensor(t, 0.1, nn.SubgraphInput, n, h, w, c)
	y := m.same(m.tensor(t, 0.1, nn.TemporaryVariable, n, oh, ow, c), x)
	return m.done(op, y, x, m.int32(padding), m.int32(sx), m.int32(sy), m.int32(kw), m.int32(kh), m.int32(r.IntN(4)))
}

func (m *randomModel) binary(op nn.OperationType) *nn.Model {
	t, r := m.typ(), m.r
	dims := []int{1 + r.IntN(3), 1 + r.IntN(7), 1 + r.IntN(7), 1 + r.IntN(40)}
	other := [][]int{dims, {dims[3]}, {1}, {dims[1], dims[2], dims[3]}, {dims[0], 1, 1, dims[3]}}[r.IntN(5)]
	a := m.tensor(t, 0.02+0.1*r.Float32(), nn.SubgraphInput, dims...)
	b := m.tensor(t, 0.02+0.1*r.Float32(), []nn.Lifetime{nn.SubgraphInput, nn.ConstantCopy}[r.IntN(2)], other...)
	y := m.tensor(t, 0.05+0.2*r.Float32(), nn.TemporaryVariable, dims...)
	if r.IntN(2) == 0 {
		a, b = b, a
	}
	return m.done(op, y, a, b, m.int32(r.IntN(4)))
}

// TestRandomOperations compares single operations of random shape, type and
// quantization with the reference on machines of different shape.
func TestRandomOperations(t *testing.T) {
	for name, generate := range generators {
		t.Run(name, func(t *testing.T) {
			for seed := range 25 {
				m := &randomModel{r: rand.New(rand.NewPCG(uint64(seed), 7))}
				model := generate(m)
				if model == nil {
					continue
				}
				var in [][]byte
				for i, x := range model.Main.Inputs {
					in = append(in, tensor.Synthetic(&model.Main.Operands[x], uint32(seed*100+i+1)))
				}
				for _, d := range machines(t) {
					if !t.Run(fmt.Sprint(seed, d.Version()), func(t *testing.T) { check(t, d, model, in, seed%2 == 0) }) {
						return
					}
				}
			}
		})
	}
}
