package npudriver

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower/family"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/importer/tflite"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/internal/shared"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/npu"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
	"github.com/nnsoc/nnsoc/testvectors/drivertest"
)

// machines are the shapes under test: one core, two cores, small and large.
func machines(t *testing.T) []*Device {
	var l []*Device
	for _, name := range []string{"pixel4", "ethos-u55-32", "ethos-u65-512"} {
		l = append(l, newDevice(t, name, Config{OnChipBytes: 1 << 20}))
	}
	return l
}

// newDevice is a device with the array of a SoC's NPU.
func newDevice(t *testing.T, name string, cfg Config) *Device {
	t.Helper()
	c, err := soc.Load(name)
	require.NoError(t, err)
	if cfg.Spec, err = npu.FromSoC(c, sim.FastSingleAnswer); err != nil {
		t.Fatal(err)
	}
	d := require.V(New(cfg))(t)
	return d
}

// canonical is the graph of a model behind the passes of a device.
func canonical(t *testing.T, d *Device, m *nn.Model) *graph.Graph {
	t.Helper()
	g := graph.New(m)
	g.Leaves = d.middleEnd.Leaves
	require.NoError(t, family.Table().Passes.Run(g, nil))
	return g
}

// TestNetworks demands the reference's bytes of whole networks.
func TestNetworks(t *testing.T) {
	for _, name := range []string{
		"mlperf_tiny_ad_quant", "mlperf_tiny_ic_quant", "mlperf_tiny_kws_quant", "mlperf_tiny_vww_quant",
		"mobilenet_v1_0.25_128_quant", "mobilenet_v2_0.35_96_quant",
	} {
		t.Run("synthetic/"+name, func(t *testing.T) {
			m := zoo.MustBuild(name)
			for _, d := range machines(t) {
				drivertest.Exact(t, d, m, [][]byte{tensor.SyntheticInput(&m.Main, 0, 1)}, false)
			}
		})
	}
	for _, name := range []string{
		"mlperf_tiny_ad_int8", "mlperf_tiny_ic_resnet8_int8", "mlperf_tiny_kws_int8", "mlperf_tiny_vww_int8",
		"tflm_person_detect_int8", "mobilenet_v1_0.25_128_quant", "mobilenet_v2_1.0_224_quant", "tf2_mobilenet_v2_1.0_224_ptq",
		"ssd_mobilenet_v1_quant_nopost",
	} {
		t.Run("given/"+name, func(t *testing.T) {
			dir := shared.Path(t, "models", name)
			data := require.File(t, filepath.Join(dir, "model.tflite"))
			m := require.V(tflite.Import(data, nil))(t)
			in := require.File(t, filepath.Join(dir, "case0.in0.bin"))
			drivertest.Exact(t, machines(t)[0], m, [][]byte{in}, false)
		})
	}
}

// TestSpill: with little memory on chip activations and weights are off chip, and the bytes stay the
// reference's; with more memory cycles do not rise.
func TestSpill(t *testing.T) {
	m := zoo.MustBuild("mobilenet_v2_0.35_96_quant")
	for _, name := range []string{"ethos-u55-64", "ethos-u65-512"} {
		c := require.V(soc.Load(name))(t)
		s := require.V(npu.FromSoC(c, sim.FastSingleAnswer))(t)
		s.RegionMemory[4] = 1 // of activations that do not fit
		before := int64(1) << 62
		for _, onChip := range []int{0, 16 << 10, 64 << 10, 1 << 20} {
			d := require.V(New(Config{Spec: s, OnChipBytes: onChip}))(t)
			r := drivertest.Exact(t, d, m, [][]byte{tensor.SyntheticInput(&m.Main, 0, 1)}, false)
			if r.Stats.Cycles > before {
				t.Errorf("%s with %d bytes on chip takes %d cycles, with less %d", name, onChip, r.Stats.Cycles, before)
			}
			before = r.Stats.Cycles
		}
	}
}

