package onnx

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// steps are bytes of noise, and the reals that they are by scales and zero points along columns.
func steps(random *rand.Rand, t onnxfile.DataType, n int, scales []float64, zeros []int) (data []byte, reals []float64) {
	for i := range n {
		v := random.IntN(256)
		data = append(data, byte(v))
		if t == onnxfile.Int8 {
			v = int(int8(v))
		}
		reals = append(reals, float64(v-zeros[i%len(zeros)])*scales[i%len(scales)])
	}
	return data, reals
}

// product is A [m, k] times B [k, n].
func product(a, b []float64, m, k, n int) []float64 {
	y := make([]float64, m*n)
	for i := range y {
		for j := range k {
			y[i] += a[i/n*k+j] * b[j*n+i%n]
		}
	}
	return y
}

// within holds quantized results against reals: as near as rounding once is, one unit where NNAPI's arithmetic is fixed.
func within(t *testing.T, what string, got, reals []float64, scale float64, zero int, low, high, units float64) {
	t.Helper()
	require.Same(t, len(reals), len(got), what)
	for i, v := range reals {
		want := min(max(math.RoundToEven(v/scale)+float64(zero), low), high)
		require.Check(t, math.Abs(got[i]-want) <= units, "%s: element %d is %v, want %v", what, i, got[i], want)
	}
}

// TestQuantizedProducts compares products of quantized matrices with those of the reals: one scale, a scale per column,
// zero points per column.
func TestQuantizedProducts(t *testing.T) {
	const m, k, n = 3, 5, 4
	random := rand.New(rand.NewPCG(21, 22))
	columns := []float64{0.0078125, 0.015625, 0.00390625, 0.03125}
	for _, c := range []struct {
		scales []float64
		zeros  []int
		of     onnxfile.DataType
		units  float64
	}{
		{columns[:1], []int{0}, onnxfile.Int8, 1}, {columns[:1], []int{7}, onnxfile.Uint8, 1}, {columns, []int{0}, onnxfile.Int8, 1}, {columns, []int{128}, onnxfile.Uint8, 1},
		{columns, []int{1, -2, 3, 0}, onnxfile.Int8, 0},
	} {
		a, realA := steps(random, onnxfile.Uint8, m*k, []float64{0.0625}, []int{120})
		b, realB := steps(random, c.of, k*n, c.scales, c.zeros)
		want := product(realA, realB, m, k, n)
		scales, zeros := []float32{}, []byte{}
		for i := range max(len(c.scales), len(c.zeros)) {
			scales, zeros = append(scales, float32(c.scales[i%len(c.scales)])), append(zeros, byte(c.zeros[i%len(c.zeros)]))
		}
		shape := []int64{int64(len(scales))}
		bias := []int32{100, -200, 300, -4000}
		list := []*onnxfile.Tensor{
			floatTensor("as", nil, 0.0625), byteTensor(onnxfile.Uint8, "az", nil, 120), byteTensor(c.of, "b", []int64{k, n}, b...), floatTensor("bs", shape, scales...),
			byteTensor(c.of, "bz", shape, zeros...), floatTensor("ys", nil, 0.25), byteTensor(onnxfile.Uint8, "yz", nil, 100), {Name: "c", Type: onnxfile.Int32, Dims: []int64{n}, Int32s: bias},
			floatTensor("f", []int64{n}, 1, 2, 3, 4),
		}
		inputs := []*onnxfile.Value{typed(onnxfile.Uint8, "a", m, k)}
		run := func(of onnxfile.DataType, n *onnxfile.Node) []float64 {
			g := &onnxfile.Graph{Inputs: inputs, Outputs: []*onnxfile.Value{typed(of, "y")}, Nodes: []*onnxfile.Node{n}, Initializers: list}
			return numbers(held[of], runGraph(t, g, a))
		}
		name := fmt.Sprint(c.scales, c.zeros, c.of)
		got := run(onnxfile.Uint8, node("QLinearMatMul", []string{"a", "as", "az", "b", "bs", "bz", "ys", "yz"}, []string{"y"}))
		within(t, "QLinearMatMul "+name, got, want, 0.25, 100, 0, 255, c.units)

		biased, added := make([]float64, m*n), make([]float64, m*n)
		for i := range biased {
			biased[i] = want[i] + float64(bias[i%n])*0.0625*c.scales[i%n%len(c.scales)]
			added[i] = want[i] + float64(i%n) + 1
		}
		got = run(onnxfile.Uint8, inDomain(node("QGemm", []string{"a", "as", "az", "b", "bs", "bz", "c", "ys", "yz"}, []string{"y"})))
		within(t, "QGemm "+name, got, biased, 0.25, 100, 0, 255, c.units)
		near(t, "QGemm of reals "+name, biased, run(onnxfile.Float, inDomain(node("QGemm", []string{"a", "as", "az", "b", "bs", "bz", "c"}, []string{"y"}))))
		near(t, "MatMulIntegerToFloat "+name, added, run(onnxfile.Float, inDomain(node("MatMulIntegerToFloat", []string{"a", "b", "as", "bs", "az", "bz", "f"}, []string{"y"}))))
		list[2] = byteTensor(c.of, "b", []int64{n, k}, make([]byte, n*k)...)
		for i := range b {
			list[2].Raw[i%n*k+i/n] = b[i]
		}
		got = run(onnxfile.Uint8, inDomain(node("QGemm", []string{"a", "as", "az", "b", "bs", "bz", "c", "ys", "yz"}, []string{"y"}, intAttribute("transB", 1))))
		within(t, "QGemm transposed "+name, got, biased, 0.25, 100, 0, 255, c.units)
	}
}

