package onnx_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/x448/float16"

	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/importer/shapetest"
)

// drawn is a value of a random network.
type drawn struct {
	name string
	of   onnxfile.DataType
	dims []int64
	// exact values are inputs, what is moved about of them, and integers: no two ways of computing them differ.
	exact bool
	// step is by how much a value of rounded quantized numbers may differ.
	step float64
	// most bounds the magnitude of integers.
	most float64
	data []float64 // of inputs and constants
}

func (v *drawn) rank() int64 { return int64(len(v.dims)) }

func elements(dims []int64) int64 {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	return n
}

// network is a random network of a few operators with its inputs.
type network struct {
	builder
	opset  int64
	values []*drawn
	inputs []*drawn
	used   map[string]bool
	// runtime makes lists of integers inputs as often as constants.
	runtime bool
}

// drawNetwork is network number seed, whose operators are those of randomOperators.
func drawNetwork(seed uint64) *network { return drawFrom(seed, rand.NewPCG(seed, 77), false) }

// drawRuntimeNetwork is one whose shapes, axes and positions are inputs as often as constants.
func drawRuntimeNetwork(seed uint64) *network { return drawFrom(seed, rand.NewPCG(seed, 76), true) }

func newNetwork(seed uint64) *network {
	n := &network{used: map[string]bool{}}
	n.random = rand.New(rand.NewPCG(seed, 75))
	return n
}

func drawFrom(seed uint64, source rand.Source, runtime bool) *network {
	n := &network{used: map[string]bool{}, runtime: runtime}
	n.random = rand.New(source)
	n.opset = []int64{7, 9, 10, 11, 12, 13, 13, 14, 15, 16, 17, 17, 18, 19, 20, 21}[n.random.IntN(16)]
	for count, tries := 2+n.random.IntN(5), 0; len(n.graph.Nodes) < count && tries < 50; tries++ {
		op := randomOperators[n.random.IntN(len(randomOperators))]
		if n.opset >= op.from {
			op.draw(n)
		}
	}
	n.graph.Name = fmt.Sprint("random ", seed)
	for _, v := range n.values { // which tells a scalar from a list of one element
		if v.rank() == 0 && n.chance(2) {
			in, list := n.listedAxes(n.read(v), []int64{0})
			n.moved("Unsqueeze", []int64{1}, v, in, list...)
		}
	}
	for _, v := range n.values { // results that nothing reads, and some of the others
		if !n.used[v.name] || n.random.IntN(6) == 0 && !strings.HasPrefix(v.name, "x") {
			n.graph.Outputs = append(n.graph.Outputs, &onnxfile.Value{Name: v.name, Type: v.of})
		}
	}
	return n
}

// bytes is the file.
func (n *network) bytes() []byte {
	ir := int64(8)
	if n.opset >= 19 {
		ir = 10
	}
	return onnxfile.Append(nil, &onnxfile.Model{
		IRVersion: ir, Opsets: []onnxfile.Opset{{Version: n.opset}, {Domain: "com.microsoft", Version: 1}}, Graph: &n.graph,
	})
}

// String is a line per node.
func (n *network) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "operator set %d\n", n.opset)
	for _, v := range n.inputs {
		fmt.Fprintf(&s, "  %s: input %v %v\n", v.name, v.of, v.dims)
	}
	for _, t := range n.graph.Initializers {
		fmt.Fprintf(&s, "  %s: constant %v %v", t.Name, t.Type, t.Dims)
		if elements(t.Dims) <= 8 {
			fmt.Fprint(&s, " ", t.Raw, t.Floats, t.Int32s, t.Int64s)
		}
		fmt.Fprintln(&s)
	}
	for _, node := range n.graph.Nodes {
		fmt.Fprintf(&s, "  %q = %s%q", node.Outputs, node.Op, node.Inputs)
		for _, a := range node.Attributes {
			fmt.Fprintf(&s, " %s=%v", a.Name, map[onnxfile.AttributeType]any{onnxfile.AttributeInt: a.Int, onnxfile.AttributeFloat: a.Float, onnxfile.AttributeString: a.String, onnxfile.AttributeInts: a.Ints}[a.Type])
		}
		fmt.Fprintln(&s)
	}
	for _, v := range n.graph.Outputs {
		fmt.Fprintf(&s, "  output %s\n", v.Name)
	}
	return strings.TrimSuffix(s.String(), "\n")
}