// TestCascades: on chips of many sizes, on which kernels compute stripes of rows alternately, the bytes stay
// the reference's, the steps name the cascades, and they are found on several of them.
func TestCascades(t *testing.T) {
	for _, name := range []string{"mobilenet_v2_0.35_96_quant", "mobilenet_v1_0.25_128_quant"} {
		m := zoo.MustBuild(name)
		cascaded := 0
		for onChip := 4 << 10; onChip < 80<<10; onChip += 9 << 10 {
			d := newDevice(t, "ethos-u65-256", Config{OnChipBytes: onChip})
			drivertest.Exact(t, d, m, [][]byte{tensor.SyntheticInput(&m.Main, 0, 1)}, false)
			g := canonical(t, d, m)
			var b strings.Builder
			require.NoError(t, newExecutable(d, g, nil).WriteSteps(&b))
			if strings.Contains(b.String(), " cascade 1 stage 1 rows ") {
				cascaded++
			}
		}
		if cascaded < 3 {
			t.Errorf("%s: cascades on %d sizes of chips", name, cascaded)
		}
	}
}

// TestWideIndices: indices of ARGMAX and ARGMIN whose bytes are no signed ones.
func TestWideIndices(t *testing.T) {
	const depth = 700
	for _, op := range []nn.OperationType{nn.OpArgmax, nn.OpArgmin} {
		for _, typ := range []nn.OperandType{nn.TensorQuant8Asymm, nn.TensorQuant8AsymmSigned} {
			at := []int{0, 127, 128, 255, 256, 397, 511, depth - 1}
			extreme, data := byte(100), make([]byte, len(at)*depth)
			if op == nn.OpArgmin {
				extreme = 1
			}
			for i := range data {
				data[i] = 50
			}
			for row, i := range at {
				data[row*depth+i] = extreme
			}
			rows := uint32(len(at))
			m := &nn.Model{Main: nn.Subgraph{
				Operands: []nn.Operand{
					{Type: typ, Scale: 0.5, Dimensions: []uint32{rows, depth}, Lifetime: nn.SubgraphInput},
					{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: []byte{1, 0, 0, 0}},
					{Type: nn.TensorInt32, Dimensions: []uint32{rows}, Lifetime: nn.SubgraphOutput},
				},
				Operations: []nn.Operation{{Type: op, Inputs: []uint32{0, 1}, Outputs: []uint32{2}}},
				Inputs:     []uint32{0}, Outputs: []uint32{2},
			}}
			for _, d := range machines(t) {
				drivertest.Exact(t, d, m, [][]byte{data}, false)
			}
		}
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
		if r.IntN(5) == 0 { // weights of more than one kernel
			h, w, c, kh, kw, mult = 6, 6, 9000, 4, 4, 1
		}
		x := m.tensor(t, 0.05, nn.SubgraphInput, 1, h, w, c)
		return m.conv(nn.OpDepthwiseConv2D, t, x, 1, h, w, c*mult, kh, kw, []int{1, kh, kw, c * mult}, mult)
	},
	"DEPTHWISE_CONV_2D of one channel": func(m *randomModel) *nn.Model {
		t, r := m.typ(), m.r
		h, w, k, kh, kw := 1+r.IntN(12), 2*(1+r.IntN(8)), 1+r.IntN(40), 1+r.IntN(4), 1+r.IntN(8)
		x := m.tensor(t, 0.05, nn.SubgraphInput, 1, h, w, 1)
		return m.conv(nn.OpDepthwiseConv2D, t, x, 1, h, w, k, kh, kw, []int{1, kh, kw, k}, k)
	},
	"FULLY_CONNECTED": func(m *randomModel) *nn.Model {
		t, r := m.typ(), m.r
		b, d, u := 1+r.IntN(9), 1+r.IntN(90), 1+r.IntN(70)
		x := m.tensor(t, 0.05, nn.SubgraphInput, b, d)
		w := m.tensor(t, 0.01, m.lifetime(), u, d)
		y := m.tensor(t, 0.07, nn.TemporaryVariable, b, u)
		return m.done(nn.OpFullyConnected, y, x, w, m.bias(u, 0.05*0.01), m.int32(r.IntN(4)))
	},
	"GROUPED_CONV_2D": func(m *randomModel) *nn.Model {
		t, r := m.typ(), m.r
		groups := 1 + r.IntN(4)
		h, w, c, k := 1+r.IntN(9), 1+r.IntN(9), groups*(1+r.IntN(6)), groups*(1+r.IntN(6))
		kh, kw := 1+r.IntN(4), 1+r.IntN(4)
		x := m.tensor(t, 0.05, nn.SubgraphInput, 1, h, w, c)
		return m.conv(nn.OpGroupedConv2D, t, x, 1, h, w, k, kh, kw, []int{k, kh, kw, c / groups}, groups)
	},
	"TRANSPOSE_CONV_2D": func(m *randomModel) *nn.Model {
		t, r := m.typ(), m.r
		n, h, w, c, k := 1+r.IntN(2), 1+r.IntN(6), 1+r.IntN(6), 1+r.IntN(6), 1+r.IntN(6)
		kh, kw := 1+r.IntN(4), 1+r.IntN(4)
		x := m.tensor(t, 0.05, nn.SubgraphInput, n, h, w, c)
		return m.conv(nn.OpTransposeConv2D, t, x, n, h, w, k, kh, kw, []int{k, kh, kw, c}, 0)
	},
	"AVERAGE_POOL_2D": func(m *randomModel) *nn.Model { return m.pool(nn.OpAveragePool2D) },
	"MAX_POOL_2D":     func(m *randomModel) *nn.Model { return m.pool(nn.OpMaxPool2D) },
	"ADD":             func(m *randomModel) *nn.Model { return m.binary(nn.OpAdd) },
	"MUL":             func(m *randomModel) *nn.Model { return m.binary(nn.OpMul) },
	"SUB":             func(m *randomModel) *nn.Model { return m.binary(nn.OpSub) },
	"MAXIMUM":         func(m *randomModel) *nn.Model { return m.binaryOf(nn.OpMaximum, m.r.IntN(2) == 0) },
	"MINIMUM":         func(m *randomModel) *nn.Model { return m.binaryOf(nn.OpMinimum, m.r.IntN(2) == 0) },
	"PRELU":           func(m *randomModel) *nn.Model { return m.binaryOf(nn.OpPrelu, false) },
	"compare": func(m *randomModel) *nn.Model {
		op := []nn.OperationType{nn.OpEqual, nn.OpNotEqual, nn.OpLess, nn.OpLessEqual, nn.OpGreater, nn.OpGreaterEqual}[m.r.IntN(6)]
		model := m.binaryOf(op, m.r.IntN(2) == 0)
		o := &model.Main.Operands[model.Main.Outputs[0]]
		o.Type, o.Scale, o.ZeroPoint = nn.TensorBool8, 0, 0
		return model
	},
	"logical": func(m *randomModel) *nn.Model {
		switch op := []nn.OperationType{nn.OpLogicalAnd, nn.OpLogicalOr, nn.OpReduceAll, nn.OpReduceAny, nn.OpLogicalNot}[m.r.IntN(5)]; op {
		case nn.OpLogicalNot:
			x := m.tensor(nn.TensorBool8, 0, nn.SubgraphInput, 1+m.r.IntN(900))
			y := m.add(nn.Operand{Type: nn.TensorBool8, Dimensions: m.g.Operands[x].Dimensions})
			return truths(m.done(op, y, x))
		case nn.OpReduceAll, nn.OpReduceAny:
			dims := []int{1 + m.r.IntN(4), 1 + m.r.IntN(5), 1 + m.r.IntN(9)}
			x := m.tensor(nn.TensorBool8, 0, nn.SubgraphInput, dims...)
			var axes []int // [0, 2] as well, which are no neighbours
			for subset, axis := 1+m.r.IntN(7), 0; axis < len(dims); axis++ {
				if subset>>axis&1 != 0 {
					axes, dims[axis] = append(axes, axis), 1
				}
			}
			y := m.tensor(nn.TensorBool8, 0, nn.TemporaryVariable, dims...)
			return truths(m.done(op, y, x, m.int32s([]uint32{uint32(len(axes))}, axes...), m.bool(true)))
		default:
			return truths(m.binaryOf(op, true))
		}
	},
	"SELECT": func(m *randomModel) *nn.Model {
		t, r := m.typ(), m.r
		dims := []int{1 + r.IntN(3), 1 + r.IntN(9), 1 + r.IntN(40)}
		c := m.tensor(nn.TensorBool8, 0, nn.SubgraphInput, dims...)
		m.g.Operands[c].ZeroPoint = 0
		y := m.tensor(t, 0.1, nn.TemporaryVariable, dims...)
		a, b := m.tensor(t, 0.1+0.1*r.Float32(), nn.SubgraphInput, dims...), m.same(m.tensor(t, 0.1, nn.SubgraphInput, dims...), y)
		return m.done(nn.OpSelect, y, c, a, b)
	},
	"TANH": func(m *randomModel) *nn.Model {
		t, r := m.typ(), m.r
		x := m.tensor(t, 0.01+0.1*r.Float32(), nn.SubgraphInput, 1+r.IntN(5), 1+r.IntN(300))
		o := m.g.Operands[x]
		o.Lifetime, o.Scale, o.ZeroPoint = nn.TemporaryVariable, 1./128, map[bool]int32{true: 0, false: 128}[t != nn.TensorQuant8Asymm]
		return m.done(nn.OpTanh, m.add(o), x)
	},
	"HARD_SWISH": func(m *randomModel) *nn.Model {
		t, r := m.typ(), m.r
		x := m.tensor(t, 0.01+0.1*r.Float32(), nn.SubgraphInput, 1+r.IntN(5), 1+r.IntN(300))
		y := m.tensor(t, m.g.Operands[x].Scale*(1+r.Float32()), nn.TemporaryVariable, 0, 0)
		m.g.Operands[y].Dimensions = m.g.Operands[x].Dimensions
		return m.done(nn.OpHardSwish, y, x)
	},
	"PAD_V2": func(m *randomModel) *nn.Model {
		t, r := m.typ(), m.r
		x := m.tensor(t, 0.1, nn.SubgraphInput, 1+r.IntN(3), 1+r.IntN(9), 1+r.IntN(20))
		pads, dims := make([]int, 6), make([]int, 3)
		for i, d := range m.g.Operands[x].Dimensions {
			pads[2*i], pads[2*i+1] = r.IntN(4), r.IntN(4)
			dims[i] = int(d) + pads[2*i] + pads[2*i+1]
		}
		y := m.same(m.tensor(t, 0.1, nn.TemporaryVariable, dims...), x)
		return m.done(nn.OpPadV2, y, x, m.int32s([]uint32{3, 2}, pads...), m.int32(int(m.zero(t))))
	},
	"MIRROR_PAD": func(m *randomModel) *nn.Model {
		t, r := m.typ(), m.r
		x := m.tensor(t, 0.1, nn.SubgraphInput, 2+r.IntN(3), 2+r.IntN(9), 2+r.IntN(9))
		pads, dims := make([]int, 6), make([]int, 3)
		for i, d := range m.g.Operands[x].Dimensions {
			pads[2*i], pads[2*i+1] = r.IntN(int(d)), r.IntN(int(d))
			dims[i] = int(d) + pads[2*i] + pads[2*i+1]
		}
		y := m.same(m.tensor(t, 0.1, nn.TemporaryVariable, dims...), x)
		return m.done(nn.OpMirrorPad, y, x, m.int32s([]uint32{3, 2}, pads...), m.int32(r.IntN(2)))
	},
	"RESIZE_NEAREST_NEIGHBOR": func(m *randomModel) *nn.Model {
		t, r := m.typ(), m.r
		n, c, oh, ow := 1+r.IntN(2), 1+r.IntN(9), 1+r.IntN(14), 1+r.IntN(14)
		x := m.tensor(t, 0.1, nn.SubgraphInput, n, 1+r.IntN(7), 1+r.IntN(7), c)
		y := m.same(m.tensor(t, 0.1, nn.TemporaryVariable, n, oh, ow, c), x)
		corners := r.IntN(3)
		return m.done(nn.OpResizeNearestNeighbor, y, x, m.int32(ow), m.int32(oh), m.bool(false), m.bool(corners == 1), m.bool(corners == 2))
	},
	"RESIZE_BILINEAR": func(m *randomModel) *nn.Model {
		t, r := m.typ(), m.r
		n, c, h, w, sy, sx := 1+r.IntN(2), 1+r.IntN(9), 1+r.IntN(7), 1+r.IntN(7), 1<<r.IntN(4), 1<<r.IntN(3)
		if r.IntN(4) == 0 {
			sy, sx = 3, 1+2*r.IntN(2)
		}
		x := m.tensor(t, 0.1, nn.SubgraphInput, n, h, w, c)
		y := m.same(m.tensor(t, 0.1, nn.TemporaryVariable, n, h*sy, w*sx, c), x)
		return m.done(nn.OpResizeBilinear, y, x, m.int32(w*sx), m.int32(h*sy), m.bool(false), m.bool(false), m.bool(r.IntN(2) == 0))
	},
	"TILE": func(m *randomModel) *nn.Model {
		t, r := m.typ(), m.r
		x := m.tensor(t, 0.1, nn.SubgraphInput, 1+r.IntN(3), 1+r.IntN(5), 1+r.IntN(20))
		times, dims := make([]int, 3), make([]int, 3)
		for i, d := range m.g.Operands[x].Dimensions {
			times[i] = 1 + r.IntN(3)
			dims[i] = int(d) * times[i]
		}
		y := m.same(m.tensor(t, 0.1, nn.TemporaryVariable, dims...), x)
		return m.done(nn.OpTile, y, x, m.int32s([]uint32{3}, times...))
	},
	"GATHER": func(m *randomModel) *nn.Model {
		t, r := m.typ(), m.r
		dims, axis, n := []int{1 + r.IntN(4), 1 + r.IntN(9), 1 + r.IntN(20)}, r.IntN(3), 1+r.IntN(20)
		x := m.tensor(t, 0.1, nn.SubgraphInput, dims...)
		index := make([]int, n)
		for i := range index {
			index[i] = r.IntN(dims[axis])
		}
		dims[axis] = n
		y := m.same(m.tensor(t, 0.1, nn.TemporaryVariable, dims...), x)
		return m.done(nn.OpGather, y, x, m.int32(axis), m.int32s([]uint32{uint32(n)}, index...))
	},
	"REDUCE_MAX": func(m *randomModel) *nn.Model { return m.reduce(nn.OpReduceMax) },
	"REDUCE_MIN": func(m *randomModel) *nn.Model { return m.reduce(nn.OpReduceMin) },
	"ARGMAX":     func(m *randomModel) *nn.Model { return m.along(nn.OpArgmax) },
	"ARGMIN":     func(m *randomModel) *nn.Model { return m.along(nn.OpArgmin) },
	"L2_NORMALIZATION": func(m *randomModel) *nn.Model {
		return m.along(nn.OpL2Normalization)
	},
	"CAST": func(m *randomModel) *nn.Model {
		types := [][2]nn.OperandType{{nn.TensorQuant8Asymm, nn.TensorInt32}, {nn.TensorInt32, nn.TensorQuant8Asymm},
			{nn.TensorQuant8AsymmSigned, nn.TensorQuant8AsymmSigned}, {nn.TensorInt32, nn.TensorInt32}}[m.r.IntN(4)]
		n := 1 + m.r.IntN(900)
		x := m.tensor(types[0], 0.1, nn.SubgraphInput, n)
		y := m.tensor(types[1], 0.1, nn.TemporaryVariable, n)
		for _, i := range []uint32{x, y} {
			if o := &m.g.Operands[i]; o.Type == nn.TensorInt32 {
				o.Scale, o.ZeroPoint = 0, 0
			}
		}
		return m.done(nn.OpCast, y, x)
	},
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
	"MEAN over any axes": func(m *randomModel) *nn.Model { return m.reduce(nn.OpMean) },
	"MEAN": func(m *randomModel) *nn.Model {
		t, r := m.typ(), m.r
		n, h, w, c := 1+r.IntN(2), 1+r.IntN(9), 1+r.IntN(9), 1+r.IntN(40)
		x := m.tensor(t, 0.1, nn.SubgraphInput, n, h, w, c)
		y := m.same(m.tensor(t, 0.1, nn.TemporaryVariable, n, c), x)
		return m.done(nn.OpMean, y, x, m.int32s([]uint32{2}, 1, 2), m.int32(0))
	},
}

