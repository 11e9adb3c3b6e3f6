package compat

import (
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// RemoveDefaults removes trailing arguments that are constants of their default, so
// that older versions can express the operations.
func RemoveDefaults(g *nn.Subgraph) {
	v := opspec.ModelView(g)
	for i := range g.Operations {
		if nn.IsExtensionOperationType(g.Operations[i].Type) {
			continue // AOSP's versions know none of their defaults
		}
		if a, err := v.Bind(&g.Operations[i]); err == nil {
			g.Operations[i].Inputs = a.WithoutDefaults()
		}
	}
}

// withoutDefaults is a model whose main subgraph has no trailing defaults.
func withoutDefaults(m *nn.Model) *nn.Model {
	c := *m
	c.Main.Operations = slices.Clone(m.Main.Operations)
	RemoveDefaults(&c.Main)
	return &c
}

// Slice returns the part of a model that a version can express, as a separate model, and the
// index of each of its operations in the original.
//
// An operand that only operations outside the slice write becomes an input, one for all
// such operands of the same type, shape and quantization. What operations of the slice
// write for others outside alone becomes an output. There is no slice, nil, where that
// leaves no operation or no output, or a model that breaks a rule.
func Slice(v Version, m *nn.Model) (slice *nn.Model, original []int) {
	slice, original = sliced(v, m)
	if slice == nil || checkSlice(v, slice) != nil {
		return nil, nil
	}
	return slice, original
}

// checkSlice returns the rule that a slice breaks. The slice of a valid model breaks none.
func checkSlice(v Version, slice *nn.Model) error {
	if err := validate.Model(slice); err != nil {
		return fmt.Errorf("the slice for HAL %v: %w", v, err)
	}
	if ok, outside := CompliantWith(v, slice); !ok {
		return fmt.Errorf("the slice for HAL %v has operations that it cannot express: %v", v, outside)
	}
	return nil
}

// sliced is a Slice that may break a rule; nil where no operation is left to query.
func sliced(v Version, m *nn.Model) (slice *nn.Model, original []int) {
	m = withoutDefaults(m)
	_, outside := CompliantWith(v, m)
	keep := make([]bool, len(m.Main.Operations))
	for i := range keep {
		if keep[i] = !slices.Contains(outside, i); keep[i] {
			original = append(original, i)
		}
	}
	slice = cut(m, keep, false)
	if v < V1_1 {
		slice.Relaxed = false
	}
	if v < V1_3 {
		slice.Referenced = nil
	}
	if v < V1_2 {
		slice.Extensions = nil
	}
	if len(original) == 0 || len(slice.Main.Outputs) == 0 {
		return nil, nil
	}
	return slice, original
}

// Simplified is a model without trailing defaults and without the operands that nothing
// names then. Inputs and outputs stay.
func Simplified(m *nn.Model) *nn.Model {
	m = withoutDefaults(m)
	all := make([]bool, len(m.Main.Operations))
	for i := range all {
		all[i] = true
	}
	return cut(m, all, true)
}

// Part is a model of the operations of a valid model that keep selects, at least one. Its
// inputs and outputs are made as those of a Slice are.
func Part(m *nn.Model, keep []bool) *nn.Model { return cut(m, keep, false) }

// cut makes a model of some operations. arguments keeps the inputs and outputs of the
// model that no operation of them names.
func cut(m *nn.Model, keep []bool, arguments bool) *nn.Model {
	g := &m.Main
	written := make([]bool, len(g.Operands)) // by operations that stay
	read := make([]bool, len(g.Operands))
	for i := range g.Operations {
		if !keep[i] {
			continue
		}
		for _, x := range g.Operations[i].Inputs {
			read[x] = true
		}
		for _, x := range g.Operations[i].Outputs {
			written[x] = true
		}
	}
	c := *m
	s := nn.Subgraph{Name: g.Name}
	index := make([]uint32, len(g.Operands)) // 1 + index in s
	shared := map[string]uint32{}            // inputs for operands written outside, by what they are
	add := func(o nn.Operand) uint32 {
		s.Operands = append(s.Operands, o)
		return uint32(len(s.Operands) - 1)
	}
	use := func(x uint32) uint32 {
		if index[x] != 0 {
			return index[x] - 1
		}
		o := g.Operands[x]
		outside := !written[x] && (o.Lifetime == nn.TemporaryVariable || o.Lifetime == nn.SubgraphOutput)
		switch {
		case outside && !arguments:
			o.Lifetime, o.Name = nn.SubgraphInput, ""
			key := fmt.Sprint(o.Type, o.Dimensions, o.Scale, o.ZeroPoint, o.Channel, o.Extension)
			n, ok := shared[key]
			if !ok {
				n = add(o)
				shared[key] = n
				s.Inputs = append(s.Inputs, n)
			}
			index[x] = n + 1
			return n
		case o.Lifetime == nn.TemporaryVariable && !read[x]:
			o.Lifetime = nn.SubgraphOutput
		}
		n := add(o)
		index[x] = n + 1
		return n
	}
	list := func(operands []uint32) []uint32 {
		l := make([]uint32, len(operands))
		for i, x := range operands {
			l[i] = use(x)
		}
		return l
	}
	if arguments {
		s.Inputs, s.Outputs = list(g.Inputs), list(g.Outputs)
	}
	for i := range g.Operations {
		if op := &g.Operations[i]; keep[i] {
			s.Operations = append(s.Operations, nn.Operation{Type: op.Type, Inputs: list(op.Inputs), Outputs: list(op.Outputs)})
		}
	}
	if !arguments {
		for x := range g.Operands {
			if n := index[x]; n != 0 && g.Operands[x].Lifetime == nn.SubgraphInput {
				s.Inputs = append(s.Inputs, n-1)
			} else if n != 0 && s.Operands[n-1].Lifetime == nn.SubgraphOutput {
				s.Outputs = append(s.Outputs, n-1)
			}
		}
		c.States = nil
	}
	c.Main = s
	return &c
}
