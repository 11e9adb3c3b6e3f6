package hexagonnn_test

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/hal/hexagonnn"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// device opens a device of the default phone.
func device(t testing.TB, name string) hal.Device {
	t.Helper()
	phone := require.V(soc.Load("pixel4"))(t)
	list := require.V(devices.Open(phone, hal.FastSingleAnswer))(t)
	for _, d := range list {
		if d.Name() == name {
			return d
		}
	}
	t.Fatalf("no device %s", name)
	return nil
}

// maker appends nodes as a client of the library does; the first error fails the test.
type maker struct {
	t    testing.TB
	g    *hexagonnn.Graph
	next hexagonnn.NodeID
}

func newMaker(t testing.TB, d hal.Device) *maker {
	l := require.V(hexagonnn.Open(d))(t)
	return &maker{t: t, g: l.Init()}
}

func (m *maker) check(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *maker) constant(dims [4]uint32, data []byte) hexagonnn.Input {
	m.next++
	m.check(m.g.AppendConstNode(m.next, dims[0], dims[1], dims[2], dims[3], data))
	return hexagonnn.Input{Source: m.next}
}

func (m *maker) shape(height, width uint32) hexagonnn.Input {
	return m.constant([4]uint32{1, height, width, 1}, nil)
}

func (m *maker) real(v ...float32) hexagonnn.Input {
	return m.constant([4]uint32{1, 1, 1, uint32(len(v))}, floats(v...))
}

func (m *maker) ints(v ...int32) hexagonnn.Input {
	var data []byte
	for _, x := range v {
		data = binary.LittleEndian.AppendUint32(data, uint32(x))
	}
	return m.constant([4]uint32{1, 1, 1, uint32(len(v))}, data)
}

// node appends an operation whose outputs have at most the given elements, as a tensor of
// size bytes per element and, when that is 1, a range.
func (m *maker) node(op string, p hexagonnn.Padding, room [4]uint32, size uint32, in ...hexagonnn.Input) []hexagonnn.Input {
	m.t.Helper()
	o, ok := hexagonnn.OpByName(op)
	if !ok {
		m.t.Fatalf("no operation %s", op)
	}
	m.next++
	outs := []hexagonnn.Output{{MaxSizes: room, ElementSize: size}}
	if strings.Contains(op, "uantize") && op != "Dequantize" || strings.Contains(op, "upernode") {
		end := hexagonnn.Output{MaxSizes: [4]uint32{1, 1, 1, 1}, ElementSize: 4}
		outs = append(outs, end, end)
	}
	if op == "OUTPUT" {
		outs = nil
	}
	m.check(m.g.AppendNode(m.next, o, p, in, outs))
	list := make([]hexagonnn.Input, len(outs))
	for i := range list {
		list[i] = hexagonnn.Input{Source: m.next, Output: uint32(i)}
	}
	return list
}

func floats(v ...float32) []byte {
	var data []byte
	for _, x := range v {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
	}
	return data
}

// ramp is n bytes that differ.
func ramp(n, step int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i*step + i/7)
	}
	return data
}

// A convolution as hvxservice appends it - sums, bias, requantization, activation - is
// CONV_2D and RELU6, byte for byte.
func TestConvolutionChain(t *testing.T) {
	const h, w, c, k = 6, 5, 3, 4
	image, filter := ramp(h*w*c, 37), ramp(k*3*3*c, 11)
	hwcn := make([]byte, len(filter)) // height, width, input depth, output depth
	for o := range k {
		for i := range 9 * c {
			hwcn[i*k+o] = filter[o*9*c+i]
		}
	}
	bias := []int32{-300, 0, 900, 77}
	var biasData []byte
	for _, x := range bias {
		biasData = binary.LittleEndian.AppendUint32(biasData, uint32(x))
	}
	xq, fq := builder.Quant{Scale: 1.0 / 64, ZeroPoint: 100}, builder.Quant{Scale: 1.0 / 32, ZeroPoint: 120}
	bq, yq := builder.Quant{Scale: 1.0 / 2048}, builder.Quant{Scale: 1.0 / 16, ZeroPoint: 64}

	for _, name := range []string{"cpu", "dsp"} {
		m := newMaker(t, device(t, name))
		m.g.SetDebugLevel(1)
		x := m.node("INPUT", hexagonnn.PadNA, [4]uint32{1, h, w, c}, 1)
		end := func(q builder.Quant) (low, high hexagonnn.Input) {
			return m.real(float32(0-q.ZeroPoint) * q.Scale), m.real(float32(255-q.ZeroPoint) * q.Scale)
		}
		xl, xh := end(xq)
		fl, fh := end(fq)
		yl, yh := end(yq)
		room := [4]uint32{1, 3, 3, k}
		sums := m.node("QuantizedConv2d_8x8to32", hexagonnn.PadSame, room, 4,
			x[0], m.constant([4]uint32{3, 3, c, k}, hwcn), xl, xh, fl, fh, m.shape(2, 2))
		sums = m.node("QuantizedBiasAdd_32p32to32", hexagonnn.PadNA, room, 4,
			sums[0], m.constant([4]uint32{1, 1, 1, k}, biasData), sums[1], sums[2], m.real(0), m.real(float32(math.MaxUint32)*bq.Scale))
		y := m.node("Requantize_32to8", hexagonnn.PadNA, room, 1, sums[0], sums[1], sums[2], yl, yh)
		y = m.node("QuantizedReluX_8", hexagonnn.PadNA, room, 1, y[0], y[1], y[2], m.real(6))
		m.node("OUTPUT", hexagonnn.PadNA, room, 1, y...)
		m.check(m.g.Prepare())

		out := make([]hexagonnn.TensorDef, 3)
		out[0].Data, out[1].Data, out[2].Data = make([]byte, 3*3*k), make([]byte, 4), make([]byte, 4)
		m.check(m.g.ExecuteNew([]hexagonnn.TensorDef{{Batches: 1, Height: h, Width: w, Depth: c, Data: image}}, out))

		b := builder.New(builder.Config{})
		in := b.Input(b.Operand(nn.Operand{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{1, h, w, c}, Scale: xq.Scale, ZeroPoint: xq.ZeroPoint}), "x")
		z := b.Apply(nn.OpConv2D, nn.TensorQuant8Asymm, yq, in,
			b.Constant("f", nn.TensorQuant8Asymm, fq, filter, k, 3, 3, c), b.Constant("b", nn.TensorInt32, bq, biasData, k),
			b.Int32(nn.PaddingSame), b.Int32(2), b.Int32(2), b.Int32(int32(nn.ActNone)))
		z = b.Apply(nn.OpRelu6, nn.TensorQuant8Asymm, yq, z)
		b.Output(z, "y")
		model, err := b.Model("conv")
		m.check(err)
		want, err := cpudriver.Reference(model, [][]byte{image})
		m.check(err)
		require.Equal(t, want[0], out[0].Data, name)
		require.Same(t, -4, math.Float32frombits(binary.LittleEndian.Uint32(out[1].Data)), name, "range from")
		require.Check(t, out[0].Height == 3 && out[0].Depth == k && out[0].ValidLen == 3*3*k, "%s: output %+v", name, out[0])
		checkAccounts(t, m.g, name == "dsp")
	}
}