// lifetime returns the lifetime of a constant, or of an input one time in three.
func (m *randomModel) lifetime() nn.Lifetime {
	if m.r.IntN(3) == 0 {
		return nn.SubgraphInput
	}
	return nn.ConstantCopy
}

func (m *randomModel) bias(n int, scale float32) uint32 {
	b := m.add(nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{uint32(n)}, Scale: scale, Lifetime: m.lifetime()})
	for range n {
		if m.g.Operands[b].Lifetime == nn.SubgraphInput {
			break
		}
		m.g.Operands[b].Data = binary.LittleEndian.AppendUint32(m.g.Operands[b].Data, uint32(int32(m.r.IntN(20000)-10000)))
	}
	return b
}

func (m *randomModel) conv(op nn.OperationType, t nn.OperandType, x uint32, n, h, w, k, kh, kw int, fdims []int, mult int) *nn.Model {
	r := m.r
	sy, sx, dy, dx := 1+r.IntN(5), 1+r.IntN(5), 1+r.IntN(4), 1+r.IntN(4)
	top, bottom, left, right := r.IntN(kh), r.IntN(kh), r.IntN(kw), r.IntN(kw)
	oh := (h+top+bottom-(kh-1)*dy-1)/sy + 1
	ow := (w+left+right-(kw-1)*dx-1)/sx + 1
	switch op {
	case nn.OpGroupedConv2D:
		dy, dx = 1, 1
		oh, ow = (h+top+bottom-kh)/sy+1, (w+left+right-kw)/sx+1
	case nn.OpTransposeConv2D:
		oh, ow, dy, dx = (h-1)*sy+kh-top-bottom, (w-1)*sx+kw-left-right, 1, 1
		if oh < 1 || ow < 1 {
			return nil
		}
	}
	if op != nn.OpTransposeConv2D && (h+top+bottom < (kh-1)*dy+1 || w+left+right < (kw-1)*dx+1) {
		return nil
	}
	f := m.tensor(t, 0.01, m.lifetime(), fdims...)
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
	if op == nn.OpDepthwiseConv2D || op == nn.OpGroupedConv2D {
		in = append(in, m.int32(mult))
	}
	nhwc := m.add(nn.Operand{Type: nn.Bool, Lifetime: nn.ConstantCopy, Data: []byte{0}})
	in = append(in, m.int32(r.IntN(4)), nhwc)
	if op == nn.OpConv2D || op == nn.OpDepthwiseConv2D {
		in = append(in, m.int32(dx), m.int32(dy))
	}
	return m.done(op, y, in...)
}

