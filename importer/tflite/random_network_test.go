package tflite

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/importer/tflite/tflitefile"
)

// drawn is a tensor of a random network.
type drawn struct {
	arg
	at int32 // of the subgraph
	// exact tensors are inputs, and what is moved about of them: no two ways of computing them differ.
	exact bool
	// steps is by how many steps quantized elements may differ.
	steps float64
}

// randomNetwork is a random network of a few operators with its inputs.
type randomNetwork struct {
	random  *rand.Rand
	sub     tflitefile.Subgraph
	values  []*drawn
	inputs  []*drawn
	outputs []*drawn
	used    map[int32]bool
	names   []string // of operators
	// runtime makes lists of integers inputs as often as constants.
	runtime bool
	// wide makes quantized activations those of 16 bits, beside weights of 8, and reals of half of the constants FLOAT16.
	wide bool
	// open are outputs of open shape, which no other operator reads.
	open []*drawn
}

// drawMoreNetwork is random network number seed of moreOperators as well.
func drawMoreNetwork(seed uint64) *randomNetwork {
	n := newNetwork(seed, 81)
	n.grow(slices.Concat(moreOperators, moreOperators, randomOperators))
	return n
}

// drawWideNetwork is random network number seed with activations of 16 bits and constants of FLOAT16.
func drawWideNetwork(seed uint64) *randomNetwork {
	n := newNetwork(seed, 80)
	n.wide = true
	n.grow(randomOperators)
	return n
}

func newNetwork(seed, stream uint64) *randomNetwork {
	return &randomNetwork{random: rand.New(rand.NewPCG(seed, stream)), used: map[int32]bool{}}
}

// drawNetwork is network number seed, whose operators are those of randomOperators.
func drawNetwork(seed uint64) *randomNetwork {
	n := newNetwork(seed, 78)
	n.grow(randomOperators)
	return n
}

// grow appends operators and chooses the outputs: results that nothing reads, and some of the others.
func (n *randomNetwork) grow(operators []func(n *randomNetwork)) {
	for count, tries := 2+n.random.IntN(5), 0; len(n.sub.Operators) < count && tries < 50; tries++ {
		operators[n.random.IntN(len(operators))](n)
	}
	for _, v := range slices.Concat(n.values, n.open) {
		if slices.Contains(n.inputs, v) {
			continue
		}
		if !n.used[v.at] || n.random.IntN(6) == 0 {
			n.outputs, n.sub.Outputs = append(n.outputs, v), append(n.sub.Outputs, v.at)
		}
	}
}

func (n *randomNetwork) bytes() []byte {
	m := tflitefile.Model{Subgraphs: []tflitefile.Subgraph{n.sub}}
	return m.Bytes()
}

// given are the inputs of the network in the file's types.
func (n *randomNetwork) given() (list [][]byte) {
	for _, v := range n.inputs {
		list = append(list, v.bytes())
	}
	return list
}

// String is a line per operator.
func (n *randomNetwork) String() string {
	var s strings.Builder
	name := func(list []int32) (names []string) {
		for _, i := range list {
			if i < 0 {
				names = append(names, "-")
				continue
			}
			t := n.sub.Tensors[i]
			names = append(names, fmt.Sprintf("%s %s%v", t.Name, typesOfTensors[t.Type].name, t.Shape))
			if t.Scale != nil {
				names[len(names)-1] += fmt.Sprint(" scale ", t.Scale, " zero ", t.Zero)
			}
			if len(t.Data) > 0 && len(t.Data) <= 32 {
				names[len(names)-1] += fmt.Sprint(" = ", t.Data)
			}
		}
		return names
	}
	for i, o := range n.sub.Operators {
		fmt.Fprintf(&s, "  %q = %s%q %v\n", name(o.Outputs), n.names[i], name(o.Inputs), o.Options)
	}
	fmt.Fprintf(&s, "  outputs %v", n.sub.Outputs)
	return s.String()
}