// checkAccounts looks at the cycles, the log and the text of a graph that ran once, on a device that
// fuses activations into convolutions or one that does not.
func checkAccounts(t *testing.T, g *hexagonnn.Graph, fuses bool) {
	t.Helper()
	var cycles int64
	for _, p := range g.PerfInfo() {
		cycles += p.Cycles
		require.Check(t, p.Executions == 1, "node %#x (%s): %d executions", p.Node, p.Op, p.Executions)
		conv, act := strings.HasPrefix(p.Op.String(), "QuantizedConv2d"), strings.HasPrefix(p.Op.String(), "QuantizedRelu")
		require.Check(t, p.Fused == (act && fuses), "node %#x (%s): fused %t", p.Node, p.Op, p.Fused)
		if (conv || act) && (p.Cycles == 0) != p.Fused {
			t.Errorf("node %#x (%s) took %d cycles, fused %t", p.Node, p.Op, p.Cycles, p.Fused)
		}
	}
	// What is not of a node moves tensors between the client's layout and the DSP's; the way
	// to the DSP and back would be a thousand times that.
	if last := g.LastExecutionCycles(); cycles <= 0 || cycles > last || last > 3*cycles+20_000 {
		t.Errorf("nodes took %d cycles of %d", cycles, last)
	}
	if s := g.Print(); !strings.Contains(s, "QuantizedConv2d_8x8to32, padding SAME") || !strings.Contains(s, "1 operations") {
		t.Errorf("graph:\n%s", s)
	}
	if s := g.Log(); !strings.Contains(s, "prepared") || !strings.Contains(s, "executed in") {
		t.Errorf("log:\n%s", s)
	}
	g.ResetPerfInfo()
	for _, p := range g.PerfInfo() {
		require.Check(t, p.Executions == 0 && p.Cycles == 0 && !p.Fused, "after the reset: %+v", p)
	}
}

// Filters are transposed from height, width, input depth, output depth; float nodes compute
// by their definition.
func TestFloatConvolution(t *testing.T) {
	const h, w, c, k = 3, 3, 2, 3
	x, f := make([]float32, h*w*c), make([]float32, 2*2*c*k)
	for i := range x {
		x[i] = float32(i%5) - 2
	}
	for i := range f {
		f[i] = float32(i%7) - 3
	}
	bias := []float32{1, -2, 0.5}
	var want []float32
	for oy := range 2 {
		for ox := range 2 {
			for o := range k {
				s := bias[o]
				for fy := range 2 {
					for fx := range 2 {
						for i := range c {
							s += x[((oy+fy)*w+ox+fx)*c+i] * f[((fy*2+fx)*c+i)*k+o]
						}
					}
				}
				want = append(want, max(s, 0))
			}
		}
	}
	m := newMaker(t, device(t, "cpu"))
	in := m.node("INPUT", hexagonnn.PadNA, [4]uint32{1, h, w, c}, 4)
	room := [4]uint32{1, 2, 2, k}
	y := m.node("Conv2d_f", hexagonnn.PadValid, room, 4, in[0], m.constant([4]uint32{2, 2, c, k}, floats(f...)), m.shape(1, 1))
	y = m.node("BiasAdd_f", hexagonnn.PadNA, room, 4, y[0], m.real(bias...))
	y = m.node("Relu_f", hexagonnn.PadNA, room, 4, y[0])
	m.node("OUTPUT", hexagonnn.PadNA, room, 4, y...)
	m.check(m.g.Prepare())
	out := hexagonnn.TensorDef{Data: make([]byte, 4*len(want))}
	m.check(m.g.Execute(hexagonnn.TensorDef{Batches: 1, Height: h, Width: w, Depth: c, Data: floats(x...)}, &out))
	require.Equal(t, floats(want...), out.Data)
}
