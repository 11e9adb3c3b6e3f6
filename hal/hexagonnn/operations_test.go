package hexagonnn_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal/hexagonnn"
)

const pad, same = hexagonnn.PadNA, hexagonnn.PadSame

// small is the shape of the graph inputs of the cases below.
var small = [4]uint32{1, 4, 4, 8}

// codes are a graph input of 8 bits as tensor, low and high end.
func (m *maker) codes() (x, low, high hexagonnn.Input) {
	return m.node("INPUT", pad, small, 1)[0], m.real(-2), m.real(6)
}

func (m *maker) reals() hexagonnn.Input { return m.node("INPUT", pad, small, 4)[0] }

// eight is an 8-bit constant of a shape with a range.
func (m *maker) eight(dims ...uint32) (x, low, high hexagonnn.Input) {
	n := 1
	for _, d := range dims {
		n *= int(d)
	}
	return m.constant([4]uint32(dims), ramp(n, 29)), m.real(-1), m.real(1)
}

// many is a float constant of a shape.
func (m *maker) many(dims ...uint32) hexagonnn.Input {
	n := 1
	for _, d := range dims {
		n *= int(d)
	}
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(i*7%11)/4 - 1
	}
	return m.constant([4]uint32(dims), floats(v...))
}

// Each case appends the operation that it is named after, and returns what goes out.
// room is the declared shape of all outputs.
var room = [4]uint32{1, 8, 8, 64}