func (m *randomModel) pool(op nn.OperationType) *nn.Model {
	t, r := m.typ(), m.r
	n, h, w, c := 1+r.IntN(2), 1+r.IntN(14), 1+r.IntN(14), 1+r.IntN(40)
	kh, kw := 1+r.IntN(h), 1+r.IntN(w)
	sy, sx, padding := 1+r.IntN(5), 1+r.IntN(5), 1+r.IntN(2)
	oh, ow := (h+sy-1)/sy, (w+sx-1)/sx
	if padding == nn.PaddingValid {
		oh, ow = (h-kh)/sy+1, (w-kw)/sx+1
	}
	x := m.tensor(t, 0.1, nn.SubgraphInput, n, h, w, c)
	y := m.same(m.tensor(t, 0.1, nn.TemporaryVariable, n, oh, ow, c), x)
	return m.done(op, y, x, m.int32(padding), m.int32(sx), m.int32(sy), m.int32(kw), m.int32(kh), m.int32(r.IntN(4)))
}

func (m *randomModel) bool(v bool) uint32 {
	return m.add(nn.Operand{Type: nn.Bool, Lifetime: nn.ConstantCopy, Data: []byte{map[bool]byte{true: 1}[v]}})
}

// binaryOf is a binary operation without activation that broadcasts either input, or both.
func (m *randomModel) binaryOf(op nn.OperationType, one bool) *nn.Model {
	t, r := m.typ(), m.r
	dims := []int{1 + r.IntN(3), 1 + r.IntN(6), 1 + r.IntN(6), 1 + r.IntN(20)}
	a, b := append([]int(nil), dims...), append([]int(nil), dims...)
	for i := range dims {
		switch r.IntN(5) {
		case 0:
			a[i] = 1
		case 1:
			b[i] = 1
		}
		dims[i] = max(a[i], b[i])
	}
	x, s := m.tensor(t, 0.02+0.1*r.Float32(), nn.SubgraphInput, a...), m.tensor(t, 0.02+0.1*r.Float32(), m.lifetime(), b...)
	y := m.tensor(t, 0.05+0.2*r.Float32(), nn.TemporaryVariable, dims...)
	if one {
		m.same(x, y)
		m.same(s, y)
	}
	return m.done(op, y, x, s)
}