func (n *randomNetwork) between(lo, hi int) int { return lo + n.random.IntN(hi-lo+1) }
func (n *randomNetwork) chance(of int) bool     { return n.random.IntN(of) == 0 }
func one[T any](n *randomNetwork, list ...T) T  { return list[n.random.IntN(len(list))] }

// axis is a dimension, half of the times counted from the end.
func (n *randomNetwork) axis(rank, axis int) int {
	if n.chance(2) {
		return axis - rank
	}
	return axis
}

func (n *randomNetwork) shape(rank int) []int32 {
	d := make([]int32, rank)
	for i := range d {
		d[i] = int32(n.between(1, 5))
	}
	return d
}

func count(dims []int32) int {
	k := 1
	for _, d := range dims {
		k *= int(d)
	}
	return k
}

// put adds a tensor.
func (n *randomNetwork) put(a arg, name string) *drawn {
	a.Name = fmt.Sprint(name, len(n.sub.Tensors))
	n.sub.Tensors = append(n.sub.Tensors, a.Tensor)
	return &drawn{arg: a, at: int32(len(n.sub.Tensors) - 1)}
}

// filled is a tensor with elements; quantized ones have a scale and a zero point.
func (n *randomNetwork) filled(code int, dims []int32) arg {
	a := tensorArg(code, dims, nil)
	switch code {
	case typeInt8:
		a.Scale, a.Zero = []float32{one[float32](n, 0.02, 0.05, 0.03125)}, []int64{int64(n.between(-30, 30))}
	case typeInt16:
		a.Scale, a.Zero = []float32{one[float32](n, 1.0/4096, 0.0003, 0.0001)}, []int64{0}
	case typeUint8:
		a.Scale, a.Zero = []float32{one[float32](n, 0.02, 0.05, 0.03125)}, []int64{int64(n.between(90, 160))}
	}
	for range count(dims) {
		switch code {
		case typeFloat32:
			a.values = append(a.values, float64(n.between(-128, 128))/32)
		case typeInt8:
			a.values = append(a.values, float64(n.between(-128, 127)))
		case typeInt16:
			a.values = append(a.values, float64(n.between(-32768, 32767)))
		case typeUint8:
			a.values = append(a.values, float64(n.between(0, 255)))
		case typeBool:
			a.values = append(a.values, float64(n.between(0, 1)))
		default:
			a.values = append(a.values, float64(n.between(-20, 20)))
		}
	}
	return a
}

func (n *randomNetwork) input(a arg) *drawn {
	v := n.put(a, "in")
	v.exact = true
	n.sub.Inputs = append(n.sub.Inputs, v.at)
	n.inputs, n.values = append(n.inputs, v), append(n.values, v)
	return v
}

func (n *randomNetwork) constant(a arg) *drawn {
	if n.wide && a.Type == typeFloat32 && n.chance(2) { // whose values halves hold
		half := a
		half.Type = typeFloat16
		half.Data = half.bytes()
		out := arg{Tensor: f32(a.Shape).Tensor}
		h, y := n.put(half, "h"), n.put(out, "c")
		n.sub.Operators = append(n.sub.Operators, tflitefile.Operator{Code: codeOf("DEQUANTIZE"), Inputs: []int32{h.at}, Outputs: []int32{y.at}})
		n.names = append(n.names, "DEQUANTIZE")
		y.values, y.exact = a.values, true
		return y
	}
	a.Data = a.bytes()
	v := n.put(a, "c")
	v.exact = true
	return v
}

func (n *randomNetwork) ints(list ...int) *drawn {
	a := i32(dims(int32(len(list))))
	for _, v := range list {
		a.values = append(a.values, float64(v))
	}
	if n.runtime && n.chance(2) {
		return n.input(a)
	}
	return n.constant(a)
}

