package tflite

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/importer/tflite/tflitefile"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/refcpu"
	"github.com/nnsoc/nnsoc/refcpu/hostop"
)

// arg is a tensor of a test operator with its value.
type arg struct {
	tflitefile.Tensor
	values   []float64
	constant bool
	omitted  bool
	near     float64 // tolerance of a result, beyond 1e-5 relative
}

func tensorArg(code int, shape []int32, values []float64) arg {
	return arg{Tensor: tflitefile.Tensor{Type: code, Shape: shape}, values: values}
}

// f32, i32, i64, bools and the like are tensors of a type; dims is their shape.
func f32(dims []int32, v ...float64) arg   { return tensorArg(typeFloat32, dims, v) }
func f16(dims []int32, v ...float64) arg   { return tensorArg(typeFloat16, dims, v) }
func i32(dims []int32, v ...float64) arg   { return tensorArg(typeInt32, dims, v) }
func i64(dims []int32, v ...float64) arg   { return tensorArg(typeInt64, dims, v) }
func bools(dims []int32, v ...float64) arg { return tensorArg(typeBool, dims, v) }
func dims(d ...int32) []int32              { return d }

// q8, u8 and q16 are quantized tensors; values are in stored form.
func q8(scale float32, zero int64, d []int32, v ...float64) arg {
	return quantized(typeInt8, scale, zero, d, v)
}
func u8(scale float32, zero int64, d []int32, v ...float64) arg {
	return quantized(typeUint8, scale, zero, d, v)
}
func q16(scale float32, d []int32, v ...float64) arg { return quantized(typeInt16, scale, 0, d, v) }

func quantized(code int, scale float32, zero int64, d []int32, v []float64) arg {
	a := tensorArg(code, d, v)
	a.Scale, a.Zero = []float32{scale}, []int64{zero}
	return a
}

// k makes a tensor a constant, within sets the tolerance of a result
func k(a arg) arg                 { a.constant = true; return a }
func within(t float64, a arg) arg { a.near = t; return a }
func variableOf(code int, d []int32) arg {
	a := tensorArg(code, d, nil)
	a.Variable = true
	return a
}

var without = arg{omitted: true}

func (a arg) bytes() []byte {
	b := []byte{}
	for _, v := range a.values {
		switch a.Type {
		case typeFloat32:
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
		case typeFloat16:
			b = binary.LittleEndian.AppendUint16(b, lowering.Half(float32(v)))
		case typeInt32:
			b = binary.LittleEndian.AppendUint32(b, uint32(int32(v)))
		case typeInt64:
			b = binary.LittleEndian.AppendUint64(b, uint64(int64(v)))
		case typeInt16:
			b = binary.LittleEndian.AppendUint16(b, uint16(int16(v)))
		default:
			b = append(b, byte(int64(v)))
		}
	}
	return b
}

// opCase is an operator on inputs and the expected result.
type opCase struct {
	op      string
	kind    string
	options tflitefile.Table
	in, out []arg
	inner   []arg
	custom  []byte
	version int
	form    string // of the types, where it is derived from another case
}

func codeOf(name string) int {
	for code, r := range builtins() {
		if r.name == name {
			return code
		}
	}
	return customCode
}

// file is a network of the operator.
func (c *opCase) file() []byte {
	o := tflitefile.Operator{Code: codeOf(c.op), Kind: c.kind, Options: c.options, CustomOptions: c.custom, Version: c.version}
	if o.Code == customCode {
		o.Custom = c.op
	}
	s := tflitefile.Subgraph{}
	add := func(a arg, name string, i int) int32 {
		t := a.Tensor
		t.Name = fmt.Sprintf("%s%d", name, i)
		if a.constant {
			t.Data = a.bytes()
		}
		s.Tensors = append(s.Tensors, t)
		return int32(len(s.Tensors) - 1)
	}
	for i, a := range c.in {
		if a.omitted {
			o.Inputs = append(o.Inputs, -1)
			continue
		}
		x := add(a, "in", i)
		o.Inputs = append(o.Inputs, x)
		if !a.constant && !a.Variable {
			s.Inputs = append(s.Inputs, x)
		}
	}
	for i, a := range c.out {
		x := add(a, "out", i)
		o.Outputs, s.Outputs = append(o.Outputs, x), append(s.Outputs, x)
	}
	for i, a := range c.inner {
		o.Inner = append(o.Inner, add(a, "inner", i))
	}
	s.Operators = []tflitefile.Operator{o}
	m := tflitefile.Model{Subgraphs: []tflitefile.Subgraph{s}}
	return m.Bytes()
}

