package compat

import (
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Version is a HAL version.
type Version int

// HAL versions. Later is what no HIDL interface can express: feature levels above 1.3.
const (
	V1_0 Version = iota
	V1_1
	V1_2
	V1_3
	Later
)

// String is the version's number.
func (v Version) String() string {
	if v >= V1_0 && v <= V1_3 {
		return fmt.Sprintf("1.%d", int(v))
	}
	return "later"
}

// OperandTypeVersion is the version that added an operand type.
func OperandTypeVersion(t nn.OperandType) Version {
	switch {
	case nn.IsExtensionOperandType(t):
		return V1_2
	case t < nn.Float32:
		return Later
	case nn.IsOEM(t):
		return V1_0
	case t <= nn.TensorQuant8Asymm:
		return V1_0
	case t <= nn.TensorQuant8Symm:
		return V1_2
	case t <= nn.SubgraphRef:
		return V1_3
	}
	return Later
}

// of is a version of package opspec.
func of(v opspec.Version) Version {
	switch {
	case v == opspec.Extension:
		return V1_2
	case v <= opspec.V13:
		return Version(v - opspec.V10)
	}
	return Later
}

// OperationVersion is the lowest version that can express an operation of a subgraph: its
// type, its operands and the rules that versions have relaxed.
func OperationVersion(g *nn.Subgraph, op *nn.Operation) Version {
	version := V1_2
	var a opspec.Args
	switch {
	case op.Type == nn.OpOEM:
		version = V1_0
	case !nn.IsExtensionOperationType(op.Type):
		var err error
		if a, err = opspec.ModelView(g).Bind(op); err != nil {
			return Later
		}
		version = of(a.Since)
	}
	for _, list := range [2][]uint32{op.Inputs, op.Outputs} {
		for _, x := range list {
			version = max(version, OperandTypeVersion(g.Operands[x].Type))
		}
	}
	if a.Row != nil && a.Row.Until12 != nil && a.Row.Until12(&a) != nil {
		version = max(version, V1_2)
	}
	return version
}

// ModelVersion is the lowest version that can express a model.
func ModelVersion(m *nn.Model) Version {
	v := V1_0
	if m.Relaxed {
		v = V1_1
	}
	if len(m.Referenced) > 0 {
		v = V1_3
	}
	graphs := append([]nn.Subgraph{m.Main}, m.Referenced...)
	for k := range graphs {
		g := &graphs[k]
		for i := range g.Operands {
			v = max(v, OperandTypeVersion(g.Operands[i].Type))
		}
		for i := range g.Operations {
			v = max(v, OperationVersion(g, &g.Operations[i]))
		}
		for _, x := range slices.Concat(g.Outputs, g.Inputs) {
			// 1.0 and 1.1 need the shapes of the model's inputs and outputs at the request,
			// which may complete dimensions but no rank.
			if o := &g.Operands[x]; !o.Type.IsScalar() && len(o.Dimensions) == 0 {
				v = max(v, V1_2)
			}
		}
	}
	return v
}

// CompliantWith reports whether a version can express a model. Otherwise it lists the
// operations of the main subgraph that it cannot express; the list is empty when
// only other parts of the model are the reason.
func CompliantWith(v Version, m *nn.Model) (ok bool, noncompliant []int) {
	for i := range m.Main.Operations {
		op := &m.Main.Operations[i]
		need := OperationVersion(&m.Main, op)
		for _, x := range op.Inputs {
			if n, ok := m.Main.Operands[x].Subgraph(); ok && int(n) < len(m.Referenced) {
				inner := nn.Model{Main: m.Referenced[n], Referenced: m.Referenced, Extensions: m.Extensions}
				need = max(need, V1_3, innerVersion(&inner))
			}
		}
		if need > v {
			noncompliant = append(noncompliant, i)
		}
	}
	return ModelVersion(m) <= v, noncompliant
}

// innerVersion is the version of the operations of a referenced subgraph.
func innerVersion(m *nn.Model) Version {
	v := V1_0
	for i := range m.Main.Operations {
		v = max(v, OperationVersion(&m.Main, &m.Main.Operations[i]))
	}
	return v
}

// RequestCompliantWith reports whether a version can express a request: device memory was
// introduced in 1.3, hardware buffers in 1.2.
func RequestCompliantWith(v Version, r *hal.Request) bool {
	for i := range r.Pools {
		p := &r.Pools[i]
		if p.Memory == nil {
			if v < V1_3 {
				return false
			}
			continue
		}
		if v < V1_2 && p.Memory.Name != hal.Ashmem && p.Memory.Name != hal.MmapFd {
			return false
		}
	}
	return true
}

// Convert converts a model to a version. A model that the version cannot express is an error
// with status INVALID_ARGUMENT, which names the first reason. Before 1.1 there is no
// relaxed flag: that loses speed, not results, and is a warning.
func Convert(v Version, m *nn.Model) (c *nn.Model, warnings []string, err error) {
	c = m
	if m.Relaxed && v < V1_1 {
		strict := *m
		strict.Relaxed = false
		c = &strict
		warnings = append(warnings, "HAL 1.0 has no relaxed float32: the model computes in full precision")
	}
	if len(m.Extensions) > 0 && v < V1_2 { // a model that uses one does not comply, below
		plain := *c
		plain.Extensions = nil
		c = &plain
	}
	if ok, list := CompliantWith(v, c); !ok {
		if len(list) > 0 {
			op := &m.Main.Operations[list[0]]
			return nil, warnings, hal.Errorf(hal.InvalidArgument, "compat: operation %d (%s) needs HAL %v, not %v", list[0], op.Type, OperationVersion(&m.Main, op), v)
		}
		return nil, warnings, hal.Errorf(hal.InvalidArgument, "compat: the model needs HAL %v, not %v", ModelVersion(c), v)
	}
	return c, warnings, nil
}
