package onnx

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// runGraph imports a graph of operator set 17 and executes it on inputs.
func runGraph(t *testing.T, g *onnxfile.Graph, inputs ...[]byte) []byte {
	t.Helper()
	m := require.V(importFile(model(g, 17), nil))(t)
	return require.V(execute(m, inputs))(t)[0]
}

// ints are int32 elements.
func ints(list ...int32) (b []byte) {
	for _, v := range list {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return b
}

// numbers are the elements of a result.
func numbers(t nn.OperandType, b []byte) []float64 { return numbersOf(t, b) }

// ulps is the distance of a result from the right value, in units of the last place of that value in float32.
func ulps(got float32, want float64) float64 {
	if w := float32(want); got == w || got != got && want != want {
		return 0
	}
	if math.IsInf(float64(got), 0) || math.IsNaN(float64(got)) || math.IsNaN(want) || math.IsInf(float64(float32(want)), 0) {
		return math.Inf(1)
	}
	_, e := math.Frexp(want)
	return math.Abs(float64(got)-want) / math.Ldexp(1, max(e, -125)-24)
}

// TestFunctionsOverFloat32 holds the composed functions against float64 over all of float32. The bounds
// are those that docs/DEVIATIONS.md states.
func TestFunctionsOverFloat32(t *testing.T) {
	for _, c := range []struct {
		op    string
		want  func(float64) float64
		bound float64 // ulp
		from  func(float64) bool
	}{
		{"Cosh", math.Cosh, 4, nil},
		{"Sinh", math.Sinh, 5, nil},
		{"Asinh", math.Asinh, 5, nil},
		{"Acosh", math.Acosh, 5, nil},
		{"Atanh", math.Atanh, 5, nil},
		{"Atan", math.Atan, 4, nil},
		{"Asin", math.Asin, 5, nil},
		{"Acos", math.Acos, 5, nil},
		{"Cos", math.Cos, 3, func(z float64) bool { return math.Abs(z) < 4 }},
	} {
		random := rand.New(rand.NewPCG(7, 8))
		var list []float32
		for _, v := range []float32{0, 1, 0.5, 88, 89, 89.3, 90, 1e-30, 1e19, 3e38, math.MaxFloat32, float32(math.Inf(1)), float32(math.NaN()), 4096, 4097, 1.0000001, 0.99999994, 2, 4, math.Pi / 2, 0.49999997} {
			list = append(list, v, -v)
		}
		for range 20000 {
			if v := math.Float32frombits(random.Uint32()); c.from == nil || c.from(float64(v)) {
				list = append(list, v)
			}
			list = append(list, float32(random.NormFloat64()), 2*random.Float32()-1, float32(1+random.ExpFloat64()))
		}
		g := &onnxfile.Graph{Inputs: []*onnxfile.Value{value32("x", int64(len(list)))}, Outputs: []*onnxfile.Value{value32("y")},
			Nodes: []*onnxfile.Node{node(c.op, []string{"x"}, []string{"y"})}}
		got := runGraph(t, g, floats32(list...))
		worst, at, wrong := 0.0, float32(0), 0
		for i, x := range list {
			y := math.Float32frombits(binary.LittleEndian.Uint32(got[4*i:]))
			if c.from != nil && !c.from(float64(x)) {
				if !math.IsNaN(float64(x)) && !math.IsInf(float64(x), 0) && !(math.Abs(float64(y)-c.want(float64(x))) <= 4e-7) {
					t.Errorf("%s(%v) = %v, want %v", c.op, x, y, c.want(float64(x)))
				}
				continue
			}
			u := ulps(y, c.want(float64(x)))
			if u > c.bound {
				if wrong++; wrong < 8 {
					t.Errorf("%s(%v) = %v, want %v: %.1f ulp", c.op, x, y, float32(c.want(float64(x))), u)
				}
			}
			if u > worst {
				worst, at = u, x
			}
		}
		t.Logf("%s: at most %.2f ulp, at %v", c.op, worst, at)
	}
}

// TestIntegersWrap holds integers of 8 and 16 bits to the low bits of their results.
func TestIntegersWrap(t *testing.T) {
	for to, want := range map[onnxfile.DataType][]float64{
		onnxfile.Uint8: {1, 0, 3, 255, 127, 128, 0}, onnxfile.Int8: {1, 0, 3, -1, 127, -128, 0},
		onnxfile.Uint16: {257, 0, 3, 65535, 127, 128, 0}, onnxfile.Int16: {257, 0, 3, -1, 127, 128, 0},
	} {
		g := &onnxfile.Graph{Inputs: []*onnxfile.Value{typed(onnxfile.Int32, "x", 7)}, Outputs: []*onnxfile.Value{typed(to, "y")},
			Nodes: []*onnxfile.Node{node("Cast", []string{"x"}, []string{"y"}, intAttribute("to", int64(to)))}}
		require.Equal(t, want, numbers(held[to], runGraph(t, g, ints(257, 0, 3, -1, 127, 128, math.MinInt32))), to)
	}
	for _, c := range []struct {
		op   string
		of   onnxfile.DataType
		want []float64
	}{
		{"Add", onnxfile.Uint8, []float64{44, 1, 4}}, {"Sub", onnxfile.Uint8, []float64{100, 255, 254}}, {"Mul", onnxfile.Uint8, []float64{32, 0, 3}},
		{"Max", onnxfile.Uint8, []float64{200, 1, 3}}, {"Min", onnxfile.Uint8, []float64{100, 0, 1}},
	} {
		g := &onnxfile.Graph{Inputs: []*onnxfile.Value{typed(c.of, "a", 3), typed(c.of, "b", 3)}, Outputs: []*onnxfile.Value{typed(c.of, "y")},
			Nodes: []*onnxfile.Node{node(c.op, []string{"a", "b"}, []string{"y"})}}
		require.Equal(t, c.want, numbers(held[c.of], runGraph(t, g, []byte{200, 0, 1}, []byte{100, 1, 3})), c.op)
	}
}

// TestShortIntegersWrap holds arithmetic of 16 bits against Go's, also behind operators that pass the type on, in a
// function and in the body of a loop, and 8-bit numbers whose opposite does not fit.
func TestShortIntegersWrap(t *testing.T) {
	a, b := []int64{40000, 65535, 3, 0, 300, 32768}, []int64{30000, 65535, 5, 1, 300, 32768}
	list := []int64{-32768, 32767, -1, 20000, 181, 2}
	other := []int64{-1, 1, -1, 20000, 182, -3}
	operations := map[string]func(x, y int64) int64{
		"Add": func(x, y int64) int64 { return x + y }, "Sub": func(x, y int64) int64 { return x - y }, "Mul": func(x, y int64) int64 { return x * y },
	}
	for op, f := range operations {
		for _, c := range []struct {
			of   onnxfile.DataType
			x, y []int64
			cut  func(int64) int64
		}{{onnxfile.Uint16, a, b, func(v int64) int64 { return int64(uint16(v)) }}, {onnxfile.Int16, list, other, func(v int64) int64 { return int64(int16(v)) }}} {
			want, x32, y32 := make([]float64, 6), make([]int32, 6), make([]int32, 6)
			for i := range want {
				want[i], x32[i], y32[i] = float64(c.cut(f(c.x[i], c.y[i]))), int32(c.x[i]), int32(c.y[i])
			}
			inputs := []*onnxfile.Value{typed(c.of, "a", 6), typed(c.of, "b", 6)}
			for name, nodes := range map[string][]*onnxfile.Node{
				"alone":  {node(op, []string{"a", "b"}, []string{"y"})},
				"behind": {node("Identity", []string{"a"}, []string{"i"}), node("Flatten", []string{"i"}, []string{"j"}), node("Squeeze", []string{"j"}, []string{"k"}), node(op, []string{"k", "b"}, []string{"y"})},
				"cast": {node("Cast", []string{"a"}, []string{"w"}, intAttribute("to", int64(onnxfile.Int32))), node("Cast", []string{"w"}, []string{"s"}, intAttribute("to", int64(c.of))),
					node(op, []string{"s", "b"}, []string{"y"})},
			} {
				g := &onnxfile.Graph{Inputs: inputs, Outputs: []*onnxfile.Value{typed(c.of, "y")}, Nodes: nodes}
				require.Equal(t, want, numbers(nn.TensorInt32, runGraph(t, g, ints(x32...), ints(y32...))), op, c.of, name)
			}
			file := model(&onnxfile.Graph{Inputs: inputs, Outputs: []*onnxfile.Value{typed(c.of, "y")}, Nodes: []*onnxfile.Node{{Op: "F", Domain: "own", Inputs: []string{"a", "b"}, Outputs: []string{"y"}}}}, 17)
			file.Functions = []*onnxfile.Function{{Name: "F", Domain: "own", Inputs: []string{"p", "q"}, Outputs: []string{"r"}, Nodes: []*onnxfile.Node{node(op, []string{"p", "q"}, []string{"r"})}}}
			m := require.V(importFile(file, nil))(t)
			require.Equal(t, want, numbers(nn.TensorInt32, require.V(execute(m, [][]byte{ints(x32...), ints(y32...)}))(t)[0]), op, c.of, "function")
		}
	}
	for op, want := range map[string][]float64{"Neg": {-128, -127, 1}, "Abs": {-128, 127, 1}} {
		g := &onnxfile.Graph{Inputs: []*onnxfile.Value{typed(onnxfile.Int8, "x", 3)}, Outputs: []*onnxfile.Value{typed(onnxfile.Int8, "y")}, Nodes: []*onnxfile.Node{node(op, []string{"x"}, []string{"y"})}}
		require.Equal(t, want, numbers(nn.TensorQuant8AsymmSigned, runGraph(t, g, []byte{128, 127, 255})), op)
	}
}

// TestCastToBFloat16 rounds to the nearest of 8 bits of mantissa, ties to even, over the range of float32.
func TestCastToBFloat16(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	list, want := []float32{float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32, 0}, []float64{math.Inf(1), math.Inf(-1), math.Inf(1), 0}
	for len(list) < 4096 {
		bits := random.Uint32()
		if len(list)%2 == 0 {
			bits = bits&^0xffff | 0x8000 // a tie
		}
		v := float32(math.Float32frombits(bits))
		if v != v || math.Abs(float64(v)) < 0x1p-100 {
			continue
		}
		list = append(list, v)
		want = append(want, float64(math.Float32frombits((bits+0x7fff+bits>>16&1)&^0xffff)))
	}
	for name, n := range map[string]*onnxfile.Node{"Cast": node("Cast", []string{"x"}, []string{"y"}, intAttribute("to", int64(onnxfile.BFloat16))), "CastLike": node("CastLike", []string{"x", "b"}, []string{"y"})} {
		g := &onnxfile.Graph{Inputs: []*onnxfile.Value{value32("x", int64(len(list))), typed(onnxfile.BFloat16, "b", 1)}, Outputs: []*onnxfile.Value{typed(onnxfile.BFloat16, "y")}, Nodes: []*onnxfile.Node{n}}
		require.Equal(t, want, numbers(nn.TensorFloat32, runGraph(t, g, floats32(list...), floats32(0))), name)
	}
}

// TestQuantizeTies rounds ties to the even step, whatever scale and zero point are.
func TestQuantizeTies(t *testing.T) {
	for scale, want := range map[float32][]float64{1: {0, 2, 2, 0, -2, -2, 127, -128}, 0.5: {1, 3, 5, -1, -3, -5, 127, -128}} {
		g := &onnxfile.Graph{Inputs: []*onnxfile.Value{value32("x", 8)}, Outputs: []*onnxfile.Value{typed(onnxfile.Int8, "y")},
			Initializers: []*onnxfile.Tensor{floatTensor("s", nil, scale), byteTensor(onnxfile.Int8, "z", nil, 0)},
			Nodes:        []*onnxfile.Node{node("QuantizeLinear", []string{"x", "s", "z"}, []string{"y"})}}
		got := runGraph(t, g, floats32(0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 1e30, float32(math.Inf(-1))))
		require.Equal(t, want, numbers(nn.TensorQuant8AsymmSigned, got), scale)
	}
}

// TestQuantizeRoundsOnce compares a QuantizeLinear of noise, of ties and of quantized tensors with the definition, and
// counts its operations: one where no tie can matter, three for a power of two, five else.
func TestQuantizeRoundsOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for _, scale := range []float32{1, 0.25, 0.3, 2.0 / 255, 0.007, 1e-20, 3e20} {
		const n = 4096
		list := make([]float32, n)
		for i := range list {
			switch steps := float32(random.IntN(600) - 300); i % 3 {
			case 0:
				list[i] = (steps + 0.5) * scale
			case 1:
				list[i] = math.Nextafter32((steps+0.5)*scale, 0)
			default:
				list[i] = float32(random.NormFloat64()) * 100 * scale
			}
		}
		want := make([]float64, n)
		for i, v := range list {
			want[i] = min(max(math.RoundToEven(float64(v/scale))+3, 0), 255)
		}
		g := &onnxfile.Graph{Inputs: []*onnxfile.Value{value32("x", n)}, Outputs: []*onnxfile.Value{typed(onnxfile.Uint8, "y")},
			Initializers: []*onnxfile.Tensor{floatTensor("s", nil, scale), byteTensor(onnxfile.Uint8, "z", nil, 3)},
			Nodes:        []*onnxfile.Node{node("QuantizeLinear", []string{"x", "s", "z"}, []string{"y"})}}
		require.Equal(t, want, numbers(nn.TensorQuant8Asymm, runGraph(t, g, floats32(list...))), scale)
		operations, most := len(require.V(importFile(model(g, 17), nil))(t).Main.Operations), 5
		if fraction, _ := math.Frexp(float64(scale)); fraction == 0.5 {
			most = 3
		}
		require.Check(t, operations == most, "scale %v: %d operations, want %d", scale, operations, most)
	}
	for scale, operations := range map[float32]int{0.125: 1, 0.5: 4, 0.17: 1} { // of steps of a quarter: 0.5 has ties
		g := &onnxfile.Graph{Inputs: []*onnxfile.Value{typed(onnxfile.Uint8, "x", 256)}, Outputs: []*onnxfile.Value{typed(onnxfile.Int8, "y")},
			Initializers: []*onnxfile.Tensor{floatTensor("r", nil, 0.25), byteTensor(onnxfile.Uint8, "m", nil, 100), floatTensor("s", nil, scale), byteTensor(onnxfile.Int8, "z", nil, 0)},
			Nodes:        []*onnxfile.Node{node("DequantizeLinear", []string{"x", "r", "m"}, []string{"f"}), node("QuantizeLinear", []string{"f", "s", "z"}, []string{"y"})}}
		all, want := make([]byte, 256), make([]float64, 256)
		for i := range all {
			all[i] = byte(i)
			want[i] = min(max(math.RoundToEven(float64(float32(i-100)*0.25/scale)), -128), 127)
		}
		require.Equal(t, want, numbers(nn.TensorQuant8AsymmSigned, runGraph(t, g, all)), scale)
		n := len(require.V(importFile(model(g, 17), nil))(t).Main.Operations)
		require.Check(t, n == operations, "scale %v of quarters: %d operations, want %d", scale, n, operations)
	}
}