var cases = map[string]func(m *maker) []hexagonnn.Input{
	"QuantizedConv2d_8x8to32":          func(m *maker) []hexagonnn.Input { return m.sums("QuantizedConv2d_8x8to32", 3, 3, 8, 16) },
	"QuantizedDepthwiseConv2d_8x8to32": func(m *maker) []hexagonnn.Input { return m.sums("QuantizedDepthwiseConv2d_8x8to32", 3, 3, 8, 2) },
	"QuantizedBiasAdd_32p32to32":       func(m *maker) []hexagonnn.Input { return m.sums("QuantizedConv2d_8x8to32", 1, 1, 8, 16) },
	"Requantize_32to8":                 func(m *maker) []hexagonnn.Input { return m.sums("QuantizedConv2d_8x8to32", 1, 1, 8, 3) },
	"QuantizedMatMul_8x8to32": func(m *maker) []hexagonnn.Input {
		x, l, h := m.codes()
		w, wl, wh := m.eight(1, 1, 128, 5)
		f := m.node("QuantizedFlatten", pad, room, 1, x, l, h)
		s := m.node("QuantizedMatMul_8x8to32", pad, room, 4, f[0], w, f[1], f[2], wl, wh)
		return m.node("Requantize_32to8", pad, room, 1, s[0], s[1], s[2], m.real(-40), m.real(40))
	},
	"QuantizedAdd_8p8to32":         binaryTo32("QuantizedAdd_8p8to32"),
	"QuantizedSub_8p8to32":         binaryTo32("QuantizedSub_8p8to32"),
	"QuantizedMul_8x8to32":         binaryTo32("QuantizedMul_8x8to32"),
	"QuantizedBiasAdd_8p8to32":     binaryTo32("QuantizedBiasAdd_8p8to32"),
	"QuantizedAdd_8p8to8":          binaryTo8("QuantizedAdd_8p8to8"),
	"QuantizedSub_8x8to8":          binaryTo8("QuantizedSub_8x8to8_d32"),
	"QuantizedMul_8x8to8":          binaryTo8("QuantizedMul_8x8to8_d32"),
	"Supernode_8x8p8to8":           super("Supernode_8x8p8to8_d32", 16),
	"Supernode_8x8p32to8":          super("InputSupernode_8x8p32to8_outd32", 16),
	"DepthwiseSupernode_8x8p8to8":  super("DepthwiseSupernode_8x8p8to8", 1),
	"DepthwiseSupernode_8x8p32to8": super("DepthwiseSupernode_8x8p32to8_d32", 1),
	"QuantizedMaxPool_8":           windowed("QuantizedMaxPool_8", 1),
	"QuantizedAvgPool_8":           windowed("QuantizedAvgPool_8_d32", 1),
	"QuantizedRelu_8":              unary8("QuantizedRelu_8"),
	"QuantizedReluX_8":             unary8("QuantizedReluX_8_ref", 6),
	"QuantizedClamp_8":             unary8("QuantizedClamp_8", -1, 1),
	"QuantizedSigmoid_8":           unary8("QuantizedSigmoid_8"),
	"QuantizedTanh_8":              unary8("QuantizedTanh_8"),
	"QuantizedSoftmax_8":           unary8("QuantizedSoftmax_8", 0.5),
	"QuantizedFlatten":             unary8("QuantizedFlatten"),
	"Nop":                          unary8("QuantizedRelu_8"),
	"Convert_to":                   unary8("QuantizedRelu_8"),
	"Convert_from":                 unary8("QuantizedRelu_8"),
	"QuantizedConcat_8": func(m *maker) []hexagonnn.Input {
		x, l, h := m.codes()
		y, yl, yh := m.eight(1, 4, 4, 8)
		return m.node("QuantizedConcat_8", pad, room, 1, m.ints(3), x, y, l, yl, h, yh)
	},
	"QuantizedReshape": func(m *maker) []hexagonnn.Input {
		x, l, h := m.codes()
		return m.node("QuantizedReshape", pad, room, 1, x, m.ints(1, 2, 8, 8), l, h)
	},
	"QuantizedResizeBilinear_8": func(m *maker) []hexagonnn.Input {
		x, l, h := m.codes()
		return m.node("QuantizedResizeBilinear_8", pad, room, 1, x, m.ints(6, 7), l, h)
	},
	"Quantize": func(m *maker) []hexagonnn.Input {
		return m.node("Quantize", pad, room, 1, m.reals(), m.real(-1), m.real(3))
	},
	"Dequantize": func(m *maker) []hexagonnn.Input {
		x, l, h := m.codes()
		return m.node("Dequantize", pad, room, 4, x, l, h)
	},
	"Conv2d_f": func(m *maker) []hexagonnn.Input {
		return m.node("Conv2d_f", same, room, 4, m.reals(), m.many(3, 3, 8, 4), m.shape(1, 1))
	},
	"DepthwiseConv2d_f": func(m *maker) []hexagonnn.Input {
		return m.node("DepthwiseConv2d_f", same, room, 4, m.reals(), m.many(3, 3, 8, 1), m.shape(2, 2))
	},
	"MatMul_f": func(m *maker) []hexagonnn.Input {
		return m.node("MatMul_f", pad, room, 4, m.node("Flatten", pad, room, 4, m.reals())[0], m.many(1, 1, 128, 3))
	},
	"BiasAdd_f": func(m *maker) []hexagonnn.Input {
		return m.node("BiasAdd_f", pad, room, 4, m.reals(), m.many(1, 1, 1, 8))
	},
	"Add_f":     binaryFloats("Add_f"),
	"Sub_f":     binaryFloats("Sub_f"),
	"Mul_f":     binaryFloats("Mul_f"),
	"Minimum_f": binaryFloats("Minimum_f"),
	"Maximum_f": binaryFloats("Maximum_f"),
	"MaxPool_f": windowed("MaxPool_f", 4),
	"AvgPool_f": windowed("AvgPool_f", 4),
	"L2Pool_f":  windowed("L2Pool_f", 4),
	"Relu_f":    unaryFloats("Relu_f"),
	"ReluX_f":   unaryFloats("ReluX_f", 6),
	"Clamp_f":   unaryFloats("Clamp_f", -1, 1),
	"Sigmoid_f": unaryFloats("Sigmoid_f"),
	"Tanh_f":    unaryFloats("Tanh_f"),
	"Neg_f":     unaryFloats("Neg_f"),
	"Softmax_f": unaryFloats("Softmax_f", 2),
	"Flatten":   unaryFloats("Flatten"),
	"Concat_f": func(m *maker) []hexagonnn.Input {
		return m.node("Concat_f", pad, room, 4, m.ints(1), m.reals(), m.many(1, 2, 4, 8))
	},
	"Reshape": func(m *maker) []hexagonnn.Input {
		return m.node("Reshape", pad, room, 4, m.reals(), m.ints(1, 1, -1, 16))
	},
	"ResizeBilinear_f": func(m *maker) []hexagonnn.Input {
		return m.node("ResizeBilinear_f", pad, room, 4, m.reals(), m.ints(2, 3))
	},
}

// sums is a convolution with a bias, requantized.
func (m *maker) sums(op string, filter ...uint32) []hexagonnn.Input {
	x, l, h := m.codes()
	f, fl, fh := m.eight(filter...)
	s := m.node(op, same, room, 4, x, f, l, h, fl, fh, m.shape(1, 1))
	channels := filter[3]
	if strings.Contains(op, "Depthwise") {
		channels *= filter[2]
	}
	b := m.constant([4]uint32{1, 1, 1, channels}, make([]byte, 4*channels))
	s = m.node("QuantizedBiasAdd_32p32to32", pad, room, 4, s[0], b, s[1], s[2], m.real(-1), m.real(1))
	return m.node("Requantize_32to8", pad, room, 1, s[0], s[1], s[2], m.real(-16), m.real(24))
}

func super(op string, last uint32) func(*maker) []hexagonnn.Input {
	return func(m *maker) []hexagonnn.Input {
		x, l, h := m.codes()
		f, fl, fh := m.eight(3, 3, 8, last)
		channels := last
		if strings.Contains(op, "Depthwise") {
			channels *= 8
		}
		bias := m.constant([4]uint32{1, 1, 1, channels}, ramp(int(4*channels), 3))
		return m.node(op, same, room, 1, x, f, l, h, fl, fh, m.shape(1, 1), bias, m.real(-4), m.real(4), m.real(-16), m.real(24))
	}
}

