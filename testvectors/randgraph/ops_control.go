package randgraph

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// subgraph builds a subgraph that control flow refers to.
type subgraph struct{ nn.Subgraph }

func (s *subgraph) add(o nn.Operand) uint32 {
	s.Operands = append(s.Operands, o)
	return uint32(len(s.Operands) - 1)
}

// input is like an operand of the model.
func (s *subgraph) input(o nn.Operand) uint32 {
	o.Lifetime, o.Data = nn.SubgraphInput, nil
	x := s.add(o)
	s.Inputs = append(s.Inputs, x)
	return x
}

// int32 is a scalar or, with elements, a tensor of one dimension.
func (s *subgraph) int32(t nn.OperandType, v int32) uint32 {
	o := nn.Operand{Type: t, Lifetime: nn.ConstantCopy, Data: binary.LittleEndian.AppendUint32(nil, uint32(v))}
	if t == nn.TensorInt32 {
		o.Dimensions = []uint32{1}
	}
	return s.add(o)
}

// output is the result of an operation, like an operand of the model.
func (s *subgraph) output(op nn.OperationType, like nn.Operand, in ...uint32) {
	like.Lifetime, like.Data = nn.SubgraphOutput, nil
	x := s.add(like)
	s.Outputs = append(s.Outputs, x)
	s.Operations = append(s.Operations, nn.Operation{Type: op, Inputs: in, Outputs: []uint32{x}})
}

// refer is the operand that refers to a subgraph.
func (g *gen) refer(s *subgraph) uint32 {
	g.refs = append(g.refs, s.Subgraph)
	return g.new(nn.Operand{Type: nn.SubgraphRef, Lifetime: nn.LifetimeSubgraph},
		binary.LittleEndian.AppendUint32(nil, uint32(len(g.refs)-1)), true)
}

// controlled is the tensor that the branches and loops work on.
func (g *gen) controlled() uint32 {
	k := pick(g.source, nn.TensorFloat32, nn.TensorInt32, nn.TensorQuant8Asymm, nn.TensorQuant8AsymmSigned, nn.TensorFloat16)
	return g.tensor(k, 1, 4, filler{})
}

// change adds a drawn operation from x to a tensor of its type and shape.
func (s *subgraph) change(g *gen, x uint32, o nn.Operand) {
	switch g.choose(3) {
	case 0:
		s.output(nn.OpAdd, o, x, x, s.int32(nn.Int32, 0))
	case 1:
		s.output(nn.OpSub, o, s.constant(g, o), x, s.int32(nn.Int32, 0))
	default:
		s.output(nn.OpAdd, o, x, s.constant(g, o), s.int32(nn.Int32, 0))
	}
}

// constant is a constant like o.
func (s *subgraph) constant(g *gen, o nn.Operand) uint32 {
	o.Lifetime, o.Dimensions = nn.ConstantCopy, slices.Clone(o.Dimensions)
	o.Data = filler{}.fill(&o, g.choose(1<<30))
	return s.add(o)
}

// flag is one boolean.
func (g *gen) flag() uint32 {
	v := g.choose(2)
	o := nn.Operand{Type: nn.TensorBool8, Dimensions: []uint32{1}, Lifetime: nn.SubgraphInput}
	if g.chance(50) {
		o.Lifetime = nn.ConstantCopy
	}
	return g.new(o, []byte{byte(v)}, false)
}

func makeIf(g *gen, op nn.OperationType, _ nn.OperandType) bool {
	x := g.controlled()
	o := *g.at(x)
	in := []uint32{g.flag()}
	for range 2 {
		s := &subgraph{}
		s.change(g, s.input(o), o)
		in = append(in, g.refer(s))
	}
	return g.finish(op, append(in, x), nn.Operand{Type: o.Type, Dimensions: o.Dimensions, Scale: o.Scale, ZeroPoint: o.ZeroPoint})
}

// maxRounds bounds the rounds of a loop.
const maxRounds = 5

// makeWhile draws a loop that counts up to a limit, from a first count that may
// be beyond it, and changes a tensor in each round.
func makeWhile(g *gen, op nn.OperationType, _ nn.OperandType) bool {
	x := g.controlled()
	o := *g.at(x)
	counter := nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{1}}
	first := g.given(counter, []float64{float64(g.choose(3))})

	condition, body := &subgraph{}, &subgraph{}
	n := condition.input(counter)
	condition.input(o)
	condition.output(nn.OpLess, nn.Operand{Type: nn.TensorBool8, Dimensions: []uint32{1}}, n, condition.int32(nn.TensorInt32, int32(g.choose(maxRounds))))
	n = body.input(counter)
	y := body.input(o)
	body.output(nn.OpAdd, counter, n, body.int32(nn.TensorInt32, 1), body.int32(nn.Int32, 0))
	body.change(g, y, o)
	return g.finish(op, []uint32{g.refer(condition), g.refer(body), first, x}, counter,
		nn.Operand{Type: o.Type, Dimensions: o.Dimensions, Scale: o.Scale, ZeroPoint: o.ZeroPoint})
}

// makeDensify draws a tree of dense and sparse levels in any order of the
// dimensions; the last dimension may be split into blocks.
func makeDensify(g *gen, op nn.OperationType, k nn.OperandType) bool {
	rank := 1 + g.choose(3)
	order := make([]int, rank)
	for i := range order { // insert dimension i at a drawn place
		at := g.choose(i + 1)
		copy(order[at+1:], order[at:i])
		order[at] = i
	}
	var blocks []int
	if g.chance(30) {
		blocks = []int{rank - 1}
		order = append(order, rank)
	}
	seed := g.choose(1 << 30)
	r := rand.New(rand.NewPCG(uint64(seed), 6))
	var format, sizes []int
	var lists []uint32
	nodes := 1
	for range order {
		size := 1 + g.choose(5)
		sizes = append(sizes, size)
		if !g.chance(50) {
			format = append(format, 0)
			lists = append(lists, g.omitted(nn.TensorInt32), g.omitted(nn.TensorInt32))
			nodes *= size
			continue
		}
		format = append(format, 1)
		segments, indices := []int{0}, []int{}
		for range nodes {
			for c := range size {
				if seed == 0 || r.IntN(2) == 0 {
					indices = append(indices, c)
				}
			}
			segments = append(segments, len(indices))
		}
		if len(indices) == 0 { // a tensor without values cannot be stated
			indices = append(indices, r.IntN(size))
			segments[len(segments)-1] = 1
		}
		lists = append(lists, g.vector(segments...), g.vector(indices...))
		nodes = len(indices)
	}
	values := g.typed(k, []uint32{uint32(nodes)})
	x := g.value(values, filler{})
	block := g.omitted(nn.TensorInt32)
	if blocks != nil {
		block = g.vector(blocks...)
	}
	in := []uint32{x, g.vector(order...), block, g.vector(format...), g.vector(sizes...)}
	return g.finish(op, append(in, lists...), g.out(op, k, x))
}