// TestLogSumExpStays holds sums of powers that overflow or vanish by themselves.
func TestLogSumExpStays(t *testing.T) {
	g := &onnxfile.Graph{Inputs: []*onnxfile.Value{value32("x", 4, 3)}, Outputs: []*onnxfile.Value{value32("y")},
		Nodes: []*onnxfile.Node{node("ReduceLogSumExp", []string{"x"}, []string{"y"}, intsAttribute("axes", 1), intAttribute("keepdims", 0))}}
	inf := float32(math.Inf(1))
	got := numbers(nn.TensorFloat32, runGraph(t, g, floats32(100, 101, 99, -200, -201, -199, -inf, -inf, -inf, 0, inf, 1)))
	require.Check(t, math.Abs(got[0]-101.4076) < 1e-4 && math.Abs(got[1]+198.5924) < 1e-4, "%v", got[:2])
	require.Equal(t, []float64{math.Inf(-1), math.Inf(1)}, got[2:])
}

// TestConstantBodiesReadInputs converts the bodies of an If and a Loop that constants decide and that read the
// network's input.
func TestConstantBodiesReadInputs(t *testing.T) {
	branch := func(op string) *onnxfile.Graph {
		return &onnxfile.Graph{Nodes: []*onnxfile.Node{node(op, []string{"x"}, []string{"r"})}, Outputs: []*onnxfile.Value{value32("r")}}
	}
	on := byteTensor(onnxfile.Bool, "on", nil, 1)
	g := &onnxfile.Graph{Inputs: []*onnxfile.Value{value32("x", 2)}, Outputs: []*onnxfile.Value{value32("y")}, Initializers: []*onnxfile.Tensor{on},
		Nodes: []*onnxfile.Node{node("If", []string{"on"}, []string{"y"}, graphAttribute("then_branch", branch("Neg")), graphAttribute("else_branch", branch("Abs")))}}
	require.Equal(t, []float64{-1, 2}, numbers(nn.TensorFloat32, runGraph(t, g, floats32(1, -2))))

	body := &onnxfile.Graph{Inputs: []*onnxfile.Value{typed(onnxfile.Int64, "i"), typed(onnxfile.Bool, "c"), value32("s", 2)},
		Nodes:   []*onnxfile.Node{node("Add", []string{"s", "x"}, []string{"n"}), node("Identity", []string{"c"}, []string{"d"})},
		Outputs: []*onnxfile.Value{typed(onnxfile.Bool, "d"), value32("n", 2)}}
	g = &onnxfile.Graph{Inputs: []*onnxfile.Value{value32("x", 2)}, Outputs: []*onnxfile.Value{value32("y")},
		Initializers: []*onnxfile.Tensor{on, {Name: "turns", Type: onnxfile.Int64, Int64s: []int64{3}}, floatTensor("zero", []int64{2}, 0, 0)},
		Nodes:        []*onnxfile.Node{node("Loop", []string{"turns", "on", "zero"}, []string{"y"}, graphAttribute("body", body))}}
	require.Equal(t, []float64{3, -6}, numbers(nn.TensorFloat32, runGraph(t, g, floats32(1, -2))))
}