// truths makes TENSOR_BOOL8 of the quantized tensors of a model; any byte but 0 is true.
func truths(m *nn.Model) *nn.Model {
	for i := range m.Main.Operands {
		if o := &m.Main.Operands[i]; o.Type.IsQuant8() || o.Type == nn.TensorBool8 {
			o.Type, o.Scale, o.ZeroPoint = nn.TensorBool8, 0, 0
		}
	}
	return m
}

// reduce reduces any axes.
func (m *randomModel) reduce(op nn.OperationType) *nn.Model {
	t, r := m.typ(), m.r
	in := []int{1 + r.IntN(4), 1 + r.IntN(7), 1 + r.IntN(7), 1 + r.IntN(20)}
	var axes, out []int
	for i, d := range in {
		if r.IntN(2) == 0 {
			axes, d = append(axes, i), 1
		}
		out = append(out, d)
	}
	x := m.tensor(t, 0.1, nn.SubgraphInput, in...)
	y := m.same(m.tensor(t, 0.1, nn.TemporaryVariable, out...), x)
	keep := m.bool(true)
	if op == nn.OpMean {
		keep = m.int32(1)
	}
	return m.done(op, y, x, m.int32s([]uint32{uint32(len(axes))}, axes...), keep)
}

// along is an operation along any axis.
func (m *randomModel) along(op nn.OperationType) *nn.Model {
	t, r := m.typ(), m.r
	dims, axis := []int{1 + r.IntN(4), 1 + r.IntN(7), 1 + r.IntN(60)}, r.IntN(3)
	x := m.tensor(t, 0.1, nn.SubgraphInput, dims...)
	if op == nn.OpL2Normalization {
		if r.IntN(5) == 0 { // squares of more than 29 bits
			dims = []int{1, 1 + r.IntN(2), 8257 + r.IntN(33025-8256)}
			axis, m.g.Operands[x].Dimensions = 2, []uint32{1, uint32(dims[1]), uint32(dims[2])}
		}
		y := m.tensor(t, 1./128, nn.TemporaryVariable, dims...)
		m.g.Operands[y].ZeroPoint = map[bool]int32{true: 0, false: 128}[t != nn.TensorQuant8Asymm]
		return m.done(op, y, x, m.int32(axis))
	}
	y := m.add(nn.Operand{Type: nn.TensorInt32})
	for i, d := range dims {
		if i != axis {
			m.g.Operands[y].Dimensions = append(m.g.Operands[y].Dimensions, uint32(d))
		}
	}
	return m.done(op, y, x, m.int32(axis))
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
					o := model.Main.Operands[x]
					if o.Type == nn.TensorInt32 {
						o.Scale = 1 // of 16 bits: sums of more than 32 saturate where the reference wraps
					}
					in = append(in, tensor.Synthetic(&o, uint32(seed*100+i+1)))
				}
				for _, d := range machines(t) {
					if !t.Run(fmt.Sprint(seed, d.Version()), func(t *testing.T) { drivertest.Exact(t, d, model, in, seed%2 == 0) }) {
						return
					}
				}
			}
		})
	}
}