// open imports a file and validates the model.
func open(t *testing.T, file []byte, o *Options) *nn.Model {
	t.Helper()
	m := require.V(Import(file, o))(t)
	require.NoError(t, validate.ModelOf(hostop.Table().Spec(), m))
	return m
}

// execute runs a model on the reference; states begin with their first value.
func execute(t *testing.T, m *nn.Model, given [][]byte) []refcpu.Tensor {
	t.Helper()
	p := require.V(refcpu.CompileConfig(m, refcpu.Config{Operations: hostop.Table()}))(t)
	in := make([]refcpu.Tensor, len(m.Main.Inputs))
	for i, b := range given {
		in[i].Data = b
	}
	for _, s := range m.States {
		if in[s.Input].Data != nil {
			continue
		}
		in[s.Input].Data = s.Initial
		if s.Initial == nil {
			in[s.Input].Data = make([]byte, m.Main.Operands[m.Main.Inputs[s.Input]].Bytes())
		}
	}
	out := require.V(p.Execute(in, refcpu.Options{}))(t)
	return out
}

// given are the inputs of the network.
func (c *opCase) given() (list [][]byte) {
	for _, a := range c.in {
		if a.constant || a.omitted || a.Variable {
			continue
		}
		list = append(list, a.held())
	}
	return list
}

// held are the elements as NNAPI holds them.
func (a arg) held() []byte {
	if a.Type == typeInt64 || a.Type == typeInt16 && !slices.Contains(a.Zero, math.MinInt16) { // NNAPI's are 32 bits wide
		a.Type = typeInt32
	}
	return a.bytes()
}

func (c *opCase) run(t *testing.T) {
	m := open(t, c.file(), nil)
	c.compare(t, m, execute(t, m, c.given()), 1e-5)
}

// compare compares results with those wanted, reals as near as near times their size.
func (c *opCase) compare(t *testing.T, m *nn.Model, results []refcpu.Tensor, near float64) {
	t.Helper()
	for i, want := range c.out {
		o := m.Main.Operands[m.Main.Outputs[i]]
		got := results[i]
		shape := make([]int32, len(got.Dimensions))
		for d, n := range got.Dimensions {
			shape[d] = int32(n)
		}
		if held := want.Shape; len(held) == 0 && !slices.Equal(shape, dims(1)) || len(held) > 0 && len(held) <= 4 && !slices.Equal(shape, held) {
			t.Errorf("output %d has shape %v, want %v", i, shape, want.Shape)
		}
		n := len(got.Data) / o.Type.ElementBytes()
		if n != len(want.values) {
			t.Errorf("output %d has %d elements, want %d", i, n, len(want.values))
			continue
		}
		for e, w := range want.values {
			v := opspec.Element(o.Type, got.Data[e*o.Type.ElementBytes():])
			require.Check(t, v == w || math.Abs(v-w) <= want.near+near*math.Max(1, math.Abs(w)), "output %d element %d is %v, want %v", i, e, v, w)
		}
	}
}

// TestBuiltins runs an operator of each row on the reference.
func TestBuiltins(t *testing.T) {
	tested := map[string]bool{}
	for _, family := range [][]opCase{convCases, mathCases, activationCases, shapeCases, indexCases, reduceCases, recurrentCases, quantizationCases, customCases, poolCases, landmarkCases(), stableCases} {
		for _, c := range family {
			tested[c.op] = true
			t.Run(c.op, c.run)
		}
	}
	for _, r := range builtins() { // those of control flow have their own tests
		if r.convert != nil && !tested[r.name] && !slices.ContainsFunc(slices.Concat(controlBuiltins, signalBuiltins, stableBuiltins[:1], withBodies()), func(b builtin) bool { return b.name == r.name }) {
			t.Errorf("%s has no test", r.name)
		}
		require.Check(t, (r.convert == nil) != (r.lacks == ""), "%s has neither a conversion nor a reason, or both", r.name)
	}
	for name, r := range customs {
		require.Check(t, r.convert == nil || tested[name], "%s has no test", name)
		require.Check(t, (r.convert == nil) != (r.lacks == ""), "%s has neither a conversion nor a reason, or both", name)
	}
}
