package randgraph

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/refcpu"
	"github.com/x448/float16"
)

// maxAttempts bounds the executions of shrinking one failure.
const maxAttempts = 1500

// shrinker looks for a smaller case that fails in the same way.
type shrinker struct {
	device hal.Device
	o      Options
	kind   Kind
	left   int
	drawn  bool // alone has been tried
	best   *Case
	err    error
}

// shrink returns the smallest case found, and its error: first operations are
// dropped, then the decisions of each are lowered (dimensions, quantization,
// activation, padding, whole tensors), then single values.
func shrink(d hal.Device, c *Case, err error, o Options) (*Case, error) {
	s := &shrinker{device: d, o: o, kind: kindOf(err), left: maxAttempts, best: c, err: err}
	for s.operations() || s.singleOperation() || s.decisions() {
	}
	for s.cut() {
	}
	s.values()
	return s.best, s.err
}

// fails reports whether a case fails in the same way, and keeps it if so.
func (s *shrinker) fails(c *Case) bool {
	if s.left <= 0 {
		return false
	}
	s.left--
	supported, err := judge(s.device, c, s.o)
	if err == nil || !supported || kindOf(err) != s.kind {
		return false
	}
	c.Name = s.best.Name
	s.best, s.err = c, err
	return true
}

// operations drops operations, halves of the graph first.
func (s *shrinker) operations() (progress bool) {
	for n := len(s.best.recipe.slots) / 2; n > 0; n /= 2 {
		for at := len(s.best.recipe.slots) - n; at >= 0; at -= n {
			at = min(at, len(s.best.recipe.slots)-n)
			if at < 0 || len(s.best.recipe.slots) <= n {
				break
			}
			r := s.best.recipe
			r.slots = append(append([]slot(nil), r.slots[:at]...), r.slots[at+n:]...)
			if c := r.build(); c != nil && s.fails(c) {
				progress = true
			}
		}
	}
	return progress
}

// freshDraws is how often alone draws each operation of a graph.
const freshDraws = 40

// singleOperation looks for a single operation of the graph that fails with decisions of
// its own: without the results it read, its old decisions mean something else.
func (s *shrinker) singleOperation() bool {
	slots := s.best.recipe.slots
	if len(slots) < 2 || s.drawn {
		return false
	}
	s.drawn = true
	tried := map[string]bool{}
	for i := len(slots) - 1; i >= 0 && len(tried) < 6; i-- {
		v := slots[i].variant
		if tried[v.String()] {
			continue
		}
		tried[v.String()] = true
		r := rand.New(rand.NewPCG(s.o.Seed, uint64(i)))
		for range freshDraws {
			b := newBuilder(s.best.recipe.table, s.best.recipe.kind)
			if b.add(v, &source{rng: r}) && s.fails(b.finish()) {
				return true
			}
		}
	}
	return false
}

// cut removes one operation from the model and replaces its results by the values that the reference computes for them.
func (s *shrinker) cut() bool {
	if len(s.best.Model.Main.Operations) < 2 {
		return false
	}
	values := temporaries(s.best)
	for i := range s.best.Model.Main.Operations {
		if c := s.best.without(i, values); c != nil && s.fails(c) {
			return true
		}
	}
	return false
}

// temporaries are the values of the operands between operations.
func temporaries(c *Case) map[uint32]refcpu.Tensor {
	m := *c.Model
	m.Main.Operands = append([]nn.Operand(nil), m.Main.Operands...)
	m.Main.Outputs = append([]uint32(nil), m.Main.Outputs...)
	for i := range m.Main.Operands {
		if o := &m.Main.Operands[i]; o.Lifetime == nn.TemporaryVariable {
			o.Lifetime = nn.SubgraphOutput
			m.Main.Outputs = append(m.Main.Outputs, uint32(i))
		}
	}
	all, err := reference(&Case{Model: &m, Inputs: c.Inputs, Dimensions: c.Dimensions})
	if err != nil {
		return nil
	}
	values := map[uint32]refcpu.Tensor{}
	for i, x := range m.Main.Outputs {
		values[x] = all[i]
	}
	return values
}

