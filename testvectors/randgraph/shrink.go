package randgraph

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// maxAttempts bounds the executions that shrinking one failure may take.
const maxAttempts = 1500

// shrinker looks for a smaller case that fails in the same way.
type shrinker struct {
	device hal.Device
	o      Options
	kind   Kind
	left   int
	best   *Case
	err    error
}

// shrink returns the smallest case found, and its error: first operations are
// dropped, then the decisions of each are lowered (dimensions, quantization,
// activation, padding, whole tensors), then single values.
func shrink(d hal.Device, c *Case, err error, o Options) (*Case, error) {
	o.Functional = true
	s := &shrinker{device: d, o: o, kind: kindOf(err), left: maxAttempts, best: c, err: err}
	for s.operations() || s.decisions() {
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
	if equalChoices(choices, r.slots[i].choices) {
		return false
	}
	r.slots[i].choices = choices
	c := r.build()
	return c != nil && c.recipe.weight() < s.best.recipe.weight() && s.fails(c)
}

func equalChoices(a, b []uint32) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
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
		return [][]byte{le.AppendUint16(nil, 0), le.AppendUint16(nil, opspec.Float32ToFloat16(1))}
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
