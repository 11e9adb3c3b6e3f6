package registry

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/compat"
	"github.com/nnsoc/nnsoc/nn"
)

// selector chooses operations of a model: all of a type, some of all types, or those of a number or name.
type selector struct {
	text   string
	op     nn.OperationType // where typed
	typed  bool
	sample bool // some operations of all types
	number int  // of the main subgraph; -1: the text is a type or a name
}

func parseSelector(text string) selector {
	s := selector{text: text, sample: text == SampleOperations, number: -1}
	s.op, s.typed = nn.ParseOperationType(text)
	if n, err := strconv.Atoi(text); err == nil && n >= 0 {
		s.number = n
	}
	return s
}

// selects reports whether operation i of a subgraph is one of those, but for samples.
func (s *selector) selects(g *nn.Subgraph, main bool, i int) bool {
	op := &g.Operations[i]
	switch {
	case s.typed:
		return op.Type == s.op
	case s.number >= 0:
		return main && i == s.number
	}
	return op.Name == s.text || slices.ContainsFunc(op.Outputs, func(x uint32) bool { return g.Operands[x].Name == s.text })
}

// check is an error where a number or name, or a type that must be there, is that of no operation of a model.
func (s *selector) check(m *nn.Model, rule string, must bool) error {
	if s.sample || s.typed && !must {
		return nil
	}
	found := func(g *nn.Subgraph, main bool) bool {
		for i := range g.Operations {
			if s.selects(g, main, i) {
				return true
			}
		}
		return false
	}
	if found(&m.Main, true) || slices.ContainsFunc(m.Referenced, func(g nn.Subgraph) bool { return found(&g, false) }) {
		return nil
	}
	return fmt.Errorf("runtime: no operation %q in %q: %s has %s", s.text, rule, m.Name, contents(m))
}

// listed bounds the names and types that an error lists.
const listed = 12

// contents says which operations a model has: their numbers, types and names.
func contents(m *nn.Model) string {
	var types, names []string
	add := func(list []string, name string) []string {
		if name == "" || slices.Contains(list, name) {
			return list
		}
		return append(list, name)
	}
	for i := range m.Main.Operations {
		op := &m.Main.Operations[i]
		types = add(types, op.Type.String())
		names = add(names, op.Name)
		for _, x := range op.Outputs {
			names = add(names, m.Main.Operands[x].Name)
		}
	}
	slices.Sort(types)
	text := fmt.Sprintf("operations 0 to %d of the types %s", len(m.Main.Operations)-1, some(types))
	if len(names) > 0 {
		text += ", named " + some(names)
	}
	return text
}

// some lists the first of many words.
func some(words []string) string {
	if n := len(words); n > listed {
		return fmt.Sprintf("%s and %d more", strings.Join(words[:listed], ", "), n-listed)
	}
	return strings.Join(words, ", ")
}

// forced are operations that a device must decline, although its driver may support them.
type forced struct {
	selector
	rule   string
	device string // "" is every device but the CPU
}

// placed are operations that one device must run.
type placed struct {
	selector
	rule   string
	device int
}

// ForceUnsupported keeps operations away from a device, or from every device but the CPU: OP or OP:DEVICE. OP is a type, as
// AOSP's drivers have it for tests, or one operation: its number in the main subgraph, the name of its node, or that of a
// tensor that it computes. The name SampleOperations removes about half of what a device supports: which operations
// follows from the device, their type and the types and shapes of their operands, as with
// debug.nn.sample.supported of AOSP's runtime. CheckRules finds names that no operation has.
func (r *Registry) ForceUnsupported(rule string) error {
	name, device := rule, ""
	if i := strings.LastIndex(rule, ":"); i >= 0 {
		index, err := r.Index(rule[i+1:])
		switch s := parseSelector(rule[:i]); {
		case err == nil && index == 0:
			return fmt.Errorf("runtime: %q: %s runs what other devices decline", rule, rule[i+1:])
		case err == nil:
			name, device = rule[:i], rule[i+1:]
		case s.typed || s.sample || s.number >= 0: // else the colon is part of a name
			return err
		}
	}
	r.forced = append(r.forced, forced{parseSelector(name), rule, device})
	return nil
}