// without is a case without operation i.
func (c *Case) without(i int, values map[uint32]refcpu.Tensor) *Case {
	m := *c.Model
	g := &m.Main
	gone := g.Operations[i]
	g.Operands = append([]nn.Operand(nil), g.Operands...)
	g.Operations = append(append([]nn.Operation(nil), g.Operations[:i]...), g.Operations[i+1:]...)
	read := make([]bool, len(g.Operands))
	for k := range g.Operations {
		for _, x := range g.Operations[k].Inputs {
			read[x] = true
		}
	}
	n := &Case{Name: c.Name, Model: &m, Class: c.Class,
		Variants: append(append([]Variant(nil), c.Variants[:i]...), c.Variants[i+1:]...)}
	if len(n.Variants) == 1 {
		n.Class = n.Variants[0].sig.class
	}
	written := map[uint32]bool{}
	for _, x := range gone.Outputs {
		written[x] = true
		if o := &g.Operands[x]; read[x] {
			if values[x].Data == nil {
				return nil
			}
			o.Lifetime = nn.SubgraphInput
		} else { // nothing refers to it
			*o = nn.Operand{Type: nn.TensorBool8, Dimensions: []uint32{1}, Lifetime: nn.TemporaryVariable}
		}
	}
	g.Inputs, g.Outputs = nil, nil
	for k, x := range c.Model.Main.Inputs {
		if !read[x] {
			g.Operands[x].Lifetime = nn.TemporaryVariable
			continue
		}
		g.Inputs, n.Inputs, n.Dimensions = append(g.Inputs, x), append(n.Inputs, c.Inputs[k]), append(n.Dimensions, c.dimensions(k))
	}
	for _, x := range gone.Outputs {
		if read[x] {
			g.Inputs, n.Inputs, n.Dimensions = append(g.Inputs, x), append(n.Inputs, values[x].Data), append(n.Dimensions, values[x].Dimensions)
		}
	}
	for _, x := range c.Model.Main.Outputs {
		if !written[x] {
			g.Outputs = append(g.Outputs, x)
		}
	}
	for k := range g.Operations { // inputs of the removed operation alone become outputs
		for _, x := range g.Operations[k].Outputs {
			if o := &g.Operands[x]; o.Lifetime == nn.TemporaryVariable && !read[x] {
				o.Lifetime = nn.SubgraphOutput
				g.Outputs = append(g.Outputs, x)
			}
		}
	}
	if len(g.Inputs) == 0 || len(g.Outputs) == 0 {
		return nil
	}
	given := map[uint32]refcpu.Tensor{}
	for k, x := range g.Inputs {
		given[x] = refcpu.Tensor{Dimensions: n.Dimensions[k], Data: n.Inputs[k]}
	}
	inputsByUse(g)
	n.Inputs, n.Dimensions = nil, nil
	for _, x := range g.Inputs {
		n.Inputs, n.Dimensions = append(n.Inputs, given[x].Data), append(n.Dimensions, given[x].Dimensions)
	}
	return n
}

// weight measures the decisions of a recipe.
func (r *recipe) weight() int {
	w := 0
	for _, s := range r.slots {
		for _, v := range s.choices {
			w += 1 + 4*bits.Len32(v)*64 + int(min(v, 63))
		}
	}
	return w
}

// lower tries a recipe in which choices [at, at+n) of slot i are replaced.
func (s *shrinker) lower(i, at int, values ...uint32) bool {
	r := s.best.recipe
	r.slots = append([]slot(nil), r.slots...)
	choices := append([]uint32(nil), r.slots[i].choices...)
	copy(choices[at:], values)
	if slices.Equal(choices, r.slots[i].choices) {
		return false
	}
	r.slots[i].choices = choices
	c := r.build()
	return c != nil && c.recipe.weight() < s.best.recipe.weight() && s.fails(c)
}