// TestDynamicQuantizeMatMul quantizes by the range of the input, with the standard's rounding.
func TestDynamicQuantizeMatMul(t *testing.T) {
	const m, k, n = 2, 4, 3
	x := pattern(m * k)
	least, most := 0.0, 0.0
	for _, v := range x {
		least, most = min(least, float64(v)), max(most, float64(v))
	}
	scale := (most - least) / 255
	zero := math.RoundToEven(-least / scale)
	a := make([]float64, m*k)
	for i, v := range x {
		a[i] = (min(max(math.RoundToEven(float64(v)/scale)+zero, 0), 255) - zero) * scale
	}
	random := rand.New(rand.NewPCG(5, 6))
	b, realB := steps(random, onnxfile.Int8, k*n, []float64{0.5, 0.25, 0.125}, []int{3})
	want := product(a, realB, m, k, n)
	for i := range want {
		want[i] += float64(i % n)
	}
	g := &onnxfile.Graph{Inputs: []*onnxfile.Value{value32("x", m, k)}, Outputs: []*onnxfile.Value{value32("y")},
		Initializers: []*onnxfile.Tensor{byteTensor(onnxfile.Int8, "b", []int64{k, n}, b...), floatTensor("s", []int64{n}, 0.5, 0.25, 0.125), byteTensor(onnxfile.Int8, "z", nil, 3), floatTensor("c", []int64{n}, 0, 1, 2)},
		Nodes:        []*onnxfile.Node{inDomain(node("DynamicQuantizeMatMul", []string{"x", "b", "s", "z", "c"}, []string{"y"}))}}
	near(t, "DynamicQuantizeMatMul", want, numbers(nn.TensorFloat32, runGraph(t, g, floats32(x...))))
}

// TestMatMulNBits unpacks weights of 2, 4 and 8 bits whose last block is not full, with each kind of zero points.
func TestMatMulNBits(t *testing.T) {
	const m, k, n, block, blocks = 2, 40, 3, 16, 3
	random := rand.New(rand.NewPCG(7, 8))
	x := pattern(m * k)
	for _, bits := range []int{2, 4, 8} {
		for _, zeros := range []string{"", "packed", "reals"} {
			each := 8 / bits
			stride := (blocks + each - 1) / each
			packed, scales, points, reals := make([]byte, n*blocks*block*bits/8), make([]float32, n*blocks), make([]byte, n*stride), make([]float32, n*blocks)
			for i := range packed {
				packed[i] = byte(random.IntN(256))
			}
			for i := range points {
				points[i] = byte(random.IntN(256))
			}
			for i := range scales {
				scales[i], reals[i] = float32(random.IntN(8)+1)/16, float32(random.IntN(12))+0.5
			}
			mask := byte(1<<bits - 1)
			want := make([]float64, m*n)
			for i := range want {
				for j := range k {
					row, at := i%n, j/block
					flat := row*blocks*block + j
					code := float64(packed[flat/each] >> (flat % each * bits) & mask)
					zero := float64(int(1) << (bits - 1))
					switch zeros {
					case "packed":
						zero = float64(points[row*stride+at/each] >> (at % each * bits) & mask)
					case "reals":
						zero = float64(reals[row*blocks+at])
					}
					want[i] += float64(x[i/n*k+j]) * (code - zero) * float64(scales[row*blocks+at])
				}
			}
			in, list := []string{"x", "b", "s"}, []*onnxfile.Tensor{byteTensor(onnxfile.Uint8, "b", []int64{n, blocks, int64(block * bits / 8)}, packed...), floatTensor("s", []int64{n * blocks}, scales...)}
			switch zeros {
			case "packed":
				in, list = append(in, "z"), append(list, byteTensor(onnxfile.Uint8, "z", []int64{int64(n * stride)}, points...))
			case "reals":
				in, list = append(in, "z"), append(list, floatTensor("z", []int64{n * blocks}, reals...))
			}
			g := &onnxfile.Graph{Inputs: []*onnxfile.Value{value32("x", 1, m, k)}, Outputs: []*onnxfile.Value{value32("y")}, Initializers: list,
				Nodes: []*onnxfile.Node{inDomain(node("MatMulNBits", in, []string{"y"}, intAttribute("K", k), intAttribute("N", n), intAttribute("bits", int64(bits)), intAttribute("block_size", block)))}}
			near(t, fmt.Sprint("MatMulNBits of ", bits, " bits, zeros ", zeros), want, numbers(nn.TensorFloat32, runGraph(t, g, floats32(x...))))
		}
	}
}