// Place gives operations to one device: OP=DEVICE, where OP is as in ForceUnsupported. All others decline them. A model whose
// operation that device does not support is an error of its compilation.
func (r *Registry) Place(rule string) error {
	i := strings.LastIndex(rule, "=")
	if i < 1 {
		return fmt.Errorf("runtime: %q: want OP=DEVICE, such as 3=dsp or CONV_2D=gpu", rule)
	}
	device, err := r.Index(rule[i+1:])
	if err != nil {
		return fmt.Errorf("%w (in %q)", err, rule)
	}
	s := parseSelector(rule[:i])
	if s.sample {
		return fmt.Errorf("runtime: %q: a sample of operations has no place", rule)
	}
	r.placed = append(r.placed, placed{s, rule, device})
	return nil
}

// CheckRules is an error where a rule of ForceUnsupported or Place is about an operation that a model does not have.
func (r *Registry) CheckRules(m *nn.Model) error {
	for _, f := range r.forced {
		if err := f.check(m, f.rule, false); err != nil {
			return err
		}
	}
	for _, p := range r.placed {
		if err := p.check(m, p.rule, true); err != nil {
			return err
		}
	}
	return nil
}

// Placed are the devices that operations of a subgraph are given to, by operation; of two rules the last counts. main
// says that the subgraph is the model's main one, which numbers are about.
func (r *Registry) Placed(g *nn.Subgraph, main bool) map[int]int {
	var places map[int]int
	for _, p := range r.placed {
		for i := range g.Operations {
			if !p.selects(g, main, i) {
				continue
			}
			if places == nil {
				places = map[int]int{}
			}
			places[i] = p.device
		}
	}
	return places
}

// SampleOperations stands for a type of operation in ForceUnsupported.
const SampleOperations = "sample"

// sampled reports whether a sample of the operations of a device leaves one out.
func sampled(device string, g *nn.Subgraph, op *nn.Operation) bool {
	h := fnv.New32a()
	fmt.Fprint(h, device, op.Type)
	for _, list := range [2][]uint32{op.Inputs, op.Outputs} {
		for _, x := range list {
			fmt.Fprint(h, g.Operands[x].Type, g.Operands[x].Dimensions)
		}
	}
	return h.Sum32()>>16&1 == 1
}

// Force applies the rules of ForceUnsupported to the result of a device's support query for a subgraph.
func (r *Registry) Force(g *nn.Subgraph, main bool, device string, support []hal.Support) []hal.Support {
	if device == r.CPU().Name() {
		return support
	}
	for _, f := range r.forced {
		if f.device != "" && f.device != device {
			continue
		}
		for i := range support {
			op := &g.Operations[i]
			switch {
			case !support[i].OK:
			case f.sample && sampled(device, g, op):
				support[i] = hal.Support{Reason: fmt.Sprintf("this %v is not in the sample of supported operations", op.Type)}
			case !f.sample && f.selects(g, main, i):
				support[i] = hal.Support{Reason: f.text + " is forced unsupported"}
			}
		}
	}
	return support
}

// ForceVersion makes the driver of a device one of an old version of the HAL:
// DEVICE:VERSION, as in dsp:1.1.
func (r *Registry) ForceVersion(rule string) error {
	device, version, _ := strings.Cut(rule, ":")
	i, err := r.Index(device)
	if err != nil {
		return err
	}
	for v := compat.V1_0; v <= compat.V1_3; v++ {
		if v.String() == version && i > 0 {
			r.devices[i] = compat.Adapt(v, r.devices[i])
			return nil
		}
	}
	if i == 0 {
		return fmt.Errorf("runtime: %q: %s is the runtime's own and has no HAL version", rule, device)
	}
	return fmt.Errorf("runtime: no HAL version %q in %q; there are 1.0, 1.1, 1.2, 1.3", version, rule)
}