// TestScan sums a sequence, forwards and backwards, with a body that reads another input of the network.
func TestScan(t *testing.T) {
	body := &onnxfile.Graph{Inputs: []*onnxfile.Value{value32("s", 2), value32("item", 2)}, Outputs: []*onnxfile.Value{value32("n", 2), value32("o", 2)},
		Nodes: []*onnxfile.Node{node("Add", []string{"s", "item"}, []string{"n"}), node("Mul", []string{"n", "factor"}, []string{"o"})}}
	for backwards, want := range [][]float64{{9, 12, 2, 20, 8, 60, 18, 120}, {9, 12, 18, 120, 16, 100, 10, 60}} {
		g := &onnxfile.Graph{Inputs: []*onnxfile.Value{value32("x", 3, 2), value32("factor", 2)}, Outputs: []*onnxfile.Value{value32("last"), value32("all")},
			Initializers: []*onnxfile.Tensor{floatTensor("zero", []int64{2}, 0, 0)},
			Nodes: []*onnxfile.Node{node("Scan", []string{"zero", "x"}, []string{"last", "all"}, graphAttribute("body", body), intAttribute("num_scan_inputs", 1),
				intsAttribute("scan_input_directions", int64(backwards)), intsAttribute("scan_output_directions", int64(backwards)))}}
		m := require.V(importFile(model(g, 17), nil))(t)
		out := require.V(execute(m, [][]byte{floats32(1, 2, 3, 4, 5, 6), floats32(2, 10)}))(t)
		require.Equal(t, want, append(numbers(nn.TensorFloat32, out[0]), numbers(nn.TensorFloat32, out[1])...), backwards)
	}
}

