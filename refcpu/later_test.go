package refcpu

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal/nn"
)

func int32Bytes(v ...int32) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, uint32(x))
	}
	return b
}

func (g *graph) int32s(v ...int32) uint32 {
	return g.constant(nn.TensorInt32, 0, 0, int32Bytes(v...), uint32(len(v)))
}

func (g *graph) bool(v bool) uint32 {
	b := byte(0)
	if v {
		b = 1
	}
	return g.add(nn.Operand{Type: nn.Bool, Lifetime: nn.ConstantCopy, Data: []byte{b}})
}

// runOnce compiles and runs a graph of one output.
func runOnce(g *graph, threads int, inputs ...[]byte) ([]byte, error) {
	p, err := Compile(g.model())
	if err != nil {
		return nil, err
	}
	in := make([]Tensor, len(inputs))
	for i := range in {
		in[i].Data = inputs[i]
	}
	out, err := p.Execute(in, Options{Threads: threads})
	if err != nil {
		return nil, err
	}
	return out[0].Data, nil
}

// TestBatchMatmul compares every combination of type, rank and transposition
// with sums taken straight from the definition.
func TestBatchMatmul(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 4))
	for _, typ := range []nn.OperandType{nn.TensorFloat32, nn.TensorInt32, nn.TensorQuant8AsymmSigned} {
		for mask := range 4 {
			for rank := 2; rank <= 4; rank++ {
				adjA, adjB := mask&1 != 0, mask&2 != 0
				const rows, depth, cols = 5, 7, 3
				lead := []uint32{2, 3}[:rank-2]
				batch := int(nn.Elements(lead))
				shape := func(a, b uint32, swap bool) []uint32 {
					if swap {
						a, b = b, a
					}
					return append(append([]uint32{}, lead...), a, b)
				}
				scale, zeroA, zeroB, zeroOut := float32(0), int32(0), int32(0), int32(0)
				if typ == nn.TensorQuant8AsymmSigned {
					scale, zeroA, zeroB, zeroOut = 0.5, 3, -2, 7
				}
				g := &graph{}
				a := g.input(typ, scale, zeroA, shape(rows, depth, adjA)...)
				b := g.input(typ, scale, zeroB, shape(depth, cols, adjB)...)
				out := g.output(typ, 8*scale, zeroOut, shape(rows, cols, false)...)
				g.op(nn.OpBatchMatmul, []uint32{out}, a, b, g.bool(adjA), g.bool(adjB))
				draw := func(n int) (b []byte, v []float64) {
					for range n {
						x := int32(r.IntN(41) - 20)
						v = append(v, float64(x))
						switch typ {
						case nn.TensorFloat32:
							b = append(b, floatBytes(float32(x))...)
						case nn.TensorInt32:
							b = append(b, int32Bytes(x)...)
						default:
							b = append(b, byte(x))
						}
					}
					return b, v
				}
				ab, av := draw(batch * rows * depth)
				bb, bv := draw(batch * depth * cols)
				got, err := runOnce(g, 1, ab, bb)
				if err != nil {
					t.Fatal(err)
				}
				if again, err := runOnce(g, 3, ab, bb); err != nil || !bytes.Equal(again, got) {
					t.Errorf("%s: three threads give other bytes (%v)", typ, err)
				}
				for i := range batch * rows * cols {
					n, y, x := i/(rows*cols), i/cols%rows, i%cols
					sum := 0.
					for k := range depth {
						p, q := (n*rows+y)*depth+k, (n*depth+k)*cols+x
						if adjA {
							p = (n*depth+k)*rows + y
						}
						if adjB {
							q = (n*cols+x)*depth + k
						}
						sum += (av[p] - float64(zeroA)) * (bv[q] - float64(zeroB))
					}
					var have float64
					switch typ {
					case nn.TensorFloat32:
						have = float64(math.Float32frombits(binary.LittleEndian.Uint32(got[4*i:])))
					case nn.TensorInt32:
						have = float64(int32(binary.LittleEndian.Uint32(got[4*i:])))
					default: // 0.5*0.5/4 is 1/2 by the multiplier, then a shift by 3: two roundings
						have = float64(int8(got[i]))
						sum = min(max(math.Round(math.Floor(sum/2+0.5)/8)+float64(zeroOut), -128), 127)
					}
					if have != sum {
						t.Fatalf("%s adj %v %v rank %d: element %d is %v, want %v", typ, adjA, adjB, rank, i, have, sum)
					}
				}
			}
		}
	}
}

// sparse is a DENSIFY of a 3x4 matrix with two levels.
func sparse(values uint32, order, format, sizes []int32, meta ...[]int32) *graph {
	g := &graph{}
	in := g.input(nn.TensorQuant16Asymm, 1, 500, values)
	out := g.output(nn.TensorQuant16Asymm, 1, 500)
	g.Operands[out].Dimensions = []uint32{0, 0}
	ops := []uint32{in, g.int32s(order...), g.int32s(), g.int32s(format...), g.int32s(sizes...)}
	for _, m := range meta {
		ops = append(ops, g.int32s(m...))
	}
	g.op(nn.OpDensify, []uint32{out}, ops...)
	return g
}