func binaryTo32(op string) func(*maker) []hexagonnn.Input {
	return func(m *maker) []hexagonnn.Input {
		x, l, h := m.codes()
		y, yl, yh := m.eight(1, 1, 1, 8)
		s := m.node(op, pad, room, 4, x, y, l, h, yl, yh)
		return m.node("Requantize_32to8", pad, room, 1, s[0], s[1], s[2], m.real(-4), m.real(8))
	}
}

func binaryTo8(op string) func(*maker) []hexagonnn.Input {
	return func(m *maker) []hexagonnn.Input {
		x, l, h := m.codes()
		y, yl, yh := m.eight(1, 4, 4, 8)
		return m.node(op, pad, room, 1, x, y, l, h, yl, yh, m.real(-4), m.real(8))
	}
}

func unary8(op string, params ...float32) func(*maker) []hexagonnn.Input {
	return func(m *maker) []hexagonnn.Input {
		x, l, h := m.codes()
		in := []hexagonnn.Input{x, l, h}
		for _, p := range params {
			in = append(in, m.real(p))
		}
		y := m.node(op, pad, room, 1, in...)
		for _, move := range []string{"Nop", "Convert_to_d32", "Convert_from_d32"} {
			y[0] = m.node(move, pad, room, 1, y[0])[0]
		}
		return y
	}
}

func windowed(op string, size uint32) func(*maker) []hexagonnn.Input {
	return func(m *maker) []hexagonnn.Input {
		if size == 4 {
			return m.node(op, hexagonnn.PadValid, room, 4, m.reals(), m.shape(2, 2), m.shape(2, 2))
		}
		x, l, h := m.codes()
		return m.node(op, same, room, 1, x, l, h, m.shape(3, 3), m.shape(1, 1))
	}
}

func unaryFloats(op string, params ...float32) func(*maker) []hexagonnn.Input {
	return func(m *maker) []hexagonnn.Input {
		in := []hexagonnn.Input{m.reals()}
		for _, p := range params {
			in = append(in, m.real(p))
		}
		return m.node(op, pad, room, 4, in...)
	}
}

func binaryFloats(op string) func(*maker) []hexagonnn.Input {
	return func(m *maker) []hexagonnn.Input {
		return m.node(op, pad, room, 4, m.reals(), m.many(1, 1, 1, 8))
	}
}

// Every operation runs on the reference, and gives the same bytes on the DSP if the DSP
// supports it, which is so for all of 8 bits.
func TestOperations(t *testing.T) {
	reference, dsp := device(t, "cpu"), device(t, "dsp")
	seen := map[string]bool{"INPUT": true, "OUTPUT": true}
	for name, graph := range cases {
		seen[name] = true
		m := newMaker(t, reference)
		y := graph(m)
		eight := len(y) == 3
		want, err := runCase(m, y)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		m = newMaker(t, dsp)
		got, err := runCase(m, graph(m))
		switch {
		case err != nil && !eight && strings.Contains(err.Error(), "dsp driver"):
		case err != nil:
			t.Errorf("%s on the DSP: %v", name, err)
		case eight && !bytes.Equal(got, want):
			t.Errorf("%s on the DSP: %v, want %v", name, got, want)
		}
	}
	for _, op := range hexagonnn.Supported() {
		name := op.String()
		for _, s := range []string{"_ref", "_outd32", "_d32"} {
			name = strings.TrimSuffix(name, s)
		}
		if name = strings.TrimPrefix(name, "Input"); !seen[name] {
			t.Errorf("%s has no case", op)
		}
	}
}

// runCase prepares a graph that ends in y and runs it.
func runCase(m *maker, y []hexagonnn.Input) ([]byte, error) {
	m.node("OUTPUT", pad, room, 1, y[0])
	if err := m.g.Prepare(); err != nil {
		return nil, err
	}
	in := hexagonnn.TensorDef{Batches: 1, Height: 4, Width: 4, Depth: 8, Data: ramp(128, 37)}
	out := hexagonnn.TensorDef{Data: make([]byte, 1<<14)}
	if err := m.g.Execute(in, &out); err != nil {
		in.Data = m.many4()
		if err := m.g.Execute(in, &out); err != nil {
			return nil, err
		}
	}
	if out.ValidLen == 0 || out.Depth == 0 {
		m.t.Errorf("an output without elements: %+v", out)
	}
	return out.Data[:out.ValidLen], nil
}

// many4 is the float input of the cases.
func (m *maker) many4() []byte {
	v := make([]float32, 128)
	for i := range v {
		v[i] = float32(i*5%17)/4 - 2
	}
	return floats(v...)
}