// TestFunctionBodies: a function whose body has a branch that a constant attribute decides reads its inputs, and
// another function.
func TestFunctionBodies(t *testing.T) {
	branch := func(op string) *onnxfile.Graph {
		return &onnxfile.Graph{Nodes: []*onnxfile.Node{{Op: op, Domain: "own", Inputs: []string{"p"}, Outputs: []string{"r"}}}, Outputs: []*onnxfile.Value{value32("r")}}
	}
	on := &onnxfile.Attribute{Name: "value", Ref: "on", Type: onnxfile.AttributeTensor}
	file := model(&onnxfile.Graph{Inputs: []*onnxfile.Value{value32("x", 2)}, Outputs: []*onnxfile.Value{value32("y")},
		Nodes: []*onnxfile.Node{{Op: "Choose", Domain: "own", Inputs: []string{"x"}, Outputs: []string{"y"},
			Attributes: []*onnxfile.Attribute{{Name: "on", Type: onnxfile.AttributeTensor, Tensor: byteTensor(onnxfile.Bool, "", nil, 0)}}}}}, 17)
	file.Functions = []*onnxfile.Function{
		{Name: "Choose", Domain: "own", Inputs: []string{"p"}, Outputs: []string{"q"}, Attributes: []string{"on"}, Nodes: []*onnxfile.Node{
			node("Constant", nil, []string{"c"}, on), node("If", []string{"c"}, []string{"q"}, graphAttribute("then_branch", branch("Twice")), graphAttribute("else_branch", branch("Square")))}},
		{Name: "Twice", Domain: "own", Inputs: []string{"a"}, Outputs: []string{"b"}, Nodes: []*onnxfile.Node{node("Add", []string{"a", "a"}, []string{"b"})}},
		{Name: "Square", Domain: "own", Inputs: []string{"a"}, Outputs: []string{"b"}, Nodes: []*onnxfile.Node{node("Mul", []string{"a", "a"}, []string{"b"})}},
	}
	m := require.V(importFile(file, nil))(t)
	require.Equal(t, []float64{9, 25}, numbers(nn.TensorFloat32, require.V(execute(m, [][]byte{floats32(3, -5)}))(t)[0]))
}

