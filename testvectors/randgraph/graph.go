package randgraph

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/nn"
)

// kind is a sort of graph.
type kind struct {
	name        string
	operations  int
	dim         int // dimensions are 1 to dim
	wide        int // or, now and then, 1 to wide
	widePercent int
	edge        int // percent
	class       Class
	oneType     bool // all operations have the key type of the first
	request     int  // percent of parameters, and of shapes of tensors, that only a request brings
	ends        int  // percent of tensors with values at the ends of their types
}

// kinds: CTS's single operations, small and large graphs, and of our own chains, graphs that are open until a request,
// and single operations on unusual values as well.
var kinds = []kind{
	{name: "single", operations: 1, dim: 10, wide: 140, widePercent: 8},
	{name: "small", operations: 5, dim: 10, wide: 1000, widePercent: 15, edge: 10, class: SmallGraph, oneType: true},
	{name: "chain", operations: 6, dim: 12, wide: 70, widePercent: 8, edge: 80, class: SmallGraph, oneType: true},
	{name: "large", operations: 40, dim: 10, edge: 10, class: LargeGraph, oneType: true},
	{name: "open", operations: 4, dim: 10, wide: 70, widePercent: 8, edge: 70, class: SmallGraph, oneType: true, request: 15},
	{name: "unusual", operations: 1, dim: 10, wide: 140, widePercent: 8, request: 30, ends: 40},
}

// slot is one operation of a recipe with its decisions.
type slot struct {
	variant Variant
	choices []uint32
}

// recipe reproduces a model.
type recipe struct {
	table *Table
	kind  *kind
	slots []slot
}

// Case is a random model with values for its inputs.
type Case struct {
	// Name has seed, number and kind.
	Name   string
	Model  *nn.Model
	Inputs [][]byte
	// Dimensions are the shapes of the inputs, which the model may leave open.
	Dimensions [][]uint32
	// Variants are the operations of the model, in order.
	Variants []Variant
	// Class is the accuracy its results must have.
	Class Class

	recipe recipe
}

// Generator draws cases. It may be used from several goroutines.
type Generator struct {
	table    *Table
	seed     uint64
	variants []Variant
	order    []int
	unusual  bool // some cases are
}

// NewGenerator returns a generator over the operations whose name matches the
// pattern, nil for all.
func NewGenerator(seed uint64, operations *regexp.Regexp) (*Generator, error) {
	return Standard().generator(seed, operations)
}

func (t *Table) generator(seed uint64, operations *regexp.Regexp) (*Generator, error) {
	g := &Generator{table: t, seed: seed}
	for _, v := range t.Variants() {
		if operations == nil || operations.MatchString(v.Op.String()) {
			g.variants = append(g.variants, v)
		}
	}
	if len(g.variants) == 0 {
		return nil, fmt.Errorf("randgraph: no operation matches %q", operations)
	}
	g.order = rand.New(rand.NewPCG(seed, 1)).Perm(len(g.variants))
	return g, nil
}

// probes are the forms of an operation that a device is asked about before it counts as undeclared.
const probes = 24

// declared drops the variants of which a device supports no form that is tried, and returns how many those are. A device
// that fails to answer keeps them: what it does is a find.
func (gen *Generator) declared(d hal.Device) int {
	before := len(gen.variants)
	var kept []Variant
	for k, v := range gen.variants {
		r := rand.New(rand.NewPCG(gen.seed, math.MaxUint64-uint64(k)))
		for range probes {
			b := newBuilder(gen.table, &kinds[0])
			if !b.add(v, &source{rng: r}) {
				continue
			}
			if ok, err := supports(d, b.model()); ok || err != nil {
				kept = append(kept, v)
				break
			}
		}
	}
	gen.variants = kept
	gen.order = rand.New(rand.NewPCG(gen.seed, 1)).Perm(len(kept))
	return before - len(kept)
}

// maxTries bounds how often the decisions of an operation are drawn again
// because they contradict each other.
const maxTries = 100

// Case returns the i-th case. Three of four are single operations, which cycle through the variants; the others are
// graphs. Of Run's one of eight is unusual, and one of sixteen open. An operation of a graph that accepts refuses is
// drawn again, a few times; nil accepts all.
func (gen *Generator) Case(i int, accepts func(*nn.Model) bool) (*Case, error) {
	r := rand.New(rand.NewPCG(gen.seed, uint64(i)+2))
	k := &kinds[0]
	if i%4 == 3 {
		k = &kinds[1+i/4%3]
	}
	switch {
	case gen.unusual && i%8 == 5:
		k = &kinds[5]
	case gen.unusual && i%16 == 15:
		k = &kinds[4]
	}
	b := newBuilder(gen.table, k)
	var key nn.OperandType
	for n := 0; n < k.operations; n++ {
		done := false
		for try := 0; try < maxTries && !done; try++ {
			v := gen.variants[r.IntN(len(gen.variants))]
			if k.operations == 1 {
				v = gen.variants[gen.order[(i-i/4)%len(gen.variants)]]
			}
			if k.oneType && n > 0 && v.Key != key && try < maxTries-1 {
				continue
			}
			mark := b.mark()
			if !b.add(v, &source{rng: r}) {
				continue
			}
			if k.operations > 1 && accepts != nil && try < maxTries-10 && !accepts(b.model()) {
				b.reset(mark)
				continue
			}
			key = v.Key
			done = true
		}
		if !done && k.operations == 1 {
			return nil, fmt.Errorf("randgraph: case %d: no legal %s in %d tries", i, gen.variants[gen.order[(i-i/4)%len(gen.variants)]], maxTries)
		}
	}
	c := b.finish()
	c.Name = fmt.Sprintf("%s_seed%d_%d", k.name, gen.seed, i)
	return c, nil
}