// upTo is a number from 0 to n-1, between one of lo to hi, one of a list, and a chance of one in n.
func (n *network) upTo(k int64) int64         { return n.random.Int64N(k) }
func (n *network) between(lo, hi int64) int64 { return lo + n.random.Int64N(hi-lo+1) }
func (n *network) one(list ...string) string  { return list[n.random.IntN(len(list))] }
func (n *network) chance(of int) bool         { return n.random.IntN(of) == 0 }
func (n *network) axis(rank int64, v int64) int { // of a dimension, half of the times counted from the end
	if n.opset >= 11 && n.chance(2) {
		return int(v - rank)
	}
	return int(v)
}

// shape is a random one of a rank.
func (n *network) shape(rank int64) []int64 {
	dims := make([]int64, rank)
	for i := range dims {
		dims[i] = n.between(1, 5)
	}
	return dims
}

var (
	reals    = []onnxfile.DataType{onnxfile.Float, onnxfile.Float, onnxfile.Float, onnxfile.Float16}
	floats   = []onnxfile.DataType{onnxfile.Float}
	wholes   = []onnxfile.DataType{onnxfile.Int32, onnxfile.Int64}
	smalls   = []onnxfile.DataType{onnxfile.Uint8, onnxfile.Int8}
	numbers  = slices.Concat(reals, wholes)
	anything = slices.Concat(numbers, smalls, []onnxfile.DataType{onnxfile.Bool})
)

// fill makes the elements of an input or constant.
func (n *network) fill(v *drawn) {
	v.exact, v.most = true, 20
	for range elements(v.dims) {
		x := math.Round(n.random.NormFloat64()*64) / 32
		switch v.of {
		case onnxfile.Float, onnxfile.Float16:
		case onnxfile.Bool:
			x = float64(n.random.IntN(2))
		case onnxfile.Uint8:
			x, v.most = float64(n.random.IntN(256)), 255
		case onnxfile.Int8:
			x, v.most = float64(n.random.IntN(256)-128), 128
		default:
			x = float64(n.random.IntN(41) - 20)
		}
		v.data = append(v.data, x)
	}
}

// rawElements are numbers as elements of a type.
func rawElements(of onnxfile.DataType, list []float64) (raw []byte) {
	for _, x := range list {
		switch of {
		case onnxfile.Float:
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(x)))
		case onnxfile.Float16:
			raw = binary.LittleEndian.AppendUint16(raw, float16.Fromfloat32(float32(x)).Bits())
		case onnxfile.Int32:
			raw = binary.LittleEndian.AppendUint32(raw, uint32(int32(x)))
		case onnxfile.Int64:
			raw = binary.LittleEndian.AppendUint64(raw, uint64(int64(x)))
		default:
			raw = append(raw, byte(int(x)))
		}
	}
	return raw
}

// input adds an input of the network; its first dimension may be open.
func (n *network) input(of onnxfile.DataType, dims ...int64) *drawn {
	v := &drawn{name: fmt.Sprint("x", len(n.inputs)), of: of, dims: dims}
	n.fill(v)
	info := declared(v.name, of, dims...)
	if len(dims) > 0 && n.chance(5) {
		info.Dims[0] = onnxfile.Dim{Name: "batch"}
	}
	n.graph.Inputs = append(n.graph.Inputs, info)
	n.inputs = append(n.inputs, v)
	n.values = append(n.values, v)
	return v
}

// weights adds a constant, or takes one of the same shape again.
func (n *network) weights(of onnxfile.DataType, dims ...int64) *drawn {
	for _, t := range n.graph.Initializers {
		if t.Type == of && slices.Equal(t.Dims, dims) && t.Raw != nil && n.chance(3) {
			return &drawn{name: t.Name, of: of, dims: dims, exact: true, most: 255}
		}
	}
	v := &drawn{of: of, dims: dims}
	n.fill(v)
	v.name = n.constant(&onnxfile.Tensor{Type: of, Dims: dims, Raw: rawElements(of, v.data)})
	return v
}