// TestTransposeAnyRank permutes tensors of four to eight dimensions in random orders.
func TestTransposeAnyRank(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		rank := 4 + random.IntN(5)
		dims, count := make([]int64, rank), 1
		for i := range dims {
			dims[i] = int64(1 + random.IntN(3))
			count *= int(dims[i])
		}
		perm := random.Perm(rank)
		axes := make([]int64, rank)
		for i, p := range perm {
			axes[i] = int64(p)
		}
		list := make([]float32, count)
		for i := range list {
			list[i] = float32(i)
		}
		want := make([]float64, count)
		for i := range want { // element i of the result, by its coordinates
			left, from := i, 0
			for d := rank - 1; d >= 0; d-- {
				stride := 1
				for _, n := range dims[perm[d]+1:] {
					stride *= int(n)
				}
				n := int(dims[perm[d]])
				from += left % n * stride
				left /= n
			}
			want[i] = float64(from)
		}
		g := &onnxfile.Graph{Inputs: []*onnxfile.Value{value32("x", dims...)}, Outputs: []*onnxfile.Value{value32("y")},
			Nodes: []*onnxfile.Node{node("Transpose", []string{"x"}, []string{"y"}, intsAttribute("perm", axes...))}}
		require.Equal(t, want, numbers(nn.TensorFloat32, runGraph(t, g, floats32(list...))), dims, perm)
	}
}