// TestQLinearOfReals compares quantized softmax, means, averages and choices with the definition, rounded once.
func TestQLinearOfReals(t *testing.T) {
	const n = 32 // [1, 2, 4, 4]
	random := rand.New(rand.NewPCG(9, 10))
	data, x := steps(random, onnxfile.Uint8, n, []float64{0.0625}, []int{130})
	other, z := steps(random, onnxfile.Uint8, n, []float64{0.03125}, []int{10})
	pick := make([]byte, n)
	for i := range pick {
		pick[i] = byte(i % 3 & 1)
	}
	softmax, mean, average, where := make([]float64, n), make([]float64, n/4), make([]float64, 2*9), make([]float64, n)
	for i := range n {
		sum := 0.0
		for j := range 4 {
			sum += math.Exp(x[i/4*4+j])
		}
		softmax[i] = math.Exp(x[i]) / sum
		mean[i/4] += x[i] / 4
		if where[i] = z[i]; pick[i] != 0 {
			where[i] = x[i]
		}
	}
	for i := range average {
		for _, d := range [][2]int{{0, 0}, {0, 1}, {1, 0}, {1, 1}} {
			average[i] += x[i/9*16+(i%9/3+d[0])*4+i%3+d[1]] / 4
		}
	}
	for _, c := range []struct {
		n    *onnxfile.Node
		want []float64
		unit float64
		zero byte
	}{
		{node("QLinearSoftmax", []string{"x", "xs", "xz", "ys", "yz"}, []string{"y"}, intAttribute("opset", 13), intAttribute("axis", -1)), softmax, 1.0 / 256, 0},
		{node("QLinearReduceMean", []string{"x", "xs", "xz", "ys", "yz"}, []string{"y"}, intsAttribute("axes", 3)), mean, 0.05, 90},
		{node("QLinearAveragePool", []string{"x", "xs", "xz", "ys", "yz"}, []string{"y"}, intsAttribute("kernel_shape", 2, 2)), average, 0.0625, 130},
		{node("QLinearWhere", []string{"p", "x", "xs", "xz", "o", "os", "oz", "ys", "yz"}, []string{"y"}), where, 0.05, 60},
	} {
		g := &onnxfile.Graph{Inputs: []*onnxfile.Value{typed(onnxfile.Uint8, "x", 1, 2, 4, 4)}, Outputs: []*onnxfile.Value{typed(onnxfile.Uint8, "y")}, Nodes: []*onnxfile.Node{inDomain(c.n)},
			Initializers: []*onnxfile.Tensor{floatTensor("xs", nil, 0.0625), byteTensor(onnxfile.Uint8, "xz", nil, 130), floatTensor("ys", nil, float32(c.unit)), byteTensor(onnxfile.Uint8, "yz", nil, c.zero),
				byteTensor(onnxfile.Uint8, "o", []int64{1, 2, 4, 4}, other...), floatTensor("os", nil, 0.03125), byteTensor(onnxfile.Uint8, "oz", nil, 10), byteTensor(onnxfile.Bool, "p", []int64{1, 2, 4, 4}, pick...)}}
		units := 0.0
		if c.n.Op != "QLinearWhere" { // sums in float32
			units = 1
		}
		within(t, c.n.Op, numbers(nn.TensorQuant8Asymm, runGraph(t, g, data)), c.want, c.unit, int(c.zero), 0, 255, units)
	}
}

// TestFusedConvAdds adds a tensor before the activation.
func TestFusedConvAdds(t *testing.T) {
	x, z := pattern(4), pattern(8)[4:]
	want := make([]float64, 4)
	for i := range want {
		want[i] = math.Max(0, 2*float64(x[i])+0.5+float64(z[i]))
	}
	kind := &onnxfile.Attribute{Name: "activation", Type: onnxfile.AttributeString, String: "Relu"}
	g := &onnxfile.Graph{Inputs: []*onnxfile.Value{value32("x", 1, 1, 2, 2), value32("z", 1, 1, 2, 2)}, Outputs: []*onnxfile.Value{value32("y")},
		Initializers: []*onnxfile.Tensor{floatTensor("w", []int64{1, 1, 1, 1}, 2), floatTensor("b", []int64{1}, 0.5)},
		Nodes:        []*onnxfile.Node{inDomain(node("FusedConv", []string{"x", "w", "b", "z"}, []string{"y"}, kind))}}
	near(t, "FusedConv", want, numbers(nn.TensorFloat32, runGraph(t, g, floats32(x...), floats32(z...))))
}