// TestLargeTensors: what exceeds a feature map of the core is cut where bytes are moved, and
// declined where a chain of kernels would need it whole.
func TestLargeTensors(t *testing.T) {
	const n = 1 << 26
	d := machines(t)[0]
	for _, c := range []struct {
		op     nn.OperationType
		inputs int
		reason string // "" if it is accepted
	}{{nn.OpRelu, 1, ""}, {nn.OpMaximum, 2, "elements"}, {nn.OpPrelu, 2, "elements"}} {
		m := &randomModel{r: rand.New(rand.NewPCG(1, 1))}
		y := m.tensor(nn.TensorQuant8Asymm, 0.1, nn.TemporaryVariable, n)
		var in []uint32
		for range c.inputs {
			in = append(in, m.same(m.tensor(nn.TensorQuant8Asymm, 0.1, nn.SubgraphInput, n), y))
		}
		s := require.V(d.SupportedOperations(m.done(c.op, y, in...)))(t)
		if s[0].OK != (c.reason == "") || !strings.Contains(s[0].Reason, c.reason) {
			t.Errorf("%v of %d elements: %+v, want %q", c.op, n, s[0], c.reason)
		}
	}
	// A convolution whose windows with a filter of the execution would need 16 GiB.
	m := &randomModel{r: rand.New(rand.NewPCG(1, 1))}
	x := m.tensor(nn.TensorQuant8Asymm, 0.05, nn.SubgraphInput, 1, 1024, 1024, 16)
	f := m.tensor(nn.TensorQuant8Asymm, 0.01, nn.SubgraphInput, 8, 31, 33, 16)
	y := m.tensor(nn.TensorQuant8Asymm, 0.1, nn.TemporaryVariable, 1, 1024, 1024, 8)
	b := m.add(nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{8}, Scale: float32(0.05) * 0.01, Lifetime: nn.SubgraphInput})
	s, err := d.SupportedOperations(m.done(nn.OpConv2D, y, x, f, b, m.int32(nn.PaddingSame), m.int32(1), m.int32(1), m.int32(0)))
	if err != nil || s[0].OK || !strings.Contains(s[0].Reason, "windows that are gathered") {
		t.Errorf("a convolution of large windows: %+v, %v", s, err)
	}
}