// TestShapesOfMoreDimensions: inputs and outputs of five dimensions and more say so beside the four that NNAPI has; an
// output that a constant or an input is does too, others do not.
func TestShapesOfMoreDimensions(t *testing.T) {
	five := value32("x", 1, 2, 3, 4, 5)
	g := &onnxfile.Graph{Inputs: []*onnxfile.Value{five}, Outputs: []*onnxfile.Value{value32("t"), value32("r"), value32("x"), value32("s")},
		Initializers: []*onnxfile.Tensor{{Name: "shape", Type: onnxfile.Int64, Dims: []int64{2}, Int64s: []int64{6, 20}}},
		Nodes: []*onnxfile.Node{node("Transpose", []string{"x"}, []string{"t"}, intsAttribute("perm", 4, 3, 2, 1, 0)), node("Reshape", []string{"x", "shape"}, []string{"r"}),
			node("Relu", []string{"t"}, []string{"s"})}}
	m := require.V(importFile(model(g, 17), nil))(t)
	shape := func(x uint32) []uint32 { o := &m.Main.Operands[x]; return o.Unmerge(o.Dimensions) }
	require.Equal(t, []uint32{1, 2, 3, 4, 5}, shape(m.Main.Inputs[0]))
	for k, want := range [][]uint32{{5, 4, 3, 2, 1}, {6, 20}, {1, 2, 3, 4, 5}, {5, 4, 3, 2, 1}} {
		require.Equal(t, want, shape(m.Main.Outputs[k]), k)
		require.Check(t, len(m.Main.Operands[m.Main.Outputs[k]].Dimensions) <= 4, "output %d has %v", k, m.Main.Operands[m.Main.Outputs[k]].Dimensions)
	}
}