// builder assembles a case and its recipe.
type builder struct {
	gen
	slots []slot
}

func newBuilder(t *Table, k *kind) *builder { return &builder{gen: gen{table: t, kind: k}} }

// mark is a state to return to.
type mark struct{ operands, operations, results, slots, refs, work int64 }

func (b *builder) mark() mark {
	return mark{int64(len(b.g.Operands)), int64(len(b.g.Operations)), int64(len(b.results)), int64(len(b.slots)), int64(len(b.refs)), b.work}
}

func (b *builder) reset(m mark) {
	b.g.Operands, b.data, b.params = b.g.Operands[:m.operands], b.data[:m.operands], b.params[:m.operands]
	b.g.Operations, b.results = b.g.Operations[:m.operations], b.results[:m.results]
	b.slots, b.refs, b.work = b.slots[:m.slots], b.refs[:m.refs], m.work
	maps.DeleteFunc(b.open, func(x uint32, _ int) bool { return int64(x) >= m.operands })
}

// add draws or replays an operation; without success the graph is unchanged.
func (b *builder) add(v Variant, s *source) bool {
	m := b.mark()
	b.source, b.weights, b.perChannel, b.sums = s, -1, v.PerChannel, v.sig.sums
	if !v.sig.make(&b.gen, v.Op, v.Key) {
		b.reset(m)
		return false
	}
	if validate.ModelOf(b.table.operations.Spec(), b.model()) != nil { // scales of a result that do not suit, for one
		b.reset(m)
		return false
	}
	b.slots = append(b.slots, slot{v, s.log})
	return true
}

// model is a copy of the graph so far with lifetimes in order.
func (b *builder) model() *nn.Model {
	m := &nn.Model{Referenced: slices.Clone(b.refs)}
	g := &m.Main
	*g = b.g
	g.Operands = append([]nn.Operand(nil), g.Operands...)
	g.Operations = append([]nn.Operation(nil), g.Operations...)
	read := make([]bool, len(g.Operands))
	for i := range g.Operations {
		for _, x := range g.Operations[i].Inputs {
			read[x] = true
		}
	}
	inputs := 0
	for i := range g.Operands {
		if g.Operands[i].Lifetime == nn.SubgraphInput {
			inputs++
		}
	}
	for i := range g.Operands {
		o := &g.Operands[i]
		x := uint32(i)
		switch o.Lifetime {
		case nn.ConstantCopy:
			if inputs == 0 && !b.params[i] { // at least one input remains
				o.Lifetime = nn.SubgraphInput
				inputs++
				continue
			}
			o.Data = b.data[i]
		case nn.LifetimeSubgraph:
			o.Data = b.data[i]
		case nn.SubgraphOutput:
			if read[i] {
				o.Lifetime = nn.TemporaryVariable
			} else {
				g.Outputs = append(g.Outputs, x)
			}
		}
	}
	for x, mask := range b.open {
		if mask == 0 {
			g.Operands[x].Dimensions = nil
			continue
		}
		g.Operands[x].Dimensions = slices.Clone(g.Operands[x].Dimensions)
		for i := range g.Operands[x].Dimensions {
			if mask>>i&1 != 0 {
				g.Operands[x].Dimensions[i] = 0
			}
		}
	}
	inputsByUse(g)
	b.table.operations.Spec().Declare(m)
	return m
}

// inputsByUse lists the inputs of a graph in the order in which operations
// read them, as Android's specifications do.
func inputsByUse(g *nn.Subgraph) {
	g.Inputs = nil
	listed := make([]bool, len(g.Operands))
	for i := range g.Operations {
		for _, x := range g.Operations[i].Inputs {
			if g.Operands[x].Lifetime == nn.SubgraphInput && !listed[x] {
				listed[x] = true
				g.Inputs = append(g.Inputs, x)
			}
		}
	}
}

// finish returns the case.
func (b *builder) finish() *Case {
	c := &Case{Model: b.model(), recipe: recipe{b.table, b.kind, b.slots}, Class: b.kind.class}
	for _, x := range c.Model.Main.Inputs {
		c.Inputs = append(c.Inputs, b.data[x])
		c.Dimensions = append(c.Dimensions, b.at(x).Dimensions)
	}
	for i := range b.slots {
		c.Variants = append(c.Variants, b.slots[i].variant)
	}
	if len(b.slots) == 1 {
		c.Class = b.slots[0].variant.sig.class
	}
	return c
}

// build replays a recipe. It returns nil where the decisions of a slot
// contradict each other.
func (r *recipe) build() *Case {
	b := newBuilder(r.table, r.kind)
	for _, s := range r.slots {
		if !b.add(s.variant, &source{replay: s.choices}) {
			return nil
		}
	}
	if len(b.slots) == 0 {
		return nil
	}
	return b.finish()
}