// list is an operand of integers: a constant mostly.
func (n *network) list(v ...int64) string {
	if len(v) == 1 && n.chance(8) {
		return n.add("Constant", nil, &onnxfile.Attribute{Name: "value", Type: onnxfile.AttributeTensor, Tensor: &onnxfile.Tensor{Type: onnxfile.Int64, Dims: []int64{1}, Int64s: v}})
	}
	return n.ints(v...)
}

// ints are an operand of integers: a constant, or an input.
func (n *network) ints(list ...int64) string {
	if !n.runtime || n.chance(2) {
		return n.builder.ints(list...)
	}
	v := &drawn{name: fmt.Sprint("x", len(n.inputs)), of: onnxfile.Int64, dims: []int64{int64(len(list))}, exact: true, most: 1 << 20}
	for _, x := range list {
		v.data = append(v.data, float64(x))
	}
	n.graph.Inputs = append(n.graph.Inputs, declared(v.name, v.of, v.dims...))
	n.inputs = append(n.inputs, v)
	n.used[v.name] = true
	return v.name
}

// some is a value that fits, or a new input of a rank from lo to hi.
func (n *network) some(of []onnxfile.DataType, lo, hi int64, fits func(v *drawn) bool) *drawn {
	var list []*drawn
	for _, v := range n.values {
		if slices.Contains(of, v.of) && v.rank() >= lo && v.rank() <= hi && elements(v.dims) <= 3000 && (fits == nil || fits(v)) {
			list = append(list, v)
		}
	}
	if len(list) > 0 && !n.chance(6) {
		return n.read(list[n.random.IntN(len(list))])
	}
	return n.read(n.input(of[n.random.IntN(len(of))], n.shape(n.between(lo, hi))...))
}

func (n *network) read(v *drawn) *drawn { n.used[v.name] = true; return v }

// plain are values that a function of reals takes; touchy values go into functions that enlarge differences.
func plain(v *drawn) bool  { return v.step == 0 }
func touchy(v *drawn) bool { return v.exact }

// partner is a value that broadcasts with another.
func (n *network) partner(a *drawn) *drawn {
	if n.chance(3) {
		for _, v := range n.values {
			if v.of == a.of && v.step == 0 && shapetest.Broadcast(a.dims, v.dims) != nil && n.chance(2) {
				return n.read(v)
			}
		}
	}
	dims := slices.Clone(a.dims[n.upTo(a.rank()+1):])
	for i := range dims {
		if n.chance(3) {
			dims[i] = 1
		}
	}
	if a.rank() < 5 && n.chance(6) {
		dims = append([]int64{n.between(1, 3)}, a.dims...)
	}
	if n.chance(2) {
		return n.weights(a.of, dims...)
	}
	return n.read(n.input(a.of, dims...))
}

// result appends a node with one result.
func (n *network) result(op string, of onnxfile.DataType, dims []int64, from []*drawn, in []string, attributes ...*onnxfile.Attribute) *drawn {
	v := &drawn{name: n.add(op, in, attributes...), of: of, dims: dims, most: 20}
	for _, f := range from {
		v.step, v.most = max(v.step, f.step), max(v.most, f.most)
	}
	n.values = append(n.values, v)
	return v
}

// moved is result of elements that are the operand's.
func (n *network) moved(op string, dims []int64, x *drawn, in []string, attributes ...*onnxfile.Attribute) *drawn {
	v := n.result(op, x.of, dims, []*drawn{x}, in, attributes...)
	v.exact = x.exact
	return v
}

// further is another result of the last node.
func (n *network) further(of onnxfile.DataType, dims []int64, from *drawn) *drawn {
	node := n.graph.Nodes[len(n.graph.Nodes)-1]
	v := &drawn{name: fmt.Sprint(node.Outputs[0], "_", len(node.Outputs)), of: of, dims: dims, exact: from.exact, step: from.step, most: from.most}
	node.Outputs = append(node.Outputs, v.name)
	n.values = append(n.values, v)
	return v
}

// someAxes are different dimensions.
func (n *network) someAxes(rank int64) (axes, written []int64) {
	for i := range rank {
		if n.chance(2) {
			axes, written = append(axes, i), append(written, int64(n.axis(rank, i)))
		}
	}
	n.random.Shuffle(len(axes), func(i, k int) { axes[i], axes[k], written[i], written[k] = axes[k], axes[i], written[k], written[i] })
	return axes, written
}