// decisions lowers decisions towards 0, runs of them first.
func (s *shrinker) decisions() (progress bool) {
	for i := range s.best.recipe.slots {
		choices := func() []uint32 { return s.best.recipe.slots[i].choices }
		for n := len(choices()); n > 1; n /= 2 {
			for at := 0; at+n <= len(choices()); at += n {
				progress = s.lower(i, at, make([]uint32, n)...) || progress
			}
		}
		for at := 0; at < len(choices()); at++ {
			v := choices()[at]
			if v == 0 {
				continue
			}
			if s.lower(i, at, 0) {
				progress = true
				continue
			}
			if v > 1<<20 { // a seed of values
				for x := uint32(1); x < 4 && !s.lower(i, at, x); x++ {
				}
				continue
			}
			for at < len(choices()) && choices()[at] > 1 && s.lower(i, at, choices()[at]/2) {
				progress = true
			}
			for at < len(choices()) && choices()[at] > 0 && s.lower(i, at, choices()[at]-1) {
				progress = true
			}
		}
	}
	return progress
}

// values makes single elements simple: zero, or one.
func (s *shrinker) values() {
	for i := range s.best.Model.Main.Operands {
		o := &s.best.Model.Main.Operands[i]
		if o.Type.IsScalar() || s.data(i) == nil || s.steers(uint32(i)) {
			continue
		}
		for _, simple := range simplest(o) {
			size := len(simple)
			n := len(s.data(i)) / size
			for run := n; run > 0; run /= 2 {
				for at := 0; at < n; at += run {
					s.replace(i, at*size, min(run, n-at), simple)
				}
			}
		}
	}
}

// steers reports whether an operand is a parameter rather than data: a
// TENSOR_INT32 whose values must be legal.
func (s *shrinker) steers(x uint32) bool {
	if s.best.Model.Main.Operands[x].Type != nn.TensorInt32 {
		return false
	}
	for i := range s.best.Model.Main.Operations {
		op := &s.best.Model.Main.Operations[i]
		for _, in := range op.Inputs {
			if in == x && s.best.Variants[i].Key != nn.TensorInt32 && !s.best.Variants[i].sig.filter && op.Type != nn.OpFullyConnected {
				return true
			}
		}
	}
	return false
}

// data is the value of operand i, nil when an operation writes it.
func (s *shrinker) data(i int) []byte {
	g := &s.best.Model.Main
	if o := &g.Operands[i]; o.IsConst() {
		return o.Data
	}
	for k, x := range g.Inputs {
		if x == uint32(i) {
			return s.best.Inputs[k]
		}
	}
	return nil
}

// simplest are the elements to try, the simplest first.
func simplest(o *nn.Operand) [][]byte {
	le := binary.LittleEndian
	switch o.Type {
	case nn.TensorFloat32:
		return [][]byte{le.AppendUint32(nil, 0), le.AppendUint32(nil, math.Float32bits(1))}
	case nn.TensorFloat16:
		return [][]byte{le.AppendUint16(nil, 0), le.AppendUint16(nil, float16.Fromfloat32(1).Bits())}
	case nn.TensorInt32:
		return [][]byte{le.AppendUint32(nil, 0), le.AppendUint32(nil, 1)}
	case nn.TensorBool8:
		return [][]byte{{0}}
	case nn.TensorQuant16Asymm, nn.TensorQuant16Symm:
		return [][]byte{le.AppendUint16(nil, uint16(o.ZeroPoint))}
	}
	return [][]byte{{byte(o.ZeroPoint)}, {byte(o.ZeroPoint + 1)}}
}

// replace sets n elements from byte at of operand i, if the case still fails.
func (s *shrinker) replace(i, at, n int, element []byte) {
	old := s.data(i)
	next := append([]byte(nil), old...)
	for k := range n {
		p := next[at+k*len(element):]
		if isSimple(p[:len(element)], &s.best.Model.Main.Operands[i]) {
			continue
		}
		copy(p, element)
	}
	if bytes.Equal(old, next) {
		return
	}
	c := *s.best
	m := *c.Model
	c.Model = &m
	m.Main.Operands = append([]nn.Operand(nil), m.Main.Operands...)
	if o := &m.Main.Operands[i]; o.IsConst() {
		o.Data = next
	} else {
		c.Inputs = append([][]byte(nil), c.Inputs...)
		for k, x := range m.Main.Inputs {
			if x == uint32(i) {
				c.Inputs[k] = next
			}
		}
	}
	s.fails(&c)
}

// isSimple reports whether an element is already the simplest.
func isSimple(b []byte, o *nn.Operand) bool { return bytes.Equal(b, simplest(o)[0]) }