// some is a tensor of one of the types and of a rank that fits, or a new input.
func (n *randomNetwork) some(codes []int, lo, hi int, fits func(v *drawn) bool) *drawn {
	codes = n.widened(codes)
	var list []*drawn
	for _, v := range n.values {
		if slices.Contains(codes, v.Type) && len(v.Shape) >= lo && len(v.Shape) <= hi && count(v.Shape) <= 3000 && (fits == nil || fits(v)) {
			list = append(list, v)
		}
	}
	if len(list) > 0 && !n.chance(6) {
		return list[n.random.IntN(len(list))]
	}
	return n.input(n.filled(one(n, codes...), n.shape(n.between(lo, hi))))
}

// widened are the types of operators' operands, where wide those of 16 bits in place of 8.
func (n *randomNetwork) widened(codes []int) (list []int) {
	for _, c := range codes {
		if n.wide && (c == typeInt8 || c == typeUint8) {
			c = typeInt16
		}
		list = append(list, c)
	}
	return list
}

// smooth are tensors that an operator of new values takes; touchy tensors go into operators that enlarge differences.
func smooth(v *drawn) bool { return v.steps == 0 }
func touchy(v *drawn) bool { return v.exact }

// apply appends an operator.
func (n *randomNetwork) apply(op, kind string, options fields, in []*drawn, outs ...arg) []*drawn {
	o := tflitefile.Operator{Code: codeOf(op), Kind: kind, Options: options}
	for _, v := range in {
		if v == nil {
			o.Inputs = append(o.Inputs, -1)
			continue
		}
		n.used[v.at] = true
		o.Inputs = append(o.Inputs, v.at)
	}
	var list []*drawn
	for _, a := range outs {
		v := n.put(a, "t")
		list, n.values, o.Outputs = append(list, v), append(n.values, v), append(o.Outputs, v.at)
	}
	n.sub.Operators, n.names = append(n.sub.Operators, o), append(n.names, op)
	return list
}

// like is a result of the type of a tensor, with a scale of its own where own says so.
func (n *randomNetwork) like(x *drawn, dims []int32, own bool) arg {
	a := arg{Tensor: tflitefile.Tensor{Type: x.Type, Shape: dims, Scale: x.Scale, Zero: x.Zero}}
	if own && x.Scale != nil {
		f := n.filled(x.Type, nil)
		a.Scale, a.Zero = f.Scale, f.Zero
	}
	return a
}

// moved is apply for a result of the operand's elements.
func (n *randomNetwork) moved(op, kind string, options fields, x *drawn, shape []int32, more ...*drawn) {
	y := n.apply(op, kind, options, append([]*drawn{x}, more...), n.like(x, shape, false))[0]
	y.exact, y.steps = x.exact, x.steps
}

// wideSteps are the steps of 16 bits by which operators may differ from TensorFlow Lite, more than the 3 of sums: its tables
// have 513 entries, its positions of pixels 10 bits.
var wideSteps = map[string]float64{"LOGISTIC": 16, "TANH": 16, "SOFTMAX": 16, "RESIZE_BILINEAR": 256}

// computed is apply for new values.
func (n *randomNetwork) computed(op, kind string, options fields, in []*drawn, out arg) {
	y := n.apply(op, kind, options, in, out)[0]
	if out.Scale != nil {
		y.steps = 1
		if out.Type == typeInt16 {
			y.steps = max(3, wideSteps[op])
		}
	} else {
		y.exact = out.Type != typeFloat32
	}
}

// partner is a tensor that broadcasts with another of its type.
func (n *randomNetwork) partner(x *drawn) *drawn {
	shape := slices.Clone(x.Shape[n.random.IntN(len(x.Shape)+1):])
	for i := range shape {
		if n.chance(3) {
			shape[i] = 1
		}
	}
	a := n.filled(x.Type, shape)
	if n.chance(2) {
		return n.constant(a)
	}
	return n.input(a)
}

// someAxes are different dimensions, and how they are written.
func (n *randomNetwork) someAxes(rank int) (axes, written []int) {
	for i := range rank {
		if n.chance(2) {
			axes, written = append(axes, i), append(written, n.axis(rank, i))
		}
	}
	return axes, written
}