// TestDensify fills with the zero point and refuses lists that do not fit.
func TestDensify(t *testing.T) {
	order, csr, sizes := []int32{1, 0}, []int32{1, 1}, []int32{4, 3} // columns lead
	good := [][]int32{{0, 2}, {1, 3}, {0, 1, 3}, {2, 0, 1}}
	values := []byte{1, 0, 2, 0, 3, 0}
	got, err := runOnce(sparse(3, order, csr, sizes, good...), 1, values)
	if err != nil {
		t.Fatal(err)
	}
	want := bytes.Repeat([]byte{500 & 255, 500 >> 8}, 12)
	for v, at := range []int{2*4 + 1, 0*4 + 3, 1*4 + 3} {
		want[2*at], want[2*at+1] = byte(v+1), 0
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	replace := func(i int, with ...int32) [][]int32 {
		m := append([][]int32{}, good...)
		m[i] = with
		return m
	}
	for _, c := range []struct {
		want string
		g    *graph
	}{
		{"segment bounds", sparse(3, order, csr, sizes, replace(0, 0, 2, 2)...)},
		{"segment bounds", sparse(3, order, csr, sizes, replace(0, -1, 2)...)},
		{"segment bounds", sparse(3, order, csr, sizes, replace(2, 0, 1, 9)...)},
		{"segment 1 begins at 4", sparse(3, order, csr, sizes, replace(2, 0, 4, 3)...)},
		{"index 1 is 4", sparse(3, order, csr, sizes, replace(1, 1, 4)...)},
		{"index 0 is -1", sparse(3, order, csr, sizes, replace(3, -1, 0, 1)...)},
		{"3 values for 2 places", sparse(3, order, csr, sizes, []int32{0, 2}, []int32{1, 3}, []int32{0, 1, 2}, []int32{2, 0})},
		{"is no order", sparse(3, []int32{0, 0}, csr, sizes, good...)},
		{"is no order", sparse(3, []int32{0, 7}, csr, sizes, good...)},
		{"has format 2", sparse(3, order, []int32{1, 2}, sizes, good...)},
		{"has size 0", sparse(3, order, csr, []int32{4, 0}, good...)},
		{"too large", sparse(3, order, csr, []int32{1 << 20, 1 << 20}, good...)},
		{"2 levels, 1 formats", sparse(3, order, []int32{1}, sizes, good...)},
		{"3 lists", sparse(3, order, csr, sizes, good[:3]...)},
		{"3 values for 12 places", sparse(3, order, []int32{0, 0}, sizes, nil, nil, nil, nil)},
	} {
		if _, err := runOnce(c.g, 1, values); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

// TestLaterLimits: axes, paddings and shapes that NNAPI forbids are refused.
func TestLaterLimits(t *testing.T) {
	const f32 = nn.TensorFloat32
	mirror := func(mode int32, before, after int32) *graph {
		g := &graph{}
		in := g.input(f32, 0, 0, 3)
		out := g.output(f32, 0, 0, 0)
		g.op(nn.OpMirrorPad, []uint32{out}, in, g.constant(nn.TensorInt32, 0, 0, int32Bytes(before, after), 1, 2), g.int32(mode))
		return g
	}
	reverse := func(axes ...int32) *graph {
		g := &graph{}
		in := g.input(f32, 0, 0, 3)
		g.op(nn.OpReverse, []uint32{g.output(f32, 0, 0, 3)}, in, g.int32s(axes...))
		return g
	}
	pack := func(axis int32) *graph {
		g := &graph{}
		in := g.input(f32, 0, 0, 3)
		g.op(nn.OpPack, []uint32{g.output(f32, 0, 0, 0, 0)}, g.int32(axis), in, in)
		return g
	}
	in := floatBytes(1, 2, 3)
	for _, c := range []struct {
		g    *graph
		want []float32 // nil: refused
	}{
		{mirror(0, 2, 2), []float32{3, 2, 1, 2, 3, 2, 1}},
		{mirror(1, 3, 3), []float32{3, 2, 1, 1, 2, 3, 3, 2, 1}},
		{mirror(0, 3, 0), nil}, {mirror(1, 0, 4), nil}, {mirror(2, 0, 0), nil}, {mirror(1, -1, 0), nil},
		{reverse(0), []float32{3, 2, 1}}, {reverse(-1), nil}, {reverse(1), nil}, {reverse(0, 0), nil}, {reverse(), nil},
		{pack(0), []float32{1, 2, 3, 1, 2, 3}}, {pack(1), []float32{1, 1, 2, 2, 3, 3}}, {pack(2), nil}, {pack(-1), nil},
	} {
		got, err := runOnce(c.g, 1, in)
		name := fmt.Sprint(c.g.Operations[0].Type, " ", c.want)
		if c.want == nil {
			if err == nil {
				t.Errorf("%s: accepted", name)
			}
		} else if err != nil || !bytes.Equal(got, floatBytes(c.want...)) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
}
